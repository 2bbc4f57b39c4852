"""Boilerplate removal: menus, footers and advertisements are taken out of a page's tree.

An element goes if the page itself names it so, or if it is nothing but links. This runs only in a worker, and only for
pages of a usual size.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml.html import HtmlElement

from core.base.text import one_line

MENU_LINKS = 20
MENU_SHARE = 0.8
SMALL = 60
SMALL_SHARE = 0.2
"""Largest share of a page's text that counts as boilerplate, whatever the element is called."""
LINKED_SHARE = 0.5
"""Share of text in links above which the page is a list of links, which are then its content."""

_TAGS = ("nav", "footer", "aside", "button")
_ROLES = frozenset({"navigation", "banner", "contentinfo", "complementary", "dialog", "alertdialog", "search"})
_NAMES = frozenset(
    (
        *("nav", "navbar", "topnav", "navigation", "menu", "crumb", "crumbs", "breadcrumb", "breadcrumbs", "topbar"),
        *("sidebar", "aside", "toolbar", "footer", "foot", "bottom", "copyright", "share", "sharing", "social"),
        *("pager", "pagination", "related", "recommend", "recommended", "similar", "cookie", "cookies", "consent"),
        *("ad", "ads", "advert", "advertisement", "banner", "qrcode", "feedback", "vote"),
    )
)
_BLOCKS = ("div", "ul", "ol", "p", "section", "table")
_NAMED = (*_BLOCKS, "span", "li", "header", "font", "h3")
_MAIN_TAGS = frozenset({"h1", "article", "main"})


def remove_menus(tree: HtmlElement) -> None:
    """Remove long lists of links, which are half of a portal's page and most of the work with it."""
    for element in list(tree.iter("ul", "ol", "nav", "footer")):
        links = list(element.iter("a"))
        if len(links) < MENU_LINKS or element.getparent() is None:
            continue
        linked = sum(len(link.text_content()) for link in links)
        if linked > MENU_SHARE * len(one_line(element.text_content())):
            element.drop_tree()


def remove_boilerplate(tree: HtmlElement) -> None:
    """Remove boilerplate, but nothing large and nothing with the heading in it. Lists of links inside the article stay."""
    measures = _measures(tree)
    whole = measures[tree]
    most = max(SMALL, SMALL_SHARE * whole.text)
    links_surround = whole.linked <= LINKED_SHARE * whole.text
    for element in list(tree.iter(*_TAGS, *_NAMED)):
        measure = measures[element]
        if element.getparent() is None or measure.text > most or measure.has_main_content:
            continue
        is_list = element.tag in _BLOCKS and 0 < measure.text == measure.linked
        if _is_marked_boilerplate(element) or (links_surround and is_list and not _is_inside_article(element)):
            element.drop_tree()


@dataclass(frozen=True, slots=True)
class _Measure:
    text: int
    """Number of characters, without blanks."""
    linked: int
    """Number of these characters that are in links."""
    has_main_content: bool


def _measures(tree: HtmlElement) -> dict[HtmlElement, _Measure]:
    """Return the measures of every element, in time linear in the page: children come after their parents in `iter`."""
    found: dict[HtmlElement, _Measure] = {}
    for element in reversed(list(tree.iter())):
        inside = [found[child] for child in element]
        text = _length(element.text) + sum(part.text for part in inside) + sum(_length(child.tail) for child in element)
        linked = text if element.tag == "a" else sum(part.linked for part in inside)
        has_main_content = element.tag in _MAIN_TAGS or any(part.has_main_content for part in inside)
        found[element] = _Measure(text, linked, has_main_content)
    return found


def _is_marked_boilerplate(element: HtmlElement) -> bool:
    if element.tag in _TAGS or element.get("role", "").lower() in _ROLES:
        return True
    names = re.split(r"[^a-z]+", f"{element.get('class', '')} {element.get('id', '')}".lower())
    return not _NAMES.isdisjoint(names)


def _is_inside_article(element: HtmlElement) -> bool:
    return any(ancestor.tag in {"article", "main", "table"} for ancestor in element.iterancestors())


def _length(text: str | None) -> int:
    return len("".join(text.split())) if text else 0
