"""The scripts of the page."""

from __future__ import annotations

import re

from core.ui import scripts
from core.ui.chat import render
from support.pages import open_page


def test_there_is_one_script_on_a_page() -> None:
    page = open_page()
    drawn = [element.proto for element in page.get("html") if "<script" in element.proto.body]
    assert [proto.unsafe_allow_javascript for proto in drawn] == [True]


def test_nothing_in_it_looks_like_a_tag() -> None:
    """Streamlit drops the whole script otherwise."""
    script = scripts._script().removeprefix("<script>").removesuffix("</script>")
    assert not re.search(r"<[/\w!]", script)


def test_the_copy_button_is_one_that_the_script_knows() -> None:
    assert 'class="wy-copy"' in render.COPY
    assert '".wy-copy"' in scripts._script()
