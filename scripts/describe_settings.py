"""settings.yaml and the manual's table of settings, written from the settings themselves: `make settings`.

What stands at the head of each file is kept. With `--check` nothing is written: a difference is named, and is a failure.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from core.app import extra_sections
from core.base.paths import PROGRAM_DIR
from core.base.settings import load_settings
from core.base.settings.describe import NOT_SET, SettingEntry, format_value, list_settings

COMMENT_COLUMN = 33
LONG_LIST = 4


@dataclass(frozen=True)
class Document:
    path: str
    begins: str
    """What the written part begins with."""
    lines: Callable[[list[SettingEntry]], Iterator[str]]

    def text(self, folder: Path, described: list[SettingEntry]) -> str:
        head = (folder / self.path).read_text("utf-8").partition(self.begins)[0]
        return head + "\n".join((*self.lines(described), ""))


def yaml_lines(described: list[SettingEntry]) -> Iterator[str]:
    for group, members in groupby(described, key=lambda entry: entry.group):
        yield f"\n# ── {group} ──"
        for section, keys in groupby(members, key=lambda entry: entry.section):
            yield f"\n{section}:"
            for entry in keys:
                line = f"  # {_yaml(entry.key, entry.default)}"
                if len(line) >= COMMENT_COLUMN:
                    yield line
                    line = ""
                yield f"{line:{COMMENT_COLUMN}}# {entry.meaning}"


def _yaml(key: str, value: Any) -> str:
    if value is None:
        return f"{key}:"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    written = yaml.safe_dump(
        list(value) if isinstance(value, tuple) else value, allow_unicode=True, default_flow_style=True, width=10_000
    )
    return f"{key}: {written.splitlines()[0]}"


def table_lines(described: list[SettingEntry]) -> Iterator[str]:
    for group, members in groupby(described, key=lambda entry: entry.group):
        yield f"\n## {group}\n\n| 环境变量 | 默认值 | 范围 | 作用 |\n|---|---|---|---|"
        for entry in members:
            yield f"| `{entry.variable}` | {_cell(entry.default)} | {entry.limits} | {entry.purpose} |"


def _cell(default: Any) -> str:
    if isinstance(default, tuple) and len(default) > LONG_LIST:
        return f"{default[0]} 到 {default[-1]} 共 {len(default)} 个"
    text = format_value(default)
    return text if text == NOT_SET else f"`{text}`"


DOCUMENTS = (
    Document("settings.yaml", "\n# ── ", yaml_lines),
    Document("docs/manual/59-settings-table.md", "\n## ", table_lines),
)


def main(arguments: list[str], folder: Path = PROGRAM_DIR) -> int:
    loaded = load_settings(folder / "settings.yaml", {}, sections=extra_sections())
    described, check = list_settings(loaded), "--check" in arguments
    if not check and any(entry.is_changed for entry in described):
        return _failed("settings.yaml holds values of your own, which would be lost: move them to the environment.")
    for document in DOCUMENTS:
        path, text = folder / document.path, document.text(folder, described)
        if not check:
            path.write_text(text, "utf-8")
        elif path.read_text("utf-8") != text:
            return _failed(f"{document.path} does not say what the settings say: run `make settings`.")
    return 0


def _failed(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
