"""The real corpora and the 36 queries beside the project: a sample of the laws here, everything in `make bench`."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from core.legal.entities import Law
from core.legal.imports.build import import_source
from core.legal.layouts import corpora
from core.legal.library.case_search import CaseService
from core.legal.library.index import LegalLibrary
from core.legal.library.statutes import RegulationService
from core.legal.text.case_numbers import find_case_numbers
from core.legal.text.law_names import law_key
from core.legal.text.quotations import is_quoted_from
from core.legal.verify import Author, StatuteMark, Verifier
from support.base import ROOT
from support.labelled_citations import false_green, labelled, qualities, real_prose, said_of

pytestmark = pytest.mark.shared

EVERY = 40


@pytest.fixture(scope="module")
def data(shared: Path) -> Path:
    if not (shared / "data/legal").is_dir():
        pytest.skip("the legal corpora (../shared/data/legal) are not here")
    return shared / "data/legal"


@pytest.fixture(scope="module")
def queries(data: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (data / "dev_queries.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, data: Path, queries: list[dict[str, Any]]) -> LegalLibrary:
    """The files that the queries are about, one in forty of the others, all cases; then just-laws, thinned too."""
    folder = tmp_path_factory.mktemp("library")
    wanted = {query.get(key) for query in queries for key in ("sourceFile", "newestFile")}
    library = LegalLibrary(folder)
    for name in ("lawrefbook-national", "just-laws"):
        sample = folder / f"{name}.tar"
        _sample(data / f"{name}.tar.xz", sample, {file for file in wanted if file})
        import_source(library.folder, sample)
    return library


def _sample(source: Path, target: Path, wanted: set[str]) -> None:
    kept = ("db.sqlite3", "versions.json")
    always = ("案例/", "民法典/", "关于适用", "docs/criminal-law/", "docs/procedural/", "docs/civil-and-commercial/")
    with tarfile.open(source) as archive, tarfile.open(target, "w") as sample:
        for number, member in enumerate(archive):
            path = member.name.removeprefix("./")
            chosen = path.endswith((*kept, *wanted)) or any(part in path for part in always)
            if member.isfile() and (chosen or number % EVERY == 0):
                file = archive.extractfile(member)
                sample.addfile(member, io.BytesIO(file.read() if file else b""))


def of_type(queries: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    found = [query for query in queries if query["type"] == kind]
    assert found
    return found


def test_articles_laws_references_and_cases(library: LegalLibrary, queries: list[dict[str, Any]]) -> None:
    regulations, cases = RegulationService(library), CaseService(library)
    for query in of_type(queries, "article_lookup"):
        results = regulations.search(query["query"]).results
        assert (results[0].law_name, results[0].article_number) == (query["lawName"], query["articleNumber"])
        # Where a newer text came first, the one that the query knows follows as an older version.
        assert any(is_quoted_from(query["expectedPrefix"], result.content) for result in results), query["id"]
    for query in of_type(queries, "law_lookup"):
        law = regulations.search(query["query"]).results[0]
        assert (law.law_name, law.article_count) == (query["lawName"], query["articleCount"])
    for query in of_type(queries, "xref"):
        article = regulations.search(query["query"]).results[0]
        assert [reference.article_number for reference in article.references] == query["refers"]
        assert all(reference.content for reference in article.references)
    for query in of_type(queries, "case_search"):
        names = [case.name for case in cases.search(query["query"], query["caseType"]).results]
        assert query["caseName"] in names[:3]


def test_citations_of_real_laws_get_the_verdict_they_deserve(library: LegalLibrary) -> None:
    index, verifier = library.index(), Verifier(library)
    assert index is not None
    said = [(one, said_of(verifier, one)) for one in labelled(index, of_each=30)]
    assert len(said) >= 600
    assert false_green(said) <= 0.005
    poor = {label: found for label, found in qualities(said).items() if min(found.precision, found.recall) < 0.95}
    assert not poor, [one for one in said if one[0].label != one[1]]
    marks = [verdict.mark for _, verdict in real_prose(verifier, index, Author.MODEL)]
    assert len(marks) > 300
    assert sum(mark in (StatuteMark.DIFFERS, StatuteMark.MISSING) for mark in marks) <= 0.02 * len(marks)


def test_case_numbers(queries: list[dict[str, Any]]) -> None:
    for query in of_type(queries, "case_number"):
        number = find_case_numbers(query["query"])[0]
        assert (number.text, number.type.value) == (query["caseNumber"], query["caseType"])


def test_queries_find_cases_about_them_and_others_mostly_nothing(library: LegalLibrary) -> None:
    """The queries that the relevance floor was chosen with. Before words counted by rarity: 44 and 21."""
    lines = (ROOT / "bench" / "case_queries.jsonl").read_text("utf-8").splitlines()
    found = {True: 0, False: 0}
    for query in map(json.loads, lines):
        found[query["fits"]] += bool(CaseService(library).search(query["query"]).results)
    assert found[True] >= 46
    assert found[False] <= 13


def test_every_article_of_the_national_corpus_is_read(data: Path) -> None:
    source = data / "lawrefbook-national.tar.xz"
    laws = [item for item in corpora.read(source, corpora.survey(source)) if isinstance(item, Law)]
    numbered = [article for law in laws for article in law.articles if article.number.number]
    assert len(numbered) >= 64_671
    assert sum(article.number.suffix > 0 for article in numbered) == 53
    gaps = {law_key(law.name) for law in laws if _has_gap(law)}
    assert all("宪法修正案" in name for name in gaps)  # they go on counting where the one before ended


def _has_gap(law: Law) -> bool:
    numbers = {article.number.number for article in law.articles} - {0}
    return bool(numbers) and len(numbers) != max(numbers)
