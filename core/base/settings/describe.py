"""Every setting as people read it: what it is for, what may be written, its value, its default and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from core.base.settings.load import LoadedSettings, Origin
from core.base.settings.values import Form, Group, Section, Unit, parts, variable, without_user

NOT_SET = "未设置"


@dataclass(frozen=True, slots=True)
class Entry:
    section: str
    key: str
    group: Group
    purpose: str
    limits: str
    """What may be written: 1 到 60 秒, true 或 false. Empty: anything."""
    value: str
    """Never a secret: those are only set or not set."""
    default: Any
    origin: Origin
    invalid: bool
    """What was found there could not be used: the value is the default."""

    @property
    def variable(self) -> str:
        """SECTION_KEY, as in the environment."""
        return variable(self.section, self.key)

    @property
    def meaning(self) -> str:
        return f"{self.purpose}（{self.limits}）" if self.limits else self.purpose

    @property
    def changed(self) -> bool:
        return self.origin != "default"


def entries(loaded: LoadedSettings) -> list[Entry]:
    """Every setting, group by group."""
    invalid = {problem.key for problem in loaded.problems}
    found = [
        Entry(
            section=section.name,
            key=key,
            group=section.group,
            purpose=field.description or "",
            limits=_limits(type(section))[key],
            value=shown(getattr(section, key)),
            default=field.get_default(call_default_factory=True),
            origin=loaded.origins[variable(section.name, key)],
            invalid=variable(section.name, key) in invalid,
        )
        for section in loaded.values.sections
        for key, field in type(section).model_fields.items()
    ]
    return sorted(found, key=lambda entry: get_args(Group).index(entry.group))


def shown(value: Any) -> str:
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
            return ", ".join("=".join(map(str, item)) if isinstance(item, tuple) else shown(item) for item in value)
        case _:
            return str(without_user(str(value), "已隐藏"))


@cache
def _limits(kind: type[Section]) -> dict[str, str]:
    return {key: _limits_of(field) for key, field in kind.model_fields.items()}


def _limits_of(field: FieldInfo) -> str:
    found = parts(field)
    if forms := [part.words for part in found if isinstance(part, Form)]:
        return forms[-1]
    if bool in found:
        return "true 或 false"
    if choices := [str(choice) for part in found if get_origin(part) is Literal for choice in get_args(part)]:
        return f"{'、'.join(choices[:-1])} 或 {choices[-1]}"
    ends = [shown(end) for name in ("ge", "le") for part in found if (end := getattr(part, name, None)) is not None]
    units = [part.name for part in found if isinstance(part, Unit)]
    return " ".join((" 到 ".join(ends), *units)) if ends else ""
