"""What a release is made of: its notes, its workflow, and the versions of Python that it is tested on."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from core import __version__
from scripts import release_notes
from support.base import ROOT

WORKFLOWS = ROOT / ".github" / "workflows"
CHANGELOG = (
    "## Unreleased\n\n- Later.\n\n## 1.10.0 – 2026-12-01\n\n- **One**\n\n## 1.1.0 – 2026-11-01\n\n- Two\n- Three\n"
)


def workflow(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((WORKFLOWS / name).read_text("utf-8"))
    return found


@pytest.mark.parametrize(
    ("version", "notes"),
    [("1.10.0", "- **One**"), ("1.1.0", "- Two\n- Three"), ("1x10.0", ""), ("1.1", ""), ("Unreleased", "")],
)
def test_the_notes_of_a_version_are_its_section_of_the_changelog(version: str, notes: str) -> None:
    assert release_notes.find_section(CHANGELOG, version) == notes


def test_the_version_of_the_program_has_notes_and_another_tag_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert release_notes.main([f"v{__version__}"]) == 0
    assert "## " not in capsys.readouterr().out
    assert release_notes.main(["v99.0.0"]) == 1
    assert capsys.readouterr().err == f"the tag is v99.0.0, but core/__init__.py says {__version__}\n"


def test_the_tests_run_on_every_python_that_the_package_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [line.rpartition(" ")[2] for line in project["classifiers"] if "Python :: 3." in line]
    assert workflow("ci.yml")["jobs"]["check-and-test"]["strategy"]["matrix"]["python"] == named


@pytest.mark.parametrize("name", [file.name for file in WORKFLOWS.iterdir()])
def test_a_workflow_may_read_only_and_its_actions_have_versions(name: str) -> None:
    assert workflow(name)["permissions"] == {"contents": "read"}
    used = [step["uses"] for job in workflow(name)["jobs"].values() for step in job.get("steps", []) if "uses" in step]
    assert [action for action in used if not re.fullmatch(r"[\w/-]+@v\d+\.\d+\.\d+", action)] == []


def test_a_release_is_tested_first_and_only_its_last_steps_may_write() -> None:
    jobs = workflow("release.yml")["jobs"]
    assert jobs["test"]["uses"] == "./.github/workflows/ci.yml"
    assert (jobs["package"]["needs"], jobs["image"]["needs"]) == ("test", "package")
    may_write = {name: job["permissions"] for name, job in jobs.items() if "permissions" in job}
    assert may_write == {
        "image": {"contents": "read", "packages": "write"},
        "release": {"contents": "write"},
    }


@pytest.mark.servers
def test_make_dist_writes_the_package_and_its_checksums(tmp_path: Path) -> None:
    """In a clone of its own, with the tools of this one."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{ROOT}", str(clone)], check=True)
    shutil.copy(ROOT / "Makefile", clone)
    (clone / ".venv").symlink_to((ROOT / ".venv").resolve())
    subprocess.run(["make", "--assume-old=.venv/dev.stamp", "dist"], cwd=clone, check=True, capture_output=True)
    assert {file.name for file in (clone / "dist").iterdir()} == {
        "SHA256SUMS",
        f"wenyuan-{__version__}-py3-none-any.whl",
        f"wenyuan-{__version__}.tar.gz",
    }
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=clone / "dist", check=True)
