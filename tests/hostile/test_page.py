"""What others may write into the page: titles, snippets, engines' names, models' words, titles of conversations."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from core.answer.events import (
    Notice,
    PageRead,
    ReadingStarted,
    RunEvent,
    SearchFinished,
    SearchStarted,
    Thought,
    ToolFinished,
    ToolStarted,
)
from core.answer.export import as_html, as_json, as_markdown
from core.answer.html.markdown import BlockStream, render_html, split_blocks
from core.answer.html.source_html import references_html, results_html, source_panel_html
from core.answer.message import Message
from core.base.inert_markdown import escape_line, make_inert
from core.base.spreadsheet import to_csv
from core.base.text import clean, one_line
from core.search.types import Attempt, AttemptOutcome, SearchQuery, SearchResponse, SearchResult, Source
from core.ui.chat import search_ledger
from core.ui.chat.step_lines import lines_of, rail_html
from core.ui.escape import escape_label
from core.ui.statute_findings import article_html, quotation_diff_html
from support.fake_engines import FakeEngine
from support.pages import ask, html, open_page, values
from support.scripted_app import scripted_app
from support.shared import shared

URL = "https://a.example/"
TEXTS = {
    "a script": "<script>alert(1)</script>",
    "an image": "<img src=x onerror=alert(1)>",
    "a quote that ends an attribute": "\"'><svg/onload=alert(1)>",
    "a tag that is not closed": "<a href='https://evil.example'",
    "a closing tag": "</div></li></ol></td></table>",
    "a comment": "<!-- x --><![CDATA[x]]><?php x ?>",
    "a style": "<style>*{display:none}</style><link rel=stylesheet href=//evil.example>",
    "a form": "<form action=//evil.example><input name=x><button>",
    "a base": '<base href="https://evil.example/"><meta http-equiv=refresh content="0;url=//evil.example">',
    "entities": "&lt;script&gt;&#x3c;b&#62;&NewLine;&colon;",
    "a remote image": "![x](https://evil.example/x.png)",
    "a link": "[官方网站](https://evil.example) <https://evil.example>",
    "a reference": "[x][1]\n\n[1]: https://evil.example",
    "a bare address": "https://evil.example www.evil.example me@evil.example",
    "a formula": r"$\href{javascript:alert(1)}{x}$ $$\includegraphics{//evil.example}$$ \[x\]",
    "an emoji's name": ":material/home: :green-badge[已核实] :red[x] :smile:",
    "a table": "| a | b |\n|---|---|\n| <b> | `x` |",
    "a fence": "```html\n<script>\n```\n~~~\nx",
    "a template": "{{7*7}} ${7*7} %s %(x)s {0} {x.__class__}",
    "backwards": "\u202eexe.gnp\u202c \u2066x\u2069",
    "nobody sees it": "a\u200b\u2060\ufeff\u00ad\U000e0041b",
    "half a character": "a\ud800b",
    "controls": "a\x00\x08\x1b[31m\x9bb",
    "marks on marks": "Z\u0351\u036b\u0343" * 200,
    "a huge word": "字" * 5_000 + "x" * 5_000,
    "many lines": "a\n" * 500 + "\u2028\u2029\x85b",
    "another's citation": "[1] 【1】 [^1] <sup>1</sup> [9]",
}
ALLOWED = {
    *(
        "p",
        "i",
        "q",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "li",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "blockquote",
        "strong",
    ),
    *("em", "del", "code", "pre", "br", "hr", "sup", "a", "span", "div", "b", "ins", "mark", "details", "summary"),
}
FORMULA = {"math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "mstyle"}
FORMULA |= {"msub", "msup", "msubsup", "munder", "mover", "munderover", "mtable", "mtr", "mtd", "mpadded", "menclose"}
FORMULA_ATTRIBUTES = {"display", "displaystyle", "mathvariant", "stretchy", "fence", "form", "width", "columnalign"}
ATTRIBUTES = {"class", "href", "rel", "target", "title", "value", "start", "id", "open", "tabindex", "data-math"}


class Drawn(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name == "href"}
        for name, value in attrs:
            if name == "data-math":
                formula = Drawn(value or "")
                assert set(formula.tags) <= FORMULA
                assert formula.attributes <= FORMULA_ATTRIBUTES

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.tags.append("comment")

    def handle_decl(self, decl: str) -> None:
        self.tags.append("declaration")

    def handle_pi(self, data: str) -> None:
        self.tags.append("instruction")


def searched(text: str) -> SearchResponse:
    found = SearchResult(text, URL, text, text, text, text, 1)
    tried = Attempt(text, AttemptOutcome.FAILED, 1.0, text, text, text)
    return SearchResponse(
        SearchQuery(text, language=text), (found,), (tried,), text, notes=(text,), failure=text, cure=text
    )


def worked(text: str) -> list[RunEvent]:
    source = Source(1, text, URL, text, text, unread=text)
    found = SearchFinished(searched(text), (source,), asked=text)
    return [
        *(SearchStarted(text, text), found, ReadingStarted((source,)), PageRead(source), Thought(text)),
        *(
            ToolStarted(text, text, "1"),
            found,
            ToolFinished(text, False, text, "1"),
            ToolStarted("read_page", text, "2"),
        ),
    ]


def answered(text: str) -> list[Message]:
    source = Source(1, text, URL, text, text)
    events = (SearchFinished(searched(text), (source,)), Thought(text), Notice(text, text))
    return [Message("user", text), Message("assistant", text, events, (source,), 1.0, "id", text)]


PLACES: dict[str, Callable[[str], str]] = {
    "references": lambda text: references_html([Source(1, text, URL, text, text)], anchor="m"),
    "results": lambda text: results_html([SearchResult(text, URL, text, text)]),
    "answer": lambda text: render_html(text, [Source(1, text, URL, text)], anchor="m"),
    "ledger": lambda text: search_ledger.entry_html(searched(text)),
    "rail": lambda text: rail_html(lines_of(worked(text)).lines),
    "sources": lambda text: source_panel_html(
        [Source(1, text, URL, text, text, text)], cited={1}, official=("example",)
    ),
    "article": lambda text: article_html(text, text[:3]),
    "difference": lambda text: quotation_diff_html(text, f"{text}x"),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_text_of_others_is_text(place: str, text: str) -> None:
    page = Drawn(PLACES[place](text))
    assert set(page.tags) <= ALLOWED
    assert page.attributes <= ATTRIBUTES
    assert {link for link in page.links if not link.startswith("#")} <= {URL}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_an_exported_page_carries_nothing_of_it(text: str) -> None:
    page = Drawn(as_html(text, answered(text)).partition("<body")[2])
    assert set(page.tags) <= ALLOWED | FORMULA | {
        "h1",
        "h2",
        "main",
        "section",
        "article",
        "footer",
        "header",
        "details",
        "summary",
    }
    assert page.attributes <= ATTRIBUTES | FORMULA_ATTRIBUTES | {"lang"}
    assert {link for link in page.links if not link.startswith("#")} <= {URL}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_an_exported_text_links_to_its_sources_only(text: str) -> None:
    written = as_markdown(text, answered(text))
    written.encode()
    links = re.findall(r"(?<!\\)\]\((.*?)\)", written)
    assert all(link.startswith((URL, f"<{URL}")) for link in links)
    assert not re.search(
        r"(?<!\\)<(?:script|img|svg|style|form|base|meta|link)\b", re.sub(r"(?s)```.*?```|`[^`\n]*`", "", written)
    )


@pytest.mark.parametrize("text", [clean(text) for text in TEXTS.values()], ids=TEXTS)
def test_exported_json_gives_the_words_back(text: str) -> None:
    """Except numbers that cite no source, which the page does not show either."""
    document = json.loads(as_json(text, answered(text)).encode())
    assert [message["text"] for message in document["messages"]] == [text, text.replace(" [9]", "")]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_label_is_one_line_of_the_same_words(text: str) -> None:
    read = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", escape_label(text)).replace("\u2060", "")
    assert read == one_line(text)
    assert not re.search(r"(?<!\\)[\[\]`*_~$:<>]", escape_label(text))
    assert "\n" not in escape_line(text)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r="])
def test_a_spreadsheet_gets_no_formula(start: str) -> None:
    _, row = to_csv(["a"], [[f"{start}cmd|' /C calc'!A0"]]).splitlines()[:2]
    assert row.lstrip('"').startswith("'")


# ── Through the whole app ─────────────────────────────────────────────────────────────────────────────────────────

LIVE = ["a script", "a remote image", "an emoji's name", "backwards", "half a character", "another's citation"]


@pytest.mark.parametrize("name", LIVE)
def test_a_hostile_engine_and_a_hostile_model_on_the_page(name: str) -> None:
    text = TEXTS[name]
    found = [SearchResult(one_line(text), URL, one_line(text), "a.example", engine="fake", rank=1)]
    with scripted_app(says=[[text, f" {text}[1]"]], engines=[FakeEngine("fake", found)]) as (app, _), shared(app):
        page = open_page()
        page.toggle[0].set_value(True)
        ask(page, f"{clean(text)} 问题")  # no browser sends half a character
        drawn = Drawn("".join(map(html, page.chat_message)))
        assert set(drawn.tags) <= ALLOWED | {"button"}
        assert {link.partition("#:~:text=")[0] for link in drawn.links if link.startswith("http")} <= {URL}
        markdown = (
            values(page.caption)
            + values(page.info)
            + values(page.warning)
            + " ".join(button.label for button in page.button)
        )
        assert "evil.example" not in markdown.replace("evil\\.example", "")
        assert not re.search(r"(?<!\\)<script|(?<!\\):material/home:", markdown)


# ── Time ──────────────────────────────────────────────────────────────────────────────────────────────────────────

ENDLESS = {
    "quotes": "> " * 5_000 + "x",
    "lists": "".join("  " * depth + "- a\n" for depth in range(300)),
    "brackets": "[" * 20_000,
    "half links": "](" * 10_000,
    "links in links": "[a" * 3_000 + "](b)" * 3_000,
    "images": "![" * 10_000,
    "emphasis": "**a*_" * 5_000,
    "ticks": "`a``" * 5_000,
    "tables": "|a" * 2_000 + "\n" + "|-" * 2_000 + "\n" + "|b" * 2_000,
    "formulas": "$a" * 10_000,
    "entities": "&#x3c;" * 10_000,
    "citations": "[1]" * 10_000 + "[" + "1," * 10_000,
    "backslashes": "\\" * 20_000,
    "fences": "```\n" * 5_000,
    "joined": "👨\u200d" * 10_000,
    "nothing": "\u200b" * 50_000,
    "marks": "e" + "\u0301" * 50_000,
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
def test_no_text_takes_long_to_draw(text: str) -> None:
    started = time.process_time()
    render_html(text, [Source(1, "题", URL, "")])
    split_blocks(text)
    make_inert(text)
    escape_label(text)
    blocks = BlockStream()
    for place in range(0, 5_000, 500):
        blocks.feed(text[place : place + 500])
        assert blocks.open_blocks is not None
    assert time.process_time() - started < 3
