"""Days, months and years in texts and addresses whose law somebody asks for (行为时法)."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date
from enum import Enum, auto
from typing import NamedTuple

from core.base.chinese.calendar import WrittenDate, dates_in
from core.base.chinese.script import plain
from core.base.text import HAN
from core.legal.text.statute_citations import Citation, find_citations

_NAMES_VERSION = re.compile(
    r"\s*[)）]?\s*(?:\d+号|第?\S{0,4}(?:修正|修订|修改|公布|颁布|发布|通过|制定)|版|文本|新法|施行|实施|生效|起\s*(?:施行|实施|生效)|度)"
)
"""Words after a year that speak of the version of a law, not of an event."""
_DECISIVE = re.compile(r"\s*(?:的法律|施行的法律|有效的法律|时的法律)?\s*为准")
_TODAY = re.compile(rf"现行|目前|现在|如今|(?:修正|修订|修改)后|新法|新《|新[{HAN}]{{2,8}}法典?第")
"""Words that make a sentence speak of the current law, in an answer about the past."""
_EARLIEST = 1949


class Period(NamedTuple):
    """A day, or a month or year without a known day. Both ends are ISO days."""

    first: str
    last: str
    start: int = 0
    end: int = 0
    """End of the place in the text; `start` is its beginning."""

    def __str__(self) -> str:
        if self.first == self.last:
            return self.first
        year, month, _ = self.first.split("-")
        return f"{year} 年 {int(month)} 月" if self.last.startswith(f"{year}-{month}") else f"{year} 年"

    @property
    def spaced(self) -> str:
        """The period for use before Chinese words: a full date gets a space after it."""
        return f"{self} " if self.first == self.last else str(self)

    @property
    def search_note(self) -> str:
        """Note for the reader that the search uses the law of this period."""
        return f"问题说的是 {self.spaced}的事，按当时的法律查找。"

    @property
    def iso(self) -> str:
        """Form used in addresses: 2019, 2019-05, 2019-05-01."""
        if self.first == self.last:
            return self.first
        return self.first[:7] if self.last[:7] == self.first[:7] else self.first[:4]


def parse_period(text: str) -> Period | None:
    """Return the period that a whole text names (2019, 2019-05-01, 2019年5月), or None. 2月30日 is none."""
    written = plain(text).strip()
    if re.fullmatch(r"\d{4}", written):
        return _period_of(WrittenDate(0, 0, written, int(written)))
    return next((_period_of(one) for one in dates_in(written) if one.text == written), None)


def find_periods(text: str) -> Iterator[Period]:
    """Yield every period in a text at which something happened, not those that only name the version of a law."""
    simple = plain(text)
    written = [(one, period) for one in dates_in(simple) if (period := _period_of(one))]
    named = [citation for citation in find_citations(simple) if citation.edition] if written else []
    for one, period in written:
        edition = any(citation.start <= one.start < citation.end for citation in named)
        if not edition and not _NAMES_VERSION.match(simple, one.end - one.text.endswith("年度")):
            yield period


def past_periods(question: str, today: date) -> list[Period]:
    """Return the past periods that a question names. If there are several, it is unknown which one counts."""
    past = {(one.first, one.last): one for one in find_periods(question) if one.last < today.isoformat()}
    return list(past.values())


def single_past_period(question: str, today: date) -> Period | None:
    """Return the past period that a question names, or None if it names none or several."""
    times = past_periods(question, today)
    return times[0] if len(times) == 1 else None


class PeriodSource(Enum):
    """Origin of the period that counts for a citation."""

    CHOICE = auto()
    """The reader chose it, or the text states it for itself as a whole."""
    QUESTION = auto()
    """The question that the text answers names it."""
    SENTENCE = auto()
    """The sentence names it before the citation, possibly about something else."""


class CitationPeriod(NamedTuple):
    """Period whose law a citation means."""

    period: Period
    source: PeriodSource


class CitationPeriods:
    """Periods named in a text, to find the one that counts for a citation."""

    def __init__(self, text: str, chosen_period: Period | None, asked_period: Period | None) -> None:
        """Read the periods of a text. `asked_period` is the period of the question that the text answers."""
        self._text = text
        self._periods = list(find_periods(text))
        stated = (one for one in self._periods if _DECISIVE.match(text, one.end))
        self._chosen_period = chosen_period or next(stated, None)
        self._asked_period = asked_period

    def period_for(self, citation: Citation) -> CitationPeriod | None:
        """Return the last period named before the citation in its sentence, else that of the question."""
        if self._chosen_period:
            return CitationPeriod(self._chosen_period, PeriodSource.CHOICE)
        begin = max(self._text.rfind(mark, 0, citation.start) for mark in "。；！？\n") + 1
        before = [one for one in self._periods if begin <= one.start and one.end <= citation.start]
        if before:
            return CitationPeriod(before[-1], PeriodSource.SENTENCE)
        if self._asked_period is None or _TODAY.search(self._text, begin, citation.end):
            return None
        return CitationPeriod(self._asked_period, PeriodSource.QUESTION)


def _period_of(written: WrittenDate) -> Period | None:
    """Return the day, month or year; the whole year where a text names a part of it."""
    year, months, day = written.year, written.months or (1, 12), written.day
    if year is None or year < _EARLIEST:
        return None
    first, last = months if months[0] == months[1] else (1, 12)
    try:
        begin, end = date(year, first, day or 1), date(year, last, day or monthrange(year, last)[1])
    except ValueError:
        return None
    return Period(begin.isoformat(), end.isoformat(), written.start, written.end)
