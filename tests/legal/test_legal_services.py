"""法条核验 of answers: when it looks anything up at all, once per text and index, and never in the answer's way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.app import App
from core.base.parts import has_built
from core.legal.imports.build import import_source
from core.legal.library.index import LegalIndex
from core.legal.text.periods import Period
from core.legal.text.statute_citations import may_cite
from core.legal.verify import Author, StatuteFinding, StatuteMark
from support import invented
from support.scripted_app import scripted_app

ANSWER = """守塔人应当在日落前点灯（《灯塔法》第三条）[1]。《灯塔法》第九十九条不存在。

《浮标法》第二条规定：“浮标由守塔人登记，每年一次。”《灯塔法》第三条如上。"""


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    invented.library(tmp_path / "data", invented.lawrefbook(tmp_path / "laws"))
    with scripted_app(says=[], DATA_DIR=str(tmp_path / "data")) as (app, _):
        yield app


def marks(app: App, text: str) -> list[tuple[str, str]]:
    check = app.check_statutes(text)
    return [(verdict.mark.value, verdict.cited) for verdict in check.findings] if check else []


def test_each_citation_once_in_the_order_of_the_text(app: App) -> None:
    assert marks(app, ANSWER) == [("✓", "《灯塔法》第三条"), ("✗", "《灯塔法》第九十九条"), ("≠", "《浮标法》第二条")]


def test_a_date_in_the_question_says_which_law_counts(app: App) -> None:
    answer = "《灯塔法》第二条规定：“灯塔由守塔人看守，旧规定。”"
    for question, mark in [
        ("2015 年签的合同，守塔人要离岗吗？", "✓"),
        ("守塔人要离岗吗？", "⌛"),
        ("2015 年签、2016 年违约", "⌛"),
    ]:
        check = app.check_statutes(answer, question)
        assert check is not None
        assert [verdict.mark.value for verdict in check.findings] == [mark], question


@pytest.mark.parametrize(
    "text",
    ["", "你好，今天天气不错。", "合同第三条约定了违约金。", "一共三条建议：第一条，早睡。", "《灯塔法》很重要。"],
)
def test_an_answer_without_statutes_has_no_check(app: App, text: str) -> None:
    assert app.check_statutes(text) is None


def test_without_an_article_nothing_is_opened(tmp_path: Path) -> None:
    with scripted_app(says=[], DATA_DIR=str(tmp_path)) as (app, _):
        app.check_statutes("《灯塔法》是怎么说的？")
        assert not has_built(app, "legal")


@pytest.mark.parametrize("text", ["第三条", "民法典1198条", "第 38 条", "第３８条", "第一百二十条之一"])
def test_what_may_cite_is_looked_at(text: str) -> None:
    assert may_cite(text)
    assert not may_cite("条理清楚，三思而行。")


def test_without_an_index_it_says_so_only_where_statutes_are_cited(tmp_path: Path) -> None:
    with scripted_app(says=[], DATA_DIR=str(tmp_path)) as (app, _):
        check = app.check_statutes(ANSWER)
        assert check is not None
        assert (check.has_index, check.findings) == (False, ())
        assert app.check_statutes("合同第三条约定了违约金。") is None


def test_a_text_is_looked_up_once_for_each_index(app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    verified: list[str] = []
    verify = app.legal.verifier.verify

    def verify_once_more(text: str, author: Author, asked_period: Period | None) -> list[StatuteFinding]:
        verified.append(text)
        return verify(text, author, asked_period=asked_period)

    monkeypatch.setattr(app.legal.verifier, "verify", verify_once_more)
    for _ in range(3):
        assert marks(app, "《海港法》第一条")[0][0] == StatuteMark.UNKNOWN
    assert len(verified) == 1
    record = {"name": "海港法", "articles": [{"number": "第一条", "text": "海港夜间开放。"}]}
    import_source(app.legal.library.folder, invented.jsonl(tmp_path / "more.jsonl", record))
    assert marks(app, "《海港法》第一条")[0][0] == StatuteMark.EXISTS
    assert len(verified) == 2


def test_a_failure_is_logged_and_the_answer_goes_on(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(LegalIndex, "article", broken)
    assert app.check_statutes(ANSWER) is None
    assert "could not be checked" in caplog.text
