"""The index: importing in one step or not at all, versions, overlays, and reading while an import runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from datetime import date
from pathlib import Path

import pytest

from core.base.http import Deadline
from core.legal.article_numbers import ArticleNumber
from core.legal.entities import CaseFilter, CaseType, LawStatus
from core.legal.errors import CorpusError, ImportBusy, ImportCancelled
from core.legal.imports import build
from core.legal.imports.build import ImportProgress, import_source
from core.legal.library.index import LegalIndex, LegalLibrary
from core.legal.library.index_files import MANIFEST
from core.legal.text.repeals import repealed_laws
from support import invented
from support.base import ROOT


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return invented.lawrefbook(tmp_path / "laws")


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    return invented.just_laws(tmp_path / "newer")


@pytest.fixture
def index(tmp_path: Path, corpus: Path, newer: Path) -> LegalIndex:
    return invented.opened(tmp_path / "data", corpus, newer)


def words(index: LegalIndex, name: str, *number: int) -> str:
    law = index.resolve(name)
    assert law is not None
    article = index.article(law.id, ArticleNumber(*number))
    return article.text if article else ""


class TestVersions:
    def test_the_newest_version_in_force_is_the_default(self, index: LegalIndex) -> None:
        assert [(v.published, index.status(v)) for v in index.versions("灯塔法")] == [
            ("2026-02-02", LawStatus.NOT_YET_IN_FORCE),
            ("2025-09-09", LawStatus.IN_FORCE),
            ("2020-08-08", LawStatus.AMENDED),
            ("2010-05-01", LawStatus.AMENDED),
        ]
        assert words(index, "灯塔法", 2) == "灯塔由守塔人或者机器看守。"

    def test_the_default_changes_on_the_day_a_version_comes_into_force(self, tmp_path: Path, newer: Path) -> None:
        days = iter([date(2025, 12, 31), *[date(2027, 1, 1)] * 9])
        invented.library(tmp_path / "data", newer)
        index = LegalLibrary(tmp_path / "data", today=lambda: next(days)).index()
        assert index is not None
        assert [law.published for law in (index.current("灯塔法"), index.current("灯塔法")) if law] == [
            "2026-02-02"
        ] * 2

    def test_before_that_day_the_older_one_counts(self, tmp_path: Path, corpus: Path, newer: Path) -> None:
        index = invented.opened(tmp_path / "data", corpus, newer, today=date(2025, 12, 31))
        assert words(index, "灯塔法", 2).startswith("灯塔由守塔人看守。守塔人有下列")

    def test_full_text_finds_only_what_is_in_force(self, index: LegalIndex) -> None:
        found = index.search("守塔人擅自熄灯应当离岗", 10)
        assert "2020-08-08" not in {index.version(article.law_id).published for article in found}

    def test_full_text_follows_the_day(self, tmp_path: Path, corpus: Path, newer: Path) -> None:
        today = [date(2025, 12, 31)]
        invented.library(tmp_path / "data", corpus, newer)
        index = LegalLibrary(tmp_path / "data", today=lambda: today[0]).index()
        assert index is not None

        def published() -> str | None:
            return index.version(index.search("灯塔由守塔人看守", 1)[0].law_id).published

        before = published()
        today[0] = date(2026, 1, 1)
        assert (before, published()) == ("2020-08-08", "2025-09-09")

    def test_the_same_version_in_two_files_is_one(self, index: LegalIndex) -> None:
        assert [v.published for v in index.versions("灯塔法")].count("2020-08-08") == 1

    def test_a_later_source_replaces_the_same_version_and_keeps_what_it_does_not_say(self, index: LegalIndex) -> None:
        (code,) = index.versions("海灯法典")
        assert (code.source.split("：")[0], code.effective) == ("just-laws", "2022-01-01")

    def test_of_two_dates_for_the_same_words_the_later_one_says_whether_they_count(self, tmp_path: Path) -> None:
        law = {"name": "灯油条例", "articles": [{"number": "1", "text": "灯油要足。"}]}
        old = law | {"published": "2019-01-01", "status": "已废止"}
        for name, records in (
            ("a", (old, law | {"published": "2022-01-01"})),
            ("b", (law | {"published": "2022-01-01"}, old)),
        ):
            index = invented.opened(tmp_path / name, invented.jsonl(tmp_path / f"{name}.jsonl", *records))
            (version,) = index.versions("灯油条例")
            assert (version.published, index.status(version)) == ("2022-01-01", LawStatus.IN_FORCE)

    def test_an_older_source_does_not_become_the_default(self, tmp_path: Path, corpus: Path, newer: Path) -> None:
        index = invented.opened(tmp_path / "data", newer, corpus)
        assert words(index, "灯塔法", 2) == "灯塔由守塔人或者机器看守。"

    def test_importing_twice_changes_nothing(self, tmp_path: Path, corpus: Path) -> None:
        once = invented.opened(tmp_path / "once", corpus).counts()
        assert invented.opened(tmp_path / "twice", corpus, corpus).counts() == once


class TestRepeals:
    def test_a_law_may_be_put_out_of_force_by_another(self, index: LegalIndex) -> None:
        assert index.repeal("灯笼法") is None  # the later source has the code without that sentence

    def test_which_laws(self) -> None:
        text = "本法自2022年1月1日起施行。《甲法》、《乙条例》同时废止，《丙规定》第三条同时废止。《丁法》仍然有效。"
        assert repealed_laws(text) == ["甲法", "乙条例"]
        assert repealed_laws("《甲法》另有规定的，从其规定。") == []

    def test_its_status(self, tmp_path: Path, corpus: Path) -> None:
        lantern = {
            "name": "中华人民共和国灯笼法",
            "kind": "法律",
            "published": "2001-01-01",
            "articles": [{"number": "1", "text": "点灯笼。"}],
        }
        index = invented.opened(tmp_path / "data", corpus, invented.jsonl(tmp_path / "a.jsonl", lantern))
        law = index.resolve("灯笼法")
        assert law is not None
        assert index.status(law) is LawStatus.REPEALED
        repeal = index.repeal("灯笼法")
        assert repeal is not None
        assert (index.version(repeal.law_id).name, str(repeal.number)) == ("中华人民共和国海灯法典", "第三条")

    def test_a_law_made_again_is_in_force(self, tmp_path: Path, corpus: Path) -> None:
        again = {
            "name": "灯笼法",
            "kind": "法律",
            "published": "2024-01-01",
            "articles": [{"number": "1", "text": "点灯笼。"}],
        }
        index = invented.opened(tmp_path / "data", corpus, invented.jsonl(tmp_path / "a.jsonl", again))
        assert index.repeal("灯笼法") is None


class TestSearch:
    def test_names(self, index: LegalIndex) -> None:
        names = ["《中华人民共和国灯塔法》", "灯塔法", "灯 塔 法", "灯塔法（2025年修订）"]
        assert {law.name for name in names if (law := index.resolve(name))} == {"中华人民共和国灯塔法"}
        assert index.resolve("灯塔管理法") is None
        assert index.match("灯塔条例")[0].name == "灯塔法实施条例"
        assert index.match("灯塔司法解释")[0].name.endswith("规定")

    def test_statutes_come_before_regulations_that_say_the_same(self, tmp_path: Path, corpus: Path) -> None:
        index = invented.opened(tmp_path / "data", corpus)
        first, second = (index.version(a.law_id).name for a in index.search("守塔人日落前点灯", 2))
        assert (first, second) == ("中华人民共和国灯塔法", "灯塔法实施条例")

    def test_what_is_no_longer_in_force_comes_last(self, tmp_path: Path) -> None:
        old = {
            "name": "旧法",
            "kind": "法律",
            "status": "已废止",
            "articles": [{"number": "1", "text": "守塔人日落前点灯。"}],
        }
        new = {"name": "新条例", "kind": "行政法规", "articles": [{"number": "1", "text": "守塔人日落前点灯。"}]}
        index = invented.opened(tmp_path / "data", invented.jsonl(tmp_path / "a.jsonl", old, new))
        assert [index.version(a.law_id).name for a in index.search("守塔人日落前点灯", 2)] == ["新条例", "旧法"]

    def test_words_and_meaning_are_added(self, index: LegalIndex) -> None:
        """Cosines lie close together: how close is what counts."""
        worded, second, third = (article.id for article in index.search("守塔人夜班津贴灯塔浮标", 3))
        near = {third: 0.71, second: 0.68}
        alone = index.search("鲲鹏麒麟", 2, lambda _text, _limit: near)
        assert [one.id for one in alone] == [third, second]
        both = index.search("守塔人夜班津贴灯塔浮标", 3, lambda _text, _limit: near)
        assert {one.id for one in both[:2]} == {worded, third}

    def test_words_of_two_letters_and_of_the_chapter(self, index: LegalIndex) -> None:
        assert index.search("津贴", 5)
        assert index.search("", 5) == index.search("。！", 5) == []

    @pytest.mark.parametrize("text", ["AND OR NOT", '"', "body:x^2", "a" * 5_000, "的" * 5_000, "\x00", "第" * 300])
    def test_hostile_words_are_only_words(self, index: LegalIndex, text: str) -> None:
        assert isinstance(index.search(text, 5), list)

    def test_the_article_before(self, tmp_path: Path, corpus: Path) -> None:
        index = invented.opened(tmp_path / "data", corpus)
        law = index.resolve("灯塔法")
        assert law is not None
        before = index.preceding_article(law.id, ArticleNumber(4), 1)
        assert before is not None
        assert before.number == ArticleNumber(3, 1)
        assert index.preceding_article(law.id, ArticleNumber(1), 1) is None

    def test_cases(self, index: LegalIndex) -> None:
        assert [case.type for case in index.search_cases("渔船搁浅", 5, CaseFilter(CaseType.CIVIL))] == [CaseType.CIVIL]
        assert index.search_cases("渔船搁浅", 5, CaseFilter(CaseType.CRIMINAL)) == []
        assert index.cases_by_number("（2021）闽民终345号")


class TestOneStepOrNotAtAll:
    def test_nothing_before_the_first_import(self, tmp_path: Path) -> None:
        assert LegalLibrary(tmp_path).index() is None

    def test_a_source_that_cannot_be_read_leaves_the_old_index(self, tmp_path: Path, corpus: Path) -> None:
        library = invented.library(tmp_path / "data", corpus)
        bad = tmp_path / "bad.tar.gz"
        bad.write_bytes(b"\x1f\x8b broken")
        with pytest.raises(CorpusError):
            import_source(library.folder, bad)
        assert_in_use(library)

    @pytest.mark.parametrize("stage", ["读取", "建立索引"])
    def test_cancel(self, tmp_path: Path, corpus: Path, newer: Path, stage: str) -> None:
        library = invented.library(tmp_path / "data", corpus)
        until = Deadline(float("inf"))
        with pytest.raises(ImportCancelled):
            import_source(
                library.folder,
                newer,
                on_progress=lambda progress: until.cancel() if progress.stage == stage else None,
                deadline=until,
            )
        assert_in_use(library)

    def test_an_error_in_the_middle(self, tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        library = invented.library(tmp_path / "data", corpus)
        monkeypatch.setattr(build, "_activate", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            import_source(library.folder, corpus)
        assert_in_use(library)

    @pytest.mark.parametrize("moment", ["读取", "建立索引"])
    def test_kill_9(self, tmp_path: Path, corpus: Path, newer: Path, moment: str) -> None:
        library = invented.library(tmp_path / "data", corpus)
        code = (
            "import sys, time; from pathlib import Path; from core.legal.imports.build import import_source\n"
            "def stop(progress):\n"
            f"    if progress.stage == {moment!r}: print('now', flush=True); time.sleep(60)\n"
            f"import_source(Path({str(library.folder)!r}), Path({str(newer)!r}), on_progress=stop)"
        )
        process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "now\n"
        with pytest.raises(ImportBusy):
            import_source(library.folder, newer)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert [path for path in library.folder.iterdir() if path.is_dir()] != []
        index = LegalLibrary(tmp_path / "data", today=lambda: invented.TODAY).index()
        assert index is not None
        assert words(index, "灯塔法", 2).startswith("灯塔由守塔人看守。守塔人有")
        import_source(library.folder, newer)  # the next one clears the remains away and succeeds
        assert_in_use(library, "灯塔由守塔人或者机器看守。")

    def test_a_manifest_from_another_world(self, tmp_path: Path, corpus: Path) -> None:
        library = invented.library(tmp_path / "data", corpus)
        for text in ("", "[]", '{"format": 99, "folder": "x"}', '{"format": 1, "folder": "gone"}'):
            (library.folder / MANIFEST).write_text(text)
            assert LegalLibrary(tmp_path / "data").index() is None
        import_source(library.folder, corpus)
        assert_in_use(library)

    def test_reading_goes_on_while_imports_run(self, tmp_path: Path, corpus: Path, newer: Path) -> None:
        library = invented.library(tmp_path / "data", corpus)
        held = library.index()
        assert held is not None
        stop, problems, reads = threading.Event(), [], [0]

        def reader() -> None:
            while not stop.is_set():
                try:
                    index = library.index()
                    assert index is not None
                    assert index.search("守塔人点灯", 5)
                    assert words(index, "浮标法", 2).startswith("浮标由船长登记。")
                    reads[0] += 1
                except BaseException as problem:
                    problems.append(problem)
                    return

        threads = [threading.Thread(target=reader) for _ in range(4)]
        for thread in threads:
            thread.start()
        for source in (newer, corpus, newer):
            import_source(library.folder, source)
        time.sleep(0.05)
        stop.set()
        for thread in threads:
            thread.join()
        assert problems == []
        assert reads[0] > 10
        assert held.search("浮标登记", 5)  # an index that is still held answers after its folder is gone
        assert words(held, "浮标法", 2).startswith("浮标由船长登记。")

    def test_summary_and_progress(self, tmp_path: Path, corpus: Path) -> None:
        seen: list[ImportProgress] = []
        summary = import_source(tmp_path / "legal", corpus, on_progress=seen.append)
        assert (summary.layout, summary.laws, summary.cases, summary.skipped_count) == ("LawRefBook/Laws", 9, 2, 3)
        assert {entry.reason for entry in summary.skipped} >= {"编码无法识别", "文件是空的"}
        assert {progress.stage for progress in seen} == {"读取", "建立索引"}
        assert all(0 < progress.done <= progress.total for progress in seen)
        assert seen[-1].done == seen[-1].total
        assert summary.to_json()["seconds"] > 0


def assert_in_use(library: LegalLibrary, words_of_two: str = "灯塔由守塔人看守。守塔人有") -> None:
    """The index answers as before, and no half-built folder is left."""
    index = library.index()
    assert index is not None
    assert words(index, "灯塔法", 2).startswith(words_of_two)
    assert len([path for path in library.folder.iterdir() if path.is_dir()]) == 1
