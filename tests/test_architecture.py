"""Who may import whom. Every import statement counts, also one inside a function or for the type checker only."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest

from support.base import ROOT

FLOORS = (
    ("core.base",),
    ("core.comparison",),
    ("core.search",),
    ("core.reading",),
    ("core.llm", "core.legal", "core.mcp_client"),
    ("core.answer",),
    ("core.checks",),
    ("core.store",),
    ("core.documents",),
    ("core.run",),
    ("core.chat", "core.agent"),
    ("core.metrics",),
    ("core.app", "core.backup", "core.doctor"),
    ("core.serve",),
    ("core.commands",),
    ("core.ui", "core.command_line"),
    ("core.__main__", "pages", "Home", "asgi"),
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
def nodes(path: Path) -> list[ast.AST]:
    """Every node of a module, which is read and parsed once."""
    return list(ast.walk(ast.parse(path.read_text("utf-8"))))


@cache
def imports(path: Path) -> list[str]:
    """Full names: `from core.search import types` is `core.search.types`, `from core.search.types import Source` too."""
    found = []
    for node in nodes(path):
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


ROOMS = {
    "core.legal": (
        {"article_numbers", "entities", "errors", "page_addresses"},
        {"text"},
        {"layouts"},
        {"library"},
        {"contracts"},
        {"imports"},
        {
            "article_sources",
            "case_check",
            "draft",
            "draft_sample",
            "legal_export",
            "legal_services",
            "statute_checks",
            "verify",
        },
    ),
    "core.ui": ({""}, {"settings"}, {"dashboard"}, {"chat"}, {"legal"}, {"documents"}),
}
"""The same inside two packages: a room imports from itself and from those before it. "": all modules that no other room names."""


def room_of(name: str, package: str) -> int:
    """Return the position of a module's room in its package."""
    part = name.removeprefix(f"{package}.").partition(".")[0]
    rooms = ROOMS[package]
    return next((number for number, room in enumerate(rooms) if part in room), 0 if "" in rooms[0] else len(rooms))


def inner_violations(files: Iterable[Path], root: Path = ROOT) -> list[str]:
    found = []
    for path in files:
        here = ".".join(path.relative_to(root).with_suffix("").parts)
        for package in ROOMS:
            if is_in(here, package) and not here.endswith("__init__"):
                inside = [name for name in imports(path) if is_in(name, package)]
                found += [
                    f"{here} imports {name}" for name in inside if room_of(name, package) > room_of(here, package)
                ]
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


def test_imports_go_down_only_inside_law_and_page_too() -> None:
    assert inner_violations(FILES) == []


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("core/legal/text/planted.py", "from core.legal.library.index import LegalIndex"),
        ("core/legal/layouts/planted.py", "def later():\n    from core.legal.imports import build"),
        ("core/ui/chat/planted.py", "from core.ui.legal import law"),
        ("core/ui/planted.py", "from core.ui.chat.answer import draw_answer"),
    ],
)
def test_a_planted_violation_inside_a_package_is_found(tmp_path: Path, file: str, line: str) -> None:
    planted = tmp_path / file
    planted.parent.mkdir(parents=True)
    planted.write_text(f"{line}\n", "utf-8")
    assert len(inner_violations([planted], tmp_path)) == 1


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
        assert within(importers(package), "core/llm/", "core/agent/")


def test_packages_that_nobody_develops_any_more_are_imported_in_one_module() -> None:
    assert importers("langchain_community") == importers("langchain_classic") == {"core/agent/classic.py"}


def test_the_agent_runs_without_streamlit() -> None:
    """Its callback handler inherits from LangChain's for Streamlit, which imports that only where it draws."""
    code = "import sys; sys.modules['streamlit'] = None; import core.agent.runner"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_requests_stay_in_one_package() -> None:
    assert within(importers("requests"), "core/base/http/")


def test_every_upload_has_been_asked_for() -> None:
    """A field that is drawn in another way gets no file past the door."""
    callers = {
        str(path.relative_to(ROOT))
        for path in FILES
        for node in nodes(path)
        if isinstance(node, ast.Attribute)
        and node.attr in {"file_uploader", "camera_input", "audio_input", "chat_input"}
    }
    assert callers == {"core/ui/uploads.py"}


SENTENCE = re.compile(r"[\u4e00-\u9fff].*[。：！？]$")
"""What the program says to a reader, at its end."""
COMPARING = {"startswith", "endswith", "replace", "removeprefix", "removesuffix", "partition", "rpartition", "split"}


def has_sentence(node: ast.AST, named: Collection[str]) -> bool:
    return any(
        (isinstance(inner, ast.Constant) and isinstance(inner.value, str) and SENTENCE.search(inner.value))
        or (isinstance(inner, ast.Name) and inner.id in named)
        for inner in ast.walk(node)
    )


def named_sentences(tree: ast.Module, others: Mapping[str, Collection[str]]) -> set[str]:
    """The names that stand for a sentence in a module; `others`: those of the modules that it may import from."""
    made = [node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)]
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {
        target.id for node in made for target in node.targets if isinstance(target, ast.Name) and has_sentence(node, ())
    } | {name.name for node in imported for name in node.names if name.name in others.get(str(node.module), ())}


def steered_by_sentences(trees: Mapping[str, ast.Module]) -> list[str]:
    """Places that compare a text with a sentence of the program's own, by the module's name and the line."""
    own = {module: named_sentences(tree, {}) for module, tree in trees.items()}
    found = []
    for module, tree in trees.items():
        named = named_sentences(tree, own)
        for node in ast.walk(tree):
            compared: list[ast.expr] = []
            if isinstance(node, ast.Compare):
                compared = [node.left, *node.comparators]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in COMPARING:
                compared = node.args[:1]
            found += [f"{module}:{one.lineno}" for one in compared if has_sentence(one, named)]
    return found


def test_no_sentence_steers() -> None:
    """Whoever rewords what a reader is told changes nothing else: a decision is made by a field or a kind."""
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in FILES}
    assert steered_by_sentences({name: ast.parse(path.read_text("utf-8")) for name, path in names.items()}) == []


@pytest.mark.parametrize(
    "line", ['note.startswith("没有这一条：")', "text.replace(SAID, x)", "reason == SAID", 'if "没有。" in text: ...']
)
def test_a_planted_sentence_is_found(line: str) -> None:
    said, steered = ast.parse('SAID = "没有找到。"'), ast.parse(f"from said import SAID\n{line}")
    assert steered_by_sentences({"said": said, "planted": steered}) == ["planted:2"]


def references(name: str, files: Iterable[Path] = FILES, root: Path = ROOT) -> Counter[str]:
    """How often each file uses a function of this name, imports and definitions aside."""
    return Counter(
        str(path.relative_to(root))
        for path in files
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if name == getattr(node, "id", None) or name == getattr(node, "attr", None)
    )


def test_a_run_of_a_page_binds_the_app_once_and_hands_it_down() -> None:
    assert references("shared_app") == {"core/ui/session.py": 2, "asgi.py": 2, "core/serve/door.py": 1}
    callers = {str(path.relative_to(ROOT)) for path in FILES if "session.app()" in path.read_text("utf-8")}
    leaves = {"core/ui/visitor_preferences.py", "core/ui/chat/answer.py"}
    assert callers == {
        "pages/chat.py",
        "pages/dashboard.py",
        "pages/documents.py",
        "pages/legal.py",
        "pages/settings.py",
        *leaves,
    }


@pytest.mark.parametrize("line", ["shared_app().settings", "core.app.shared_app()", "run_in_threadpool(shared_app)"])
def test_a_planted_use_of_the_shared_app_is_found(tmp_path: Path, line: str) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(f"from core.app import shared_app\n{line}\n", "utf-8")
    assert references("shared_app", [planted], tmp_path) == {"planted.py": 1}


def test_no_service_is_a_copy_of_another_with_other_privates() -> None:
    assert [path for path in FILES if {"copy", "copy.copy"} & set(imports(path))] == []
    assert references("__dict__") == {}


def test_pages_hold_no_logic_of_their_own() -> None:
    for path in (ROOT / "pages").glob("*.py"):
        defined = [node.name for node in nodes(path) if isinstance(node, ast.ClassDef)]
        assert not defined, path


def test_only_settings_read_the_environment() -> None:
    readers = set()
    for path in FILES:
        for node in nodes(path):
            if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"}:
                readers.add(str(path.relative_to(ROOT)))
    assert within(readers, "core/base/settings")


def test_the_program_itself_never_imports_what_takes_pages_apart() -> None:
    """It is heavy, and it belongs into the workers."""
    code = (
        "import sys, core.command_line, core.app, core.reading; "
        "print([name for name in ('trafilatura', 'pypdfium2', 'lxml', 'dateparser') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("module", ["core.app", "core.command_line"])
def test_langchain_is_not_imported_before_it_is_needed(module: str) -> None:
    code = f"import sys, {module}; print(sorted(name for name in sys.modules if name.startswith('langchain')))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_search_reading_law_and_checks_run_from_a_plain_prompt() -> None:
    code = (
        "import sys, core.search.service, core.search.registry, core.reading.worker, core.legal.legal_services, core.checks; "
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


def test_what_the_tests_share_is_listed() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", (ROOT / "tests" / "README.md").read_text("utf-8"), re.MULTILINE)
    assert listed == sorted(path.stem for path in (ROOT / "tests" / "support").glob("[!_]*.py"))


def test_a_word_means_one_thing_in_what_the_tests_share() -> None:
    defined = [
        node.name
        for path in (ROOT / "tests" / "support").glob("*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) or (isinstance(node, ast.FunctionDef) and node.name == "results")
    ]
    assert sorted(name for name in set(defined) if defined.count(name) > 1 and not name.startswith("_")) == []
