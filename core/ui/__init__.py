"""Streamlit code of all pages."""
