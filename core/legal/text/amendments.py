"""Law that an amendment changes, read from its name: 刑法修正案（十二）, 关于修改《…》的决定."""

from __future__ import annotations

import re

_DECISION = re.compile(r"(?P<issuer>.*?)关于修改(?:部分)?[《〈](?P<law>[^《》]+)[》〉](?:部分条款)?的决定")
_AMENDMENT = re.compile(r"(?P<law>.+?(?:法典|法))修正案(?:[（(][^（）()]*[）)])?")


def amended_law_names(name: str) -> tuple[str, ...]:
    """Return the names under which the amended law may be known. Empty if the document amends no single law."""
    if found := _DECISION.fullmatch(name):
        return found["law"], f"{found['issuer']}{found['law']}"
    found = _AMENDMENT.fullmatch(name)
    return (found["law"],) if found else ()
