"""Descriptions of all settings for people: purpose, allowed values, value, default and origin."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from core.base.settings.load import LoadedSettings, Origin
from core.base.settings.values import Group, Section, Unit, ValueFormat, annotation_parts, hide_userinfo, variable_name

NOT_SET = "未设置"


@dataclass(frozen=True, slots=True)
class SettingEntry:
    """One setting as it is shown on the settings page and in the manual."""

    section: str
    key: str
    group: Group
    purpose: str
    limits: str
    """Allowed values, such as 1 到 60 秒 or true 或 false; empty if anything is allowed."""
    value: str
    """Current value as text. A secret is only shown as set or not set."""
    default: Any
    origin: Origin
    is_invalid: bool
    """True if the configured value could not be used and the default is in force."""

    @property
    def variable(self) -> str:
        """Name of the environment variable: SECTION_KEY."""
        return variable_name(self.section, self.key)

    @property
    def meaning(self) -> str:
        return f"{self.purpose}（{self.limits}）" if self.limits else self.purpose

    @property
    def is_changed(self) -> bool:
        return self.origin != "default"


def list_settings(loaded: LoadedSettings) -> list[SettingEntry]:
    """Return every setting, group by group."""
    invalid = {problem.key for problem in loaded.problems}
    found = [
        SettingEntry(
            section=section.name,
            key=key,
            group=section.group,
            purpose=field.description or "",
            limits=_limits(type(section))[key],
            value=format_value(getattr(section, key)),
            default=field.get_default(call_default_factory=True),
            origin=loaded.origins[variable_name(section.name, key)],
            is_invalid=variable_name(section.name, key) in invalid,
        )
        for section in loaded.values.sections
        for key, field in type(section).model_fields.items()
    ]
    return sorted(found, key=lambda entry: get_args(Group).index(entry.group))


def format_value(value: Any) -> str:
    """Return a setting's value as text for people. A secret is only shown as set."""
    match value:
        case None | "" | ():
            return NOT_SET
        case SecretStr():
            return "已设置"
        case bool():
            return str(value).lower()
        case float():
            return f"{value:g}"
        case tuple():
            return ", ".join(
                "=".join(map(str, item)) if isinstance(item, tuple) else format_value(item) for item in value
            )
        case _:
            return str(hide_userinfo(str(value), "已隐藏"))


@cache
def _limits(kind: type[Section]) -> dict[str, str]:
    return {key: _limits_of(field) for key, field in kind.model_fields.items()}


def _limits_of(field: FieldInfo) -> str:
    found = annotation_parts(field)
    if forms := [part.words for part in found if isinstance(part, ValueFormat)]:
        return forms[-1]
    if bool in found:
        return "true 或 false"
    if choices := [str(choice) for part in found if get_origin(part) is Literal for choice in get_args(part)]:
        return f"{'、'.join(choices[:-1])} 或 {choices[-1]}"
    ends = [
        format_value(end) for name in ("ge", "le") for part in found if (end := getattr(part, name, None)) is not None
    ]
    units = [part.name for part in found if isinstance(part, Unit)]
    return " ".join((" 到 ".join(ends), *units)) if ends else ""
