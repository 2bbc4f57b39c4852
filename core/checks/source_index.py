"""An index of sources by pairs of characters, which finds the windows of two sentences that speak of a statement."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain

from core.answer.check_results import QuotedPassage, SourceText
from core.base.chinese.script import comparison_form
from core.base.text import is_chinese
from core.checks.facts import Facts
from core.comparison import ClauseSequence, PassageClause, read_clauses

LONGEST_SOURCE = 2_000_000
"""Characters of a source that are searched: as many as are read of the longest file. A longer source counts as not read in full."""
LONGEST_SENTENCE = 160
MAX_SENTENCES_PER_PAIR = 1_000
"""The number of sentences that are searched for one pair. A more frequent pair is of no use."""
SHORT_SOURCE = 24
"""The number of sentences up to which a source is compared as a whole."""
MAX_WINDOWS = 4
"""The number of windows for one statement. With more, any long page would seem to say anything."""
_SENTENCE = re.compile(r"[^。!?\n;]+(?:[。!?\n;]+[\"”」』)]*)?")
_SENTENCE_END = re.compile(r"(?:[。!?\n]|[a-z0-9]\.)\W*$")
_QUOTE = re.compile("“[^“”\n]{12,600}”|「[^「」\n]{12,600}」")
"""The words of somebody, not a term."""
_MARKS = re.compile(r"[\W_]+")
_LONE_DIGIT = re.compile(r"(?<![\d.,])\d(?![\d.,]?\d)")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_LANGUAGE_SAMPLE = 4_000
_REPLACED = "\ufffd"
# The number of a document stands before its text, the number of a footnote within it.
_DOCUMENT_NUMBER = re.compile(r"(?<!\S)\[\d{1,3}\](?=\s)")
_FOOTNOTE_NUMBER = re.compile(r"\[\d{1,3}\]")


class IndexedSource:
    """One source, indexed once for all statements that cite it."""

    def __init__(self, source: SourceText) -> None:
        self.given = source
        self.number = source.number
        self.text = source.text[:LONGEST_SOURCE]
        self.is_full = source.is_full and len(source.text) <= LONGEST_SOURCE
        self.published = source.published
        self.folded = _blank_out_citation_numbers(comparison_form(self.text))
        self.spans = _sentence_spans(self.folded)
        self._compacts: dict[int, str] = {}
        self._places: dict[int, list[int]] = {}
        self._facts: dict[int, Facts] = {}
        self._clauses: dict[int, list[PassageClause]] = {}

    @cached_property
    def is_chinese(self) -> bool:
        return is_chinese(self.text[:_LANGUAGE_SAMPLE])

    def index(self, pairs: Collection[int]) -> None:
        """Record in which sentences these pairs (`pair_code`) stand. One call with all pairs costs least."""
        wanted = set(pairs) - self._places.keys()
        if not wanted:
            return
        places: dict[int, list[int]] = {pair: [] for pair in wanted}
        self._places |= places
        even, odd = _pair_codes(self.folded)
        for sentence, (start, end) in enumerate(self.spans):
            here = chain(even[(start + 1) // 2 : end // 2], odd[start // 2 : (end - 1) // 2])
            for pair in wanted.intersection(here):
                places[pair].append(sentence)

    def sentences_with(self, pair: int) -> Sequence[int]:
        return self._places.get(pair, [])[:MAX_SENTENCES_PER_PAIR]

    def compact_sentence(self, sentence: int) -> str:
        """Return a sentence without punctuation and blanks."""
        if sentence not in self._compacts:
            start, end = self.spans[sentence]
            self._compacts[sentence] = _MARKS.sub("", self.folded[start:end])
        return self._compacts[sentence]

    def facts(self, sentence: int) -> Facts:
        if sentence not in self._facts:
            start, end = self.spans[sentence]
            self._facts[sentence] = Facts.from_text(self.folded[start:end], self.published)
        return self._facts[sentence]

    @cached_property
    def _sentences(self) -> list[int]:
        """The number of the sentence to which each part belongs: a semicolon ends a part, a full stop a sentence."""
        ends = (_SENTENCE_END.search(self.folded[start:end]) is not None for start, end in self.spans)
        return list(accumulate(ends, initial=0))

    @cached_property
    def _quotes(self) -> list[range]:
        return [range(*quote.span()) for quote in _QUOTE.finditer(self.folded)]

    def clauses(self, sentence: int) -> list[PassageClause]:
        """Return the clauses of a sentence, read once."""
        if sentence not in self._clauses:
            start, end = self.spans[sentence]
            quotes = [quote for quote in self._quotes if quote.start < end and start < quote.stop]
            self._clauses[sentence] = list(
                read_clauses(self.folded[start:end], self._sentences[sentence], sentence, start, self.published, quotes)
            )
        return self._clauses[sentence]

    def passage(self, windows: Iterable[Window]) -> ClauseSequence:
        """Return the clauses of these windows and of the sentences beside them; of a short source all."""
        if len(self.spans) <= SHORT_SOURCE:
            return self.whole_passage()
        wanted = {place for one in windows for place in range(one.first - 1, one.last + 2)} & set(
            range(len(self.spans))
        )
        return self._passage(sorted(wanted))

    def whole_passage(self) -> ClauseSequence:
        return self._passage(range(len(self.spans)))

    def _passage(self, sentences: Iterable[int]) -> ClauseSequence:
        read = [clause for place in sentences for clause in self.clauses(place)]
        return ClauseSequence(read).with_items_in_place()

    def sentence_at(self, position: int) -> int:
        """Return the number of the sentence that has this position."""
        return bisect_right(self.spans, (position, len(self.text))) - 1

    def text_between(self, first: int, last: int) -> str:
        """Return the folded text of these sentences, as far as they exist."""
        return self.folded[self.spans[max(0, first)][0] : self.spans[min(len(self.spans) - 1, last)][1]]

    def quoted_passage(self, first: int, last: int) -> QuotedPassage:
        start, end = self.spans[first][0], self.spans[last][1]
        return QuotedPassage(self.number, start, end, self.text[start:end])


def _pair_codes(text: str) -> tuple[memoryview, memoryview]:
    """Return every pair of neighbours as one number: those at even positions, and those at odd ones. Reading numbers
    that are already in memory takes less than half the time of cutting out pairs."""
    units = _ASTRAL.sub(_REPLACED, text).encode(f"utf-16-{sys.byteorder[0]}e", "surrogatepass")
    even, odd = units[: len(units) // 4 * 4], units[2 : (len(units) - 2) // 4 * 4 + 2]
    return memoryview(even).cast("I"), memoryview(odd).cast("I")


def pair_code(pair: str) -> int:
    """Return the number of a pair, as in `_pair_codes`. Characters beyond Unicode's first plane are never found."""
    first, second = map(ord, pair)
    return first | second << 16 if sys.byteorder == "little" else first << 16 | second


def _blank_out_citation_numbers(text: str) -> str:
    if "[" not in text:
        return text
    text = _DOCUMENT_NUMBER.sub(lambda mark: "\n" * len(mark[0]), text)
    return _FOOTNOTE_NUMBER.sub(lambda mark: " " * len(mark[0]), text)


def _sentence_spans(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for match in _SENTENCE.finditer(text.replace(". ", ".\n")):
        start, end = match.span()
        if end - start <= LONGEST_SENTENCE:
            spans.append((start, end))
        else:
            spans += _cut(text, start, end)
    return [(start, end) for start, end in spans if not text[start:end].isspace()]


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a long sentence, cut at a blank or a comma where there is one."""
    while end - start > LONGEST_SENTENCE:
        last = start + LONGEST_SENTENCE
        place = max(text.rfind(mark, start + LONGEST_SENTENCE // 2, last) for mark in " ,，、") + 1 or last
        yield start, place
        start = place
    yield start, end


@dataclass(frozen=True, slots=True)
class Window:
    source: IndexedSource
    first: int
    last: int
    pairs: int
    """A bit mask of the statement's pairs that stand in this window."""


@dataclass(frozen=True)
class PassageContext:
    """The windows that together have most of a statement, best first, each adding something."""

    windows: tuple[Window, ...]
    covered_pairs: tuple[int, ...]
    """The pairs of the first window, of the first two, and so on."""

    @cached_property
    def sentences(self) -> list[tuple[IndexedSource, int]]:
        """The sentences of all windows, in the order of the sources' texts."""
        chosen = {
            (window.source.number, place): window.source
            for window in self.windows
            for place in (window.first, window.last)
        }
        return [(chosen[key], key[1]) for key in sorted(chosen)]

    @cached_property
    def compact_text(self) -> str:
        """The sentences without punctuation and blanks. A line break separates sentences that are not neighbours."""
        pieces: list[str] = []
        before: tuple[IndexedSource, int] | None = None
        for source, place in self.sentences:
            if before and before != (source, place - 1):
                pieces.append("\n")
            pieces.append(source.compact_sentence(place))
            before = (source, place)
        return "".join(pieces)

    @cached_property
    def facts(self) -> Facts:
        """The facts of the windows, and of the sentences beside the best one."""
        around = {(source.number, place): source for source, place in self.sentences}
        for window in self.windows[:1]:
            beside = (place for place in (window.first - 1, window.last + 1) if 0 <= place < len(window.source.spans))
            around |= {(window.source.number, place): window.source for place in beside}
        return Facts.merge(around[key].facts(key[1]) for key in sorted(around))

    @cached_property
    def best_window_facts(self) -> Facts:
        """The facts of the best window alone."""
        return Facts.merge(
            window.source.facts(place) for window in self.windows[:1] for place in (window.first, window.last)
        )


def find_context(
    pairs: Sequence[int], sources: Sequence[IndexedSource], digits: Collection[str] = ()
) -> PassageContext:
    """Return the best windows for a statement's pairs. Each pair comes once and must have been indexed.

    `digits`: the statement's numbers of one digit. With blanks around them they stand in no pair, and choose between windows
    that have as many pairs as each other."""
    candidates = [(source, *candidate) for source in sources for candidate in _candidates(pairs, source)]
    chosen: list[Window] = []
    covered: list[int] = []
    together = 0
    while len(chosen) < MAX_WINDOWS:
        new = [(mask & ~together).bit_count() for _, _, mask in candidates]
        if not any(new):
            break
        most = max(new)
        best = [index for index, count in enumerate(new) if count == most]
        source, place, mask = candidates[_with_most_digits(best, candidates, digits)]
        chosen.append(Window(source, place, min(place + 1, len(source.spans) - 1), mask))
        together |= mask
        covered.append(together)
    return PassageContext(tuple(chosen), tuple(covered))


def lone_digits(text: str) -> set[str]:
    """Return the numbers of one digit."""
    return set(_LONE_DIGIT.findall(text))


def _with_most_digits(
    indexes: Sequence[int], candidates: Sequence[tuple[IndexedSource, int, int]], digits: Collection[str]
) -> int:
    if not digits or len(indexes) == 1:
        return indexes[0]
    texts = {index: candidates[index][0].text_between(candidates[index][1], candidates[index][1]) for index in indexes}
    return max(indexes, key=lambda index: len(lone_digits(texts[index]).intersection(digits)))


def _candidates(pairs: Sequence[int], source: IndexedSource) -> list[tuple[int, int]]:
    """Return the first sentence of each window, and the pairs that the window has."""
    having: defaultdict[int, int] = defaultdict(int)
    for bit, pair in enumerate(pairs):
        mask = 1 << bit
        for place in source.sentences_with(pair):
            having[place] |= mask
    return [(place, mask | having.get(place + 1, 0)) for place, mask in having.items()]
