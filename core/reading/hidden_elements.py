"""Removal of hidden elements: text that people cannot see must not reach a model.

Only the page itself is considered, without its external style sheets.
"""

from __future__ import annotations

import re

from lxml.html import HtmlElement

# None of these has words for a reader.
_SILENT = (
    *("script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas", "audio", "video"),
    *("select", "datalist", "textarea", "link", "map"),
)
_HIDING = re.compile(
    r"""(?x)
    display:none | visibility:(?:hidden|collapse) | content-visibility:hidden
  | (?<![\w-])opacity:0?(?:\.0\d*)?(?:[;!%]|$)
  | font-size:(?:0|1px|1pt|0?\.\d+p[xt])(?:[a-z%]*)(?:[;!]|$)
  | (?<![\w-])color:transparent | text-indent:-\d{3} | (?<![\w-])(?:left|right|top|bottom|margin-left|margin-top):-\d{4}
  | clip:rect\((?:0|1px) | clip-path:(?:inset\((?:50|100)%|circle\(0) | transform:[^;]*scale\(0[,)]
    """
)
_NO_ROOM = re.compile(r"(?<![\w-])(?:max-)?(?:width|height):[01](?:px|em|rem|%)?(?:[;!]|$)")
_CLIPPED = re.compile(r"overflow(?:-[xy])?:(?:hidden|clip)")
_COLOUR = re.compile(r"(?<![\w-])color:([^;!]+)")
_BACKGROUND = re.compile(r"background(?:-color)?:([^;!]+)")
_CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_CSS_ESCAPE = re.compile(r"\\([0-9a-f]{1,6})\s?", re.IGNORECASE)
_CONDITIONAL = re.compile(r"@(?!import|charset)[^{;]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_SIMPLE_SELECTOR = re.compile(r"[.#][\w-]+")
_FOR_SCREEN_READERS = frozenset({".sr-only", ".visually-hidden", ".screen-reader-text"})


def is_hiding_style(style: str) -> bool:
    """Return whether an element with this style is invisible."""
    style = _CSS_ESCAPE.sub(lambda found: chr(int(found[1], 16) % 0x10000), _CSS_COMMENT.sub("", style))
    style = re.sub(r"\s+", "", style).lower()
    if _HIDING.search(style) or (_NO_ROOM.search(style) and _CLIPPED.search(style)):
        return True
    colour, background = _COLOUR.search(style), _BACKGROUND.search(style)
    return bool(colour and background and colour[1] == background[1])


def hiding_selectors(css: str) -> set[str]:
    """Return the classes and ids that the page's own style sheet always hides, on every medium."""
    css = _CONDITIONAL.sub("", _CSS_COMMENT.sub("", css))
    hidden = [selectors for selectors, style in _RULE.findall(css) if is_hiding_style(style)]
    return set(filter(_SIMPLE_SELECTOR.fullmatch, map(str.strip, ",".join(hidden).split(","))))


def remove_hidden(tree: HtmlElement) -> None:
    """Remove every element that a reader cannot see."""
    for element in list(tree.iter("embed")):  # libxml2 takes what follows for what is in it
        element.drop_tag()
    selectors = hiding_selectors("\n".join(style.text or "" for style in tree.iter("style"))) | _FOR_SCREEN_READERS
    unseen = [element for element in tree.iter() if element is not tree and _is_unseen(element, selectors)]
    for element in unseen:
        if element.getparent() is not None:
            element.drop_tree()


def _is_unseen(element: HtmlElement, selectors: set[str]) -> bool:
    if not isinstance(element.tag, str):  # a comment or a processing instruction
        return True
    if element.tag in _SILENT or (element.tag == "dialog" and "open" not in element.attrib):
        return True
    attributes = element.attrib
    if not attributes:
        return False
    if "hidden" in attributes or ("style" in attributes and is_hiding_style(attributes["style"])):
        return True
    named = [f".{name}" for name in attributes.get("class", "").split()] + [f"#{attributes.get('id', '')}"]
    return not selectors.isdisjoint(named)
