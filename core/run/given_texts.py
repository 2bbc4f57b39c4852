"""The text of sources within the budget of a prompt: a file whole where it fits, else passages about the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from core.answer import join_numbers, join_places
from core.base.settings import ModelChoice, Settings
from core.base.text import one_line, shorten
from core.legal.entities import CASES, LAWS, LIBRARY_LABELS, MAX_ARTICLES
from core.llm import estimate_tokens
from core.reading import (
    PASSAGE_CHARS,
    Page,
    Passage,
    RankedPassages,
    Span,
    outline,
    place_at,
    places_between,
    select_passages,
)
from core.run.page_mentions import mentioned_spans
from core.run.source_budget import SourceBudget, excerpt_budget
from core.search import PromptText, QuotedText, sources_block
from core.search.types import Source

BETWEEN_PASSAGES = " …… "
MIN_PASSAGES_LENGTH = 200
"""The fewest characters that a page gets in a prompt: about as many as a snippet has."""
LONGEST_ARTICLE = 1_000
"""Characters of an article in a prompt. Hardly any is longer, so nearly all are shown whole."""
TOKENS_PER_ARTICLE = 150
"""Tokens of the budget for each article: with its heading an article has 120 on average."""
MIN_ARTICLE_PASSAGES = 60
FEWEST_ARTICLES, MOST_FOR_SMALL_MODELS = 3, 5
MAX_FITTING_TRIES = 8
NOTE_TOKENS = 80
"""Tokens of the sentence on how much of a file is given."""
OUTLINE_SHARE, LONGEST_OUTLINE = 10, 3_000
"""The outline of a file gets a tenth of the file's room, at most so many characters."""
FoundSpans = Mapping[int, Sequence[Span]]
NO_SPANS: FoundSpans = MappingProxyType({})
WHOLE, PASSAGES = "正文全文", "正文节选"


class FittedSources(NamedTuple):
    """Sources as a prompt has them."""

    sources: tuple[Source, ...]
    text: str
    """The block for the prompt."""
    spans: FoundSpans
    """What the block has of the pages and files, by the number of the source."""


def max_articles(budget: SourceBudget, model: ModelChoice) -> int:
    """Return the number of articles of the law library for a prompt: half of the room, and fewer for a small model."""
    most = MOST_FOR_SMALL_MODELS if model.is_small else MAX_ARTICLES
    return max(FEWEST_ARTICLES, min(most, budget.for_found // 2 // TOKENS_PER_ARTICLE))


def format_within_budget(
    sources: Sequence[Source],
    settings: Settings,
    *,
    budget: SourceBudget | None = None,
    pages: Mapping[int, Page] | None = None,
    found_spans: FoundSpans = NO_SPANS,
    question: str = "",
    notes: Mapping[int, QuotedText] | None = None,
) -> FittedSources:
    """Return as many of the first sources as the budget holds, at least one, and their text for the prompt. The reader's
    files come first, whole where they fit; the room beside them is shared by the pages that were read: it holds passages
    that speak about the question, first of all those that the document library has found. `notes` take the place of
    files that were read part by part."""
    fitting = _Fitting(settings, budget or excerpt_budget(settings), pages or {}, found_spans, question, notes or {})
    kept = tuple(sources)
    while len(kept) > 1 and fitting.tokens_with_snippets(kept) > fitting.budget.tokens:
        kept = kept[:-1]
    return fitting.fit(kept)


def format_sources(
    sources: Sequence[Source],
    settings: Settings,
    *,
    budget: SourceBudget | None = None,
    pages: Mapping[int, Page],
    found_spans: FoundSpans = NO_SPANS,
    question: str,
) -> FittedSources:
    """Return all these sources as text for a model: passages of pages as far as the budget goes, else snippets."""
    return _Fitting(settings, budget or excerpt_budget(settings), pages, found_spans, question).fit(sources)


def excerptable(
    sources: Sequence[Source],
    settings: Settings,
    *,
    pages: Mapping[int, Page],
    found_spans: FoundSpans = NO_SPANS,
    question: str,
) -> list[Source]:
    """Return the sources with what a model would read of them as their snippets; of a case that is passages of its text."""
    fitting = _Fitting(settings, excerpt_budget(settings), pages, found_spans, question)
    texts = fitting.article_texts(sources)
    texts |= {number: _joined(passages) for number, passages in fitting.choose(sources).items()}
    for source in sources:
        if source.engine == CASES and source.number in pages:
            texts[source.number] = _passages_text(pages[source.number], question, source.snippet, LONGEST_ARTICLE)
    length = settings.search.snippet_length
    return [
        replace(source, snippet=texts.get(source.number) or shorten(one_line(source.snippet), length))
        for source in sources
    ]


@dataclass(frozen=True)
class _Fitting:
    """What one prompt is made of."""

    settings: Settings
    budget: SourceBudget
    pages: Mapping[int, Page]
    found_spans: FoundSpans
    question: str
    notes: Mapping[int, QuotedText] = field(default_factory=dict)

    def fit(self, sources: Sequence[Source]) -> FittedSources:
        if not sources:
            return FittedSources((), "", NO_SPANS)
        chosen = self.choose(sources)
        texts: dict[int, PromptText] = {**self.article_texts(sources), **self.notes}
        texts |= {one.number: self._prompt_text(one, chosen[one.number]) for one in sources if one.number in chosen}
        spans = {number: [(one.start, one.end) for one in passages] for number, passages in chosen.items()}
        return FittedSources(tuple(sources), self._block(sources, texts), spans)

    def tokens_with_snippets(self, sources: Sequence[Source]) -> int:
        """Return the tokens of the block without a text of any page or file."""
        return estimate_tokens(self._block(sources, {**self.article_texts(sources), **self.notes}))

    def choose(self, sources: Sequence[Source]) -> dict[int, list[Passage]]:
        """Return the passages of the files and pages for the prompt; none for those of which only the snippet fits."""
        read = [
            source
            for source in sources
            if source.number in self.pages and source.read != "library" and source.number not in self.notes
        ]
        own = [source for source in read if source.is_own_file and source.number not in self.found_spans]
        found = [source for source in read if source not in own]
        without = [source for source in sources if source not in read]
        room = self.budget.tokens - self.tokens_with_snippets(without) - NOTE_TOKENS * len(read)
        reserved = min(self.budget.for_found, room // 2) if found else 0
        chosen = self._share(own, room - reserved)
        used = sum(_tokens_of(passages) for passages in chosen.values())
        return chosen | self._share(found, min(self.budget.for_found, room - used))

    def _share(self, sources: Sequence[Source], room: int) -> dict[int, list[Passage]]:
        """Return what each source gets of the room. Short files leave theirs to long ones."""
        needs = {source.number: _needed_tokens(self.pages[source.number]) for source in sources}
        share = fair_share(list(needs.values()), max(room, 0))
        return {
            source.number: passages
            for source in sources
            if (passages := self._passages(source, share, needs[source.number]))
        }

    def _passages(self, source: Source, share: int, need: int) -> list[Passage]:
        page, is_file = self.pages[source.number], source.read == "file"
        is_attached = is_file and source.number not in self.found_spans
        if is_file and need <= share and page.text:
            return [Passage(0, page.length, page.text, 1.0)]
        characters = page.length * share // max(need, 1)
        if characters < min(MIN_PASSAGES_LENGTH, page.length):
            return []
        wanted = mentioned_spans(self.question, page) if is_file else ()
        found = (*wanted, *self.found_spans.get(source.number, ()))
        snippet = "" if is_file else source.snippet  # that of a file is only its beginning
        rank = partial(RankedPassages, page, self.question, snippet=snippet, found_spans=found)
        if is_file:
            characters -= _outline_length(characters)
        ranked = rank()
        for _ in range(MAX_FITTING_TRIES):
            if characters < PASSAGE_CHARS:
                ranked = rank(longest=max(characters, 1))
            passages = ranked.select(characters, fills_up=is_attached)
            if (tokens := _tokens_of(passages)) <= share:
                return passages
            characters = int(characters * share / tokens * 0.95)
        return []

    def _prompt_text(self, source: Source, passages: Sequence[Passage]) -> PromptText:
        """Return a file with its lines and places, and of a page its passages."""
        return _quoted(self.pages[source.number], passages) if source.read == "file" else _joined(passages)

    def article_texts(self, sources: Sequence[Source]) -> dict[int, str]:
        """Return articles, whole where they fit, because half a rule may say the opposite. Together they take at most half
        of the room. Of a longer one its heading and what is about the question is returned."""
        laws = {
            source.number: one_line(self.pages[source.number].text)
            for source in sources
            if source.engine == LAWS and source.number in self.pages
        }
        tokens = sum(map(estimate_tokens, laws.values()))
        room = self.budget.for_found * sum(map(len, laws.values())) // max(2 * tokens, 1)
        longest = min(LONGEST_ARTICLE, fair_share([len(text) for text in laws.values()], room))
        return {
            number: text if len(text) <= longest else _shortened_article(self.pages[number], self.question, longest)
            for number, text in laws.items()
        }

    def _block(self, sources: Sequence[Source], texts: Mapping[int, PromptText]) -> str:
        """Return the block of sources. The model does not need the library's long addresses and gets its name instead."""
        named = [replace(source, url=LIBRARY_LABELS.get(source.engine, source.url)) for source in sources]
        return sources_block(named, snippet_length=self.settings.search.snippet_length, passages_by_number=texts)


def fair_share(lengths: Sequence[int], room: int) -> int:
    """Return the length to which texts are cut so that all have room together. Short ones leave theirs to long ones."""
    shortest_first = sorted(lengths)
    for place, length in enumerate(shortest_first):
        share = room // (len(lengths) - place)
        if length > share:
            return share
        room -= length
    return max(shortest_first, default=0)


def _needed_tokens(page: Page) -> int:
    return estimate_tokens(page.text) + page.text.count("\n") + 1


def _tokens_of(passages: Sequence[Passage]) -> int:
    return sum(estimate_tokens(passage.text) + passage.text.count("\n") + 1 for passage in passages)


def _outline_length(characters: int) -> int:
    return min(characters // OUTLINE_SHARE, LONGEST_OUTLINE)


def _quoted(page: Page, passages: Sequence[Passage]) -> QuotedText:
    given = sum(passage.end - passage.start for passage in passages)
    if given == page.length:
        label = PASSAGES if page.is_cut else WHOLE
        return QuotedText(label, _with_places(page, passages), f"{length_words(page)}，都在下面。{unread_words(page)}")
    where = given_places(page, [(passage.start, passage.end) for passage in passages])
    note = (
        f"{length_words(page)}，下面只是其中 {given:,} 字{f'（{where}）' if where else ''}，"
        f"其余没有给你看，不要当作全文；没看到的内容不能说文件里没有。{unread_words(page)}"
    )
    return QuotedText(PASSAGES, _with_places(page, passages), note, outline(page, characters=_outline_length(given)))


def length_words(page: Page) -> str:
    """Return the length of a file in the words of a sentence for a model."""
    return f"{'从文件里读出' if page.is_cut else '全文'} {page.length:,} 字"


def unread_words(page: Page) -> str:
    """Return a sentence for a model on what a file has besides its text; empty if that is all of it."""
    if not page.is_cut:
        return ""
    where = f"（第 {join_numbers(page.unread_pages, '、', '–')} 页是图像）" if page.unread_pages else ""
    return f"文件里还有没读出来的内容{where}，不能说文件里没有。"


def given_places(page: Page, spans: Sequence[Span]) -> str:
    """Return the places of these parts of a page in words; empty for the whole, and for a text without places."""
    if sum(end - start for start, end in spans) >= page.length:
        return ""
    return join_places(place for start, end in spans for place in places_between(page, start, end))


def _with_places(page: Page, passages: Sequence[Passage]) -> str:
    """Return the passages, one below the other, each page of them with its place in front."""
    return f"\n{BETWEEN_PASSAGES.strip()}\n".join(text_with_places(page, one.start, one.end) for one in passages)


def text_with_places(page: Page, start: int, end: int) -> str:
    """Return this part of a file, with the place in front of each page of it."""
    inside = [one.start for one in page.sections if start < one.start < end and one.kind != "heading"]
    begins = list(dict.fromkeys((start, *inside)))
    pieces = zip(begins, [*begins[1:], end], strict=True)
    return "\n".join(f"{_place_mark(page, begin)}{page.text[begin:until].strip()}" for begin, until in pieces)


def _place_mark(page: Page, position: int) -> str:
    place = place_at(page.text, page.sections, position)
    return f"（{place.label}）" if place else ""


def _joined(passages: Sequence[Passage]) -> str:
    return BETWEEN_PASSAGES.join(passage.text for passage in passages)


def _shortened_article(page: Page, question: str, length: int) -> str:
    heading, _, text = page.text.partition("\n")
    body = replace(page, text=text)
    passages = _passages_text(body, question, "", max(length - len(heading), MIN_ARTICLE_PASSAGES))
    return shorten(one_line(f"{heading} {passages}"), length)


def _passages_text(page: Page, question: str, snippet: str, characters: int) -> str:
    """Return the page's passages about the question on one line."""
    return _joined(select_passages(page, question, snippet=snippet, budget=characters))
