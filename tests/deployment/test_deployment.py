"""What a deployment is made of, as far as it can be tried without Docker and without a booted systemd.

The image is not built and compose.yaml is not run: the first is linted and its files are put together and started by
hand, the second is checked against the published schema. nginx runs for real in tests/browser/test_several_servers.py.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from streamlit import config

from core.search.engines.searxng import SearxngSettings
from support.app_server import free_port, wait_for
from support.base import ROOT, VARIABLES

# What others read: compose itself and its images, uvicorn, Python, the shell.
OF_OTHERS = {
    "LISTEN", "POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD", "SEARXNG_SECRET", "FORWARDED_ALLOW_IPS", "HOME",
    "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PIP_NO_CACHE_DIR", "PIP_DISABLE_PIP_VERSION_CHECK",
}  # fmt: skip


def tool(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip(f"NOT CHECKED: {name} is not installed here")
    return found


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile, instruction by instruction: hadolint has said that it is one."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [(word, rest.strip()) for word, _, rest in (line.strip().partition(" ") for line in lines) if word]


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    return found


# ── Names ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def named_in_the_files() -> Iterator[tuple[str, str]]:
    for name, rest in instructions():
        if name == "ENV":
            yield from (("Dockerfile", word.partition("=")[0]) for word in shlex.split(rest))
    text = (ROOT / "compose.yaml").read_text("utf-8")
    yield from (("compose.yaml", name) for name in re.findall(r"\$\{(\w+)", text))
    for service in compose()["services"].values():
        yield from (("compose.yaml", name) for name in service.get("environment", {}))
    for name in re.findall(r"^#? ?([A-Z_]+)=", (ROOT / ".env.example").read_text("utf-8"), re.MULTILINE):
        yield ".env.example", name
    for line in re.findall(r"^Environment=(.*)", (ROOT / "deploy/wenyuan@.service").read_text("utf-8"), re.MULTILINE):
        yield from (("wenyuan@.service", word.partition("=")[0]) for word in line.split())
    for document in ("docs/deployment.md", ".streamlit/secrets.toml.example"):
        for name in re.findall(r"\b[A-Z]+_[A-Z_]+\b", (ROOT / document).read_text("utf-8")):
            yield document, name


def test_every_name_of_a_setting_is_one() -> None:
    streamlit = {option.env_var for option in config._config_options_template.values()}
    unknown = {(file, name) for file, name in named_in_the_files() if name not in VARIABLES | OF_OTHERS | streamlit}
    assert unknown == set()


# ── Docker ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_dockerfile_is_one() -> None:
    done = subprocess.run([tool("hadolint"), "Dockerfile"], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0)


def test_the_image_is_pinned_and_its_user_is_nobody() -> None:
    (base,) = [rest for name, rest in instructions() if name == "FROM"]
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", base)
    names = [name for name, _ in instructions()]
    user = dict(instructions())["USER"]
    assert int(user) > 0
    assert max(n for n, name in enumerate(names) if name in {"RUN", "COPY"}) < names.index("USER") < names.index("CMD")


def test_the_files_of_the_image_are_the_whole_app(tmp_path: Path) -> None:
    """Puts together what COPY names, and nothing else; starts CMD in it; runs HEALTHCHECK against it."""
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    image = tmp_path / "image"
    copied = set()
    for *sources, target in (shlex.split(rest) for name, rest in instructions() if name == "COPY"):
        for source in sources:
            copied.add(source)
            place = image / target / (Path(source).name if target.endswith("/") else "")
            place.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, place, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / source, place)
    assert copied == let_in, "what COPY names is what .dockerignore lets in"

    port = str(free_port())
    words = dict(instructions())
    command = json.loads(words["CMD"].replace("8501", port).replace("0.0.0.0", "127.0.0.1"))
    check = json.loads(words["HEALTHCHECK"].partition("CMD")[2].replace("8501", port))
    assert check[0] == "python"
    with (tmp_path / "log").open("wb") as log:
        environ = {**os.environ, "SEARCH_PROVIDER_PRIORITY": "bundled"}
        server = subprocess.Popen([tool(command[0]), *command[1:]], cwd=image, env=environ, stdout=log, stderr=log)
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health", server, tmp_path / "log")
        subprocess.run([sys.executable, *check[1:]], check=True, timeout=40)
    finally:
        server.terminate()
        server.wait(40)
    assert subprocess.run([sys.executable, *check[1:]], capture_output=True).returncode != 0, "nobody is there any more"
    asked = [sys.executable, "-m", "core", "ask", "怎么打开联网搜索？", "--search"]
    answer = subprocess.run(asked, cwd=image, env=environ, capture_output=True, text=True, check=True)
    assert "参考文献" in answer.stdout


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("compose-spec", "compose.yaml"),
        *(("github-workflows", str(file.relative_to(ROOT))) for file in (ROOT / ".github/workflows").iterdir()),
    ],
    ids=lambda value: Path(value).stem,
)
def test_a_file_fits_its_published_schema(schema: str, file: str) -> None:
    check = [tool("check-jsonschema"), "--builtin-schema", f"vendor.{schema}", file]
    done = subprocess.run(check, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_compose_shows_the_world_the_app_and_nothing_else() -> None:
    services = compose()["services"]
    assert set(services) == {"app", "searxng", "cache", "db"}
    assert [name for name, service in services.items() if "ports" in service] == ["app"]
    assert services["app"]["depends_on"]["db"] == {"condition": "service_healthy"}
    for name, service in services.items():
        assert service["restart"] == "unless-stopped"
        if name != "app":  # its check is in the image
            assert service["healthcheck"]["test"]
            assert re.search(r":[\w.-]*\d+\.\d+[\w.-]*$", service["image"]), "an exact version"
    named = {mount.partition(":")[0] for service in services.values() for mount in service.get("volumes", ())}
    assert {name for name in named if not name.startswith(".")} == set(compose()["volumes"])
    assert all((ROOT / name).exists() for name in named if name.startswith("."))


def test_the_searxng_of_compose_answers_json_in_chinese() -> None:
    settings = yaml.safe_load((ROOT / "deploy/searxng/settings.yml").read_text("utf-8"))
    assert "json" in settings["search"]["formats"]
    enabled = {engine["name"] for engine in settings["engines"] if engine["disabled"] is False}
    assert set(SearxngSettings().engines_zh) <= enabled


# ── systemd ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_prometheus_reads_every_process_that_nginx_knows() -> None:
    behind = re.findall(r"^ *server ([\d.:]+) max_fails", (ROOT / "deploy" / "nginx.conf").read_text(), re.MULTILINE)
    (job,) = yaml.safe_load((ROOT / "deploy" / "prometheus.yml").read_text())["scrape_configs"]
    assert [target for config in job["static_configs"] for target in config["targets"]] == behind != []


def test_the_unit_is_one_and_is_hardened(tmp_path: Path) -> None:
    analyze = tool("systemd-analyze")
    unit = tmp_path / "wenyuan@8501.service"
    # The program has to exist where the unit says; here it is where this Python is.
    text = (ROOT / "deploy/wenyuan@.service").read_text("utf-8")
    unit.write_text(text.replace("/opt/wenyuan/.venv/bin", str(Path(sys.executable).parent)), "utf-8")
    done = subprocess.run([analyze, "verify", unit], capture_output=True, text=True)
    assert (done.stderr, done.returncode) == ("", 0)
    rated = [
        analyze,
        "security",
        "--offline=true",
        "--threshold=30",
        str(unit),
    ]  # 100 is a service without any hardening
    assert subprocess.run(rated, capture_output=True).returncode == 0


def test_the_unit_starts_what_make_run_starts() -> None:
    (start,) = re.findall(
        r"^ExecStart=\S+/streamlit (.*)$", (ROOT / "deploy/wenyuan@.service").read_text(), re.MULTILINE
    )
    (make,) = re.findall(r"streamlit (run asgi.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert start == make.replace("$(HOST)", "127.0.0.1").replace("$(PORT)", "%i")
