"""Names and docstrings that a stranger can guess: each class name means one thing, functions and docstrings say what they do."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from support.base import ROOT

MIDDLE_OF_A_THOUGHT = re.compile(
    r"(it|they|he|she|this|that|these|those|who|whoever|whose|what|whatever|which|where|wherever|when|whenever|why|how|whether|"
    r"of|for|with|without|within|in|into|inside|on|at|by|to|from|after|before|below|above|between|against|among|"
    r"beside|besides|as|and|or|but|than|like|past|through|nobody|nothing|everything|everybody|anybody|anything|else)\b",
    re.IGNORECASE,
)
"""What no docstring of a function begins with: pronouns, question words, prepositions."""
PARTICIPLES = {
    "asked",
    "given",
    "heard",
    "held",
    "judged",
    "kept",
    "left",
    "made",
    "meant",
    "mended",
    "said",
    "seen",
    "taken",
    "told",
}
PREPOSITIONS = {
    "about",
    "above",
    "among",
    "around",
    "at",
    "before",
    "below",
    "beside",
    "besides",
    "near",
    "of",
    "past",
    "under",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def modules(root: Path = ROOT) -> list[Path]:
    return sorted((root / "core").rglob("*.py"))


def functions(path: Path) -> Iterator[Function]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, Function):
            yield node


def classes_defined_twice(paths: Iterable[Path]) -> dict[str, list[str]]:
    """Return public classes that several modules define, with the modules."""
    found = defaultdict(list)
    for path in paths:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(path.as_posix())
    return {name: places for name, places in found.items() if len(places) > 1}


def unclear_docstrings(paths: Iterable[Path]) -> list[str]:
    return [
        f"{path.as_posix()}:{node.lineno} {words.splitlines()[0]}"
        for path in paths
        for node in functions(path)
        if MIDDLE_OF_A_THOUGHT.match(words := ast.get_docstring(node) or "")
    ]


def unclear_functions(paths: Iterable[Path]) -> list[str]:
    return [
        f"{path.as_posix()}:{node.lineno} {node.name}"
        for path in paths
        for node in functions(path)
        if node.name.strip("_") in PARTICIPLES | PREPOSITIONS
    ]


def test_a_class_name_is_defined_once() -> None:
    assert classes_defined_twice(modules()) == {}


def test_docstrings_begin_with_what_the_function_does() -> None:
    assert unclear_docstrings(modules()) == []


def test_no_function_is_called_by_a_bare_participle_or_preposition() -> None:
    assert unclear_functions(modules()) == []


@pytest.mark.parametrize("word", ["Of", "What", "whether", "Without", "Nothing"])
def test_a_planted_docstring_is_found(tmp_path: Path, word: str) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(
        f'def price():\n    """{word} a thing."""\n\n\ndef cost():\n    """Return the cost."""\n', "utf-8"
    )
    assert unclear_docstrings([planted]) == [f"{planted.as_posix()}:1 {word} a thing."]


def test_planted_names_are_found(tmp_path: Path) -> None:
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("class Place: ...\nclass _Own: ...\ndef told(): ...\n", "utf-8")
    other.write_text("class Place: ...\nclass _Own: ...\nclass Line:\n    def _of(self): ...\n", "utf-8")
    assert classes_defined_twice([one, other]) == {"Place": [one.as_posix(), other.as_posix()]}
    assert unclear_functions([one, other]) == [f"{one.as_posix()}:3 told", f"{other.as_posix()}:4 _of"]
