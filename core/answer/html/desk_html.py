"""The reading desk: the sources of one answer with what was read of them, marked where a statement was compared.

A script of the page links both sides: `data-s` at a passage names statements by their place in `data-statements`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup, escape

from core.answer.check_results import AnswerCheck, Verdict
from core.answer.citation_verdicts import VERDICTS_WORST_FIRST, CitationVerdict, list_agreements
from core.answer.html.source_html import link_attributes, link_target, passage_button, site_name
from core.answer.html.source_marks import TextSpan, locate_passage
from core.answer.html.text_window import TextWindow, sections_in
from core.answer.source_details import OFFICIAL, describe_source, is_official
from core.base.text import one_line, shorten
from core.legal.entities import LAWS
from core.reading import TextSection, section_label
from core.search.types import Source

SHORT_TEXT = 1_500
"""Characters of a cited text that is shown whole, as an article of a law is."""
LONG_TEXT = 100_000
"""Characters of a text that the desk never shows whole: the dialog shows parts of it."""
CONTEXT = 160
"""Characters shown before and after a compared passage."""
FIRST_WORDS = 200
"""Characters of a text that is not cited: ten whole articles would bury the pages below them."""
NEAREST = "上面是最接近的原文。"
_TITLE_LENGTH = 160
_SENTENCE_ENDS = "。！？\n"
_END_OF_NOTE = Markup("</small>")
_NOTHING = Markup()


@dataclass(frozen=True, slots=True)
class DeskText:
    """The text behind a source: as it was read, else the snippet."""

    text: str
    note: str = ""
    """When it was read, or why there is no more of it."""
    can_read: bool = False
    """True if the reader may have the page opened now."""
    sections: tuple[TextSection, ...] = ()
    """Pages, sheets and the like of the text."""
    has_file: bool = False
    """True if its pages can be shown as pictures."""


@dataclass(frozen=True, slots=True)
class _Use:
    """One statement of the answer that a source was compared with."""

    statement: int
    verdict: CitationVerdict


def desk_html(
    answer: str,
    question: str,
    sources: Iterable[Source],
    texts: Mapping[int, DeskText],
    check: AnswerCheck | None,
    *,
    cited: Collection[int],
    official: Sequence[str],
    app_url: str = "",
    whole: int = 0,
) -> Markup:
    """Return the sources of the answer with this id to this question. `whole`: the number of the source whose text is shown whole."""
    uses = list(_list_uses(check)) if check else []
    rows = Markup().join(
        _Row(
            answer,
            source,
            texts[source.number],
            app_url,
            is_cited=source.number in cited,
            is_whole=source.number == whole,
        ).html([use for use in uses if use.verdict.number == source.number], official)
        for source in sources
    )
    statements = json.dumps(_statements(check) if check else [], ensure_ascii=False, separators=(",", ":"))
    page = Markup(
        '<aside class="wy-sources" aria-label="来源" data-answer="%s" data-statements="%s">%s<ol>%s</ol></aside>'
    )
    return page % (answer, statements, _head(question), rows)


def empty_desk_html(words: str) -> Markup:
    """Return a desk with nothing on it but the reason."""
    return Markup(
        '<aside class="wy-sources" aria-label="来源" data-answer="-" data-statements="[]">%s<p class="about">%s</p></aside>'
    ) % (_head(""), words)


def _head(question: str) -> Markup:
    question = one_line(question)
    of = Markup('<span title="%s">%s</span>') % (question, question) if question else _NOTHING
    return Markup('<div class="head"><h2>来源</h2>%s</div>') % of


def _list_uses(check: AnswerCheck) -> Iterator[_Use]:
    for place, statement in enumerate(check.statements):
        for citation in statement.citations:
            yield _Use(place, CitationVerdict.from_citation(statement, citation))
    for place, verdict in enumerate(list_agreements(check), len(check.statements)):
        yield _Use(place, verdict)


def _statements(check: AnswerCheck) -> list[tuple[str, list[int]]]:
    """Return each statement with the numbers behind it, in the order of `_list_uses`."""
    cited = [(one.text, [citation.number for citation in one.citations]) for one in check.statements]
    return cited + [(one.statement, [one.number]) for one in list_agreements(check)]


class _Row:
    """One source on the desk."""

    def __init__(
        self, answer: str, source: Source, text: DeskText, app_url: str, *, is_cited: bool, is_whole: bool
    ) -> None:
        self._answer, self._source, self._read = answer, source, text
        self._app_url, self._is_cited, self._is_whole = app_url, is_cited, is_whole
        self._short = SHORT_TEXT if is_cited else FIRST_WORDS

    def html(self, uses: Sequence[_Use], official: Sequence[str]) -> Markup:
        spans = [(use, span) for use in uses for span in self._find(use.verdict)]
        placed = [use for use, _ in spans]
        notes = Markup().join(_note(use, is_placed=False) for use in uses if use not in placed)
        pieces = [(0, len(self._read.text))]
        if len(self._read.text) > self._short and not self._is_whole:
            pieces = list(_windows(self._read.text, [span for _, span in spans]))
        inside = self._heading(uses) + self._details(official) + notes + self._text(pieces, spans) + self._end(pieces)
        kind = "cited" if self._is_cited else "other"
        return Markup('<li value="%s" class="%s">%s</li>') % (self._source.number, kind, inside)

    def _find(self, verdict: CitationVerdict) -> Iterator[TextSpan]:
        located = (locate_passage(verdict, passage, self._read.text) for passage in verdict.evidence)
        return filter(None, located)

    def _heading(self, uses: Sequence[_Use]) -> Markup:
        title = shorten(one_line(self._source.title), _TITLE_LENGTH) or "（无标题）"
        href = link_target(self._source.url, self._app_url)
        named = Markup("<a %s>%s</a>") % (link_attributes(href), title) if href else escape(title)
        statements = " ".join(str(use.statement) for use in uses)
        return Markup('<h3 data-s="%s">%s</h3>') % (statements, named)

    def _details(self, official: Sequence[str]) -> Markup:
        source = self._source
        known = " · ".join(filter(None, (site_name(source.url, self._app_url), describe_source(source))))
        badge = Markup(' <span class="wy-badge">%s</span>') % OFFICIAL if is_official(source, official) else _NOTHING
        return Markup('<p class="about">%s%s</p>') % (known, badge)

    def _text(self, pieces: Sequence[tuple[int, int]], spans: Sequence[tuple[_Use, TextSpan]]) -> Markup:
        text, shown, begin = self._read.text, _NOTHING, 0
        for start, end in pieces:
            shown += _left_out(start - begin)
            named = sections_in(self._read.sections, TextWindow(start, end))
            for begin, until in pairwise(sorted({start, end, *named})):
                shown += self._place(begin, named.get(begin)) + _marked(text, begin, until, spans)
            begin = end
        return Markup('<div class="text">%s%s</div>') % (shown, _left_out(len(text) - begin))

    def _place(self, position: int, section: TextSection | None) -> Markup:
        """Return the line above a page, a sheet or the like, with the button that shows the page."""
        words = section_label(section) if section else ""
        if not words:
            return _NOTHING
        button = passage_button(self._source.number, position, "看这一页", form="page") if self._read.has_file else ""
        return Markup('<span class="place">%s %s</span>') % (words, button)

    def _end(self, pieces: Sequence[tuple[int, int]]) -> Markup:
        """Return what is known of the text, and the ways to more of it."""
        ways, place = [self._read.note] if self._read.note else [], f"{self._answer}/{self._source.number}"
        if sum(end - start for start, end in pieces) < len(self._read.text):
            ways.append(self._whole_text_button(place, pieces[0][0]))
        elif self._is_whole and len(self._read.text) > self._short:
            ways.append(_button(self._answer, "只看比较过的段落"))
        if self._read.can_read:
            ways.append(_button(f"{place}/read", "阅读"))
        if self._source.engine == LAWS and (href := link_target(self._source.url, self._app_url)):
            ways.append(Markup("<a %s>在法规库中查看这一条</a>") % link_attributes(href))
        return Markup('<p class="ways">%s</p>') % Markup(" ").join(ways) if ways else _NOTHING

    def _whole_text_button(self, wanted: str, position: int) -> Markup:
        if len(self._read.text) <= LONG_TEXT:
            return _button(wanted, "显示全文")
        return passage_button(self._source.number, position, "查看全文")


def _button(wanted: str, words: str) -> Markup:
    return Markup('<button type="button" data-desk="%s">%s</button>') % (wanted, words)


def _note(use: _Use, *, is_placed: bool) -> Markup:
    """Return the verdict in words. A tick needs none."""
    verdict = use.verdict
    if verdict.css_class in (Verdict.SUPPORTED, "agreeing"):
        return _NOTHING
    nearest = NEAREST if is_placed and verdict.verdict in (Verdict.ABSENT, Verdict.UNCHECKED) else ""
    note = Markup('<small class="wy-verdict %s" data-s="%s">%s%s') + _END_OF_NOTE
    return note % (verdict.css_class, use.statement, verdict.heading, nearest)


def _left_out(characters: int) -> Markup:
    return Markup('<span class="gap">略去 %s 字</span>') % f"{characters:,}" if characters > 0 else _NOTHING


def _windows(text: str, spans: Iterable[TextSpan]) -> Iterator[tuple[int, int]]:
    """Yield the parts of a long text to show, in order and apart from each other."""
    wanted = sorted((_start_of(text, span.start), _end_of(text, span.end)) for span in spans)
    start, end = wanted[0] if wanted else (0, _end_of(text, FIRST_WORDS - CONTEXT))
    for begin, until in wanted:
        if begin > end:
            yield start, end
            start = begin
        end = max(end, until)
    yield start, end


def _start_of(text: str, place: int) -> int:
    """Return where to begin before a place: where a sentence does, if one does there."""
    earliest = max(place - CONTEXT, 0)
    found = min((at for end in _SENTENCE_ENDS if (at := text.find(end, earliest, place)) >= 0), default=-1)
    begin = found + 1 if found >= 0 and earliest else earliest
    return begin + text.startswith("\n", begin)


def _end_of(text: str, place: int) -> int:
    latest = min(place + CONTEXT, len(text))
    found = max(text.rfind(end, place, latest) for end in _SENTENCE_ENDS)
    return found + 1 if found >= 0 and latest < len(text) else latest


def _marked(text: str, start: int, end: int, spans: Sequence[tuple[_Use, TextSpan]]) -> Markup:
    """Return a part of the text. A piece that several statements were compared with is marked for all of them."""
    inside = [(use, span) for use, span in spans if span.start < end and start < span.end]
    cuts = sorted({start, end, *(at for _, span in inside for at in (span.start, span.end) if start < at < end)})
    shown = _NOTHING
    for begin, until in pairwise(cuts):
        covering = [use for use, span in inside if span.start <= begin and until <= span.end]
        ending = [use for use, span in inside if span.end == until]
        words = text[begin:until].removeprefix("\n" if shown.endswith(_END_OF_NOTE) else "")
        shown += _mark(words, begin, covering, ending) if covering else escape(words)
    return shown


def _mark(words: str, begin: int, covering: Sequence[_Use], ending: Sequence[_Use]) -> Markup:
    worst = min((use.verdict for use in covering), key=lambda one: VERDICTS_WORST_FIRST.index(one.verdict))
    title = "\n".join(f"{use.verdict.label}：{use.verdict.statement}" for use in covering)
    is_signed = ending and worst.is_decided and worst.mark
    sign = Markup('<i aria-hidden="true">%s</i>') % worst.mark if is_signed else _NOTHING
    statements = " ".join(str(use.statement) for use in covering)
    passage = Markup('<mark class="%s" data-s="%s" data-at="%s" tabindex="0" title="%s">%s%s</mark>')
    notes = Markup().join(_note(use, is_placed=True) for use in ending)
    return passage % (worst.css_class, statements, begin, title, words, sign) + notes
