"""Places in a source as readers see them, several in few words: 第 3、9–10 页."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from core.reading import Place

LONGEST_LIST = 60
"""Characters of a list of pages that are still read."""
MAX_LABELS = 6
"""Number of places without a page that are named one by one."""
_NUMBERED = {"page": "第 {} 页", "slide": "幻灯片 {}"}
RECOGNIZED = "识别"


def join_places(places: Iterable[Place]) -> str:
    """Return the places in the order given, neighbouring pages as one range; empty for none."""
    known = list(dict.fromkeys(places))
    shown = [
        _label(kind, list(group)) for (kind, _), group in groupby(known, key=lambda one: (one.kind, one.is_recognized))
    ]
    return "、".join(shown)


def _label(kind: str, places: list[Place]) -> str:
    if kind in _NUMBERED:
        words = _NUMBERED[kind].format(join_numbers((one.page or 0 for one in places), "、", "–"))
        if len(words) > LONGEST_LIST:
            numbers = sorted({one.page or 0 for one in places})
            words = f"{_NUMBERED[kind].format(f'{numbers[0]}–{numbers[-1]}')}之间的 {len(numbers)} 页"
    else:
        words = "、".join(one.label for one in places[:MAX_LABELS])
        words += f" 等 {len(places)} 处" if len(places) > MAX_LABELS else ""
    return f"{words}（{RECOGNIZED}）" if places[0].is_recognized else words


def join_numbers(numbers: Iterable[int], between: str, dash: str) -> str:
    """Return page numbers with each run of neighbours as one range."""
    return between.join(
        f"{first}{dash}{last}" if last > first else f"{first}" for first, last in _runs(sorted({*numbers}))
    )


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        each = [number for _, number in run]
        yield each[0], each[-1]
