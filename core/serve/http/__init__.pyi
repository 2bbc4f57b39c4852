from .service import SERVICE

__all__ = ["SERVICE"]
