"""Documents: the collections of files that readers keep (资料库), indexed, searched and opened by those who may."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
