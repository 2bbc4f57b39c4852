from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup
from streamlit.testing.v1 import AppTest

from core.base.text import one_line
from core.ui.escape import escape_label
from support.base import ROOT

WORD_JOINER = "\u2060"


def read(markdown: str) -> str:
    """What remains when Markdown has resolved its escapes."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown).replace(WORD_JOINER, "")


@given(st.text())
def test_the_reader_sees_what_was_written(text: str) -> None:
    assert read(escape_label(text)) == one_line(text)
    assert "\n" not in escape_label(text)


@given(st.text(alphabet="![]()`*_~$:<>#-.1a\\|&@/ "))
def test_no_mark_is_left_unescaped(text: str) -> None:
    assert re.fullmatch(r"(?:\\[!-/:-@\[-`{-~]|[^!-/:-@\[-`{-~])*", escape_label(text))


# What Streamlit 1.67 replaces in the finished text.
REPLACED = re.compile(
    r"https?://|www\.|[-.\w+]@[-\w]|:[\w+/-]+:|(?:^|\s)(?:<->|->|<-|--|>=|<=|~=)(?:\s|$)", re.IGNORECASE
)


@pytest.mark.parametrize(
    "text",
    [
        "https://evil.example/a",
        "HTTP://evil.example WWW.evil.example",
        "me@evil.example",
        ":smile: :+1: :streamlit: :material/home:",
        "a -> b <- c <-> d -- e >= f <= g ~= h",
        "--",
    ],
)
def test_what_streamlit_replaces_later_is_broken_up(text: str) -> None:
    assert REPLACED.search(text)
    assert not REPLACED.search(escape_label(text).replace("\\", ""))


def test_ordinary_text_stays_as_it_is() -> None:
    assert escape_label("离婚冷静期 是多久？\n2024 年") == "离婚冷静期 是多久？ 2024 年"
    assert WORD_JOINER not in escape_label("12:30 C:\\path a-b <3")


# ── HTML ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _draw(html: str) -> None:
    import streamlit as st

    from core.ui.escape import draw_html

    draw_html(html)  # type: ignore[arg-type]  # what a mistake would hand over
    draw_html(html, st.container())  # type: ignore[arg-type]


def drawn(html: str) -> list[str]:
    page = AppTest.from_function(_draw, default_timeout=30, kwargs={"html": html}).run()
    assert not page.exception
    return [element.proto.body for element in page.get("html")]


def test_markup_is_drawn_as_it_is() -> None:
    assert drawn(Markup("<b>%s</b>") % "<i>") == ["<b>&lt;i&gt;</b>"] * 2


def test_a_plain_string_is_text() -> None:
    assert drawn("<img src=x onerror='alert(1)'>") == ["&lt;img src=x onerror=&#39;alert(1)&#39;&gt;"] * 2


def mentions_of_html(path: Path) -> Iterator[str]:
    """`st.html(…)`, `place.html`, `components.html`: every way in which Streamlit takes HTML."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if (isinstance(node, ast.Attribute) and node.attr == "html") or (
            isinstance(node, ast.keyword) and node.arg == "unsafe_allow_html"
        ):
            yield ast.unparse(node)


def f_strings_with_tags(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.JoinedStr) and re.search(r"(?<!\?P)</?[a-zA-Z][\w-]*[ />]", ast.unparse(node)):
            yield ast.unparse(node)


def test_html_reaches_the_page_through_one_door() -> None:
    page_code = [*(ROOT / "core" / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "Home.py"]
    found = {str(path.relative_to(ROOT)): sorted(mentions_of_html(path)) for path in page_code}
    assert {path: calls for path, calls in found.items() if calls} == {
        "core/ui/escape.py": ["place.html", "st.html"],
        "core/ui/frame.py": ["st.html"],
        "core/ui/scripts/__init__.py": ["st.html"] * 3,  # what is put into one is a JSON string
    }
    frame = ast.unparse(ast.parse((ROOT / "core/ui/frame.py").read_text("utf-8")))
    assert "st.html(FOLDER / 'style.css')" in frame


def test_no_html_is_put_together_from_plain_strings() -> None:
    """Markup does it, and escapes what it is given; ruff's S704 sees to it that only literals are declared safe."""
    code = [*(ROOT / "core").rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "Home.py", ROOT / "asgi.py"]
    assert {str(path): list(f_strings_with_tags(path)) for path in code if any(f_strings_with_tags(path))} == {}


@pytest.mark.parametrize(
    "line",
    [
        "st.html(f'<b>{text}</b>')",
        "st.empty().html('<b>' + text)",
        "st.markdown(f'<p class=\"x\">{text}</p>', unsafe_allow_html=True)",
    ],
)
def test_a_planted_line_is_found(tmp_path: Path, line: str) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(line, "utf-8")
    assert list(mentions_of_html(planted))
    assert bool(list(f_strings_with_tags(planted))) == ("f'" in line)
