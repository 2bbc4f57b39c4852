"""The services for other programs: MCP, the OpenAI protocol and HTTP, with their tokens and limits. Knows no page."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
