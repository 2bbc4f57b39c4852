"""The example in docs/adding-an-engine.md is a complete engine: it is taken from the page and run."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr

from core.base.settings import Secret, Section
from core.search.errors import EngineMisconfigured, EngineParseError
from core.search.types import SearchQuery, SearchType
from support.base import ROOT
from support.engines import answer, scripted, wire

PAGE = (ROOT / "docs" / "adding-an-engine.md").read_text("utf-8")
MODULE, LINE, SECTION = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def run(code: str, **names: Any) -> dict[str, Any]:
    exec(compile(code, "adding-an-engine.md", "exec", dont_inherit=True), names)
    return names


@pytest.fixture
def engine_class() -> Any:
    return run(MODULE, __name__="core.search.engines.brave")["BraveEngine"]


def test_the_steps_fit_together(engine_class: Any) -> None:
    entry = eval("{" + LINE + "}")
    assert entry == {"brave": f"{engine_class.__module__}:{engine_class.__name__}"}
    assert list(entry) == [engine_class.name]
    section = run(SECTION, Section=Section, Secret=Secret)["BraveSettings"]
    assert section.name == engine_class.name
    without, with_key = SimpleNamespace(brave=section()), SimpleNamespace(brave=section(api_key=SecretStr("k")))
    assert engine_class.from_settings(with_key).api_key == "k"
    with pytest.raises(EngineMisconfigured, match="BRAVE_API_KEY"):
        engine_class.from_settings(without)


def test_the_engine_searches(engine_class: Any) -> None:
    fetch = scripted(
        answer({"web": {"results": [{"title": "标题", "url": "https://a.example/", "description": "摘要"}]}})
    )
    (result,) = engine_class("k", fetch=fetch).search(SearchQuery("问题", SearchType.NEWS, sites=("a.example",)), 10)
    assert (result.title, result.snippet, result.engine) == ("标题", "摘要", "brave")
    sent = wire(fetch.asked[0])
    assert sent.params == {"q": "问题 site:a.example", "count": "10", "freshness": "pm"}
    assert sent.headers["X-Subscription-Token"] == "k"
    with pytest.raises(EngineParseError):
        engine_class("k", fetch=scripted(answer({"web": {"results": {}}}))).search("x", 10)


def test_it_is_one_screen() -> None:
    assert len(PAGE.splitlines()) <= 80
    assert MODULE.count("\n") <= 40
