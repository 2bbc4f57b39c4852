"""设置: what this installation is connected to and made of, whether it works, and what helps where it does not."""

from core.ui import session
from core.ui.settings import page

session.through_router()
page.draw(session.app())
