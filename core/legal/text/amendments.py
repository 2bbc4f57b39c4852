"""Amendments (刑法修正案（十二）, 关于修改《…》的决定): the laws that they change, and from which day."""

from __future__ import annotations

import re

from core.base.chinese.calendar import iso_day

_DECISION = re.compile(r"(?P<issuer>.*?)关于修改(?:部分)?[《〈](?P<law>[^《》]+)[》〉](?:部分条款)?的决定")
_AMENDMENT = re.compile(r"(?P<law>.+?(?:法典|法))修正案(?:[（(][^（）()]*[）)])?")
_IS_DECISION = re.compile(r"关于.*修改.*的决定$")
_NAMED = re.compile(r"《([^《》]+)》")
_CHANGED = re.compile(r"(?:对|将|修改)\s*《([^《》]+)》")
_OWN_FORCE = re.compile(r"本(?:决定|修正案)自([^，。；]{2,30}?)起(?:开始)?(?:施行|实施|生效)")


def amended_law_names(name: str) -> tuple[str, ...]:
    """Return the names under which the amended law may be known. Empty if the document amends no single law."""
    if found := _DECISION.fullmatch(name):
        return found["law"], f"{found['issuer']}{found['law']}"
    found = _AMENDMENT.fullmatch(name)
    return (found["law"],) if found else ()


def all_amended_law_names(name: str, text: str) -> set[str]:
    """Return the names of all laws that a document amends, as its title and its text name them. Empty if it is no
    amendment."""
    names = {*amended_law_names(name)}
    if _IS_DECISION.search(name):
        names |= {*_NAMED.findall(name), *_CHANGED.findall(text)}
    return names


def amendment_force(text: str, published: str) -> str | None:
    """Return the day from which an amendment is in force, as it says of itself (本决定自…起施行). The days of the provisions
    that it quotes do not count."""
    days = {published if day.endswith("之日") else iso_day(day) for day in _OWN_FORCE.findall(text)}
    return days.pop() if len(days) == 1 else None
