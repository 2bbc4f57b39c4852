"""One reader at the door of another: ids, names, cookies, headers and uploads that are not theirs."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.testing.v1 import AppTest

import asgi
from core import VISITOR_COOKIE
from core.answer.message import Message
from core.base.visitors import address_group
from core.store import ChosenCollection, ConversationStore
from core.store.errors import ConversationNotFound
from core.ui import identity, uploads
from support.base import ROOT, loaded
from support.pages import html, rerun, values

OWNER = "https://id.example alice"
SECRET = "只有她知道的事"
QUESTION, ANSWER = Message("user", SECRET, id="question"), Message("assistant", f"{SECRET}的回答", id="answer")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConversationStore]:
    opened = ConversationStore.from_settings(loaded(DATA_DIR=str(tmp_path_factory.mktemp("store"))).values)
    yield opened
    opened.close()


def theirs(store: ConversationStore) -> str:
    """A conversation of the owner's whose answer is still growing."""
    id = store.create(OWNER)
    store.save(id, QUESTION, visitor_id=OWNER)
    store.save(id, ANSWER, visitor_id=OWNER, finished=False)
    return id


Way = Callable[[ConversationStore, str, str | None], object]
WAYS: dict[str, Way] = {
    "load": lambda store, id, who: store.load(id, visitor_id=who),
    "load all": lambda store, id, who: store.load(id, visitor_id=who, last=None),
    "load before": lambda store, id, who: store.load(id, visitor_id=who, before="answer"),
    "add": lambda store, id, who: store.save(id, Message("user", "x"), visitor_id=who),
    "replace": lambda store, id, who: store.save(id, replace(QUESTION, text="x"), visitor_id=who),
    "finish": lambda store, id, who: store.save(id, replace(ANSWER, text="x"), visitor_id=who),
    "grow": lambda store, id, who: store.save(id, replace(ANSWER, text="x"), visitor_id=who, finished=False),
    "begin": lambda store, id, who: store.save(id, Message("assistant", "x"), visitor_id=who, finished=False),
    "rename": lambda store, id, who: store.rename(id, "x", visitor_id=who),
    "mode": lambda store, id, who: store.set_mode(id, "agent", visitor_id=who),
    "collections": lambda store, id, who: store.set_collections(id, [ChosenCollection("x", "x")], visitor_id=who),
    "truncate": lambda store, id, who: store.truncate_from(id, "question", visitor_id=who),
    "delete": lambda store, id, who: store.delete(id, visitor_id=who),
    "bring back": lambda store, id, who: store.restore(id, visitor_id=who),
    "share": lambda store, id, who: store.share(id, visitor_id=who),
    "withdraw": lambda store, id, who: store.stop_sharing(id, visitor_id=who),
    "copy": lambda store, id, who: store.copy(id, visitor_id=who),
    "look": lambda store, id, who: store.newest_texts(id, visitor_id=who),
}
BROWSER = "m" * 32
STRANGERS = {
    "nobody": None,
    "empty": "",
    "another": "https://id.example mallory",
    "upper case": OWNER.upper(),
    "padded": f"{OWNER} ",
    "cut": OWNER[:-1],
    "the same subject elsewhere": "https://evil.example alice",
    "as it is kept": hashlib.sha256(OWNER.encode()).hexdigest(),
    "SQL": "' OR 1=1 --",
    "a pattern": "%",
    "NUL": f"{OWNER}\x00",
    "half a character": f"{OWNER}\ud800",
}


@pytest.mark.parametrize("who", STRANGERS.values(), ids=STRANGERS)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_no_way_into_the_conversation_of_another(store: ConversationStore, way: Way, who: str | None) -> None:
    id = theirs(store)
    before = store.load(id, visitor_id=OWNER)
    with pytest.raises(ConversationNotFound):
        way(store, id, who)
    assert store.load(id, visitor_id=OWNER) == before
    assert store.list_conversations(who) == ()


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize(
    "id", ["", "A" * 24, "\ud800" * 24, "../../etc/passwd", "%" * 24, "A" * 10**6, "' OR 1=1 --", "A" * 23 + "\n"]
)
def test_an_invented_id_is_not_found_and_nothing_else(store: ConversationStore, way: Way, id: str) -> None:
    theirs(store)
    with pytest.raises(ConversationNotFound):
        way(store, id, OWNER)


@pytest.mark.parametrize("who", STRANGERS.values(), ids=STRANGERS)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_address_or_a_share_is_no_way_in(store: ConversationStore, way: Way, who: str | None) -> None:
    id = store.create(visitor_id=BROWSER)
    store.save(id, QUESTION, visitor_id=BROWSER)
    store.save(id, ANSWER, visitor_id=BROWSER, finished=False)
    share = store.share(id, visitor_id=BROWSER)
    before = store.load(id, visitor_id=BROWSER)
    for known in (id, share):
        with pytest.raises(ConversationNotFound):
            way(store, known, who)
    assert store.load(id, visitor_id=BROWSER) == before


def test_to_create_what_is_there_gives_nobody_a_key(store: ConversationStore) -> None:
    id = theirs(store)
    store.create("mallory", id=id)
    with pytest.raises(ConversationNotFound):
        store.load(id, visitor_id="mallory")
    assert store.load(id, visitor_id=OWNER).messages


# ── On the page ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "typed",
    ["", "theirs", "A" * 24, "<script>alert(1)</script>", "\x00", "x" * 100_000, "../..", "' OR 1=1 --", "[x](y)"],
)
@pytest.mark.parametrize(("parameter", "words"), [("c", "没有分享给你"), ("s", "这个分享链接已经失效")])
def test_an_address_that_somebody_typed_opens_nothing_of_others(parameter: str, words: str, typed: str) -> None:
    store = ConversationStore.from_settings(loaded().values)
    page = AppTest.from_file(str(ROOT / "Home.py"), default_timeout=30)
    page.query_params[parameter] = theirs(store) if typed == "theirs" else typed
    store.close()
    page.run()
    assert not page.exception
    shown = f"{html(page)} {values(page.info)} {values(page.markdown)}"
    assert SECRET not in shown
    assert (words in shown) is bool(typed)
    assert not rerun(page).exception


@pytest.mark.parametrize(
    "mark",
    [
        *("", "x", "m" * 31, "m" * 33, "m" * 31 + "\n", "m" * 31 + "é", "ｍ" * 32, "m" * 31 + ";", " " * 32),
        *(OWNER, "127.0.0.1", "local", "session", "../" * 10 + "xx", "m" * 100_000),
    ],
)
def test_a_cookie_that_we_did_not_write_is_nobody(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    context = SimpleNamespace(cookies={VISITOR_COOKIE: mark}, ip_address="203.0.113.7")
    monkeypatch.setattr(identity, "st", SimpleNamespace(user={}, context=context, session_state={}))
    assert identity.visitor() is None


@pytest.mark.parametrize(
    "user",
    [
        {"is_logged_in": False, "iss": "https://id.example", "sub": "alice"},
        {"iss": "https://id.example", "sub": "alice"},
        {"is_logged_in": True, "iss": "https://id.example", "email": "alice@id.example"},
        {"is_logged_in": True, "iss": "https://id.example", "sub": ""},
        {"is_logged_in": True, "iss": "https://id.example", "sub": "Alice"},
        {"is_logged_in": True, "iss": "https://evil.example", "sub": "alice"},
        {"is_logged_in": True, "sub": "alice"},
        {"is_logged_in": True, "iss": "https://id.example alice", "sub": "x"},
    ],
)
def test_nobody_is_her_by_claims_of_their_own(user: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "st", SimpleNamespace(user=user, session_state={}))
    assert identity.owner() != OWNER


# ── Addresses ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("told", "counted"),
    [
        (["203.0.113.7"], "127.0.0.1"),
        (["127.0.0.1"], asgi.UNKNOWN_ADDRESS),
        (["203.0.113.7", "127.0.0.1"], asgi.UNKNOWN_ADDRESS),
        (["203.0.113.7, 127.0.0.1"], asgi.UNKNOWN_ADDRESS),
        ([" 127.0.0.1 , x"], asgi.UNKNOWN_ADDRESS),
        (["127.0.0.1:80"], asgi.UNKNOWN_ADDRESS),
        (["\xff\x00"], "127.0.0.1"),
        ([""], "127.0.0.1"),
        ([], "127.0.0.1"),
    ],
)
def test_an_address_that_a_stranger_may_have_written_is_unknown(
    told: list[str], counted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["client"][0])

    headers = [(b"x-forwarded-for", each.encode("latin-1")) for each in told]
    scope = {"type": "http", "client": ("127.0.0.1", 5), "headers": headers}
    asyncio.run(asgi.TrustedClientAddress(app)(scope, None, None))  # type: ignore[arg-type]
    assert seen == [counted]


@pytest.mark.parametrize(
    ("addresses", "counted"),
    [
        (["203.0.113.7", "203.0.113.7:1", "203.0.113.7:65535", "::ffff:203.0.113.7"], "203.0.113.7"),
        (
            ["2001:db8::1", "2001:db8::ffff:1", "[2001:db8::2]", "[2001:db8::3]:443", "2001:DB8::4%eth0"],
            "2001:db8::/64",
        ),
        (["unknown"], "unknown"),
        ([""], ""),
        (["_hidden"], "_hidden"),
        (["1.2.3.4.5"], "1.2.3.4.5"),
        (["[]"], "[]"),
    ],
)
def test_all_spellings_of_an_address_are_one_visitor(addresses: list[str], counted: str) -> None:
    assert {address_group(address) for address in addresses} == {counted}


# ── Uploads ───────────────────────────────────────────────────────────────────────────────────────────────────────


def put(path: str, length: str | None, *, cookie: str = "", client: str = "203.0.113.9") -> int:
    """The status with which the door answers; 0: it let the upload pass."""
    statuses: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        statuses.append(0)

    async def send(event: Any) -> None:
        statuses.extend([event["status"]] if "status" in event else [])

    headers = [] if length is None else [(b"content-length", length.encode("latin-1"))]
    headers += [(b"cookie", cookie.encode())] if cookie else []
    scope = {"type": "http", "method": "PUT", "path": path, "headers": headers, "client": (client, 1)}
    asyncio.run(uploads.OnlyExpectedUploads(app)(scope, None, send))  # type: ignore[arg-type]
    return statuses[0]


@pytest.mark.parametrize(
    "path",
    [
        "/_stcore/upload_file/nobody/file",
        "/_stcore/upload_file/../file",
        "/_stcore/upload_file/%2e%2e/file",
        "/base/_stcore/upload_file/nobody/file",
        "//_stcore/upload_file/nobody/file",
        "/_stcore/upload_file/\ud800/file",
        f"/_stcore/upload_file/{'x' * 100_000}/file",
    ],
    ids=lambda path: path[:40],
)
def test_nobody_uploads_into_a_session_that_was_shown_no_field(path: str) -> None:
    assert put(path, "5") == 403


@pytest.mark.parametrize(
    ("length", "status"),
    [
        (None, 411),
        ("", 411),
        ("-1", 411),
        ("+5", 411),
        ("5.0", 411),
        ("1e3", 411),
        ("0x5", 411),
        (" 5", 411),
        ("5, 5", 411),
        ("²", 411),
        ("2000000000", 413),
        ("9" * 300, 413),
    ],
)
def test_an_upload_of_any_other_length_is_refused(length: str | None, status: int) -> None:
    field = uploads._UploadPermit()
    field.megabytes = 1
    uploads._permits["session"] = field
    assert put("/_stcore/upload_file/session/file", length) == status


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Callable[..., uploads._UploadPermit]:
    """Sessions that keep so many bytes."""
    manager = MemoryUploadedFileManager("/upload")
    monkeypatch.setattr(uploads, "_manager", lambda: manager)
    monkeypatch.setattr(uploads, "_permits", {})

    def keep(session_id: str, size: int, *, address: str = "", mark: str | None = None) -> uploads._UploadPermit:
        field = uploads._permits[session_id] = uploads._UploadPermit()
        field.megabytes, field.files, field.address, field.mark = 10, 6, address, mark
        manager.add_file(session_id, UploadedFileRec("file", "a.txt", "text/plain", b"x" * size))
        return field

    return keep


def test_uploads_of_all_pages_together_are_bounded(
    monkeypatch: pytest.MonkeyPatch, kept: Callable[..., uploads._UploadPermit]
) -> None:
    monkeypatch.setattr(uploads, "MAX_BYTES", 1000)
    monkeypatch.setattr(uploads, "MAX_ADDRESS_BYTES", 400)
    for page in range(3):
        kept(f"of one visitor {page}", 100, address="203.0.113.9")
    kept("of another", 500, address="198.51.100.7")
    running = kept("mine", 0)
    assert put("/_stcore/upload_file/mine/file", "201", client="192.0.2.1") == 503, "1,001 bytes in all"
    assert put("/_stcore/upload_file/mine/file", "101", client="203.0.113.9") == 429, "401 bytes of one address"
    assert put("/_stcore/upload_file/mine/file", "101", client="127.0.0.1") == 0, "which stands for many"
    assert put("/_stcore/upload_file/mine/file", "200", client="192.0.2.1") == 0
    assert (running.expected_bytes, running.running_uploads) == (0, 0)
    running.expected_bytes = 150  # that are still on their way
    assert put("/_stcore/upload_file/mine/file", "51", client="192.0.2.1") == 503


@pytest.mark.parametrize(
    ("addresses", "status"),
    [
        ([f"2001:db8:1:2::{number}" for number in range(1, 5)], 429),
        (("203.0.113.9", "::ffff:203.0.113.9", "203.0.113.9", "::ffff:203.0.113.9"), 429),
        ([f"2001:db8:1:{number}::1" for number in range(4)], 0),
        (("::1",) * 4, 0),
        (("::ffff:127.0.0.1",) * 4, 0),
        (("unknown",) * 4, 0),
    ],
    ids=["one customer", "one address", "four customers", "a proxy here", "a proxy here as IPv6 writes it", "hidden"],
)
def test_all_addresses_of_one_customer_share(
    monkeypatch: pytest.MonkeyPatch,
    kept: Callable[..., uploads._UploadPermit],
    addresses: Iterable[str],
    status: int,
) -> None:
    monkeypatch.setattr(uploads, "MAX_ADDRESS_BYTES", 400)
    for number, address in enumerate(addresses):
        kept(f"page {number}", 0)
        last = put(f"/_stcore/upload_file/page {number}/file", "101", client=address)
        kept(f"page {number}", 101, address=uploads._permits[f"page {number}"].address)
    assert last == status


def test_nobody_uploads_into_the_session_of_another_browser(kept: Callable[..., uploads._UploadPermit]) -> None:
    kept("session", 0, mark="a" * 32)
    assert put("/_stcore/upload_file/session/file", "5", cookie=f"{VISITOR_COOKIE}={'b' * 32}") == 403
    assert put("/_stcore/upload_file/session/file", "5") == 403
    assert put("/_stcore/upload_file/session/file", "5", cookie=f"x=1; {VISITOR_COOKIE}={'a' * 32}") == 0
