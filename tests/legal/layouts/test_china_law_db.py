"""china-law-db: how it is told from LawRefBook, and what of its heads is believed."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.legal.article_numbers import ArticleNumber
from core.legal.entities import Law, LawKind
from core.legal.layouts import corpora
from core.legal.layouts.items import Item, Skipped
from support import invented

STATUTE = """（1995年5月1日灯塔代表大会通过　根据2018年12月29日《关于修改〈中华人民共和国灯塔法〉的决定》修正）

目　　录

### 第一章　总　　则

### 第二章　灯光

### 第一章　总　　则

第一条　灯塔应当点灯。

（一）日落之后。

### 第二章　灯光

第二条　灯光应当明亮。

第二条之一　雾天应当鸣号。

第三条　本法自1995年7月1日起施行。
"""
NEW = "（2026年4月30日灯塔代表大会修订通过）\n\n第一条　灯塔由机器看守。\n\n第二条　本法自2026年11月1日起施行。\n"
REPLY = """公    告

《最高灯塔法院关于雾号的批复》已于2015年12月9日由审判委员会

第四十四次会议通过，现予公布，自2015年12月25日起施行。

最高灯塔法院

关于雾号的批复

（2015年12月9日审判委员会

第四十四次会议通过）

海角市灯塔法院：

雾号是声音信号。
"""
DECISION = """（2026年6月26日灯塔代表大会通过）

一、对《中华人民共和国浮标法》作出修改

将第一条修改为：“本法自1994年1月1日起施行。”

本决定自2027年1月1日起施行。
"""
BUOYS = "（1993年1月1日通过　根据2026年6月26日《关于修改〈浮标法〉的决定》修正）\n\n第一条　浮标分为两色。\n\n第二条　本法自1994年1月1日起施行。\n"
IN_FORCE, REPEALED, AMENDED, COMING, FORMER_WORD = "现行有效", "已废止", "已被修改", "尚未生效", "试行"


def file(
    body: str, status: str = IN_FORCE, *, title: str = "中华人民共和国", published: str = "", more: str = ""
) -> str:
    published = f'publish_date: "{published}"\n' if published else ""
    return f'---\ntitle: "{title}"\n{published}{more}status: "{status}"\nissuing_authority: "灯塔代表大会"\nsynced: "2026-09-30"\ntags:\n  - 法律\n---\n\n{body}'


def older(body: str, status: str = IN_FORCE, published: str = "1949-12-23") -> str:
    """A file of the older generation: that of LawRefBook below a head."""
    return file(body, status, published=published)


def archive(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / "laws" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


def read(source: Path) -> list[Item]:
    survey = corpora.survey(source)
    assert survey.name == "china-law-db"
    return list(corpora.read(source, survey))


def laws(items: list[Item]) -> dict[tuple[str, str | None], Law]:
    return {(one.name, one.published): one for one in items if isinstance(one, Law)}


def reasons(items: list[Item]) -> list[str]:
    return [one.reason for one in items if isinstance(one, Skipped)]


LIGHTHOUSES = "法律/经济法/中华人民共和国灯塔法(2018-12-29).md"
GONE = {"司法解释/最高灯塔法院关于雾号的批复(2015-12-15).md": file(REPLY, REPEALED, published="2015-12-15")}
"""One repealed text, which shows that the statuses of an archive were corrected."""


def test_title_and_day_are_those_of_the_file_name(tmp_path: Path) -> None:
    text = file(STATUTE, published="2018-12-29", more='implement_date: "2018-12-30"\n')
    ((key, law),) = laws(read(archive(tmp_path, {LIGHTHOUSES: text}))).items()
    assert key == ("中华人民共和国灯塔法", "2018-12-29")
    assert (law.kind, law.issuer, law.history) == (LawKind.STATUTE, "灯塔代表大会", ("1995-05-01", "2018-12-29"))
    assert law.effective is None  # neither implement_date nor the first version's day in the last article
    assert law.source == "china-law-db：经济法/中华人民共和国灯塔法(2018-12-29).md"


def test_the_table_of_contents_is_no_text(tmp_path: Path) -> None:
    (law,) = laws(read(archive(tmp_path, {LIGHTHOUSES: file(STATUTE)}))).values()
    assert [(str(one.number), one.path) for one in law.articles] == [
        ("第一条", ("第一章 总则",)),
        ("第二条", ("第二章 灯光",)),
        ("第二条之一", ("第二章 灯光",)),
        ("第三条", ("第二章 灯光",)),
    ]
    assert law.articles[0].text == "灯塔应当点灯。\n（一）日落之后。"


def test_a_text_without_articles_is_kept_below_its_title_and_dated_by_its_announcement(tmp_path: Path) -> None:
    (law,) = laws(read(archive(tmp_path, GONE))).values()
    assert (law.published, law.effective, law.history) == ("2015-12-15", "2015-12-25", ("2015-12-09",))
    assert [(one.number, one.text) for one in law.articles] == [
        (ArticleNumber(0), "海角市灯塔法院：\n雾号是声音信号。")
    ]
    assert (law.kind, law.repealed) == (LawKind.INTERPRETATION, True)


@pytest.mark.parametrize(
    ("path", "name", "kind"),
    [
        ("宪法/中华人民共和国宪法（2018年修正文本）(2018-03-11).md", "中华人民共和国宪法", LawKind.CONSTITUTION),
        (
            "宪法/中华人民共和国宪法修正案（2018年）(2018-03-11).md",
            "中华人民共和国宪法修正案（2018年）",
            LawKind.CONSTITUTION,
        ),
        ("监察法规/监察条例(2018-03-11).md", "监察条例", LawKind.REGULATION),
        ("行政法规/灯塔条例(2018-03-11).md", "灯塔条例", LawKind.REGULATION),
        ("地方法规/上海/浦东新区法规/浦东灯塔规定(2018-03-11).md", "浦东灯塔规定", LawKind.LOCAL),
    ],
)
def test_kinds(tmp_path: Path, path: str, name: str, kind: LawKind) -> None:
    ((key, law),) = laws(read(archive(tmp_path, {path: file(NEW)}))).items()
    assert (key, law.kind) == ((name, "2018-03-11"), kind)


def test_a_file_name_that_was_cut_is_completed_from_the_head(tmp_path: Path) -> None:
    title = "最高灯塔法院关于" + "雾" * 50 + "的批复"
    path = f"司法解释/{title[:40]}(2015-12-15).md"
    ((name, _),) = laws(read(archive(tmp_path, {path: file(REPLY, title=f"{title[:9]}\n{title[9:]}")})))
    assert name == title


def test_without_a_day_in_the_name_the_head_or_the_history_tells_it(tmp_path: Path) -> None:
    found = laws(
        read(archive(tmp_path, {"法律/甲法.md": file(NEW), "法律/乙法.md": file(NEW, published="2026-05-05")}))
    )
    assert set(found) == {("甲法", "2026-04-30"), ("乙法", "2026-05-05")}


class TestStatus:
    """Earlier archives call repealed texts 尚未生效, amended ones 试行 and coming ones 已被修改."""

    OLD = "法律/经济法/中华人民共和国灯塔法(2018-12-29).md"
    COMING = "法律/经济法/中华人民共和国灯塔法(2026-04-30).md"

    def test_a_corrected_archive(self, tmp_path: Path) -> None:
        files = {self.OLD: file(STATUTE, AMENDED), self.COMING: file(NEW, COMING), **GONE}
        found = laws(read(archive(tmp_path, files)))
        assert [law.repealed for law in found.values()].count(True) == 1
        # 尚未生效 is not stored: the day of force tells it, today and after that day
        assert found["中华人民共和国灯塔法", "2026-04-30"].effective == "2026-11-01"
        assert not found["中华人民共和国灯塔法", "2018-12-29"].repealed

    def test_an_archive_with_the_wrong_words_gives_only_what_is_in_force(self, tmp_path: Path) -> None:
        files = {
            self.OLD: file(STATUTE),
            self.COMING: file(NEW, AMENDED),
            "法律/浮标法(2001-01-01).md": file(BUOYS, COMING),
        }
        found = read(archive(tmp_path, files))
        assert set(laws(found)) == {("中华人民共和国灯塔法", "2018-12-29")}
        assert len(reasons(found)) == 2
        assert all("不可信" in reason for reason in reasons(found))

    def test_an_archive_with_both_is_not_believed(self, tmp_path: Path) -> None:
        found = read(archive(tmp_path, {self.OLD: file(STATUTE), self.COMING: file(NEW, FORMER_WORD), **GONE}))
        assert set(laws(found)) == {("中华人民共和国灯塔法", "2018-12-29")}

    def test_an_amended_text_without_the_newer_one_would_be_shown_as_the_law(self, tmp_path: Path) -> None:
        found = read(archive(tmp_path, {self.OLD: file(STATUTE, AMENDED), **GONE}))
        assert reasons(found) == ["源中标为已被修改，但没有修改后的文本"]

    def test_a_coming_text_without_a_day_would_be_shown_as_the_law(self, tmp_path: Path) -> None:
        buoys = "法律/中华人民共和国浮标法(2026-06-26).md"
        found = read(archive(tmp_path / "a", {buoys: file(BUOYS, COMING), **GONE}))
        assert reasons(found) == ["源中标为尚未生效，但没有写明施行日期"]
        decision = "法律/修改、废止的决定/关于修改《中华人民共和国浮标法》的决定(2026-06-26).md"
        found = read(archive(tmp_path / "b", {buoys: file(BUOYS, COMING), decision: file(DECISION), **GONE}))
        assert reasons(found) == []
        assert laws(found)["中华人民共和国浮标法", "2026-06-26"].effective == "2027-01-01"


class TestOlderGeneration:
    def test_its_status_and_its_day_of_publication_are_not_believed(self, tmp_path: Path) -> None:
        files = {"行政法规/灯塔办法(2020-08-08).md": older(invented.LIGHTHOUSE_2020, "废止或失效")}
        ((key, law),) = laws(read(archive(tmp_path, files))).items()
        assert key == ("中华人民共和国灯塔法", "2020-08-08")
        assert (law.repealed, law.kind, law.articles[0].path) == (False, LawKind.REGULATION, ("第一章 总则",))

    def test_a_code_in_parts_and_a_statute_below_its_field(self, tmp_path: Path) -> None:
        parts = {f"民法典/{name}.md": older(text) for name, text in invented.CODE_PARTS.items()}
        found = laws(read(archive(tmp_path, {**parts, "法律/经济法/浮标法.md": older(invented.BUOY.lstrip("\ufeff"))})))
        assert {name for name, _ in found} == {"中华人民共和国海灯法典", "中华人民共和国浮标法"}
        buoys = found["中华人民共和国浮标法", "2015-03-03"]
        assert (buoys.kind, buoys.source) == (LawKind.STATUTE, "china-law-db：经济法/浮标法.md")

    def test_a_private_guide_is_no_law(self, tmp_path: Path) -> None:
        guide = f"# 守塔人攻略\n\n{invented.INFO_END}\n\n先找工会。\n"
        found = read(archive(tmp_path, {"其他/守塔人攻略.md": older(guide), LIGHTHOUSES: file(STATUTE)}))
        assert len(laws(found)) == 1
        assert "不是法规" in reasons(found)[0]


class TestDetection:
    @pytest.mark.parametrize("suffix", [".zip", ".tar.gz"])
    def test_in_an_archive_with_a_folder_on_top(self, tmp_path: Path, suffix: str) -> None:
        folder = archive(tmp_path / "folder", {LIGHTHOUSES: file(STATUTE), **GONE})
        assert len(read(invented.packed(folder, tmp_path / f"db{suffix}"))) == 2

    def test_the_folder_of_laws_alone(self, tmp_path: Path) -> None:
        folder = archive(tmp_path, {"行政法规/灯塔条例(2018-03-11).md": file(NEW)})
        assert len(read(folder / "laws")) == 1

    def test_lawrefbook_below_a_folder_named_laws_is_still_lawrefbook(self, tmp_path: Path) -> None:
        invented.lawrefbook(tmp_path / "laws")
        assert corpora.survey(tmp_path).name == "LawRefBook/Laws"
        only_regulations = tmp_path / "few" / "laws" / "行政法规"
        only_regulations.mkdir(parents=True)
        (only_regulations / "灯塔法实施条例(2022-04-04).md").write_text(invented.REGULATION, "utf-8")
        assert corpora.survey(tmp_path / "few").name == "LawRefBook/Laws"

    def test_a_broken_first_file_does_not_hide_the_others(self, tmp_path: Path) -> None:
        files = {"司法解释/0.md": "", "司法解释/1.md": "\x00", LIGHTHOUSES: file(STATUTE)}
        found = read(archive(tmp_path, files))
        assert len(laws(found)) == 1
        assert len(reasons(found)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "---\n" * 1_000,
        file(""),
        file("（" * 100_000),
        '---\ntitle: "\n' + "x" * 100_000,
    ],
)
def test_a_broken_file_costs_only_itself(tmp_path: Path, text: str) -> None:
    found = read(archive(tmp_path, {LIGHTHOUSES: file(STATUTE), "法律/破.md": text, **GONE}))
    assert {"中华人民共和国灯塔法", "最高灯塔法院关于雾号的批复"} <= {name for name, _ in laws(found)}


@pytest.mark.shared
def test_the_samples(shared: Path) -> None:
    samples = shared / "data/legal/samples/china-law-db"
    if not samples.is_dir():
        pytest.skip("the samples of china-law-db are not here")
    found = {name: law for (name, _), law in laws(read(samples)).items()}
    assert reasons(read(samples)) == []
    tobacco = found["中华人民共和国烟叶税法"]
    assert (tobacco.published, tobacco.effective, len(tobacco.articles)) == ("2017-12-27", "2018-07-01", 10)
    lending = found["最高人民检察院关于强迫借贷行为适用法律问题的批复"]
    assert (lending.published, lending.effective) == ("2014-04-17", "2014-04-17")  # the head says 2014-04-11
    assert found["中华人民共和国城市维护建设税暂行条例"].repealed
    assert not found["中华人民共和国民法典"].repealed
    holidays = found["全国年节及纪念日放假办法"]
    assert (holidays.published, holidays.effective) == ("2024-11-10", None)
