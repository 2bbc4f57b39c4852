"""资料库, as Streamlit's own tests open it."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

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
