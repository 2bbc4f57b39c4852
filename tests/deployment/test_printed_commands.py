"""What README and manual print is run as printed, from a clone: each page in a folder of its own, its commands in their order.

`wenyuan` is what it is for a reader: the clone's own script. What needs another machine, the internet or minutes is named in
ELSEWHERE, with what shows it; a command of another kind fails until somebody decides.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from core.app import extra_sections
from core.base.settings import load_settings
from support.base import ROOT
from support.office_files import docx_file
from support.pdf_files import pdf_file
from support.printed import PAGES, all_commands, blocks, commands, program

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(not (ROOT / ".venv" / "run.stamp").exists(), reason="no .venv in the clone: run make test"),
]

ELSEWHERE = {
    "make run": "tests/deployment/test_deployment.py",
    "make test": ".ci/run",
    "make screenshots": "scripts/screenshots.py",
    "wenyuan run": "tests/deployment/test_installed_tool.py",
    "pip install": "tests/deployment/test_installed_tool.py",
    "pipx install": "tests/deployment/test_installed_tool.py",
    "uv tool install": "tests/deployment/test_installed_tool.py",
    "uvx": "tests/deployment/test_installed_tool.py",
    "docker": "tests/deployment/test_deployment.py",
    "cp .env.example": "tests/deployment/test_deployment.py",
    "python -m bench": "bench/__main__.py",
    "python -c": "docs/manual/69-login.md",
    "wenyuan mcp": "tests/deployment/test_printed_clients.py",
    "claude": "tests/deployment/test_printed_clients.py",
    "curl": "tests/deployment/test_printed_clients.py",
    "ollama": "docs/manual/54-model-ollama.md",
}
FAILING = {
    'search "离婚冷静期" --engine searxng': 1,  # there is none here, and a sentence says so
    "law import chinese-law-corpus": 1,  # comes from the internet
    "token revoke 编号": 1,  # no token has this id
    "conversation remove 编号": 1,  # nor a conversation
}
"""Exit status of commands that cannot succeed here."""
ONLY_NAMED = ("check", "law search", "case search", "completion")
"""Commands that a text names without their arguments."""

ANSWER = "灯塔在日落前点灯[1]。"
LAW = {
    "name": "灯塔条例",
    "kind": "行政法规",
    "issuer": "国务院",
    "published": "2020-01-01",
    "effective": "2020-03-01",
    "articles": [{"number": "第一条", "path": [], "text": "灯塔应当在日落前点灯。"}],
}
CASE = {"caseName": "灯塔案", "caseNumber": "（2023）京01民终1234号", "caseType": "民事", "text": "竞业限制违约金。"}
DRAFT = "根据《灯塔条例》第一条，灯塔应当在日落前点灯。"


def write_files(folder: Path) -> None:
    """Write what the pages speak of: answers, sources, drafts, folders."""
    texts = {
        **dict.fromkeys(("answer.md", "回答.md", "回答"), ANSWER),
        **{
            f"{name}/1.md": "灯塔应当在日落前点灯。"
            for name in ("来源", "来源文件夹", "FOLDER", "文件夹", "目录", "文件")
        },
        "公司文件/旧制度/1.md": "试用期三个月。",
        "queries.txt": "怎么打开联网搜索\n缓存多久\n",
        "pairs.jsonl": json.dumps({"statement": "灯塔点灯。", "source": "灯塔点灯。"}, ensure_ascii=False),
        "路径或网址/laws.jsonl": json.dumps(LAW, ensure_ascii=False),
        "路径/cases.jsonl": json.dumps(CASE, ensure_ascii=False),
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    for name in ("draft.docx", "文稿.docx", "合同.docx"):
        (folder / name).write_bytes(docx_file(DRAFT))
    for name in ("contract.pdf", "租赁合同.pdf"):
        (folder / name).write_bytes(pdf_file([DRAFT, "押金在退租后七日内退还。"]))


def environ(folder: Path) -> dict[str, str]:
    """The environment of somebody in this folder, from whom nothing reaches the internet."""
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    kept = {name: os.environ[name] for name in ("LANG",) if name in os.environ}
    return {
        **kept,
        **nowhere,
        "PATH": f"{ROOT}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "SEARCH_PROVIDER_PRIORITY": "bundled",
        "LEGAL_BUILT_IN": "0",
        "READING_TIMEOUT": "1",
    }


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    data = "data"
    if " restore " in command:  # on another machine
        data = "new"
        shutil.rmtree(folder / data, ignore_errors=True)
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**environ(folder), "DATA_DIR": str(folder / data)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which somebody has worked before: with files, collections and a law library."""
    folder = tmp_path_factory.mktemp("filled")
    write_files(folder)
    before = [f"docs import 文件夹 文件 公司文件 --collection {name}" for name in ("名称", "合同", "制度", "公司")]
    for command in (*before, "law import 路径或网址", "case import 路径"):
        done = run(f"wenyuan {command}", folder)
        assert done.returncode == 0, done.stderr
    shutil.copytree(folder / "data", folder / "数据文件夹")
    return folder


def is_elsewhere(command: str) -> bool:
    return any(
        shown.startswith(beginning) for shown in (command, command.removeprefix("./")) for beginning in ELSEWHERE
    )


def is_run_here(command: str) -> bool:
    return program(command) in {"wenyuan", "./wenyuan"} and not is_elsewhere(command)


def wenyuan_commands(page: Path) -> list[str]:
    """The commands of a page as they are run: the clone's script is on the path, and … stands for anything."""
    printed = [command.replace("./wenyuan", "wenyuan") for command in commands(page) if is_run_here(command)]
    return [
        f"{command} --help" if command.endswith(ONLY_NAMED) else command.replace("…", "怎么打开联网搜索？")
        for command in printed
    ]


@pytest.mark.parametrize("page", [page for page in PAGES if wenyuan_commands(page)], ids=lambda page: page.stem)
def test_the_commands_of_a_page_run_as_printed(page: Path, filled: Path, tmp_path: Path) -> None:
    folder = tmp_path / "home"
    shutil.copytree(filled, folder)
    wrong = {}
    for command in wenyuan_commands(page):
        done = run(command, folder)
        expected = next((status for end, status in FAILING.items() if command.endswith(end)), 0)
        if done.returncode != expected or "Traceback" in done.stderr:
            wrong[command] = (done.returncode, done.stderr)
    assert wrong == {}


def test_every_printed_command_is_run_or_shown_elsewhere() -> None:
    known = [name for _, command in all_commands() if (name := unknown_program(command)) is not None]
    assert known == []
    assert [place for place in ELSEWHERE.values() if not (ROOT / place).exists()] == []


def unknown_program(command: str) -> str | None:
    """Return the command if nobody runs it: it is none of ours, no setting, and not shown elsewhere."""
    is_known = is_run_here(command) or is_elsewhere(command) or settings_in(command)
    return None if is_known else command


def settings_in(line: str) -> Mapping[str, str]:
    """Return the variable that a line sets, by its name."""
    words = shlex.split(line, comments=True)
    words = words[1:] if words[:1] == ["export"] else words
    found = re.fullmatch(r"([A-Z][A-Z0-9_]*)=(.*)", words[0], re.DOTALL) if len(words) == 1 else None
    return {found[1]: found[2]} if found else {}


OTHERS = {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "STREAMLIT_SERVER_COOKIE_SECRET", "FORWARDED_ALLOW_IPS"}
"""Variables of the programs below us."""
SAMPLES = {"服务地址": "https://model.example"}
"""Words that stand for an address of one's own. A key is never printed, only words for it."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_setting_that_a_page_sets_exists_and_is_valid(page: Path, tmp_path: Path) -> None:
    lines = [line for block in blocks(page) if block.is_shell for line in block.lines]
    values = {
        name: SAMPLES.get(value, "sk-0123456789" if name.endswith("_API_KEY") else value)
        for line in lines
        for name, value in settings_in(line).items()
        if name not in OTHERS
    }
    loaded = load_settings(tmp_path / "none.yaml", values, sections=extra_sections())
    assert [str(problem) for problem in loaded.problems] == []
    assert [name for name in values if name not in loaded.origins] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_yaml_of_a_page_can_be_read_and_ours_is_valid(page: Path, tmp_path: Path) -> None:
    for block in blocks(page):
        if block.language != "yaml":
            continue
        document = yaml.safe_load(block.text)
        if "formats" in str(document) or "limiter" in str(document):  # SearXNG's own
            continue
        (tmp_path / "settings.yaml").write_text(block.text, "utf-8")
        loaded = load_settings(tmp_path / "settings.yaml", {}, sections=extra_sections())
        assert [str(problem) for problem in loaded.problems] == []
        assert "settings.yaml" in loaded.origins.values()
