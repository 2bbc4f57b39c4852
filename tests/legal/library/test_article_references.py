"""References between laws: the article of the time at which the reference was written, or a word that it may be another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.legal.article_sources import article_source
from core.legal.legal_export import article_markdown
from core.legal.library.article_references import ArticleReference
from core.legal.library.statutes import LegalArticle, RegulationService
from core.legal.verify import StatuteMark, Verifier
from support import invented

WHO = "有下列情形之一的，不得担任船务公司的董事。"
SHARES = "发行类别股的船务公司，应当经类别股股东会决议。"
LOGBOOK = "船长应当每日填写航海日志，并保存五年。"


def law(name: str, published: str, *articles: str, **more: Any) -> dict[str, Any]:
    texts = [{"number": str(number), "text": text} for number, text in enumerate(articles, 1)]
    return {"name": name, "kind": "法律", "published": published, "articles": texts, **more}


def reference(tmp_path: Path, *laws: dict[str, Any], of: str = "证券法") -> ArticleReference:
    (found,) = article(tmp_path, *laws, of=of).references
    return found


def article(tmp_path: Path, *laws: dict[str, Any], of: str = "证券法") -> LegalArticle:
    library = invented.library(tmp_path / "data", invented.jsonl(tmp_path / "a.jsonl", *laws))
    return RegulationService(library).search(f"{of}第一条").results[0]


OLD = law("船务公司法", "2010-01-01", "总则。", WHO, LOGBOOK)
NEW = law("船务公司法", "2023-12-01", "总则。", SHARES, LOGBOOK.replace("五年", "十年"), effective="2024-07-01")
CITING = "有《船务公司法》第二条规定的情形的，不得担任交易所的负责人。"


def test_the_article_is_that_of_the_time_and_the_link_leads_to_its_version(tmp_path: Path) -> None:
    found = reference(tmp_path, OLD, NEW, law("证券法", "2019-12-28", CITING))
    assert (found.content, found.version, found.note) == (WHO, "2010-01-01", "")
    assert found.description == f"（2010-01-01 公布的版本）{WHO}"


def test_a_version_that_is_not_held_is_no_text_in_the_prompt_and_in_the_export(tmp_path: Path) -> None:
    shown = article(tmp_path, NEW, law("证券法", "2019-12-28", CITING))
    assert (shown.references[0].content, shown.references[0].description) == (None, "条号可能已变")
    assert "【提到的《船务公司法》第二条：条号可能已变】" in article_source("http://here", shown, 1).text
    assert "《船务公司法》第二条：条号可能已变" in article_markdown(shown)
    assert shown.to_json()["references"][0]["note"] == "条号可能已变"


def test_the_current_article_needs_no_remark(tmp_path: Path) -> None:
    found = reference(tmp_path, OLD, NEW, law("证券法", "2025-01-01", CITING))
    assert (found.content, found.version) == (SHARES, None)


@pytest.mark.parametrize(
    ("published", "effective", "expected"),
    [
        ("2024-06-29", "2024-07-01", SHARES),  # in force together with the new version
        ("2024-03-01", "2024-04-01", WHO),
        ("2024-03-01", None, None),  # either may be meant
        ("2023-11-01", "2024-08-01", WHO),  # made before the new version was published
    ],
)
def test_a_law_that_is_announced_but_not_yet_in_force(
    tmp_path: Path, published: str, effective: str | None, expected: str | None
) -> None:
    assert reference(tmp_path, OLD, NEW, law("证券法", published, CITING, effective=effective)).content == expected


def test_a_number_that_an_amendment_did_not_move_is_shown_although_either_version_may_be_meant(tmp_path: Path) -> None:
    citing = law("证券法", "2024-03-01", "日志依照《船务公司法》第三条的规定填写。")
    assert reference(tmp_path, OLD, NEW, citing).content == LOGBOOK


def test_without_a_date_of_the_citing_law_nothing_is_shown(tmp_path: Path) -> None:
    undated = {key: value for key, value in law("证券法", "", CITING).items() if key != "published"}
    assert reference(tmp_path, OLD, NEW, undated).description == "条号可能已变"


def test_a_law_refers_to_its_own_version(tmp_path: Path) -> None:
    own = "依照本法第二条处理，不适用其他规定。"
    older = law("港口法", "2001-01-01", own, "旧的第二条，泊位先到先得。")
    newer = law("港口法", "2020-01-01", own, "新的第二条，泊位按次序。")
    library = invented.library(tmp_path / "data", invented.jsonl(tmp_path / "a.jsonl", older, newer))
    by_version = RegulationService(library).search("港口法（2001年修正）第一条").results[0]
    assert by_version.references[0].content == "旧的第二条，泊位先到先得。"


def test_a_named_year_is_that_version(tmp_path: Path) -> None:
    named = law("证券法", "2025-01-01", "依照2010年修正的《船务公司法》第二条处理。")
    before = law("港口法", "2025-01-01", "依照修改前的《船务公司法》第二条处理。")
    assert reference(tmp_path, OLD, NEW, named, before).content == WHO
    assert reference(tmp_path, OLD, NEW, named, before, of="港口法").description == "库中没有"


def test_a_text_that_repeats_a_reference_is_checked_against_the_version_of_its_time(tmp_path: Path) -> None:
    text = "根据《证券法》第一条，有《船务公司法》第二条规定的情形的，不得担任交易所的负责人。"
    citing = law("证券法", "2019-12-28", CITING)

    def repeated(*laws: dict[str, Any], folder: str) -> tuple[str, str, str | None]:
        source = invented.jsonl(tmp_path / f"{folder}.jsonl", *laws)
        _, found = Verifier(invented.library(tmp_path / folder, source)).verify(text)
        return found.mark.value, found.meaning, found.text

    assert repeated(OLD, NEW, citing, folder="held")[2] == WHO
    assert repeated(NEW, citing, folder="lacking") == (StatuteMark.UNKNOWN, "条号可能已变", None)
