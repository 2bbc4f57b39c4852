"""设置: the connections and settings of this installation, whether they work, and how to mend them."""

from core.ui import session
from core.ui.settings import settings_page

session.require_router()
settings_page.draw(session.app())
