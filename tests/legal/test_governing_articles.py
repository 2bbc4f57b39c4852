"""The governing article is among what Chat gives, on the statutes and questions beside the project; `make bench` has the figures."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.base.chinese.numerals import to_chinese
from core.legal.imports.build import import_source
from core.legal.legal_services import LegalServices
from core.legal.library.relevance import is_legal_question
from support.base import loaded
from support.gate_questions import LEGAL, NOT_LEGAL
from support.statute_rewritings import REWRITINGS

pytestmark = pytest.mark.shared

Article = tuple[str, str]


@pytest.fixture(scope="module")
def data(shared: Path) -> Path:
    if not (shared / "data/legal/retrieval").is_dir():
        pytest.skip("the questions about law (../shared/data/legal/retrieval) are not here")
    return shared / "data/legal"


@pytest.fixture(scope="module")
def legal(tmp_path_factory: pytest.TempPathFactory, data: Path) -> LegalServices:
    """National statutes alone."""
    folder = tmp_path_factory.mktemp("statutes")
    services = LegalServices(loaded(DATA_DIR=str(folder)).values, lambda: None)  # type: ignore[arg-type, return-value]
    import_source(services.library.folder, data / "just-laws.tar.xz")
    return services


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def given(legal: LegalServices, question: str, statute_wording: str = "") -> list[Article]:
    """Names without 中华人民共和国, and numbers."""
    found = legal.articles_for(question, statute_wording=statute_wording)
    titles = [result.title for result in found.results] if found else []
    named = [re.match(r"《(?:中华人民共和国)?(.+)》(第[^ （]+)", title) for title in titles]
    return [(one[1], one[2]) for one in named if one]


def governing(listed: Sequence[str]) -> set[Article]:
    """Articles in the form 劳动合同法38,46."""
    named = [re.fullmatch(r"(\D+)([\d,]+)", one) for one in listed]
    return {(one[1], f"第{to_chinese(int(number))}条") for one in named if one for number in one[2].split(",")}


def test_everyday_questions_get_the_governing_article(legal: LegalServices, data: Path) -> None:
    asked = rows(data / "everyday.dev.jsonl")
    found = {row["question"]: given(legal, row["question"]) for row in asked}
    assert [question for question, articles in found.items() if not articles] == [], "the library is silent"
    right = [row["question"] for row in asked if governing(row["governing"]) & set(found[row["question"]])]
    assert len(right) >= 13, set(found) - set(right)


def test_few_legal_questions_are_silenced_and_few_others_bring_articles(legal: LegalServices) -> None:
    """The limits are what was measured, and one more: docs/benchmarks.md."""
    index = legal.library.index()
    assert index is not None
    silenced = [question for question in LEGAL if not is_legal_question(index, question)]
    alarmed = [question for question in NOT_LEGAL if is_legal_question(index, question)]
    assert len(silenced) <= 18, silenced
    assert len(alarmed) <= 5, alarmed
    for question in ("今天天气怎么样", "GDPR 被遗忘权", "Python 怎么排序", "红烧肉怎么做", "特斯拉股价为什么跌"):
        assert question not in alarmed


def test_words_of_statutes_and_named_articles_find_what_the_own_words_do_not(legal: LegalServices, data: Path) -> None:
    sets = [rows(data / "retrieval" / f"{name}.dev.jsonl") for name in ("stard", "lawbench38")]
    gold = {
        row["id"]: (
            row["query"],
            {(one["lawName"].removeprefix("中华人民共和国"), one["articleNumber"]) for one in row["gold"]},
        )
        for row in (row for questions in sets for row in questions)
        if row["id"] in REWRITINGS
    }
    assert len(gold) == len(REWRITINGS) >= 36

    def recall(wordings: dict[str, str]) -> float:
        shares = []
        for key, (question, wanted) in gold.items():
            held = {one for one in wanted if not one[0].startswith("最高人民法院")}  # no interpretations were imported
            if held:
                shares.append(len(held & set(given(legal, question, wordings.get(key, "")))) / len(held))
        return sum(shares) / len(shares)

    own, fused = recall({}), recall(REWRITINGS)
    assert fused >= 0.7, (own, fused)
    assert fused >= own + 0.15, (own, fused)
