"""行为时法: the version of a day, and that the library says so where it does not hold it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.legal.library.index import LegalIndex
from core.legal.library.statutes import RegulationResponse, RegulationService
from core.legal.library.version_on_day import repeal_note, version_on
from core.legal.text.periods import Period, parse_period
from support import invented


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """灯塔法 as of 2010, 2020 and 2025 (in force since 2026), and one of 2026 that comes in 2027."""
    folder = tmp_path_factory.mktemp("on-day")
    invented.library(folder / "data", invented.just_laws(folder / "just"), invented.lawrefbook(folder / "laws"))
    return folder / "data"


@pytest.fixture(scope="module")
def index(folder: Path) -> LegalIndex:
    return invented.opened(folder)


def at(written: str) -> Period:
    period = parse_period(written)
    assert period is not None
    return period


@pytest.mark.parametrize(
    ("time", "published", "held", "says"),
    [
        ("2015", "2010-05-01", True, "这是 2015 年施行的版本（2010-05-01 公布），不是现行文本。"),
        ("2020-09-30", "2010-05-01", True, "不是现行文本"),
        ("2020-10-01", "2020-08-08", True, "不是现行文本"),
        ("2020", "2020-08-08", False, "2020 年之内有变动：2020-10-01 起施行，此前是 2010-05-01 公布的版本。请写明"),
        ("2026-02-01", "2025-09-09", True, ""),
        ("2010-05-20", "2010-05-01", False, "2010-05-20 时它还没有施行：2010-05-01 制定，2010-06-01 起施行。"),
        ("2009", "2010-05-01", False, "2009 年时还没有这部法规：它 2010-05-01 制定，2010-06-01 起施行。"),
    ],
)
def test_the_version_of_a_time(index: LegalIndex, time: str, published: str, held: bool, says: str) -> None:
    found = version_on(index, "灯塔法", at(time))
    assert (found.law.published, found.is_exact) == (published, held)
    assert says in found.note
    assert bool(says) == bool(found.note)


def test_an_amendment_that_nobody_imported_is_told(tmp_path: Path) -> None:
    (tmp_path / "laws/经济法").mkdir(parents=True)
    head = "# 中华人民共和国雾号法\n\n2001年1月1日 通过\n\n"
    old, new = "第一条 雾号短促。\n", "第一条 雾号悠长。\n"
    amended = "2010年1月1日 根据《关于修改<雾号法>的决定》修正\n\n2019年1月1日 修订\n\n2019年3月1日 施行\n\n"
    texts = {"2001-01-01": f"2001年2月1日 施行\n\n{invented.INFO_END}\n\n{old}", "2019-01-01": amended}
    texts["2019-01-01"] += f"{invented.INFO_END}\n\n{new}"
    for day, text in texts.items():
        (tmp_path / f"laws/经济法/雾号法({day}).md").write_text(head + text, "utf-8")
    index = invented.opened(tmp_path / "data", tmp_path / "laws")
    assert version_on(index, "雾号法", at("2005")).is_exact
    missing = version_on(index, "雾号法", at("2015"))
    assert (missing.law.published, missing.is_exact) == ("2001-01-01", False)
    assert missing.note == "库中没有 2010-01-01 修改后的版本，这是此前 2001-01-01 公布的文本。"
    assert version_on(index, "雾号法", at("2020")).note == ""
    assert "库中没有 2000-12-31 施行" not in version_on(index, "雾号法", at("2000-12-31")).note


def test_a_day_of_force_that_nobody_knows_is_not_made_up(tmp_path: Path) -> None:
    records = [
        {"name": "雾号法", "published": day, "articles": [{"number": "第一条", "text": text}]}
        for day, text in (("2001-01-01", "短"), ("2019-01-01", "长"))
    ]
    index = invented.opened(tmp_path / "data", invented.jsonl(tmp_path / "a.jsonl", *records))
    assert version_on(index, "雾号法", at("2020")).note == "它的施行日期库中没有，按公布日期选择。"
    assert "最早的一版 2001-01-01 公布，施行日期库中没有" in version_on(index, "雾号法", at("1999")).note


def test_a_law_that_was_still_in_force_then(index: LegalIndex) -> None:
    assert repeal_note(index, "灯笼法", at("2020")) == (
        "2020 年时它仍然有效，2022-01-01 起由《中华人民共和国海灯法典》第三条废止。"
    )
    assert "时它已由《中华人民共和国海灯法典》第三条废止" in repeal_note(index, "灯笼法", at("2023"))
    assert repeal_note(index, "浮标法", at("2023")) == ""


def search(folder: Path, text: str, time: str = "") -> RegulationResponse:
    service = RegulationService(invented.library(folder))
    return service.search(text, as_of=parse_period(time) if time else None)


def test_an_article_as_it_was(folder: Path) -> None:
    (then,) = search(folder, "灯塔法第二条", "2015").results
    assert then.content == "灯塔由守塔人看守，旧规定。"
    assert "2015 年施行的版本" in then.remark
    found = search(folder, "灯塔法第二条").results
    assert [one.published for one in found] == ["2025-09-09", "2020-08-08", "2010-05-01"]
    assert {one.remark for one in found} == {""}


@pytest.mark.parametrize("name", ["灯塔法（2010年公布）", "2010年《灯塔法》", "《灯塔法（2010年）》"])
def test_a_version_that_is_named_in_the_query(folder: Path, name: str) -> None:
    (then,) = search(folder, f"{name}第二条").results
    assert then.content == "灯塔由守塔人看守，旧规定。"


def test_words_are_looked_for_in_the_law_of_the_time(folder: Path) -> None:
    then = search(folder, "守塔人看守灯塔", "2015").results
    assert (then[0].published, then[0].article_number) == ("2010-05-01", "第二条")
    assert {one.published for one in then if one.law_name.endswith("灯塔法")} == {"2010-05-01"}
    later = next(one for one in then if one.law_name.endswith("实施条例"))
    assert "还没有这部法规" in later.remark
    assert then.index(later) > 0


def test_a_law_that_is_not_held_says_whether_it_counted(folder: Path) -> None:
    assert search(folder, "灯笼法第一条", "2020").note.endswith(
        "库中没有它的条文。2020 年时它仍然有效，2022-01-01 起由《中华人民共和国海灯法典》第三条废止。"
    )


def test_the_answer_names_its_time(folder: Path) -> None:
    assert search(folder, "灯塔法第二条", "2015").to_json()["asOf"] == "2015"
    assert search(folder, "灯塔法第二条").to_json()["asOf"] is None
