"""English: a sentence is compared as a whole, so that no condition, speaker or exception is left out."""

from __future__ import annotations

import pytest

from core.answer.check_results import SourceText, Verdict
from core.checks import check_statement

PAGE = (
    "Entry to the Casterly museum is free for children under twelve, except on Sundays. The mother of Anna Bell won the silver "
    "prize in May. The mayor claimed that hundreds of ballots had been lost in the election. Guests may use the upper terrace "
    "if the weather is dry. The new ferry has not yet been approved by the harbour office. Before the reform, the fee was 40 crowns. "
    "Side effects were mild, the team writes. A student, Kim Doyle, found the moth. Her teacher, Alan Frye, published the find. "
    "The harbour has two stone piers; the older one is closed."
)


@pytest.mark.parametrize(
    "statement",
    [
        "Entry to the Casterly museum is free for children under twelve.",
        "Entry to the Casterly museum is free.",
        "Anna Bell won the silver prize in May.",
        "Hundreds of ballots had been lost in the election.",
        "Guests may use the upper terrace.",
        "The new ferry has been approved by the harbour office.",
        "The new ferry has not yet been approved.",
        "Kim Doyle published the find.",
        "The fee was 40 crowns.",
        "Side effects were mild.",
    ],
)
def test_a_part_of_a_sentence_is_not_supported(statement: str) -> None:
    assert check_statement(statement, SourceText(1, PAGE)).verdict is Verdict.UNCHECKED


@pytest.mark.parametrize(
    "statement",
    [
        "Entry to the Casterly museum is free for children under twelve, except on Sundays.",
        "The mother of Anna Bell won the silver prize in May.",
        "The mayor claimed that hundreds of ballots had been lost in the election.",
        "Guests may use the upper terrace if the weather is dry.",
        "The harbour has two stone piers.",
    ],
)
def test_a_whole_sentence_is_supported(statement: str) -> None:
    assert check_statement(statement, SourceText(1, PAGE)).verdict is Verdict.SUPPORTED
