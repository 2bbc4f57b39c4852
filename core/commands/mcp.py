"""The command `mcp`: becomes an MCP server for the program that has started it."""

from __future__ import annotations

import argparse
import sys

from core.commands.output import WRONG_USAGE, print_note

DESCRIPTION = (
    "作为 MCP 服务器运行：从标准输入读请求，向标准输出写结果。由 Claude Desktop、Cursor、Cherry Studio 等程序启动，"
    "不用自己运行；在它们的设置里，命令填 wenyuan，参数填 mcp。"
)
WAITING = "MCP 服务器正在等程序的请求，按 Ctrl+C 结束。怎么填进程序的设置，见 wenyuan mcp --help。"
NOT_CONNECTED = "标准输入或标准输出是关闭的，没有程序可以连接。请在 MCP 客户端的设置里填这个命令。"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.set_defaults(without_app=run)


def run(options: argparse.Namespace) -> int:
    """Answer requests until the program that sends them has gone."""
    from core.serve import serve_stdio

    if sys.stdin is None or sys.stdout is None:
        print_note(NOT_CONNECTED)
        return WRONG_USAGE
    if sys.stdin.isatty():
        print_note(WAITING)
    return serve_stdio()
