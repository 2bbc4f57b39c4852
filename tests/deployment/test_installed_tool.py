"""The package as a reader installs it: `uv tool install` puts the wheel and what it depends on into an empty environment.

The package index of this machine is asked for what it depends on, as `make test` asks it. What is run then has no network.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core import __version__
from core.base.extras import EXTRAS
from support.app_server import free_port, wait_for
from support.base import ROOT
from support.wire import Wire

pytestmark = pytest.mark.servers

NO_NETWORK = {"HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}
LOGIN = """
[auth]
redirect_uri = "http://localhost:8501/oauth2callback"
cookie_secret = "not-a-secret"
client_id = "wenyuan"
client_secret = "not-a-secret"
server_metadata_url = "http://127.0.0.1:9/.well-known/openid-configuration"
"""


@dataclass(frozen=True)
class Tool:
    """The command `wenyuan` of somebody whose home it was installed in, called in another folder."""

    home: Path
    uv: str

    @property
    def environ(self) -> dict[str, str]:
        return {
            "PATH": f"{self.home / 'bin'}{os.pathsep}{Path(self.uv).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "SEARCH_PROVIDER_PRIORITY": "bundled",
            "LEGAL_BUILT_IN": "0",
        }

    @property
    def site_packages(self) -> Path:
        (found,) = self.home.glob("tools/wenyuan/lib/python3*/site-packages")
        return found

    def run(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["wenyuan", *arguments],
            cwd=self.home / "elsewhere",
            env={**self.environ, **NO_NETWORK, **environ},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    def diagnose(self, **environ: str) -> dict[str, dict[str, Any]]:
        done = self.run("doctor", "--json", **environ)
        return {check["name"]: check for check in json.loads(done.stdout)["checks"]}

    @contextmanager
    def server(self) -> Iterator[str]:
        port, log = str(free_port()), self.home / "log"
        with log.open("wb") as output:
            command = ["wenyuan", "run", "--port", port]
            environ = {**self.environ, **NO_NETWORK}
            folder = self.home / "elsewhere"
            server = subprocess.Popen(command, cwd=folder, env=environ, stdout=output, stderr=output)
        try:
            wait_for(f"http://127.0.0.1:{port}/healthz", server, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(40)


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Tool:
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uv is None:
        pytest.skip("NOT CHECKED: uv is not installed here")
    home = tmp_path_factory.mktemp("home")
    (home / "elsewhere").mkdir()
    tool = Tool(home, uv)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(home / "wheel")]
    subprocess.run(build, check=True, cwd=ROOT)
    (wheel,) = (home / "wheel").iterdir()
    done = install(tool, f"uv tool install --python {sys.executable} {wheel}")
    if done.returncode:
        pytest.skip(f"NOT CHECKED: what the package depends on could not be had\n{done.stderr[-1000:]}")
    return tool


def install(tool: Tool, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of uv with the versions that are pinned, and the packages that this machine has downloaded before."""
    places = {"UV_TOOL_DIR": str(tool.home / "tools"), "UV_TOOL_BIN_DIR": str(tool.home / "bin")}
    environ = {**os.environ, **tool.environ, **places, "HOME": os.environ["HOME"]}
    environ["UV_CONSTRAINT"] = str(ROOT / "constraints.txt")
    return subprocess.run(
        ["bash", "-c", command], cwd=tool.home / "elsewhere", env=environ, capture_output=True, text=True
    )


def test_it_answers_from_its_own_manual(tool: Tool) -> None:
    assert tool.run("--version").stdout == f"wenyuan {__version__}\n"
    told = tool.run("ask", "怎么打开联网搜索？", "--search")
    assert (told.returncode, "参考文献" in told.stdout) == (0, True), told.stderr
    assert list((tool.home / "elsewhere").iterdir()) == []


def test_the_law_can_be_downloaded_there(tool: Tool) -> None:
    """With pip, which environments that uv makes do not have by themselves."""
    assert (tool.site_packages / "pip" / "__main__.py").is_file()


def test_the_page_opens_with_its_theme_and_answers(tool: Tool) -> None:
    """And nothing is written beside the program."""
    before = files_of(tool)
    (tool.home / ".wenyuan" / ".streamlit").mkdir(parents=True)
    (tool.home / ".wenyuan" / ".streamlit" / "secrets.toml").write_text(LOGIN, "utf-8")
    with tool.server() as url:
        with urllib.request.urlopen(url) as page:
            assert (page.status, "问源" in page.read().decode()) == (200, True)
        with Wire(url, mark="m" * 32) as tab:
            assert tab.theme.light.primary_color == "#2f6f6a"
            assert "登录" in tab.news, "what secrets.toml says in the user's folder"
            tab.use("checkbox", "联网", bool_value=True)
            tab.settle()
            tab.ask("怎么打开联网搜索？")
            tab.wait_for("参考文献")
    assert files_of(tool) == before


def files_of(tool: Tool) -> set[Path]:
    """The files of the environment, but for the translations that Python makes of its modules when it likes."""
    return {path for path in tool.site_packages.rglob("*") if "__pycache__" not in path.parts}


def test_what_an_extra_would_bring_is_said_and_the_command_that_is_printed_installs_it(tool: Tool) -> None:
    wanted = {
        "CACHE_URL": "redis://127.0.0.1:1/0",
        "DATABASE_URL": "postgresql+psycopg://me@127.0.0.1:1/none",
        "SEARCH_PROVIDER_PRIORITY": "google,bundled",
        "LEGAL_EMBEDDING": "no/such-model",
    }
    checks = tool.diagnose(**wanted)
    missing = {name: checks[f"附加组件 {name}"] for name in EXTRAS}
    assert all(f"wenyuan[{name}] @ file://" in check["cure"] for name, check in missing.items())
    used = {
        "google": checks["引擎 google"],
        "postgres": checks["对话数据库"],
        "redis": checks["配置 CACHE_URL"],
        "embedding": checks["语义模型"],
    }
    for name, check in used.items():
        assert EXTRAS[name].missing.rstrip("。") in check["message"]
        assert not check["ok"] or check["off"]

    (command,) = re.findall(r"请运行 (uv tool install --force '.*?')，", missing["redis"]["cure"])
    done = install(tool, command)
    assert done.returncode == 0, done.stderr
    assert "附加组件 redis" not in tool.diagnose(**wanted)
    assert "配置 CACHE_URL" not in tool.diagnose(**wanted)
