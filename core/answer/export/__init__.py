"""Exports of a conversation: a Word document, Markdown, one HTML page, JSON. Each answer comes with its references, the
results of 依据核对 and, where it cites statutes, of 法条核验.

Text of a model or a web page can neither become a link nor load anything, because other programs will show it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
