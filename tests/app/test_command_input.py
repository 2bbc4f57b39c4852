"""What a command is given and cannot use is answered with a sentence, and never with a traceback."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.base.errors import InputError
from core.commands.output import decode_input
from core.search.service import SearchService
from support.base import ROOT
from support.command import EMBEDDED, Core, Done, core
from support.reading import kept_workers

__all__ = ["core", "kept_workers"]

RULE = "灯塔法第二条规定：“灯塔由守塔人看守。”"
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Files of many kinds that a command may be given by mistake."""
    folder = tmp_path / "given"
    (folder / "dir").mkdir(parents=True)
    (folder / "gbk.txt").write_bytes(RULE.encode("gbk"))
    (folder / "utf16.txt").write_bytes(RULE.encode("utf-16"))
    (folder / "surrogate.txt").write_bytes(RULE.encode() + b"\xed\xa0\x80\xff\xfe")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "binary.txt").write_bytes(bytes(range(256)) * 20)
    (folder / "binary.pdf").write_bytes(b"%PDF-1.7\n" + bytes(range(256)) * 20)
    (folder / "long.txt").write_text("见《灯塔法》第九十九条" * 50_000, "utf-8")
    return folder


COMMANDS = {
    "law verify {}": ("law", "verify", "{}"),
    "check {}": ("check", "{}", "--sources", "dir"),
    "check --sources {}": ("check", "gbk.txt", "--sources", "{}"),
    "check --pairs {}": ("check", "--pairs", "{}"),
    "law import {}": ("law", "import", "{}"),
    "case import {}": ("case", "import", "{}"),
    "docs import {}": ("docs", "import", "{}", "--collection", "甲"),
    "ask --file {}": ("ask", "你好", "--file", "{}"),
    "restore {}": ("restore", "{}"),
}
FILES = (
    "gbk.txt",
    "utf16.txt",
    "surrogate.txt",
    "empty.txt",
    "binary.txt",
    "binary.pdf",
    "long.txt",
    "dir",
    "no/such",
    "",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_any_file_is_read_or_refused_with_a_sentence(core: Core, files: Path, tmp_path: Path, command: str) -> None:
    for name in FILES:
        given = [
            str(files / part.format(name)) if part in ("{}", "dir", "gbk.txt") else part for part in COMMANDS[command]
        ]
        done = core(*given, DATA_DIR=str(tmp_path / "data"))
        assert done.returncode in {0, 1}, (name, done)
        assert "Traceback" not in done.stderr
        assert CHINESE.search(done.stdout + done.stderr) or (name, done.returncode) == ("empty.txt", 0)
        assert "程序出错" not in done.stderr, name


@pytest.mark.parametrize("command", ["law verify {}", "check {}", "check --pairs {}", "ask --file {}"])
def test_a_missing_file_is_named_with_its_whole_path(core: Core, files: Path, command: str) -> None:
    missing = str(files / "no/such.txt")
    given = [
        part.format(missing) if part == "{}" else str(files / "dir") if part == "dir" else part
        for part in COMMANDS[command]
    ]
    done = core(*given)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"无法读取 {missing}：没有这个文件。" in done.stderr


def test_sources_that_are_neither_a_folder_nor_addresses_are_refused(core: Core, files: Path) -> None:
    answer, folder = str(files / "gbk.txt"), str(files / "dir")
    for places in ((answer,), ("nosuch",), (folder, "https://example.org"), ("https://example.org", folder)):
        done = core("check", answer, "--sources", *places)
        assert done.returncode == 1
        assert "不能作为来源。来源是一个目录，或几个以 http:// 或 https:// 开头的网址。" in done.stderr


# ── Standard input ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("raw", [RULE.encode(), RULE.encode("gbk"), b"\xef\xbb\xbf" + RULE.encode()])
def test_utf8_and_gbk_are_read(raw: bytes) -> None:
    assert decode_input(raw.decode("utf-8", "surrogateescape")) == RULE


@pytest.mark.parametrize("raw", [RULE.encode("utf-16"), b"\xff\xff\xff", b"a\0b"])
def test_what_is_no_text_is_refused_aloud(raw: bytes) -> None:
    with pytest.raises(InputError, match="不是 UTF-8 或 GBK 编码的文字"):
        decode_input(raw.decode("utf-8", "surrogateescape"))


def as_process(
    *arguments: str, stdin: bytes = b"", closed: str = "", **options: str
) -> subprocess.CompletedProcess[str]:
    """Run a command as a process of its own; `closed` are streams, as a shell writes them."""
    command = ["sh", "-c", f'exec "$0" "$@" {closed}', sys.executable, "-m", "core", *arguments]
    environ = {**os.environ, **EMBEDDED, **options}
    done = subprocess.run(command, input=stdin, cwd=ROOT, env=environ, capture_output=True, timeout=60)
    texts = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in texts[1]
    return subprocess.CompletedProcess(command, done.returncode, *texts)


def test_a_line_that_is_no_text_costs_only_itself(tmp_path: Path) -> None:
    lines = "怎么打开联网搜索\n".encode("gbk") + b"\xff\xff\n" + "怎么备份\n".encode()
    done = as_process("search", "-", "--json", stdin=lines, DATA_DIR=str(tmp_path))
    first, second, third = map(json.loads, done.stdout.splitlines())
    assert (first["query"], set(second), third["query"]) == ("怎么打开联网搜索", {"error"}, "怎么备份")
    assert done.returncode == 1


# ── Output ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_closed_stream_is_no_other_one(tmp_path: Path) -> None:
    """Notes do not come where the JSON is read, and no database gets the number of a closed stream."""
    mute = as_process("search", "怎么打开联网搜索", "--json", closed="2>&-", DATA_DIR=str(tmp_path))
    (document,) = map(json.loads, mute.stdout.splitlines())
    assert (document["provider"], mute.returncode) == ("bundled", 0)
    assert as_process("search", "怎么打开联网搜索", closed="<&- >&- 2>&-", DATA_DIR=str(tmp_path)).returncode == 0
    assert as_process("ask", "怎么备份", "--save", closed=">&- 2>&-", DATA_DIR=str(tmp_path)).returncode == 0
    assert as_process("search", "--nosuch", closed="2>&-", DATA_DIR=str(tmp_path)).stdout == ""


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("search", "怎么打开联网搜索", "--json")])
def test_a_full_disk_behind_standard_output_is_told(
    arguments: tuple[str, ...], unbuffered: str, tmp_path: Path
) -> None:
    done = as_process(*arguments, closed=">/dev/full", DATA_DIR=str(tmp_path), PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 1
    assert "写不进输出：磁盘已满。" in done.stderr
    assert "Exception ignored" not in done.stderr


# ── Interruptions and bugs ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def _interruptible() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


IMPORTING = """
import os, signal, sys
from importlib.abc import MetaPathFinder

wanted = sys.argv.pop(1)

class Interrupt(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
from core.__main__ import main
sys.exit(main())
"""
"""A program that is interrupted when it imports a module."""


@pytest.mark.usefixtures("_interruptible")
@pytest.mark.parametrize(
    "module", ["core.command_line", "argparse", "core.commands.search", "pydantic", "requests", "core.app"]
)
def test_control_c_in_any_import_ends_it_quietly(module: str) -> None:
    command = [sys.executable, "-c", IMPORTING, module, "search", "怎么打开联网搜索"]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **EMBEDDED}, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_bug_is_a_sentence_and_its_details_are_there_for_the_asking(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(SearchService, "search", broken)
    told: Done = core("search", "x", "--json")
    assert told.returncode == 1
    assert json.loads(told.stdout)["error"]["kind"] == "internal"
    assert "Traceback" not in told.stderr
    assert "RuntimeError: a bug" in core("search", "x", LOG_LEVEL="DEBUG").stderr
