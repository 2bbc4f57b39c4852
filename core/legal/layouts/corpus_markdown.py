"""Parser for the Markdown of both public corpora: headings, paragraphs and articles."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.base.chinese.numerals import NUMERAL
from core.base.text import clean
from core.legal.article_numbers import ArticleNumber
from core.legal.entities import Article

_BLANKS = re.compile(r"[^\S\n]+")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADING = re.compile(r"(#{1,6})\s*(.*)")
_DIVISION = re.compile(rf"(第\s*{NUMERAL}\s*(?:分编|[编篇章节]))\s*(.*)")
# 第X条 at the start of a paragraph. One source sets it bold, except 之一; another has lost the blank after it in places
# (第一百二十八 条侦查人员…), and has a look-alike of 第 in one law.
_ARTICLE = re.compile(
    rf"(?P<bold>\*\*)?[第笫]\s*(?P<number>{NUMERAL})\s*条(?:\s*之\s*(?P<suffix>{NUMERAL}))?(?:\*\*)?(?P<gap>[\s:：]*)"
)
_CONTINUES_SENTENCE = re.compile(r"(?:第|规定|所|的|、|至|和|及|或|中|，|之)")
_EDITION = re.compile(r"(?<=宪法)[（(]\d{4}年(?:修正文本)?[）)]$")
_KEPT_WITHOUT_NUMBER = re.compile(r"\s*(?:序言|前言|附)")


class Undecodable(ValueError):
    """Raised for bytes in no encoding used for Chinese text."""


def decode(data: bytes, *, keep_blanks: bool = False) -> str:
    """Decode UTF-8 or an older Chinese encoding. Spaces become one kind, invisible characters are removed."""
    marked = ["utf-16"] if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else []
    for encoding in (*marked, "utf-8-sig", "gb18030"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\x00" in text:
            break
        return text if keep_blanks else _BLANKS.sub(" ", clean(text))
    raise Undecodable


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    title: str


def parse_blocks(text: str) -> Iterator[Heading | str]:
    """Yield headings and paragraphs in order, without comments and front matter."""
    text = re.sub(r"\A---\n.*?\n---\n", "", _COMMENT.sub("", text), flags=re.DOTALL)
    for line in map(str.strip, text.splitlines()):
        if heading := _HEADING.fullmatch(line):
            yield Heading(len(heading[1]), tidy_heading(heading[2]))
        elif line:
            yield line


def tidy_heading(title: str) -> str:
    """Normalise the spaces of a heading: `第一章　总 则` → `第一章 总则`."""
    title = title.strip("* ")
    if division := _DIVISION.fullmatch(title):
        return f"{''.join(division[1].split())} {_join_characters(division[2])}".strip()
    return _join_characters(title)


def without_edition(title: str) -> str:
    """Return the title of the constitution without its edition: 宪法（2018年修正文本）. It is a version, not another law."""
    return _EDITION.sub("", title)


def _join_characters(text: str) -> str:
    """Join single characters that were set apart (总 则), but not words (最高人民法院 最高人民检察院)."""
    parts = text.split()
    return "".join(parts) if all(len(part) == 1 for part in parts) else " ".join(parts)


def parse_articles(content: Iterable[Heading | str], path: Sequence[str] = ()) -> list[Article]:
    """Return the articles below the given headings. A text without any 第…条 becomes one article without a number."""
    reader = _ArticleParser(tuple(path))
    for block in content:
        if isinstance(block, Heading):
            reader.add_heading(block)
        else:
            reader.add_paragraph(block)
    return reader.finish()


class _ArticleParser:
    def __init__(self, path: tuple[str, ...]) -> None:
        self._base = path
        self._headings: list[Heading] = []
        self._number = ArticleNumber(0)
        self._lines: list[str] = []
        self._everything: list[str] = []
        self._articles: list[Article] = []
        self._numbered = False

    def add_heading(self, heading: Heading) -> None:
        self._close()
        self._headings = [above for above in self._headings if above.level < heading.level] + [heading]
        self._everything.append(heading.title)

    def add_paragraph(self, line: str) -> None:
        self._everything.append(line)
        self._article_line(line)

    def _article_line(self, line: str) -> None:
        if start := _article_start(line, self._last_number()):
            self._close()
            self._number, line = start
            self._numbered = True
        # One regulation has lost its line breaks: …。 第八条 …
        line, found, rest = line.partition(f"。 {ArticleNumber(self._last_number().number + 1)} ")
        self._lines.append((line + found[:1]).replace("**", "").strip())
        if found:
            self._article_line(found[2:] + rest)

    def finish(self) -> list[Article]:
        self._close()
        if self._numbered:
            return self._articles
        text = "\n".join(self._everything)
        return [Article(ArticleNumber(0), text, self._base)] if text else []

    def _last_number(self) -> ArticleNumber:
        if self._number.number:
            return self._number
        return next((a.number for a in reversed(self._articles) if a.number.number), ArticleNumber(0))

    def _close(self) -> None:
        titles = [heading.title for heading in self._headings]
        text = "\n".join(line for line in self._lines if line)
        if text and (self._number.number or any(map(_KEPT_WITHOUT_NUMBER.match, titles))):
            self._articles.append(Article(self._number, text, (*self._base, *titles)))
        self._number, self._lines = ArticleNumber(0), []


def _article_start(line: str, last: ArticleNumber) -> tuple[ArticleNumber, str] | None:
    found = _ARTICLE.match(line)
    if not found:
        return None
    try:
        number = ArticleNumber.read(found["number"], found["suffix"])
    except ValueError:
        return None
    rest = line[found.end() :]
    if found["bold"] or found["gap"] or not rest:
        return number, rest
    # Without a space it may be a sentence that begins with a reference. It is an article if its number follows the last one.
    follows = number in (ArticleNumber(last.number + 1), ArticleNumber(last.number, last.suffix + 1))
    return (number, rest) if follows and not _CONTINUES_SENTENCE.match(rest) else None
