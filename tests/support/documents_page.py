"""资料库, as Streamlit's own tests open it, and collections to look at."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from core.app import App
from core.documents import Access, Collection
from support.base import ROOT


def opened(**query: str) -> AppTest:
    page = AppTest.from_file(str(ROOT / "Home.py"), default_timeout=30)
    for name, value in query.items():
        page.query_params[name] = value
    return ran(page)


def ran(page: AppTest) -> AppTest:
    page._page_hash = page._finished_page_script_hash = calc_hash("documents")
    page.run()
    assert not page.exception
    return page


def collected(app: App, owner: str, name: str, **files: bytes) -> Collection:
    """A collection of this owner's with these files, whose names are given as `租约_pdf`, all of them read."""
    access = Access(owner)
    collection = app.documents.create_collection(name, access)
    for file, body in files.items():
        app.documents.add_document(collection.id, file.replace("_", "."), body, access)
    assert app.documents.wait_until_indexed(collection.id, access, seconds=60)
    return app.documents.open_collection(collection.id, access)
