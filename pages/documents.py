"""资料库: the reader's own files, in collections: uploaded, searched without a model, opened at a passage, shared."""

from core.ui import session
from core.ui.documents import documents_page

session.require_router()
documents_page.draw(session.app())
