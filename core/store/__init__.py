"""Persistent storage: conversations, choices, metrics and saved settings, in SQLite or PostgreSQL.

Only this package knows which.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
