"""Which questions bring articles of the library beside what the web says."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.legal.library.index import LegalIndex
from core.legal.library.relevance import is_legal_question
from support import invented
from support.everyday_laws import ABOUT_LAW, LAWS, NOT_ABOUT_LAW


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> LegalIndex:
    folder = tmp_path_factory.mktemp("laws")
    return invented.opened(folder / "data", invented.jsonl(folder / "laws.jsonl", *LAWS))


def test_everyday_questions_bring_none(index: LegalIndex) -> None:
    assert len(NOT_ABOUT_LAW) == 100
    assert [question for question in NOT_ABOUT_LAW if is_legal_question(index, question)] == []


def test_questions_about_law_do(index: LegalIndex) -> None:
    """Sixteen articles know few of people's words; a whole library misses one of these (docs/benchmarks.md)."""
    missed = [question for question in ABOUT_LAW if not is_legal_question(index, question)]
    assert len(missed) <= 4, missed


@pytest.mark.parametrize(
    "question",
    ["民法典第五百八十五条", "民法典585条说什么", "請問民法典第585條", "消费者权益保护法值得读吗", "请解读《劳动法》"],
)
def test_a_law_that_is_named_always_does(index: LegalIndex, question: str) -> None:
    assert is_legal_question(index, question)


@pytest.mark.parametrize("question", ["德国民法典有多少卷", "第六次反法同盟是哪一年", "", "？？？", "a" * 100_000])
def test_what_is_no_law_of_the_library_does_not(index: LegalIndex, question: str) -> None:
    assert not is_legal_question(index, question)


def test_an_empty_library_has_nothing_to_say(tmp_path: Path) -> None:
    case = {"caseName": "甲诉乙借款纠纷", "text": "判决返还借款。"}
    assert not is_legal_question(
        invented.opened(tmp_path / "data", invented.jsonl(tmp_path / "one.jsonl", case)), "借款不还怎么起诉"
    )
