"""A run without citations that have no source: the same rule as on the page, for every reader of the events.

Works on a growing text: returned text never changes, and only what may still become a citation is held back.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import replace

from core.answer.citations import (
    INVENTED,
    LABEL_CHARACTERS,
    LOWER,
    MAX_CITATION_LENGTH,
    MAX_DEFINITION_LENGTH,
    RAISE,
    Cut,
    apply_cuts,
    drop_invented,
    has_open_formula,
    last_block,
    unsourced_cuts,
)
from core.answer.events import (
    Answer,
    PageRead,
    RunEvent,
    RunFailed,
    RunStopped,
    SearchFinished,
    SourcesFound,
    TextDelta,
    ToolStarted,
    invented_notice,
)

MAX_HELD = 400
"""Characters that wait behind a citation which may turn out to be part of code, of a formula or of a link."""

# Blanks, brackets that begin like a citation, and backticks wait for the characters behind them, which decide.
_LABEL = rf"[{LABEL_CHARACTERS}]{{0,20}} ?[:：_#]? ?"
_INSIDE = rf" ?\^?(?:{_LABEL}[0-9０-９]{{1,4}}\^?[ ,，、;；\-–—－~～]{{0,3}})*+{_LABEL}"
_REMARK = rf"(?:†[^\[\]【】［］\n]{{0,{MAX_CITATION_LENGTH}}})?"
_BEGUN = rf"(?:{RAISE})?[\[【［]{{1,2}}{INVENTED}?{_INSIDE}{_REMARK}"
_ENDED = rf"{_BEGUN}[\]】］]{{1,2}}"
_ADDRESS = rf"<?(?:h(?:t(?:t(?:p(?:s?(?::(?:/(?:/[^\n]{{0,{MAX_DEFINITION_LENGTH}}})?)?)?)?)?)?)?)?"
_MARKER = r"(?<![^\n]) *(?:[-*+]|\d{1,9}[.)]?)"
_MAY_BE_CITED = re.compile(
    rf"(?:{_MARKER})? *(?:{_ENDED}(?:{LOWER})? ?[,，、]? ?)*"
    rf"(?:{_BEGUN}|{_ENDED}\([^()\n]{{0,12}}|{_ENDED}[:：] {{0,3}}{_ADDRESS}|</?(?:s(?:u(?:p(?:> ?)?)?)?)?)?`*\Z",
    re.IGNORECASE,
)
_LONGEST_RUN = 2 * MAX_CITATION_LENGTH + MAX_DEFINITION_LENGTH


def _undecided_length(text: str) -> int:
    """Return the number of characters at the end that may be, or may touch, a citation."""
    tail = text[-_LONGEST_RUN:]
    found = _MAY_BE_CITED.search(tail)
    return len(tail) - found.start() if found else 0


_NEW_PARAGRAPH = re.compile(r"\n[ \t]*(?:\n|[-*+][ \t]|\d{1,9}[.)][ \t]|\||#{1,6}[ \t])")
_CLOSED_CODE = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_CLOSED_BRACKETS = re.compile(r"\[[^\[\]]*\]")


def _is_inside_something(text: str, bracket: str) -> bool:
    """Return whether the bracket behind the text stands in code, a formula or a link that has begun and not ended."""
    paragraph = _CLOSED_CODE.sub("", _NEW_PARAGRAPH.split(text[-4 * MAX_HELD :])[-1])
    brackets = _CLOSED_BRACKETS.sub("", _CLOSED_BRACKETS.sub("", paragraph))
    return "`" in paragraph or "[" in brackets or has_open_formula(paragraph + bracket)


class SourcedText:
    """A growing text without citations that have no source. `known`: the numbers of the sources, as they are found."""

    def __init__(self, known: Container[int]) -> None:
        self._known = known
        self._block = ""
        """The text that was returned already, from the beginning of the block that is still growing."""
        self._held = ""
        self.invented = list[int]()
        """The numbers without a source that were dropped."""
        self.has_dropped = False

    def feed(self, text: str) -> str:
        """Take the next text and return the part that can be shown now."""
        self._held += text
        return self._release(len(self._held) - _undecided_length(self._held), ended=False)

    def end(self) -> str:
        """Return all that is left. The next text begins anew."""
        text = self._release(len(self._held), ended=True)
        self._block = ""
        return text

    def _release(self, length: int, *, ended: bool) -> str:
        cuts = self._cuts(length, ended=ended)
        if not ended and (open_cut := next(filter(self._may_vanish, cuts), None)):
            length, cuts = open_cut.start, cuts[: cuts.index(open_cut)]
        ready, self._held = self._held[:length], self._held[length:]
        self._block += ready
        for numbers in (cut.invented for cut in cuts if cut.invented is not None):
            self.has_dropped = True
            self.invented += numbers
        if cuts:  # what a line is may still change while it grows
            lines, newline, last_line = self._block.rpartition("\n")
            self._block = last_block(lines + newline) + last_line
        return apply_cuts(ready, cuts)

    def _cuts(self, length: int, *, ended: bool) -> list[Cut]:
        """Return the cuts in the text that is ready. What the block began with decides what is code."""
        if not any(bracket in self._held[:length] for bracket in "[【［"):
            return []
        begun = len(self._block)
        cuts = unsourced_cuts(self._block + self._held[:length], self._known, after=begun, ended=ended)
        return [replace(cut, start=cut.start - begun, end=cut.end - begun) for cut in cuts]

    def _may_vanish(self, cut: Cut) -> bool:
        """Return whether later text may show that this was no citation."""
        before, bracket = self._block + self._held[: cut.start], self._held[cut.start : cut.end].lstrip(" ")[:1]
        return len(self._held) - cut.end < MAX_HELD and _is_inside_something(before, bracket)


class SourcedEvents:
    """The events of a run, in which no text cites a source that there is not."""

    def __init__(self) -> None:
        self._known = set[int]()
        self._text = SourcedText(self._known)
        self._may_be_thought = False
        """As in the last TextDelta, whose text may be held back."""

    def sourced(self, event: RunEvent) -> Iterator[RunEvent]:
        """Yield the event, or what is left of it."""
        match event:
            case TextDelta(text=text):
                self._may_be_thought = event.may_be_thought
                yield from self._delta(self._text.feed(text))
                return
            case SearchFinished(sources=sources) | SourcesFound(sources=sources):
                self._known.update(source.number for source in sources)
            case PageRead(source=source):
                self._known.add(source.number)
            case ToolStarted() | RunStopped() | RunFailed():
                yield from self.rest()
            case Answer():
                yield from (delta for delta in self.rest() if delta.text)
                event = self._answer(event)
                if event.invented:
                    yield invented_notice(event.invented_numbers, has_sources=self.has_sources)
        yield event

    def _answer(self, answer: Answer) -> Answer:
        text, invented = drop_invented(answer.text, self._known)
        return replace(answer, text=text, invented=answer.invented + invented)

    @property
    def has_sources(self) -> bool:
        return bool(self._known)

    def rest(self) -> Iterator[TextDelta]:
        """Yield the text that was held back."""
        yield from self._delta(self._text.end())

    def _delta(self, text: str) -> Iterator[TextDelta]:
        if text or self._text.has_dropped:
            invented = tuple(self._text.invented) if self._text.has_dropped else None
            yield TextDelta(text, invented, self._may_be_thought)
            self._text.invented, self._text.has_dropped = [], False
