"""Several sources of one law: which copies are one version, whose words and dates are kept, in any order of import."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from core.legal.article_numbers import ArticleNumber
from core.legal.entities import Article, Law, LawKind, LawStatus
from core.legal.imports.build import import_source
from core.legal.imports.merge import is_same_version, merge_versions, with_credible_force
from core.legal.library.index import LegalLibrary
from core.legal.library.version_on_day import version_on
from core.legal.text.amendments import all_amended_law_names, amendment_force
from core.legal.text.periods import parse_period
from support import invented

WORDS = [f"第{n}盏灯由守塔人在日落之前点亮，并在日出之后熄灭，雾天除外；守塔人应当记录时刻。" for n in range(30)]
LONG = [*WORDS, "附：灯油税率表。一级百分之三，二级百分之十。"]


def law(source: str = "甲", words: list[str] = WORDS, published: str | None = "2020-06-01", **fields: object) -> Law:
    articles = tuple(Article(ArticleNumber(number), text) for number, text in enumerate(words, start=1))
    made = Law("灯塔法", LawKind.STATUTE, articles, source, published=published)
    return replace(made, **fields)  # type: ignore[arg-type]


def slip(words: list[str]) -> list[str]:
    return [words[0].replace("点亮", "点着"), *words[1:]]


def amended(words: list[str]) -> list[str]:
    return [text.replace("守塔人", "机器").replace("日落之前", "黄昏") for text in words]


class TestSameVersion:
    @pytest.mark.parametrize(
        "other",
        [
            law("乙", [text.replace("，", ",") for text in WORDS], "2011-01-01"),  # the same words, but for punctuation
            law("乙", amended(WORDS)),  # the same day
            law("乙", slip(WORDS), "2020-06-20"),  # the day of the session and that of the announcement
            law("乙", slip(WORDS), "2020-09-20", effective="2021-01-01"),  # in force together
            law("乙", slip(WORDS), None),
        ],
    )
    def test_one_version(self, other: Law) -> None:
        assert is_same_version(law(effective="2021-01-01"), other)
        assert is_same_version(other, law(effective="2021-01-01"))

    @pytest.mark.parametrize(
        "other",
        [
            law("乙", slip(WORDS), "2020-09-20"),  # a small amendment in the same year
            law("乙", amended(WORDS), "2020-06-20"),  # a new text soon after
            law("乙", amended(WORDS), None),  # an old text without a day
        ],
    )
    def test_two_versions(self, other: Law) -> None:
        assert not is_same_version(law(), other)
        assert not is_same_version(other, law())


class TestWords:
    @pytest.mark.parametrize("order", [0, 1])
    def test_the_copy_with_the_tables_is_kept(self, order: int) -> None:
        copies = [law("甲", LONG), law("乙", WORDS)]
        assert merge_versions(copies[order], copies[1 - order]).articles == law(words=LONG).articles

    @pytest.mark.parametrize("order", [0, 1])
    def test_a_copy_without_a_day_replaces_none_that_has_one(self, order: int) -> None:
        copies = [law("甲", WORDS), law("乙", slip(LONG), None)]
        merged = merge_versions(copies[order], copies[1 - order])
        assert (merged.source, merged.published) == ("甲", "2020-06-01")

    def test_a_source_corrects_itself(self) -> None:
        assert merge_versions(law("甲", WORDS), law("甲", LONG)).articles == law(words=WORDS).articles

    @pytest.mark.parametrize("order", [0, 1])
    def test_of_the_same_words_those_sorted_by_field_are_kept(self, order: int) -> None:
        copies = [law("甲：经济法/灯塔法.md"), law("乙：law-1.json")]
        assert merge_versions(copies[order], copies[1 - order]).source == "甲：经济法/灯塔法.md"


class TestDates:
    def test_the_day_of_force_of_the_first_version_is_not_that_of_an_amended_one(self) -> None:
        assert with_credible_force(law(effective="1985-04-01")).effective is None
        assert with_credible_force(law(effective="2020-06-01")).effective == "2020-06-01"
        assert with_credible_force(law(published=None, effective="1985-04-01")).effective == "1985-04-01"

    @pytest.mark.parametrize("order", [0, 1])
    def test_a_day_that_is_known_stands_over_those_of_all_sources(self, order: int) -> None:
        one = law(published="2018-12-29", name="中华人民共和国劳动法", effective="2019-06-01")
        assert with_credible_force(one).effective == "2018-12-29"
        copies = [replace(one, effective=None), replace(one, source="乙", published="2019-01-10")]
        assert merge_versions(copies[order], copies[1 - order]).effective == "2018-12-29"

    @pytest.mark.parametrize("order", [0, 1])
    @pytest.mark.parametrize(
        ("days", "expected"),
        [
            ((None, "2020-10-01"), "2020-10-01"),
            (("2020-06-01", "2020-10-01"), "2020-10-01"),  # one repeats the publication
            (("2020-10-01", "2021-03-31"), "2020-10-01"),  # one has the day of an annex
            (("2020-06-01", None), "2020-06-01"),
        ],
    )
    def test_days_of_force(self, order: int, days: tuple[str | None, str | None], expected: str) -> None:
        copies = [law("甲", effective=days[0]), law("乙", effective=days[1])]
        assert merge_versions(copies[order], copies[1 - order]).effective == expected

    @pytest.mark.parametrize("order", [0, 1])
    def test_a_first_adoption_for_todays_words_brings_no_day_of_force(self, order: int) -> None:
        copies = [law("甲", published="2020-06-01"), law("乙", published="1984-03-12", effective="1985-04-01")]
        merged = merge_versions(copies[order], copies[1 - order])
        assert (merged.published, merged.effective) == ("2020-06-01", None)

    @pytest.mark.parametrize("order", [0, 1])
    def test_in_force_from_the_session_although_announced_later(self, order: int) -> None:
        copies = [law("甲", published="2020-06-01", effective="2020-06-05"), law("乙", published="2020-06-20")]
        merged = merge_versions(copies[order], copies[1 - order])
        assert (merged.published, merged.effective) == ("2020-06-20", "2020-06-05")

    @pytest.mark.parametrize("order", [0, 1])
    def test_a_repeal_is_kept_and_the_longer_history_too(self, order: int) -> None:
        history = ("1984-03-12", "2020-06-01")
        copies = [law("甲", repealed=True, history=("2020-06-01",)), law("乙", issuer="灯塔代表大会", history=history)]
        merged = merge_versions(copies[order], copies[1 - order])
        assert (merged.repealed, merged.issuer, merged.history) == (True, "灯塔代表大会", history)


# ── Imports ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def record(words: list[str], **fields: object) -> dict[str, object]:
    articles = [{"number": str(number), "text": text} for number, text in enumerate(words, start=1)]
    return {"name": "中华人民共和国灯塔法", "kind": "法律", "articles": articles, **fields}


SOURCES = {
    "old": record(WORDS, published="1995-01-01", effective="1995-07-01"),
    "newest": record(amended(LONG), published="2020-06-01"),
    "announced": record(slip(amended(LONG)), published="2020-06-10", effective="2020-10-01"),
    "first_day": record(amended(WORDS), published="2020-06-01", effective="1995-07-01"),
    "undated": record(slip(WORDS)),
}


@pytest.mark.parametrize("order", [(*first, "old") for first in permutations([*SOURCES][1:])])
def test_the_newest_text_with_its_day_of_force_whatever_the_order(tmp_path: Path, order: tuple[str, ...]) -> None:
    files = [invented.jsonl(tmp_path / f"{name}.jsonl", SOURCES[name]) for name in order]
    index = invented.opened(tmp_path / "data", *files)
    assert [(one.published, one.effective) for one in index.versions("灯塔法")] == [
        ("2020-06-10", "2020-10-01"),
        ("1995-01-01", "1995-07-01"),
    ]
    current = index.current("灯塔法")
    assert current is not None
    assert "灯油税率表" in index.articles(current.id)[-1].text
    assert index.status(current) is LawStatus.IN_FORCE
    day = parse_period("2020-08-01")
    assert day is not None
    assert version_on(index, "灯塔法", day).law.published == "1995-01-01"


DECISION = (
    "一、对《中华人民共和国灯塔法》作出修改\n将第三十条修改为：“本法自2001年1月1日起施行。”\n"
    "二、对《浮标法》作出修改\n删去第二条。\n本决定自{day}起施行。"
)
TITLE = "灯塔代表大会常务委员会关于修改《中华人民共和国灯塔法》等二部法律的决定"


def decision(day: str, published: str = "2020-06-01", title: str = TITLE) -> dict[str, object]:
    return {"name": title, "kind": "法律", "published": published, "articles": [{"text": DECISION.format(day=day)}]}


def test_the_decision_that_amended_a_law_tells_its_day_of_force(tmp_path: Path) -> None:
    buoys = {**record(WORDS, published="2020-06-01"), "name": "浮标法"}
    laws = invented.jsonl(tmp_path / "laws.jsonl", SOURCES["newest"], SOURCES["old"], buoys)
    later = invented.jsonl(tmp_path / "later.jsonl", decision("2020年9月1日"))
    for files in ((laws, later), (later, laws)):
        index = invented.opened(tmp_path / files[0].stem, *files)
        assert [one.effective for one in index.versions("灯塔法")] == ["2020-09-01", "1995-07-01"]
        assert [one.effective for one in index.versions("浮标法")] == ["2020-09-01"]


@pytest.mark.parametrize(
    "decisions",
    [
        (decision("2020年9月1日", published="2019-06-01"),),  # another amendment
        (decision("2020年9月1日"), decision("公布之日", title="关于再次修改《灯塔法》的决定")),  # two that differ
        (decision("2019年9月1日"),),  # before its own publication
    ],
)
def test_a_decision_that_does_not_fit_tells_nothing(tmp_path: Path, decisions: tuple[dict[str, object], ...]) -> None:
    index = invented.opened(tmp_path / "data", invented.jsonl(tmp_path / "a.jsonl", SOURCES["newest"], *decisions))
    assert [one.effective for one in index.versions("灯塔法")] == [None]


def test_a_day_that_a_source_states_is_not_overwritten_by_a_decision(tmp_path: Path) -> None:
    dated = record(amended(LONG), published="2020-06-01", effective="2020-10-01")
    index = invented.opened(tmp_path / "data", invented.jsonl(tmp_path / "a.jsonl", dated, decision("2020年9月1日")))
    assert [one.effective for one in index.versions("灯塔法")] == ["2020-10-01"]


def test_what_an_amendment_says_of_itself() -> None:
    text = DECISION.format(day="公布之日")
    assert amendment_force(text, "2020-06-01") == "2020-06-01"
    assert all_amended_law_names(TITLE, text) == {"中华人民共和国灯塔法", "浮标法"}
    assert all_amended_law_names("灯塔法", text) == set()
    assert amendment_force("将第九条修改为：“本法自2001年1月1日起施行。”", "2020-06-01") is None


def test_a_guide_that_was_imported_as_law_is_gone_after_the_next_import(tmp_path: Path) -> None:
    folder = invented.lawrefbook(tmp_path / "laws")
    guide = folder / "其他/守塔人仲裁攻略.md"
    guide.parent.mkdir()
    guide.write_text(f"# 守塔人仲裁攻略\n\n{invented.INFO_END}\n\n加班没有加班费，先找工会。\n", "utf-8")
    standard = folder / "其他/灯塔损伤鉴定标准(2014-01-01).md"
    standard.write_text(f"# 灯塔损伤鉴定标准\n\n{invented.INFO_END}\n\n## 范围\n\n本标准适用于灯塔。\n", "utf-8")
    stored = record(["加班没有加班费，先找工会。"], source="LawRefBook/Laws：其他/守塔人仲裁攻略.md") | {
        "name": "守塔人仲裁攻略",
        "kind": "其他",
    }
    library = LegalLibrary(tmp_path / "data", today=lambda: invented.TODAY)
    import_source(library.folder, invented.jsonl(tmp_path / "earlier.jsonl", stored))
    report = import_source(library.folder, folder)
    index = library.index()
    assert index is not None
    assert index.resolve("守塔人仲裁攻略") is None
    assert index.resolve("灯塔损伤鉴定标准")
    assert all(index.version(one.law_id).name != "守塔人仲裁攻略" for one in index.search("加班费 工会", 10))
    assert any("不是法规" in one.reason for one in report.skipped)
