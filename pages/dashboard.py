"""运行看板: figures about the running installation."""

from core.app import shared_app
from core.ui import dashboard, state

state.through_router()
dashboard.draw(shared_app())
