"""Tokens of other programs: shown once, found by their hash, refused when they are withdrawn or have expired."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, event, select, text

from core.base.errors import InputError
from core.base.logs import redact
from core.base.settings import RetentionSettings
from core.metrics import MetricsRecorder
from core.store import ConversationStore, Database, MetricsStore, Outbox, Token, TokenStore, TokenUse, Upkeep
from core.store.errors import StoreError, TokenNotFound
from core.store.ids import digest
from core.store.tables import token_uses, tokens
from core.store.tokens import CACHE_SECONDS, MOST_TOKENS, NAME_LENGTH, TOUCH_SECONDS
from core.store.upkeep import EXPIRED_DAYS
from support.base import loaded
from support.waiting import Clock

pytestmark = [pytest.mark.servers, pytest.mark.xdist_group("postgres")]

MINE, YOURS = "m" * 32, "https://id.example 1"
DAY = 86_400.0
HOUR = 3_600.0


class Server:
    """One of several that share a database."""

    def __init__(self, url: str, clock: Clock, timer: Clock) -> None:
        self.database = Database.from_settings(loaded(DATABASE_URL=url).values)
        self.outbox = Outbox(ConversationStore(self.database))
        self.tokens = TokenStore(self.database, self.outbox, clock=clock, timer=timer)
        self.clock, self.timer = clock, timer

    def rows(self) -> list[dict[str, object]]:
        with self.database.read() as connection:
            return [dict(row) for row in connection.execute(select(tokens)).mappings()]

    @contextmanager
    def counted_statements(self) -> Iterator[list[str]]:
        """What the database is asked meanwhile."""
        asked: list[str] = []

        def note(_connection: Connection, _cursor: object, statement: str, *_: object) -> None:
            asked.append(statement)

        engine = self.database._open_engine()
        event.listen(engine, "before_cursor_execute", note)
        try:
            yield asked
        finally:
            event.remove(engine, "before_cursor_execute", note)

    def close(self) -> None:
        self.outbox.close(1)
        self.database.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def open_server(request: pytest.FixtureRequest) -> Iterator[Callable[[], Server]]:
    url = "" if request.param == "sqlite" else request.getfixturevalue("postgres").new_database()
    clock, timer, opened = Clock(2_000_000_000), Clock(), []

    def open_one() -> Server:
        opened.append(Server(url, clock, timer))
        return opened[-1]

    yield open_one
    for server in opened:
        server.close()


@pytest.fixture
def server(open_server: Callable[[], Server]) -> Server:
    return open_server()


def test_a_token_is_found_by_what_was_shown_and_by_nothing_that_is_stored(server: Server) -> None:
    token, secret = server.tokens.create(MINE, " 我的\n笔记本 ", ["law", "search"], days=30, per_minute=7)
    assert secret.startswith("wy-")
    assert len(secret) == 3 + 43, "32 bytes by chance"
    expected = Token(
        *(token.id, digest(MINE) or "", "我的 笔记本", frozenset({"law", "search"})),
        *(server.clock(), server.clock() + 30 * DAY, 7, None),
    )
    assert token == server.tokens.find(secret) == expected
    (row,) = server.rows()
    assert secret not in str(row)
    assert MINE not in str(row)
    for stored in map(str, row.values()):
        assert server.tokens.find(stored) is None
        assert server.tokens.find(f"wy-{stored}") is None
    for near in (secret[:-1], f"{secret} ", secret.upper(), f"{secret}\x00", secret[3:], "", "wy-", "\udce4" * 40):
        assert server.tokens.find(near) is None


def test_tokens_differ_and_are_hidden_in_logs(server: Server) -> None:
    made = {server.tokens.create(MINE, "x", ["law"])[1] for _ in range(20)}
    assert len(made) == 20
    for secret in made:
        for line in (
            f"got {secret}",
            f"Authorization: Bearer {secret}",
            f'{{"token": "{secret}"}}',
            f"?key={secret}&x",
        ):
            assert secret[3:] not in redact(line), line
    assert redact('class="wy-waiting wy-engine"') == 'class="wy-waiting wy-engine"'


def test_a_withdrawn_token_is_refused_at_once_here_and_soon_at_other_servers(open_server: Callable[[], Server]) -> None:
    here, there = open_server(), open_server()
    token, secret = here.tokens.create(MINE, "x", ["law"])
    assert here.tokens.find(secret)
    assert there.tokens.find(secret), "both have it in memory"
    with pytest.raises(TokenNotFound):
        here.tokens.withdraw(token.id, YOURS)
    here.tokens.withdraw(token.id, MINE)
    assert here.tokens.find(secret) is None
    here.timer.pass_(CACHE_SECONDS)
    assert there.tokens.find(secret) is None
    assert CACHE_SECONDS <= 5
    with pytest.raises(TokenNotFound):
        here.tokens.withdraw(token.id, None)


def test_a_new_token_works_at_once_here_and_soon_at_other_servers(open_server: Callable[[], Server]) -> None:
    here, there = open_server(), open_server()
    assert (here.tokens.find("wy-x"), there.tokens.find("wy-x")) == (None, None)
    _, secret = here.tokens.create(MINE, "x", ["law"])
    assert here.tokens.find(secret)
    there.timer.pass_(CACHE_SECONDS)
    assert there.tokens.find(secret)


def test_a_token_expires_to_the_second_also_while_it_is_cached(server: Server) -> None:
    _, secret = server.tokens.create(MINE, "x", ["law"], days=30)
    _, forever = server.tokens.create(MINE, "y", ["law"])
    server.clock.pass_(30 * DAY - 1)
    assert server.tokens.find(secret)
    server.clock.pass_(1)
    assert server.tokens.find(secret) is None
    server.clock.pass_(100_000 * DAY)
    assert server.tokens.find(forever)


def test_a_flood_of_tokens_asks_the_database_once(server: Server) -> None:
    _, secret = server.tokens.create(MINE, "x", ["law"])
    assert server.tokens.find(secret)
    assert server.outbox.flush(10)
    server.timer.pass_(CACHE_SECONDS)
    with server.counted_statements() as asked:
        for number in range(500):
            assert server.tokens.find(f"wy-{number:043}") is None
            assert server.tokens.find(secret)
    assert len([one for one in asked if "FROM tokens" in one]) == 1


def test_without_a_database_nobody_is_let_in(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    _, secret = server.tokens.create(MINE, "x", ["law"])
    assert server.tokens.find(secret)

    def away() -> None:
        raise StoreError

    monkeypatch.setattr(server.database, "read", away)
    assert server.tokens.find(secret), "still known"
    server.timer.pass_(CACHE_SECONDS)
    with pytest.raises(StoreError):
        server.tokens.find(secret)


def test_the_last_use_is_noted_to_the_minute_and_costs_no_write_each_time(open_server: Callable[[], Server]) -> None:
    here, there = open_server(), open_server()
    token, secret = here.tokens.create(MINE, "x", ["law"])
    begun = here.clock()
    with here.counted_statements() as asked:
        for _ in range(50):
            assert here.tokens.find(secret)
        assert here.outbox.flush(10)
    assert sum("UPDATE tokens" in one for one in asked) == 1
    assert [one.last_used for one in there.tokens.list_tokens(MINE)] == [begun]
    here.clock.pass_(TOUCH_SECONDS + 1)
    assert here.tokens.find(secret)
    assert here.outbox.flush(10)
    here.tokens._note_uses({token.id: begun, "gone": begun})
    assert [one.last_used for one in there.tokens.list_tokens(MINE)] == [here.clock()], "a late note changes nothing"


def test_each_maker_lists_and_withdraws_their_own(server: Server) -> None:
    mine, _ = server.tokens.create(MINE, "mine", ["law"])
    server.clock.pass_(1)
    yours, _ = server.tokens.create(YOURS, "yours", ["law"])
    assert [one.name for one in server.tokens.list_tokens(MINE)] == ["mine"]
    assert [one.name for one in server.tokens.list_tokens(YOURS)] == ["yours"]
    assert [one.name for one in server.tokens.list_tokens(None)] == ["yours", "mine"]
    assert server.tokens.list_tokens("") == ()
    for stranger in ("", digest(MINE) or "", MINE.upper(), "%"):
        with pytest.raises(TokenNotFound):
            server.tokens.withdraw(mine.id, stranger)
    server.tokens.withdraw(yours.id, None)
    assert [one.name for one in server.tokens.list_tokens(None)] == ["mine"]


@pytest.mark.parametrize(("name", "scopes"), [("", ["law"]), (" \u200b\n", ["law"]), ("x", [])])
def test_a_token_needs_a_name_and_a_use(server: Server, name: str, scopes: list[str]) -> None:
    with pytest.raises(InputError):
        server.tokens.create(MINE, name, scopes)
    assert server.rows() == []


def test_names_are_short_and_a_maker_has_so_many(server: Server) -> None:
    server.tokens.create(MINE, "长" * 500, ["law"])
    (token,) = server.tokens.list_tokens(MINE)
    assert len(token.name) == NAME_LENGTH
    for _ in range(MOST_TOKENS - 1):
        server.tokens.create(MINE, "x", ["law"])
    with pytest.raises(InputError, match="撤回"):
        server.tokens.create(MINE, "x", ["law"])
    server.tokens.create(YOURS, "x", ["law"])


# ── Use ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_requests_are_counted_by_the_hour_from_all_servers_and_go_with_the_token(
    open_server: Callable[[], Server],
) -> None:
    here, there = open_server(), open_server()
    token, _ = here.tokens.create(MINE, "x", ["law"])
    recorders = [MetricsRecorder(MetricsStore(one.database), clock=one.clock) for one in (here, there)]
    threads = [threading.Thread(target=recorder.flush) for recorder in recorders]
    for recorder in recorders:
        for outcome in ("ok", "ok", "refused"):
            recorder.record_request(token.id, outcome)
        recorder.record_request("", "ok")
        recorder.record_request("withdrawn long ago", "ok")
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    begun = here.clock() // HOUR * HOUR
    here.clock.pass_(HOUR)
    recorders[0].record_request(token.id, "ok")
    recorders[0].close()
    recorders[1].close()
    store = MetricsStore(here.database)
    first_hour = [
        TokenUse("", begun, "ok", 2),
        TokenUse(token.id, begun, "ok", 4),
        TokenUse(token.id, begun, "refused", 2),
    ]
    assert sorted(store.token_uses(begun, begun + HOUR)) == first_hour
    assert TokenUse(token.id, begun, "ok", 5) in store.token_uses(begun, begun + 2 * HOUR)
    here.tokens.withdraw(token.id, MINE)
    assert store.token_uses(0, here.clock() + HOUR) == [TokenUse("", 0, "ok", 2)]


def test_what_was_counted_is_deleted_with_other_figures(server: Server) -> None:
    token, _ = server.tokens.create(MINE, "x", ["law"])
    store = MetricsStore(server.database)
    store.add([], [], [], [TokenUse(token.id, 1 * HOUR, "ok", 1), TokenUse(token.id, 9 * HOUR, "ok", 1)])
    store.delete_old(5 * HOUR)
    assert [use.times for use in store.token_uses(0, 100 * HOUR)] == [1]


def test_upkeep_forgets_what_has_long_expired_and_figures_without_a_token(server: Server) -> None:
    gone, _ = server.tokens.create(MINE, "old", ["law"], days=30)
    kept, _ = server.tokens.create(MINE, "forever", ["law"])
    store = MetricsStore(server.database)
    store.add([], [], [], [TokenUse(id, 0.0, "ok", 1) for id in (gone.id, kept.id, "")])
    upkeep = Upkeep(server.database, RetentionSettings(), clock=server.clock)
    server.clock.pass_((30 + EXPIRED_DAYS) * DAY - 1)
    assert upkeep.run_if_due()
    assert len(server.tokens.list_tokens(MINE)) == 2
    server.clock.pass_(HOUR + 1)
    assert upkeep.run_if_due()
    assert [one.name for one in server.tokens.list_tokens(MINE)] == ["forever"]
    with server.database.read() as connection:
        assert set(connection.execute(select(token_uses.c.token_id)).scalars()) == {"", kept.id}


def test_answers_of_older_programs_belong_to_no_token(server: Server) -> None:
    with server.database.write() as connection:
        columns = "at, mode, model, ending, kind, seconds, input, output, estimated, iterations, tool_calls"
        connection.execute(
            text(f"INSERT INTO answer_records ({columns}) VALUES (1, 'chat', 'm', 'ok', '', 1, 1, 1, FALSE, 0, 0)")
        )
        assert connection.execute(text("SELECT token_id FROM answer_records")).scalar_one() == ""
