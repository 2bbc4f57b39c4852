"""Removal of hidden text: what people cannot see must not reach a model.

Only the page itself is considered, without its external style sheets and pictures. Nothing is laid out: what lies under
something else is noticed if that fills the box around it. A closed <details> stays: a reader can open it.
"""

from __future__ import annotations

from collections.abc import Iterator

from cssselect2 import ElementWrapper
from lxml.html import HtmlElement

from core.reading.hiding_styles import Look, depth_of, is_below, is_cover, is_hiding, is_placed, look_of
from core.reading.page_styles import ElementStyles, PageStyles, styles_in
from core.reading.style_sheets import split_rules

MOST_COVERED = 0.5
"""Share of a page's words up to which a cover counts. One over more of them is there until the page is loaded."""

# None of these has words for a reader.
_SILENT = frozenset(
    (
        *("script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas", "audio", "video"),
        *("select", "datalist", "textarea", "link", "map", "noembed", "noframes", "progress", "meter"),
    )
)
_FOR_SCREEN_READERS = frozenset({"sr-only", "visually-hidden", "screen-reader-text"})


def remove_hidden(tree: HtmlElement) -> None:
    """Remove every element that a reader cannot see, and every word. Raise NotReadable if that cannot be judged."""
    for element in list(tree.iter("embed")):  # libxml2 takes what follows for what is in it
        element.drop_tag()
    page = _JudgedPage(tree)
    for element in page.illegible:
        _remove_own_words(element)
    for element in page.unseen:
        if element.getparent() is not None:
            element.drop_tree()
    for element in tree.iter():
        element.attrib.pop("style", None)  # it is judged, and trafilatura would guess from it


def _remove_own_words(element: HtmlElement) -> None:
    element.text = None
    for child in element:
        child.tail = None


def _is_silent(element: HtmlElement) -> bool:
    if element.tag in _SILENT or not isinstance(element.tag, str):  # a comment or a processing instruction
        return True
    attributes = element.attrib
    if "hidden" in attributes or "popover" in attributes or (element.tag == "dialog" and "open" not in attributes):
        return True
    return "class" in attributes and not _FOR_SCREEN_READERS.isdisjoint(attributes["class"].split())


class _JudgedPage:
    """Elements of a page that cannot be seen, and those whose own words cannot."""

    def __init__(self, tree: HtmlElement) -> None:
        self.unseen: list[HtmlElement] = []
        self.illegible: list[HtmlElement] = []
        self._styles: dict[HtmlElement, ElementStyles] = {}
        self._looks: dict[HtmlElement, Look] = {}
        self._covers: list[tuple[HtmlElement, HtmlElement | None, float]] = []
        """Boxes, with the element that fills them and its depth. None: the box draws it itself."""
        self._judge_elements(tree)
        self._judge_details(tree)
        self._judge_shadows(tree)
        words = len(tree.text_content()) if self._covers else 0
        for box, cover, depth in self._covers:
            self._judge_covered(box, cover, depth, most=int(MOST_COVERED * words))

    def _judge_elements(self, tree: HtmlElement) -> None:
        styles = PageStyles(tree)
        root = ElementStyles({}, styles.root_variables)
        inside_silent: set[HtmlElement] = set()
        for element, wrapper in _wrapped(tree, has_rules=styles.has_rules):
            parent = element.getparent()
            if parent in inside_silent:
                inside_silent.add(element)
            elif _is_silent(element) and element is not tree:
                inside_silent.add(element)
                self.unseen.append(element)
            else:
                self._styles[element] = found = styles.styles_of(element, wrapper, self._styles.get(parent, root))
                self._judge(element, found, self._looks.get(parent, Look()))

    def _judge(self, element: HtmlElement, styles: ElementStyles, around: Look) -> None:
        own = styles.own
        look = look_of(own, around) if own else around
        if element.tag in {"html", "body"}:  # their background is the page's
            look = look._replace(is_on_paint=False, root_font=look.font if element.tag == "html" else look.root_font)
        self._looks[element] = look
        if own and element.getparent() is not None and (is_hiding(own) or is_below(own, around)):
            self.unseen.append(element)
        elif not look.is_legible:
            self.illegible.append(element)
        self._find_covers(element, styles)

    def _find_covers(self, element: HtmlElement, styles: ElementStyles) -> None:
        if is_cover(styles.own) and (box := self._box_around(element.getparent())) is not None:
            self._covers.append((box, element, depth_of(styles.own)))
        for drawn in styles.before_and_after:
            if "content" in drawn and is_cover(drawn) and (box := self._box_around(element)) is not None:
                self._covers.append((box, None, depth_of(drawn)))

    def _box_around(self, element: HtmlElement | None) -> HtmlElement | None:
        """Return the element in which something is placed: the nearest one that has a place itself."""
        while element is not None and element.tag not in {"html", "body"}:
            if is_placed(self._styles[element].own):
                return element
            element = element.getparent()
        return None

    def _judge_covered(self, box: HtmlElement, cover: HtmlElement | None, depth: float, *, most: int) -> None:
        path = set() if cover is None else {cover, *cover.iterancestors()}
        covered = [child for child in box if child not in path and not self._is_above(child, depth)]
        if sum(len(child.text_content()) for child in covered) <= most:
            self.unseen += covered
            self.illegible.append(box)

    def _is_above(self, element: HtmlElement, depth: float) -> bool:
        own = self._styles[element].own if element in self._styles else {}
        return is_placed(own) and depth_of(own) > depth

    def _judge_details(self, tree: HtmlElement) -> None:
        """Find what is in closed details that nobody can open, because their summary cannot be seen."""
        for element in tree.iter("details"):
            summary = element.find("summary")
            if "open" in element.attrib or summary is None or summary not in self._looks:
                continue
            if summary in self.unseen or not self._looks[summary].is_legible:
                self.unseen += element
                self.illegible.append(element)

    def _judge_shadows(self, tree: HtmlElement) -> None:
        """Find children of elements with a shadow tree that has no slot for them."""
        for template in tree.iter("template"):
            host = template.getparent()
            if "shadowrootmode" not in template.attrib or host is None:
                continue
            slots = (
                {slot.get("name", "") for slot in template.iter("slot")} if not _hides_host(template) else set[str]()
            )
            self.unseen += [child for child in host if child.get("slot", "") not in slots]
            if "" not in slots:
                self.illegible.append(host)


def _hides_host(template: HtmlElement) -> bool:
    css = "\n".join(style.text or "" for style in template.iter("style"))
    return any(
        (":host" in rule.head or "::slotted" in rule.head) and is_hiding(styles_in(rule.body))
        for rule in split_rules(css)
    )


def _wrapped(tree: HtmlElement, *, has_rules: bool) -> Iterator[tuple[HtmlElement, ElementWrapper | None]]:
    """Yield the elements, wrapped for matching if there is anything to match."""
    if not has_rules:
        yield from ((element, None) for element in tree.iter())
        return
    for wrapper in ElementWrapper.from_html_root(tree).iter_subtree():
        yield wrapper.etree_element, wrapper
