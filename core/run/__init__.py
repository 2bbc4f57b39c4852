"""Runs: how an answer comes about, shared by Chat and Agent mode."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
