"""The sources above an answer."""

from __future__ import annotations

from core.answer.html.source_html import source_panel_html
from core.legal.entities import LAWS
from core.search.types import Source

WORDS = "灯塔由守塔人看守。" * 20


def shown_lengths(cited: set[int] | None) -> list[bool]:
    """Which of an article, another article and a page are shown with all their words."""
    sources = [
        Source(1, "《灯塔法》第一条", "https://app.example/legal?a=1", WORDS, engine=LAWS, read="library"),
        Source(2, "《灯塔法》第二条", "https://app.example/legal?a=2", WORDS, engine=LAWS, read="library"),
        Source(3, "灯塔", "https://example.org/", WORDS, engine="fake"),
    ]
    rows = source_panel_html(sources, cited=cited, official=()).split("</li>")[:3]
    return [WORDS in row for row in rows]


def test_articles_that_the_answer_does_not_cite_do_not_bury_the_pages() -> None:
    assert shown_lengths({1}) == [True, False, True]
    assert shown_lengths(None) == [True, True, True]
