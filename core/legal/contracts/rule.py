"""A rule of the contract review: what it looks for, and the articles without whose words it says nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from core.legal.contracts.contract_text import Contract, ContractKind, Sentence


class Severity(StrEnum):
    VIOLATES = "不符合"
    CHECK = "请核对"


@dataclass(frozen=True, slots=True)
class Basis:
    """An article that governs a clause, with words that must stand in it."""

    law: str
    article: int
    anchor: str
    """Words that the rule relies on. Its numbers are read from them, so they hold only where the article has them."""
    is_procedural: bool = False
    """True if the law of today counts, not the law of the day of signing."""
    earlier: Basis | None = None
    """The article of an earlier version of the law, used where this one is not in force yet."""


@dataclass(frozen=True, slots=True)
class Accusation:
    """What a rule has to say about a sentence, if its articles are confirmed."""

    sentence: Sentence
    severity: Severity
    note: str
    bases: tuple[Basis, ...]
    """The first decides; the others are shown beside it where the library holds them."""
    otherwise: Accusation | None = None
    """What is said where the library does not hold the first article."""


Finder = Callable[[Contract, date], Iterable[Accusation]]


@dataclass(frozen=True, slots=True)
class ContractRule:
    id: str
    title: str
    kinds: tuple[ContractKind, ...]
    bases: tuple[Basis, ...]
    """The articles that decide, one of them for each accusation."""
    find: Finder


_NEGATION = re.compile(
    r"(?:不得|不会|不能|不应|不可|不向|不再|不以|禁止|严禁|无权|并非|无需|无须|未经|不|未|免)[^,]{0,12}$"
)


def is_negated(text: str, start: int) -> bool:
    """Return whether a negation stands before a place, in the same part of the sentence."""
    return bool(_NEGATION.search(text[max(0, start - 16) : start]))


def phrase_rule(
    rule_id: str,
    title: str,
    kinds: tuple[ContractKind, ...],
    bases: tuple[Basis, ...],
    words: tuple[str, ...],
    note: str,
    *,
    severity: Severity = Severity.VIOLATES,
    unless: str = "",
    section: str = "",
    affirmative: bool = False,
    never_in: str = "",
    fallback: tuple[Basis, str] | None = None,
) -> ContractRule:
    """Return a rule for sentences in which all of the `words` are found, in any order, and `unless` is not. `section` must
    stand in the article of the contract around the sentence. `affirmative`: a negation before the first of the words
    makes the sentence harmless. `never_in`: words that make a whole contract one for which the rule does not hold.
    `fallback`: an article and a note to look at it, for libraries without the first of the `bases`."""

    def find(contract: Contract, day: date) -> Iterator[Accusation]:
        if never_in and contract.mentions(never_in):
            return
        for sentence in contract.matching(words[0], unless):
            found = [contract.search(one, sentence.text) for one in words]
            if not all(found) or (section and not contract.search(section, sentence.section)):
                continue
            if affirmative and found[0] and is_negated(sentence.text, found[0].start()):
                continue
            other = Accusation(sentence, Severity.CHECK, fallback[1], fallback[:1]) if fallback else None
            yield Accusation(sentence, severity, note, bases, other)

    return ContractRule(rule_id, title, kinds, bases[:1], find)
