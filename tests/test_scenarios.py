"""docs/scenarios.md tells the truth: every test it names exists, and every scenario of a finished part is in it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from support.base import ROOT

ROW = re.compile(r"^\| (?P<requirement>[^|]+) \| (?P<scenario>[^|]+) \| (?P<tests>[^|]+) \|$")
SCENARIO = re.compile(r"^#### (?:Scenario|场景)[:：]\s*(?P<name>.+)$", re.MULTILINE)
SECTION = re.compile(r"^## Seed (\d{3})", re.MULTILINE)

UNFINISHED: dict[str, set[str]] = {}
"""Scenarios whose issue is still open, by seed; `*` is all of them."""


def listed() -> dict[str, dict[str, list[str]]]:
    """Seed → scenario → the tests that show it."""
    text = (ROOT / "docs" / "scenarios.md").read_text("utf-8")
    seeds: dict[str, dict[str, list[str]]] = {}
    for seed, body in zip(*[iter(SECTION.split(text)[1:])] * 2, strict=True):
        rows = (ROW.match(line) for line in body.splitlines())
        seeds[seed] = {row["scenario"].strip(): re.findall(r"`([^`]+)`", row["tests"]) for row in rows if row}
    return seeds


def functions(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)}


def test_every_test_that_is_named_exists() -> None:
    named = [test for seed in listed().values() for tests in seed.values() for test in tests if test != "test"]
    assert len(named) > 30
    for test in named:
        path, _, function = test.partition("::")
        assert function in functions(ROOT / path), test


@pytest.mark.shared
@pytest.mark.parametrize("seed", ["000", "001", "002", "003", "004"])
def test_every_scenario_of_a_finished_part_has_a_test(shared: Path, seed: str) -> None:
    (document,) = (shared / "seeds").glob(f"{seed}_*.txt")
    wanted = {match["name"].strip() for match in SCENARIO.finditer(document.read_text("utf-8"))}
    open_ones = UNFINISHED.get(seed, set())
    if "*" in open_ones:
        pytest.skip(f"seed {seed} belongs to issues that are still open")
    assert wanted - open_ones <= set(listed()[seed])
