"""Formulas as MathML, which every browser draws by itself. What TeX would bring along is left out: links, styles, classes."""

from __future__ import annotations

import logging
import re
from functools import lru_cache
from html import unescape
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element
from markupsafe import Markup

log = logging.getLogger(__name__)

_TAGS = re.compile(
    "math|mrow|mi|mn|mo|mtext|mspace|mfrac|msqrt|mroot|msub|msup|msubsup|munder|mover|munderover|mmultiscripts|mtable|mtr|mtd"
    "|mstyle|mpadded|mphantom|menclose"
)
_ATTRIBUTES = re.compile(
    "display|displaystyle|scriptlevel|mathvariant|stretchy|fence|form|separator|accent|accentunder|linethickness|columnalign"
    "|width|height|lspace|rspace|minsize|maxsize|movablelimits|symmetric|largeop|notation|columnlines|rowlines"
)
# A word or a small length: a formula stays where it stands.
_VALUE = re.compile(r"[a-z -]{1,40}|\d{0,2}(?:\.\d{1,4})?(?:em|ex|px|pt|%)?", re.ASCII)
_TEXT = re.compile(r"\\(?:text\w*|mathrm|mbox)\s*\{[^{}]*\}")
_SENTENCE = re.compile("[，。；！？、]")
_DELIMITERS = re.compile(r"\A(?:\$\$?|\\\(|\\\[)|(?:\$\$?|\\\)|\\\])\Z")


def tex_of(written: str) -> str:
    """Without the signs around it."""
    return _DELIMITERS.sub("", written.strip()).strip()


@lru_cache(maxsize=2048)
def mathml(tex: str, *, display: bool = False) -> Markup | None:
    """None for what is not TeX. An answer that grows is drawn again and again: its formulas are read once."""
    if _SENTENCE.search(_TEXT.sub("", tex)):  # between the signs of two prices
        return None
    try:
        return _written(convert_to_element(tex, display="block" if display else "inline"))
    except Exception:  # its parser was made for formulas that people write, and has many ways to fail at others
        log.debug("a formula cannot be read", exc_info=True)
        return None


def _written(element: Element) -> Markup:
    inside = Markup().join([Markup.escape(unescape(element.text or "")), *map(_written, element)])
    if not _TAGS.fullmatch(element.tag):
        return inside
    attributes = Markup().join(
        Markup(' %s="%s"') % (name, value)
        for name, value in element.attrib.items()
        if _ATTRIBUTES.fullmatch(name) and _VALUE.fullmatch(value)
    )
    return Markup("<%s%s>%s</%s>") % (element.tag, attributes, inside, element.tag)
