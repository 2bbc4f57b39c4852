"""Imports behind the page: one at a time, seen while they run, cancelled, and never at the cost of the index in use."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import pytest

from core.base.http import connections, networks
from core.legal.errors import CorpusError, ImportBusy
from core.legal.imports import build
from core.legal.imports.import_job import IMPORT_FAILED, Importer, ImportJob
from core.legal.library.index import LegalLibrary
from support import invented
from support.faults import Server, silence
from support.waiting import until

LAW = {"name": "中华人民共和国灯油法", "articles": [{"number": "第一条", "text": "灯油应当清澈。"}]}


@pytest.fixture
def importer(tmp_path: Path) -> Importer:
    return Importer(LegalLibrary(tmp_path / "data"))


def over(job: ImportJob) -> ImportJob:
    until(lambda: not job.is_running)
    return job


def upload(importer: Importer, tmp_path: Path, *records: object, name: str = "自己的.jsonl") -> ImportJob:
    return importer.start_from_upload(name, io.BytesIO(invented.jsonl(tmp_path / "x.jsonl", *records).read_bytes()))


def known(importer: Importer, law: str) -> bool:
    index = importer._library.index()
    return index is not None and index.resolve(law) is not None


def test_an_upload_is_imported_under_its_own_name_and_in_use_at_once(importer: Importer, tmp_path: Path) -> None:
    job = over(upload(importer, tmp_path, LAW, "不是 JSON"))
    assert not job.problem
    assert job.report
    assert (job.report.laws, job.report.skipped_count, job.report.source) == (1, 1, "自己的.jsonl")
    assert job.report.to_json()["reasons"] == [{"path": "自己的.jsonl:2", "reason": "不是 JSON"}]
    assert known(importer, "灯油法")


@pytest.mark.parametrize("name", ["../../etc/evil.jsonl", "..\\..\\evil.jsonl", "/evil.jsonl", ".jsonl"])
def test_the_name_of_an_upload_is_only_a_name(importer: Importer, tmp_path: Path, name: str) -> None:
    before = set(tmp_path.rglob("*"))
    over(upload(importer, tmp_path, LAW, name=name))
    legal = importer._library.folder
    assert {path for path in set(tmp_path.rglob("*")) - before if legal not in path.parents} <= {
        tmp_path / "x.jsonl",
        legal,
        legal.parent,
    }


@pytest.mark.parametrize("address", ["/etc/passwd", "file:///etc/passwd", "ftp://example.org/x", "", "laws.zip"])
def test_what_is_no_web_address_is_never_a_path(importer: Importer, address: str) -> None:
    with pytest.raises(CorpusError):
        importer.start_from_address(address)
    assert importer.job is None


def test_an_address_of_our_own_network_is_refused_with_a_sentence(importer: Importer) -> None:
    with Server(silence) as server:
        job = over(importer.start_from_address(f"{server.url}laws.zip"))
        assert "不是公开的网络地址" in job.problem
        assert server.connections == 0


def test_a_second_import_waits_for_the_first_and_a_cancelled_one_changes_nothing(
    importer: Importer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over(upload(importer, tmp_path, LAW))
    for module in (networks, connections):
        monkeypatch.setattr(module, "is_public", lambda _: True)
    with Server(silence) as server:
        job = importer.start_from_address(f"{server.url}laws.zip")
        with pytest.raises(ImportBusy):
            upload(importer, tmp_path, LAW)
        assert job.is_running
        job.cancel()
        over(job)
    assert "已取消" in job.problem
    assert known(importer, "灯油法")
    assert over(upload(importer, tmp_path, LAW)).report


def test_a_cancel_between_two_files(importer: Importer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, go_on = threading.Event(), threading.Event()
    report = build._Import._report

    def slowly(self: build._Import, stage: str, done: int, total: int) -> None:
        reading.set()
        go_on.wait(5)
        report(self, stage, done, total)

    monkeypatch.setattr(build._Import, "_report", slowly)
    job = upload(importer, tmp_path, LAW)
    assert reading.wait(5)
    job.cancel()
    go_on.set()
    assert "已取消" in over(job).problem
    assert not known(importer, "灯油法")


def test_a_bug_is_a_sentence_on_the_page_and_a_traceback_in_the_log(
    importer: Importer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    over(upload(importer, tmp_path, LAW))
    monkeypatch.setattr(build, "_activate", lambda *_: 1 / 0)
    job = over(upload(importer, tmp_path, {**LAW, "name": "中华人民共和国灯芯法"}))
    assert job.problem == IMPORT_FAILED
    assert "ZeroDivisionError" in caplog.text
    assert known(importer, "灯油法")
    assert not known(importer, "灯芯法")
