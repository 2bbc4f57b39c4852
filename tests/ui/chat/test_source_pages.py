"""Which passages are marked on the picture of a page."""

from __future__ import annotations

from dataclasses import replace

from core.answer import CitationVerdict, TextSpan
from core.answer.check_results import Verdict
from core.store import StoredPage
from core.ui.chat.source_pages import page_of, passages_on
from support.sectioned import sectioned_page

FIRST, CUT, LAST = "塔高为 47 米。", "全年开灯四千三百小时，没有中断。", "造价为 86 万元。"
READ = sectioned_page("年报.pdf", [FIRST, CUT[:8], CUT[8:], LAST, ""])
VERDICT = CitationVerdict(1, 0, Verdict.SUPPORTED, "", "")


def stored(*, recognized: int = 0) -> StoredPage:
    sections = tuple(replace(one, is_recognized=one.number == recognized) for one in READ.sections)
    return StoredPage(1, READ.address, READ.title, READ.text, READ.hash, 0.0, sections=sections, has_file=True)


def span(words: str) -> TextSpan:
    start = READ.text.index(words[:6])
    return TextSpan(start, start + len(words) + words.count(CUT), VERDICT)


SPANS = [span(FIRST), span(CUT), span(LAST)]


def marked(number: int, wanted: TextSpan | None = None, *, recognized: int = 0) -> list[str]:
    return [words.replace("\n", "") for words in passages_on(stored(recognized=recognized), SPANS, wanted, number)]


def test_a_page_has_its_own_passages_and_a_cut_one_is_on_both_its_pages() -> None:
    assert [marked(number) for number in range(1, 7)] == [[FIRST], [CUT], [CUT], [LAST], [], []]
    assert page_of(stored(), SPANS[2]) == 4


def test_the_wanted_passage_stands_alone_on_its_page() -> None:
    both = [SPANS[0], TextSpan(0, 3, VERDICT)]
    assert passages_on(stored(), both, both[1], 1) == [FIRST[:3]]
    assert len(passages_on(stored(), both, SPANS[2], 1)) == 2


def test_what_was_recognized_in_a_picture_has_no_place_to_mark() -> None:
    assert marked(2, recognized=2) == []
    assert marked(3, recognized=2) == [CUT]
