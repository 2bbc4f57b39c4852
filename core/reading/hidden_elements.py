"""Removal of hidden text: what people cannot see must not reach a model.

Only the page itself is considered, without its external style sheets. What lies under something else is not noticed. A
closed <details> stays: a reader can open it.
"""

from __future__ import annotations

from collections.abc import Iterator

from cssselect2 import ElementWrapper
from lxml.html import HtmlElement

from core.reading.hiding_styles import Look, is_hiding, look_of
from core.reading.page_styles import PageStyles

# None of these has words for a reader.
_SILENT = (
    *("script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas", "audio", "video"),
    *("select", "datalist", "textarea", "link", "map"),
)
_FOR_SCREEN_READERS = frozenset({"sr-only", "visually-hidden", "screen-reader-text"})


def remove_hidden(tree: HtmlElement) -> None:
    """Remove every element that a reader cannot see, and every word. Raise NotReadable if that cannot be judged."""
    for element in list(tree.iter("embed")):  # libxml2 takes what follows for what is in it
        element.drop_tag()
    styles = PageStyles(tree)
    _drop([element for element in tree.iter() if element is not tree and _is_unseen(element)])
    unseen, illegible = _judge_elements(tree, styles)
    for element in illegible:
        _remove_own_words(element)
    _drop(unseen)


def _drop(elements: list[HtmlElement]) -> None:
    for element in elements:
        if element.getparent() is not None:
            element.drop_tree()


def _is_unseen(element: HtmlElement) -> bool:
    if not isinstance(element.tag, str):  # a comment or a processing instruction
        return True
    if element.tag in _SILENT or (element.tag == "dialog" and "open" not in element.attrib):
        return True
    attributes = element.attrib
    return bool(attributes) and (
        "hidden" in attributes or not _FOR_SCREEN_READERS.isdisjoint(attributes.get("class", "").split())
    )


def _judge_elements(tree: HtmlElement, styles: PageStyles) -> tuple[list[HtmlElement], list[HtmlElement]]:
    """Return the elements that cannot be seen, and those whose own words cannot."""
    looks: dict[HtmlElement, Look] = {}
    unseen: list[HtmlElement] = []
    illegible: list[HtmlElement] = []
    for element, wrapper in _wrapped(tree, has_rules=styles.has_rules):
        declared = styles.styles_of(element, wrapper) if wrapper is not None or element.attrib else {}
        looks[element] = look = look_of(declared, looks.get(element.getparent(), Look()))
        if declared and element is not tree and is_hiding(declared):
            unseen.append(element)
        elif not look.is_legible:
            illegible.append(element)
    return unseen, illegible


def _wrapped(tree: HtmlElement, *, has_rules: bool) -> Iterator[tuple[HtmlElement, ElementWrapper | None]]:
    """Yield the elements, wrapped for matching if there is anything to match."""
    if not has_rules:
        yield from ((element, None) for element in tree.iter())
        return
    for wrapper in ElementWrapper.from_html_root(tree).iter_subtree():
        yield wrapper.etree_element, wrapper


def _remove_own_words(element: HtmlElement) -> None:
    element.text = None
    for child in element:
        child.tail = None
