"""Corpus layouts, one module each, and the files of a source."""
