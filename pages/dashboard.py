"""运行看板: statistics of the running installation."""

from core.ui import session
from core.ui.dashboard import page

session.require_router()
page.draw(session.app())
