"""Which brackets are citations and which are values, such as arrays: in an answer with sources 1 to 3, and without any."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Container, Iterable
from io import BytesIO

import pytest
from docx import Document
from hypothesis import given
from hypothesis import strategies as st

from core.answer.citations import INVENTED, cited_numbers, drop_invented
from core.answer.events import SearchFinished
from core.answer.export.html_page import as_html
from core.answer.export.json_file import as_json
from core.answer.export.markdown_text import as_markdown
from core.answer.export.word_file import as_word
from core.answer.html.markdown import render_html
from core.answer.message import Message
from core.answer.sourced_text import MAX_HELD, SourcedText
from core.search.types import SearchQuery, SearchResponse, Source

SOURCES = tuple(Source(number, f"标题{number}", f"https://site{number}.example/", "摘要") for number in (1, 2, 3))
KNOWN = {1, 2, 3}

KEPT_AND_CITES_NOTHING = [
    # arrays, behind words that ask for one
    "输入 [3, 1, 2]，输出 [1, 2, 3]。",
    "排序后得到 [3, 7, 9]。",
    "排序后得到[1, 2, 3]。",
    "结果是 [1, 2, 3]。",
    "结果为[1, 2]。",
    "结果等于 [7, 8]。",
    "列表变成 [1,2,3]，再变成 [3,2,1]。",
    "对 [3, 1, 2] 排序。",
    "对[3,1,2]排序。",
    "输入[3,1,2]，输出[1,2,3]。",
    "函数在[1, 3]上单调递增。",
    "将 [1, 2, 3] 反转。",
    "输出：[1, 2, 3]",
    "输出：**[1, 2, 3]**",
    "第一轮：[1, 3, 2]",
    "输出如下：\n[1, 2, 3]",
    "例如 [1, 2, 3] 有三个元素。",
    "区间[1, 3]上连续，x∈[1, 3]。",
    "取值范围 [1, 3]。",
    "数组 [1, 2, 3] 的和。",
    "返回 [1, 2] 或 [2, 3]。",
    "输出 [3, 1]、[1, 3] 和 [1, 2]。",
    "字符串“[1, 2]”不是列表。",
    "The output is [1, 2, 3].",
    "It returns [1, 2].",
    "The array [1, 2, 3] is sorted.",
    "Sorting [3, 1, 2] is easy.",
    "Output: [1, 2, 3]",
    "Step 1: [1, 3, 2]",
    # program text outside of code
    "for i in [1, 2, 3]:",
    "if x not in [1, 2]:",
    "return [1, 2]",
    "x = [1, 2, 3]",
    "[1, 2] → [2, 1]",
    "f([1, 2]) -> [2, 1]",
    'JSON：{"a": [1, 2]}',
    'JSON：{"a": [1], "b": [2]}',
    "{'a': [1]}",
    "{1: 2, 3: [1, 2]}",
    "[[1, 2], [2, 3]]",
    "[1, [2, 3]]",
    # not in ascending order, and not attached to a word
    "快速排序 [3, 1, 2] 的过程",
    "[3, 1, 2]",
    "[2, 2, 3]",
    "Consider [2, 1, 3].",
    # years and other brackets
    "法释[2020]17号、国发[1998]3号",
    "[图1]、[表 2]、[第3条]、[x]、[1 个]",
    "[1]: 定义",
    "[5, -3]、[0, 1]、[1.5, 2]",
]

KEPT_WITHOUT_THE_SOURCE = [
    # a value if it has no source, a citation if it has
    ("输出 [{}]。", 1),
    ("return [{}]", 1),
    ("→ [{}]", 1),
    ("答案：[{}]", 1),
    ("ports: [{}]", 1),
    ("foo(1, [{}])", 1),
    ("for i in [{}]:", 1),
]

CITED = [
    ("可以撤回[1]。", (1,)),
    ("可以撤回 [1] [2]。", (1, 2)),
    ("可以撤回[1, 2]。", (1, 2)),
    ("可以撤回[1,2]，还能退款[3]。", (1, 2, 3)),
    ("可以撤回。[1, 2]", (1, 2)),
    ("违法行为[1, 2]。", (1, 2)),
    ("仍然存在[1, 2]，有人反对[1, 3]，多数人认为[2]。", (1, 2, 3)),
    ("可以撤回（[1, 2]）。", (1, 2)),
    ("**重点**[1, 2]", (1, 2)),
    ("来源：[1, 2]", (1, 2)),
    ("依据是 [1, 3]。", (1, 3)),
    ("根据 [1, 2]，可以撤回。", (1, 2)),
    ("最好的来源是 [1]。", (1,)),
    ("法律依据：[1]", (1,)),
    ("可以撤回[2、1]。", (2, 1)),
    ("可以撤回【1, 2】。", (1, 2)),
    ("可以撤回[1-3]。", (1, 2, 3)),
    ("See [1, 2] for details.", (1, 2)),
    ("It is so[1, 2].", (1, 2)),
    ("It is so [1].", (1,)),
    ("可以撤回[^1]。", (1,)),
    ("可以撤回[ 1 ]。", (1,)),
    ("可以撤回<sup>[1]</sup>。", (1,)),
    ("可以撤回[来源1, 来源2]。", (1, 2)),
]

DROPPED = {
    "可以撤回[7]。": "可以撤回。",
    "可以撤回 [7]。": "可以撤回。",
    "可以撤回 [7] [8]。": "可以撤回。",
    "可以撤回[7, 8]。": "可以撤回。",
    "可以撤回[7,8]，还能退款[9]。": "可以撤回，还能退款。",
    "可以撤回。[7, 8]": "可以撤回。",
    "违法行为[7, 8]，仍然存在[7, 8]。": "违法行为，仍然存在。",
    "有人认为[7]，有人反对[7, 8]。": "有人认为，有人反对。",
    "可以撤回【7, 8】。": "可以撤回。",
    "可以撤回 [7、8]。": "可以撤回。",
    "根据 [7, 8]，可以撤回。": "根据，可以撤回。",
    "来源：[7, 8]": "来源：",
    "It is so [7].": "It is so.",
    "Several studies [7, 8] show it.": "Several studies show it.",
    "可以撤回 [7, 8]。": "可以撤回。",
    "结果是[7]。": "结果是。",
    "The answer is [7].": "The answer is.",
    "It is so[7, 8].": "It is so.",
    "See [7, 8].": "See.",
    "可以撤回[^7]。": "可以撤回。",
    "可以撤回[^7^]。": "可以撤回。",
    "可以撤回[ 7 ]。": "可以撤回。",
    "可以撤回[ 7, 8 ]。": "可以撤回。",
    "可以撤回[5-3]。": "可以撤回。",
    "可以撤回[0]。": "可以撤回。",
    "可以撤回[1000]。": "可以撤回。",
    "可以撤回[注7]。": "可以撤回。",
    "可以撤回[注 7]、[脚注7]。": "可以撤回。",
    "可以撤回[参考来源7]。": "可以撤回。",
    "可以撤回[来源7、参考资料8]。": "可以撤回。",
    "可以撤回<sup>[7]</sup>。": "可以撤回。",
    "可以撤回<sup>[7][8]</sup>。退款<sup>[9]</sup>，还有。": "可以撤回。退款，还有。",
    "可以撤回[" + ",".join(map(str, range(7, 25))) + "]。": "可以撤回。",
    "可以撤回[" + ", ".join(map(str, range(7, 40))) + "]。": "可以撤回。",
    "说明\n[7]: https://a.example/x\n[8]：<https://b.example> 题\n后文": "说明\n后文",
    "说明[7]。\n\n[7]: https://a.example/x": "说明。\n\n",
    "参考：\n- [7]: https://a.example/\n- [8]: https://a.example/\n- 项": "参考：\n- 项",
    "参考：\n1. [7]: https://a.example/": "参考：\n",
    "> [7]: https://a.example/\n> 引": "> \n> 引",
}

PARTLY_SOURCED = {
    "可以撤回[1, 7]。": "可以撤回[1]。",
    "可以撤回<sup>[1][7]</sup>。": "可以撤回[1]。",
    "可以撤回[5-3][1]。": "可以撤回[1]。",
    "可以撤回[1][3-1][0][1000]。": "可以撤回[1]。",
    "可以撤回[" + ",".join(map(str, range(1, 16))) + "]。": "可以撤回[1][2][3]。",
    "排序后得到 [3, 7, 9]。": "排序后得到 [3, 7, 9]。",
    "可以撤回 [1, 7]。": "可以撤回 [1]。",
    "甲\n[1]: https://a.example/\n[7]: https://a.example/\n乙": "甲\n[1]: https://a.example/\n乙",
    "`[7]` 与 [1]: https://a.example/[7]": "`[7]` 与 [1]: https://a.example/",
    "```\n[7]: https://a.example/\n```": "```\n[7]: https://a.example/\n```",
}

WRITTEN = [
    *KEPT_AND_CITES_NOTHING,
    *(written.format(*numbers) for written, _ in KEPT_WITHOUT_THE_SOURCE for numbers in ((7, 8, 9), (1, 2, 3))),
    *(written for written, _ in CITED),
    *DROPPED,
    *PARTLY_SOURCED,
]


@pytest.mark.parametrize("known", [(), KNOWN])
@pytest.mark.parametrize("written", KEPT_AND_CITES_NOTHING)
def test_values_stay_whatever_sources_there_are(written: str, known: set[int]) -> None:
    assert drop_invented(written, known)[0] == written
    assert cited_numbers(written, SOURCES) == ()


@pytest.mark.parametrize(("written", "count"), KEPT_WITHOUT_THE_SOURCE)
def test_in_doubt_a_bracket_cites_if_all_its_numbers_have_a_source(written: str, count: int) -> None:
    with_sources, without = (written.format(*range(first, first + count)) for first in (1, 7))
    assert cited_numbers(with_sources, SOURCES) == tuple(range(1, count + 1))
    assert drop_invented(with_sources, KNOWN)[0] == with_sources
    assert drop_invented(with_sources, ())[0] == with_sources
    assert drop_invented(without, KNOWN)[0] == without


@pytest.mark.parametrize(("written", "numbers"), CITED)
def test_citations_are_recognised(written: str, numbers: tuple[int, ...]) -> None:
    assert cited_numbers(written, SOURCES) == numbers
    assert drop_invented(written, KNOWN)[0] == written


@pytest.mark.parametrize("known", [(), KNOWN])
@pytest.mark.parametrize(("written", "left"), DROPPED.items())
def test_invented_citations_go(written: str, left: str, known: set[int]) -> None:
    assert drop_invented(written, known)[0] == left


@pytest.mark.parametrize(("written", "left"), PARTLY_SOURCED.items())
def test_what_has_a_source_stays(written: str, left: str) -> None:
    assert drop_invented(written, KNOWN)[0] == left


def visible(html: str) -> str:
    return re.sub(r"<[^>]*>|\s", "", html)


@pytest.mark.parametrize("written", WRITTEN)
def test_the_text_says_what_the_page_shows(written: str) -> None:
    left = drop_invented(written, KNOWN)[0]
    assert visible(render_html(left, SOURCES)) == visible(render_html(written, SOURCES))
    assert drop_invented(left, KNOWN)[0] == left, "nothing more is found in what is left"


def test_the_exports_say_it_too() -> None:
    """One paragraph for each text, because every one is a text of its own."""
    kept = [text for text in KEPT_AND_CITES_NOTHING if "\n" not in text]
    written = "\n\n".join([*kept, *(text for text in DROPPED if "\n" not in text), "输出 [7]。", "可以撤回 [1, 2]。"])
    found = SearchFinished(SearchResponse(SearchQuery("q"), provider="fake"), SOURCES)
    message = Message("assistant", written, (found,), SOURCES)
    left = drop_invented(written, KNOWN)[0]
    [exported] = json.loads(as_json("题", [message]))["messages"]
    assert exported["text"] == message.shown_text == left
    assert left in as_markdown("题", [message]).replace("\\", "")
    word = "\n".join(paragraph.text for paragraph in Document(BytesIO(as_word("题", [message]))).paragraphs)
    page = html.unescape(as_html("题", [message]))
    for text in (*kept, "输出 [7]。"):
        shown = re.sub(r"[*\s]", "", text)
        assert shown in visible(page)
        assert shown in re.sub(r"\s", "", word)
    assert "可以撤回[1][2]。" in visible(page)
    assert "<sup></sup>" not in word


def grown(pieces: Iterable[str], known: Container[int]) -> str:
    text = SourcedText(known)
    return "".join([*map(text.feed, pieces), text.end()])


@pytest.mark.parametrize("known", [(), KNOWN])
@pytest.mark.parametrize("written", WRITTEN)
def test_however_it_is_cut_the_growing_text_ends_the_same(written: str, known: Container[int]) -> None:
    whole = drop_invented(written, known)[0]
    assert grown(written, known) == whole
    assert all(grown([written[:at], written[at:]], known) == whole for at in range(1, len(written)))


PIECES = st.sampled_from(
    [
        *(written for written in WRITTEN if "|" not in written),
        *"[]【】(){}<>^`*\"' \n,，、。:：-=甲是x0127",
        *("<sup>", "</sup>", "[7]: https://a.example/", "http", "来源", "[^7]", "[ 7 ]", "[7, 8]", "[1, 2]", "[2, 1]"),
        *("输出 ", "得到", " → ", "\n\n", "\n- ", "```\n", f"[{INVENTED}1, 2]", "†"),
    ]
)


@st.composite
def deltas(draw: st.DrawFn) -> list[str]:
    text = "".join(draw(st.lists(PIECES, max_size=12)))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=20)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@given(deltas(), st.sampled_from([(), KNOWN]))
def test_the_borders_of_deltas_do_not_matter(pieces: list[str], known: Container[int]) -> None:
    written = "".join(pieces)
    assert grown(pieces, known) == drop_invented(written, known)[0]
    assert grown(written, known) == drop_invented(written, known)[0]


@pytest.mark.parametrize(
    "begun", ["[", "[7", "[7, 8", "[来源", "[source ", "<sup>[", "[7]:", "[7]: https://a.example/", "[7]: http", "【7†"]
)
def test_what_is_held_back_is_bounded(begun: str) -> None:
    for more in ("字", "7", "a", "a ", ",7", "[7]", " ", "/"):
        text = SourcedText(())
        shown = text.feed(begun)
        for _ in range(2_000 // len(more)):
            shown += text.feed(more)
        assert len(begun) + 2_000 - len(shown) <= 2 * MAX_HELD + 2_000 * (more == "[7]"), more
