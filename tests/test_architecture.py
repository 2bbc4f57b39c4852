"""Who may import whom. Reads the source, so that a lazy import inside a function counts too where it matters."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.base import ROOT

FILES = [path for folder in ("core", "pages") for path in (ROOT / folder).rglob("*.py")] + [
    ROOT / "Home.py",
    ROOT / "asgi.py",
]


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""


def importers(package: str) -> set[str]:
    return {
        str(path.relative_to(ROOT))
        for path in FILES
        if any(name == package or name.startswith(f"{package}.") for name in imports(path))
    }


def within(files: set[str], *allowed: str) -> bool:
    return all(file.startswith(allowed) for file in files)


def test_streamlit_stays_in_the_page() -> None:
    assert within(importers("streamlit"), "Home.py", "asgi.py", "pages/", "core/ui/")


def test_langchain_stays_in_models_and_agent() -> None:
    for package in ("langchain", "langchain_core", "langchain_classic", "langchain_community", "langchain_openai"):
        assert within(importers(package), "core/llm/", "core/agent/", "core/ui/chat/steps.py")


def test_the_community_package_is_imported_in_one_module() -> None:
    assert importers("langchain_community") == {"core/ui/chat/steps.py"}


def test_requests_stay_in_one_file() -> None:
    assert importers("requests") == {"core/base/http.py"}


def test_search_knows_neither_chat_nor_page() -> None:
    for path in (ROOT / "core" / "search").rglob("*.py"):
        assert not {"core.chat.service", "core.app", "core.run.run", "core.llm"} & set(imports(path)), path


def test_pages_hold_no_logic_of_their_own() -> None:
    for path in (ROOT / "pages").glob("*.py"):
        defined = [node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ClassDef)]
        assert not defined, path


def test_only_settings_read_the_environment() -> None:
    readers = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"}:
                readers.add(str(path.relative_to(ROOT)))
    assert readers <= {"core/base/settings.py"}


@pytest.mark.parametrize("module", ["core.app", "core.__main__"])
def test_langchain_is_not_imported_before_it_is_needed(module: str) -> None:
    code = f"import sys, {module}; print(sorted(name for name in sys.modules if name.startswith('langchain')))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
