"""What the page saves, in a database that several app servers share: encrypted, noticed by the others, never in the way."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from core.app import build_app, shared_app
from core.base.settings import SavedValues, SettingsNotSaved
from core.store import Database, SavedSettingsTable
from core.store.backends import PostgresServer, SqliteFile
from support.base import loaded
from support.faults import full_backlog
from support.postgres import Postgres
from support.shared import shared_and_closed
from support.waiting import until

pytestmark = pytest.mark.xdist_group("postgres")

SECRET = "the same long random text on each of the servers"
KEY = "key-of-the-page-0123456789"
OPENAI = {"OPENAI_API_KEY": KEY, "LLM_MODEL": "openai:a"}


@pytest.fixture(params=["sqlite", "postgresql"])
def another(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Database]:
    """One more connection to the same database, as another server has it."""
    if request.param == "sqlite":
        return lambda: Database(SqliteFile(tmp_path / "x.sqlite3"))
    url = request.getfixturevalue("postgres").new_database()
    return lambda: Database(PostgresServer(url))


def test_one_server_saves_and_another_reads(another: Callable[[], Database]) -> None:
    here, there = (SavedSettingsTable(another(), secret=SECRET) for _ in range(2))
    assert here.read() == there.read() == SavedValues()
    before = there.stamp()
    here.change(OPENAI)
    assert here.stamp() != before, "at once where it was saved"
    assert here.read().values == there.read().values == OPENAI
    there.change({"OPENAI_API_KEY": "", "LLM_MODEL": "openai:b"})
    assert here.read().values == {"LLM_MODEL": "openai:b"}


def test_nobody_reads_it_without_the_secret(another: Callable[[], Database]) -> None:
    SavedSettingsTable(another(), secret=SECRET).change(OPENAI)
    with another().read() as connection:
        (row,) = connection.execute(text("SELECT * FROM page_settings")).all()
    assert KEY not in str(row)
    assert "LLM_MODEL" not in str(row)
    for secret, reason in (("another secret", "与保存时不同"), ("", "没有设置")):
        found = SavedSettingsTable(another(), secret=secret).read()
        assert found.values == {}
        assert reason in found.problem


def test_without_a_secret_saving_is_refused_and_says_what_to_do(another: Callable[[], Database]) -> None:
    settings = SavedSettingsTable(another(), secret="")
    with pytest.raises(SettingsNotSaved, match="STREAMLIT_SERVER_COOKIE_SECRET"):
        settings.change(OPENAI)
    assert settings.read() == SavedValues()


def test_servers_that_save_at_once_lose_nothing(another: Callable[[], Database]) -> None:
    servers = [SavedSettingsTable(another(), secret=SECRET) for _ in range(3)]
    servers[0].change({"FIRST": "x"})

    def save(number: int) -> None:
        for count in range(5):
            servers[number].change({f"V{number}_{count}": "x"})

    threads = [threading.Thread(target=save, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(servers[0].read().values) == 16


def test_a_database_that_is_away_keeps_nobody_waiting_and_nothing_is_forgotten(tmp_path: Path) -> None:
    now = [0.0]
    database = Database(SqliteFile(tmp_path / "x.sqlite3"))
    settings = SavedSettingsTable(database, secret=SECRET, clock=lambda: now[0])
    settings.change(OPENAI)
    assert settings.read().values == OPENAI
    stamp = settings.stamp()
    database.close()
    with full_backlog() as port:
        database._backend = PostgresServer(f"postgresql+psycopg://x@127.0.0.1:{port}/x")  # nobody answers there
        now[0] += 60
        started = time.monotonic()
        assert settings.stamp() == stamp
        assert time.monotonic() - started < 1.5, "a connection would be waited for for two seconds"
        assert settings.read().values == OPENAI
        with pytest.raises(SettingsNotSaved):
            settings.change(OPENAI)


def test_every_app_server_answers_with_the_new_model(
    monkeypatch: pytest.MonkeyPatch, postgres: Postgres, tmp_path: Path
) -> None:
    monkeypatch.setenv("STREAMLIT_SERVER_COOKIE_SECRET", SECRET)
    monkeypatch.setattr(SavedSettingsTable, "RECHECK_SECONDS", 0.05)
    shared = {"DATABASE_URL": postgres.new_database(), "SEARCH_PROVIDER_PRIORITY": "bundled"}
    here = build_app(loaded(**shared, DATA_DIR=str(tmp_path / "here")))
    there = build_app(loaded(**shared, DATA_DIR=str(tmp_path / "there")))
    with shared_and_closed(there), closing(here):
        assert not shared_app().settings.llm.model
        here.saved_settings.change(OPENAI)
        until(lambda: shared_app().settings.llm.model == "openai:a")
        assert KEY in there.settings.secrets()
        assert not list(tmp_path.rglob("page.json"))
