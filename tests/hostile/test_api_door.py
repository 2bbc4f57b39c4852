"""Attacks on the door of the services: forged names and origins, proxies, guessed tokens, floods, and tokens of strangers."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import pytest
from sqlalchemy import event

from core.app import App, build_app
from core.base.visitors import COMMAND_LINE
from core.documents import Access, Collection, CollectionNotFound, Document
from core.legal import NoLegalIndex
from core.search.errors import NoEngine
from core.search.types import SearchQuery
from core.serve import ALL_SCOPES, Ask, Caller, Outsiders, answer_document, claims, collections, law, start_answer, web
from core.serve import Scope as May
from core.serve.admittance import FAILURES_PER_MINUTE
from core.serve.errors import ScopeMissing
from core.store import ConversationNotFound
from support.at_the_door import ELSEWHERE, HERE, AtTheDoor
from support.base import loaded
from support.filled_collections import fill_collection
from support.pdf_files import pdf_file
from support.ways_to_a_file import CHANGING, MINE, NOT_FOUND, READING, Way

PUBLIC = "https://ask.example"


@pytest.fixture(autouse=True)
def _nobody_came_from_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Outsiders, "were_seen", False)
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)


def open_app(**environ: str) -> App:
    return build_app(loaded(API_ENABLED="true", **environ), engines=[])


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AtTheDoor]:
    """An installation on somebody's own machine."""
    app = open_app(DATA_DIR=str(tmp_path_factory.mktemp("private")))
    yield AtTheDoor(app)
    app.close()


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AtTheDoor]:
    """One that readers open under a name."""
    app = open_app(DATA_DIR=str(tmp_path_factory.mktemp("public")), PUBLIC_URL=PUBLIC, API_HOSTS="nas.lan")
    yield AtTheDoor(app)
    app.close()


# ── Names ─────────────────────────────────────────────────────────────────────────────────────────────────────────

LOCAL = ["localhost:8501", "LOCALHOST:8501", "localhost", "127.0.0.1:8501", "[::1]:8501", "localhost:1"]
FOREIGN = [
    *("evil.test", "evil.test:8501", "localhost.evil.test", "evil.localhost", "localhost.", "localhost.:8501"),
    *("127.0.0.1.evil.test", "127.0.0.1.", "localhost:8501:8501", "localhost:", "localhost:8501x", ":8501", ""),
    *("me@localhost", "localhost@evil.test", "evil.test@localhost:8501", "localhost/", "localhost?", "localhost#"),
    *("localhost, evil.test", "local\thost", " localhost", "localhost ", "localhost\x00", "[::1", "[::1]x", "::1"),
    *("0x7f.1", "127.1", "2130706433", "[localhost]", "ask.example.evil.test", "xask.example", "\xe4"),
]
ADDRESSES = ["192.168.1.5:8501", "0.0.0.0:8501", "[fe80::1]:8501", "10.0.0.1", "[::ffff:127.0.0.1]:8501", "127.0.0.2"]


@pytest.mark.parametrize("host", LOCAL)
def test_a_program_on_this_machine_asks_for_it_by_its_own_names(private: AtTheDoor, host: str) -> None:
    assert private(("host", host)).status == 200


@pytest.mark.parametrize("host", FOREIGN)
def test_no_other_name_leads_here_with_a_token_or_without(private: AtTheDoor, public: AtTheDoor, host: str) -> None:
    for call in (private, public):
        for token in ("", call.token):
            for client in (HERE, ELSEWHERE):
                assert call(("host", host), token=token, client=client).kind == "origin_refused", host


@pytest.mark.parametrize("host", ADDRESSES)
def test_by_an_address_one_comes_with_a_token_only(private: AtTheDoor, host: str) -> None:
    """Nobody can let an address lead elsewhere, and browsers take 0.0.0.0 for this machine."""
    assert private(("host", host)).status == 401
    assert private(("host", host), token=private.token).status == 200


@pytest.mark.parametrize("host", ["ask.example", "ASK.example:443", "nas.lan:8501"])
def test_by_a_configured_name_one_comes_with_a_token_only(public: AtTheDoor, host: str) -> None:
    assert public(("host", host)).status == 401
    assert public(("host", host), token=public.token).status == 200


def test_no_name_and_two_names_are_none(private: AtTheDoor) -> None:
    token = private.token
    for headers in ([("", "")], [("host", "localhost"), ("host", "evil.test")], [("host", "localhost")] * 2):
        assert private(*headers).kind == "origin_refused"
        assert private(*headers, token=token).kind == "origin_refused"


# ── Pages of others ───────────────────────────────────────────────────────────────────────────────────────────────

PAGES = [
    *("https://evil.test", "http://localhost:3000", "http://localhost", "http://localhost:8501.evil.test", PUBLIC),
    *("http://127.0.0.1:8501", "http://me@localhost:8501", "http://localhost:8501/"),
    *("http://localhost:8501 http://localhost:8501", "HTTP://EVIL.TEST", "http://[", "http:"),
]
NO_PAGES = ["null", "", "file://", "app://cherry", "tauri://localhost", "chrome-extension://abc", "//localhost:8501"]


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "HEAD"])
@pytest.mark.parametrize("origin", PAGES)
def test_a_page_of_another_origin_is_refused_with_a_token_or_without(
    private: AtTheDoor, origin: str, method: str
) -> None:
    for token in ("", private.token):
        assert private(("origin", origin), token=token, method=method).status == 403


@pytest.mark.parametrize("origin", NO_PAGES)
def test_a_page_without_an_address_needs_a_token(private: AtTheDoor, origin: str) -> None:
    """A frame in a sandbox is one, and so are desktop programs that are written as pages."""
    assert private(("origin", origin)).kind == "origin_refused"
    assert private(("origin", origin), ("sec-fetch-site", "cross-site"), token=private.token).status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "x"])
def test_what_a_foreign_page_causes_without_an_origin_is_refused(private: AtTheDoor, site: str) -> None:
    """A picture, a form, a link: a simple request, for which browsers ask nothing before."""
    status = 200 if site == "" else 403
    assert private(("sec-fetch-site", site)).status == status
    assert private(("sec-fetch-site", site), ("content-type", "text/plain"), method="POST").status == status


def test_the_apps_own_page_and_the_address_bar_are_no_foreign_pages(private: AtTheDoor) -> None:
    assert private(("origin", "http://localhost:8501"), ("sec-fetch-site", "same-origin")).status == 200
    assert private(("sec-fetch-site", "none")).status == 200


def test_two_origins_are_both_looked_at(private: AtTheDoor) -> None:
    own, other = ("origin", "http://localhost:8501"), ("origin", "https://evil.test")
    for headers in ([own, other], [other, own]):
        assert private(*headers).status == 403
        assert private(*headers, token=private.token).status == 403


@pytest.mark.parametrize("origin", [*PAGES, *NO_PAGES, "http://localhost:8501"])
def test_what_a_browser_asks_before_a_page_may_send_more_is_refused(private: AtTheDoor, origin: str) -> None:
    wanted = (("access-control-request-method", "POST"), ("access-control-request-headers", "authorization"))
    for token in ("", private.token):
        reply = private(("origin", origin), *wanted, method="OPTIONS", token=token)
        assert reply.status == 403


def test_no_answer_lets_a_page_of_another_origin_read_it(private: AtTheDoor) -> None:
    token = private.token
    for origin, method, given in itertools.product([*PAGES, *NO_PAGES], ["GET", "OPTIONS"], ["", token, "wy-x"]):
        reply = private(("origin", origin), method=method, token=given)
        assert not [name for name in reply.headers if name.startswith("access-control")]


# ── Who is on this machine ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "header",
    [
        *(("x-forwarded-for", "127.0.0.1"), ("X-Forwarded-For", ""), ("forwarded", "for=127.0.0.1"), ("via", "1.1 x")),
        *(("x-forwarded-proto", "https"), ("x-forwarded-host", "localhost"), ("x-real-ip", "127.0.0.1")),
        *(("cf-connecting-ip", "1.1.1.1"), ("ngrok-trace-id", "1"), ("x-envoy-internal", "true")),
        *(("authorization", "Basic bWU6cGFzc3dvcmQ="), ("authorization", "Digest username=me")),
    ],
)
def test_what_a_proxy_has_touched_does_not_come_from_here(private: AtTheDoor, header: tuple[str, str]) -> None:
    assert private(header).status == 401
    assert private().status == 200


def test_a_proxy_that_says_nothing_speaks_http_1_0(private: AtTheDoor) -> None:
    assert private(http_version="1.0").status == 401
    assert private(http_version="1.0", token=private.token).status == 200


@pytest.mark.parametrize(
    "client", [None, ("", 0), ("unknown", 0), ELSEWHERE, ("::ffff:192.0.2.7", 1), ("127.0.0.1.evil.test", 1), ("@", 0)]
)
def test_who_has_no_address_here_is_not_here(private: AtTheDoor, client: tuple[str, int] | None) -> None:
    assert private(client=client).status == 401


def test_where_strangers_may_come_through_this_machine_everybody_needs_a_token(
    private: AtTheDoor, public: AtTheDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = private.token
    assert public().status == 401, "PUBLIC_URL is another name"
    monkeypatch.setattr(Outsiders, "were_seen", True)
    assert private().status == 401
    monkeypatch.setattr(Outsiders, "were_seen", False)
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "127.0.0.1")
    assert private().status == 401
    assert private(token=token).status == 200


# ── Guessing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_whoever_tries_many_tokens_is_told_to_wait_and_nobody_else_is() -> None:
    app = open_app()
    call = AtTheDoor(app)
    good = call.token
    guesses = [call(token=f"wy-{number:043}", client=ELSEWHERE) for number in range(FAILURES_PER_MINUTE + 30)]
    assert [reply.status for reply in guesses] == [401] * FAILURES_PER_MINUTE + [429] * 30
    assert 1 <= int(guesses[-1].headers["retry-after"]) <= 60
    assert guesses[-1].kind == "too_many_failures"
    assert call(token=good, client=ELSEWHERE).status == 200, "also at the same address"
    assert call(token="wy-x", client=("192.0.2.8", 1)).status == 401
    app.close()


def test_one_address_of_ipv6_is_a_whole_network() -> None:
    app = open_app()
    call = AtTheDoor(app)
    replies = [call(token="wy-x", client=(f"2001:db8::{number:x}", 1)) for number in range(FAILURES_PER_MINUTE + 1)]
    assert replies[-1].status == 429
    app.close()


def test_a_flood_of_guesses_leaves_the_database_alone() -> None:
    app = open_app()
    call = AtTheDoor(app)
    call(token=call.token)
    assert app.outbox.flush(10)
    assert app.metrics.flush()
    asked: list[str] = []
    event.listen(app.database._open_engine(), "before_cursor_execute", lambda *given: asked.append(given[2]))
    app.tokens._timer = lambda: app.tokens._read_at  # time stands still: the test may take long
    for number in range(300):
        assert call(token=f"wy-{number:043}", client=(f"192.0.2.{number % 250}", 1)).status in (401, 429)
    assert app.metrics.flush()
    assert not [one for one in asked if "FROM tokens" in one or one.startswith(("INSERT", "UPDATE"))]
    app.close()


def test_a_token_in_the_address_or_in_a_cookie_is_none(private: AtTheDoor) -> None:
    token = private.token
    query = f"token={token}&access_token={token}&key={token}".encode()
    assert (
        private(("cookie", f"token={token}"), ("x-api-key", token), client=ELSEWHERE, query_string=query).status == 401
    )


# ── What belongs to others ────────────────────────────────────────────────────────────────────────────────────────

SECRET = "灯塔的钥匙放在第三块砖下面"


@dataclass
class Kept:
    app: App
    collection: Collection
    document: Document
    talk: str


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    app = open_app(DATA_DIR=str(tmp_path_factory.mktemp("kept")))
    collection = fill_collection(app, "只有我知道的资料", Access(MINE), 钥匙_pdf=pdf_file([SECRET]))
    (document,) = app.documents.list_documents(collection.id, Access(MINE))
    talk = app.store.create(visitor_id=MINE)
    yield Kept(app, collection, document, talk)
    app.close()


def strangers(app: App) -> dict[str, Caller]:
    makers = {
        "another": "y" * 32,
        "upper case": MINE.upper(),
        "padded": f"{MINE} ",
        "the operator": COMMAND_LINE.name,
        "as it is kept": hashlib.sha256(MINE.encode()).hexdigest(),
        "SQL": "' OR 1=1 --",
        "a pattern": "%",
    }
    return {name: caller_of(app, who) for name, who in makers.items()}


STRANGERS = ["another", "upper case", "padded", "the operator", "as it is kept", "SQL", "a pattern"]


@pytest.mark.parametrize("name", STRANGERS)
@pytest.mark.parametrize("way", (READING | CHANGING).values(), ids=READING | CHANGING)
def test_a_strangers_token_opens_no_collection(kept: Kept, way: Way, name: str) -> None:
    who = strangers(kept.app)[name].access
    with pytest.raises(NOT_FOUND):
        way(kept.app.documents, kept.collection, kept.document, who)
    assert kept.app.documents.list_documents(kept.collection.id, Access(MINE)) == (kept.document,)


@pytest.mark.parametrize("name", STRANGERS)
def test_the_services_give_a_strangers_token_nothing(kept: Kept, name: str) -> None:
    who = strangers(kept.app)[name]
    assert collections.list_collections(kept.app, who) == {"collections": []}
    assert collections.search_documents(kept.app, who, SECRET)["results"] == []
    for wanted in (kept.collection.name, kept.collection.id):
        with pytest.raises(CollectionNotFound) as refused:
            collections.search_documents(kept.app, who, SECRET, [wanted])
        assert "现有的" not in str(refused.value)
        with pytest.raises(CollectionNotFound):
            start_answer(kept.app, who, Ask(SECRET, collections=[wanted]))


@pytest.mark.parametrize("name", [*STRANGERS, "its own maker's"])
def test_no_token_opens_a_conversation(kept: Kept, name: str) -> None:
    """There is no service for it, and the name that a token has is nobody's who has conversations."""
    who = (strangers(kept.app) | {"its own maker's": caller_of(kept.app, MINE)})[name]
    assert who.access.visitor_id is None
    for given in (who.visitor.name, who.visitor.address, who.token_id, who.access.owner, who.access.visitor_id):
        with pytest.raises(ConversationNotFound):
            kept.app.store.load(kept.talk, visitor_id=given)
        assert kept.app.store.list_conversations(given) == ()


def test_the_makers_token_does_what_its_maker_may(kept: Kept) -> None:
    mine = caller_of(kept.app, MINE)
    assert [one["name"] for one in collections.list_collections(kept.app, mine)["collections"]] == [
        kept.collection.name
    ]
    (hit,) = collections.search_documents(kept.app, mine, SECRET)["results"]
    assert SECRET in hit["text"]
    new = kept.app.documents.create_collection("从程序里建的", mine.access)
    assert kept.app.documents.open_collection(new.id, Access(MINE)).may_change
    kept.app.documents.delete_collection(new.id, mine.access)


SERVICES: dict[May, Callable[[App, Caller], object]] = {
    May.SEARCH: lambda app, who: web.search_web(app, who, SearchQuery("灯塔")),
    May.LAW: lambda app, who: law.search_statutes(app, who, "灯塔"),
    May.CHECK: lambda app, who: claims.check_claims(app, who, "灯塔很高[1]。", [{"text": "灯塔很高。"}]),
    May.ASK: lambda app, who: answer_document(Ask("灯塔"), start_answer(app, who, Ask("灯塔")), ()),
    May.DOCUMENTS: lambda app, who: collections.list_collections(app, who),
}


@pytest.mark.parametrize("service", SERVICES)
def test_without_its_scope_no_service_answers(kept: Kept, service: May) -> None:
    with pytest.raises(ScopeMissing):
        SERVICES[service](kept.app, caller_of(kept.app, MINE, *(ALL_SCOPES - {service})))
    with suppress(NoLegalIndex, NoEngine):
        SERVICES[service](kept.app, caller_of(kept.app, MINE, service))


def test_a_question_about_files_needs_the_scope_of_files(kept: Kept) -> None:
    with pytest.raises(ScopeMissing):
        start_answer(kept.app, caller_of(kept.app, MINE, May.ASK), Ask("灯塔", collections=[kept.collection.name]))


def caller_of(app: App, who: str, *scopes: May) -> Caller:
    token, _ = app.tokens.create(who, "x", scopes or list(May))
    app.tokens.withdraw(token.id, who)
    return Caller.from_token(token)
