"""Styles that hide: of an element with everything in it, or of its own words only."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from math import cos, inf, radians
from typing import NamedTuple

from core.reading.css_values import (
    BLACK,
    LENGTH,
    SCREEN,
    WHITE,
    Channels,
    Colour,
    Styles,
    colours_in,
    lengths,
    numbers,
    parse_colour,
    pixels,
)

LEAST_FONT = 5.0
"""Pixels. Nobody reads smaller words."""
LEAST_ALPHA = 0.05
SAME_COLOUR = 0.04
"""Difference of each channel up to which nobody tells two colours apart."""
FAR_LEFT, FAR_RIGHT = -500.0, 5_000.0
"""Pixels beyond which an element is moved off every screen."""
FAR_INDENT = -200.0
NO_SPACE = -8.0
"""Pixels between letters at which they lie upon each other."""
NO_ROOM = 4.0
"""Pixels. Nothing can be read in less."""
BLURRED = 10.0

# ── With everything in it ─────────────────────────────────────────────────────────────────────────────────────────────

_FUNCTION = re.compile(r"([a-z][\w-]*)\(([^()]*)\)")
"""A function and its arguments, once calculations are carried out."""


def _is_far(value: str) -> bool:
    return any(not FAR_LEFT < length < FAR_RIGHT for length in lengths(value))


def _is_filtered_away(value: str) -> bool:
    """Return whether a filter leaves nothing to read. A drawn filter is not looked into."""
    blur = [max(lengths(inside), default=0.0) for name, inside in _FUNCTION.findall(value) if name == "blur"]
    return "url(" in value or max(blur, default=0.0) >= BLURRED


def _is_moved_away(value: str) -> bool:
    return any(
        _is_far(inside) if name.startswith("translate") else name == "matrix" and _is_far(inside.rpartition(",")[0])
        for name, inside in _FUNCTION.findall(value)
    )


def _is_cut(value: str) -> bool:
    """Return whether `clip` or a rect() leaves nothing: its numbers are top, right, bottom and left."""
    found = re.search(r"rect\(([^()]*)\)", value)
    if not found:
        return False
    sides = [_side(one) for one in re.split(r"[\s,]+", found[1].strip())][:4]
    if len(sides) < 4:
        return False
    top, right, bottom, left = (
        far if side is None else side for side, far in zip(sides, (0.0, inf, inf, 0.0), strict=True)
    )
    return right - left < NO_ROOM or bottom - top < NO_ROOM


def _side(value: str) -> float | None:
    return next(iter(lengths(value)), None)


def _is_clipped(value: str) -> bool:
    """Return whether a shape leaves nothing. One that is drawn elsewhere is not looked into."""
    if "url(" in value or _is_cut(value):
        return True
    return any(_SHAPES[name](inside) for name, inside in _FUNCTION.findall(value) if name in _SHAPES)


def _is_empty_inset(inside: str) -> bool:
    values = inside.partition("round")[0]
    sides = [(values.split() * 4)[n] for n in (0, 1)] if values.split() else []
    shares = [float(one) for one in re.findall(r"([\d.]+)%", values)]
    return (
        any(one >= 50 for one in shares)
        or _is_far(values)
        or any(one >= 100 for side in sides for one in lengths(side) if "%" not in side)
    )


def _is_empty_circle(inside: str) -> bool:
    radii, _, centre = inside.partition(" at ")
    found = lengths(radii)
    return (bool(found) and min(found) < NO_ROOM) or any(one < -50 for one in lengths(centre))


def _is_empty_polygon(inside: str) -> bool:
    corners = [tuple(lengths(point))[:2] for point in re.sub(r"^(?:nonzero|evenodd),", "", inside).split(",")[:100]]
    whole = [(corner[0], corner[1]) for corner in corners if len(corner) == 2]
    area = abs(sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in pairwise([*whole, *whole[:1]]))) / 2
    return area < 1 or all(x <= 0 for x, _ in whole) or all(y <= 0 for _, y in whole)


_SHAPES: dict[str, Callable[[str], bool]] = {
    "inset": _is_empty_inset,
    "circle": _is_empty_circle,
    "ellipse": _is_empty_circle,
    "polygon": _is_empty_polygon,
    "xywh": lambda inside: any(one < NO_ROOM for one in lengths(inside)[2:4]),
    "path": lambda inside: len({*re.findall(r"[\d.]+", inside)}) < 3,
}


def _is_masked(value: str) -> bool:
    """Return whether a mask lets nothing through. A picture as a mask is not looked into."""
    if "url(" in value or "luminance" in value or re.search(r"/\s*0", value):
        return True
    return "gradient(" in value and all(colour.alpha < LEAST_ALPHA for colour in colours_in(value))


HIDING: dict[str, Callable[[str], object]] = {
    "display": lambda value: value in {"none", "table-column", "table-column-group"},
    "content-visibility": lambda value: value == "hidden",
    "content": lambda value: "url(" in value or "gradient(" in value,
    "-webkit-text-security": lambda value: value != "none",
    "filter": _is_filtered_away,
    "transform": _is_moved_away,
    "translate": _is_far,
    "offset-path": _is_far,
    "clip": _is_cut,
    "clip-path": _is_clipped,
    "mask-image": _is_masked,
    "mask-size": lambda value: re.match(r"0(?![.\d]*[1-9])", value),
    "mask-mode": lambda value: "luminance" in value,
    **dict.fromkeys(("left", "right", "top", "bottom", "margin-left", "margin-top"), _is_far),
    **dict.fromkeys(("grid-template-rows", "grid-template-columns"), lambda value: {*lengths(value)} == {0.0}),
    "text-indent": lambda value: any(length <= FAR_INDENT for length in lengths(value)),
    "letter-spacing": lambda value: any(length <= NO_SPACE for length in lengths(value)),
}
"""Tests of a value, by property. Where one holds, nobody sees the element or anything in it."""


def is_hiding(styles: Styles) -> bool:
    """Return whether nobody sees an element with these styles, nor anything in it."""
    if any(test(styles[name]) for name, test in HIDING.items() if name in styles):
        return True
    return _has_no_room(styles) or _is_beyond_screen(styles) or _is_turned_away(styles)


def _is_beyond_screen(styles: Styles) -> bool:
    """Return whether an element that does not scroll begins behind the end of the screen."""
    places = ((styles.get("left", ""), SCREEN[0]), (styles.get("top", ""), SCREEN[1]))
    return styles.get("position") == "fixed" and any(
        value == "100%" or any(length >= end for length in lengths(value)) for value, end in places
    )


def _is_turned_away(styles: Styles) -> bool:
    turns = (numbers(inside) for name, inside in _FUNCTION.findall(styles.get("transform", "")) if name in _TURNS)
    return styles.get("backface-visibility") == "hidden" and any(
        cos(radians(one)) < 0 for turn in turns for one in turn
    )


_TURNS = {"rotatex", "rotatey"}


def _has_no_room(styles: Styles) -> bool:
    if not _clips(styles):
        return False
    indent = styles.get("text-indent", "")
    return (
        _is_flat(styles, "width", "padding-left", "padding-right")
        or _is_flat(styles, "height", "padding-top", "padding-bottom")
        or _has_flat_lines(styles)
        or _takes_no_share(styles)
        or (indent.endswith("%") and any(share >= 1 for share in numbers(indent)))
    )


def _clips(styles: Styles) -> bool:
    overflow = {styles.get("overflow-x", "visible"), styles.get("overflow-y", "visible")}
    return overflow != {"visible"} or not _CLIPPING.isdisjoint(styles.get("contain", "").split())


_CLIPPING = frozenset({"paint", "strict", "content"})


def _is_flat(styles: Styles, size: str, before: str, after: str) -> bool:
    """Return whether a box has no room in one direction. What is added behind the words is room for them."""
    if any(_length(styles, name) >= NO_ROOM for name in (f"min-{size}", after)):
        return False
    taken = _length(styles, before) if styles.get("box-sizing") == "border-box" else 0.0
    if any(name in styles and _is_nothing(styles[name], taken) for name in (size, f"max-{size}")):
        return True
    return size == "height" not in styles and not {"size", "strict"}.isdisjoint(styles.get("contain", "").split())


def _takes_no_share(styles: Styles) -> bool:
    """Return whether an element of a flexible row asks for nothing and gets nothing."""
    basis, grow = styles.get("flex-basis", "").split(), lengths(styles.get("flex-grow", ""))
    return bool(basis) and lengths(basis[-1]) == [0.0] and not any(grow[:1])


def _length(styles: Styles, name: str) -> float:
    return max(lengths(styles.get(name, "")), default=0.0)


def _is_nothing(value: str, taken: float = 0.0) -> bool:
    found = LENGTH.fullmatch(value)
    if not found:
        return False
    return float(found[1]) <= 0 if found[2] == "%" else pixels(float(found[1]), found[2]) - taken < NO_ROOM


def _has_flat_lines(styles: Styles) -> bool:
    value = styles.get("line-height", "")
    return _is_nothing(f"{value}em" if value.replace(".", "").isdigit() else value)


# ── Its own words ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Look(NamedTuple):
    """How the words of an element look. Children inherit it."""

    is_visible: bool = True
    font: float = 16.0
    root_font: float = 16.0
    scale: float = 1.0
    """Factor of everything that makes the element smaller or larger."""
    opacity: float = 1.0
    """Product of its own and those around it."""
    colour: Colour | None = BLACK
    """None: not known."""
    fill: str = "currentcolor"
    background: Channels | None = WHITE.channels
    is_on_paint: bool = False
    """Whether something opaque is painted between the words and the layer that they belong to."""

    @property
    def is_legible(self) -> bool:
        if not self.is_visible or self.font * self.scale < LEAST_FONT:
            return False
        colour = self.colour if self.fill == "currentcolor" else parse_colour(self.fill)
        if (colour.alpha if colour else 1.0) * self.opacity < LEAST_ALPHA:
            return False
        if colour is None or self.background is None:
            return True
        return _differ(colour.over(self.background, strength=self.opacity), self.background)


def _differ(one: Channels, other: Channels) -> bool:
    return any(abs(a - b) > SAME_COLOUR for a, b in zip(one, other, strict=True))


def hides_alone(name: str, value: str) -> bool:
    """Return whether a single declaration hides something on a usual page."""
    return is_hiding({name: value}) or not look_of({name: value}, Look()).is_legible


def look_of(styles: Styles, parent: Look) -> Look:
    """Return the look of an element's own words."""
    if not styles:
        return parent
    look = parent._replace(
        is_visible=styles["visibility"] == "visible" if "visibility" in styles else parent.is_visible,
        font=_font_size(styles.get("font-size", ""), parent),
        scale=parent.scale * _scale(styles),
        opacity=parent.opacity * _opacity(styles),
        colour=_colour(styles.get("color", ""), parent.colour),
        fill=styles.get("-webkit-text-fill-color", parent.fill),
    )
    return _inverted(styles, _with_background(styles, look))


def _inverted(styles: Styles, look: Look) -> Look:
    """Return a look after a filter that turns colours into their opposites. A background of its own is turned as well."""
    if "invert(" not in styles.get("filter", "") or "background-color" in styles or look.colour is None:
        return look
    red, green, blue = look.colour.channels
    return look._replace(colour=look.colour._replace(channels=(1 - red, 1 - green, 1 - blue)))


def _colour(value: str, inherited: Colour | None) -> Colour | None:
    if value in {"", "inherit", "currentcolor"}:
        return inherited
    if "currentcolor" in value and inherited:
        red, green, blue = inherited.channels
        value = value.replace("currentcolor", f"color(srgb {red:.4f} {green:.4f} {blue:.4f} / {inherited.alpha:.4f})")
    return parse_colour(value)


def _opacity(styles: Styles) -> float:
    filters = (inside for name, inside in _FUNCTION.findall(styles.get("filter", "")) if name == "opacity")
    found = 1.0
    for value in (styles.get("opacity", ""), *filters):
        found *= max(0.0, min(1.0, (numbers(value) or [1.0])[0]))
    return found


def _scale(styles: Styles) -> float:
    factors = [abs(one) for name in ("scale", "zoom") for one in numbers(styles.get(name, ""))[:2]]
    factors += [abs(cos(radians(one))) for one in numbers(styles.get("rotate", "")) if _is_turned(styles["rotate"])][
        -1:
    ]
    for name, inside in _FUNCTION.findall(styles.get("transform", "")):
        factors += _FACTORS.get(name, _no_factors)(numbers(inside))
    return min(factors, default=1.0)


def _is_turned(rotation: str) -> bool:
    return re.match(r"[xy]\b|[01.]+ [01.]+ 0\b", rotation) is not None


def _no_factors(_values: list[float]) -> list[float]:
    return []


def _cosine(values: list[float]) -> list[float]:
    return [abs(cos(radians(values[-1])))] if values else []


_FACTORS: dict[str, Callable[[list[float]], list[float]]] = {
    **dict.fromkeys(("scale", "scalex", "scaley", "scale3d"), lambda values: [abs(one) for one in values[:2]]),
    **dict.fromkeys(("rotatex", "rotatey"), _cosine),
    "rotate3d": lambda values: _cosine(values) if len(values) == 4 and not values[2] else [],
    **dict.fromkeys(("skew", "skewx", "skewy"), _cosine),
    "matrix": lambda values: [abs(values[0] * values[3] - values[1] * values[2])] if len(values) == 6 else [],
    "matrix3d": lambda values: [abs(values[0] * values[5] - values[1] * values[4])] if len(values) == 16 else [],
}
"""Factors by which functions of `transform` make something smaller."""


def _with_background(styles: Styles, look: Look) -> Look:
    picture, colour = styles.get("background-image", ""), styles.get("background-color", "")
    painted = colours_in(colour.replace("currentcolor", "")) if "gradient(" not in colour else []
    if "currentcolor" in colour and look.colour:
        painted = [look.colour]
    behind = look.background
    if painted:
        behind = painted[-1].over(behind) if behind else painted[-1].channels if painted[-1].alpha > 0.9 else None
    is_opaque = bool(painted) and painted[-1].alpha > 0.9
    if "text" in styles.get("background-clip", "").split():
        return _drawn_in_letters(picture, look)
    if "url(" in picture:
        behind = None
    elif "gradient(" in picture:
        behind = _single_colour(picture)
    return look._replace(background=behind, is_on_paint=_is_on_paint(styles, look, is_opaque=is_opaque))


def _single_colour(picture: str) -> Channels | None:
    """Return the colour of a gradient that has only one."""
    colours = colours_in(picture)
    if not colours or any(one.alpha < 1 or _differ(one.channels, colours[0].channels) for one in colours):
        return None
    return colours[0].channels


def _drawn_in_letters(picture: str, look: Look) -> Look:
    """Return the look of words that the background is seen through."""
    if "url(" in picture or look.background is None:
        return look._replace(colour=None, fill="currentcolor")
    colours = [one for one in colours_in(picture) if _differ(one.over(look.background), look.background)]
    return look._replace(colour=colours[0], fill="currentcolor") if colours else look


def _is_on_paint(styles: Styles, look: Look, *, is_opaque: bool) -> bool:
    if is_layer(styles):
        return False
    return look.is_on_paint or is_opaque


def is_layer(styles: Styles) -> bool:
    """Return whether what lies below the words of an element still lies above what is around it."""
    if styles.get("z-index", "auto") != "auto" and is_placed(styles):
        return True
    return any(name in styles for name in ("transform", "filter", "opacity", "mask-image", "clip-path"))


def is_below(styles: Styles, parent: Look) -> bool:
    """Return whether an element lies below something opaque around it, or out of the flow below everything."""
    if not is_placed(styles) or depth_of(styles) >= 0:
        return False
    return parent.is_on_paint or styles["position"] in {"absolute", "fixed"}


def is_placed(styles: Styles) -> bool:
    return styles.get("position", "static") != "static"


def is_cover(styles: Styles) -> bool:
    """Return whether an element lies over everything in the box that it is placed in."""
    if styles.get("position") != "absolute" or depth_of(styles) < 0 or is_hiding(styles):
        return False
    colours = colours_in(styles.get("background-color", ""))
    is_opaque = bool(colours) and min(one.alpha for one in colours) * _opacity(styles) > 0.9
    is_opaque = is_opaque or _is_filtered_away(styles.get("backdrop-filter", ""))
    return is_opaque and styles.get("visibility", "visible") == "visible" and _fills(styles)


def _fills(styles: Styles) -> bool:
    across = _reaches(styles, "left", "right", "width")
    return across and _reaches(styles, "top", "bottom", "height")


def _reaches(styles: Styles, start: str, end: str, size: str) -> bool:
    begins = all(one <= 0 for one in lengths(styles.get(start, "")))
    ends = end in styles and all(one <= 0 for one in lengths(styles[end]))
    whole = any(float(one) >= 100 for one in re.findall(r"([\d.]+)(?:%|vw|vh)", styles.get(size, "")))
    return start in styles and begins and (whole or (ends and size not in styles))


def depth_of(styles: Styles) -> float:
    """Return how far in front an element lies."""
    return next(iter(numbers(styles.get("z-index", ""))), 0.0)


_FONT = re.compile(r"(?:^|\s)((?:\d+\.?\d*|\.\d+)(?:[a-z]+|%)|0)(?:\s*/|\s+\S)")


def _font_size(value: str, parent: Look) -> float:
    found = LENGTH.fullmatch(value)
    if not found and (shorthand := _FONT.search(value)):
        found = LENGTH.fullmatch(shorthand[1])
    if not found:
        return max(parent.font, 16.0) if value and value not in {"inherit", "smaller"} else parent.font
    number, unit = float(found[1]), found[2]
    if unit in {"em", "%", "rem"}:
        return number * {"em": parent.font, "%": parent.font / 100, "rem": parent.root_font}[unit]
    return pixels(number, unit)
