"""The texts that a check rests on: its marks are shown only with the texts, and by the checker, that it was made with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import pairwise
from typing import Protocol

from core.answer.check_results import (
    CHECKER_VERSION,
    AlignedWords,
    AnswerCheck,
    QuotedPassage,
    SourceCheck,
    SourceText,
    StatementCheck,
    TextDigest,
    UncitedStatement,
    Verdict,
)
from core.base.errors import AppError
from core.base.web_addresses import host_of
from core.reading import Place, TextSection, place_at
from core.search.types import Source

WITHDRAWN_VERSION = 0
"""The version of a check without marks, which is to be made again."""
BEING_REPEATED = SourceCheck(Verdict.UNCHECKED, 0.5, "核验程序已经更新，正在重新核验…")
TEXT_LOST = SourceCheck(Verdict.UNCHECKED, 0.5, "来源当时的文字已经不在，或已经变了，原来的标记不再有效。")


class HasText(Protocol):
    """A page as it was read, or as it was stored."""

    @property
    def text(self) -> str: ...


TextsByNumber = Mapping[int, HasText]
"""The texts of sources, by the number of the source."""
LoadTexts = Callable[[Sequence[Source]], TextsByNumber]


def source_texts(sources: Iterable[Source], texts: TextsByNumber) -> list[SourceText]:
    return [_source_text(source, texts.get(source.number)) for source in sources]


def source_words(sources: Iterable[Source], load_texts: Callable[[], TextsByNumber]) -> dict[int, str]:
    """Return all known words of each source by its number: title, snippet, and the text if it was read and is there."""
    try:
        texts = load_texts()
    except AppError:
        texts = {}
    return {
        source.number: "\n".join(
            (source.title, source.snippet, page.text if (page := texts.get(source.number)) else "")
        )
        for source in sources
    }


def _source_text(source: Source, page: HasText | None) -> SourceText:
    if page is None:
        named = source.title != host_of(source.url)  # a title that is only the host name says nothing about the page
        words = f"{source.title}\n{source.snippet}" if named else source.snippet
        return SourceText(source.number, words, is_full=False, published=source.published)
    is_full = not getattr(page, "is_cut", False)
    return SourceText(
        source.number,
        page.text,
        is_full=is_full,
        published=source.published,
        sections=getattr(page, "sections", ()),
        uncertain=getattr(page, "uncertain", ()),
    )


def lost_sources(sources: Iterable[Source], texts: TextsByNumber) -> set[int]:
    """Return the numbers of the sources that were read in full and whose text is not there any more."""
    return {source.number for source in sources if source.read != "snippet" and source.number not in texts}


# ── Digests ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def with_digests(check: AnswerCheck, texts: Iterable[SourceText]) -> AnswerCheck:
    """Return the check with the digest of each text that a result rests on."""
    used = set(_used_sources(check))
    digests = (TextDigest(one.number, _digest(one.text)) for one in texts if one.number in used)
    return replace(check, digests=tuple(digests))


def _used_sources(check: AnswerCheck) -> Iterator[int]:
    """Yield the numbers of the sources that results rest on."""
    for statement in check.statements:
        yield from (passage.source for passage in statement.check.evidence)
        for citation in statement.citations:
            yield from (citation.number, *(passage.source for passage in citation.check.evidence))
    yield from (passage.source for one in check.uncited if one.check for passage in one.check.evidence)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


# ── Places ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def with_places(check: AnswerCheck, texts: Iterable[SourceText]) -> AnswerCheck:
    """Return the check with the page, row or heading of each passage, where its source has some."""
    known = {text.number: text for text in texts if text.sections}

    def fill(result: SourceCheck) -> SourceCheck:
        passages = (
            replace(one, place=_place_of(one, result.alignment, known.get(one.source))) for one in result.evidence
        )
        return replace(result, evidence=tuple(passages))

    return _map_results(check, fill) if known else check


def _place_of(passage: QuotedPassage, words: Iterable[AlignedWords], source: SourceText | None) -> Place | None:
    """Return the place where most of the compared words stand. A passage may begin on the page before, or with the header
    of each page."""
    if source is None:
        return None
    inside = [(one.found_start, one.found_end) for one in words if passage.start <= one.found_start < passage.end]
    lengths: Counter[Place | None] = Counter()
    for start, end in inside or _pieces(passage, source.sections):
        lengths[place_at(source.text, source.sections, start)] += end - start
    return max(lengths, key=lengths.__getitem__, default=None)


def _pieces(passage: QuotedPassage, sections: Sequence[TextSection]) -> Iterable[tuple[int, int]]:
    """Return the parts of a passage that lie in one section each."""
    inside = (one.start for one in sections if passage.start < one.start < passage.end)
    return pairwise(sorted({passage.start, *inside, passage.end}))


# ── What is shown of a stored check ───────────────────────────────────────────────────────────────────────────────────


def withdraw(check: AnswerCheck) -> AnswerCheck:
    """Return the check without any mark: another version of the checker made it."""
    uncited = tuple(replace(statement, check=None) for statement in check.uncited)
    statements = _map_results(check, lambda _: BEING_REPEATED).statements
    return AnswerCheck(statements, uncited, WITHDRAWN_VERSION, invented=check.invented)


def restore_evidence(check: AnswerCheck, texts: Iterable[SourceText]) -> AnswerCheck:
    """Return a stored check with the words and places of its passages, without the marks on texts that are missing or
    changed."""
    if check.version != CHECKER_VERSION:
        return withdraw(check)
    texts = tuple(texts)
    known = {text.number: text.text for text in texts}
    same = {one.source for one in check.digests if one.source in known and _digest(known[one.source]) == one.digest}

    def fill(result: SourceCheck) -> SourceCheck:
        passages = (replace(one, text=known[one.source][one.start : one.end]) for one in result.evidence)
        return replace(result, evidence=tuple(passages))

    return with_places(_map_results(drop_marks(check, set(_used_sources(check)) - same), fill), texts)


def _map_results(check: AnswerCheck, change: Callable[[SourceCheck], SourceCheck]) -> AnswerCheck:
    statements = (
        replace(
            statement,
            check=change(statement.check),
            citations=tuple(replace(citation, check=change(citation.check)) for citation in statement.citations),
        )
        for statement in check.statements
    )
    uncited = (replace(one, check=change(one.check)) if one.check else one for one in check.uncited)
    return replace(check, statements=tuple(statements), uncited=tuple(uncited))


def drop_marks(check: AnswerCheck, lost: Collection[int]) -> AnswerCheck:
    """Return the check without the results that rest on a lost source."""
    if not lost:
        return check
    statements = tuple(_drop_from_statement(statement, lost) for statement in check.statements)
    return replace(check, statements=statements, uncited=tuple(_drop_from_uncited(one, lost) for one in check.uncited))


def _drop_from_statement(statement: StatementCheck, lost: Collection[int]) -> StatementCheck:
    """Drop results of the statement. Sources may support it together: without one of them, none does."""
    cited = [citation.number for citation in statement.citations]
    together = _drop(statement.check, lost, () if statement.check.verdict is Verdict.SUPPORTED else cited)
    is_dropped = together is not statement.check and statement.check.verdict is Verdict.SUPPORTED
    citations = tuple(
        replace(one, check=TEXT_LOST)
        if is_dropped and one.check.verdict is Verdict.SUPPORTED
        else replace(one, check=_drop(one.check, lost, [one.number]))
        for one in statement.citations
    )
    return replace(statement, check=together, citations=citations)


def _drop_from_uncited(statement: UncitedStatement, lost: Collection[int]) -> UncitedStatement:
    kept = statement.check is None or _drop(statement.check, lost) is statement.check
    return statement if kept else replace(statement, check=None)


def _drop(result: SourceCheck, lost: Collection[int], numbers: Sequence[int] = ()) -> SourceCheck:
    """Return the result, unless it rests on a lost source. An open one without a passage rests on nothing."""
    rests_on = {*numbers, *(passage.source for passage in result.evidence)}
    is_open = result.verdict is Verdict.UNCHECKED and not result.evidence
    return result if is_open or rests_on.isdisjoint(lost) else TEXT_LOST
