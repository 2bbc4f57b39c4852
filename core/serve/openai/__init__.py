"""The OpenAI protocol: answers with sources for every program that speaks it, as chat completions and as responses."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
