"""Texts about law: citations, law names, article numbers, periods, and comparison with articles."""
