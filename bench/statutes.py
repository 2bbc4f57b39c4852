"""法条核验 on restatements made from the real corpora beside the project; without them there is nothing to measure."""

from __future__ import annotations

import json
import random
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.legal import DATA, draft, imported, opened
from bench.rows import Row
from bench.statute_paraphrases import Half, Restatement, restatements
from core.legal.library.index import LegalIndex, LegalLibrary
from core.legal.verify import ALIKE, Author, StatuteMark, Verifier
from support import labelled_citations

NOTE = """### What was tuned on what

The restatements are made by the rules of `bench/statute_paraphrases.py` from a random sentence of a random article that is in
force, each in one of six surroundings (a sentence, a bracket, a list, a table). Laws are dealt out to two halves by a hash of
their names. The tables of synonyms, the thresholds and the rules of what may be left out were chosen on the development
half, on prose of our own about some forty well-known articles, and on the development half of the labelled citations beside the
project; the report half was only measured, and its one false alarm was left as it is. The rules that make the set and the
checker have the same author, so real prose is harder than both halves: expect fewer green marks there, because whatever is
not sure stays ○.

False green is the share of wrong restatements marked ✓, false alarm the share of right ones marked ≠ or ⌛. Decided are the right ones
marked ✓ and the wrong ones marked ≠ or ⌛. One of the wrong restatements of the development half is right by accident: the condition
and the consequence that were put together stand together in another sentence of the article.

The restatements by hand and the pairs (a faithful sentence, and the same made false by one change) are the development sets
beside the project, on which the present rules were chosen; their figures are no forecast. The tables of terms that exclude each
other and of parties (`core/legal/text/rule_wording.py`) were written after the rules of `bench/statute_paraphrases.py` had been
read, so the figures for "condition altered" and "parties exchanged" are better than they would be on other words.

Our own 120 statements (`bench/statute_statements.jsonl`, 60 faithful and 60 false, on 38 statutes) were written from the articles before
the checker had seen them. Its first verdicts were: of the faithful 21 ✓ and 2 ≠, of the false none ✓ and 30 ≠. One half of them, by a hash,
was then read while the rules were mended.

A second set of our own (`bench/statute_restatements.jsonl`, 100 faithful and 100 false, on 34 statutes) was written the same way. First
verdicts: of the faithful 30 ✓ and 7 ≠, of the false 1 ✓ and 49 ≠. Of the half that was only measured the faithful ✓ rose from 12 to 17
of 45 while the rules were mended on the other; its one false ✓ and its ≠ of faithful ones were read and mended, too.

The labelled citations are made by the templates of `tests/support/labelled_citations.py`: five kinds that are right, six that are wrong
(beyond the last article, no such 款, a letter, a modal or a figure of the quotation altered, another article's words), laws of other
countries and cities, invented and misspelt names, drafts, contracts, and named versions. What they found was mended, so they guard
against falling back and are no forecast. The judicial interpretations are prose that nobody here wrote: each citation of a law that has
not been changed since the interpretation was published deserves no ≠ and no ✗. They were read while the rules were mended, too.
"""

OWN_STATEMENTS = Path(__file__).parent / "statute_statements.jsonl"
OWN_RESTATEMENTS = Path(__file__).parent / "statute_restatements.jsonl"
_HALVES: tuple[Half, ...] = ("development", "report")
_ARTICLE = re.compile(r"([^第]+)(第.+条)$")
_ALARMS = (StatuteMark.DIFFERS, StatuteMark.NOT_IN_FORCE)


def rows() -> Iterator[Row]:
    if not DATA.is_dir():
        return
    with tempfile.TemporaryDirectory() as folder:
        library = LegalLibrary(Path(folder))
        for _ in imported(library):
            pass
        index = opened(library)
        for half in _HALVES:
            yield from quality(Verifier(library), restatements(index, half), half)
        yield from written_by_hand(Verifier(library))
        yield from citations(Verifier(library), index)
        yield from real_prose(Verifier(library), index)
        yield from speed(Verifier(library), index)


def quality(verifier: Verifier, examples: Sequence[Restatement], half: Half) -> Iterator[Row]:
    marks: dict[str, Counter[StatuteMark]] = defaultdict(Counter)
    for example in examples:
        marks[example.kind][mark(verifier, example)] += 1
    right = sum((marks[example.kind] for example in _one_of_each(examples, right=True)), Counter[StatuteMark]())
    wrong = sum((marks[example.kind] for example in _one_of_each(examples, right=False)), Counter[StatuteMark]())
    most_green, most_alarms = (2, 5) if half == "report" else (None, None)
    false_green, false_alarms = 100 * wrong[StatuteMark.AGREES] / wrong.total(), 100 * alarms(right) / right.total()
    yield Row(f"{half} half, {wrong.total()} wrong: false green", false_green, "%", most_green)
    yield Row(f"{half} half, {right.total()} right: false alarm", false_alarms, "%", most_alarms)
    decided = right[StatuteMark.AGREES] + alarms(wrong)
    yield Row(f"{half} half, decided", 100 * decided / (right.total() + wrong.total()), "%")
    if half == "report":
        for example in _one_of_each(examples):
            found, what = marks[example.kind], "✓" if example.right else "≠"
            count = found[StatuteMark.AGREES] if example.right else alarms(found)
            yield Row(
                f"{'right' if example.right else 'wrong'}, {example.kind}: {what}", 100 * count / found.total(), "%"
            )


def written_by_hand(verifier: Verifier) -> Iterator[Row]:
    """Restatements that were written, not made: single ones, and faithful ones with what one change makes of them."""
    single = [(row["statement"], row["label"] == "true") for row in _read(DATA / "restatements.dev.jsonl")]
    own = [(row["statement"], row["label"] == "true") for row in _read(OWN_STATEMENTS)]
    second = [(row["statement"], row["label"] == "true") for row in _read(OWN_RESTATEMENTS)]
    pairs = [row for row in _read(DATA.parent / "claims" / "minimal_pairs.law.dev.jsonl") if _ARTICLE.match(row["law"])]
    false = [(_with_citation(row), False) for row in pairs if row["label"] != "supported"]
    near = [(_with_citation(row), True) for row in pairs if row["distance"] == "near"]
    free = [(_with_citation(row), True) for row in pairs if row["distance"] in ("medium", "far")]
    for what, texts in (
        ("by hand", single),
        ("our own", own),
        ("our second", second),
        ("pairs", false),
        ("pairs, nearly verbatim", near),
        ("pairs, freely", free),
    ):
        for is_right in (False, True):
            found = [verifier.verify(text)[0] for text, right in texts if right is is_right]
            marks, alike = Counter(one.mark for one in found), sum(one.is_alike for one in found)
            if not marks:
                continue
            side = f"{what}, {marks.total()} {'right' if is_right else 'wrong'}"
            green, red = marks[StatuteMark.AGREES] / marks.total(), alarms(marks) / marks.total()
            yield Row(f"{side}: ✓", 100 * green, "%", None if is_right else 1)
            yield Row(f"{side}: ≠", 100 * red, "%", 5 if is_right else None)
            yield Row(f"{side}: {ALIKE}", 100 * alike / marks.total(), "%")


def _read(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []


def _with_citation(row: dict[str, str]) -> str:
    """Half of the statements name their article."""
    law = _ARTICLE.match(row["law"])
    assert law is not None
    named = re.search(r"》第[^，。]{1,12}条", row["statement"])
    return row["statement"] if named else f"根据《{law[1]}》{law[2]}，{row['statement']}"


def _one_of_each(examples: Sequence[Restatement], *, right: bool | None = None) -> list[Restatement]:
    return [one for one in {one.kind: one for one in examples}.values() if right is None or one.right is right]


def alarms(found: Counter[StatuteMark]) -> int:
    return sum(found[mark] for mark in _ALARMS)


def mark(verifier: Verifier, example: Restatement) -> StatuteMark:
    """Of the article that the restatement is of: its words may cite others."""
    return next(one.mark for one in verifier.verify(example.text) if one.article_number == example.article)


def citations(verifier: Verifier, index: LegalIndex) -> Iterator[Row]:
    said = [(one, labelled_citations.said_of(verifier, one)) for one in labelled_citations.labelled(index)]
    green = 100 * labelled_citations.false_green(said)
    yield Row(f"{len(said)} labelled citations: wrong ones that are ✓", green, "%", 0.5)
    for label, quality in labelled_citations.qualities(said).items():
        what = f"labelled citations, “{label}” ({quality.deserving})"
        yield Row(f"{what}: precision", quality.precision, "", 0.95, at_least=True)
        yield Row(f"{what}: recall", quality.recall, "", 0.95, at_least=True)


def real_prose(verifier: Verifier, index: LegalIndex) -> Iterator[Row]:
    for by in Author:
        found = [verdict.mark for _, verdict in labelled_citations.real_prose(verifier, index, by)]
        false = 100 * sum(mark in (StatuteMark.DIFFERS, StatuteMark.MISSING) for mark in found) / len(found)
        yield Row(
            f"{len(found):,} citations in judicial interpretations, read as a {by.name.lower()}'s: false alarms",
            false,
            "%",
            2,
        )


def speed(verifier: Verifier, index: LegalIndex) -> Iterator[Row]:
    quoted = draft(index, random.Random(7))
    yield Row(f"a draft of {len(quoted):,} characters that quotes", seconds(verifier, quoted), "s", 0.5)
    filler = "经审理查明，双方签订合同后，被告未按约定履行义务，致使原告遭受损失，原告遂诉至本院。" * 6
    restated = "".join(f"{filler}\n\n{one.text}\n\n" for one in restatements(index, "report")[::6])
    yield Row(f"a draft of {len(restated):,} characters that restates", seconds(verifier, restated), "s", 0.5)
    answer = "".join(one.text + "\n" for one in restatements(index, "report")[::64])
    yield Row(f"an answer of {len(answer):,} characters", 1e3 * seconds(verifier, answer), "ms", 100)


def seconds(verifier: Verifier, text: str) -> float:
    """The better of two runs, because the machine is shared."""
    runs = []
    for _ in range(2):
        started = time.perf_counter()
        verifier.verify(text, Author.MODEL)
        runs.append(time.perf_counter() - started)
    return min(runs)
