"""Formulas as MathML, which every browser draws by itself. Links, styles and classes from TeX are left out."""

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
# Only words and small lengths, so that a formula cannot be drawn over other text.
_VALUE = re.compile(r"[a-z -]{1,40}|\d{0,2}(?:\.\d{1,4})?(?:em|ex|px|pt|%)?", re.ASCII)
_TEXT = re.compile(r"\\(?:text\w*|mathrm|mbox)\s*\{[^{}]*\}")
_SENTENCE = re.compile("[，。；！？、]")
_DELIMITERS = re.compile(r"\A(?:\$\$?|\\\(|\\\[)|(?:\$\$?|\\\)|\\\])\Z")


def strip_delimiters(formula: str) -> str:
    """Return the TeX without the delimiters around it."""
    return _DELIMITERS.sub("", formula.strip()).strip()


@lru_cache(maxsize=2048)
def mathml(tex: str, *, display: bool = False) -> Markup | None:
    """Return the TeX as MathML, or None if it is not TeX. Cached: a growing answer is drawn again and again."""
    if _SENTENCE.search(_TEXT.sub("", tex)):  # ordinary text between two dollar signs
        return None
    try:
        return _serialize(convert_to_element(tex, display="block" if display else "inline"))
    except Exception:  # the parser fails in many ways on text that is no formula
        log.debug("a formula cannot be read", exc_info=True)
        return None


def _serialize(element: Element) -> Markup:
    inside = Markup().join([Markup.escape(unescape(element.text or "")), *map(_serialize, element)])
    if not _TAGS.fullmatch(element.tag):
        return inside
    attributes = Markup().join(
        Markup(' %s="%s"') % (name, value)
        for name, value in element.attrib.items()
        if _ATTRIBUTES.fullmatch(name) and _VALUE.fullmatch(value)
    )
    return Markup("<%s%s>%s</%s>") % (element.tag, attributes, inside, element.tag)
