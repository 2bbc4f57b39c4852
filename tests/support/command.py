"""Runs of the command line in the process of the test."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Protocol

import pytest

from core.command_line import main

EMBEDDED = {"SEARCH_PROVIDER_PRIORITY": "bundled"}


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


class Core(Protocol):
    def __call__(self, *arguments: str, stdin: str = "", **environ: str) -> Done: ...


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Core:
    """Runs a command in this process: a process of its own costs a second each."""

    def run(*arguments: str, stdin: str = "", **environ: str) -> Done:
        with monkeypatch.context() as patch:
            patch.setattr("os.execv", lambda *_: pytest.fail("this process would become a server"))
            for name, value in {**EMBEDDED, **environ}.items():
                patch.setenv(name, value)
            patch.setattr("sys.stdin", io.StringIO(stdin))
            try:
                status = main(list(arguments))
            except SystemExit as leaving:
                status = int(leaving.code or 0)
        return Done(status, *capfd.readouterr())

    return run
