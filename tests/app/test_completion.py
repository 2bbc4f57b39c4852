"""The completion of commands, options and values, in the shells themselves."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from core.command_line import COMMANDS, build_parser
from core.commands.completion import completion_script
from support.command import Core, core

__all__ = ["core"]

BASH = """
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_wenyuan
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = """
autoload -Uz compinit && compinit -D -u
_files() { print -- FILES }
_describe() { print -l -- ${(P)2%%:*} }
source $1; shift
words=("$@") CURRENT=$# PREFIX=${@[-1]}
_wenyuan
"""
SHELLS = [
    pytest.param(shell, marks=pytest.mark.skipif(shutil.which(shell) is None, reason=f"no {shell} here"))
    for shell in ("bash", "zsh")
]


def complete(shell: str, folder: Path, *words: str) -> set[str]:
    """Return what the shell offers for the last word. zsh leaves it to its own part to drop what does not begin like it."""
    script = folder / "completion"
    script.write_text(completion_script(build_parser(), shell), "utf-8")
    options = ["--norc", "--noprofile", "-c", BASH] if shell == "bash" else ["-f", "-c", ZSH]
    done = subprocess.run(
        [shell, *options, shell, str(script), *words],
        capture_output=True,
        text=True,
        timeout=30,
        cwd=folder,
        check=False,
    )
    assert done.stderr == ""
    return {word for word in done.stdout.splitlines() if word.startswith(words[-1])}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("program", ["wenyuan", "./wenyuan"])
def test_commands_options_and_values_are_completed(shell: str, program: str, tmp_path: Path) -> None:
    assert complete(shell, tmp_path, program, "") >= COMMANDS.keys()
    assert complete(shell, tmp_path, program, "se") == {"search", "setup-link"}
    assert complete(shell, tmp_path, program, "law", "") == {"import", "search", "verify"}
    assert complete(shell, tmp_path, program, "search", "--t") == {"--type"}
    assert complete(shell, tmp_path, program, "search", "--type", "") == {"general", "news", "regulation", "case"}
    assert complete(shell, tmp_path, program, "search", "law", "--type", "n") == {"news"}, "law is a word to search for"
    assert complete(shell, tmp_path, program, "case", "search", "x", "--type", "民") == {"民事"}
    assert complete(shell, tmp_path, program, "law", "verify", "--f") == {"--fail-on"}
    assert complete(shell, tmp_path, program, "completion", "") == {"bash", "zsh"}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("words", [("law", "verify", ""), ("ask", "问", "--file", ""), ("backup", "")])
def test_elsewhere_there_are_files(shell: str, words: tuple[str, ...], tmp_path: Path) -> None:
    offered = complete(shell, tmp_path, "wenyuan", *words)
    assert offered == ({"FILES"} if shell == "zsh" else {""} if words[-1] == "" else set()), (
        "bash completes files itself"
    )


@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_prints_the_script_and_the_shell_uses_it(core: Core, shell: str, tmp_path: Path) -> None:
    done = core("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == completion_script(build_parser(), shell)
    (tmp_path / "script").write_text(done.stdout, "utf-8")
    asks = "complete -p wenyuan" if shell == "bash" else "print $_comps[wenyuan]"
    begin = "" if shell == "bash" else "autoload -Uz compinit && compinit -D -u; "
    options = ["--norc"] if shell == "bash" else ["-f"]
    command = [shell, *options, "-c", f'{begin}eval "$(cat script)"; {asks}']
    known = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=True)
    assert "_wenyuan" in known.stdout
    assert known.stderr == ""
