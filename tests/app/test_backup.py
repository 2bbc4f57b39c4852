"""Backup and restore: everything in one file, to another folder and to the other kind of database."""

from __future__ import annotations

import json
import os
import stat
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text

from core.answer.message import Message
from core.backup import MANIFEST, BackupError, Installation, RestoreError, restore_backup, write_backup
from core.base.settings import SavedSettingsFile, SavedSettingsStore
from core.command_line import main
from core.documents import Access, DocumentLibrary, DocumentTransfer
from core.legal import LegalLibrary, LegalServices
from core.reading import Page, Reader, ReadingSettings
from core.store import (
    SCHEMA,
    TABLE_NAMES,
    ConversationStore,
    Database,
    MetricsStore,
    Outbox,
    PreferenceStore,
    ReadPageStore,
    SavedSettingsTable,
    SharedFiles,
    TokenStore,
    TokenUse,
    count_rows,
)
from core.store.ids import digest
from core.store.tables import metadata
from support import invented
from support.base import loaded
from support.messages import FULL
from support.pdf_files import pdf_file
from support.reading import kept_workers

__all__ = ["kept_workers"]

pytestmark = pytest.mark.xdist_group("postgres")

SECRET = "一长串随机字符"
KEYS = {"OPENAI_API_KEY": "sk-very-secret", "LLM_MODEL": "openai:gpt-5-mini"}
NewInstallation = Callable[[str], Installation]
URLS: dict[Path, str] = {}
"""The database of an installation, by its data folder."""


@pytest.fixture
def new(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[NewInstallation]:
    """Empty installations, on SQLite or on PostgreSQL."""
    monkeypatch.setenv("STREAMLIT_SERVER_COOKIE_SECRET", SECRET)
    made: list[Installation] = []

    def make(kind: str) -> Installation:
        folder = tmp_path / f"{kind}{len(made)}"
        url = request.getfixturevalue("postgres").new_database() if kind == "postgresql" else ""
        settings = loaded(DATABASE_URL=url, DATA_DIR=str(folder / "data")).values
        database = Database.from_settings(settings)
        saved: SavedSettingsStore = SavedSettingsFile(folder / "data")
        if url:
            saved = SavedSettingsTable(database, secret=SECRET)
        documents = DocumentTransfer.from_settings(settings, database)
        laws = LegalLibrary(folder / "data", shared=SharedFiles(database) if url else None)
        URLS[folder / "data"] = url
        made.append(Installation(database, saved, folder / "data", folder, documents, laws))
        return made[-1]

    yield make
    for one in made:
        one.database.close()


def fill(here: Installation, tmp_path: Path) -> list[str]:
    """Use an installation as people do. Return the ids of the conversations."""
    store = ConversationStore(here.database)
    ids = []
    for number, (owner, who) in enumerate([(None, "browser"), ("alice", "alice"), (None, "browser")]):
        id = store.create(owner, visitor_id=who, mode="agent")
        store.save(id, Message("user", f"第 {number} 个问题 \u2028👩‍👧", id="q"), visitor_id=who)
        store.save(id, replace(FULL, id="a"), visitor_id=who)
        now = datetime.now(UTC)
        page = Page("https://a.example", "https://a.example", "题", "网页的文字", None, "text", now, 0, is_cut=False)
        files = ReadPageStore(here.database, max_file_bytes=100)
        files.save(id, "a", {1: page}, visitor_id=who, bodies={1: b"%PDF \xff"})
        ids.append(id)
    store.share(ids[2], visitor_id="browser")
    outbox = Outbox(store)
    PreferenceStore(here.database, outbox).change("browser", {"search": True})
    token, _ = TokenStore(here.database, outbox).create("browser", "笔记本", ["law"], days=30)
    MetricsStore(here.database).add([], [], [], [TokenUse(token.id, 0.0, "ok", 7)])
    assert outbox.flush(10)
    outbox.close()
    here.saved_settings.change(KEYS)
    invented.library(here.data_dir, invented.lawrefbook(tmp_path / "laws"))
    (here.user_dir / ".streamlit").mkdir()
    (here.user_dir / "settings.yaml").write_text("search:\n  timeout: 9\n", "utf-8")
    (here.user_dir / ".streamlit" / "secrets.toml").write_text('TAVILY_API_KEY = "tvly"\n', "utf-8")
    return ids


def shown(here: Installation, ids: list[str]) -> list[object]:
    """What readers see of it."""
    store, pages = ConversationStore(here.database), ReadPageStore(here.database)
    lists = [store.list_conversations(who) for who in ("browser", "alice", "another")]
    whole = [store.load(id, visitor_id=who) for id, who in zip(ids, ("browser", "alice", "browser"), strict=True)]
    read = [pages.load(id, "a", visitor_id="alice") for id in ids]
    files = [pages.load_file(id, "https://a.example", visitor_id="browser") for id in ids]
    assert files == [b"%PDF \xff", None, b"%PDF \xff"] or not any(files)
    outbox = Outbox(store)
    choices, tokens = PreferenceStore(here.database, outbox).load("browser"), TokenStore(here.database, outbox)
    return [
        lists,
        whole,
        read,
        choices,
        tokens.list_tokens("browser"),
        dict(here.saved_settings.read().values),
        count_rows(here.database),
    ]


OWNER = Access("browser")
LEASE = pdf_file(["房屋租赁合同"], ["月租金为人民币八千六百元。"])


def library_of(here: Installation) -> DocumentLibrary:
    return DocumentLibrary(here.database, *here.documents.stores, Reader(ReadingSettings()))


def fill_library(here: Installation, name: str, **files: bytes) -> str:
    """Put files into a collection, as readers do. Return its id."""
    library = library_of(here)
    collection = library.create_collection(name, OWNER)
    for file, body in files.items():
        library.add_document(collection.id, file.replace("_", "."), body, OWNER)
    assert library.wait_until_indexed(collection.id, OWNER, seconds=60)
    library.close()
    return collection.id


def shown_documents(here: Installation, id: str) -> list[object]:
    library = library_of(here)
    files = library.list_documents(id, OWNER)
    hits = library.search("租金是多少", OWNER, collections=[id])
    texts = [library.read_text(file.id, OWNER) for file in files]
    return [files, [library.read_bytes(file.id, OWNER) for file in files], texts, hits]


def laws(here: Installation) -> list[str]:
    services = LegalServices(loaded(DATA_DIR=str(here.data_dir)).values, lambda: pytest.fail("no search is needed"))
    try:
        index = services.library.index()
        assert index is not None
        return sorted(law.name for law in index.laws())
    finally:
        services.close()


@pytest.mark.parametrize("before", ["sqlite", "postgresql"])
@pytest.mark.parametrize("after", ["sqlite", "postgresql"])
def test_everything_is_there_again(new: NewInstallation, tmp_path: Path, before: str, after: str) -> None:
    old, fresh, file = new(before), new(after), tmp_path / "wenyuan.zip"
    ids = fill(old, tmp_path)
    written = write_backup(old, file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert str(written).startswith(
        "对话 3、消息 6、列表记录 2、网页和附件 3、附件原件 3、读者的选择 1、令牌 1、令牌用量 1、"
        "页面上保存的设置 2 项、settings.yaml"
    )
    (fresh.user_dir).mkdir(exist_ok=True)
    (fresh.user_dir / "settings.yaml").write_text("# 只有注释\nsearch:\n  # timeout: 5\n", "utf-8")
    restored = restore_backup(fresh, file)
    assert restored == written
    assert shown(fresh, ids) == shown(old, ids)
    assert dict(fresh.saved_settings.read().values) == KEYS
    assert laws(fresh) == laws(old) != []
    for name in ("settings.yaml", ".streamlit/secrets.toml"):
        assert (fresh.user_dir / name).read_bytes() == (old.user_dir / name).read_bytes()
    assert stat.S_IMODE((fresh.user_dir / ".streamlit" / "secrets.toml").stat().st_mode) == 0o600
    assert [path.name for path in fresh.data_dir.iterdir() if path.name.startswith(".restore-")] == []
    again = new(before)
    write_backup(fresh, tmp_path / "second.zip")
    restore_backup(again, tmp_path / "second.zip")
    assert shown(again, ids) == shown(old, ids), "and back"


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_while_somebody_writes_it_is_one_moment(new: NewInstallation, tmp_path: Path, kind: str) -> None:
    here, done = new(kind), threading.Event()
    fill(here, tmp_path)
    written: list[str] = []

    def write() -> None:
        store = ConversationStore(here.database)
        while not done.is_set():
            id = store.create(visitor_id="writer")
            store.save(id, Message("user", "字" * 2000), visitor_id="writer")
            store.save(id, FULL, visitor_id="writer")
            written.append(id)

    writer = threading.Thread(target=write)
    writer.start()
    while len(written) < 20:
        pass
    for number in range(3):
        write_backup(here, tmp_path / f"{number}.zip")
    done.set()
    writer.join()
    fresh = new("sqlite")
    restore_backup(fresh, tmp_path / "2.zip")
    store = ConversationStore(fresh.database)
    listed = store.list_conversations("writer", limit=10_000)
    assert 20 <= len(listed) <= len(written)
    whole = [len(store.load(entry.id, visitor_id="writer").messages) for entry in listed]
    assert whole.count(2) >= len(whole) - 1, "the last one may have been in the middle"


def test_a_backup_of_an_older_program_is_brought_up_to_date(new: NewInstallation, tmp_path: Path) -> None:
    here, file = new("sqlite"), tmp_path / "old.zip"
    rows = {
        "conversations": {
            "id": "v1v1v1v1v1v1v1v1v1v1v1v1",
            "owner": None,
            "title": "旧",
            "mode": "chat",
            "created": 1.0,
            "updated": 2.0,
            "deleted": None,
            "share": None,
        },
        "visits": {"visitor": digest("me"), "conversation_id": "v1v1v1v1v1v1v1v1v1v1v1v1"},
        "preferences": {"visitor": "v", "document": "{}"},
    }
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(MANIFEST, json.dumps({"format": 1, "version": "0.0.9", "schema": 8}))
        for name, row in rows.items():
            archive.writestr(f"database/{name}.jsonl", json.dumps(row) + "\n")
    restore_backup(here, file)
    assert [one.title for one in ConversationStore(here.database).list_conversations("me")] == ["旧"]
    with here.database.read() as connection:
        assert connection.execute(text("SELECT used FROM preferences")).scalar_one() > 1e9


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_what_is_there_is_not_overwritten_unless_one_says_so(new: NewInstallation, tmp_path: Path, kind: str) -> None:
    old, other, file = new("sqlite"), new(kind), tmp_path / "wenyuan.zip"
    ids = fill(old, tmp_path)
    write_backup(old, file)
    store = ConversationStore(other.database)
    mine = store.create(visitor_id="me")
    store.save(mine, Message("user", "我的"), visitor_id="me")
    other.saved_settings.change({"TAVILY_API_KEY": "tvly-mine"})
    (other.user_dir).mkdir(exist_ok=True)
    (other.user_dir / "settings.yaml").write_text("search:\n  timeout: 7\n", "utf-8")
    with pytest.raises(RestoreError) as refused:
        restore_backup(other, file)
    assert str(refused.value) == (
        "没有恢复：这里已经有对话 1、消息 1、列表记录 1、页面上保存的设置 1 项、settings.yaml。"
        "确定要用备份替换它们，请加上 --force。"
    )
    assert store.load(mine, visitor_id="me").messages[0].text == "我的"
    assert dict(other.saved_settings.read().values) == {"TAVILY_API_KEY": "tvly-mine"}
    assert not (other.data_dir / "legal").exists()
    restore_backup(other, file, force=True)
    restore_backup(other, file, force=True)
    assert shown(other, ids) == shown(old, ids)
    assert (other.user_dir / "settings.yaml").read_text("utf-8") == "search:\n  timeout: 9\n"
    assert laws(other) == laws(old)


def test_what_could_not_be_replaced_is_said_with_what_was(new: NewInstallation, tmp_path: Path) -> None:
    old, other, file = new("sqlite"), new("sqlite"), tmp_path / "wenyuan.zip"
    ids = fill(old, tmp_path)
    write_backup(old, file)
    (other.user_dir / "settings.yaml").mkdir(parents=True)  # where the file should go
    with pytest.raises(RestoreError, match="对话和资料已经恢复，法规库和设置没有全部恢复"):
        restore_backup(other, file, force=True)
    assert shown(other, ids) == shown(old, ids)


def test_keys_are_not_put_into_a_shared_database_without_a_secret(
    new: NewInstallation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, shared, file = new("sqlite"), new("postgresql"), tmp_path / "wenyuan.zip"
    fill(old, tmp_path)
    write_backup(old, file)
    monkeypatch.delenv("STREAMLIT_SERVER_COOKIE_SECRET")
    without = replace(shared, saved_settings=SavedSettingsTable(shared.database, secret=""))
    with pytest.raises(RestoreError, match="STREAMLIT_SERVER_COOKIE_SECRET"):
        restore_backup(without, file)
    assert not any(count_rows(shared.database).values())


def test_keys_that_cannot_be_decrypted_are_said_to_be_missing(new: NewInstallation, tmp_path: Path) -> None:
    shared = new("postgresql")
    fill(shared, tmp_path)
    stranger = replace(shared, saved_settings=SavedSettingsTable(shared.database, secret="another"))
    written = write_backup(stranger, tmp_path / "wenyuan.zip")
    assert written.settings == 0
    assert "STREAMLIT_SERVER_COOKIE_SECRET" in written.problem


def test_a_file_that_exists_is_not_overwritten_and_a_failure_leaves_none(new: NewInstallation, tmp_path: Path) -> None:
    here, file = new("sqlite"), tmp_path / "wenyuan.zip"
    file.write_text("mine", "utf-8")
    with pytest.raises(BackupError, match="已经存在"):
        write_backup(here, file)
    assert file.read_text("utf-8") == "mine"
    with pytest.raises(BackupError, match="写不进去"):
        write_backup(here, tmp_path / "nowhere" / "wenyuan.zip")


@pytest.mark.parametrize("date", [0, 2**33], ids=["before 1980", "after 2107"])
def test_dates_that_an_archive_cannot_hold_are_no_obstacle(new: NewInstallation, tmp_path: Path, date: int) -> None:
    here, fresh = new("sqlite"), new("sqlite")
    fill(here, tmp_path)
    for file in (here.user_dir / "settings.yaml", *here.legal.rglob("*.sqlite3")):
        os.utime(file, (date, date))
    written = write_backup(here, tmp_path / "wenyuan.zip")
    assert restore_backup(fresh, tmp_path / "wenyuan.zip") == written


# ── Archives that are not ours ────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def good(new: NewInstallation, tmp_path: Path) -> Path:
    old = new("sqlite")
    fill(old, tmp_path)
    write_backup(old, tmp_path / "good.zip")
    return tmp_path / "good.zip"


def rewritten(good: Path, change: Callable[[zipfile.ZipFile, dict[str, bytes]], None]) -> Path:
    target = good.with_name("changed.zip")
    with zipfile.ZipFile(good) as source:
        files = {entry.filename: source.read(entry) for entry in source.infolist()}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        change(archive, files)
        for name, content in files.items():
            archive.writestr(name, content)
    return target


def refused(new: NewInstallation, file: Path) -> str:
    """What is said of an archive that leaves everything as it was."""
    here = new("sqlite")
    outside = here.user_dir.parent
    before = {path for path in outside.rglob("*") if here.user_dir not in path.parents and path != here.user_dir}
    with pytest.raises(RestoreError) as error:
        restore_backup(here, file, force=True)
    assert {
        path for path in outside.rglob("*") if here.user_dir not in path.parents and path != here.user_dir
    } == before
    assert not any(count_rows(here.database).values())
    assert here.saved_settings.read().values == {}
    assert not here.legal.exists()
    assert list(here.data_dir.glob(".restore-*")) == []
    return str(error.value)


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "/etc/evil",
        "legal/../../evil",
        "legal/./x",
        "legal\\..\\evil",
        "C:/evil",
        "database/../x.jsonl",
        "legal/",
        "legal//x",
        "other.txt",
        "database/schema_version.jsonl",
    ],
)
def test_names_that_lead_elsewhere_are_refused(new: NewInstallation, good: Path, name: str) -> None:
    file = rewritten(good, lambda _archive, files: files.update({name: b"evil"}))
    assert "不该有的文件" in refused(new, file)


def test_links_are_refused(new: NewInstallation, good: Path) -> None:
    def add(archive: zipfile.ZipFile, _files: dict[str, bytes]) -> None:
        link = zipfile.ZipInfo("legal/link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")

    assert "不该有的文件" in refused(new, rewritten(good, add))


def test_a_name_twice_is_refused(new: NewInstallation, good: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        file = rewritten(good, lambda archive, files: archive.writestr(MANIFEST, files[MANIFEST]))
    assert "重复" in refused(new, file)


def test_a_bomb_is_refused(new: NewInstallation, good: Path) -> None:
    file = rewritten(good, lambda _archive, files: files.update({"legal/zeros": bytes(400_000_000)}))
    assert file.stat().st_size < 2_000_000
    assert "大得不合理" in refused(new, file)


@pytest.mark.parametrize("kept", [0, 10, 0.5, 0.99])
def test_a_truncated_file_is_refused(new: NewInstallation, good: Path, kept: float) -> None:
    content = good.read_bytes()
    good.write_bytes(content[: int(kept if kept >= 1 else kept * len(content))])
    assert "不是完整的备份文件" in refused(new, good)


def test_a_flipped_bit_is_refused(new: NewInstallation, good: Path) -> None:
    content = bytearray(good.read_bytes())
    with zipfile.ZipFile(good) as archive:
        place = archive.getinfo("database/messages.jsonl").header_offset + 200
    content[place] ^= 0xFF
    good.write_bytes(content)
    assert "损坏" in refused(new, good)


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        (b"{", "不是问源的备份"),
        (b"[]", "不是问源的备份"),
        (json.dumps({"format": 1, "schema": SCHEMA + 1}).encode(), "请先升级本程序"),
        (json.dumps({"format": 2, "schema": SCHEMA}).encode(), "请升级本程序"),
        (json.dumps({"format": 1, "schema": "8"}).encode(), "不是问源的备份"),
        (json.dumps({"format": 1, "schema": -1}).encode(), "不是问源的备份"),
    ],
)
def test_another_programs_archive_is_refused(new: NewInstallation, good: Path, manifest: bytes, said: str) -> None:
    assert said in refused(new, rewritten(good, lambda _archive, files: files.update({MANIFEST: manifest})))


@pytest.mark.parametrize(
    "line",
    [b"[]", b"{", b'{"id": "x"}', b'{"id": "x", "evil": 1}', b"\xff", b"[" * 100_000, b'{"id": [1]}'],
)
def test_rows_that_cannot_be_ours_are_refused(new: NewInstallation, good: Path, line: bytes) -> None:
    file = rewritten(good, lambda _archive, files: files.update({"database/conversations.jsonl": line + b"\n"}))
    assert "对话数据不完整或已损坏" in refused(new, file)


def test_a_message_without_its_conversation_is_refused(new: NewInstallation, good: Path) -> None:
    file = rewritten(good, lambda _archive, files: files.update({"database/conversations.jsonl": b""}))
    assert "对话数据不完整或已损坏" in refused(new, file)


@pytest.mark.parametrize("library", [b"{", b'{"folder": "../../x"}', b'{"folder": "gone"}', b"[]"])
def test_a_library_that_is_not_whole_is_refused(new: NewInstallation, good: Path, library: bytes) -> None:
    file = rewritten(good, lambda _archive, files: files.update({"legal/current.json": library}))
    assert "法规库不完整" in refused(new, file)


def test_settings_that_cannot_be_read_are_refused(new: NewInstallation, good: Path) -> None:
    file = rewritten(
        good, lambda _archive, files: files.update({"settings/page.json": b'{"version": 99, "values": {}}'})
    )
    assert "备份里的设置无法读取" in refused(new, file)


def test_a_missing_file_is_said(new: NewInstallation, tmp_path: Path) -> None:
    assert "找不到" in refused(new, tmp_path / "nowhere.zip")


def test_every_table_is_in_the_backup_or_left_out_on_purpose() -> None:
    assert metadata.tables.keys() - set(TABLE_NAMES) == {
        "page_settings",
        "upkeep",
        "document_removals",
        "document_vectors",
    }


def test_the_commands_say_what_they_did_and_how_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("core.commands.backup.USER_DIR", tmp_path)
    file = tmp_path / "备份.zip"
    store = ConversationStore.from_settings(loaded().values)
    id = store.create(visitor_id="browser")
    store.save(id, Message("user", "问"), visitor_id="browser")
    store.close()
    assert main(["backup", str(file)]) == 0
    said = capfd.readouterr()
    assert said.out == f"已写入 {file}：对话 1、消息 1、列表记录 1。\n"
    assert "备份里有密钥和全部对话" in said.err
    assert main(["backup", str(file)]) == 1
    assert "已经存在" in capfd.readouterr().err
    assert main(["restore", str(file)]) == 1
    assert "--force" in capfd.readouterr().err
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "elsewhere"))
    assert main(["restore", str(file), "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["rows"]["conversations"] == 1
    restored = ConversationStore.from_settings(loaded().values)
    assert restored.load(id, visitor_id="browser").messages[0].text == "问"
    restored.close()


# ── What is wrong underneath ──────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def database_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The database of the installation that the commands find, with one conversation."""
    monkeypatch.setattr("core.commands.backup.USER_DIR", tmp_path)
    store = ConversationStore.from_settings(loaded().values)
    store.save(store.create(visitor_id="browser"), Message("user", "问"), visitor_id="browser")
    store.close()
    return loaded().values.data_dir / "database" / "wenyuan.sqlite3"


def conversation_count() -> int:
    database = Database.from_settings(loaded().values)
    try:
        return count_rows(database)["conversations"]
    finally:
        database.close()


def test_while_a_damaged_database_lies_there_no_backup_ends_well(
    database_file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    database_file.write_bytes(b"not a database" * 1000)
    assert main(["backup", str(tmp_path / "1.zip")]) == 1
    said = capfd.readouterr().err
    assert "没有备份：对话数据库的文件已损坏" in said
    assert "可以继续提问" not in said
    assert not (tmp_path / "1.zip").exists()
    (aside,) = database_file.parent.glob("*.broken-*")
    assert main(["backup", str(tmp_path / "2.zip"), "--json"]) == 1
    written, said = capfd.readouterr()
    assert aside.name in json.loads(written)["problem"]
    assert aside.name in said
    assert "请不要用这份备份替换以前的备份" in said
    assert (tmp_path / "2.zip").exists(), "what was written since is saved"
    aside.rename(tmp_path / "moved-away")
    assert main(["backup", str(tmp_path / "3.zip")]) == 0


@pytest.mark.parametrize("damage", ["garbage", "torn pages"])
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_restore_over_a_damaged_database_goes_into_a_new_one(
    database_file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], damage: str, force: list[str]
) -> None:
    assert main(["backup", str(tmp_path / "1.zip")]) == 0
    whole = database_file.read_bytes()
    database_file.write_bytes(
        b"not a database" * 1000 if damage == "garbage" else whole[:4096] + b"\xa5" * (len(whole) - 4096)
    )
    capfd.readouterr()
    assert main(["restore", str(tmp_path / "1.zip"), *force]) == 0
    said = capfd.readouterr()
    assert said.out.startswith("已恢复：对话 1、消息 1")
    assert next(database_file.parent.glob("*.broken-*[0-9]")).name in said.err
    assert conversation_count() == 1


def test_damage_that_shows_when_rows_are_replaced_goes_the_same_way(new: NewInstallation, good: Path) -> None:
    here = new("sqlite")
    store = ConversationStore(here.database)
    for _ in range(300):
        store.save(store.create(visitor_id="me"), Message("user", "字" * 3000), visitor_id="me")
    store.close()
    file = here.data_dir / "database" / "wenyuan.sqlite3"
    size = file.stat().st_size
    with file.open("r+b") as stream:
        for place in range(size // 2, size - 4096, 40960):  # pages of long texts, which no count of rows reads
            stream.seek(place // 4096 * 4096)
            stream.write(b"\xa5" * 4096)
    restore_backup(here, good, force=True)
    assert count_rows(here.database)["conversations"] == 3


@pytest.mark.parametrize(("name", "value"), [("DATABASE_URL", "mysql://x"), ("DATA_DIR", "~nobody-of-this-name/data")])
@pytest.mark.usefixtures("database_file")
def test_a_place_that_cannot_be_used_is_not_replaced_by_another_one(
    name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["backup", str(tmp_path / "1.zip")]) == 0
    monkeypatch.setenv(name, value)
    capfd.readouterr()
    assert main(["backup", str(tmp_path / "2.zip")]) == 1
    assert f"没有备份：{name} 无法使用" in capfd.readouterr().err
    assert not (tmp_path / "2.zip").exists()
    assert main(["restore", str(tmp_path / "1.zip"), "--force"]) == 1
    assert f"没有恢复：{name} 无法使用" in capfd.readouterr().err


@pytest.mark.usefixtures("database_file")
def test_a_settings_file_that_cannot_be_read_may_have_named_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("core.base.settings.load.USER_DIR", tmp_path)
    (tmp_path / "settings.yaml").write_text("serach:\n  timeout: 9\n", "utf-8")
    assert main(["backup", str(tmp_path / "1.zip")]) == 0, "other mistakes are said, and it is the same place"
    (tmp_path / "settings.yaml").write_text("database: [url", "utf-8")
    assert main(["backup", str(tmp_path / "2.zip")]) == 1
    assert "没有备份：settings.yaml 无法使用（第 1 行不是有效的 YAML）" in capfd.readouterr().err


@pytest.mark.parametrize("command", ["backup", "restore"])
@pytest.mark.usefixtures("database_file")
def test_a_database_that_is_away_is_no_backup_and_no_restore(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["backup", str(tmp_path / "1.zip")]) == 0
    capfd.readouterr()
    monkeypatch.setenv("DATABASE_URL", "postgresql+psycopg://wenyuan:geheim@127.0.0.1:9/wenyuan")
    assert main([command, str(tmp_path / ("2.zip" if command == "backup" else "1.zip"))]) == 1
    said = capfd.readouterr().err
    assert {"backup": "没有备份：", "restore": "没有恢复："}[command] + "打不开对话数据库。" in said
    assert "DATABASE_URL" in said
    assert "提问" not in said
    assert not (tmp_path / "2.zip").exists()


@pytest.mark.parametrize("before", ["sqlite", "postgresql"])
@pytest.mark.parametrize("after", ["sqlite", "postgresql"])
def test_documents_are_found_again(new: NewInstallation, tmp_path: Path, before: str, after: str) -> None:
    old, fresh, file = new(before), new(after), tmp_path / "wenyuan.zip"
    id = fill_library(old, "合同", lease_pdf=LEASE, notes_txt="押金相当于两个月的租金。".encode())
    gone = fill_library(fresh, "别的", other_txt="这里的租金要被替换。".encode())
    written = write_backup(old, file)
    assert "资料集 1、资料 2" in str(written)
    assert "资料原件 2 个" in str(written)
    with pytest.raises(RestoreError, match="资料集 1、资料 1"):
        restore_backup(fresh, file)
    assert restore_backup(fresh, file, force=True) == written
    files, bodies, texts, hits = shown_documents(fresh, id)
    assert [files, bodies, texts] == shown_documents(old, id)[:3]
    assert bodies == [LEASE, "押金相当于两个月的租金。".encode()]
    assert isinstance(hits, tuple)
    assert {(hit.document.name, hit.place.page if hit.place else None) for hit in hits} == {
        ("lease.pdf", 2),
        ("notes.txt", None),
    }
    assert shown_documents(old, id)[3]
    index, _ = fresh.documents.stores
    assert index.search("租金", [gone], 9) == []


def test_an_original_that_is_lost_is_said_and_its_text_is_kept(new: NewInstallation, tmp_path: Path) -> None:
    old, fresh = new("sqlite"), new("sqlite")
    id = fill_library(old, "合同", a_txt="租金是八千元。".encode(), b_txt="租金是九千元。".encode())
    next(path for path in (old.data_dir / "documents" / "files").rglob("*") if path.is_file()).unlink()
    assert "有 1 份资料的原件读不出来" in write_backup(old, tmp_path / "wenyuan.zip").problem
    restore_backup(fresh, tmp_path / "wenyuan.zip")
    assert len(library_of(fresh).search("租金", OWNER, collections=[id])) == 2


def test_a_restore_that_fails_leaves_no_file_behind(
    new: NewInstallation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, fresh = new("sqlite"), new("sqlite")
    fill_library(old, "合同", a_txt="租金是八千元。".encode())
    write_backup(old, tmp_path / "wenyuan.zip")
    with fresh.database.write() as connection:
        connection.execute(
            text("CREATE TRIGGER full BEFORE INSERT ON documents BEGIN SELECT RAISE(ABORT, 'full'); END")
        )
    with pytest.raises(RestoreError):
        restore_backup(fresh, tmp_path / "wenyuan.zip")
    assert not [path for path in (fresh.data_dir / "documents" / "files").rglob("*") if path.is_file()]


def test_all_servers_have_the_laws_of_a_backup(new: NewInstallation, tmp_path: Path) -> None:
    old, fresh = new("sqlite"), new("postgresql")
    fill(old, tmp_path)
    write_backup(old, tmp_path / "wenyuan.zip")
    restore_backup(fresh, tmp_path / "wenyuan.zip")
    other = LegalLibrary(tmp_path / "other", shared=SharedFiles(fresh.database))
    other.refresh()
    index = other.index()
    assert index
    assert sorted(law.name for law in index.laws()) == laws(old)


def test_one_command_takes_a_data_folder_into_postgresql(
    new: NewInstallation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("core.commands.backup.USER_DIR", tmp_path)
    old, target = new("sqlite"), new("postgresql")
    ids = fill(old, tmp_path)
    collection = fill_library(old, "合同", lease_pdf=LEASE)
    monkeypatch.setenv("DATA_DIR", str(old.data_dir))
    assert main(["restore", str(old.data_dir)]) == 1
    assert "请先设置 DATABASE_URL" in capfd.readouterr().err
    monkeypatch.setenv("DATABASE_URL", URLS[target.data_dir])
    assert main(["restore", str(tmp_path / "laws")]) == 1
    assert "里没有问源的数据" in capfd.readouterr().err
    assert main(["restore", str(old.data_dir)]) == 0
    assert "资料 1" in capfd.readouterr().out
    assert shown(target, ids) == shown(old, ids)
    assert shown_documents(target, collection)[:3] == shown_documents(old, collection)[:3]
    assert shown_documents(target, collection)[3]
    target.laws.refresh()
    assert laws(target) == laws(old) != []
    assert main(["restore", str(old.data_dir)]) == 1
    assert "--force" in capfd.readouterr().err
