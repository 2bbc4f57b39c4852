"""Imports: download, build and replace the library."""
