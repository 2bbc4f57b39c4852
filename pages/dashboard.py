"""运行看板: statistics of the running installation."""

from core.ui import session
from core.ui.dashboard import dashboard_page

session.require_router()
dashboard_page.draw(session.app())
