"""The legal tools of seed 002, each called by the agent. (Its search: test_seed_002_search.)"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from core.agent.legal_tools import CaseSearchTool, RegulationSearchTool
from core.agent.tools import ToolContext
from core.answer.events import ToolFinished, ToolStarted
from support import invented
from support.agents import RunningAgent, agent, answer, final, of

LIGHTHOUSE = "中华人民共和国灯塔法"
CRIMINAL = {
    "caseNumber": "（2023）闽99刑初7号",
    "caseName": "丙某破坏航标案",
    "court": "海角市中级人民法院",
    "date": "2023-05-06",
    "caseType": "刑事",
    "summary": "丙某熄灭灯塔，船舶搁浅。",
    "verdict": "丙某犯破坏交通设施罪。",
    "url": "https://court.example/7",
    "text": "丙某熄灭灯塔，船舶搁浅。本院认为，丙某犯破坏交通设施罪，判处有期徒刑三年。",
}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seed-002")
    cases = invented.jsonl(folder / "cases.jsonl", CRIMINAL)
    invented.library(folder / "data", invented.lawrefbook(folder / "laws"), cases)
    return folder / "data"


@contextmanager
def calling(data_dir: Path, tool: str, given: dict[str, Any]) -> Iterator[RunningAgent]:
    """An agent without any web engine that makes this one call and then answers from its first result."""
    act = f"Thought: 要查\nAction: {tool}\nAction Input: {json.dumps(given, ensure_ascii=False)}"
    with agent([act], final("见[1]。"), engines=[], environ={"DATA_DIR": str(data_dir)}) as world:
        yield world


def found(data_dir: Path, tool: str, **given: Any) -> list[dict[str, Any]]:
    """What the agent's call returns to a program: the artifact's results. The same call is made by the agent itself."""
    with calling(data_dir, tool, given) as world:
        events = world.ask()
        kind = {"regulation_search": RegulationSearchTool, "case_search": CaseSearchTool}[tool]
        built = kind(context=ToolContext(search=world.app.search, legal=world.app.legal))
        message = built.invoke({"type": "tool_call", "id": "1", "name": tool, "args": given})
    assert of(events, ToolStarted)[0].tool == tool
    assert of(events, ToolFinished)[0].ok
    assert answer(events).sources[0].number == 1
    results: list[dict[str, Any]] = message.artifact["results"]
    return results


# ── Regulation Search Tool ───────────────────────────────────────────────────────────────────────────────────────────


def test_search_by_law_name(data_dir: Path) -> None:
    names = [result["lawName"] for result in found(data_dir, "regulation_search", query="灯塔法")]
    assert names[0] == LIGHTHOUSE
    assert "灯塔法实施条例" in names


@pytest.mark.parametrize("given", [{"query": "灯塔法第二条"}, {"law_name": "灯塔法", "article": "第2条"}])
def test_search_by_article_number(data_dir: Path, given: dict[str, str]) -> None:
    first = found(data_dir, "regulation_search", **given)[0]
    assert (first["lawName"], first["articleNumber"]) == (LIGHTHOUSE, "第二条")
    assert first["content"].startswith("灯塔由守塔人看守。")
    assert first["content"].endswith("离岗的守塔人可以申请复核。"), "the whole article"


def test_regulation_result_format(data_dir: Path) -> None:
    first = found(data_dir, "regulation_search", query="浮标法第二条")[0]
    assert {key: first[key] for key in ("lawName", "articleNumber", "content", "effectiveDate")} == {
        "lawName": "中华人民共和国浮标法",
        "articleNumber": "第二条",
        "content": "浮标由船长登记。\n登记满五年的，应当重新登记。",
        "effectiveDate": "2015-07-01",
    }
    assert first["source"]


def test_cross_reference_support(data_dir: Path) -> None:
    with calling(data_dir, "regulation_search", {"query": "灯塔法第五条"}) as world:
        world.ask()
        read = world.prompts[1]
    assert "【提到的《中华人民共和国浮标法》第二条：浮标由船长登记。" in read
    references = found(data_dir, "regulation_search", query="灯塔法第五条")[0]["references"]
    assert [reference["articleNumber"] for reference in references] == ["第二条", "第二条", "第三条", "第四条"]
    assert references[0]["lawName"] == "中华人民共和国浮标法"


# ── Case Search Tool ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_search_by_keyword(data_dir: Path) -> None:
    names = [result["caseName"] for result in found(data_dir, "case_search", query="守塔人熄灯 渔船搁浅")]
    assert names[0] == "甲某诉乙灯塔公司海上侵权纠纷案"
    assert len(names) > 1


@pytest.mark.parametrize(("kind", "name"), [("民事", "甲某诉乙灯塔公司海上侵权纠纷案"), ("刑事", "丙某破坏航标案")])
def test_search_by_case_type(data_dir: Path, kind: str, name: str) -> None:
    results = found(data_dir, "case_search", query="灯塔 搁浅", case_type=kind)
    assert [(result["caseName"], result["caseType"]) for result in results] == [(name, kind)]


def test_case_result_format(data_dir: Path) -> None:
    (result,) = found(data_dir, "case_search", query="搁浅", case_type="刑事")
    assert {key: result[key] for key in CRIMINAL if key != "text"} == {
        key: value for key, value in CRIMINAL.items() if key != "text"
    }


def test_what_a_case_does_not_say_is_null(data_dir: Path) -> None:
    bare = next(r for r in found(data_dir, "case_search", query="浮标 漂走") if r["caseName"].startswith("浮标"))
    assert [bare[key] for key in ("caseNumber", "court", "date", "url")] == [None] * 4


def test_case_details_retrieval(data_dir: Path) -> None:
    with calling(data_dir, "case_search", {"query": "(2023)闽99刑初7号"}) as world:
        world.ask()
        assert f"全文：{CRIMINAL['text']}" in world.prompts[1]
        (result,) = found(data_dir, "case_search", query="（2023）闽99刑初7号")
        (whole,) = world.app.legal.cases(None).find(result["caseNumber"])
    assert whole.text == CRIMINAL["text"]
