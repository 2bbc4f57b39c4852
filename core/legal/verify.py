"""法条核验: every statute that a text cites is looked up, and the words it quotes are compared with the law."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from core.legal.errors import CorpusError, NoLegalIndex
from core.legal.layouts.markup import Undecodable, decode
from core.legal.library.index import LawVersion, LegalIndex, LegalLibrary, StoredArticle
from core.legal.text.names import law_key
from core.legal.text.numerals import to_chinese
from core.legal.text.paragraphs import excerpt
from core.legal.text.statute_citations import Citation, find_citations
from core.legal.types import Status

_SHORTEST_QUOTE = 8
"""Shorter words in quotation marks are terms, not quotations."""
_PAIRS = {"“": "”", "「": "」", "『": "』", '"': '"'}
_QUOTE_AFTER = re.compile(
    r"(?P<link>[^。；;！？!?\n“”「」『』\"《》]{0,24}?)[:：,，(（]?\s*(?P<open>[“「『\"])(?P<quote>[^”」』\"]{2,1500})[”」』\"]"
)
_LINK = re.compile(
    r"(?:的)?(?:.{0,6}(?:规定|载明|指出|明确|写明|要求|原文|内容|条文|表述|全文|称|即|为|是|如下)[了是为]?.{0,4})?\**\s*"
)
_BLOCK_AFTER = re.compile(r"[^\n。“「]{0,24}\n+(?P<quote>(?:[ \t]*>[^\n]*(?:\n|$))+)")
_QUOTE_BEFORE = re.compile(
    r"[“「『\"](?P<quote>[^“”「」『』\"]{2,1500})[”」』\"][。，,]?\s*[（(【\[—-]+\s*(?:见|参见|引自|依据|载于|出自)?\s*$"
)
_ELLIPSIS = re.compile(r"…+|\.{3,}|。{3,}|\*{3,}|［略］|\[略\]|（略）|\(略\)")
_ITEM_MARK = re.compile(r"[（(][一二三四五六七八九十]{1,3}[)）]")
_OWN_NUMBER = re.compile(r"^\s*第[^条\s]{1,12}条(?:之[一二三四五六七八九十]+)?(?:第[^款]{1,3}款)?[\s:：]*")


class Mark(StrEnum):
    EXISTS = "✓"
    MISSING = "✗"
    DIFFERS = "≠"
    NOT_IN_FORCE = "⌛"
    UNKNOWN = "？"

    @property
    def meaning(self) -> str:
        return {
            Mark.EXISTS: "条文存在",
            Mark.MISSING: "没有这一条",
            Mark.DIFFERS: "引文与条文不一致",
            Mark.NOT_IN_FORCE: "不是现行有效的条文",
            Mark.UNKNOWN: "库中没有这部法规",
        }[self]


@dataclass(frozen=True, slots=True)
class Verdict:
    mark: Mark
    start: int
    end: int
    cited: str
    """The citation as the text has it."""
    law_name: str
    article_number: str
    text: str | None = None
    """The article, where the index holds it."""
    quote: str | None = None
    """The words that were compared."""
    note: str = ""
    effective_date: str | None = None
    published: str | None = None
    """Which version of the law it was compared with."""
    law_id: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "mark": self.mark.value,
            "meaning": self.mark.meaning,
            "start": self.start,
            "end": self.end,
            "cited": self.cited,
            "lawName": self.law_name,
            "articleNumber": self.article_number,
            "text": self.text,
            "quote": self.quote,
            "note": self.note,
            "effectiveDate": self.effective_date,
            "publishDate": self.published,
        }


def report(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """All of them, and how many there are of each mark."""
    return {
        "citations": [verdict.to_json() for verdict in verdicts],
        "total": len(verdicts),
        "counts": {mark.value: sum(verdict.mark is mark for verdict in verdicts) for mark in Mark},
    }


class Verifier:
    def __init__(self, library: LegalLibrary) -> None:
        self._library = library

    def verify(self, text: str) -> list[Verdict]:
        """One verdict for every citation, in the order of the text."""
        index = self._library.index()
        if index is None:
            raise NoLegalIndex
        citations = [citation for citation in find_citations(text, index.is_known) if citation.law]
        return [
            _CitationCheck(index, text, citation, quote).verdict() for citation, quote in _with_quotes(text, citations)
        ]

    def verify_file(self, file: Path) -> list[Verdict]:
        """Of a text file, in whatever encoding."""
        try:
            return self.verify(decode(file.read_bytes()))
        except OSError as error:
            raise CorpusError(f"无法读取 {file.name}。", cure="请检查路径和权限。") from error
        except Undecodable:
            raise CorpusError(f"{file.name} 不是文本文件，或编码无法识别。", cure="请另存为 UTF-8 文本。") from None


def _with_quotes(text: str, citations: Sequence[Citation]) -> Iterator[tuple[Citation, str | None]]:
    """Each citation with the quotation that belongs to it: after 第…条规定：, in a block below, or right before it."""
    for position, citation in enumerate(citations):
        until = citations[position + 1].start if position + 1 < len(citations) else len(text)
        begin = citations[position - 1].end if position else 0
        yield citation, _quote_after(text, citation.end, until) or _quote_before(text[begin : citation.start])


def _quote_after(text: str, at: int, until: int) -> str | None:
    after = text[at : at + 1_600]
    found = _QUOTE_AFTER.match(after)
    if found and at + found.start("open") <= until and _LINK.fullmatch(found["link"]):
        closing = after.find(_PAIRS[found["open"]], found.start("quote"))
        return after[found.start("quote") : closing] if closing >= 0 else None
    block = _BLOCK_AFTER.match(after)
    if block and at + block.start("quote") <= until:
        return re.sub(r"(?m)^[ \t]*>[ \t]?", "", block["quote"])
    return None


def _quote_before(before: str) -> str | None:
    found = _QUOTE_BEFORE.search(before[-1_600:])
    return found["quote"] if found else None


class _CitationCheck:
    def __init__(self, index: LegalIndex, text: str, citation: Citation, quote: str | None) -> None:
        self._index = index
        self._cited = text[citation.start : citation.end]
        self._citation = citation
        self._quote = quote if quote and len(_letters(quote)) >= _SHORTEST_QUOTE else None
        self._law = index.resolve(citation.law or "")

    def verdict(self) -> Verdict:
        if self._law is None:
            return self._unknown(self._citation.law or "")
        found = self._index.article(self._law.id, self._citation.article)
        if found is None:
            return self._missing(self._law)
        gap = self._gap(self._law, found)
        if gap:
            return self._say(Mark.MISSING, self._law, found, gap)
        status = self._index.status(self._law)
        if self._quote and not quotes(self._quote, found.text):
            older = self._version_with_quote(self._law)
            if older:
                return self._say(Mark.NOT_IN_FORCE, older[0], older[1], f"引文出自{_named(older[0])}，现行条文已不同。")
            return self._say(Mark.DIFFERS, self._law, found)
        if status is Status.IN_FORCE:
            return self._say(Mark.EXISTS, self._law, found)
        return self._say(Mark.NOT_IN_FORCE, self._law, found, self._why(self._law, status))

    def _unknown(self, name: str) -> Verdict:
        repeal = self._index.repeal(law_key(name))
        if repeal is None:
            return self._say(Mark.UNKNOWN, name)
        by = self._index.version(repeal.law_id)
        return self._say(Mark.NOT_IN_FORCE, name, note=f"已由《{by.name}》{repeal.number}废止。")

    def _missing(self, law: LawVersion) -> Verdict:
        if not law.article_count:
            return self._say(Mark.UNKNOWN, law, note="库中这份文件没有分条。")
        for version in self._index.versions(law.key):
            if version != law and (found := self._index.article(version.id, self._citation.article)):
                return self._say(Mark.NOT_IN_FORCE, version, found, f"只见于{_named(version)}，现行文本没有这一条。")
        return self._say(Mark.MISSING, law, note=f"全文共{to_chinese(self._index.highest(law.id))}条。")

    def _gap(self, law: LawVersion, found: StoredArticle) -> str:
        """What of the citation the article does not have: the end of a range, a 款, an 项."""
        citation = self._citation
        if citation.last and not self._index.article(law.id, citation.last):
            return f"没有{citation.last}，全文共{to_chinese(self._index.highest(law.id))}条。"
        if citation.last or excerpt(found.text, citation.paragraph, citation.item):
            return ""
        if citation.paragraph and excerpt(found.text, citation.paragraph, None) is None:
            return f"该条没有第{to_chinese(citation.paragraph)}款。"
        return f"该处没有第（{to_chinese(citation.item)}）项。" if citation.item else ""

    def _version_with_quote(self, law: LawVersion) -> tuple[LawVersion, StoredArticle] | None:
        for version in self._index.versions(law.key):
            found = self._index.article(version.id, self._citation.article) if version != law else None
            if found and self._quote and quotes(self._quote, found.text):
                return version, found
        return None

    def _why(self, law: LawVersion, status: Status) -> str:
        if status is Status.NOT_YET:
            return f"自{law.effective}起施行，目前尚未生效。"
        repeal = self._index.repeal(law.key)
        return f"已由《{self._index.version(repeal.law_id).name}》{repeal.number}废止。" if repeal else "该法规已废止。"

    def _say(self, mark: Mark, law: LawVersion | str, found: StoredArticle | None = None, note: str = "") -> Verdict:
        known = None if isinstance(law, str) else law
        return Verdict(
            mark=mark,
            start=self._citation.start,
            end=self._citation.end,
            cited=self._cited,
            law_name=law if isinstance(law, str) else law.name,
            article_number=str(self._citation.article),
            text=found.text if found else None,
            quote=self._quote,
            note=note,
            effective_date=known.effective if known else None,
            published=known.published if known else None,
            law_id=known.id if known else None,
        )


def _named(version: LawVersion) -> str:
    return f"{version.published}公布的版本" if version.published else "另一版本"


def quotes(quote: str, text: str) -> bool:
    """Whether the words stand in the text, in order; punctuation, blanks, item marks and ellipses do not matter."""
    for shown in (lambda words: words, lambda words: _ITEM_MARK.sub("", words)):
        letters, at = _letters(shown(text)), 0
        for piece in _ELLIPSIS.split(_OWN_NUMBER.sub("", quote)):
            wanted = _letters(shown(piece))
            at = letters.find(wanted, at)
            if at < 0:
                break
            at += len(wanted)
        else:
            return True
    return False


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).lower()
