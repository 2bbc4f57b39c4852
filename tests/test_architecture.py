"""Who may import whom. Every import statement counts, also one inside a function or for the type checker only."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from support.base import ROOT

FLOORS = (
    ("core.base",),
    ("core.search",),
    ("core.reading",),
    ("core.llm", "core.legal", "core.documents"),
    ("core.answer",),
    ("core.checks",),
    ("core.store",),
    ("core.run",),
    ("core.chat", "core.agent"),
    ("core.metrics",),
    ("core.app", "core.doctor"),
    ("core.ui", "core.__main__", "pages", "Home", "asgi"),
)
"""A package imports from itself and from the floors above it in this table; neighbours do not know each other."""

EXCEPTIONS = {
    ("core.app", "core.doctor"): "the diagnosis is built by the App and looks at all of it",
    ("core.doctor", "core.app"): "the diagnosis is built by the App and looks at all of it",
    ("pages", "core.ui"): "a page is a script that draws with core.ui",
    ("Home", "core.ui"): "the router draws the frame",
    ("asgi", "core.ui"): "the door lets in the uploads that a page has asked for",
}

FILES = [path for folder in ("core", "pages") for path in (ROOT / folder).rglob("*.py")] + [
    ROOT / "Home.py",
    ROOT / "asgi.py",
]


@cache
def imports(path: Path) -> list[str]:
    """Full names: `from core.search import types` is `core.search.types`, `from core.search.types import Source` too."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found += [f"{node.module}.{name.name}" for name in node.names]
    return found


def is_in(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def home_of(name: str) -> tuple[int, str] | None:
    """The floor and the package of a module; None for other people's."""
    return next(
        ((floor, package) for floor, packages in enumerate(FLOORS) for package in packages if is_in(name, package)),
        None,
    )


def violations(files: Iterable[Path], root: Path = ROOT) -> list[str]:
    found = []
    for path in files:
        here = home_of(".".join(path.relative_to(root).with_suffix("").parts))
        for name in imports(path):
            there = home_of(name)
            if here is None or there is None or here[1] == there[1] or (here[1], there[1]) in EXCEPTIONS:
                continue
            if there[0] >= here[0]:
                found.append(f"{path.relative_to(root)} imports {name}")
    return found


def importers(package: str) -> set[str]:
    return {str(path.relative_to(ROOT)) for path in FILES if any(is_in(name, package) for name in imports(path))}


def within(files: set[str], *allowed: str) -> bool:
    return all(file.startswith(allowed) for file in files)


def test_every_module_has_a_floor() -> None:
    homeless = [path for path in FILES if home_of(".".join(path.relative_to(ROOT).with_suffix("").parts)) is None]
    assert homeless == [ROOT / "core" / "__init__.py"]


def test_imports_go_down_only() -> None:
    assert violations(FILES) == []


@pytest.mark.parametrize(
    "line",
    [
        "import core.llm.model",
        "from core.llm.model import Model",
        "from core.llm import model",
        "def later():\n    from core.llm.model import Model",
        "if TYPE_CHECKING:\n    from core.llm.model import Model",
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, line: str) -> None:
    planted = tmp_path / "core" / "search" / "planted.py"
    planted.parent.mkdir(parents=True)
    planted.write_text(f"{line}\n", "utf-8")
    assert len(violations([planted], tmp_path)) == 1


def test_neighbours_do_not_know_each_other(tmp_path: Path) -> None:
    planted = tmp_path / "core" / "chat" / "planted.py"
    planted.parent.mkdir(parents=True)
    planted.write_text("from core.agent.runner import AgentRunner\nfrom core.run.run import Run\n", "utf-8")
    assert violations([planted], tmp_path) == ["core/chat/planted.py imports core.agent.runner.AgentRunner"]


def test_streamlit_stays_in_the_page() -> None:
    assert within(importers("streamlit"), "Home.py", "asgi.py", "pages/", "core/ui/")


def test_langchain_stays_in_models_and_agent() -> None:
    for package in ("langchain", "langchain_core", "langchain_classic", "langchain_community", "langchain_openai"):
        assert within(importers(package), "core/llm/", "core/agent/", "core/ui/chat/callback_handler.py")


def test_the_community_package_is_imported_in_one_module() -> None:
    assert importers("langchain_community") == {"core/ui/chat/callback_handler.py"}


def test_the_classic_agents_are_imported_in_one_module() -> None:
    assert importers("langchain_classic") == {"core/agent/classic.py"}


def test_requests_stay_in_one_package() -> None:
    assert within(importers("requests"), "core/base/http/")


def test_every_upload_has_been_asked_for() -> None:
    """A field that is drawn in another way gets no file past the door."""
    callers = {
        str(path.relative_to(ROOT))
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in {"file_uploader", "camera_input", "audio_input", "chat_input"}
    }
    assert callers == {"core/ui/uploads.py"}


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
    assert within(readers, "core/base/settings")


def test_the_program_itself_never_imports_what_takes_pages_apart() -> None:
    """It is heavy, and it belongs into the workers."""
    code = (
        "import sys, core.__main__, core.app, core.reading; "
        "print([name for name in ('trafilatura', 'pypdfium2', 'lxml', 'dateparser') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("module", ["core.app", "core.__main__"])
def test_langchain_is_not_imported_before_it_is_needed(module: str) -> None:
    code = f"import sys, {module}; print(sorted(name for name in sys.modules if name.startswith('langchain')))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_search_reading_law_and_checks_run_from_a_plain_prompt() -> None:
    code = (
        "import sys, core.search.service, core.search.registry, core.reading.worker, core.legal.desk, core.checks; "
        "print([name for name in sys.modules if name.startswith(('langchain', 'streamlit'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_reading_the_settings_imports_no_engine_s_library() -> None:
    """Every engine's module is imported for its section of the settings: what is heavy waits for the first search."""
    code = (
        "import sys; from core.search.registry import engine_sections; engine_sections(); "
        "print([name for name in ('playwright', 'lxml', 'ddgs', 'primp') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
