"""settings.yaml and the manual's table are written from the settings, and `make check` sees every difference."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from core.app import extra_sections
from core.base.settings import load_settings, variable_name
from scripts.describe_settings import DOCUMENTS, main
from support.base import NOWHERE, ROOT, VARIABLES


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files as they are."""
    for document in DOCUMENTS:
        (tmp_path / document.path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / document.path, tmp_path / document.path)
    return tmp_path


def test_the_files_say_what_the_settings_say() -> None:
    assert main(["--check"]) == 0


@pytest.mark.parametrize(
    ("path", "said", "instead"),
    [
        ("settings.yaml", "timeout: 5 ", "timeout: 6 "),
        ("settings.yaml", "  # api_key: ", "  api_key: "),
        ("docs/manual/59-settings-table.md", "| 1 到 60 秒 |", "| 1 到 61 秒 |"),
    ],
)
def test_a_difference_is_named_and_put_right(
    path: str, said: str, instead: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (folder / path).read_text("utf-8")
    changed = before.replace(said, instead)
    assert changed != before
    (folder / path).write_text(changed, "utf-8")
    assert main(["--check"], folder) == 1
    assert f"{path} does not say" in capsys.readouterr().err
    assert (folder / path).read_text("utf-8") == changed, "a check changes nothing"
    assert main([], folder) == 0
    assert (folder / path).read_text("utf-8") == before


def test_values_of_ones_own_are_not_written_over(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "settings.yaml"
    path.write_text(path.read_text("utf-8").replace("  # timeout: 5 ", "  timeout: 8 "), "utf-8")
    before = path.read_text("utf-8")
    assert main([], folder) == 1
    assert "would be lost" in capsys.readouterr().err
    assert path.read_text("utf-8") == before


def test_the_head_of_a_file_is_written_by_people(folder: Path) -> None:
    for document in DOCUMENTS:
        path = folder / document.path
        path.write_text(path.read_text("utf-8").replace("问源", "我们的问源", 1), "utf-8")
    assert main(["--check"], folder) == 0


def test_without_its_comment_signs_the_file_says_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    lines = (ROOT / "settings.yaml").read_text("utf-8").splitlines()
    path.write_text(
        "\n".join(line.replace("# ", "", 1) if line.startswith("  # ") else line for line in lines), "utf-8"
    )
    loaded, defaults = (load_settings(file, {}, sections=extra_sections()) for file in (path, NOWHERE))
    assert loaded.problems == ()
    assert loaded.values == defaults.values
    told = yaml.safe_load(path.read_text("utf-8"))
    assert {variable_name(section, key) for section, keys in told.items() for key in keys} == VARIABLES
