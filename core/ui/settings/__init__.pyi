from . import connect, model_settings, own_key, settings_page

__all__ = [
    "connect",
    "model_settings",
    "own_key",
    "settings_page",
]
