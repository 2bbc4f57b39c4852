"""Articles and cases by meaning, with a real model that is small enough to be written by the test."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.base.embedding import MODEL, Embedder
from core.base.http import Deadline
from core.legal.entities import CaseFilter
from core.legal.errors import ImportCancelled
from core.legal.imports.build import ImportProgress
from core.legal.imports.embed_library import embed_library
from core.legal.imports.import_run import law_import
from core.legal.library.case_search import CaseService
from core.legal.library.index import ARTICLES, SHELVES, LegalLibrary
from core.legal.library.statutes import RegulationService
from core.legal.library.vectors import Neighbours, VectorFile
from support import invented
from support.tiny_embedder import write_model

GROUPS = ("笛雾响吼", "登记册写")
QUESTION = "谁吼"  # not a letter of it stands in 第三条之一 大雾期间，守塔人应当鸣笛…


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_model(tmp_path / "model", GROUPS)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return invented.lawrefbook(tmp_path / "laws")


@pytest.fixture
def library(tmp_path: Path, model: Path) -> LegalLibrary:
    return LegalLibrary(tmp_path / "data", lambda: invented.TODAY, embedder=Embedder(str(model)))


def found(library: LegalLibrary, question: str) -> list[str]:
    return [result.citation() for result in RegulationService(library).search(question).results]


def test_what_means_the_same_in_other_words_is_found(library: LegalLibrary, corpus: Path) -> None:
    report = law_import(library, str(corpus))
    assert report.vectors
    assert found(library, QUESTION)[0] == "《中华人民共和国灯塔法》第三条之一"


def test_without_a_model_the_words_decide(tmp_path: Path, corpus: Path) -> None:
    library = LegalLibrary(tmp_path / "data", lambda: invented.TODAY)
    assert law_import(library, str(corpus)).vectors is None
    assert found(library, QUESTION) == []


def test_the_same_words_are_computed_once(library: LegalLibrary, corpus: Path) -> None:
    first = law_import(library, str(corpus))
    again = law_import(library, str(corpus))
    assert (bool(first.vectors), again.vectors) == (True, 0)
    assert found(library, QUESTION)


def test_progress_is_told_and_what_was_done_before_a_cancel_is_kept(library: LegalLibrary, corpus: Path) -> None:
    seen: list[ImportProgress] = []
    deadline = Deadline(float("inf"))

    def on_progress(progress: ImportProgress) -> None:
        seen.append(progress)
        if progress.stage in SHELVES:
            deadline.cancel()

    many = invented.lawrefbook(corpus.parent / "many")
    for number in range(40):
        text = invented.BUOY.replace("浮标", f"浮标{number}号")
        (many / f"经济法/浮标{number}号法(2015-03-03).md").write_text(text, "utf-8")
    with pytest.raises(ImportCancelled, match="法规与案例库已经可用"):
        law_import(library, str(many), on_progress=on_progress, deadline=deadline)
    done = next(progress for progress in seen if progress.stage in SHELVES)
    assert 0 < done.done < done.total
    assert found(library, "浮标由船长登记")  # by its words
    assert 0 < (embed_library(library) or 0) <= done.total - done.done
    assert found(library, QUESTION)


def test_a_record_that_was_cut_off_is_written_again(library: LegalLibrary, corpus: Path) -> None:
    law_import(library, str(corpus))
    vectors = library.vectors_of(ARTICLES)
    assert vectors is not None
    (file,) = library.folder.glob("vectors-*.bin")
    whole = len(vectors.records())
    file.write_bytes(file.read_bytes()[:-3])
    assert len(vectors.records()) == whole - 1
    assert embed_library(library) == 1
    assert len(vectors.records()) == whole


def test_vectors_of_another_model_are_not_compared(library: LegalLibrary, corpus: Path, tmp_path: Path) -> None:
    law_import(library, str(corpus))
    embedder = Embedder(str(write_model(tmp_path / "b", ("甲乙",))))
    other = LegalLibrary(tmp_path / "data", lambda: invented.TODAY, embedder=embedder)
    assert found(other, QUESTION) == []
    assert other.problem == ""


@pytest.mark.parametrize("broken", ["gone", "garbage", "name"])
def test_a_model_that_cannot_be_used_is_said_and_the_words_decide(tmp_path: Path, corpus: Path, broken: str) -> None:
    folder = write_model(tmp_path / "model", GROUPS)
    if broken == "gone":
        (folder / MODEL).unlink()
    elif broken == "garbage":
        (folder / MODEL).write_bytes(b"no model")
    given = "no/such model" if broken == "name" else str(folder)
    library = LegalLibrary(tmp_path / "data", lambda: invented.TODAY, embedder=Embedder(given))
    report = law_import(library, str(corpus))
    assert report.vectors is None
    assert report.problem.endswith("请检查语义模型的设置。")
    assert found(library, "浮标由船长登记")
    assert library.problem


def test_likeness_is_a_cosine(tmp_path: Path, model: Path) -> None:
    embedder = Embedder(str(model))
    vectors = VectorFile(tmp_path, embedder)
    texts = ["笛", "登笛", "登"]
    vectors.add(vectors.missing_texts(texts), lambda _: None)
    near = Neighbours(vectors, enumerate(texts)).nearest("吼", 2)
    assert list(near) == [0, 1]
    assert near == {0: pytest.approx(1.0, abs=0.01), 1: pytest.approx(0.71, abs=0.01)}
    assert list(Neighbours(vectors, enumerate(texts)).nearest("吼", 2, candidates={1, 2})) == [1, 2]
    assert Neighbours(vectors, enumerate(texts)).nearest("吼", 2, candidates=()) == {}


CASES = (
    {
        "caseName": "甲号案",
        "court": "东港法院",
        "gist": "大雾中应当鸣笛。",
        "text": "甲船夜航。" * 300 + "末尾没有人读。",
    },
    {"caseName": "乙号案", "court": "西港法院", "text": "西港法院判决书。原告诉称，被告没有鸣笛。"},
    {"caseName": "丙号案", "court": "西港法院", "text": "丙把名字登在册上。"},
)


def cases(library: LegalLibrary, question: str, court: str = "") -> list[str]:
    return [case.name for case in CaseService(library).search(question, case_filter=CaseFilter(court=court)).results]


def test_cases_are_found_by_meaning_too(library: LegalLibrary, tmp_path: Path) -> None:
    told: list[str] = []
    file = invented.jsonl(tmp_path / "cases.jsonl", *CASES)
    report = law_import(library, str(file), on_progress=lambda progress: told.append(progress.stage))
    assert report.vectors == 3
    assert "计算案例的向量" in told
    assert set(cases(library, QUESTION)) == {"甲号案", "乙号案"}
    assert cases(library, QUESTION, court="西港") == ["乙号案"]
    assert cases(library, QUESTION, court="南港") == []
    assert law_import(library, str(file)).vectors == 0


def test_without_a_model_cases_are_found_by_their_words(tmp_path: Path) -> None:
    library = invented.library(tmp_path / "data", invented.jsonl(tmp_path / "cases.jsonl", *CASES))
    assert cases(library, QUESTION) == []
    assert cases(library, "没有鸣笛")[0] == "乙号案"


def test_a_case_that_means_something_else_is_not_found(library: LegalLibrary, tmp_path: Path) -> None:
    law_import(library, str(invented.jsonl(tmp_path / "cases.jsonl", CASES[2])))
    assert cases(library, QUESTION) == []


def test_of_a_case_the_model_reads_what_says_most(library: LegalLibrary, tmp_path: Path) -> None:
    law_import(library, str(invented.jsonl(tmp_path / "cases.jsonl", *CASES)))
    index = library.index()
    assert index is not None
    first, second, _ = (words for _, words in index.case_meanings())
    assert first.startswith("甲号案 大雾中应当鸣笛。 甲船夜航。")
    assert (len(first), second) == (160, "乙号案 ，被告没有鸣笛。")


def test_articles_are_found_by_meaning_while_the_vectors_of_cases_are_under_way(
    library: LegalLibrary, corpus: Path, tmp_path: Path
) -> None:
    deadline = Deadline(float("inf"))

    def on_progress(progress: ImportProgress) -> None:
        if progress.stage == "计算案例的向量":
            assert found(library, QUESTION)
            deadline.cancel()

    law_import(library, str(corpus))
    many = ({"caseName": f"{number} 号案", "text": f"第 {number} 次鸣笛。"} for number in range(20))
    with pytest.raises(ImportCancelled, match="计算案例的向量到第 16 条时取消了"):
        law_import(
            library, str(invented.jsonl(tmp_path / "cases.jsonl", *many)), on_progress=on_progress, deadline=deadline
        )
    assert cases(library, "谁吼了一次") == []
    assert embed_library(library) == 4
