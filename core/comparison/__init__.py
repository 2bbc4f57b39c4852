"""Compares a statement with a passage word by word: whether it says the same, something else, or neither. Pure and without a
model: it knows words, numbers and dates, and nothing of answers and sources.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
