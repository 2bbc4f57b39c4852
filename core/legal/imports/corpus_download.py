"""Download of a corpus: in pieces that can be resumed, up to a size limit, with a checksum.

Everything goes through `core.base.http.fetch`, which has a byte cap and follows no redirect. A server that supports
Range is asked for one piece after the other. One that does not (GitHub's archives) sends everything in one response,
which must fit into memory and may take long.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

from core.base.http import Deadline, Request, Response, fetch
from core.base.http.errors import HttpCancelled
from core.legal.errors import CorpusError, ImportCancelled

MAX_DOWNLOAD_BYTES = 400_000_000
MAX_RESPONSE_BYTES = 120_000_000
PIECE_BYTES = 4_000_000
RESPONSE_SECONDS = 900.0

OnBytes = Callable[[int, int | None], None]
"""Callback with the bytes received so far, and the total if the server states it."""


@dataclass(frozen=True, slots=True)
class PublicCorpus:
    """Archive that the page and the command line offer by name."""

    key: str
    """Short name: `law import just-laws`, LEGAL_MIRRORS."""
    name: str
    url: str
    licence: str
    """What readers should know before they import it: its contents, how current it is, what it lacks, and its licence."""


PUBLIC_CORPORA = (
    PublicCorpus(
        "lawrefbook",
        "LawRefBook/Laws（法律、行政法规、司法解释、部门规章、案例）",
        "https://codeload.github.com/LawRefBook/Laws/zip/refs/heads/master",
        "范围最广；已知最后一次更新是 2025 年 4 月。法律条文本身不受著作权法保护（著作权法第五条）；该仓库没有附带许可证，请自行判断能否使用。",
    ),
    PublicCorpus(
        "just-laws",
        "just-laws（现行有效法律，更新较快）",
        "https://codeload.github.com/ImCa0/just-laws/zip/refs/heads/master",
        "约三百部法律，不含行政法规和司法解释，多数没有写明施行日期。MIT 许可证。",
    ),
    PublicCorpus(
        "chinese-law-corpus",
        "chinese-law-corpus（法律、司法解释、指导性案例、公报案例）",
        "https://codeload.github.com/lttxzmj/chinese-law-corpus/zip/HEAD",
        "约三百部法律和一百余件司法解释，写明各自的施行日期；另有 278 个指导性案例和 445 份公报裁判文书，"
        "其中有当事人的姓名、出生日期和住址。大约截至 2026 年年中；其中的刑法是 2009 年的旧文本，不会导入。CC0（放弃著作权）。",
    ),
    PublicCorpus(
        "china-law-db",
        "china-law-db（国家法律法规数据库的副本）",
        "https://codeload.github.com/qisehong/china-law-db/zip/HEAD",
        "法律、行政法规、司法解释和修改决定，地方性法规只有上海、江苏、浙江，含历史版本，截至 2026 年 9 月底。"
        "表格（如个人所得税税率表）在其中已经丢失；效力标注只采信可靠的，其余会跳过并说明。仓库没有许可证文件，自述法规文本属于公有领域。",
    ),
)


def public_corpus(key_or_url: str) -> PublicCorpus | None:
    """Return the corpus with this short name or address."""
    return next((one for one in PUBLIC_CORPORA if key_or_url.strip().lower() == one.key or key_or_url == one.url), None)


@dataclass(frozen=True, slots=True)
class DownloadedCorpus:
    path: Path
    size: int
    sha256: str


def download_corpus(
    url: str,
    folder: Path,
    *,
    max_bytes: int = MAX_DOWNLOAD_BYTES,
    public_only: bool = False,
    on_bytes: OnBytes = lambda _done, _total: None,
    deadline: Deadline | None = None,
) -> DownloadedCorpus:
    """Download the file at an address into `folder`. An interrupted download is resumed. `public_only` is for an
    address that somebody typed into the page."""
    address = direct_address(url)
    deadline = deadline or Deadline(float("inf"))
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{hashlib.sha256(address.encode()).hexdigest()[:16]}.part"
    total: int | None = None
    while True:
        done = part.stat().st_size if part.exists() else 0
        if total is not None and done >= total:
            break
        headers = {"Range": f"bytes={done}-{done + PIECE_BYTES - 1}", "Accept-Encoding": "identity"}
        try:
            answer = fetch(
                Request("GET", address, headers=headers),
                deadline=deadline.with_limit(RESPONSE_SECONDS),
                max_bytes=min(max_bytes, MAX_RESPONSE_BYTES),
                public_only=public_only,
                on_bytes=partial(_report_bytes, on_bytes, done, total),
            )
        except HttpCancelled:
            raise ImportCancelled from None
        if answer.status not in (200, 206, 416):
            raise CorpusError(f"{answer.host} 没有给出这个文件（{answer.status}）。", cure="请检查网址。")
        if answer.status == 416 and done:  # nothing is left after the last byte
            break
        total = _save_piece(answer, part, done)
        if max(total or 0, part.stat().st_size) > max_bytes:
            part.unlink()
            raise CorpusError(f"文件超过 {max_bytes // 1_000_000} MB 的上限，没有下载。")
        on_bytes(part.stat().st_size, total)
    return _finish(part, folder / safe_name(unquote(urlsplit(address).path)))


def direct_address(url: str) -> str:
    """Return the address that GitHub redirects its archive links to. Other addresses are returned unchanged."""
    found = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+)/archive/(refs/heads/)?([\w./-]+)\.(zip|tar\.gz)", url)
    if not found:
        return url
    return f"https://codeload.github.com/{found[1]}/{found[4]}/{found[2] or ''}{found[3]}"


def _report_bytes(on_bytes: OnBytes, done: int, total: int | None, more: int) -> None:
    on_bytes(done + more, total)


def _save_piece(answer: Response, part: Path, done: int) -> int | None:
    """Append the piece, or replace the file if the server ignores Range. Returns the total size if known."""
    if answer.status == 200:
        part.write_bytes(answer.body)
        return len(answer.body)
    stated = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", answer.headers.get("Content-Range", ""))
    if not stated or int(stated[1]) != done or not answer.body:
        part.unlink(missing_ok=True)
        raise CorpusError(f"{answer.host} 的分段下载不可靠，已放弃。", cure="请用浏览器下载后导入文件。")
    with part.open("ab") as file:
        file.write(answer.body)
    return None if stated[2] == "*" else int(stated[2])


def _finish(part: Path, target: Path) -> DownloadedCorpus:
    with part.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    part.replace(target)
    return DownloadedCorpus(target, target.stat().st_size, sha256)


def safe_name(path: str) -> str:
    """Return the last part of an untrusted path as a safe file name."""
    name = re.sub(r"[^\w.-]", "_", path.rpartition("/")[2]).strip(".")
    return name[-80:] or "corpus"
