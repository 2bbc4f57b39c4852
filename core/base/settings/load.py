"""Load the settings: defaults < settings.yaml < saved from the page < environment. No other module reads os.environ.

The file and the environment are read once, at the start. Values saved from the page may change while the program runs.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import yaml

from core.base.paths import USER_DIR
from core.base.settings.saved import OWNERS, SETUP_TOKENS, SavedValues, merge_changes
from core.base.settings.sections import CORE_SECTIONS, Settings
from core.base.settings.values import Section, SettingProblem, add_problem, collect_problems, variable_name

log = logging.getLogger(__name__)

Origin = Literal["default", "settings.yaml", "page", "environment"]


@dataclass(frozen=True, slots=True)
class _Layers:
    """The values that were read at the start, before they are merged."""

    kinds: tuple[type[Section], ...]
    in_file: Mapping[str, Mapping[str, Any]]
    in_environment: Mapping[type[Section], Mapping[str, str]]
    problems: tuple[SettingProblem, ...]

    def locked_keys(self, kind: type[Section]) -> list[str]:
        """Return the editable keys that the environment sets, so that the page cannot."""
        return sorted(kind.editable() & self.in_environment[kind].keys())


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings in force, the values that had to be replaced, and the origin of each value."""

    values: Settings
    problems: tuple[SettingProblem, ...]
    origins: Mapping[str, Origin]
    """Origin of each value, by the name of its environment variable: SECTION_KEY."""
    saved: SavedValues
    """Values that the page has saved, in force or not."""
    _layers: _Layers = field(repr=False, compare=False)

    @property
    def configured_public_url(self) -> str | None:
        """PUBLIC_URL if somebody has set it to something usable. Its default says nothing about this installation."""
        is_set = self.origins["PUBLIC_URL"] != "default" and "PUBLIC_URL" not in self.values.unusable
        return self.values.public.url if is_set else None

    def with_changes(self, changes: Mapping[str, str]) -> LoadedSettings:
        """Return the settings as they would be if the page saved these changes too."""
        return self.with_saved(SavedValues(merge_changes(self.saved.values, changes)))

    def with_saved(self, saved: SavedValues) -> LoadedSettings:
        """Return the settings with these saved values in place of the earlier ones."""
        return _merge_layers(self._layers, saved)

    def locking_variables(self, section: str) -> tuple[str, ...]:
        """Return the environment variables that keep the page from setting anything in this section."""
        kinds = [kind for kind in self._layers.kinds if kind.name == section]
        return tuple(variable_name(section, key) for kind in kinds for key in self._layers.locked_keys(kind))


def load_settings(
    path: Path | None = None, environ: Mapping[str, str] | None = None, *, sections: Iterable[type[Section]]
) -> LoadedSettings:
    """Load and merge all settings. `sections` are those defined beside what they configure: each engine has its own."""
    kinds = (*CORE_SECTIONS, *sections)
    with collect_problems() as problems:
        in_file = _read_file(path or USER_DIR / "settings.yaml", kinds)
    in_environment = _environment_values(os.environ if environ is None else environ, kinds)
    return _merge_layers(_Layers(kinds, in_file, in_environment, tuple(problems)), SavedValues())


def _merge_layers(layers: _Layers, saved: SavedValues) -> LoadedSettings:
    with collect_problems() as problems:
        problems.extend(layers.problems)
        on_page = _page_values(saved, layers)
        loaded, origins = [], dict[str, Origin]()
        for kind in layers.kinds:
            replaced = kind.editable() if on_page[kind] else ()
            in_file = layers.in_file.get(kind.name, {})
            found: dict[Origin, Mapping[str, Any]] = {
                "settings.yaml": {key: value for key, value in in_file.items() if key not in replaced},
                "page": on_page[kind],
                "environment": layers.in_environment[kind],
            }
            loaded.append(kind.model_validate({key: value for layer in found.values() for key, value in layer.items()}))
            for key in kind.model_fields:
                holders = [origin for origin, layer in found.items() if layer.get(key) is not None]
                origins[variable_name(kind.name, key)] = holders[-1] if holders else "default"
    values = Settings(
        **{section.name: section for section in loaded[: len(CORE_SECTIONS)]},
        brought=tuple(loaded[len(CORE_SECTIONS) :]),
        unusable=frozenset(problem.key for problem in problems if problem.key.isidentifier()),
    )
    return LoadedSettings(values=values, problems=tuple(problems), origins=origins, saved=saved, _layers=layers)


def _page_values(saved: SavedValues, layers: _Layers) -> dict[type[Section], dict[str, str]]:
    """Return the saved values that the page may set, by section. A key and the address that it is sent to belong
    together. If the environment sets one of them, the page sets none in that section."""
    if saved.problem:
        add_problem(SettingProblem("「设置」页面保存的内容", saved.problem, used_instead="其他来源的值"))
    editable = {variable_name(kind.name, key) for kind in layers.kinds for key in kind.editable()}
    for name in saved.values.keys() - editable - {OWNERS, SETUP_TOKENS}:
        add_problem(
            SettingProblem(f"「设置」页面保存的 {name}"[:100], "这一项不能从页面设置", used_instead="其他来源的值")
        )
    return {
        kind: {
            key: saved.values[name]
            for key in (kind.editable() if not layers.locked_keys(kind) else ())
            if (name := variable_name(kind.name, key)) in saved.values
        }
        for kind in layers.kinds
    }


def are_proxies_configured() -> bool:
    """Return whether uvicorn's variable FORWARDED_ALLOW_IPS says whose X-Forwarded-For to believe."""
    return bool(os.environ.get("FORWARDED_ALLOW_IPS", "").strip())


def cookie_secret() -> str:
    """Return Streamlit's cookie secret, which all app servers of an installation share and nobody else knows."""
    return os.environ.get("STREAMLIT_SERVER_COOKIE_SECRET", "").strip()


def log_problems(problems: Iterable[SettingProblem]) -> None:
    """Log each setting that could not be used."""
    for problem in problems:
        log.warning("配置 %s", problem.for_operator())


def _environment_values(
    environ: Mapping[str, str], kinds: Iterable[type[Section]]
) -> dict[type[Section], dict[str, str]]:
    return {
        kind: {
            key: value for key in kind.model_fields if (value := environ.get(variable_name(kind.name, key), "")).strip()
        }
        for kind in kinds
    }


# ── settings.yaml ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _read_file(path: Path, kinds: Sequence[type[Section]]) -> dict[str, dict[str, Any]]:
    """Return section → key → value, as far as the file has them."""
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
    add_problem(SettingProblem(path.name, reason, used_instead="默认配置"))
    return {}


def _section(path: Path, name: str, found: Any, known: Collection[str]) -> dict[str, Any]:
    if not isinstance(found, dict):
        add_problem(SettingProblem(f"{path.name} {name}", "应是一组键和值", used_instead="该组的默认值"))
        return {}
    _report_unknown(f"{path.name} {name}.", found, known)
    return found


def _report_unknown(where: str, found: Mapping[Any, Any], known: Collection[str]) -> None:
    """Report misspelt names, which would otherwise look as if they were in force."""
    for key in found:
        if key not in known:
            near = get_close_matches(str(key), known, n=1)
            reason = f"没有这个设置，是不是想写 {near[0]}" if near else "没有这个设置"
            add_problem(SettingProblem(f"{where}{key}"[:100], reason, used_instead="默认值"))


# ── Child processes ───────────────────────────────────────────────────────────────────────────────────────────────────

# Variables that a program needs on any system. None of them can hold a key.
_HARMLESS = (
    *("PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR"),
    *("XDG_RUNTIME_DIR", "LD_LIBRARY_PATH", "FONTCONFIG_PATH"),
    *("SYSTEMROOT", "WINDIR", "TEMP", "TMP", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "PROGRAMDATA", "PROGRAMFILES"),
)


def child_environment(extra_names: Iterable[str] = ()) -> dict[str, str]:
    """Return the environment for child processes, without our keys. `extra_names`: variables that the administrator has
    named for this one."""
    return {name: os.environ[name] for name in (*_HARMLESS, *extra_names) if name in os.environ}
