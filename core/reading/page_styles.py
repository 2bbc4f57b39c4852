"""The styles that a page's own style sheets and attributes give its elements, as on a wide screen.

Only rules that can hide something and whose names stand in the page are parsed (tinycss2) and matched (cssselect2), because
a sheet may have any size. External sheets are not asked for, and neither is what @import names.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from cssselect2 import ElementWrapper, Matcher, SelectorError, compile_selector_list
from cssselect2.compiler import CompiledSelector
from lxml.html import HtmlElement

from core.reading.css_values import UNSET, Styles, calculate, old_colour, replace_variables
from core.reading.declarations import INHERITED, PROPERTIES, WORDS_FOR_ALL, Declarations, cascade, parse_declarations
from core.reading.extraction_types import NotReadable
from core.reading.hiding_styles import hides_alone
from core.reading.media_queries import is_for_screen
from core.reading.style_sheets import NO_LAYER, Layer, Rule, split_rules, split_selectors

MAX_SELECTORS = 4_000
"""Limit for selectors that may concern the page. A page with more cannot be judged in its second."""

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
        css = "\n".join(_sheet_in(one) for one in tree.iter("style", "link") if _is_in_force(one, title))
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
            cascade(found, parse_declarations(element.attrib["style"]))
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
                cascade(found, declarations)
            elif pseudo == "first-line":
                cascade(found, {name: one for name, one in declarations.items() if name in _OF_FIRST_LINE})
            else:
                cascade(drawn.setdefault(pseudo, {}), declarations)

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


def _sheet_in(element: HtmlElement) -> str:
    """Return the sheet that an element holds: its text, or an address that is a sheet itself."""
    if element.tag == "style":
        return element.text or ""
    kind, _, data = element.get("href", "").strip().partition(",")
    if "stylesheet" not in element.get("rel", "").lower() or not kind.lower().startswith("data:text/css"):
        return ""
    try:
        return b64decode(unquote(data)).decode("utf-8", "replace") if kind.endswith(";base64") else unquote(data)
    except ValueError:
        return ""


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
        if variables[name] in WORDS_FOR_ALL:
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
        if value == "inherit" and name not in INHERITED:
            value = parent.get(name, UNSET)  # noqa: PLW2901
        elif value == "initial":
            value = INHERITED.get(name, UNSET)  # noqa: PLW2901
        if value not in WORDS_FOR_ALL:
            styles[name] = value
    return styles


def styles_in(body: str) -> Styles:
    """Return what declarations by themselves say."""
    return _resolved(parse_declarations(body), {}, {}, {})
