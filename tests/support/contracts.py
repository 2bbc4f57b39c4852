"""Sixty contracts with planted faults, and the articles that they break: how many the review finds, and what it says else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.legal.contracts.review import ContractFinding, ContractReviewer
from core.legal.library.index import LegalLibrary
from support.base import ROOT
from support.invented import library

FOLDER = ROOT / "tests/legal/contracts"
ARTICLES = FOLDER / "articles.jsonl"


def labelled() -> list[dict[str, Any]]:
    """The contracts; each fault has the sentence in which it stands and the article that it breaks."""
    return [json.loads(line) for line in (FOLDER / "contracts.jsonl").read_text("utf-8").splitlines()]


def sound() -> list[str]:
    """Further contracts, in which nothing is wrong."""
    return [json.loads(line)["text"] for line in (FOLDER / "sound.jsonl").read_text("utf-8").splitlines()]


def quoted_laws(data: Path) -> LegalLibrary:
    """A library with the articles that the rules rely on, and no others."""
    return library(data, ARTICLES)


@dataclass
class Tally:
    faults: int = 0
    found: int = 0
    missed: list[str] = field(default_factory=list)
    unexpected: list[tuple[str, str, str]] = field(default_factory=list)
    """File, rule and sentence of each finding that no label expects."""

    @property
    def recall(self) -> float:
        return self.found / self.faults


def measure(contracts: Iterable[dict[str, Any]], reviewer: ContractReviewer) -> Tally:
    tally = Tally()
    for contract in contracts:
        review = reviewer.review(contract["text"])
        findings = list(review.findings) if review else []
        expected: list[ContractFinding] = []
        for fault in contract["faults"]:
            at_fault = [one for one in findings if _is_at(one, fault["sentence"])]
            expected += at_fault
            tally.faults += 1
            tally.found += bool(at_fault)
            tally.missed += [] if at_fault else [f"{contract['file']} {fault['rule']}"]
        tally.unexpected += [(contract["file"], one.rule, one.sentence) for one in findings if one not in expected]
    return tally


def clean(contracts: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return (one for one in contracts if not one["faults"])


def _is_at(finding: ContractFinding, sentence: str) -> bool:
    said, planted = (_NUMBER.sub("", "".join(text.split())) for text in (finding.sentence, sentence))
    return said in planted or planted in said


_NUMBER = re.compile(
    r"^(?:\d{1,2}(?:\.\d{1,2})?[.、]?(?!\d)|第[一二三四五六七八九十]{1,3}条|[一二三四五六七八九十]{1,3}、)"
)
"""Number of an item before a sentence. A finding may be a part of the labelled sentence, with the number."""
