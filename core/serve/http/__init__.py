"""The HTTP API under /api/v1: a table of operations, from which its routes and its description are made."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
