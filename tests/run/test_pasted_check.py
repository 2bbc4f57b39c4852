"""A pasted text against pasted sources: addresses on a web of our own, or the texts themselves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.answer.check_results import Verdict
from core.checks.errors import CheckInputError
from core.reading import Reader
from core.run.pasted_check import (
    MAX_ADDRESSES,
    MAX_SOURCES_LENGTH,
    MAX_TEXT_LENGTH,
    PastedSource,
    PastedTextCheck,
    check_pasted_text,
    parse_pasted_sources,
    validate_pasted_text,
)
from support.base import loaded
from support.reading import kept_workers
from support.web import Web, web
from support.web_pages import NEWS

__all__ = ["kept_workers", "web"]

TOWN = "海州灯塔建成于2001年，塔高六十米，由三名守塔人轮流值守。"
FIRM = "灯塔公司2024年的收入为一亿两千万元，同比增长20%。公司总部设在海州市。"


@pytest.fixture
def reader(web: Web) -> Iterator[Reader]:
    reader = Reader.from_settings(loaded(READING_PAGES="3", READING_TIMEOUT="20").values)
    yield reader
    reader.close()


def verdicts(result: PastedTextCheck) -> list[Verdict]:
    assert result.check is not None
    return [one.check.verdict for statement in result.check.statements for one in statement.citations]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("https://a.example/1\n\n  https://b.example/2 ", [(1, "", "https://a.example/1"), (2, "", "https://b.example/2")]),
        ("[1]\n甲。\n乙。\n\n[3]\n丙。", [(1, "甲。\n乙。", ""), (3, "丙。", "")]),
        ("【2】\r\n甲[1]。\n[7] https://a.example/\n[8]\nhttps://b.example/", [(2, "甲[1]。", ""), (7, "", "https://a.example/"), (8, "", "https://b.example/")]),
        ("[1] https://a.example/\n甲。", [(1, "甲。", "https://a.example/")]),
        ("[1]\n[2]\n甲。", [(1, "", ""), (2, "甲。", "")]),
    ],
)  # fmt: skip
def test_how_sources_may_be_written(written: str, expected: list[tuple[int, str, str]]) -> None:
    assert parse_pasted_sources(written) == [PastedSource(*one) for one in expected]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "没有看懂"),
        ("一段没有编号的原文。", "第 1 行不是网址"),
        ("https://a.example/\njavascript:alert(1)", "第 2 行不是网址"),
        ("前言\n[1]\n甲。", "没有看懂"),
        ("[1]\n甲。\n[1]\n乙。", "相同的编号"),
        ("https://a.example/\n" * (MAX_ADDRESSES + 1), "最多阅读"),
        ("[1]\n" + "甲" * MAX_SOURCES_LENGTH, "上限"),
    ],
)
def test_what_cannot_be_understood_is_a_sentence(written: str, said: str) -> None:
    with pytest.raises(CheckInputError, match=said):
        parse_pasted_sources(written)


@pytest.mark.parametrize(
    ("text", "said"), [(" \n", "没有要核验的文字"), ("甲" * (MAX_TEXT_LENGTH + 1), "20,001 字，超过")]
)
def test_a_text_that_is_none_or_too_long_is_refused(text: str, said: str) -> None:
    with pytest.raises(CheckInputError, match=said):
        validate_pasted_text(text)


def test_pasted_texts_count_as_read_in_full(reader: Reader) -> None:
    text = "灯塔公司2024年的收入为1.2亿元[1]。海州灯塔建成于2003年，塔高六十米[2]。"
    result = check_pasted_text(text, parse_pasted_sources(f"[1]\n{FIRM}\n[2]\n{TOWN}"), reader)
    assert verdicts(result) == [Verdict.SUPPORTED, Verdict.CONTRADICTED]
    assert result.problems == ()
    assert [(source.title, source.read, source.url) for source in result.sources] == [
        ("粘贴的原文 1", "page", ""),
        ("粘贴的原文 2", "page", ""),
    ]


def test_addresses_are_read_and_each_that_was_not_is_a_sentence(web: Web, reader: Reader) -> None:
    written = f"{web.page('news.example/1', NEWS.encode())}\nhttp://gone.example/2\nhttp://127.0.0.1/3"
    text = "今年前三季度全市供水总量为 1.2 亿立方米[1]。供水总量为 9 亿立方米[2]。水价没有变化，供水总量增加[3][9]。"
    result = check_pasted_text(text, parse_pasted_sources(written), reader)
    found = verdicts(result)
    assert found[0] is Verdict.SUPPORTED
    assert set(found[1:]) == {Verdict.UNCHECKED}, "nothing is said of what was not read"
    assert [source.read for source in result.sources] == ["page", "snippet", "snippet"]
    assert result.check is not None
    assert "没有可供核验的文字" in result.check.statements[1].citations[0].check.reason
    gone, private, missing = result.problems
    assert gone.startswith("[2] ")
    assert private.startswith("[3] ")
    assert "[9]" in missing


def test_nothing_is_opened_where_reading_is_off(web: Web) -> None:
    reader = Reader.from_settings(loaded(READING_PAGES="0").values)
    result = check_pasted_text(
        "供水总量增加[1]。", parse_pasted_sources(web.page("news.example/1", NEWS.encode())), reader
    )
    reader.close()
    assert web.requests == []
    assert "管理员关闭了网页阅读" in result.problems[0]
