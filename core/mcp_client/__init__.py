"""MCP servers of others: their tools, listed and called, with limits on everything that they send."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
