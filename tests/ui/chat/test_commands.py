from __future__ import annotations

import pytest

from core.ui.chat.commands import HELP, help_text, parse_command
from support.pages import ask, open_page, values


@pytest.mark.parametrize("typed", HELP)
def test_every_documented_command_is_understood(typed: str) -> None:
    assert parse_command(typed) == typed
    assert typed in help_text()
    page = ask(open_page(), typed)
    assert not page.exception
    assert "这个命令" not in values(page.info)


@pytest.mark.parametrize("typed", ["  /SEARCH   On ", "／ｓｅａｒｃｈ ｏｎ", "/search\u3000on"])
def test_case_blanks_and_full_width_do_not_matter(typed: str) -> None:
    assert parse_command(typed) == "/search on"


@pytest.mark.parametrize("typed", ["/serach on", "/search", "/search maybe", "/quit"])
def test_an_unknown_command_is_recognised_as_one(typed: str) -> None:
    assert parse_command(typed) == typed
    assert f"没有「{typed}」这个命令" in values(ask(open_page(), typed).info)


@pytest.mark.parametrize(
    "text", ["怎么用 /search on", "/etc/hosts 是什么", "/help 怎么用", "1/2", "/", "// 注释", "", "/搜索"]
)
def test_a_question_with_a_slash_is_a_question(text: str) -> None:
    assert parse_command(text) == ""
