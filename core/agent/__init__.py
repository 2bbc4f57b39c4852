"""Agent mode: the model decides what to search for, and how often. Import `core.agent.runner` late: LangChain is slow."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
