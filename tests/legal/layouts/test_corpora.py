"""What the readers make of each layout, and what they leave out and why."""

from __future__ import annotations

import os
import sqlite3
import struct
import tarfile
from pathlib import Path

import pytest

from core.legal.article_numbers import ArticleNumber
from core.legal.entities import CaseType, CourtCase, Law, LawKind
from core.legal.errors import CorpusError
from core.legal.layouts import corpora, source_files
from core.legal.layouts.items import Item, Skipped
from core.legal.text.dates import adopted, in_force
from support import invented


def read(source: Path) -> list[Item]:
    return list(corpora.read(source, corpora.survey(source)))


def laws(items: list[Item], name: str = "") -> list[Law]:
    return [item for item in items if isinstance(item, Law) and name in item.name]


def skipped(items: list[Item]) -> dict[str, str]:
    return {Path(item.path).name: item.reason for item in items if isinstance(item, Skipped)}


@pytest.fixture
def items(tmp_path: Path) -> list[Item]:
    return read(invented.lawrefbook(tmp_path))


def texts(law: Law) -> dict[str, str]:
    return {str(article.number): article.text for article in law.articles}


class TestLawRefBook:
    def test_articles_with_paragraphs_items_and_suffixes(self, items: list[Item]) -> None:
        law = next(law for law in laws(items, "灯塔法") if law.published == "2020-08-08")
        found = texts(law)
        assert list(found) == ["第一条", "第二条", "第三条", "第三条之一", "第四条", "第五条", "第六条"]
        assert found["第二条"].splitlines()[1:] == [
            "（一）视力不足以辨认航标的；",
            "（二）擅自熄灯的。",
            "离岗的守塔人可以申请复核。",
        ]
        assert found["第三条"].startswith("守塔人应当")  # no blank after 条 in the source, and one before it
        assert found["第四条"].startswith("违反本法第二条")  # 笫, a look-alike

    def test_chapter_path(self, items: list[Item]) -> None:
        law = next(law for law in laws(items, "灯塔法") if law.published == "2020-08-08")
        paths = {str(article.number): article.path for article in law.articles}
        assert paths["第一条"] == ("第一章 总则",)
        assert paths["第三条之一"] == ("第二章 灯光", "第一节 亮度")

    def test_invisible_characters_and_blanks(self, items: list[Item]) -> None:
        (law,) = laws(items, "浮标法")
        assert law.articles[0].text == "浮标分为红、绿 两色。"
        assert law.articles[1].text == "浮标由船长登记。\n登记满五年的，应当重新登记。"

    def test_a_code_in_several_files_is_one_law(self, items: list[Item]) -> None:
        (code,) = laws(items, "海灯法典")
        assert [article.number.number for article in code.articles] == [1, 2, 3]
        assert code.articles[0].path == ("总则编", "第一章 一般规定")
        assert code.effective == "2022-01-01"

    def test_a_text_without_articles_is_kept_whole(self, items: list[Item]) -> None:
        (reply,) = laws(items, "雾号")
        assert [article.number for article in reply.articles] == [ArticleNumber(0)]
        assert "二、雾号不得用于取乐。" in reply.articles[0].text
        assert (reply.kind, reply.issuer, reply.repealed) == (LawKind.RULE, "灯塔管理局", True)

    def test_kinds_and_issuers(self, items: list[Item]) -> None:
        (interpretation,) = laws(items, "最高人民法院")
        assert (interpretation.kind, interpretation.issuer) == (LawKind.INTERPRETATION, "最高人民法院")
        (regulation,) = laws(items, "实施条例")
        assert (regulation.kind, regulation.issuer) == (LawKind.REGULATION, "国务院")
        assert list(texts(regulation)) == ["第一条", "第二条", "第三条"]  # two of them on one line
        assert len(interpretation.articles) == 1  # what stands before the first article is not an article

    def test_encodings(self, items: list[Item]) -> None:
        (law,) = laws(items, "航标法")
        assert law.articles[1].text.startswith("浮标由船长登记。")

    def test_broken_files_are_named_with_a_reason(self, items: list[Item]) -> None:
        assert skipped(items) == {
            "没有标题.md": "没有标题，或没有 <!-- INFO END -->",
            "空的.md": "文件是空的",
            "乱码.md": "编码无法识别",
        }

    def test_a_case_says_only_what_its_text_says(self, items: list[Item]) -> None:
        cases = {item.name: item for item in items if isinstance(item, CourtCase)}
        case = cases["甲某诉乙灯塔公司海上侵权纠纷案"]
        assert (case.number, case.court, case.date) == ("（2021）闽民终345号", "海天省高级人民法院", "2021-09-08")
        assert (case.type, case.gist) == (CaseType.CIVIL, "塔主对守塔人的过失负责。")
        assert case.summary == "某夜大雾，守塔人熄灯，甲某的渔船搁浅。"
        bare = cases["浮标漂走了谁负责"]
        assert (bare.number, bare.court, bare.date, bare.verdict) == (None, None, None, None)
        assert bare.type is CaseType.ADMINISTRATIVE


class TestEffectiveDate:
    """The last article of an amended law still names the day of its first version."""

    def test_amended_law_takes_the_recorded_date(self, items: list[Item]) -> None:
        dates = {law.published: law.effective for law in laws(items, "中华人民共和国灯塔法")}
        assert dates == {"2010-05-01": "2010-06-01", "2020-08-08": "2020-10-01"}

    @pytest.mark.parametrize(
        ("head", "closing", "expected"),
        [
            (["2015年3月3日 通过", "2015年7月1日 施行"], "", "2015-07-01"),
            (["2015年3月3日 通过"], "本法自2015年9月1日起施行。", "2015-09-01"),
            (["2015年3月3日 通过"], "本法自二〇一五年九月一日起施行。", "2015-09-01"),
            (["2010年1月1日 通过", "2015年3月3日 修正"], "本法自2010年9月1日起施行。", None),
            (["2015年3月3日 公布"], "本条例自公布之日起施行。", "2015-03-03"),
            (["2010年3月3日 公布", "2015年3月3日 修正"], "本条例自公布之日起施行。", None),
            (["2015年3月3日 通过"], "没有说。", None),
            (["2015年2月31日 施行"], "", None),
            (["1982年12月4日 公告公布施行", "2018年3月11日 通过"], "", None),
        ],
    )
    def test_rule(self, head: list[str], closing: str, expected: str | None) -> None:
        assert in_force(head, [closing], adopted(head)) == expected

    def test_the_database_speaks_last(self) -> None:
        head = ["2010年1月1日 通过", "2015年3月3日 修正"]
        assert in_force(head, ["本法自2010年9月1日起施行。"], adopted(head), "2015-05-05") == "2015-05-05"

    @pytest.mark.parametrize("day", ["2019年5月1日", "二〇一九年五月一日", "2019-5-1", "2019.05.01"])
    def test_a_day_may_be_written_in_any_way(self, day: str) -> None:
        assert adopted([f"{day} 修订通过"]) == "2019-05-01"
        assert in_force([], [f"本法自{day}起施行。"], None) == "2019-05-01"

    def test_dates_in_titles_are_not_events(self) -> None:
        assert adopted(["2015年3月3日 《关于修改<2099年1月1日办法>的决定》修正"]) == "2015-03-03"


class TestJustLaws:
    @pytest.fixture
    def items(self, tmp_path: Path) -> list[Item]:
        return read(invented.just_laws(tmp_path))

    def test_bold_articles_and_plain_suffixes(self, items: list[Item]) -> None:
        law = next(law for law in laws(items, "灯塔法") if law.published == "2025-09-09")
        assert list(texts(law)) == ["第一条", "第二条", "第二条之一", "第三条"]
        assert law.effective == "2026-01-01"

    def test_versions_json_dates_the_version_to_come(self, items: list[Item]) -> None:
        law = next(law for law in laws(items, "灯塔法") if law.published == "2026-02-02")
        assert (law.effective, len(law.articles)) == ("2027-01-01", 1)

    def test_a_split_code_is_put_together_in_the_order_of_its_articles(self, items: list[Item]) -> None:
        code = next(law for law in laws(items) if law.name == "中华人民共和国海灯法典")
        assert [article.number.number for article in code.articles] == [1, 2, 3]
        assert (code.articles[0].path, code.effective) == (("第一编 总则",), "2022-01-01")

    def test_amendments_are_laws_of_their_own(self, items: list[Item]) -> None:
        (amendment,) = laws(items, "海灯法典修正案")
        assert (amendment.published, amendment.articles[0].number.number) == ("2023-03-03", 0)

    def test_parts_without_a_whole_are_skipped(self, items: list[Item]) -> None:
        assert skipped(items) == {"01-part.md": "同一文件夹里没有 README.md"}


class TestJsonl:
    def test_laws_and_cases(self, tmp_path: Path) -> None:
        law = {
            "name": "渔灯条例",
            "kind": "行政法规",
            "published": "2020-01-02",
            "articles": [{"number": "第1条", "text": "点灯。"}],
        }
        case = {"caseName": "丙诉丁", "caseNumber": "(2020)闽01刑初9号", "text": "全文", "url": "javascript:x"}
        found = read(invented.jsonl(tmp_path / "a.jsonl", law, "", case))
        assert isinstance(found[0], Law)
        assert (found[0].articles[0].number, found[0].source) == (ArticleNumber(1), "a.jsonl")
        assert isinstance(found[1], CourtCase)
        assert (found[1].type, found[1].url, found[1].court) == (CaseType.CRIMINAL, None, None)

    @pytest.mark.parametrize(
        "line",
        [
            "{",
            "[]",
            "3",
            '{"name": "x"}',
            '{"name": "x", "articles": []}',
            '{"name": "", "articles": [{"text": "x"}]}',
            '{"name": "x", "articles": [{"number": "甲", "text": "x"}]}',
            '{"name": "x", "kind": "诗", "articles": [{"text": "x"}]}',
            '{"caseName": "x", "text": "y", "caseType": "诗"}',
            '{"caseName": "x"}',
            "[" * 100000,
        ],
    )
    def test_a_bad_line_costs_only_itself(self, tmp_path: Path, line: str) -> None:
        good = {"name": "渔灯条例", "articles": [{"number": "第一条", "text": "点灯。"}]}
        found = read(invented.jsonl(tmp_path / "a.jsonl", line, good))
        assert [type(item) for item in found] == [Skipped, Law]
        assert isinstance(found[0], Skipped)
        assert found[0].path == "a.jsonl:1"


class TestArchives:
    @pytest.mark.parametrize("name", ["laws.zip", "laws.tar", "laws.tar.gz", "laws.tar.xz", "laws.tar.bz2"])
    def test_every_packing_reads_the_same(self, tmp_path: Path, name: str) -> None:
        folder = invented.lawrefbook(tmp_path / "folder")
        whole = {(law.name, law.published, len(law.articles)) for law in laws(read(folder))}
        found = read(invented.packed(folder, tmp_path / name))
        assert {(law.name, law.published, len(law.articles)) for law in laws(found)} == whole

    @pytest.mark.parametrize("escape", ["../../经济法/逃.md", "/etc/经济法/逃.md", "经济法/../../逃.md"])
    @pytest.mark.parametrize("suffix", [".zip", ".tar"])
    def test_nothing_is_written_wherever_a_name_points(self, tmp_path: Path, escape: str, suffix: str) -> None:
        target = tmp_path / "in" / f"evil{suffix}"
        target.parent.mkdir()
        invented.pack(target, {escape: invented.BUOY.encode(), "经济法/好.md": invented.BUOY.encode()})
        before = set(tmp_path.rglob("*"))
        assert laws(read(target), "浮标法")
        assert set(tmp_path.rglob("*")) == before

    def test_links_in_archives_and_folders_are_not_followed(self, tmp_path: Path) -> None:
        secret = tmp_path / "secret.md"
        secret.write_text(invented.BUOY, "utf-8")
        folder = tmp_path / "corpus" / "经济法"
        folder.mkdir(parents=True)
        (folder / "链接.md").symlink_to(secret)
        (folder / "好.md").write_text(invented.REPLY, "utf-8")
        assert [law.name for law in laws(read(folder.parent))] == ["关于雾号问题的批复"]
        with tarfile.open(tmp_path / "a.tar", "w") as archive:
            archive.add(folder.parent, "x")
        assert [law.name for law in laws(read(tmp_path / "a.tar"))] == ["关于雾号问题的批复"]

    def test_names_from_chinese_windows(self, tmp_path: Path) -> None:
        target = tmp_path / "gbk.zip"
        invented.pack(target, {"AAAA/BB.md": invented.BUOY.encode()})
        renamed = target.read_bytes().replace(b"AAAA/BB.md", "刑法/甲.md".encode("gb18030").ljust(10, b"_")[:10])
        target.write_bytes(renamed.replace("甲.md_".encode("gb18030"), "甲乙.md".encode("gb18030")[:6]))
        assert corpora.survey(target).name == "LawRefBook/Laws"

    @pytest.mark.parametrize("suffix", [".zip", ".tar.gz", ".tar.xz"])
    def test_a_bomb_ends_the_import(self, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(source_files, "_RATIO_COUNTS_FROM", 1_000_000)
        target = tmp_path / f"bomb{suffix}"
        invented.pack(target, {f"经济法/{n}.md": b" " * 1_000_000 for n in range(30)})
        with pytest.raises(CorpusError, match="压缩比"):
            read(target)

    @pytest.mark.parametrize("suffix", [".zip", ".tar", ".tar.gz"])
    def test_more_than_a_disk_should_hold(self, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(source_files, "MAX_TOTAL", 2_000_000)
        target = tmp_path / f"large{suffix}"
        invented.pack(target, {f"经济法/{n}.md": os.urandom(500_000) for n in range(6)})
        with pytest.raises(CorpusError, match="解开后超过 2 MB"):
            read(target)

    def test_names_in_no_encoding_are_taken_as_they_are(self, tmp_path: Path) -> None:
        target = tmp_path / "odd.zip"
        invented.pack(target, {"AAAA/B.md": invented.BUOY.encode(), "经济法/好.md": invented.BUOY.encode()})
        target.write_bytes(target.read_bytes().replace(b"AAAA/B.md", b"\x81\xff\xff\xff/\xff.md"))
        assert laws(read(target), "浮标法")

    def test_an_archive_of_something_else_says_what_is_expected(self, tmp_path: Path) -> None:
        target = invented.pack(tmp_path / "photos.zip", {"假期/海.jpg": b"\xff\xd8"})
        with pytest.raises(CorpusError, match=r"没有在 photos\.zip 中找到") as caught:
            read(target)
        assert "JSONL" in caught.value.cure

    def test_too_many_files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(source_files, "MAX_FILES", 5)
        for suffix in (".zip", ".tar"):
            target = tmp_path / f"many{suffix}"
            invented.pack(target, {f"经济法/{n}.md": b"x" for n in range(9)})
            with pytest.raises(CorpusError, match="文件超过"):
                read(target)

    def test_one_giant_file_is_skipped(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(source_files, "MAX_FILE", 2_000)
        for suffix in (".zip", ".tar"):
            target = tmp_path / f"giant{suffix}"
            invented.pack(target, {"经济法/大.md": b"x" * 3_000, "经济法/好.md": invented.BUOY.encode()})
            found = read(target)
            assert list(skipped(found)) == ["大.md"]
            assert laws(found, "浮标法")

    def test_a_zip_that_lies_about_a_size(self, tmp_path: Path) -> None:
        target = tmp_path / "lie.zip"
        invented.pack(target, {"经济法/谎.md": b"x" * 100_000, "经济法/好.md": invented.BUOY.encode()})
        target.write_bytes(target.read_bytes().replace(struct.pack("<I", 100_000), struct.pack("<I", 10)))
        found = read(target)
        assert "谎.md" in skipped(found)
        assert laws(found, "浮标法")

    @pytest.mark.parametrize("suffix", [".tar.xz", ".tar.gz"])
    def test_a_cut_archive_is_an_error_that_says_so(self, tmp_path: Path, suffix: str) -> None:
        whole = invented.packed(invented.lawrefbook(tmp_path / "folder"), tmp_path / f"whole{suffix}")
        cut = tmp_path / f"cut{suffix}"
        cut.write_bytes(whole.read_bytes()[:-900])
        with pytest.raises(CorpusError, match="读到一半"):
            read(cut)

    @pytest.mark.parametrize("content", [b"", b"hello", b"\x1f\x8bnot gzip", b"PK\x03\x04 not a zip"])
    def test_what_is_no_corpus(self, tmp_path: Path, content: bytes) -> None:
        target = tmp_path / "x.bin"
        target.write_bytes(content)
        with pytest.raises(CorpusError):
            read(target)

    def test_a_path_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(CorpusError, match="找不到"):
            read(tmp_path / "nothing")

    def test_a_database_that_never_ends_is_left_alone(self, tmp_path: Path) -> None:
        folder = invented.lawrefbook(tmp_path)
        (folder / "db.sqlite3").unlink()
        database = sqlite3.connect(folder / "db.sqlite3")
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, i, i, i FROM n WHERE i < 0"
        database.execute(f"CREATE VIEW law (name, publish, valid_from, expired) AS {endless}")
        database.close()
        assert laws(read(folder), "浮标法")
