"""问源 (Wenyuan): answers whose every claim can be traced to a source."""

__version__ = "0.1.0"

VISITOR_COOKIE = "wenyuan_visitor"
"""Cookie with a random mark that asgi.py gives each browser."""
