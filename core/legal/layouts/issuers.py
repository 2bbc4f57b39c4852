"""Issuer of a law, read from its title or the events above its text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.legal.entities import LawKind

_NAMED = re.compile(
    "全国人民代表大会常务委员会|全国人民代表大会|国务院|中央军事委员会|最高人民法院|最高人民检察院|国家监察委员会"
)


def find_issuer(name: str, events: Sequence[str], kind: LawKind) -> str | None:
    """Return the issuer in the title of a law, else in its last event. A joint interpretation names several courts."""
    titled = re.split("关于", name, maxsplit=1)[0]
    if kind is LawKind.INTERPRETATION and (courts := _NAMED.findall(titled)):
        return "、".join(dict.fromkeys(courts))
    return next((found[0] for text in (titled, *reversed(events)) if (found := _NAMED.search(text))), None)
