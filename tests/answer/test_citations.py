from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answer.citations import (
    MAX_CITATION_LENGTH,
    cited_numbers,
    cited_places,
    cited_sources,
    unsettled_length,
)
from core.search.types import Source

SOURCES = tuple(Source(number, f"标题{number}", f"https://site{number}.example/", "摘要") for number in range(1, 6))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("可以撤回[1]。", (1,)),
        ("可以撤回[2][1]。", (2, 1)),
        ("可以撤回 [1] [2]。", (1, 2)),
        ("可以撤回[1], [2]、[3]。", (1, 2, 3)),
        ("可以撤回[1, 2]。", (1, 2)),
        ("可以撤回[1，2]。", (1, 2)),
        ("可以撤回[1、2]。", (1, 2)),
        ("可以撤回【1】。", (1,)),
        ("可以撤回【1】【2】。", (1, 2)),
        ("可以撤回【１】［２］。", (1, 2)),
        ("可以撤回[1-3]。", (1, 2, 3)),
        ("可以撤回[1–3, 5]。", (1, 2, 3, 5)),
        ("可以撤回[来源1]。", (1,)),
        ("可以撤回[来源1、来源2]。", (1, 2)),
        ("It is so [source 1] and [Sources: 2, 3].", (1, 2, 3)),
        ("可以撤回[citation:1][citation:2]。", (1, 2)),
        ("可以撤回【1†source】【2†L10-L20】。", (1, 2)),
        ("可以撤回[^1^]。", (1,)),
        ("可以撤回[^1]。", (1,)),
        ("可以撤回[注1][注 2]。", (1, 2)),
        ("可以撤回[参考来源1]。", (1,)),
        ("可以撤回[ 1 ][ 2, 3 ]。", (1, 2, 3)),
        ("可以撤回<sup>[1]</sup>，退款<sup>[2][3]</sup>。", (1, 2, 3)),
        ("可以撤回[5-3][1]。", (1,)),
        ("可以撤回[[1]]。", (1,)),
        ("**重点**[1]，_斜体_[2]，`代码`[3]", (1, 2, 3)),
        ("| 项目 | 依据 |\n|---|---|\n| 期限 | 【2】 |", (2,)),
        ("- 一[3]\n\n> 二[1]\n\n# 三[3]", (3, 1)),
        ("据报道[1](2024 年)", (1,)),
        ("价格从 $5[1] 涨到 $6[2]", (1, 2)),
        ("[1] 开头也算", (1,)),
        ("参见 ([1])", (1,)),
    ],
)
def test_recognised(text: str, numbers: tuple[int, ...]) -> None:
    assert cited_numbers(text, SOURCES) == numbers


@pytest.mark.parametrize(
    "text",
    [
        "见 [2024] 年",
        "下标 [0] 与 [01]",
        "x = [1, 2, 3]",
        "foo([1, 2])",
        "[[1, 2], [3, 4]]",
        "[1] = [2]",
        "数组 [1, 2, 3] 的和",
        "[1](https://evil.example)",
        "[[1]](https://evil.example)",
        "[看[1]这里](https://evil.example)",
        "[1](@ref)",
        "[1]: https://evil.example",
        "- [x] 完成\n- [ ] 未完成",
        "`arr = [1]` 与 ``[2]``",
        "```\n[1]\n```",
        "    缩进的代码 [1]",
        "~~~\n没有结束的代码 [1]",
        r"\[1\]",
        "$x_{[1]}$",
        "$$\nx[1]\n$$",
        "[3-1]",
        "[图1] [表 1] [1 个]",
        "[1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5]",
        "[1",
        "1]",
        "",
    ],
)
def test_left_alone(text: str) -> None:
    assert cited_numbers(text, SOURCES) == ()


@pytest.mark.parametrize(
    "word", ["OpenAI", "research", "GPT-4", "iPhone", "2023", "C++", "it's", "5 m", "基因序列", "data"]
)
def test_a_bracket_after_a_word_is_a_citation(word: str) -> None:
    assert cited_numbers(f"{word}[1] 发布", SOURCES) == (1,)


@pytest.mark.parametrize("name", ["arr", "x", "nums", "user_ids", "arr[0]", "dp[2]", "obj.arr"])
def test_a_bracket_after_the_name_of_an_array_is_an_index(name: str) -> None:
    assert cited_numbers(f"取 {name}[1] 的值", SOURCES) == ()


def test_numbers_without_a_source_are_not_cited() -> None:
    assert cited_numbers("一[9]二[1, 7]三[4-99]", SOURCES) == (1, 4, 5)
    assert cited_numbers("一[1]", ()) == ()


def test_every_bracket_that_cites_has_its_place() -> None:
    text = "甲说[1]，乙[2, 3]。`甲[1]`丙[1][3]，见[文[1]](https://a.example/)，没有[9]。\n\n| 费用[2] |\n|---|\n| 七元【3】 |\n\n- 根据 [2] 的规定"
    places = cited_places(text, {1, 2, 3})
    assert [(place.number, text[place.start : place.end]) for place in places] == [
        *((1, "[1]"), (2, "[2, 3]"), (3, "[2, 3]"), (1, "[1]"), (3, "[3]")),
        *((2, "[2]"), (3, "【3】"), (2, "[2]")),
    ]
    assert cited_places("甲[1]", set()) == []


def test_cited_sources_are_ascending() -> None:
    assert cited_sources("先[3]后[1]再[3]", SOURCES) == (SOURCES[0], SOURCES[2])


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("可以撤回[", "["),
        ("可以撤回[1", "[1"),
        ("可以撤回[1]", "[1]"),
        ("可以撤回[1](https://e", "[1](https://e"),
        ("可以撤回[1]，", ""),
        ("可以撤回[1][2", "[2"),
        ("可以撤回【1†sou", "【1†sou"),
        ("可以撤回[citation:", "[citation:"),
        ("一句 **", "**"),
        ("一段\n**", "**"),
        ("一段\n1.", "1."),
        ("一段\n| --", "| --"),
        ("到 2024", ""),
        ("一段\n", ""),
        ("", ""),
    ],
)
def test_holdback(text: str, held: str) -> None:
    assert text[len(text) - unsettled_length(text) :] == held


@given(st.text(alphabet="[]【】1，, a\n*-`(", max_size=80))
def test_holdback_is_bounded(text: str) -> None:
    assert 0 <= unsettled_length(text) <= min(MAX_CITATION_LENGTH, len(text))


def test_a_lone_bracket_holds_nothing_back_for_ever() -> None:
    assert unsettled_length("[" + "字" * MAX_CITATION_LENGTH) == 0
