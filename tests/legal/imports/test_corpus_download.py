"""Downloads: pieces, resume, limits, and what a server may do wrong. The server is on this machine."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from core.base.http import Deadline
from core.base.http.errors import HttpNotPublic, HttpTooLarge
from core.base.settings import LAW_SOURCES, load_settings
from core.legal.errors import CorpusError, ImportCancelled
from core.legal.imports import corpus_download, import_run
from core.legal.imports.corpus_download import PublicCorpus
from core.legal.library.index import LegalLibrary
from support import invented
from support.faults import Server, silence

DATA = bytes(range(256)) * 4_000


class Handler(BaseHTTPRequestHandler):
    data: ClassVar[bytes] = DATA
    ranges: ClassVar[bool] = True
    lies: ClassVar[bool] = False
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        wanted = self.headers.get("Range", "")
        self.asked.append(wanted)
        if self.path.startswith("/gone"):
            self.send_error(404)
            return
        if not self.ranges:
            self._answer(200, self.data, {})
            return
        first, last = map(int, wanted.removeprefix("bytes=").split("-"))
        if first >= len(self.data):
            self._answer(416, b"", {})
            return
        piece = self.data[first : last + 1]
        start = first + (7 if self.lies else 0)
        self._answer(206, piece, {"Content-Range": f"bytes {start}-{first + len(piece) - 1}/{len(self.data)}"})

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def server(**options: object) -> Iterator[tuple[str, type[Handler]]]:
    handler = type("OneHandler", (Handler,), {"asked": [], **options})
    running = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{running.server_port}/laws.zip", handler
    finally:
        running.shutdown()
        thread.join()
        running.server_close()


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_download, "PIECE_BYTES", 300_000)


@pytest.mark.parametrize("ranges", [True, False])
def test_a_file_arrives_whole_with_its_checksum(tmp_path: Path, ranges: bool) -> None:
    seen: list[tuple[int, int | None]] = []
    with server(ranges=ranges) as (url, _):
        got = corpus_download.download_corpus(url, tmp_path, on_bytes=lambda done, total: seen.append((done, total)))
    assert got.path.read_bytes() == DATA
    assert (got.path.name, got.size, got.sha256) == ("laws.zip", len(DATA), hashlib.sha256(DATA).hexdigest())
    assert seen[-1] == (len(DATA), len(DATA))
    assert len(seen) > (4 if ranges else 1)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_broken_download_goes_on_where_it_stopped(tmp_path: Path) -> None:
    until = Deadline(float("inf"))
    with server() as (url, handler):
        with pytest.raises(ImportCancelled):
            corpus_download.download_corpus(
                url, tmp_path, on_bytes=lambda done, _: until.cancel() if done > 500_000 else None, deadline=until
            )
        handler.asked.clear()
        assert corpus_download.download_corpus(url, tmp_path).path.read_bytes() == DATA
        assert handler.asked[0].startswith("bytes=300000-")  # the piece that was cut is fetched again


def test_a_server_that_falls_silent_can_be_cancelled(tmp_path: Path) -> None:
    until = Deadline(float("inf"))
    threading.Timer(0.2, until.cancel).start()
    with Server(silence) as silent, pytest.raises(ImportCancelled):
        corpus_download.download_corpus(f"{silent.url}/laws.zip", tmp_path, deadline=until)


def test_what_a_visitor_typed_never_leads_into_our_own_network(tmp_path: Path) -> None:
    with server() as (url, handler):
        with pytest.raises(HttpNotPublic):
            corpus_download.download_corpus(url, tmp_path, public_only=True)
        assert handler.asked == []


def test_a_part_that_is_already_whole(tmp_path: Path) -> None:
    with server() as (url, _):
        first = corpus_download.download_corpus(url, tmp_path)
        part = tmp_path / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}.part"
        first.path.rename(part)
        assert corpus_download.download_corpus(url, tmp_path).sha256 == first.sha256


def test_too_large(tmp_path: Path) -> None:
    with server() as (url, _), pytest.raises(CorpusError, match="上限"):
        corpus_download.download_corpus(url, tmp_path, max_bytes=500_000)
    with server(ranges=False) as (url, _), pytest.raises(HttpTooLarge):
        corpus_download.download_corpus(url, tmp_path, max_bytes=500_000)
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_lies_about_pieces(tmp_path: Path) -> None:
    with server(lies=True) as (url, _), pytest.raises(CorpusError, match="不可靠"):
        corpus_download.download_corpus(url, tmp_path)


def test_a_page_that_is_not_there(tmp_path: Path) -> None:
    with server() as (url, _), pytest.raises(CorpusError, match="404"):
        corpus_download.download_corpus(url.replace("/laws", "/gone"), tmp_path)


@pytest.mark.parametrize(
    ("link", "direct"),
    [
        ("https://github.com/a/b/archive/refs/heads/main.zip", "https://codeload.github.com/a/b/zip/refs/heads/main"),
        ("https://github.com/a/b/archive/0123abc.tar.gz", "https://codeload.github.com/a/b/tar.gz/0123abc"),
        ("https://example.org/x.zip", "https://example.org/x.zip"),
    ],
)
def test_archive_links_of_github_would_redirect(link: str, direct: str) -> None:
    assert corpus_download.direct_address(link) == direct


def test_the_name_of_the_file_stays_in_the_folder(tmp_path: Path) -> None:
    with server() as (url, _):
        got = corpus_download.download_corpus(url.replace("/laws.zip", "/..%2f..%2fevil"), tmp_path)
    assert got.path.parent == tmp_path


def test_import_from_an_address(tmp_path: Path) -> None:
    archive = invented.packed(invented.lawrefbook(tmp_path / "laws"), tmp_path / "laws.zip").read_bytes()
    library = LegalLibrary(tmp_path / "data")
    with server(data=archive) as (url, _):
        report = import_run.law_import(library, url)
    assert report.sha256 == hashlib.sha256(archive).hexdigest()
    assert (report.laws, report.size, report.source) == (9, len(archive), url)
    index = library.index()
    assert index is not None
    assert index.resolve("灯塔法")
    assert {path.name for path in library.folder.iterdir() if path.is_file()} == {"current.json", "lock"}


class TestPublicCorpora:
    def test_each_has_a_name_that_a_mirror_can_be_set_for(self) -> None:
        assert tuple(corpus.key for corpus in corpus_download.PUBLIC_CORPORA) == LAW_SOURCES

    @pytest.mark.parametrize("corpus", corpus_download.PUBLIC_CORPORA, ids=lambda corpus: corpus.key)
    @pytest.mark.parametrize("by_name", [True, False])
    def test_the_mirror_is_asked_instead(self, tmp_path: Path, corpus: PublicCorpus, by_name: bool) -> None:
        archive = invented.packed(invented.lawrefbook(tmp_path / "laws"), tmp_path / "laws.zip").read_bytes()
        library = LegalLibrary(tmp_path / "data")
        with server(data=archive) as (url, handler):
            asked = corpus.key if by_name else corpus.url
            report = import_run.law_import(library, asked, public_only=True, mirrors={corpus.key: url})
            assert (report.laws, report.source) == (9, url)
            index = library.index()
            assert index is not None
            assert list(index.origins()) == [corpus.url]  # another mirror, or none, will do for an update
            handler.asked.clear()
            assert import_run.law_import(library, "", update=True, mirrors={corpus.key: url}).up_to_date
            assert handler.asked

    def test_a_folder_of_that_name_is_the_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        invented.lawrefbook(tmp_path / "just-laws")
        assert import_run.law_import(LegalLibrary(tmp_path / "data"), "just-laws").laws == 9

    def test_an_address_that_is_typed_is_no_mirror(self, tmp_path: Path) -> None:
        with server() as (url, _), pytest.raises(HttpNotPublic):
            import_run.law_import(LegalLibrary(tmp_path), url, public_only=True, mirrors={"just-laws": url})

    @pytest.mark.parametrize(
        "written",
        [
            "just-laws",
            "=https://a.example",
            "just-laws=ftp://a.example",
            "other=https://a",
            "just-laws=https://me:secret@a.example/j.zip",
        ],
    )
    def test_what_is_no_mirror(self, written: str) -> None:
        loaded = load_settings(Path("none.yaml"), {"LEGAL_MIRRORS": written}, sections=())
        assert loaded.values.legal.mirrors == ()
        assert [problem.key for problem in loaded.problems] == ["LEGAL_MIRRORS"]

    def test_mirrors_of_the_settings(self) -> None:
        written = "just-laws = https://a.example/j.zip，China-Law-DB=http://10.0.0.5/db.zip"
        loaded = load_settings(Path("none.yaml"), {"LEGAL_MIRRORS": written}, sections=())
        assert dict(loaded.values.legal.mirrors) == {
            "just-laws": "https://a.example/j.zip",
            "china-law-db": "http://10.0.0.5/db.zip",
        }
