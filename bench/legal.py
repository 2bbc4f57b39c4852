"""Legal search on the real corpora beside the project (../shared/data/legal); without them there is nothing to measure."""

from __future__ import annotations

import json
import random
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.rows import Row
from core.legal.library.case_search import CaseService
from core.legal.library.index import LegalIndex, LegalLibrary
from core.legal.library.statutes import RegulationService
from core.legal.text import law_popularity
from core.legal.text.case_numbers import find_case_numbers
from core.legal.text.law_names import law_key
from core.legal.text.quotations import is_quoted_from
from core.legal.verify import Verifier

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data" / "legal"
SOURCES = ("lawrefbook-national.tar.xz", "just-laws.tar.xz")
IMPORT = "import sys; from pathlib import Path; from core.legal.imports.build import import_source; import_source(Path(sys.argv[1]), Path(sys.argv[2]))"

OWN_QUESTIONS = Path(__file__).with_name("legal_questions.jsonl")
"""Everyday questions that the project wrote and labelled itself, after the weights were chosen."""

COUNTED, CONTROL = "stard", "lawbench32"
PUBLIC = {
    COUNTED: "STARD, laws counted in the other half",
    "lawbench38": "LawBench 3-8",
    CONTROL: "LawBench 3-2 (control)",
}

NOTE = """### What retrieval was tuned on

The weights of the fields, the prior for statutes and the list of lay words (`core/legal/text/lay_words.py`) were chosen on 107
everyday questions in the manner of STARD, written and labelled by ourselves from memory of the statutes: recall@10 0.802
on these. On 47 other such questions, which no choice was made on, it was 0.459: the aim of 0.50 was missed there. Neither set
is in the repository, so these two figures cannot be repeated from it.

The 36 dev queries of the table were printed and read at each step. The list of lay words was written after reading them;
two entries that fitted only them were removed. Their figures are therefore not those of unseen questions.

The 70 questions in `bench/legal_questions.jsonl` were written and labelled afterwards, from memory of the statutes and checked
against their text. Nothing was chosen by them, but their figures were printed beside those that choices were made by. Most of them
ask for statutes, few for regulations or interpretations.

### Where the prior for laws comes from, and what it brings

Laws that people ask about have a prior (`core/legal/text/law_popularity.py`): in how many of 768 questions of STARD's development half
(oneal2000/STARD, MIT licence; asked by people, answered by lawyers) an article of the law is part of the answer. Only the names
of the laws and the counts are kept. Its weight (0.12 for each power of e), the exponent of an article's length (0.1) and the weight of
meaning (1.25, below) are the three numbers that were chosen, all on these development halves; neighbouring values differ by less than
0.01. STARD's figures are two-fold: counted in one half of the questions, measured on the other. Recall@10:

| words alone | STARD, 768 | LawBench 3-8, 216 | both | LawBench 3-2, 198 (control) |
| --- | --- | --- | --- | --- |
| neither prior nor length | 0.531 | 0.224 | 0.463 | 0.808 |
| prior | 0.578 | 0.257 | 0.507 | 0.793 |
| prior and length | 0.587 | 0.257 | 0.515 | 0.778 |

The control, questions that were made from an article in its own words, loses six of 198: who asks like a statute may mean a law that
nobody asks about. With a model for meaning it loses three.
"""

Query = dict[str, Any]
PLACES = "甲乙丙丁戊己庚辛壬癸子丑"
"""Whose laws they are called in a library that is ten times as large as all versions of the corpora."""


def rows() -> Iterator[Row]:
    if not DATA.is_dir():
        return
    with tempfile.TemporaryDirectory() as folder:
        library = LegalLibrary(Path(folder))
        yield from imported(library)
        queries = read_jsonl(DATA / "dev_queries.jsonl")
        yield from quality(library, queries)
        yield from public_questions(lambda: LegalLibrary(Path(folder)), "words alone", 0.47)
        yield from speed(library, queries)
        yield from speed_of_many(library, queries)


def read_jsonl(file: Path) -> list[Query]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def imported(library: LegalLibrary) -> Iterator[Row]:
    """Each source in a process of its own, so that its memory is its own."""
    names = {SOURCES[0]: "import of the national corpus", SOURCES[1]: "import of just-laws over it"}
    for source in SOURCES:
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", IMPORT, library.folder, DATA / source], cwd=ROOT, check=True)
        yield Row(names[source], time.perf_counter() - started, "s", 60)
        yield Row(
            f"{names[source]}, largest memory so far",
            resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3,
            "MB",
            500,
        )


def quality(library: LegalLibrary, queries: list[Query]) -> Iterator[Row]:
    regulations, cases = RegulationService(library), CaseService(library)

    def article(query: Query) -> bool:
        found = regulations.search(query["query"]).results
        named = found and (found[0].law_name, found[0].article_number) == (query["lawName"], query["articleNumber"])
        return bool(named) and any(is_quoted_from(query["expectedPrefix"], result.content) for result in found)

    def law(query: Query) -> bool:
        first = regulations.search(query["query"]).results[0]
        return (first.law_name, first.article_count) == (query["lawName"], query["articleCount"])

    def references(query: Query) -> bool:
        found = regulations.search(query["query"]).results[0].references
        return {reference.article_number for reference in found} >= set(query["refers"])

    def number(query: Query) -> bool:
        found = find_case_numbers(query["query"])
        return bool(found) and (found[0].text, found[0].type.value) == (query["caseNumber"], query["caseType"])

    def case(query: Query) -> bool:
        return query["caseName"] in [found.name for found in cases.search(query["query"], query["caseType"]).results]

    for kind, check in (
        ("article_lookup", article),
        ("law_lookup", law),
        ("xref", references),
        ("case_number", number),
        ("case_search", case),
    ):
        of_kind = [query for query in queries if query["type"] == kind]
        yield Row(f"{kind}, {len(of_kind)} queries right", share(map(check, of_kind)), "", 1.0, at_least=True)
    asked = [query for query in queries if query["type"] == "question"]
    recalled, reciprocal = ranking(regulations, asked)
    yield Row(
        f"question, {len(asked)} queries, recall@10",
        recalled,
        "",
        0.375,
        "FTS5 bigrams (LEGAL.md)",
        0.375,
        at_least=True,
    )
    yield Row(f"question, {len(asked)} queries, MRR@10", reciprocal, "", None, "FTS5 bigrams (LEGAL.md)", 0.275)
    own = read_jsonl(OWN_QUESTIONS)
    recalled, reciprocal = ranking(regulations, own)
    yield Row(f"{len(own)} other questions, recall@10", recalled, "", 0.5, at_least=True)
    yield Row("the same, MRR@10", reciprocal, "")


def public_questions(open_library: Callable[[], LegalLibrary], by: str, least: float) -> Iterator[Row]:
    """`least` is of everyday questions; those of LawBench 3-2 are made from articles, and must not get worse."""
    sets = DATA / "retrieval"
    if not sets.is_dir():
        return
    asked = {name: read_jsonl(sets / f"{name}.dev.jsonl") for name in PUBLIC}
    regulations = RegulationService(open_library())
    recalls = {name: [recall(regulations, query) for query in queries] for name, queries in asked.items()}
    recalls[COUNTED] = list(crosswise(open_library, asked[COUNTED]))
    for name, found in recalls.items():
        yield Row(f"{PUBLIC[name]}, {len(found)} questions, {by}, recall@10", share(found), "")
    lay = [one for name, found in recalls.items() if name != CONTROL for one in found]
    yield Row(f"the {len(lay)} everyday ones together, {by}, recall@10", share(lay), "", least, at_least=True)


def crosswise(open_library: Callable[[], LegalLibrary], queries: Sequence[Query]) -> Iterator[float]:
    """Recall where the laws that people ask about were counted in the other half of the questions."""
    mixed = random.Random(1).sample(queries, len(queries))
    halves = mixed[::2], mixed[1::2]
    for half, other in (halves, halves[::-1]):
        laws = Counter(key for query in other for key in {law_key(gold["lawName"]) for gold in query["gold"]})
        with patch.dict(law_popularity.QUESTION_COUNTS, laws, clear=True):
            regulations = RegulationService(open_library())  # a library remembers what a law weighs
            yield from (recall(regulations, query) for query in half)


def recall(regulations: RegulationService, query: Query) -> float:
    ranks = gold_ranks(regulations, query)
    return sum(0 < rank <= 10 for rank in ranks) / len(ranks)


def ranking(regulations: RegulationService, asked: Sequence[Query]) -> tuple[float, float]:
    """Recall@10 and MRR@10."""
    ranks = [gold_ranks(regulations, query) for query in asked]
    return share(recall(regulations, query) for query in asked), share(
        max((1 / rank for rank in found if rank), default=0.0) for found in ranks
    )


def gold_ranks(regulations: RegulationService, query: Query) -> list[int]:
    """The place of each gold article, 0 for one that was not found."""
    found = [(result.law_name, result.article_number) for result in regulations.search(query["query"]).results]
    wanted = [(gold["lawName"], gold["articleNumber"]) for gold in query["gold"]]
    return [found.index(gold) + 1 if gold in found else 0 for gold in wanted]


def share(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def speed(library: LegalLibrary, queries: list[Query]) -> Iterator[Row]:
    index = opened(library)
    regulations = RegulationService(library)
    chance = random.Random(7)
    asked = questions(index, queries, chance)
    yield Row("exact look-up (law and article), p95", p95(regulations.search, citations(index, chance)), "ms", 1)
    size = index.counts()["articles"]
    plain = p95(plain_full_text(index), asked[:40])
    title = f"full text over {size:,} articles, p95"
    yield Row(title, p95(lambda text: index.search(text, 10), asked), "ms", 5, "SQLite's FTS5, bigrams, bm25", plain)
    yield Row("full text with references, p95", p95(regulations.search, asked), "ms")
    text = draft(index, chance)
    started = time.perf_counter()
    verdicts = Verifier(library).verify(text)
    yield Row(
        f"verify a draft of {len(text):,} characters, {len(verdicts)} citations",
        time.perf_counter() - started,
        "s",
        0.5,
    )


def plain_full_text(index: LegalIndex) -> Callable[[str], object]:
    """What SQLite brings, without fields, priors and what people call things."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE article USING fts5(text, content='')")
    texts = ((bigrams(article.text),) for law in index.laws() for article in index.articles(law.id))
    connection.executemany("INSERT INTO article (text) VALUES (?)", texts)
    return lambda text: connection.execute(
        "SELECT rowid FROM article WHERE article MATCH ? ORDER BY rank LIMIT 10",
        (" OR ".join(f'"{pair}"' for pair in bigrams(text).split()),),
    ).fetchall()


def bigrams(text: str) -> str:
    letters = re.sub(r"\W", "", text)
    return " ".join(map("".join, pairwise(letters)))


def opened(library: LegalLibrary) -> LegalIndex:
    index = library.index()
    assert index is not None
    return index


def citations(index: LegalIndex, chance: random.Random) -> list[str]:
    laws = [law for law in index.laws() if law.article_count > 5]
    return [f"《{law.name}》第{chance.randint(1, law.article_count)}条" for law in chance.sample(laws, 400)]


def questions(index: LegalIndex, queries: list[Query], chance: random.Random) -> list[str]:
    """Some that people ask, more that are an article's own words."""
    laws = [law for law in index.laws() if law.article_count > 5]
    return [query["query"] for query in queries if query["type"] == "question"] + [
        re.split("[。；，]", article.text)[0][:40]
        for law in chance.sample(laws, 200)
        for article in index.articles(law.id)[1:2]
    ]


def speed_of_many(library: LegalLibrary, queries: list[Query]) -> Iterator[Row]:
    """The same laws under many names: ever so much longer lists for every word."""
    with tempfile.TemporaryDirectory() as folder:
        many, source = LegalLibrary(Path(folder)), Path(folder) / "source"
        source.mkdir()
        for place in PLACES:
            write_renamed(opened(library), place, source / f"{place}.jsonl")
        subprocess.run([sys.executable, "-c", IMPORT, many.folder, source], cwd=ROOT, check=True)
        index, chance = opened(many), random.Random(7)
        size, asked = index.counts()["articles"], questions(index, queries, chance)
        exact = p95(RegulationService(many).search, citations(index, chance))
        yield Row(f"exact look-up in {size:,} articles, p95", exact, "ms", 1)
        yield Row(f"full text over {size:,} articles, p95", p95(lambda text: index.search(text, 10), asked), "ms", 30)


def write_renamed(index: LegalIndex, place: str, target: Path) -> None:
    with target.open("w", encoding="utf-8") as file:
        for law in index.laws():
            articles = [
                {"number": str(article.number), "path": list(article.path), "text": article.text}
                for article in index.articles(law.id)
                if article.number.number
            ]
            record = {"name": f"{place}{law.key}", "kind": law.kind.value, "published": law.published}
            if articles:
                file.write(json.dumps(record | {"articles": articles}, ensure_ascii=False) + "\n")


def p95(call: Callable[[str], object], arguments: Sequence[str]) -> float:
    """In milliseconds of the processor; the better of two runs for each argument, because the machine is shared."""
    times = []
    for argument in arguments:
        runs = []
        for _ in range(2):
            started = time.process_time()
            call(argument)
            runs.append((time.process_time() - started) * 1e3)
        times.append(min(runs))
    return sorted(times)[int(len(times) * 0.95)]


def draft(index: LegalIndex, chance: random.Random) -> str:
    """Twenty pages with a hundred citations, each with its quotation."""
    laws = [law for law in index.laws() if law.article_count > 20]
    filler = "经审理查明，双方签订合同后，被告未按约定履行义务，致使原告遭受损失，原告遂诉至本院。" * 6
    pieces = []
    for law in chance.sample(laws, 100):
        article = chance.choice(index.articles(law.id))
        pieces.append(f"{filler}根据《{law.name}》{article.number}规定：“{article.text[:60]}”，应予支持。\n")
    return "".join(pieces)
