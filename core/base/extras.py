"""The extras of the package: libraries that most installations do without, whether they are here, and how to add them."""

from __future__ import annotations

import importlib.util
import json
import shlex
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from core.base.paths import IS_INSTALLED, PROGRAM_DIR

_PACKAGE = "wenyuan"


@dataclass(frozen=True, slots=True)
class Extra:
    name: str
    """Its name in brackets, as in wenyuan[ocr]; hatch_build.py says what it brings."""
    what: str
    """What is installed with it, and what for."""
    modules: tuple[str, ...]
    requirements: str = "requirements.txt"
    """The file of the source code that has it."""

    @property
    def is_installed(self) -> bool:
        return all(importlib.util.find_spec(module) for module in self.modules)

    @property
    def missing(self) -> str:
        """The sentence that it is missing."""
        return f"没有安装{self.what}。"

    @property
    def cure(self) -> str:
        where = "" if IS_INSTALLED else "在源代码目录里"
        return f"请{where}运行 {self.command}，然后重启问源。"

    @property
    def command(self) -> str:
        """The command that installs it; from a clone in its folder."""
        if not IS_INSTALLED:
            return f"{_python()} -m pip install -r {self.requirements}"
        wanted = ",".join(extra.name for extra in EXTRAS.values() if extra.name == self.name or extra.is_installed)
        package = shlex.quote(f"{_PACKAGE}[{wanted}]{_source()}")
        match _installer():
            case "pipx":
                return f"pipx install --force {package}"
            case "uv tool":
                return f"uv tool install --force {package}"
            case "uvx":
                return f"uvx --from {package} {_PACKAGE}"
        return f"{_python()} -m pip install {package}"


GOOGLE = Extra("google", "控制 Chrome 的 Playwright，Google 引擎要用它", ("playwright",))
POSTGRES = Extra("postgres", "连接 PostgreSQL 的 psycopg", ("psycopg",))
REDIS = Extra("redis", "连接 Redis 的客户端", ("redis",))
OCR = Extra("ocr", "文字识别，扫描件和图片要用它", ("rapidocr", "onnxruntime", "cv2"), "requirements-ocr.txt")
EMBEDDING = Extra(
    "embedding",
    "语义模型的运行库，按意思查找要用它",
    ("onnxruntime", "tokenizers", "huggingface_hub"),
    "requirements-embedding.txt",
)
EXTRAS = {extra.name: extra for extra in (GOOGLE, POSTGRES, REDIS, OCR, EMBEDDING)}


def _installer() -> str:
    """Return which program has made the environment that the package is in."""
    environment = Path(sys.prefix)
    if (environment / "pipx_metadata.json").is_file():
        return "pipx"
    if (environment / "uv-receipt.toml").is_file():
        return "uv tool"
    return "uvx" if environment.parent.name.startswith("archive-v") else "pip"


def _source() -> str:
    """Return where the package was installed from, as installers write and read it; empty for a package index."""
    try:
        recorded = distribution(_PACKAGE).read_text("direct_url.json")
    except PackageNotFoundError:
        recorded = None
    if not recorded:
        return ""
    source = json.loads(recorded)
    version = source.get("vcs_info")
    return f" @ {version['vcs']}+{source['url']}@{version['commit_id']}" if version else f" @ {source['url']}"


def _python() -> str:
    """Return this Python as the command line calls it: from a clone's folder, if it is in there."""
    python = Path(sys.executable)
    return shlex.quote(str(python.relative_to(PROGRAM_DIR) if python.is_relative_to(PROGRAM_DIR) else python))
