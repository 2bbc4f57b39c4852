from . import dashboard_page

__all__ = [
    "dashboard_page",
]
