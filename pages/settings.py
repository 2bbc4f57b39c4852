"""设置: the connections and settings of this installation, whether they work, and how to mend them."""

from core.ui import session
from core.ui.settings import page

session.require_router()
page.draw(session.app())
