"""The command `token`: tokens for other programs, on a server without a browser.

Tokens that are made here act for the local operator, whose collections are those of the command `docs`.
"""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import TYPE_CHECKING, Any

from core.base.visitors import COMMAND_LINE
from core.commands.output import OK, Output, add_json, print_note
from core.commands.parser import add_command, whole_number
from core.serve import DEFAULT_SCOPES, Scope, scope_labels, token_facts

if TYPE_CHECKING:
    from core.app import App
    from core.store import Token

MAX_DAYS, MAX_PER_MINUTE = 3_650, 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    tokens = parser.add_subparsers(required=True, metavar="操作")
    created = add_command(
        tokens,
        "create",
        "建一个令牌，打印它；只打印这一次",
        "建一个令牌，给其他程序调用接口用，打印它；只打印这一次。它查的资料是命令行 docs 的资料集。",
    )
    created.add_argument("name", metavar="NAME", help="名称，比如给哪个程序用")
    created.add_argument(
        "--scopes",
        metavar="SCOPES",
        type=_scopes,
        default=DEFAULT_SCOPES,
        help=f"可以做什么，逗号分隔：{'；'.join(f'{scope.value} {scope.label}' for scope in Scope)}。"
        f"默认 {','.join(scope.value for scope in Scope if scope in DEFAULT_SCOPES)}",
    )
    created.add_argument(
        "--days", metavar="N", type=whole_number(1, MAX_DAYS), default=None, help="多少天后过期；不写就不会过期"
    )
    created.add_argument(
        "--per-minute",
        metavar="N",
        type=whole_number(1, MAX_PER_MINUTE),
        default=None,
        help="每分钟最多请求多少次；不写就是 API_REQUESTS_PER_MINUTE",
    )
    created.set_defaults(command=_create)
    listed = add_command(tokens, "list", "列出所有令牌，页面上建的也在内；令牌本身不会再打印")
    listed.set_defaults(command=_list)
    revoked = add_command(tokens, "revoke", "撤回令牌，不能恢复；几秒之内所有服务器都不再接受它")
    revoked.add_argument("id", metavar="ID", help="token list 列出的编号")
    revoked.set_defaults(command=_revoke)
    for command in (created, listed, revoked):
        add_json(command)


def _scopes(text: str) -> frozenset[Scope]:
    known = {scope.value: scope for scope in Scope}
    names = [name.strip() for name in text.split(",") if name.strip()]
    if unknown := [name for name in names if name not in known]:
        raise argparse.ArgumentTypeError(f"没有 {unknown[0]!r}，可以写 {'、'.join(known)}")
    return frozenset(known[name] for name in names)


def _create(app: App, options: argparse.Namespace, output: Output) -> int:
    token, secret = app.tokens.create(
        COMMAND_LINE.name, options.name, options.scopes, days=options.days, per_minute=options.per_minute
    )
    output.print_document(_token_json(token) | {"token": secret}, lambda: secret)
    print_note(f"令牌「{token.name}」可以{scope_labels(token.scopes)}。它只显示这一次，请现在就存好。")
    if not app.settings.api.enabled:
        print_note("接口还没有打开：请设置 API_ENABLED=true，然后重启。")
    return OK


def _list(app: App, options: argparse.Namespace, output: Output) -> int:
    tokens = app.tokens.list_tokens(None)
    nothing = "还没有令牌。用 token create 名称 建一个。"
    document = {"tokens": [_token_json(token) for token in tokens]}
    output.print_document(document, lambda: "\n".join(map(_token_lines, tokens)) or nothing)
    return OK


def _token_json(token: Token) -> dict[str, Any]:
    return {
        "id": token.id,
        "name": token.name,
        "scopes": sorted(token.scopes),
        "created": token.created,
        "expires": token.expires,
        "perMinute": token.per_minute,
        "lastUsed": token.last_used,
    }


def _token_lines(token: Token) -> str:
    facts = " · ".join(token_facts(token, datetime.now().astimezone()))
    return f"{token.id} {token.name} · {facts}\n   {scope_labels(token.scopes)}"


def _revoke(app: App, options: argparse.Namespace, output: Output) -> int:
    app.tokens.withdraw(options.id, None)
    output.print_document({"id": options.id, "revoked": True}, lambda: "已撤回。")
    return OK
