"""Language models: one model, asked well, with retries, limits and typed errors."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
