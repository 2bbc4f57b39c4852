"""Backup and restore: all that an installation keeps, in one file, from SQLite or PostgreSQL to either of them.

manifest.json               version of the program, schema of the tables, date, number of rows
database/TABLE.jsonl        a row per line
settings/page.json          what was saved from the page, with keys
installation/…              settings.yaml and secrets.toml
documents/ID                the bytes of a file of the document library
legal/…                     the imported laws and cases
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import IO, Any, TypeVar

import yaml

from core import __version__
from core.base.errors import AppError
from core.base.paths import COMMAND
from core.base.settings import (
    LoadedSettings,
    SavedSettingsStore,
    SettingsNotSaved,
    UnreadableSettings,
    cookie_secret,
    decode_values,
    encode_values,
)
from core.documents import DocumentError, DocumentTransfer
from core.legal import ImportBusy, LegalLibrary
from core.store import (
    SCHEMA,
    TABLE_NAMES,
    Database,
    SavedSettingsTable,
    StoreError,
    StoreRepaired,
    StoreTooNew,
    count_rows,
    open_snapshot,
    replace_rows,
    stage_rows,
)

T = TypeVar("T")
FORMAT = 1
MANIFEST, PAGE_SETTINGS = "manifest.json", "settings/page.json"
_INSTALLED = {"installation/settings.yaml": "settings.yaml", "installation/secrets.toml": ".streamlit/secrets.toml"}
_ROWS = {f"database/{name}.jsonl": name for name in TABLE_NAMES}
_DOCUMENTS = "documents/"
_DOCUMENT = re.compile(rf"{_DOCUMENTS}[\w-]{{24}}", re.ASCII)
_LEGAL = re.compile(r"legal(?:/(?!\.\.?(?:/|$))[\w.-]+)+", re.ASCII)
MOST_FILES = 100_000
MOST_TIMES = 300
"""Times that an archive may grow when it is unpacked: rows of figures reach a tenth of it."""
FREE_BYTES = 100 * 2**20
"""Unpacked size that is fine however small the archive is."""
LONGEST_ROW = 64 * 2**20
_LABELS = {
    "conversations": "对话",
    "messages": "消息",
    "visits": "列表记录",
    "read_pages": "网页和附件",
    "attached_files": "附件原件",
    "collections": "资料集",
    "documents": "资料",
    "document_texts": "资料的文字",
    "preferences": "读者的选择",
    "search_records": "搜索记录",
    "attempt_records": "引擎记录",
    "answer_records": "回答记录",
    "tokens": "令牌",
    "token_uses": "令牌用量",
}


class BackupError(AppError):
    kind = "backup"
    default_message = "没有备份。"


class RestoreError(AppError):
    kind = "restore"
    default_message = "没有恢复。"


_PLACES = frozenset({"DATABASE_URL", "DATA_DIR", "settings.yaml", "settings.yaml database", "settings.yaml data"})
"""Settings, and parts of settings.yaml, that say where the data is."""


def require_known_places(loaded: LoadedSettings, refusal: type[BackupError | RestoreError]) -> None:
    """Raise the refusal if a setting that says where the data is cannot be used: the default would be another, empty
    place."""
    for problem in loaded.problems:
        if problem.key in _PLACES:
            raise refusal(
                f"{_outcome(refusal)}：{problem.key} 无法使用（{problem.reason}），不知道数据在哪里。",
                cure="请先改正它。",
            )


def _outcome(refusal: type[AppError]) -> str:
    return refusal.default_message.rstrip("。")


@contextmanager
def _database_errors_as(refusal: type[BackupError | RestoreError]) -> Iterator[None]:
    """Turn an error of the database into the refusal: what the page says of it is for people who ask questions."""
    try:
        yield
    except StoreRepaired as error:
        cure = "请保留以前的备份；可以用 restore 恢复其中一份，或用 sqlite3 的 .recover 找回损坏的文件里的对话。"
        raise refusal(f"{_outcome(refusal)}：{error.message}", cure=cure) from None
    except StoreTooNew as error:
        raise refusal(f"{_outcome(refusal)}：{error.message}", cure=error.cure) from None
    except StoreError as error:
        cure = f"请检查 DATABASE_URL 和它的服务器，或 DATA_DIR 的空间和权限（{COMMAND} doctor），然后再试一次。"
        raise refusal(f"{_outcome(refusal)}：{error.message}", cure=cure) from None


@dataclass(frozen=True)
class Installation:
    """What belongs to an installation, and where it is."""

    database: Database
    saved_settings: SavedSettingsStore
    data_dir: Path
    user_dir: Path
    documents: DocumentTransfer
    laws: LegalLibrary

    @property
    def legal(self) -> Path:
        return self.laws.folder


@dataclass(frozen=True)
class Contents:
    """What an archive holds, in numbers."""

    rows: Mapping[str, int]
    settings: int
    files: tuple[str, ...]
    documents: int
    """Number of files of the document library whose bytes it has."""
    legal_files: int
    problem: str = ""
    """What could not be taken along; empty if all was."""

    def __str__(self) -> str:
        parts = [f"{_LABELS[name]} {count}" for name, count in self.rows.items() if count]
        parts += [f"页面上保存的设置 {self.settings} 项"] if self.settings else []
        parts += self.files
        parts += [f"资料原件 {self.documents} 个"] if self.documents else []
        parts += [f"法规库 {self.legal_files} 个文件"] if self.legal_files else []
        return "、".join(parts) or "什么都没有"

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": dict(self.rows),
            "settings": self.settings,
            "files": list(self.files),
            "documents": self.documents,
            "legalFiles": self.legal_files,
        } | ({"problem": self.problem} if self.problem else {})


# ── Backup ────────────────────────────────────────────────────────────────────────────────────────────────────────


@_database_errors_as(BackupError)
def write_backup(here: Installation, file: Path) -> Contents:
    """Write everything into a new file that only its owner can read. The app may be running."""
    if file.exists():
        raise BackupError(f"没有备份：{file} 已经存在。", cure="请换一个文件名。")
    part = file.with_name(f"{file.name}.part")
    try:
        with os.fdopen(os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as stream:
            part.chmod(0o600)
            contents = _write_archive(here, stream)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(file)
    except OSError as error:
        raise BackupError(f"没有备份：{file} 写不进去（{error.strerror}）。", cure="请检查目录、空间和权限。") from None
    finally:
        part.unlink(missing_ok=True)
    return contents


def _write_archive(here: Installation, stream: IO[bytes]) -> Contents:
    saved = here.saved_settings.read()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        rows = _write_rows(here.database, archive)
        if saved.values:
            archive.writestr(PAGE_SETTINGS, encode_values(saved.values))
        files = tuple(_write_installed(here.user_dir, archive))
        kept, lost = _write_documents(here.documents, archive)
        here.laws.refresh()
        legal = _write_legal(here.legal, archive)
        document = {
            "format": FORMAT,
            "version": __version__,
            "schema": SCHEMA,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "rows": rows,
        }
        archive.writestr(MANIFEST, json.dumps(document, indent=1))
    damage = here.database.damage_note
    problems = [f"页面上保存的设置没有备份：{saved.problem}。"] if saved.problem else []
    problems += [f"请不要用这份备份替换以前的备份，里面没有损坏的文件里的对话：{damage}"] if damage else []
    problems += [f"有 {lost} 份资料的原件读不出来，没有备份；它们的文字在备份里。"] if lost else []
    return Contents(rows, len(saved.values), files, kept, legal, "\n".join(problems))


def _write_rows(database: Database, archive: zipfile.ZipFile) -> dict[str, int]:
    counts = dict.fromkeys(TABLE_NAMES, 0)
    with open_snapshot(database) as rows_by_table:
        for place, name in _ROWS.items():
            with archive.open(place, "w", force_zip64=True) as lines:
                for row in rows_by_table[name]:
                    lines.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
                    counts[name] += 1
    return counts


def _write_installed(folder: Path, archive: zipfile.ZipFile) -> Iterator[str]:
    for place, name in _INSTALLED.items():
        if (folder / name).is_file():
            archive.write(folder / name, place)
            yield name


def _write_documents(documents: DocumentTransfer, archive: zipfile.ZipFile) -> tuple[int, int]:
    """Write the bytes of all files. Return how many were written, and how many are lost."""
    kept = lost = 0
    for id, body in documents.bodies():
        if body is None:
            lost += 1
        else:
            archive.writestr(f"{_DOCUMENTS}{id}", body)
            kept += 1
    return kept, lost


def _write_legal(folder: Path, archive: zipfile.ZipFile) -> int:
    """Write the index in use. Its folder never changes; an import that ends meanwhile begins another one."""
    try:
        manifest = (folder / "current.json").read_bytes()
        used = folder / str(json.loads(manifest)["folder"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0
    files = sorted(path for path in used.rglob("*") if path.is_file())
    for path in files:
        archive.write(path, f"legal/{path.relative_to(folder).as_posix()}")
    archive.writestr("legal/current.json", manifest)
    return len(files) + 1


# ── Restore ───────────────────────────────────────────────────────────────────────────────────────────────────────


@_database_errors_as(RestoreError)
def restore_backup(here: Installation, file: Path, *, force: bool = False) -> Contents:
    """Put everything back. Nothing is changed unless the whole archive is sound, and all that would be replaced may be."""
    with _open_archive(file) as archive, ExitStack() as stack:
        backup = _Archive(archive)
        backup.verify(file.stat().st_size)
        here.data_dir.mkdir(parents=True, exist_ok=True)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=".restore-", dir=here.data_dir)))
        backup.require_space(folder)
        staged = backup.stage_database(folder / "rows")
        stack.callback(staged.close)
        backup.unpack_legal(folder)
        if (replaced := _replaced_by(backup, here)) and not force:
            raise RestoreError(
                f"没有恢复：这里已经有{'、'.join(replaced)}。", cure="确定要用备份替换它们，请加上 --force。"
            )
        _require_secret(backup, here)
        contents = Contents(
            count_rows(staged),
            len(backup.saved_values),
            tuple(backup.installed.values()),
            len(backup.document_names),
            len(backup.legal_names),
        )
        _replace_database(backup, here, staged)
        _replace_files(backup, here, folder)
    return contents


def restore_folder(here: Installation, folder: Installation, *, force: bool = False) -> Contents:
    """Put here what the data folder of another installation has, or of this one before it had a DATABASE_URL. The folder
    stays as it is."""
    if not (folder.data_dir / "database").is_dir():
        raise RestoreError(
            f"没有恢复：{folder.data_dir} 里没有问源的数据。", cure="请给出备份文件，或 DATA_DIR 的路径。"
        )
    here.data_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".restore-", dir=here.data_dir) as temporary:
        file = Path(temporary) / "wenyuan.zip"
        if is_same := folder.legal.resolve() == here.legal.resolve():  # the library is here already
            folder = replace(folder, laws=LegalLibrary(Path(temporary)))
        written = write_backup(folder, file)
        contents = restore_backup(here, file, force=force)
    if is_same:
        here.laws.refresh()
    return replace(contents, problem=written.problem)


def _past_damage(action: Callable[[], T]) -> T:
    """Return what the action returns. If it finds the database damaged, that is set aside, and a new one is used."""
    try:
        return action()
    except StoreRepaired:
        return action()


@contextmanager
def _open_archive(file: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except FileNotFoundError:
        raise RestoreError(f"没有恢复：找不到 {file}。", cure="请检查路径。") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise RestoreError(
            f"没有恢复：{file.name} 不是完整的备份文件（{error}）。", cure="它可能没有下载完或已损坏，请换一份。"
        ) from None
    except OSError as error:
        raise RestoreError(f"没有恢复：{error.strerror or error}。", cure="请检查空间和权限。") from None


class _Archive:
    """An archive that anybody may have made."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._entries = archive.infolist()

    @property
    def document_names(self) -> list[str]:
        return [entry.filename for entry in self._entries if entry.filename.startswith(_DOCUMENTS)]

    @property
    def _size(self) -> int:
        return sum(entry.file_size for entry in self._entries)

    @property
    def installed(self) -> dict[str, str]:
        return {entry.filename: _INSTALLED[entry.filename] for entry in self._entries if entry.filename in _INSTALLED}

    @property
    def legal_names(self) -> list[str]:
        return [entry.filename for entry in self._entries if entry.filename.startswith("legal/")]

    def verify(self, size: int) -> None:
        """Raise RestoreError for an archive that we did not write, or that is damaged. Nothing is unpacked for it."""
        if len(self._entries) > MOST_FILES or self._size > max(size * MOST_TIMES, FREE_BYTES):
            raise RestoreError("没有恢复：备份解开之后大得不合理，可能是恶意文件。", cure="请换一份备份。")
        names = [entry.filename for entry in self._entries]
        if len(set(names)) < len(names):
            raise RestoreError("没有恢复：备份里有重复的文件名，可能是恶意文件。", cure="请换一份备份。")
        for entry in self._entries:
            if not _is_ours(entry):
                shown = entry.filename[:80].encode("unicode_escape").decode()
                raise RestoreError(
                    f"没有恢复：备份里有不该有的文件（{shown}），可能是恶意文件。", cure="请换一份备份。"
                )
        self._check_manifest()
        if damaged := self._archive.testzip():
            raise RestoreError(f"没有恢复：备份里的 {damaged} 已损坏。", cure="请换一份备份。")
        _ = self.saved_values
        if not self._is_library_whole():
            raise RestoreError("没有恢复：备份里的法规库不完整。", cure="请换一份备份。")

    def _is_library_whole(self) -> bool:
        """Return whether the archive has the folder that its library names, or no library."""
        if not self.legal_names:
            return True
        try:
            used = json.loads(self._read("legal/current.json"))["folder"]
        except (KeyError, ValueError, TypeError, RecursionError):
            return False
        return f"legal/{used}/laws.sqlite3" in self.legal_names

    def _check_manifest(self) -> None:
        if self.manifest.get("format") != FORMAT or not isinstance(self.schema, int) or self.schema < 1:
            raise RestoreError(
                "没有恢复：这不是问源的备份，或来自更新版本的程序。", cure="请升级本程序，或换一份备份。"
            )
        if self.schema > SCHEMA:
            raise RestoreError(
                f"没有恢复：备份来自更新版本的程序（格式 {self.schema}，本程序只认识到 {SCHEMA}）。",
                cure="请先升级本程序。",
            )

    @property
    def schema(self) -> Any:
        return self.manifest.get("schema")

    @cached_property
    def manifest(self) -> dict[str, Any]:
        try:
            found = json.loads(self._read(MANIFEST))
        except (KeyError, ValueError, RecursionError):
            found = None
        return found if isinstance(found, dict) else {}

    @cached_property
    def saved_values(self) -> dict[str, str]:
        if PAGE_SETTINGS not in self._archive.namelist():
            return {}
        try:
            return decode_values(self._read(PAGE_SETTINGS).decode())
        except (UnreadableSettings, UnicodeError) as error:
            raise RestoreError(f"没有恢复：备份里的设置无法读取（{error}）。", cure="请换一份备份。") from None

    def _read(self, name: str) -> bytes:
        with self._archive.open(name) as stream:
            return stream.read(LONGEST_ROW)

    def require_space(self, folder: Path) -> None:
        if shutil.disk_usage(folder).free < 2 * self._size:
            raise RestoreError(
                f"没有恢复：磁盘空间不够，需要约 {2 * self._size // 2**20 + 1} MB。", cure="请先腾出空间。"
            )

    def stage_database(self, folder: Path) -> Database:
        """Write all rows into a database of their own, which finds out whether they can be ours."""
        present = self._archive.namelist()
        rows = {name: self._rows(place) for place, name in _ROWS.items() if place in present}
        try:
            return stage_rows(folder / "wenyuan.sqlite3", self.schema, rows)
        except (ValueError, RecursionError, StoreError):
            raise RestoreError("没有恢复：备份里的对话数据不完整或已损坏。", cure="请换一份备份。") from None

    def _rows(self, place: str) -> Iterator[dict[str, Any]]:
        with self._archive.open(place) as lines:
            while line := lines.readline(LONGEST_ROW):
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise ValueError("not a row")
                yield row

    def unpack_legal(self, folder: Path) -> None:
        for name in self.legal_names:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with self._archive.open(name) as source, target.open("wb") as copy:
                shutil.copyfileobj(source, copy)

    def document(self, id: str) -> bytes | None:
        """Return the bytes of a file of the document library; None if the backup does not have them."""
        name = f"{_DOCUMENTS}{id}"
        return self._archive.read(name) if name in self._archive.NameToInfo else None

    def write_installed(self, place: str, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as stream:
            stream.write(self._read(place))


def _is_ours(entry: zipfile.ZipInfo) -> bool:
    """Return whether the entry is a plain file with one of our names: no link, no folder, nothing outside."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    known = {MANIFEST, PAGE_SETTINGS, *_ROWS, *_INSTALLED}
    is_named = entry.filename in known or any(form.fullmatch(entry.filename) for form in (_LEGAL, _DOCUMENT))
    return kind in {0, stat.S_IFREG} and is_named


def _replaced_by(backup: _Archive, here: Installation) -> list[str]:
    """Return what a restore would replace, in words."""
    counts = _past_damage(lambda: count_rows(here.database))
    rows = [f"{_LABELS[name]} {count}" for name, count in counts.items() if count]
    legal = ["法规库"] if backup.legal_names and (here.legal / "current.json").exists() else []
    saved = (
        [f"页面上保存的设置 {len(here.saved_settings.read().values)} 项"] if here.saved_settings.read().values else []
    )
    files = [name for name in backup.installed.values() if _is_in_use(here.user_dir / name)]
    return [*rows, *saved, *files, *legal]


def _is_in_use(file: Path) -> bool:
    """Return whether the file says anything. The settings.yaml of a new installation has comments only."""
    if not file.is_file():
        return False
    with suppress(OSError, ValueError, yaml.YAMLError):
        if file.suffix == ".yaml":
            return any((yaml.safe_load(file.read_text("utf-8")) or {}).values())
    return True


def _require_secret(backup: _Archive, here: Installation) -> None:
    if backup.saved_values and isinstance(here.saved_settings, SavedSettingsTable) and not cookie_secret():
        raise RestoreError(
            "没有恢复：备份里有密钥，使用 DATABASE_URL 时要加密后才能存进数据库。",
            cure="请先设置 STREAMLIT_SERVER_COOKIE_SECRET（每台服务器相同的一长串随机字符）。",
        )


def _replace_database(backup: _Archive, here: Installation, staged: Database) -> None:
    """Replace all rows, when their files and the index of these are here already."""
    replaced = _past_damage(here.documents.keys)
    try:
        here.documents.bring(staged, backup.document)
    except DocumentError as error:
        raise RestoreError(f"没有恢复：{error.message}", cure=error.cure) from None
    brought = here.documents.keys_in(staged)
    try:
        _past_damage(lambda: replace_rows(here.database, staged))
    except BaseException:
        here.documents.remove(brought - replaced)
        raise
    here.documents.remove(replaced - brought)


def _replace_files(backup: _Archive, here: Installation, folder: Path) -> None:
    """Replace library and settings, when the rows are replaced already: a failure says what is restored and what is not."""
    try:
        if backup.legal_names:
            with here.laws.changing():
                _replace_legal(here.legal, folder)
                here.laws.publish()
        _replace_settings(backup, here)
    except (ImportBusy, StoreError) as error:
        raise RestoreError(
            f"对话和资料已经恢复，法规库和设置没有恢复：{error.message}", cure="请稍后再用 --force 恢复一次。"
        ) from None
    except OSError as error:
        raise RestoreError(
            f"对话和资料已经恢复，法规库和设置没有全部恢复：{error.strerror or error}。",
            cure="请检查空间和权限，再用 --force 恢复一次。",
        ) from None


def _replace_legal(target: Path, folder: Path) -> None:
    """Put the unpacked library in place of the one that is there."""
    if target.exists():
        target.rename(folder / "replaced")
    (folder / "legal").rename(target)


def _replace_settings(backup: _Archive, here: Installation) -> None:
    before = here.saved_settings.read().values
    try:
        if before or backup.saved_values:
            here.saved_settings.change({**dict.fromkeys(before, ""), **backup.saved_values})
    except SettingsNotSaved as error:
        raise RestoreError(f"对话和资料已经恢复，设置{error.message}", cure=error.cure) from None
    for place, name in backup.installed.items():
        backup.write_installed(place, here.user_dir / name)
