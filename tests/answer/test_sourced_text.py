"""Numbers without a source go from the text as they go from the page, while it grows and at its end."""

from __future__ import annotations

import json
import re
import time
from itertools import pairwise

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from core.answer.check_texts import source_texts
from core.answer.citations import INVENTED, drop_invented
from core.answer.events import Answer, Checked, RunEvent, SearchFinished, TextDelta, ToolStarted
from core.answer.export.json_file import as_json
from core.answer.export.markdown_text import as_markdown
from core.answer.html.markdown import render_html
from core.answer.message import Message, message_from_run
from core.answer.sourced_text import MAX_HELD, SourcedEvents, SourcedText
from core.checks import check_answer
from core.search.types import SearchQuery, SearchResponse, Source

SOURCES = tuple(Source(number, f"标题{number}", f"https://site{number}.example/", "三十日之内") for number in (1, 2))
KNOWN = {1, 2}

CASES = {
    "三十日[1]，见[7]。": "三十日[1]，见。",
    "全是编的[7][8]、【9】。": "全是编的。",
    "[1][7]与[1, 7]与[2、7、1]": "[1]与[1]与[1][2]",
    "[1], [7]。": "[1]。",
    "`甲[7]` 与 [文[7]](https://a.example/)": "`甲[7]` 与 [文[7]](https://a.example/)",
    "[1], 然后": "[1], 然后",
    "范围[1-3]": "范围[1][2]",
    "［７］和【7†source】和[来源 7]和[^7^]和[[7]]": "和和和和",
    "前面的空格 [7]。后面 [7] 的": "前面的空格。后面 的",
    "- [7] 项\n- 项 [7]\n\n> 引 [7]": "-  项\n- 项\n\n> 引",
    "| 甲 | 乙 |\n|---|---|\n| [7] | 文[1, 7] |": "| 甲 | 乙 |\n|---|---|\n| | 文[1] |",
    "`x[7]`、`[7]` 和[7]": "`x[7]`、`[7]` 和",
    "```py\nx = data[7]\n[7]\n```\n说[7]。": "```py\nx = data[7]\n[7]\n```\n说。",
    "    [7] 缩进的代码\n\n说[7]": "    [7] 缩进的代码\n\n说",
    "a[7]、arr[7] 与数组 [1, 7]": "a[7]、arr[7] 与数组 [1, 7]",
    "x[1][i][7]": "x[1][i][7]",
    "[7]: 定义\n[7](https://a.example/) 与 [文[7]](https://a.example/)": "[7]: 定义\n[7](https://a.example/) 与 [文[7]](https://a.example/)",
    "\\[7] 与 [1](2024 年)[7]": "\\[7] 与 [1](2024 年)",
    "$a_[7]$ 与[7]\n\n$$\n[7]\n$$\n\n说[7]": "$a_[7]$ 与\n\n$$\n[7]\n$$\n\n说",
    "没有闭合的 ` 与[7]\n\n`又是[7]`": "没有闭合的 ` 与\n\n`又是[7]`",
    "价格 $5[7] 到 $6[1]": "价格 $5 到 $6[1]",
}


@pytest.mark.parametrize(("written", "left"), CASES.items())
def test_numbers_without_a_source_go_and_ordinary_brackets_stay(written: str, left: str) -> None:
    assert drop_invented(written, KNOWN)[0] == left


def visible(markdown: str) -> str:
    return re.sub(r"<[^>]*>|\s", "", render_html(markdown, SOURCES))


@pytest.mark.parametrize("written", CASES)
def test_the_text_says_what_the_page_shows(written: str) -> None:
    assert visible(drop_invented(written, KNOWN)[0]) == visible(written)


def test_a_number_marked_as_invented_goes_even_if_there_is_such_a_source() -> None:
    assert (
        drop_invented(f"甲[{INVENTED}1]，乙[1]，`a[{INVENTED}1]`，a[{INVENTED}1]", KNOWN)[0]
        == "甲，乙[1]，`a[1]`，a[1]"
    )


def grown(pieces: list[str]) -> list[str]:
    text = SourcedText(KNOWN)
    return [*map(text.feed, pieces), text.end()]


@pytest.mark.parametrize("written", CASES)
def test_however_it_is_cut_the_growing_text_ends_the_same(written: str) -> None:
    assert "".join(grown(list(written))) == drop_invented(written, KNOWN)[0]
    for first in range(1, len(written)):
        assert "".join(grown([written[:first], written[first:]])) == drop_invented(written, KNOWN)[0]


PIECES = st.sampled_from([*"[]【】()` \n,。甲a1279=:-", "[1]", "[7]", "[1, 7]", "```\n", "\n\n"])


@settings(derandomize=True, max_examples=500)
@given(st.lists(PIECES, max_size=25), st.integers(1, 5))
@example(list("甲 [7]。"), 1)
def test_growing_never_takes_anything_back(pieces: list[str], size: int) -> None:
    """Brackets within brackets, links, and a line that only seems to begin code are decided far behind; nobody waits for
    that. Such texts are rare, and always the same ones are tried."""
    written = "".join(pieces)
    assume(not re.search(r"[\[【][^\]】]*[\[【]|\]\(", written))
    chunks = [written[at : at + size] for at in range(0, len(written), size)]
    assert "".join(grown(chunks)) == drop_invented(written, KNOWN)[0]


@pytest.mark.parametrize("plain", ["没有括号的文字", "[说明", "（括号）", "a = b", "![", "第 7 条"])
def test_what_cannot_be_a_number_is_shown_at_once(plain: str) -> None:
    shown = SourcedText(KNOWN).feed(plain)
    assert len(plain) - len(shown) <= 1, "at most an open bracket waits"


def test_after_open_code_a_number_waits_but_not_for_ever() -> None:
    text = SourcedText(KNOWN)
    assert text.feed("一个 ` 与[7]后面") == "一个 ` 与"
    assert text.feed("。" * MAX_HELD) == "后面" + "。" * MAX_HELD


def test_a_long_answer_full_of_invented_numbers_costs_little() -> None:
    pieces = [piece for number in range(300) for piece in (f"- 第 {number} 点说明了一件事", "[", "9", "]", "。\n")]
    began = time.monotonic()
    assert "[" not in "".join(grown(pieces))
    assert time.monotonic() - began < 8


def found() -> SearchFinished:
    return SearchFinished(SearchResponse(SearchQuery("q"), provider="fake"), SOURCES)


def test_the_events_of_a_run_cite_only_what_was_found() -> None:
    run = SourcedEvents()
    given_events: list[RunEvent] = [
        TextDelta("我去查[7"),
        ToolStarted("web_search", "q"),
        found(),
        TextDelta("甲[1]乙[7]"),
        Answer("甲[1]乙[7]"),
    ]
    events = [sourced for event in given_events for sourced in run.sourced(event)]
    assert [event.type for event in events] == [
        "text_delta", "text_delta", "tool_started", "search_finished", "text_delta", "notice", "answer",
    ]  # fmt: skip
    message = message_from_run(events, seconds=0)
    assert message.text == "甲[1]乙"
    assert all(before != after for before, after in pairwise(events))


def old_message() -> Message:
    """An answer as an earlier version stored it, checked with the invented number in its text."""
    text = "前面[7]这样说。应当在三十日之内提出[1]。"
    check = check_answer(text, source_texts(SOURCES, {}))
    return Message("assistant", text, (found(), Checked(check), Answer(text, SOURCES[:1])), SOURCES[:1])


def test_exports_of_old_answers_have_no_invented_numbers_and_the_check_points_to_its_sentences() -> None:
    message = old_message()
    assert "[7]" not in as_markdown("题", [message])
    [exported] = json.loads(as_json("题", [message]))["messages"]
    assert exported["text"] == "前面这样说。应当在三十日之内提出[1]。"
    [statement] = [one for one in exported["check"]["statements"] if "三十日" in one["text"]]
    assert exported["text"][statement["start"] : statement["end"]] == "应当在三十日之内提出[1]。"
    [citation] = statement["citations"]
    assert exported["text"][citation["start"] : citation["end"]] == "[1]"


def test_a_question_may_speak_of_any_number() -> None:
    assert "[7]" in json.loads(as_json("题", [Message("user", "什么是[7]？")]))["messages"][0]["text"]
