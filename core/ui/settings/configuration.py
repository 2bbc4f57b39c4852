"""The settings in force as people read them: each with its value, its default, where it comes from and what it is for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import SecretStr

from core.base.settings import LoadedSettings, Origin, Settings
from core.search.manual import find

NOT_SET = "未设置"
_USER_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s]*@")


@dataclass(frozen=True, slots=True)
class Entry:
    variable: str
    """SECTION_KEY, as in the environment."""
    group: str
    meaning: str
    value: str
    """Never a secret: those are only set or not set."""
    default: str
    origin: Origin
    invalid: bool
    """What was found there could not be used: the value is the default."""

    @property
    def changed(self) -> bool:
        return self.origin != "default"


def entries(loaded: LoadedSettings) -> list[Entry]:
    """Every setting, in the order of the manual's table."""
    invalid = {problem.key for problem in loaded.problems}
    words = _words()
    found = []
    for section_name in type(loaded.values).model_fields:
        section, default = getattr(loaded.values, section_name), getattr(Settings(), section_name)
        for key in type(section).model_fields:
            variable = f"{section_name}_{key}".upper()
            group, meaning = words.get(variable, ("其他", ""))
            found.append(
                Entry(
                    variable=variable,
                    group=group,
                    meaning=meaning,
                    value=shown(getattr(section, key)),
                    default=shown(getattr(default, key)),
                    origin=loaded.origins[variable],
                    invalid=variable in invalid,
                )
            )
    places = {variable: place for place, variable in enumerate(words)}
    return sorted(found, key=lambda entry: places.get(entry.variable, len(places)))


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
            return _USER_IN_ADDRESS.sub("已隐藏@", str(value))


@cache
def _words() -> dict[str, tuple[str, str]]:
    """Variable → its heading and its meaning in the manual's table of settings, with the range where there is one."""
    article = find("settings-table")
    words: dict[str, tuple[str, str]] = {}
    heading = ""
    for line in article.body.splitlines() if article else ():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("| `"):
            names, _default, *limits, meaning = (cell.strip() for cell in line.strip("| ").split("|"))
            sentence = f"{meaning}（{limits[0]}）" if limits else meaning
            for variable in re.findall(r"`(\w+)`", names):
                words[variable] = heading, sentence.replace("`", "")
    return words
