"""What the page saves: which layer holds, who may read the file, and what becomes of one that cannot be used."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from core.base.settings import LoadedSettings, SavedSettingsFile, SavedValues, SettingsNotSaved, load_settings
from core.search.engines.searxng import SearxngSettings
from core.search.registry import engine_sections
from support.base import NOWHERE, ROOT

KEY = "key-of-the-page-0123456789"


def load(page: dict[str, str], yaml_text: str = "", tmp_path: Path | None = None, **environ: str) -> LoadedSettings:
    path = NOWHERE
    if tmp_path is not None:
        path = tmp_path / "settings.yaml"
        path.write_text(yaml_text, "utf-8")
    return load_settings(path, environ, sections=engine_sections()).with_saved(SavedValues(page))


def test_environment_wins_over_page_wins_over_file(tmp_path: Path) -> None:
    file = "llm: {model: 'openai:file'}\nsearxng: {url: 'http://file', engines_zh: [bing]}\n"
    page = {"LLM_MODEL": "openai:page", "SEARXNG_URL": "http://page"}
    loaded = load(page, file, tmp_path, LLM_MODEL="openai:environment")
    assert loaded.values.llm.model == "openai:environment"
    assert loaded.values.section(SearxngSettings).url == ("http://page",)
    assert loaded.values.section(SearxngSettings).engines_zh == ("bing",)
    assert loaded.origins["LLM_MODEL"] == "environment"
    assert loaded.origins["SEARXNG_URL"] == "page"
    assert loaded.origins["SEARXNG_ENGINES_ZH"] == "settings.yaml"
    assert loaded.locking_variables("llm") == ("LLM_MODEL",)
    assert loaded.locking_variables("searxng") == ()


def test_the_key_of_the_environment_never_goes_to_an_address_of_the_page() -> None:
    loaded = load({"OPENAI_BASE_URL": "http://elsewhere"}, OPENAI_API_KEY="sk-of-the-environment")
    assert loaded.values.openai.base_url is None
    assert loaded.origins["OPENAI_BASE_URL"] == "default"
    assert loaded.locking_variables("openai") == ("OPENAI_API_KEY",)


def test_nor_does_a_key_of_the_file(tmp_path: Path) -> None:
    loaded = load({"OPENAI_BASE_URL": "http://elsewhere"}, "openai: {api_key: sk-of-the-file}", tmp_path)
    assert loaded.values.openai.base_url == "http://elsewhere"
    assert loaded.values.openai.api_key is None


def test_only_what_a_form_may_edit_is_honoured() -> None:
    loaded = load({"DATA_DIR": "/elsewhere", "SETTINGS_EDIT_BY": "login", "PUBLIC_URL": "http://x", "EXA_API_KEY": KEY})
    assert loaded.values == load({"EXA_API_KEY": KEY}).values.model_copy()
    assert len(loaded.problems) == 3
    assert all("不能从页面设置" in problem.reason for problem in loaded.problems)


def test_a_key_of_the_page_is_a_secret_like_any_other() -> None:
    loaded = load({"OPENAI_API_KEY": KEY})
    assert loaded.values.secrets() == [KEY]
    assert KEY not in repr(loaded)
    assert KEY not in repr(SavedValues({"OPENAI_API_KEY": KEY}))


def test_taking_it_back_leaves_what_was_there_before(tmp_path: Path) -> None:
    loaded = load({"LLM_MODEL": "openai:page"}, "llm: {model: 'openai:file'}", tmp_path)
    assert loaded.with_saved(SavedValues()).values.llm.model == "openai:file"


def test_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    saved = SavedSettingsFile(tmp_path / "data")
    assert saved.read() == SavedValues()
    assert saved.stamp() is None
    before = os.umask(0)
    try:
        saved.change({"OPENAI_API_KEY": KEY, "LLM_MODEL": "openai:a"})
    finally:
        os.umask(before)
    path = saved.path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert json.loads(path.read_text("utf-8")) == {
        "version": 1,
        "values": {"LLM_MODEL": "openai:a", "OPENAI_API_KEY": KEY},
    }
    first = saved.stamp()
    saved.change({"OPENAI_API_KEY": "", "LLM_MODEL": "openai:b"})
    assert saved.stamp() != first
    assert saved.read().values == {"LLM_MODEL": "openai:b"}
    assert {entry.name for entry in path.parent.iterdir()} <= {"page.json", "page.lock"}, "nothing is left over"


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"version": 1}', '{"version": 1, "values": {"LLM_MODEL": 5}}', "[" * 100_000, "\xff"],
)
def test_a_damaged_file_is_said_and_set_aside(tmp_path: Path, text: str) -> None:
    saved = SavedSettingsFile(tmp_path)
    saved.change({"LLM_MODEL": "openai:a"})
    saved.path.write_bytes(text.encode("latin-1"))
    found = saved.read()
    assert found.values == {}
    (problem,) = load_settings(NOWHERE, {}, sections=()).with_saved(found).problems
    assert "「设置」页面保存的内容" in str(problem)
    saved.change({"LLM_MODEL": "openai:b"})
    assert saved.read() == SavedValues({"LLM_MODEL": "openai:b"})
    assert saved.path.with_suffix(".damaged").read_bytes() == text.encode("latin-1")


def test_a_newer_file_is_left_alone(tmp_path: Path) -> None:
    saved = SavedSettingsFile(tmp_path)
    saved.change({"LLM_MODEL": "openai:a"})
    newer = '{"version": 2, "values": [], "more": true}'
    saved.path.write_text(newer, "utf-8")
    assert "更新版本" in saved.read().problem
    with pytest.raises(SettingsNotSaved, match="没有改动它"):
        saved.change({"LLM_MODEL": "openai:b"})
    assert saved.path.read_text("utf-8") == newer


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "settings").write_text("in the way", "utf-8")
    with pytest.raises(SettingsNotSaved, match="不可写"):
        SavedSettingsFile(tmp_path).change({"LLM_MODEL": "openai:a"})


def test_processes_that_save_at_once_lose_nothing(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from core.base.settings import SavedSettingsFile; saved = SavedSettingsFile(pathlib.Path(sys.argv[1]))\n"
        "for number in range(20): saved.change({f'{sys.argv[2]}_{number}': 'x'})"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name], cwd=ROOT) for name in ("A", "B")]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    assert len(SavedSettingsFile(tmp_path).read().values) == 40
