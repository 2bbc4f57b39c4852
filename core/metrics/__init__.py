"""Metrics of the running installation: recorded in the background, read by the dashboard and by Prometheus."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
