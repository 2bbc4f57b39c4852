"""Tokens from the command line of a server without a browser."""

from __future__ import annotations

import json

import pytest

from core.app import build_app
from core.base.visitors import COMMAND_LINE
from core.store import digest
from support.base import loaded
from support.command import Core, core

__all__ = ["core"]

DAY = 86_400


def test_a_token_is_printed_once_and_acts_for_the_operator(core: Core) -> None:
    done = core("token", "create", "夜间批处理", "--scopes", "law, search", "--days", "30", "--per-minute", "7")
    assert done.returncode == 0
    secret = done.stdout.removesuffix("\n")
    assert "\n" not in secret
    assert "「夜间批处理」可以搜索网络、阅读网页、查法规和案例、核验法条" in done.stderr
    assert "只显示这一次" in done.stderr
    assert secret not in done.stderr
    app = build_app(loaded(), engines=[])
    token = app.tokens.find(secret)
    app.close()
    assert token
    assert (token.owner, token.name) == (digest(COMMAND_LINE.name), "夜间批处理")
    assert (sorted(token.scopes), token.per_minute) == (["law", "search"], 7)
    assert token.expires == pytest.approx(token.created + 30 * DAY)
    listed = core("token", "list").stdout
    assert f"{token.id} 夜间批处理 · " in listed
    assert "每分钟最多 7 次" in listed
    assert secret not in listed + core("token", "list", "--json").stdout


def test_it_says_what_is_missing_for_the_token_to_work(core: Core) -> None:
    assert "API_ENABLED=true" in core("token", "create", "x").stderr
    assert "API_ENABLED" not in core("token", "create", "x", API_ENABLED="true").stderr


def test_as_json_for_scripts(core: Core) -> None:
    made = json.loads(core("token", "create", "x", "--json").stdout)
    secret = made.pop("token")
    assert secret.startswith("wy-")
    assert made["scopes"] == ["ask", "check", "law", "search"], "nothing of the operator's own by default"
    assert made["expires"] is None
    assert json.loads(core("token", "list", "--json").stdout) == {"tokens": [made]}
    assert json.loads(core("token", "revoke", made["id"], "--json").stdout) == {"id": made["id"], "revoked": True}
    assert json.loads(core("token", "list", "--json").stdout) == {"tokens": []}


def test_tokens_of_readers_are_listed_and_revoked_too(core: Core) -> None:
    app = build_app(loaded(), engines=[])
    token, secret = app.tokens.create("r" * 32, "她的", ["law"])
    app.close()
    assert "她的" in core("token", "list").stdout
    assert core("token", "revoke", token.id).stdout == "已撤回。\n"
    app = build_app(loaded(), engines=[])
    assert app.tokens.find(secret) is None
    app.close()
    again = core("token", "revoke", token.id)
    assert (again.returncode, again.stderr) == (1, "没有这个令牌，可能已经撤回。\n")
    assert core("token", "list").stdout == "还没有令牌。用 token create 名称 建一个。\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["create"], "缺少 NAME"),
        (["create", "x", "--scopes", "law,all"], "没有 'all'，可以写 search、law"),
        (["create", "x", "--days", "0"], "要写 1 到 3650 之间的整数"),
        (["create", "x", "--per-minute", "-1"], "要写 1 到 100000 之间的整数"),
        (["revoke"], "缺少 ID"),
    ],
)
def test_wrong_usage_is_said(core: Core, arguments: list[str], said: str) -> None:
    done = core("token", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_token_without_a_name_or_a_use_is_refused(core: Core) -> None:
    for arguments in (["create", " "], ["create", "x", "--scopes", ","]):
        done = core("token", *arguments)
        assert (done.returncode, done.stdout) == (1, "")
        assert "令牌" in done.stderr
