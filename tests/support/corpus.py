"""Pages in the shapes that the web has, written and marked by hand (tests/reading/pages).

`data-main` stands on what a reader came for, `data-around` on what surrounds it, `data-reason` on a page that stands in for
an article. The marks are taken out before anything reads the page. Each is served in the charset that it declares.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lxml import html

from core.base.chinese.sentences import split_sentences
from support.base import ROOT

FOLDER = ROOT / "tests" / "reading" / "pages"
_MARKS = re.compile(r' data-(?:main|around)(?:="")?| data-reason="\w+"')
_CHARSET = re.compile(r"charset=\"?([\w-]+)")
_CODECS = {"gb2312": "gb18030", "big5": "big5"}


@dataclass(frozen=True)
class Sample:
    name: str
    body: bytes
    main: tuple[str, ...]
    """Sentences, and cells of tables."""
    around: tuple[str, ...]
    reason: str
    """Why it cannot be read; empty: it can."""

    def kept(self, text: str) -> float:
        """The share of what a reader came for that is in this text."""
        return share(self.main, text)

    def left(self, text: str) -> float:
        """The share of what surrounds it that is in this text too."""
        return share(self.around, text)


def samples() -> list[Sample]:
    return [_sample(path.name, path.read_text("utf-8")) for path in sorted(FOLDER.iterdir())]


def _sample(name: str, marked: str) -> Sample:
    tree = html.fromstring(marked.encode(), parser=html.HTMLParser(encoding="utf-8"))
    charset = _CHARSET.search(marked)
    codec = _CODECS.get(charset[1] if charset else "", "utf-8")
    reason = re.search(r'data-reason="(\w+)"', marked)
    return Sample(
        name,
        _MARKS.sub("", marked).encode(codec),
        main=tuple(unit for element in tree.xpath("//*[@data-main]") for unit in _units(element)),
        around=tuple(element.text_content() for element in tree.xpath("//*[@data-around]")),
        reason=reason[1] if reason else "",
    )


def _units(element: html.HtmlElement) -> Iterable[str]:
    if element.tag == "tr":
        return [cell.text_content() for cell in element]
    return split_sentences(element.text_content())


def share(parts: Sequence[str], text: str) -> float:
    """How much of the parts stands in the text, by length; blanks and the lines of tables do not count."""
    there = _bare(text)
    lengths = [(len(_bare(part)), _bare(part) in there) for part in parts]
    return sum(length for length, found in lengths if found) / max(1, sum(length for length, _ in lengths))


def _bare(text: str) -> str:
    return re.sub(r"[\s|]+", "", text)
