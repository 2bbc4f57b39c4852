"""Settings that were saved from the page, by the names of the environment variables.

They hold keys: only the owner may read the file.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from filelock import FileLock

from core.base.errors import AppError

VERSION = 1
OWNERS, SETUP_TOKENS = "owners", "setup_tokens"
"""Names under which `ownership` keeps its own values among the saved ones. No variable has such a name."""
MAX_BYTES = 1_000_000

Changes = Mapping[str, str] | Callable[[Mapping[str, str]], Mapping[str, str]]
"""Values to save, or a function that returns them for the values that are saved now. An empty value removes the saved one."""


class SettingsNotSaved(AppError):
    kind = "settings_not_saved"
    default_message = "没有保存。"


class UnreadableSettings(ValueError):
    """The saved document cannot be read. The message is the reason."""


class SettingsTooNew(UnreadableSettings):
    """A newer program wrote the document, so it is not changed."""


@dataclass(frozen=True, slots=True)
class SavedValues:
    """The values that were saved from the page, or the reason why they cannot be used."""

    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    problem: str = ""
    """Reason why the saved values cannot be used; empty if they can."""
    stamp: Any = field(default=None, compare=False)
    """Mark of this version among all that were ever saved."""


class SavedSettingsStore(Protocol):
    """Storage of the settings that are saved from the page."""

    def stamp(self) -> Any:
        """Return the mark of the newest version, from any process. Cheap, and never waits."""

    def read(self) -> SavedValues: ...

    def change(self, changes: Changes) -> Mapping[str, str]:
        """Save the changes and return them. A function is called while nobody else can save. Raise SettingsNotSaved."""


def encode_values(values: Mapping[str, str]) -> str:
    return json.dumps({"version": VERSION, "values": dict(values)}, ensure_ascii=False, indent=2, sort_keys=True)


def decode_values(text: str) -> dict[str, str]:
    try:
        document = json.loads(text)
        version, values = document["version"], document["values"]
    except (ValueError, RecursionError, KeyError, TypeError):
        raise UnreadableSettings("内容已损坏") from None
    if isinstance(version, int) and version > VERSION:
        raise SettingsTooNew("由更新版本的程序写成")
    if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
        raise UnreadableSettings("内容已损坏")
    return values


def merge_changes(values: Mapping[str, str], changes: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in {**values, **changes}.items() if value}


def resolve_changes(values: Mapping[str, str], changes: Changes) -> Mapping[str, str]:
    """Return the changes for these saved values."""
    return changes(values) if callable(changes) else changes


class SavedSettingsFile:
    """A file in the data folder. It is replaced as a whole, so that a reader finds the old one or the new one."""

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / "settings" / "page.json"

    def stamp(self) -> tuple[int, int, int] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def read(self) -> SavedValues:
        stamp = self.stamp()
        try:
            return SavedValues(self._values(), stamp=stamp)
        except UnreadableSettings as error:
            return SavedValues(problem=str(error), stamp=stamp)

    def change(self, changes: Changes) -> Mapping[str, str]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.parent.chmod(0o700)
            with FileLock(self.path.with_suffix(".lock")):
                values = self._values_to_change()
                resolved = resolve_changes(values, changes)
                self._replace(encode_values(merge_changes(values, resolved)))
                return resolved
        except OSError as error:
            raise SettingsNotSaved(
                f"没有保存：{self.path} 不可写（{error.strerror}）。", cure="请检查数据目录的空间和权限。"
            ) from None

    def _values(self) -> dict[str, str]:
        try:
            with self.path.open("rb") as file:
                text = file.read(MAX_BYTES + 1)
            return decode_values(text.decode("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeError):
            raise UnreadableSettings("文件无法读取") from None

    def _values_to_change(self) -> dict[str, str]:
        try:
            return self._values()
        except SettingsTooNew:
            raise SettingsNotSaved(
                f"没有保存：{self.path} 由更新版本的程序写成，没有改动它。", cure="请升级本程序。"
            ) from None
        except UnreadableSettings:
            self.path.replace(self.path.with_suffix(".damaged"))
            return {}

    def _replace(self, text: str) -> None:
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=".page-")  # readable by its owner only
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self.path)
        except BaseException:
            os.unlink(name)
            raise
