"""Styles that hide: of an element with everything in it, or of its own words only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from tinycss2.color4 import parse_color

from core.reading.page_styles import Styles

Colour = tuple[float, float, float]
LEAST_FONT = 5.0
"""Pixels. Nobody reads smaller words."""
LEAST_ALPHA = 0.05
SAME_COLOUR = 0.04
"""Difference of each channel up to which nobody tells two colours apart."""
FAR_LEFT, FAR_RIGHT = -500.0, 5_000.0
"""Pixels beyond which an element is moved off every screen."""
FAR_INDENT = -200.0
_PIXELS = {
    "": 1.0,
    "px": 1.0,
    "pt": 1.33,
    "pc": 16.0,
    "in": 96.0,
    "cm": 37.8,
    "mm": 3.78,
    "em": 16.0,
    "rem": 16.0,
    "ex": 8.0,
    "ch": 8.0,
    "vw": 12.8,
    "vh": 8.0,
    "vmin": 8.0,
    "vmax": 12.8,
    "%": 5.0,
}
_LENGTH = re.compile(
    r"(-?(?:\d+\.?\d*|\.\d+)(?:e\d{1,2})?)(px|pt|pc|in|cm|mm|rem|em|ex|ch|vw|vh|vmin|vmax|%|)(?![\w.])"
)
_FONT = re.compile(r"(?:^|\s)((?:\d+\.?\d*|\.\d+)(?:px|pt|em|rem|%)?)(?:/\S+)?\s+\S")


def _lengths(value: str) -> list[float]:
    return [float(number) * _PIXELS[unit] for number, unit in _LENGTH.findall(value[:500])]


# ── With everything in it ─────────────────────────────────────────────────────────────────────────────────────────────


def _is_far(value: str) -> bool:
    return any(not FAR_LEFT < length < FAR_RIGHT for length in _lengths(value))


def _is_transparent(value: str) -> bool:
    numbers = re.fullmatch(r"(\d*\.?\d+)(%?)", value)
    return bool(numbers) and float(numbers[1]) / (100 if numbers[2] else 1) < LEAST_ALPHA  # type: ignore[index]


def _is_filtered_away(value: str) -> bool:
    opacity, blur = re.search(r"opacity\(([^)]*)\)", value), re.search(r"blur\(([^)]*)\)", value)
    return bool((opacity and _is_transparent(opacity[1].strip())) or (blur and max(_lengths(blur[1]), default=0) >= 10))


def _is_transformed_away(value: str) -> bool:
    if re.search(r"scale(?:3d|x|y)?\(\s*(?:[^,)]*,\s*)?0*\.?0*\s*[,)]|matrix\(\s*0\s*,|rotate[xy]\(\s*-?90deg", value):
        return True
    return any(_is_far(moved) for moved in re.findall(r"translate(?:3d|x|y)?\(([^)]*)\)", value))


def _is_clipped(value: str) -> bool:
    inset = re.search(r"inset\(([^)]*)\)", value)
    if inset:
        return any(float(share) >= 50 for share in re.findall(r"(\d+(?:\.\d+)?)%", inset[1])) or _is_far(inset[1])
    if polygon := re.search(r"polygon\(([^)]*)\)", value):
        return _area(polygon[1]) < 1
    return re.search(r"(?:circle|ellipse)\(\s*0", value) is not None


def _area(points: str) -> float:
    corners = [tuple(_lengths(point))[:2] for point in re.sub(r"^(?:nonzero|evenodd),", "", points).split(",")[:100]]
    whole = [(corner[0], corner[1]) for corner in corners if len(corner) == 2]
    return abs(sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in pairwise([*whole, *whole[:1]]))) / 2


def _is_masked(value: str) -> bool:
    """Return whether every colour of a gradient is transparent."""
    return "gradient(" in value and not re.search(
        r"#|\b(?:black|white|red|blue|green|rgb|hsl)\b", re.sub(r"rgba\([^)]*,\s*0?\.?0*\)", "", value)
    )


HIDING: dict[str, Callable[[str], object]] = {
    "display": lambda value: value == "none",
    "content-visibility": lambda value: value == "hidden",
    "opacity": _is_transparent,
    "zoom": _is_transparent,
    "filter": _is_filtered_away,
    "-webkit-filter": _is_filtered_away,
    "transform": _is_transformed_away,
    "-webkit-transform": _is_transformed_away,
    "translate": _is_far,
    "scale": re.compile(r"0(?:\.0*)?%?(?:\s|$)").match,
    "clip": re.compile(r"rect\(\s*(?:0|1px)").match,
    "clip-path": _is_clipped,
    "-webkit-clip-path": _is_clipped,
    **dict.fromkeys(("mask", "mask-image", "-webkit-mask", "-webkit-mask-image"), _is_masked),
    **dict.fromkeys(("left", "right", "top", "bottom", "inset", "inset-inline-start"), _is_far),
    **dict.fromkeys(("margin", "margin-left", "margin-top", "margin-inline-start"), _is_far),
    "text-indent": lambda value: any(length <= FAR_INDENT for length in _lengths(value)),
}
"""Tests of a value, by property. Where one holds, nobody sees the element or anything in it."""
_NO_ROOM = re.compile(r"[01](?:\.0*)?(?:px|em|rem|%)?")


def is_hiding(styles: Styles) -> bool:
    """Return whether nobody sees an element with these styles, nor anything in it."""
    if any(test(styles[name]) for name, test in HIDING.items() if name in styles):
        return True
    is_clipped = any(
        re.search("hidden|clip", styles.get(name, "")) for name in ("overflow", "overflow-x", "overflow-y")
    )
    sizes = (styles.get(name, "") for name in ("width", "height", "max-width", "max-height", "line-height"))
    return is_clipped and any(map(_NO_ROOM.fullmatch, sizes))


# ── Its own words ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Look(NamedTuple):
    """How the words of an element look. Children inherit it."""

    is_visible: bool = True
    font: float = 16.0
    colour: Colour | None = (0.0, 0.0, 0.0)
    """None: not known."""
    alpha: float = 1.0
    background: Colour | None = (1.0, 1.0, 1.0)

    @property
    def is_legible(self) -> bool:
        if not self.is_visible or self.font < LEAST_FONT or self.alpha < LEAST_ALPHA:
            return False
        if self.colour is None or self.background is None:
            return True
        return any(abs(one - other) > SAME_COLOUR for one, other in zip(self.colour, self.background, strict=True))


def look_of(styles: Styles, parent: Look) -> Look:
    """Return the look of an element's own words."""
    if not styles:
        return parent
    visibility = styles.get("visibility", "")
    is_visible = parent.is_visible if visibility in {"", "inherit"} else visibility not in {"hidden", "collapse"}
    colour, alpha = _text_colour(styles, parent)
    return Look(is_visible, _font_size(styles, parent.font), colour, alpha, _background(styles, parent.background))


def _text_colour(styles: Styles, parent: Look) -> tuple[Colour | None, float]:
    for name in ("-webkit-text-fill-color", "color"):
        value = styles.get(name, "")
        if value and value not in {"inherit", "currentcolor", "unset"}:
            return _parsed_colour(value) or (None, 1.0)
    return parent.colour, parent.alpha


def _background(styles: Styles, behind: Colour | None) -> Colour | None:
    for name in ("background-image", "background-color", "background"):
        value = styles.get(name, "")
        if "url(" in value or "gradient(" in value or "var(" in value:
            return None
        for part in _value_parts(value):
            if (found := _parsed_colour(part)) and found[1] > 0.5:
                behind = found[0]
    return behind


def _value_parts(value: str) -> Iterator[str]:
    yield from re.findall(r"[^\s(]+\([^)]*\)|[^\s]+", value[:500])


@lru_cache(maxsize=1_000)
def _parsed_colour(value: str) -> tuple[Colour, float] | None:
    try:
        colour = parse_color(value)
        red, green, blue = colour.to("srgb").coordinates
    except (AttributeError, TypeError, ValueError, NotImplementedError):  # currentcolor, or no colour
        return None
    return (float(red or 0), float(green or 0), float(blue or 0)), float(colour.alpha)


def _font_size(styles: Styles, inherited: float) -> float:
    shorthand = _FONT.search(styles.get("font", ""))
    value = styles.get("font-size") or (shorthand[1] if shorthand else "")
    found = _LENGTH.fullmatch(value)
    if not found:
        return max(inherited, 16.0) if value and value not in {"inherit", "unset", "smaller"} else inherited
    number, unit = float(found[1]), found[2]
    return number * (inherited if unit == "em" else inherited / 100 if unit == "%" else _PIXELS[unit])
