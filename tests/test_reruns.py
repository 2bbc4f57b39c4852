"""Who gets a second try, and what becomes of it: a small suite in a pytest of its own, and the gate with a `make` of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.base import ROOT

SUITE = """
import pathlib
import pytest

def fails_once(name):
    seen = pathlib.Path(__file__).with_name(name)
    try:
        assert seen.exists()
    finally:
        seen.touch()

def test_plain():
    fails_once("plain")

@pytest.mark.servers
def test_servers():
    fails_once("servers")

@pytest.mark.browser
def test_browser():
    fails_once("browser")

@pytest.mark.servers
def test_fine():
    pass
"""


@pytest.mark.parametrize("processes", ["0", "2"])
def test_only_servers_and_browser_are_tried_again_and_each_time_is_written_down(tmp_path: Path, processes: str) -> None:
    suite, reruns = tmp_path / "test_planted.py", tmp_path / "reruns.txt"
    suite.write_text(SUITE, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    servers\n    browser\n", "utf-8")
    plugins = ["-p", "support.reruns", "-p", "no:cacheprovider", "-p", "no:langsmith_plugin"]
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}  # it is no worker
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "-n", processes, "-rfR", str(suite)],
        cwd=tmp_path,
        env={**outside, "PYTHONPATH": str(ROOT / "tests"), "RERUNS_FILE": str(reruns)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert re.search(r"1 failed, 3 passed, 2 rerun", done.stdout), done.stdout + done.stderr
    assert "FAILED test_planted.py::test_plain" in done.stdout
    written = reruns.read_text("utf-8").splitlines()
    named, reasons = zip(*(line.split(": ", 1) for line in sorted(written)), strict=True)
    assert named == ("test_planted.py::test_browser", "test_planted.py::test_servers")
    assert all("AssertionError" in reason for reason in reasons), reasons


def test_without_second_tries_the_tests_run_all_the_same(tmp_path: Path) -> None:
    suite = tmp_path / "test_planted.py"
    suite.write_text("import pytest\n\n@pytest.mark.servers\ndef test_fine():\n    pass\n", "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    servers\n", "utf-8")
    plugins = ["-p", "support.reruns", "-p", "no:rerunfailures", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "--strict-markers", str(suite)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("unseen", "browser", "fails", "status"),
    [(0, 0, "", 0), (2, 1, "", 0), (2, 2, "", 1), (1, 0, "test-unseen", 1)],
)
def test_the_gate_prints_them_and_fails_after_three(
    tmp_path: Path, unseen: int, browser: int, fails: str, status: int
) -> None:
    """`make` is replaced by a script that writes down as many second tries as it is told to."""
    make = tmp_path / "make"
    make.write_text(
        "#!/bin/sh\n"
        f"case $1 in test-unseen) n={unseen};; test-browser) n={browser};; *) n=0;; esac\n"
        'while [ $n -gt 0 ]; do echo "$1::test_$n" >> "$RERUNS_FILE"; n=$((n-1)); done\n'
        f'[ "$1" != "{fails}" ]\n',
        "utf-8",
    )
    make.chmod(0o755)
    done = subprocess.run(
        [str(ROOT / ".ci" / "run")],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert done.stdout.count("::test_") == unseen + browser
    assert f"Second tries: {unseen + browser}" in done.stdout
