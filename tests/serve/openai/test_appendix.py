"""What stands below the text: written by the program, and taken off again when a client sends it back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answer.check_results import AnswerCheck, SourceText
from core.answer.events import Answer, Checked, Notice, SearchFinished
from core.answer.message import Message
from core.checks import check_answer
from core.legal import StatuteCheck
from core.search.types import SearchQuery, SearchResponse, Source
from core.serve.openai.annotations import annotations_of
from core.serve.openai.appendix import appendix_of, without_appendix

TEXT = "更换水表的费用由市财政承担[1]。全市将更换老旧水表九千只[1][2]。月球上有三座寺庙，都建于明朝[2]。"
PAGES = {
    1: "更换水表的费用由市财政承担。全市将更换老旧水表八千只。",
    2: "青溪市水务局公布，今年前三季度全市供水总量为一亿二千万立方米。居民可以自己选择时间。",
}
SOURCES = tuple(
    Source(number, f"标题 {number} [甲]", f"https://site{number}.example/", text, read="page", characters=len(text))
    for number, text in PAGES.items()
)


def check() -> AnswerCheck:
    return check_answer(TEXT, [SourceText(number, text) for number, text in PAGES.items()])


def answered(text: str = TEXT) -> Message:
    found = SearchFinished(SearchResponse(SearchQuery("水表"), provider="searxng"), SOURCES)
    events = (found, Checked(check()), Answer(text, SOURCES))
    return Message("assistant", text, events, SOURCES, mode="chat", model="m")


def test_references_totals_and_problems_stand_below_the_text() -> None:
    below = appendix_of(answered(), None, [Notice("x", "一句 *话*。"), Notice("y", "一句 *话*。")])
    assert below.startswith(
        "\n\n---\n\n**参考文献**\n\n- ［1］ [标题 1 ［甲］](https://site1.example/) — site1.example（"
    )
    lines = below.splitlines()
    assert "- 1 处不符 · 1 处未见 · 1 处有据 · 1 处未核。标记怎么来的、错多少，见 docs/trust.md。" in lines
    assert "- ✗ 不符 ［1］ 全市将更换老旧水表九千只。（回答：九千只；来源：八千只）" in lines
    assert "- ○ 未见 ［2］ 月球上有三座寺庙，都建于明朝。" in lines
    assert lines[-1] == "> 一句 \\*话\\*。"
    assert lines.count(lines[-1]) == 1


def test_statutes_that_could_not_be_looked_up_are_named() -> None:
    below = appendix_of(answered("好。"), StatuteCheck((), has_index=False), [])
    assert "- 回答引用的法条没有核验：" in below


def test_an_answer_about_which_there_is_nothing_to_say_has_nothing_below() -> None:
    assert appendix_of(Message("assistant", "好。"), None, []) == ""


def test_what_was_written_below_is_taken_off_again() -> None:
    below = appendix_of(answered(), StatuteCheck((), has_index=False), [Notice("x", "一句话。")])
    for end in ("", "\n\n", " \n"):
        assert without_appendix(TEXT + below + end) == TEXT
    assert without_appendix(TEXT + below.rstrip()) == TEXT
    assert without_appendix(f"第一段\n\n---\n\n第二段{below}") == "第一段\n\n---\n\n第二段"
    assert without_appendix(TEXT + appendix_of(Message("assistant", TEXT), None, [Notice("x", "话。")])) == TEXT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "只有一句。",
        "第一段\n\n---\n\n第二段",
        "第一段\n\n---\n\n**参考文献**\n\n这一段是用户要的，不是程序写的。",
        "第一段\n\n---\n\n- 一项",
        "**参考文献**\n\n- ［1］ 标题",
    ],
)
def test_nothing_else_is_taken_off(text: str) -> None:
    assert without_appendix(text) == text


@given(
    st.lists(st.sampled_from(["\n", "---", "\n\n---\n\n", "**参考文献**", "- ", "> ", "字"]), max_size=40).map("".join)
)
def test_at_most_the_end_is_taken_off(text: str) -> None:
    assert text.startswith(without_appendix(text))


def test_every_citation_has_its_worst_verdict() -> None:
    annotations = annotations_of(answered(), offset=7)
    assert [(TEXT[one["start_index"] - 7 : one["end_index"] - 7], one["number"]) for one in annotations] == [
        ("[1]", 1),
        ("[1]", 1),
        ("[2]", 2),
        ("[2]", 2),
    ]
    assert [one["verdict"] for one in annotations] == ["supported", "contradicted", "unchecked", "absent"]
    assert annotations[0] | {"url": "https://site1.example/", "read": "page", "label": "有据"} == annotations[0]
    unchecked = annotations_of(Message("assistant", TEXT, (), SOURCES))
    assert {one["verdict"] for one in unchecked} == {None}
