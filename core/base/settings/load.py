"""Defaults < settings.yaml < environment: read once, validated once. Nobody else reads os.environ."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import yaml

from core.base.places import HOME
from core.base.settings.sections import OWN, Settings
from core.base.settings.values import Problem, Section, note, noting_problems, variable

log = logging.getLogger(__name__)

Origin = Literal["default", "settings.yaml", "environment"]


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings in force, the values that had to be replaced, and where each value came from."""

    values: Settings
    problems: tuple[Problem, ...]
    origins: Mapping[str, Origin]
    """By the name of the environment variable: SECTION_KEY."""


def load_settings(
    path: Path | None = None, environ: Mapping[str, str] | None = None, *, sections: Iterable[type[Section]]
) -> LoadedSettings:
    """`sections`: those that stand elsewhere, beside what they configure; each engine brings its own."""
    kinds = (*OWN, *sections)
    with noting_problems() as problems:
        in_file = _read(path or HOME / "settings.yaml", kinds)
        in_environment = _look_up(os.environ if environ is None else environ, kinds)
        loaded = [kind.model_validate(in_file.get(kind.name, {}) | in_environment[kind]) for kind in kinds]
    values = Settings(
        **{section.name: section for section in loaded[: len(OWN)]},
        brought=tuple(loaded[len(OWN) :]),
        unusable=frozenset(problem.key for problem in problems if problem.key.isidentifier()),
    )
    origins: dict[str, Origin] = {}
    for kind in kinds:
        for key in kind.model_fields:
            origins[variable(kind.name, key)] = (
                "environment"
                if key in in_environment[kind]
                else "settings.yaml"
                if in_file.get(kind.name, {}).get(key) is not None
                else "default"
            )
    return LoadedSettings(values=values, problems=tuple(problems), origins=origins)


def proxies_named() -> bool:
    """Whether uvicorn, whose variable this is, was told whose X-Forwarded-For to believe."""
    return bool(os.environ.get("FORWARDED_ALLOW_IPS", "").strip())


def report_problems(problems: Iterable[Problem]) -> None:
    for problem in problems:
        log.warning("配置 %s", problem)


def _look_up(environ: Mapping[str, str], kinds: Iterable[type[Section]]) -> dict[type[Section], dict[str, str]]:
    return {
        kind: {key: value for key in kind.model_fields if (value := environ.get(variable(kind.name, key), "")).strip()}
        for kind in kinds
    }


# ── settings.yaml ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _read(path: Path, kinds: Sequence[type[Section]]) -> dict[str, dict[str, Any]]:
    """Section → key → value, as far as the file has them."""
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeError):
        return _unusable(path, "文件无法读取（需要 UTF-8 编码）")
    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        return _unusable(path, f"第 {mark.line + 1} 行不是有效的 YAML" if mark else "不是有效的 YAML")
    if data is None:
        return {}
    if not isinstance(data, dict):
        return _unusable(path, "应由「分组: 键: 值」组成")
    known: dict[str, set[str]] = {}
    for kind in kinds:
        known.setdefault(kind.name, set()).update(kind.model_fields)
    _report_unknown(f"{path.name} ", data, known)
    return {name: _section(path, name, data[name], keys) for name, keys in known.items() if data.get(name) is not None}


def _unusable(path: Path, reason: str) -> dict[str, dict[str, Any]]:
    note(Problem(path.name, reason, used="默认配置"))
    return {}


def _section(path: Path, name: str, found: Any, known: Collection[str]) -> dict[str, Any]:
    if not isinstance(found, dict):
        note(Problem(f"{path.name} {name}", "应是一组键和值", used="该组的默认值"))
        return {}
    _report_unknown(f"{path.name} {name}.", found, known)
    return found


def _report_unknown(where: str, found: Mapping[Any, Any], known: Collection[str]) -> None:
    """A misspelt name would otherwise look as if it were in force."""
    for key in found:
        if key not in known:
            near = get_close_matches(str(key), known, n=1)
            reason = f"没有这个设置，是不是想写 {near[0]}" if near else "没有这个设置"
            note(Problem(f"{where}{key}"[:100], reason, used="默认值"))


# ── For programs that we start ────────────────────────────────────────────────────────────────────────────────────────

# What a program needs to know about the machine, on any system, and nothing that could be a key.
_HARMLESS = (
    *(
        "PATH",
        "HOME",
        "USER",
        "LANG",
        "LC_ALL",
        "TZ",
        "TMPDIR",
        "XDG_RUNTIME_DIR",
        "LD_LIBRARY_PATH",
        "FONTCONFIG_PATH",
    ),
    *("SYSTEMROOT", "WINDIR", "TEMP", "TMP", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "PROGRAMDATA", "PROGRAMFILES"),
)


def harmless_environment() -> dict[str, str]:
    """For programs that we start and that have no business with our keys."""
    return {name: os.environ[name] for name in _HARMLESS if name in os.environ}
