"""The styles that a page's own style sheets and attributes give its elements, as on a wide screen.

Only rules that can hide something and whose names stand in the page are parsed (tinycss2) and matched (cssselect2), because
a sheet may have any size. External sheets are not asked for, and neither is what @import names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import tinycss2
from cssselect2 import ElementWrapper, Matcher, SelectorError, compile_selector_list
from cssselect2.compiler import CompiledSelector
from lxml.html import HtmlElement

from core.reading.css_values import UNITS, UNSET, Styles, calculate, old_colour, parse_colour, replace_variables
from core.reading.extraction_types import NotReadable
from core.reading.hiding_styles import hides_alone
from core.reading.media_queries import is_for_screen
from core.reading.style_sheets import NO_LAYER, Layer, Rule, split_rules, split_selectors

Declarations = dict[str, tuple[str, bool]]
"""Values by property, and whether they are important."""

MAX_SELECTORS = 4_000
"""Limit for selectors that may concern the page. A page with more cannot be judged in its second."""

# ── Properties ────────────────────────────────────────────────────────────────────────────────────────────────────────

_INHERITED = {
    "color": "canvastext", "-webkit-text-fill-color": "currentcolor", "visibility": "visible", "font-size": "16px",
    "text-indent": "0", "letter-spacing": "0", "line-height": "normal", "-webkit-text-security": "none",
}  # fmt: skip
"""Inherited properties, and their values at the root of a page."""
PROPERTIES = frozenset({
    *_INHERITED,
    *("display", "content-visibility", "opacity", "filter", "zoom", "content", "contain", "position", "z-index"),
    *("background-color", "background-image", "background-clip", "animation-name", "animation-fill-mode"),
    *("animation-play-state", "animation-iteration-count", "left", "right", "top", "bottom", "offset-path"),
    *("margin-left", "margin-top", "margin-right", "margin-bottom", "transform", "translate", "scale", "rotate"),
    *("clip", "clip-path", "mask-image", "mask-size", "mask-mode", "overflow-x", "overflow-y"),
    *("width", "height", "max-width", "max-height", "min-width", "min-height", "padding-top", "padding-bottom"),
    *("padding-right", "padding-left", "box-sizing", "backdrop-filter", "backface-visibility"),
    *("flex-grow", "flex-basis", "grid-template-rows", "grid-template-columns"),
})  # fmt: skip
_SIDES = ("top", "right", "bottom", "left")
_BY_SIDE: dict[str, tuple[str, ...]] = {
    "inset": _SIDES,
    "margin": tuple(f"margin-{side}" for side in _SIDES),
    "padding": tuple(f"padding-{side}" for side in _SIDES),
    "inset-inline": ("left", "right"),
    "inset-block": ("top", "bottom"),
    "margin-inline": ("margin-left", "margin-right"),
    "margin-block": ("margin-top", "margin-bottom"),
    "padding-block": ("padding-top", "padding-bottom"),
    "overflow": ("overflow-x", "overflow-y"),
}
_SHORTHANDS = {
    "font": ("font-size", "line-height"),
    "background": ("background-color", "background-image", "background-clip"),
    "mask": ("mask-image", "mask-size", "mask-mode"),
    "animation": tuple(name for name in PROPERTIES if name.startswith("animation-")),
    "offset": ("offset-path",),
    "flex": ("flex-grow", "flex-basis"),
    "all": tuple(PROPERTIES),
}
_OTHER_NAMES = {
    **{f"-webkit-{name}": name for name in ("filter", "backdrop-filter", "transform", "clip-path", "mask", "mask-image")},
    **{f"-webkit-{name}": name for name in ("background-clip", "animation", "animation-name", "opacity", "mask-size")},
    "inset-inline-start": "left", "inset-inline-end": "right", "inset-block-start": "top", "inset-block-end": "bottom",
    "margin-inline-start": "margin-left", "margin-block-start": "margin-top",
    "inline-size": "width", "block-size": "height", "max-inline-size": "max-width", "max-block-size": "max-height",
    "min-inline-size": "min-width", "min-block-size": "min-height",
}  # fmt: skip
_ALL_NAMES = sorted({*PROPERTIES, *_BY_SIDE, *_SHORTHANDS, *_OTHER_NAMES})
_RELEVANT = re.compile(rf"\\|(?<![\w-])(?:{'|'.join(_ALL_NAMES)}|--[^\s:;]+)\s*:", re.IGNORECASE)
_FOR_ALL = frozenset({"inherit", "initial", UNSET, "revert", "revert-layer"})
_DISPLAYS = frozenset(
    (
        *("none", "block", "inline", "inline-block", "flex", "inline-flex", "grid", "inline-grid", "contents", "flow"),
        *(
            "flow-root",
            "list-item",
            "table",
            "inline-table",
            "table-row",
            "table-cell",
            "table-caption",
            "table-column",
        ),
        *("table-row-group", "table-header-group", "table-footer-group", "table-column-group", "ruby", "ruby-text"),
        *("ruby-base", "-webkit-box", "-webkit-inline-box", "-webkit-flex", "-webkit-inline-flex", "math"),
    )
)
_WORDS: dict[str, frozenset[str]] = {
    "display": _DISPLAYS,
    "visibility": frozenset({"visible", "hidden", "collapse"}),
    "position": frozenset({"static", "relative", "absolute", "fixed", "sticky", "-webkit-sticky"}),
    "content-visibility": frozenset({"visible", "hidden", "auto"}),
    **dict.fromkeys(("overflow", "overflow-x", "overflow-y"), frozenset(("visible", "hidden", "clip", "scroll", "auto", "overlay"))),
    **dict.fromkeys(("opacity", "letter-spacing", "zoom", "scale", "z-index"), frozenset(("none", "auto", "normal", "reset"))),
    **dict.fromkeys((*_SIDES, "margin-left", "margin-top", "margin", "inset", "text-indent"), frozenset(("auto", "hanging", "each-line"))),
    **dict.fromkeys(("transform", "filter", "clip-path", "translate"), frozenset(("none", "border-box", "padding-box", "content-box", "margin-box"))),
    "font-size": frozenset(["xx-small", "x-small", "small", "medium", "large", "x-large", "xx-large", "xxx-large", "smaller", "larger", "math"]),
    **dict.fromkeys(
        ("width", "height", "max-width", "max-height", "min-width", "min-height", "block-size", "inline-size"),
        frozenset(["auto", "none", "min-content", "max-content", "fit-content", "stretch", "-webkit-fill-available", "-webkit-max-content", "-webkit-min-content", "-webkit-fit-content"]),
    ),
}  # fmt: skip
"""Words that a property knows, for those where it matters: a browser drops a declaration with any other."""
_TYPES: dict[str, frozenset[str]] = {
    **dict.fromkeys(("display", "visibility", "position", "content-visibility"), frozenset({"ident"})),
    **dict.fromkeys(("opacity", "zoom", "scale"), frozenset({"ident", "number", "percentage", "function"})),
}


_LENGTHS = frozenset({"font-size", "letter-spacing", "width", "height", "max-width", "max-height", *_SIDES})
_SINGLE = _LENGTHS | {
    "visibility",
    "position",
    "content-visibility",
    "opacity",
    "zoom",
    "z-index",
    "clip",
    "flex-basis",
}
_SMALL = 5


def _is_valid(name: str, tokens: list[Any]) -> bool:
    """Return whether a browser accepts a declaration, as far as that matters here."""
    shown = [token for token in tokens if token.type not in {"whitespace", "comment"}]
    if not shown or any(
        token.type == "function" and token.lower_name in {"var", "env", "attr"} for token in _all(shown)
    ):
        return bool(shown)
    words = {token.lower_value for token in shown if token.type == "ident"}
    if len(shown) == 1 and words & _FOR_ALL:
        return True
    if name in {"color", "background-color", "-webkit-text-fill-color"}:
        value = calculate(tinycss2.serialize(shown).lower())
        return value == "currentcolor" or "(" in value or parse_colour(value) is not None
    if len(shown) > 1 and name in _SINGLE:
        return False
    if any(token.type == "dimension" and token.lower_unit not in UNITS for token in shown):
        return False
    if name in _LENGTHS and any(token.type == "number" and token.value > _SMALL for token in shown):
        return False  # a length needs a unit; only very old pages may leave it out
    types = {token.type for token in shown}
    return words <= _WORDS.get(name, words) and types <= _TYPES.get(name, types)


def _all(tokens: Iterable[Any]) -> Iterator[Any]:
    for token in tokens:
        yield token
        yield from getattr(token, "arguments", ())


@lru_cache(maxsize=1_000)
def parse_declarations(body: str) -> Declarations:
    """Return what declarations say about the properties that can hide, and about variables."""
    found: Declarations = {}
    if not _RELEVANT.search(body):
        return found
    for one in tinycss2.parse_blocks_contents(body, skip_comments=True, skip_whitespace=True):
        if one.type != "declaration":
            continue
        name = one.name if one.name.startswith("--") else _OTHER_NAMES.get(one.lower_name, one.lower_name)
        if name.startswith("--") or (name in _KNOWN and _is_valid(name, one.value)):
            _cascade(found, {part: (value, one.important) for part, value in _longhands(name, _written(one.value))})
    return found


_KNOWN = frozenset({*PROPERTIES, *_BY_SIDE, *_SHORTHANDS})


def _written(tokens: list[Any]) -> str:
    """Return a value as text, without comments and without the addresses of pictures."""
    value = re.sub(r"\s+", " ", tinycss2.serialize([one for one in tokens if one.type != "comment"])).strip()
    return (
        re.sub(r"url\((?:\"[^\"]*\"|'[^']*'|[^)]*)\)", "url()", value, flags=re.IGNORECASE) if "(" in value else value
    )


def _longhands(name: str, value: str) -> Iterator[tuple[str, str]]:
    if name in _BY_SIDE:
        parts = value.split() if "(" not in value else [value]
        for place, part in enumerate(_BY_SIDE[name]):
            yield part, parts[place] if place < len(parts) else parts[place - 2] if place > 1 < len(parts) else parts[0]
    else:
        for part in _SHORTHANDS.get(name, (name,)):
            yield part, value


def _cascade(found: Declarations, later: Declarations) -> None:
    for name, (value, is_important) in later.items():
        if is_important or name not in found or not found[name][1]:
            found[name] = value, is_important


# ── A page ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_BY_BROWSER: dict[str, Declarations] = {
    **{tag: {"display": ("none", False)} for tag in ("rp", "title", "area", "param")},
    "mark": {"background-color": ("#ff0", False), "color": ("#000", False)},
    "button": {"background-color": ("#efefef", False), "color": ("#000", False)},
}
"""Styles of a browser itself."""
_LINK: Declarations = {"color": ("#0000ee", False)}
_WRITTEN_AS_ATTRIBUTE = {"color": "color", "text": "color", "bgcolor": "background-color"}
_NAME = re.compile(r"([.#])((?:[\w-]|[^\x00-\x7f])+)")
_USE = re.compile(r"var\(\s*(--[^\s,()]+)", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\]]*\]")
_EVERY, _NONE = ":is(*)", ":not(*)"
_PSEUDO_CLASSES = {
    **dict.fromkeys(("defined", "read-only", "dir(ltr)"), _EVERY),
    "placeholder-shown": "[placeholder]",
    "required": "[required]",
    "open": "[open]",
    "-webkit-any-link": ":any-link",
    **dict.fromkeys(("optional", "valid"), ":is(form,input,textarea,select,button)"),
    **dict.fromkeys(("popover-open", "fullscreen", "modal", "read-write", "dir(rtl)", "picture-in-picture"), _NONE),
    **dict.fromkeys(("autofill", "-webkit-autofill", "default", "indeterminate", "invalid", "in-range"), _NONE),
    **dict.fromkeys(("out-of-range", "user-valid", "user-invalid", "has-slotted", "-webkit-full-screen"), _NONE),
}
"""What stands in a static page for the pseudo-classes that cssselect2 does not know."""
_PSEUDO_CLASS = re.compile(
    rf"(?<!:):({'|'.join(sorted(map(re.escape, _PSEUDO_CLASSES), key=len, reverse=True))})(?![\w(-])", re.IGNORECASE
)
_OF_FIRST_LINE = frozenset({"color", "-webkit-text-fill-color", "font-size", "background-color"})


class ElementStyles(NamedTuple):
    """The styles of an element."""

    own: Styles
    variables: Mapping[str, str]
    before_and_after: tuple[Styles, ...] = ()
    """Styles of what the page draws before and after its content."""


class PageStyles:
    """The rules of a page's own style sheets. Raise NotReadable if there are too many."""

    def __init__(self, tree: HtmlElement) -> None:
        self._matcher = Matcher()
        self._frames: dict[str, dict[str, Declarations]] = {}
        self._has_layers = False
        self.has_rules = False
        self.root_variables: dict[str, str] = {}
        title = _title_in_use(tree)
        css = "\n".join(style.text or "" for style in tree.iter("style") if _is_in_force(style, title))
        if css.strip():
            attributes = " ".join(element.get("style", "") for element in tree.iter() if element.attrib)
            self._add_rules(css, _names_in(tree), set(_USE.findall(f"{css} {attributes}")))

    def _add_rules(self, css: str, names: set[str], used: set[str]) -> None:
        count = 0
        for rule in split_rules(css):
            if rule.keyframes or rule.head.startswith("@"):
                self._add_at_rule(rule)
                continue
            selectors = split_selectors(rule.head)
            wanted = [one for one in selectors if _may_match(one, names)]
            declarations = _usable(rule, used) if wanted else {}
            if not declarations or not all(map(_is_selector, selectors)):  # a browser drops the whole rule
                continue
            count += len(wanted)
            if count > MAX_SELECTORS:
                raise NotReadable("complex")
            for selector in wanted:
                self._add_selector(selector, rule.layer, declarations)

    def _add_at_rule(self, rule: Rule) -> None:
        if rule.keyframes:
            frames = self._frames.setdefault(rule.keyframes, {"from": {}, "to": {}})
            for place in split_selectors(rule.head.lower()):
                frames.setdefault({"0%": "from", "100%": "to"}.get(place, place), {}).update(
                    parse_declarations(rule.body)
                )
        elif initial := re.search(r"initial-value\s*:([^;]*)", rule.body):
            self.root_variables[rule.head.split()[-1]] = initial[1].strip()

    def _add_selector(self, selector: str, layer: Layer, declarations: Declarations) -> None:
        for one in _compiled(selector) or ():
            if one.pseudo_element in {None, "before", "after", "first-line"}:
                self._matcher.add_selector(one, (layer, declarations))
                self._has_layers = self._has_layers or layer != NO_LAYER
                self.has_rules = True

    def styles_of(self, element: HtmlElement, wrapper: ElementWrapper | None, parent: ElementStyles) -> ElementStyles:
        """Return what the page declares for the element itself, after the cascade."""
        found = _presentation(element)
        drawn: dict[str, Declarations] = {}
        if wrapper is not None:
            self._match(wrapper, found, drawn)
        if "style" in element.attrib:
            _cascade(found, parse_declarations(element.attrib["style"]))
        if not found and not drawn:
            return ElementStyles({}, parent.variables)
        variables = _variables(found, parent.variables, element.attrib)
        own = _resolved(found, parent.own, variables, element.attrib)
        if "animation-name" in own:
            own |= _resolved(self._animated(own), parent.own, variables, element.attrib)
        pseudo = tuple(_resolved(one, own, variables, element.attrib) for one in drawn.values())
        return ElementStyles(own, variables, pseudo)

    def _match(self, wrapper: ElementWrapper, found: Declarations, drawn: dict[str, Declarations]) -> None:
        matches = [(pseudo, *payload) for _specificity, _order, pseudo, payload in self._matcher.match(wrapper)]
        for pseudo, _layer, declarations in self._in_order(matches):
            if pseudo is None:
                _cascade(found, declarations)
            elif pseudo == "first-line":
                _cascade(found, {name: one for name, one in declarations.items() if name in _OF_FIRST_LINE})
            else:
                _cascade(drawn.setdefault(pseudo, {}), declarations)

    def _in_order(
        self, matches: list[tuple[str | None, Layer, Declarations]]
    ) -> Iterable[tuple[str | None, Layer, Declarations]]:
        """Return matches so that later ones win: by layer, and in reverse for what is important."""
        if not self._has_layers:
            return matches
        usual = sorted(matches, key=lambda one: one[1])
        turned = sorted(matches, key=lambda one: one[1], reverse=True)
        important = [
            (pseudo, layer, {name: value for name, value in declarations.items() if value[1]})
            for pseudo, layer, declarations in turned
        ]
        return [*usual, *important]

    def _animated(self, styles: Styles) -> Declarations:
        """Return what an animation declares once it has run, or while it stands still or never ends."""
        words = " ".join(value for name, value in styles.items() if name.startswith("animation-"))
        frames = next((frames for name, frames in self._frames.items() if name.lower() in words.split()), None)
        if frames is None:
            return {}
        if "paused" in words:
            return frames["from"]
        if "infinite" in words:
            return dict(frames["from"].items() & frames["to"].items())
        return frames["to"] if re.search(r"\b(?:forwards|both)\b", words) else {}


def _usable(rule: Rule, used: set[str]) -> Declarations:
    """Return what a rule declares. What is uncertain may hide something, but show nothing."""
    found = {name: one for name, one in parse_declarations(rule.body).items() if name in PROPERTIES or name in used}
    return found if rule.is_certain else {name: one for name, one in found.items() if hides_alone(name, one[0].lower())}


_PLAIN = re.compile(r"[\w\s.#>+~*-]+")
_DRAWN = re.compile(
    r"::(?!-webkit-|before|after|first-l|selection|marker|placeholder|backdrop|file-selector|cue|part|slotted|"
    r"target-text|highlight|details-content|view-transition|spelling|grammar|scroll|search-text|checkmark|picker|column)"
)
"""A pseudo-element that no browser of today knows."""


def _is_selector(selector: str) -> bool:
    return bool(_PLAIN.fullmatch(selector)) or (not _DRAWN.search(selector) and _compiled(selector) is not None)


@lru_cache(maxsize=MAX_SELECTORS)
def _compiled(selector: str) -> list[CompiledSelector] | None:
    """Return what matches a selector, or None if nothing is known to."""
    known = _PSEUDO_CLASS.sub(lambda found: _PSEUDO_CLASSES[found[1].lower()], selector.replace("*|", ""))
    try:
        found: list[CompiledSelector] = compile_selector_list(known.replace(":-webkit-any(", ":is("))
    except (SelectorError, NotImplementedError, RecursionError, SyntaxError):
        return None
    return found


def _title_in_use(tree: HtmlElement) -> str:
    """Return the title of the first sheet that has one. Sheets of another title are for a reader to choose."""
    return next((sheet.get("title", "") for sheet in tree.iter("style", "link") if sheet.get("title")), "")


def _is_in_force(style: HtmlElement, title: str) -> bool:
    return (
        style.get("type", "text/css").strip().lower() in {"", "text/css"}
        and style.get("title", title) in {"", title}
        and is_for_screen(style.get("media", ""))
        and not any(one.tag in {"template", "noscript"} for one in style.iterancestors())
    )


def _names_in(tree: HtmlElement) -> set[str]:
    """Return every class and id of the page, as in a selector."""
    names = {f"#{element.get('id')}" for element in tree.iter() if element.get("id")}
    return names | {f".{name}" for element in tree.iter() for name in (element.get("class") or "").split()}


def _may_match(selector: str, names: set[str]) -> bool:
    if "\\" in selector:
        return True
    while (shorter := _IN_BRACKETS.sub("", selector)) != selector:
        selector = shorter
    return names.issuperset(map("".join, _NAME.findall(selector)))


def _presentation(element: HtmlElement) -> Declarations:
    """Return what a browser's own sheet and the attributes of an element declare."""
    found = dict(_BY_BROWSER.get(element.tag, {}))
    attributes = element.attrib
    if element.tag == "a" and "href" in attributes:
        found |= _LINK
    for name in attributes.keys() & _WRITTEN_AS_ATTRIBUTE.keys():
        found[_WRITTEN_AS_ATTRIBUTE[name]] = old_colour(attributes[name]), False
    return found


def _variables(found: Declarations, inherited: Mapping[str, str], attributes: Mapping[str, str]) -> Mapping[str, str]:
    own = {name: value for name, (value, _) in found.items() if name.startswith("--")}
    if not own:
        return inherited
    variables = {**inherited, **own}
    for name, value in own.items():
        if "(" in value:
            variables[name] = replace_variables(value, variables, attributes)
        if variables[name] in _FOR_ALL:
            variables.pop(name)
            if value != "initial" and name in inherited:
                variables[name] = inherited[name]
    return variables


def _resolved(
    found: Declarations, parent: Styles, variables: Mapping[str, str], attributes: Mapping[str, str]
) -> Styles:
    """Return values without variables, calculations and words such as `inherit`."""
    styles: Styles = {}
    for name, (value, _) in found.items():
        if name.startswith("--"):
            continue
        if "(" in value:
            value = replace_variables(value, variables, attributes)  # noqa: PLW2901
        value = calculate(value.lower())  # noqa: PLW2901
        if value == "inherit" and name not in _INHERITED:
            value = parent.get(name, UNSET)  # noqa: PLW2901
        elif value == "initial":
            value = _INHERITED.get(name, UNSET)  # noqa: PLW2901
        if value not in _FOR_ALL:
            styles[name] = value
    return styles


def styles_in(body: str) -> Styles:
    """Return what declarations by themselves say."""
    return _resolved(parse_declarations(body), {}, {}, {})
