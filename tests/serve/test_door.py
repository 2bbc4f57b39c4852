"""The door of the services: who is let in with what, how often, how much and how long, and what is counted."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from core.app import App, build_app
from core.base.visitors import COMMAND_LINE
from core.serve import Door, Outsiders, entry_of, exchange
from core.serve import Scope as May
from core.serve.errors import ScopeMissing
from core.store import digest
from support.at_the_door import ELSEWHERE, HERE, AtTheDoor, who_calls
from support.base import loaded
from support.redis_server import RedisServer, needs_redis
from support.waiting import until

ME = "m" * 32


@pytest.fixture(autouse=True)
def _nobody_came_from_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Outsiders, "were_seen", False)
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)


def open_app(**environ: str) -> App:
    return build_app(loaded(API_ENABLED="true", **environ), engines=[])


@pytest.fixture
def app() -> Iterator[App]:
    app = open_app()
    yield app
    app.close()


@pytest.fixture
def call(app: App) -> AtTheDoor:
    return AtTheDoor(app)


def new_token(app: App, *scopes: May, per_minute: int | None = None, days: int | None = None, who: str = ME) -> str:
    return app.tokens.create(who, "mine", scopes or list(May), per_minute=per_minute, days=days)[1]


def uses(app: App) -> dict[tuple[str, str], int]:
    assert app.metrics.flush()
    return {(use.token_id, use.outcome): use.times for use in app.metrics_store.token_uses(0, 1e12)}


def test_everything_is_off_until_it_is_switched_on() -> None:
    app = build_app(loaded(), engines=[])
    reply = AtTheDoor(app)(token=new_token(app))
    assert (reply.status, reply.kind) == (404, "api_off")
    assert "API_ENABLED=true" in reply.json["error"]["message"]
    app.close()


def test_a_token_acts_for_its_maker_and_counts_as_itself(app: App, call: AtTheDoor) -> None:
    (token, secret), (other, _) = (app.tokens.create(ME, name, [May.LAW, "of a later version"]) for name in "ab")
    reply = call(token=secret, client=ELSEWHERE)
    assert reply.status == 200
    assert reply.json == {
        "token": token.id,
        "scopes": ["law"],
        "owner": digest(ME),
        "visitor": f"token {token.id}",
        "received": 0,
    }
    assert token.id != other.id


@pytest.mark.parametrize("written", ["Bearer {}", "bearer {}", "BEARER   {}  "])
def test_the_header_may_be_written_in_each_way(app: App, call: AtTheDoor, written: str) -> None:
    assert call(("Authorization", written.format(new_token(app))), client=ELSEWHERE).status == 200


def test_a_program_on_this_machine_needs_no_token_and_is_the_operator(call: AtTheDoor) -> None:
    reply = call()
    assert reply.json["visitor"] == COMMAND_LINE.name
    assert reply.json["owner"] == digest(COMMAND_LINE.name)
    assert call(("authorization", "Bearer none")).status == 200, "clients that insist on a key"


def test_from_elsewhere_a_token_is_asked_for(call: AtTheDoor) -> None:
    reply = call(client=ELSEWHERE)
    assert (reply.status, reply.kind, reply.headers["www-authenticate"]) == (401, "no_token", "Bearer")
    assert "「接口」" in reply.json["error"]["message"]
    assert call.calls == 0


def test_what_is_wrong_expired_or_withdrawn_is_refused_also_on_this_machine(app: App, call: AtTheDoor) -> None:
    token, secret = app.tokens.create(ME, "x", list(May))
    expired = new_token(app, days=-1)
    assert call(token=secret).status == 200
    app.tokens.withdraw(token.id, ME)
    for wrong in (secret, expired, f"wy-{'A' * 43}", "wy-"):
        for client in (HERE, ELSEWHERE):
            reply = call(token=wrong, client=client)
            assert (reply.status, reply.kind) == (401, "token_refused")
            assert reply.headers["www-authenticate"] == "Bearer"
    assert call(token="sk-of-another-service", client=ELSEWHERE).kind == "token_refused"
    assert call.calls == 1


def test_a_scope_that_is_missing_is_403_and_named(app: App) -> None:
    async def needs_documents(scope: Scope, receive: Receive, send: Send) -> None:
        entry_of(scope).caller.require(May.DOCUMENTS)

    reply = AtTheDoor(app, needs_documents)(token=new_token(app, May.LAW))
    assert (reply.status, reply.kind) == (403, ScopeMissing.kind)
    assert May.DOCUMENTS.label in reply.json["error"]["message"]


# ── How often ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_each_token_has_so_many_requests_a_minute(app: App, call: AtTheDoor) -> None:
    mine, other = new_token(app, per_minute=3), new_token(app)
    assert [call(token=mine).status for _ in range(5)] == [200, 200, 200, 429, 429]
    reply = call(token=mine)
    assert 1 <= int(reply.headers["retry-after"]) <= 60
    assert f"{reply.headers['retry-after']} 秒后" in reply.json["error"]["message"]
    assert call(token=other).status == 200
    assert call().status == 200


def test_without_a_limit_of_its_own_that_of_the_settings_counts() -> None:
    app = open_app(API_REQUESTS_PER_MINUTE="2")
    call, token = AtTheDoor(app), new_token(app)
    assert [call(token=token).status for _ in range(3)] == [200, 200, 429]
    assert [call().status for _ in range(5)] == [200] * 5, "the operator has none"
    app.close()


def test_several_servers_count_together(tmp_path: Path) -> None:
    needs_redis()
    redis = RedisServer(str(tmp_path))
    redis.start()
    apps = [open_app(CACHE_URL=redis.url) for _ in range(2)]
    token = new_token(apps[0], per_minute=4)
    first, second = map(AtTheDoor, apps)
    statuses = [call(token=token).status for _ in range(3) for call in (first, second)]
    assert statuses == [200, 200, 200, 200, 429, 429]
    for app in apps:
        app.close()
    redis.kill()


# ── How much and how long ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_body_is_limited_whether_it_is_announced_or_not(call: AtTheDoor) -> None:
    full = call.app.settings.api.body_megabytes * 2**20
    assert call(("content-length", str(full)), method="POST", body=[b"x" * full]).json["received"] == full
    announced = call(("content-length", str(full + 1)), method="POST", body=[b"x"])
    assert (announced.status, announced.kind) == (413, "too_large")
    assert call.calls == 1, "the service was not even asked"
    streamed = call(("transfer-encoding", "chunked"), method="POST", body=[b"x" * (full // 4)] * 5)
    assert (streamed.status, streamed.kind) == (413, "too_large")


def test_a_service_that_hides_the_error_of_a_large_body_cannot_answer_otherwise(app: App) -> None:
    async def swallow(scope: Scope, receive: Receive, send: Send) -> None:
        status = 200
        try:
            while (await receive()).get("more_body"):
                pass
        except Exception:
            status = 500
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body"})

    assert AtTheDoor(app, swallow)(method="POST", body=[b"x" * 2**20] * 9).kind == "too_large"
    assert AtTheDoor(app, swallow)(method="POST", body=[b"x" * 2**20] * 8).status == 200


def test_a_body_that_does_not_come_is_408(app: App, call: AtTheDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "BODY_SECONDS", 0.05)
    reply = call(token=new_token(app), method="POST", body=[b"x"], is_whole=False)
    assert (reply.status, reply.kind) == (408, "body_too_slow")


def test_after_the_body_a_service_may_wait_for_the_end_of_the_connection(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one does that streams: the limit of slow bodies does not count there."""
    monkeypatch.setattr(exchange, "BODY_SECONDS", 0.05)

    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        gone = asyncio.ensure_future(receive())
        done, _ = await asyncio.wait([gone], timeout=0.2)
        gone.cancel()
        await send({"type": "http.response.start", "status": 500 if done else 200, "headers": []})
        await send({"type": "http.response.body"})

    assert AtTheDoor(app, stream)(method="POST", body=[b"x"]).status == 200


def test_a_request_has_so_much_time_and_what_it_began_is_stopped(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []

    async def never(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    monkeypatch.setitem(vars(app.settings.api), "timeout", 0.05)
    reply = AtTheDoor(app, never)()
    assert (reply.status, reply.kind, ended) == (504, "timed_out", [True])


def test_a_timeout_of_the_service_itself_is_no_time_limit(app: App, caplog: pytest.LogCaptureFixture) -> None:
    async def fails(scope: Scope, receive: Receive, send: Send) -> None:
        raise TimeoutError("of something else")

    reply = AtTheDoor(app, fails)()
    assert (reply.status, reply.kind) == (500, "error")
    assert "of something else" in caplog.text
    assert "of something else" not in reply.body.decode()


def test_an_error_out_of_a_group_of_tasks_is_told_as_itself(app: App) -> None:
    async def fails(scope: Scope, receive: Receive, send: Send) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(refuse())

    async def refuse() -> None:
        raise ScopeMissing("提问")

    assert AtTheDoor(app, fails)().kind == "scope_missing"


def test_a_websocket_is_closed(app: App) -> None:
    async def connect() -> list[object]:
        sent: list[object] = []

        async def receive() -> dict[str, object]:
            return {"type": "websocket.connect"}

        async def send(message: object) -> None:
            sent.append(message)

        await Door(who_calls)({"type": "websocket", "headers": [], "path": "/mcp"}, receive, send)
        return sent

    assert asyncio.run(connect()) == [{"type": "websocket.close", "code": 1008}]


# ── What is written down ──────────────────────────────────────────────────────────────────────────────────────────


def test_requests_are_counted_by_token_and_outcome(app: App, call: AtTheDoor) -> None:
    token, secret = app.tokens.create(ME, "x", list(May), per_minute=2)
    for _ in range(5):
        call(token=secret)
    call()
    call(token=f"wy-{'A' * 43}")
    call(client=ELSEWHERE)
    assert uses(app) == {(token.id, "ok"): 2, (token.id, "refused"): 3, ("", "ok"): 1}, "strangers leave no rows"

    async def fails(scope: Scope, receive: Receive, send: Send) -> None:
        raise ZeroDivisionError

    AtTheDoor(app, fails)()
    assert uses(app)["", "failed"] == 1


def test_prometheus_counts_requests() -> None:
    app = open_app(METRICS_PROMETHEUS="true")
    AtTheDoor(app)()
    assert app.metrics.flush()
    assert app.metrics.exposition
    assert b'wenyuan_api_requests_total{outcome="ok"} 1.0' in app.metrics.exposition.text()
    app.close()


def test_a_refusal_is_logged_without_the_token(app: App, call: AtTheDoor, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    secret = f"wy-{'A1b2' * 11}"
    call(token=secret, client=ELSEWHERE)
    assert "refused: GET /api/v1/x from 192.0.2.7: token_refused" in caplog.text
    assert secret[3:] not in caplog.text


def test_the_last_use_is_shown(app: App, call: AtTheDoor) -> None:
    call(token=new_token(app))
    until(lambda: app.tokens.list_tokens(ME)[0].last_used is not None)
