"""The example in docs/adding-an-engine.md is a complete engine: it is added as the page says, and is then everywhere."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import core.app
import core.search.engines
from core.app import App, build_app
from core.base.settings.describe import list_settings
from core.doctor import diagnose, engine_states
from core.search.errors import EngineParseError
from core.search.registry import ENGINES
from core.search.types import SearchQuery, SearchResponse, SearchType, TimeRange
from core.ui.chat import search_ledger
from core.ui.session import ROUTED
from scripts.describe_settings import table_lines, yaml_lines
from support.base import ROOT, loaded
from support.engines import ScriptedFetch, answer, scripted, wire
from support.pages import html
from support.shared import shared_and_closed

PAGE = (ROOT / "docs" / "adding-an-engine.md").read_text("utf-8")
MODULE, LINE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
NAME = "core.search.engines.brave"
FOUND = answer({"web": {"results": [{"title": "标题", "url": "https://a.example/", "description": "摘要"}]}})
BROKEN = answer({"web": {"results": {}}})


@pytest.fixture(autouse=True)
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Its file among the engines, its line in the registry, and nothing else."""
    (tmp_path / "brave.py").write_text(MODULE, "utf-8")
    monkeypatch.setattr(core.search.engines, "__path__", [*core.search.engines.__path__, str(tmp_path)])
    for name, place in eval("{" + LINE + "}").items():
        monkeypatch.setitem(ENGINES, name, place)
    yield
    sys.modules.pop(NAME, None)
    vars(core.search.engines).pop("brave", None)


def engine(fetch: ScriptedFetch) -> Any:
    return import_module(NAME).BraveEngine("k", fetch=fetch)


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    """With its key, and a server that answers."""
    app = build_app(loaded(BRAVE_API_KEY="brave-key", SEARCH_PROVIDER_PRIORITY="brave,bundled"))
    monkeypatch.setattr(app.chain.engines[0], "_fetch", scripted(FOUND))
    with shared_and_closed(app):
        yield app


def test_the_engine_searches() -> None:
    fetch = scripted(FOUND)
    (result,) = engine(fetch).search(SearchQuery("问题", SearchType.NEWS, sites=("a.example",)), 10)
    assert (result.title, result.snippet, result.engine) == ("标题", "摘要", "brave")
    sent = wire(fetch.asked[0])
    assert sent.params == {"q": "问题 site:a.example", "count": "10", "freshness": "pm"}
    assert sent.headers["X-Subscription-Token"] == "k"
    with pytest.raises(EngineParseError):
        engine(scripted(BROKEN)).search("x", 10)


def test_it_is_in_the_chain_by_default_or_says_what_it_lacks() -> None:
    with_key, without = build_app(loaded(BRAVE_API_KEY="k")), build_app(loaded())
    with_key.close()
    without.close()
    assert [engine.name for engine in with_key.chain.engines][-1] == "brave"
    (left_out,) = [entry for entry in without.chain.unavailable if entry.name == "brave"]
    assert left_out.state == "缺少密钥"
    assert "BRAVE_API_KEY" in left_out.cure_for_administrators
    assert "api-dashboard.search.brave.com" in left_out.cure_for_administrators


def test_its_settings_are_like_all_the_others(app: App) -> None:
    assert "brave-key" in app.settings.secrets()
    (entry,) = [entry for entry in list_settings(app.loaded_settings) if entry.section == "brave"]
    assert (entry.variable, entry.group, entry.purpose) == ("BRAVE_API_KEY", "引擎", "Brave 密钥")
    assert (entry.value, entry.origin) == ("已设置", "environment")
    assert any(line == "\nbrave:" for line in yaml_lines(list_settings(app.loaded_settings)))
    assert any("| `BRAVE_API_KEY` |" in line for line in table_lines(list_settings(app.loaded_settings)))
    assert [problem.key for problem in loaded(BRAVE_API_KEY="bad key").problems] == ["BRAVE_API_KEY"]


@pytest.mark.parametrize(("part", "shown"), [("配置", "BRAVE_API_KEY"), ("引擎", "1 Brave</b> <code>brave</code>")])
def test_it_is_on_the_settings_page(app: App, part: str, shown: str) -> None:
    page = AppTest.from_file(str(ROOT / "pages" / "settings.py"), default_timeout=30)
    page.session_state[ROUTED] = True
    page.session_state["settings_part"] = part
    page.run()
    assert not page.exception
    assert shown in html(page)
    assert "brave-key" not in html(page)


def test_it_has_its_name_and_its_limits_in_the_ledger(app: App) -> None:
    response = app.search.search(SearchQuery("问题", language="en", time_range=TimeRange.DAY))
    told = search_ledger.entry_html(response)
    assert "Brave · 1 条" in told
    assert "Brave不能按语言筛选" in told
    assert "不能按时间筛选" not in told
    assert "没有起作用" not in search_ledger.entry_html(SearchResponse(SearchQuery("问题"), provider="brave"))


def test_the_diagnosis_tries_it(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    (check,) = [check for check in diagnose(app) if check.name == "引擎 brave"]
    assert check.ok
    assert "标题" in check.message
    assert [engine.label for engine in engine_states(app, datetime.now(UTC))] == ["Brave", "内置手册"]
    monkeypatch.setattr(app.chain.engines[0], "_fetch", scripted(BROKEN))
    (check,) = [check for check in diagnose(app) if check.name == "引擎 brave"]
    assert not check.ok, "somebody set it up: that another engine answers is no excuse"


def test_it_is_one_screen() -> None:
    assert len(PAGE.splitlines()) <= 80
    assert MODULE.count("\n") <= 40
