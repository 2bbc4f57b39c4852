"""设置: what this installation is made of, whether it works, and what helps where it does not. Nothing is changed here."""

from core.app import shared_app
from core.ui import settings_page, state

state.through_router()
settings_page.draw(shared_app())
