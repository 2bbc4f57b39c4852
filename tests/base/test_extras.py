"""What is said where an extra is missing: in doctor, and where somebody would have used it.

An extra is missing here because it is looked for under a name that nothing has. tests/deployment/test_package.py installs
the package without them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.base import embedding, extras
from core.base.embedding import Embedder, EmbeddingError
from core.base.extras import EXTRAS, GOOGLE, OCR, Extra
from core.base.settings import values
from core.doctor import diagnose
from core.reading import FileError
from core.search import build_chain
from core.search.engines import google
from core.store import Database, StoreError, backends
from support.base import ROOT, loaded
from support.fake_engines import FakeEngine, results
from support.scripted_app import scripted_app

Remove = Callable[[Extra, object, str], Extra]


@pytest.fixture
def remove(monkeypatch: pytest.MonkeyPatch) -> Remove:
    """Let an extra be missing for the module that looks for it under this name."""

    def remove(extra: Extra, module: object, name: str) -> Extra:
        missing = replace(extra, modules=(*extra.modules, "no_such_module"))
        monkeypatch.setattr(module, name, missing)
        monkeypatch.setitem(EXTRAS, extra.name, missing)
        return missing

    return remove


def test_the_google_engine_is_unavailable_and_says_why(remove: Remove) -> None:
    missing = remove(GOOGLE, google, "GOOGLE")
    chain = build_chain(loaded(SEARCH_PROVIDER_PRIORITY="google,bundled").values)
    assert [engine.name for engine in chain.engines] == ["bundled"]
    (entry,) = chain.unavailable
    assert (entry.reason, entry.cure) == (missing.missing, missing.cure)
    assert "Playwright" in entry.reason


def test_an_address_of_redis_is_refused_with_the_command(remove: Remove) -> None:
    missing = remove(extras.REDIS, values, "REDIS")
    settings = loaded(CACHE_URL="redis://127.0.0.1:6379/0")
    assert not settings.values.cache.url
    (problem,) = settings.problems
    assert problem.key == "CACHE_URL"
    assert missing.missing in problem.reason
    assert missing.command in problem.reason


def test_conversations_are_not_kept_in_another_database_than_the_one_that_was_named(remove: Remove) -> None:
    missing = remove(extras.POSTGRES, backends, "POSTGRES")
    database = Database.from_settings(loaded(DATABASE_URL="postgresql+psycopg://me@127.0.0.1:1/none").values)
    with pytest.raises(StoreError) as raised, database.read():
        pass
    assert (raised.value.message, raised.value.cure) == (missing.missing, missing.cure)


def test_a_model_of_meanings_says_what_it_lacks(remove: Remove, tmp_path: Path) -> None:
    missing = remove(extras.EMBEDDING, embedding, "EMBEDDING")
    with pytest.raises(EmbeddingError) as raised:
        Embedder(str(tmp_path)).embed(["法"])
    assert (raised.value.message, raised.value.cure) == (missing.missing, missing.cure)


def test_a_scan_names_the_command() -> None:
    assert OCR.command in FileError("scanned", name="扫描.pdf").message


def test_doctor_names_each_missing_extra_with_its_command(remove: Remove, tmp_path: Path) -> None:
    missing = remove(extras.OCR, extras, "OCR")
    remove(extras.EMBEDDING, embedding, "EMBEDDING")
    with scripted_app(says=[], engines=[FakeEngine("fake", results(1))], LEGAL_EMBEDDING=str(tmp_path)) as (app, _):
        checks = {check.name: check for check in diagnose(app)}
    said = checks["附加组件 ocr"]
    assert (said.ok, said.off, said.cure) == (True, True, missing.cure)
    assert "附加组件 google" not in checks, "it is here"
    assert not checks["语义模型"].ok, "somebody wants that one"


# ── The command ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_from_a_clone_it_names_the_file_of_the_clone() -> None:
    assert OCR.command.endswith(" -m pip install -r requirements-ocr.txt")
    assert OCR.cure.startswith("请在源代码目录里运行 ")
    assert (ROOT / OCR.requirements).is_file()


@pytest.mark.parametrize(
    ("left_behind", "command"),
    [
        ("tool/pipx_metadata.json", "pipx install --force "),
        ("tool/uv-receipt.toml", "uv tool install --force "),
        ("archive-v0/pyvenv.cfg", "uvx --from "),
        ("venv/pyvenv.cfg", "/srv/venv/bin/python -m pip install "),
    ],
)
def test_installed_it_is_the_command_of_the_installer_with_the_extras_that_are_here(
    left_behind: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = (tmp_path / left_behind).parent
    environment = environment / "Ab3" if environment.name == "archive-v0" else environment
    environment.mkdir(parents=True)
    (environment / Path(left_behind).name).touch()
    monkeypatch.setattr(sys, "prefix", str(environment))
    monkeypatch.setattr(sys, "executable", "/srv/venv/bin/python")
    monkeypatch.setattr(extras, "IS_INSTALLED", True)
    for extra in list(EXTRAS.values()):
        modules = ("json",) if extra.name == "postgres" else ("no_such_module",)
        monkeypatch.setitem(EXTRAS, extra.name, replace(extra, modules=modules))
    said = EXTRAS["ocr"].command
    assert said.startswith(f"{command}'wenyuan[postgres,ocr]'")


@pytest.mark.parametrize(
    ("recorded", "source"),
    [
        (None, ""),
        ('{"url": "file:///srv/wenyuan", "dir_info": {}}', " @ file:///srv/wenyuan"),
        (
            '{"url": "https://example.com/w.git", "vcs_info": {"vcs": "git", "commit_id": "a1b2"}}',
            " @ git+https://example.com/w.git@a1b2",
        ),
    ],
)
def test_the_package_comes_from_where_it_came_from(
    recorded: str | None, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not from a stranger's package of that name."""
    folder = tmp_path / "wenyuan_of_a_test-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: wenyuan-of-a-test\nVersion: 1\n", "utf-8")
    if recorded:
        (folder / "direct_url.json").write_text(recorded, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(extras, "_PACKAGE", "wenyuan-of-a-test")
    assert extras._source() == source
