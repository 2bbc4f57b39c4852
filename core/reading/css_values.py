"""Values of CSS properties: variables are replaced, calculations carried out, lengths and colours read."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import tinycss2
from tinycss2 import color5

from core.reading.extraction_types import NotReadable

SCREEN = (1_280.0, 800.0)
"""Width and height in pixels of the screen on which a page is judged."""
MAX_VALUE = 2_000
"""Limit in characters for a value after its variables are replaced. A page with a longer one cannot be judged."""
UNSET = "unset"
Styles = dict[str, str]
"""Values by property, in lower case. Shorthands stand under each of their properties."""
_MAX_ROUNDS = 30

# ── Variables ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_REFERENCE = re.compile(
    r"\b(var|env|attr)\(\s*([^\s,()]+)(?:\s+[^,()]*(?:\([^()]*\))?)?\s*"
    r"(?:,((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*))?\)",
    re.IGNORECASE,
)


def replace_variables(value: str, variables: Mapping[str, str], attributes: Mapping[str, str]) -> str:
    """Return a value without var(), env() and attr(). It is `unset` where one of them has no value."""

    def replacement(found: re.Match[str]) -> str:
        known = {"var": variables, "attr": attributes}.get(found[1].lower(), {})
        fallback = "0px" if found[2].startswith("safe-area") else found[3]
        text = known.get(found[2], fallback)
        if text is None:
            raise LookupError
        return text

    for _ in range(_MAX_ROUNDS):
        if len(value) > MAX_VALUE:
            raise NotReadable("complex")
        try:
            value, count = _REFERENCE.subn(replacement, value)
        except LookupError:
            return UNSET
        if not count:
            return value.strip()
    return UNSET  # it refers to itself


# ── Numbers ───────────────────────────────────────────────────────────────────────────────────────────────────────────

_WIDTH, _HEIGHT = SCREEN[0] / 100, SCREEN[1] / 100
_PIXELS = {
    "": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 37.8, "mm": 3.78, "q": 0.945,
    "ex": 8.0, "ch": 8.0, "%": 5.0,
    **{kind + unit: _WIDTH for kind in ("v", "dv", "sv", "lv", "cq") for unit in ("w", "i", "max")},
    **{kind + unit: _HEIGHT for kind in ("v", "dv", "sv", "lv", "cq") for unit in ("h", "b", "min")},
}  # fmt: skip
"""Pixels of a unit. The others are about as large as a letter."""
_LETTER = 16.0
UNITS = frozenset(
    (
        *_PIXELS,
        "em",
        "rem",
        "lh",
        "rlh",
        "cap",
        "rcap",
        "ic",
        "ric",
        "rex",
        "rch",
        "fr",
        "deg",
        "grad",
        "rad",
        "turn",
        "s",
        "ms",
    )
)
"""Units that a browser knows."""
_TURNS = {"deg": 1.0, "grad": 0.9, "rad": 57.2958, "turn": 360.0}
LENGTH = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,2})?)(%|[a-z]*)(?![\w.])")


def pixels(number: float, unit: str) -> float:
    return number * _PIXELS.get(unit, _LETTER)


def lengths(value: str) -> list[float]:
    """Return the lengths in a value, in pixels."""
    return [pixels(float(number), unit) for number, unit in LENGTH.findall(value[:MAX_VALUE])]


def numbers(value: str) -> list[float]:
    """Return the numbers in a value; a percentage is a share of 1, an angle has degrees."""
    found = LENGTH.findall(value[:MAX_VALUE])
    return [float(number) * (0.01 if unit == "%" else _TURNS.get(unit, 1.0)) for number, unit in found]


class _Quantity(NamedTuple):
    number: float
    unit: str
    """Empty, %, px or deg."""


_MATH: dict[str, Callable[..., float]] = {
    "calc": float,
    "-webkit-calc": float,
    "min": min,
    "max": max,
    "abs": abs,
    "hypot": math.hypot,
    "clamp": lambda least, wanted, most: max(least, min(wanted, most)),
    "sign": lambda number: math.copysign(number != 0, number),
}
_HAS_MATH = re.compile(rf"(?<![\w])(?:{'|'.join(_MATH)})\(")
_CONSTANTS = {"pi": math.pi, "e": math.e, "infinity": 1e9, "-infinity": -1e9}


@lru_cache(maxsize=1_000)
def calculate(value: str) -> str:
    """Return a value in which every calculation is carried out. It is `unset` if one cannot be."""
    if not _HAS_MATH.search(value):
        return value
    try:
        return "".join(map(_calculated, tinycss2.parse_component_value_list(value)))
    except (ArithmeticError, TypeError, ValueError, IndexError):
        return UNSET


def _calculated(token: Any) -> str:
    if token.type != "function":
        return str(token.serialize())
    if token.lower_name in _MATH:
        number, unit = _function_value(token)
        return f"{number:.4f}{unit}"
    return f"{token.lower_name}({''.join(map(_calculated, token.arguments))})"


def _function_value(token: Any) -> _Quantity:
    parts: list[list[Any]] = [[]]
    for argument in token.arguments:
        if argument.type == "literal" and argument.value == ",":
            parts.append([])
        elif argument.type not in {"whitespace", "comment"}:
            parts[-1].append(argument)
    found = [_sum(part) for part in parts]
    units = {one.unit for one in found}
    found = found if len(units) == 1 else [_as_pixels(one) for one in found]
    return _Quantity(_MATH[token.lower_name](*(one.number for one in found)), found[0].unit)


def _sum(tokens: list[Any]) -> _Quantity:
    total = _product(tokens)
    while tokens:
        sign = {"+": 1, "-": -1}[tokens.pop(0).value]
        other = _product(tokens)
        if total.unit != other.unit:
            total, other = _as_pixels(total), _as_pixels(other)
        total = _Quantity(total.number + sign * other.number, total.unit)
    return total


def _product(tokens: list[Any]) -> _Quantity:
    total = _operand(tokens.pop(0))
    while tokens and tokens[0].type == "literal" and tokens[0].value in "*/":
        is_product = tokens.pop(0).value == "*"
        other = _operand(tokens.pop(0))
        number = total.number * other.number if is_product else total.number / other.number
        total = _Quantity(number, total.unit or other.unit)
    return total


def _operand(token: Any) -> _Quantity:
    if token.type == "dimension":
        turn = _TURNS.get(token.lower_unit)
        return _Quantity(token.value * turn, "deg") if turn else _Quantity(pixels(token.value, token.lower_unit), "px")
    if token.type == "function":
        return _function_value(token)
    if token.type == "() block":
        return _sum([one for one in token.content if one.type not in {"whitespace", "comment"}])
    if token.type == "ident":
        return _Quantity(_CONSTANTS.get(token.lower_value, math.nan), "")
    return _Quantity(token.value, "%" if token.type == "percentage" else "")


def _as_pixels(quantity: _Quantity) -> _Quantity:
    """Return a length. What a percentage is part of is taken to be as wide as the screen."""
    return _Quantity(quantity.number * (_WIDTH if quantity.unit == "%" else 1), "px")


# ── Colours ───────────────────────────────────────────────────────────────────────────────────────────────────────────

Channels = tuple[float, float, float]


class Colour(NamedTuple):
    """A colour of the screen, each channel from 0 to 1."""

    channels: Channels
    alpha: float = 1.0

    def over(self, behind: Channels, *, strength: float = 1.0) -> Channels:
        """Return what is seen where this colour lies over another one."""
        share = max(0.0, min(1.0, self.alpha * strength))
        red, green, blue = (share * one + (1 - share) * other for one, other in zip(self.channels, behind, strict=True))
        return red, green, blue


BLACK, WHITE = Colour((0.0, 0.0, 0.0)), Colour((1.0, 1.0, 1.0))
_OF_THE_SYSTEM = {
    **dict.fromkeys(("canvas", "field", "window", "highlighttext", "-webkit-canvas"), WHITE),
    **dict.fromkeys(("canvastext", "fieldtext", "windowtext", "buttontext", "-webkit-text"), BLACK),
}
_COLOUR_PART = re.compile(r"[a-z-]+\((?:[^()]|\([^()]*\))*\)|[^\s,()/]+")
_MIX = re.compile(r"color-mix\(\s*in [^,]*,(.*)\)")
_RELATIVE = re.compile(r"[a-z]+\(\s*from\s+(.*)\)")


def colours_in(value: str) -> list[Colour]:
    """Return every colour in a value such as a background's."""
    inside = re.sub(r"[a-z-]*gradient\(", " ", value[:MAX_VALUE])
    return [colour for part in _COLOUR_PART.findall(inside) if (colour := parse_colour(part))]


@lru_cache(maxsize=1_000)
def parse_colour(value: str) -> Colour | None:
    """Return a colour, or None if this is none or depends on others."""
    if value in _OF_THE_SYSTEM:
        return _OF_THE_SYSTEM[value]
    if mixed := _MIX.fullmatch(value):
        return _mixed(mixed[1])
    if relative := _RELATIVE.fullmatch(value):
        return _related(relative[1])
    try:
        found = color5.parse_color(value)
        coordinates = [float(one or 0) for one in found.coordinates]
    except (AttributeError, TypeError, ValueError, NotImplementedError):  # currentcolor, or no colour
        return None
    return Colour(_on_screen(found, coordinates), float(found.alpha))


def _on_screen(found: Any, coordinates: list[float]) -> Channels:
    try:
        red, green, blue = (float(one or 0) for one in found.to("srgb").coordinates)
    except NotImplementedError:
        red, green, blue = _CONVERSIONS.get(found.space, _same)(*coordinates)
    return red, green, blue


def _same(red: float, green: float, blue: float) -> Channels:
    """Return the channels of a wider space as they are: near enough to tell whether two colours differ."""
    return red, green, blue


def _from_polar(convert: Callable[[float, float, float], Channels]) -> Callable[[float, float, float], Channels]:
    return lambda light, chroma, hue: convert(
        light, chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    )


def _from_oklab(light: float, a: float, b: float) -> Channels:
    long, medium, short = (
        (light + x * a + y * b) ** 3
        for x, y in ((0.3963377774, 0.2158037573), (-0.1055613458, -0.0638541728), (-0.0894841775, -1.291485548))
    )
    return _with_gamma(
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
    )


def _from_lab(light: float, a: float, b: float) -> Channels:
    middle = (light + 16) / 116
    x, y, z = (_cube(one) for one in (middle + a / 500, middle, middle - b / 200))
    x, z = 0.9643 * x, 0.8251 * z
    return _with_gamma(
        3.1341 * x - 1.6174 * y - 0.4907 * z, -0.9788 * x + 1.9161 * y + 0.0335 * z, 0.072 * x - 0.229 * y + 1.4054 * z
    )


def _cube(value: float) -> float:
    return value**3 if value > 6 / 29 else 3 * (6 / 29) ** 2 * (value - 4 / 29)


def _with_gamma(*linear: float) -> Channels:
    bounded = [max(0.0, min(1.0, one)) for one in linear]
    red, green, blue = (12.92 * one if one <= 0.0031308 else 1.055 * one ** (1 / 2.4) - 0.055 for one in bounded)
    return red, green, blue


_CONVERSIONS: dict[str, Callable[[float, float, float], Channels]] = {
    "oklab": _from_oklab,
    "oklch": _from_polar(_from_oklab),
    "lab": _from_lab,
    "lch": _from_polar(_from_lab),
}


def _mixed(parts: str) -> Colour | None:
    """Return a mixture of two colours. In which space they are mixed matters little for telling colours apart."""
    found: list[tuple[Colour, float | None]] = []
    for part in _COLOUR_PART.findall(parts):
        if part.endswith("%") and found:
            found[-1] = found[-1][0], numbers(part)[0]
        elif colour := parse_colour(part):
            found.append((colour, None))
    if len(found) != 2:
        return None
    (first, share), (second, rest) = found
    share = share if share is not None else 0.5 if rest is None else 1 - rest
    alpha = share * first.alpha + (1 - share) * second.alpha
    return Colour(Colour(first.channels, share * first.alpha / alpha if alpha else 1.0).over(second.channels), alpha)


def _related(parts: str) -> Colour | None:
    """Return the colour that another one is made from, with the alpha that is given."""
    origin = next(iter(colours_in(parts)), None)
    alpha = re.search(r"/\s*([\d.]+%?)\s*$", parts)
    return origin._replace(alpha=numbers(alpha[1])[0]) if origin and alpha else origin


def old_colour(text: str) -> str:
    """Return the colour that a browser reads from an attribute such as bgcolor, where it accepts anything."""
    name = text.strip().lower()
    if not name or name == "transparent" or parse_colour(name):
        return name
    digits = re.sub(r"[^0-9a-f]", "0", name.removeprefix("#")[:128])
    size = max(1, -(-len(digits) // 3))
    thirds = [digits.ljust(3 * size, "0")[n * size : (n + 1) * size][-8:] for n in range(3)]
    while len(thirds[0]) > 2 and all(one.startswith("0") for one in thirds):
        thirds = [one[1:] for one in thirds]
    return "#" + "".join(one[:2].rjust(2, "0") for one in thirds)
