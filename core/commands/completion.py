"""The command `completion`: a script with which bash or zsh completes commands, options and their values; files elsewhere."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from core.commands.output import OK

PROGRAM = "wenyuan"
"""The name for which a shell completes. It fits ./wenyuan too: shells compare what follows the last slash."""

BASH = """\
# 存成 ~/.local/share/bash-completion/completions/{program}，或者在 ~/.bashrc 里加一行：eval "$({program} completion bash)"
_{program}() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command= found= word
    [ "$previous" = "=" ] && previous=${{COMP_WORDS[COMP_CWORD-2]}}
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$command $word" in {paths}) command="$command $word" ;; esac
    done
    case "$command:$previous" in
{values}
        *) case "$command:${{current:0:1}}" in
{words}
        esac ;;
    esac
    COMPREPLY=($(compgen -W "$found" -- "${{current#=}}"))
}}
complete -o bashdefault -o default -F _{program} {program}
"""

ZSH = """\
#compdef {program}
# 存成 $fpath 里一个文件夹的 _{program}，或者在 ~/.zshrc 里 compinit 之后加一行：eval "$({program} completion zsh)"
_{program}() {{
    local command= word
    local -a found
    for word in "${{(@)words[2,CURRENT-1]}}"; do
        case "$command $word" in ({paths}) command="$command $word" ;; esac
    done
    case "$command:${{words[CURRENT-1]}}" in
{values}
        (*) case "$command:${{PREFIX[1]}}" in
{words}
        esac ;;
    esac
    if (( $#found )); then _describe {program} found; else _files; fi
}}
if [ "$funcstack[1]" = "_{program}" ]; then _{program} "$@"; else compdef _{program} {program}; fi
"""


@dataclass
class _Level:
    """What can follow a command, with what it means."""

    path: str
    """The command with a space before each word; empty for the program itself."""
    words: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict[str, str]] = field(default_factory=dict)
    """The values of the options that take one; none for those that take any."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=["bash", "zsh"], help="bash 或 zsh")
    parser.set_defaults(without_app=run)


def run(options: argparse.Namespace) -> int:
    print(completion_script(options.build_parser(), options.shell), end="")
    return OK


def completion_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script for a shell."""
    levels = list(_levels(parser, ""))
    template, write_case = (BASH, _bash_case) if shell == "bash" else (ZSH, _zsh_case)
    values = (
        write_case(f"{level.path}:{option}", choices) for level in levels for option, choices in level.values.items()
    )
    words = (
        write_case(f"{level.path}:{first}", choices)
        for level in levels
        for first, choices in (("-", level.options), ("", level.words))
    )
    paths = "|".join(shlex.quote(level.path) for level in levels[1:])
    return template.format(program=PROGRAM, paths=paths, values="\n".join(values), words="\n".join(words))


def _levels(parser: argparse.ArgumentParser, path: str) -> Iterator[_Level]:
    """Yield what can follow the program, and each of its commands."""
    level = _Level(path)
    yield level
    for action in parser._actions:
        choices = dict.fromkeys(map(str, action.choices or ()), "")
        if isinstance(action, argparse._SubParsersAction):
            level.words |= {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, child in action.choices.items():
                yield from _levels(child, f"{path} {name}")
        elif action.option_strings:
            level.options |= dict.fromkeys(action.option_strings, action.help or "")
            if action.nargs != 0:
                level.values |= dict.fromkeys(action.option_strings, choices)
        else:
            level.words |= choices


def _bash_case(pattern: str, words: Mapping[str, str]) -> str:
    return f"        {_quoted(pattern)}) found={shlex.quote(' '.join(words))} ;;"


def _zsh_case(pattern: str, words: Mapping[str, str]) -> str:
    described = (shlex.quote(f"{word}:{meaning}" if meaning else word) for word, meaning in words.items())
    return f"        ({_quoted(pattern)}) found=({' '.join(described)}) ;;"


def _quoted(pattern: str) -> str:
    """Return a pattern for the shell. Without a character at its end it fits whatever is typed."""
    return shlex.quote(pattern) + "*" * pattern.endswith(":")
