"""The help and the errors of the command line: in Chinese, complete, and as wide as a terminal."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
from collections.abc import Iterator
from unicodedata import east_asian_width

import pytest

from core.base.paths import COMMAND
from core.command_line import build_parser
from core.commands.parser import MESSAGES, wrap
from support.command import Core, core

__all__ = ["core"]

FOR_PROGRAMMERS = re.compile(
    r"conflict|__call__|callable|argument \"-\"|can't open|merge|dest=|invalid option string|mutually exclusive|required'"
    r"|multiple subparser|program's version|default: |heading|^subcommands$|is deprecated|invalid for positionals"
)
"""What argparse says of a parser that is built wrongly, and of what this one does not use."""


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from parsers(child)


ALL = {parser.prog: parser for parser in parsers(build_parser())}


def is_chinese(text: str) -> bool:
    return re.search(r"[\u4e00-\u9fff]", text) is not None


def test_every_command_is_walked() -> None:
    assert {f"{COMMAND} {name}" for name in ("search", "ask", "law verify", "case import", "docs share")} <= ALL.keys()


@pytest.mark.parametrize("name", ALL)
def test_every_argument_has_help_in_chinese(name: str) -> None:
    for action in ALL[name]._actions:
        if isinstance(action, argparse._SubParsersAction):
            described = [choice.help for choice in action._choices_actions]
            assert len(described) == len(action.choices)
        else:
            described = [action.help]
        for text in described:
            assert is_chinese(text or ""), (name, action)


@pytest.mark.parametrize("name", ALL)
def test_help_has_no_sentence_of_argparse_and_fits_a_terminal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = ALL[name].format_help()
    assert text.startswith(f"用法：{name} ")
    assert is_chinese(ALL[name].description or ""), "what the command is for"
    for english in ("usage", "options", "positional", "arguments", "show this", "exit"):
        assert english not in text
    for line in text.splitlines():
        if not line.startswith(("用法", " " * 8)):  # argparse breaks the usage, and nobody a long option
            assert sum(2 if east_asian_width(one) in "WF" else 1 for one in line) <= 80, line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "缺少 命令"),
        (["nosuch"], "命令：不能是 'nosuch'，可以写 'search'"),
        (["search"], "缺少 QUERY"),
        (["search", "x", "y"], "不认识 y"),
        (["search", "x", "--typo"], "不认识 --typo"),
        (["search", "x", "--type"], "--type：后面要写一个值"),
        (["search", "x", "--type", "poems"], "--type：不能是 'poems'，可以写 'general'"),
        (["ask", "x", "--json=3"], "--json：这里不能写 '3'"),
        (["ask", "x", "--file"], "--file：后面至少要写一个值"),
        (["case", "search", "x", "--c", "y"], "--c 不明确，可以是 --cause, --court"),
        (["docs", "search", "x", "--collection", "y", "--limit", "0"], "--limit：要写 1 到 100 之间的整数，不能是 '0'"),
        (["case", "search", "x", "--year", "二"], "--year：要写 1949 到 2100 之间的整数"),
        (["law"], "缺少 操作"),
    ],
)
def test_wrong_usage_is_told_in_chinese(core: Core, arguments: list[str], said: str) -> None:
    done = core(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("用法：")
    last = done.stderr.splitlines()[-1]
    assert last.startswith(COMMAND)
    assert said in last


def test_all_that_argparse_says_to_those_who_type_is_translated() -> None:
    """A newer Python may say more."""
    calls = [node for node in ast.walk(ast.parse(inspect.getsource(argparse))) if isinstance(node, ast.Call)]
    said = {
        str(call.args[0].value)
        for call in calls
        if isinstance(call.func, ast.Name)
        and call.func.id in {"_", "ngettext"}
        and isinstance(call.args[0], ast.Constant)
    }
    assert said - MESSAGES.keys() == {text for text in said if FOR_PROGRAMMERS.search(text)}
    assert all(re.search(r"%\(\w+\)|%[sr]", MESSAGES[text]) for text in said & MESSAGES.keys() if "%" in text)


def test_lines_are_as_wide_as_they_look_and_begin_with_no_comma() -> None:
    assert list(wrap("核验文稿引用的每一条法条，写 --fail-on 时", 12)) == [
        "核验文稿引用",
        "的每一条法条，",
        "写 --fail-on",
        "时",
    ]
    assert list(wrap("一二三四五，六", 10)) == ["一二三四五，", "六"]
    assert list(wrap("", 10)) == []
