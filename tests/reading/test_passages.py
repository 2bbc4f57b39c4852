"""Which parts of a page speak about a question."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.reading import Page, select_passages
from support.web_pages import STORY

FILLER = "本地居民周末常到河边散步，孩子们在草地上放风筝，老人们坐在长椅上聊天。"


def page_of(text: str) -> Page:
    return Page(
        address="http://a.example/",
        final_address="http://a.example/",
        title="",
        text=text,
        published=None,
        kind="text",
        fetched_at=datetime.now(UTC),
        instructions=0,
        is_cut=False,
    )


LONG = page_of("\n".join(f"{FILLER * 8}\n{sentence}" for sentence in STORY))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("老旧水表什么时候更换？", STORY[2]),
        ("新水厂何时投入使用", STORY[3]),
        ("水压异常怎么办", STORY[4]),
        ("局长林远说了什么", STORY[1]),
    ],
)
def test_the_sentence_that_answers_is_among_them(question: str, expected: str) -> None:
    found = select_passages(LONG, question, budget=320)
    assert any(expected in passage.text for passage in found)
    assert all(LONG.text[passage.start : passage.end] == passage.text for passage in found)


def test_the_engine_s_snippet_leads_to_its_place() -> None:
    found = select_passages(LONG, "water works schedule", snippet=f"…{STORY[3][5:40]}…", budget=320)
    assert any(STORY[3] in passage.text for passage in found)


def test_the_beginning_where_nothing_fits() -> None:
    first, *_ = select_passages(LONG, "quantum chromodynamics", budget=320)
    assert (first.start, first.score) == (0, 0.0)


def test_words_are_whole_words() -> None:
    page = page_of(f"{FILLER * 9}\nHe said that again.\n{FILLER * 9}\nThe AI act applies from August.\n{FILLER * 9}")
    best = max(select_passages(page, "AI", budget=600), key=lambda passage: passage.score)
    assert "AI act" in best.text


def test_neighbours_are_one_passage() -> None:
    page = page_of("".join(f"第{n}条规定了供水的第{n}个条件，供水单位应当遵守。" for n in range(40)))
    (found,) = select_passages(page, "供水条件", budget=5_000)
    assert (found.start, found.end) == (0, len(page.text))


@given(
    some.text(alphabet="供水表。！\n a1ＡİA.?「」", max_size=400),
    some.text(alphabet="供水表 aAİ1", max_size=20),
    some.integers(1, 200),
)
def test_offsets_order_and_budget_always_hold(text: str, question: str, budget: int) -> None:
    found = select_passages(page_of(text), question, snippet=question, budget=budget)
    assert all(text[passage.start : passage.end] == passage.text for passage in found)
    assert all(left.end <= right.start for left, right in pairwise(found))
    assert sum(len(passage.text) for passage in found) <= budget
    assert bool(found) == bool(text.strip())


def test_a_book_is_quick() -> None:
    page = page_of((FILLER * 20 + STORY[2] + "\n") * 550)
    began = time.process_time()
    assert select_passages(page, "更换老旧水表的费用由谁承担？", snippet=STORY[2], budget=2_000)
    assert page.length > 400_000
    assert time.process_time() - began < 2


def test_what_a_search_found_comes_first_with_what_stands_beside_it() -> None:
    lines = [f"第{n}段：{FILLER * 8}" for n in range(40)]
    page = page_of("\n".join(lines))
    starts = [page.text.index(line) for line in lines]
    found = [(starts[30] + 40, starts[30] + 60), (starts[5] + 40, starts[5] + 60)]
    assert not any("第30段" in one.text for one in select_passages(page, "第12段", budget=1_000))
    chosen = select_passages(page, "第12段", budget=1_000, found_spans=found)
    assert all(any(one.start <= start < one.end for one in chosen) for start, _ in found)
    only_first = select_passages(page, "第12段", budget=400, found_spans=found)
    assert [page.text[one.start : one.end].count("段：") for one in only_first] == [1]
    assert only_first[0].start <= found[0][0] < only_first[0].end
