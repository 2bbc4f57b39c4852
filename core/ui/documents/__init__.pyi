from . import documents_page

__all__ = ["documents_page"]
