"""The command `conversation`: the conversations that `ask --save` has kept."""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import TYPE_CHECKING, Any

from core.commands.kept_conversation import NAME, conversation_not_found
from core.commands.output import OK, Output, add_json
from core.commands.parser import add_command
from core.store import ConversationNotFound

if TYPE_CHECKING:
    from core.app import App
    from core.store import Conversation

LATEST = 1_000
REMOVED = "已删除，从此打不开。半小时后，程序再次保存或删除对话时，从数据库里清除。"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    operations = parser.add_subparsers(required=True, metavar="操作")
    listed = add_command(operations, "list", f"列出保存过的对话，最近的在前，最多 {LATEST} 个")
    listed.set_defaults(command=_list)
    removed = add_command(operations, "remove", "删除一个保存过的对话，不能恢复")
    removed.add_argument("id", metavar="ID", help="conversation list 列出的编号")
    removed.set_defaults(command=_remove)
    for command in (listed, removed):
        add_json(command)


def _list(app: App, options: argparse.Namespace, output: Output) -> int:
    kept = app.store.list_conversations(NAME, limit=LATEST)
    nothing = "还没有保存过的对话。用 ask 问题 --save 保存一个。"
    document = {"conversations": [_to_json(one) for one in kept]}
    output.print_document(document, lambda: "\n".join(map(_line, kept)) or nothing)
    return OK


def _to_json(conversation: Conversation) -> dict[str, Any]:
    names = ("id", "title", "mode", "created", "updated")
    return {name: getattr(conversation, name) for name in names}


def _line(conversation: Conversation) -> str:
    return f"{conversation.id} {datetime.fromtimestamp(conversation.updated):%Y-%m-%d %H:%M} {conversation.title}"


def _remove(app: App, options: argparse.Namespace, output: Output) -> int:
    try:
        app.store.delete(options.id, visitor_id=NAME)
    except ConversationNotFound:
        raise conversation_not_found(options.id) from None
    output.print_document({"id": options.id, "removed": True}, lambda: REMOVED)
    return OK
