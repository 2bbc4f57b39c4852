"""Setup links that are created and redeemed at the same moment: each works once, and nobody is told so in vain."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from core.base.settings import SavedSettingsFile, SavedSettingsStore, SetupLinks, is_claimed, is_owner
from core.store import Database, SavedSettingsTable
from core.store.backends import SqliteFile

Returned = TypeVar("Returned")
ROUNDS = 5
MARKS = [letter * 32 for letter in "abcdefgh"]


@pytest.fixture(params=["file", "table"])
def another(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], SavedSettingsStore]:
    """One more store of the same installation, as another process has it."""
    if request.param == "file":
        return lambda: SavedSettingsFile(tmp_path)
    return lambda: SavedSettingsTable(Database(SqliteFile(tmp_path / "x.sqlite3")), secret="a secret")


def at_once(calls: Sequence[Callable[[], Returned]]) -> list[Returned]:
    """What the calls return, made in a thread each, at the same moment."""
    ready = threading.Barrier(len(calls))

    def wait_and_call(call: Callable[[], Returned]) -> Returned:
        ready.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(wait_and_call, calls))


def test_one_link_for_eight_browsers_makes_one_owner(another: Callable[[], SavedSettingsStore]) -> None:
    stores = [another() for _ in MARKS]
    for _ in range(ROUNDS):
        token = SetupLinks(stores[0]).create()
        told = at_once([partial(SetupLinks(stores[n]).redeem, token, mark) for n, mark in enumerate(MARKS)])
        saved = stores[0].read().values
        assert told == [is_owner(saved, mark) for mark in MARKS]
        assert sum(told) == 1
        stores[0].change(dict.fromkeys(saved, ""))


def test_eight_links_for_eight_browsers_make_eight_owners(another: Callable[[], SavedSettingsStore]) -> None:
    stores = [another() for _ in MARKS]
    for _ in range(ROUNDS):
        tokens = at_once([SetupLinks(store).create for store in stores])
        told = at_once([partial(SetupLinks(stores[n]).redeem, tokens[n], mark) for n, mark in enumerate(MARKS)])
        saved = stores[0].read().values
        assert told == [is_owner(saved, mark) for mark in MARKS] == [True] * len(MARKS)
        stores[0].change(dict.fromkeys(saved, ""))


def test_a_wrong_token_changes_nothing(another: Callable[[], SavedSettingsStore]) -> None:
    """Strangers may send as many as they like."""
    store = another()
    SetupLinks(store).create()
    before = store.read()
    assert not SetupLinks(store).redeem("wrong", MARKS[0])
    assert store.read().stamp == before.stamp
    assert not is_claimed(store.read().values)


def test_a_change_can_depend_on_what_is_saved(another: Callable[[], SavedSettingsStore]) -> None:
    store = another()
    store.change({"NUMBER": "0"})

    def add_one(saved: Mapping[str, str]) -> dict[str, str]:
        return {"NUMBER": str(int(saved["NUMBER"]) + 1)}

    changes = at_once([partial(another().change, add_one) for _ in MARKS])
    assert sorted(change["NUMBER"] for change in changes) == list("12345678")
    assert store.read().values == {"NUMBER": "8"}
