"""The references of a conversation as RIS, BibTeX and CSL-JSON, read by parsers of these formats."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta, timezone
from typing import Any

import pytest
import rispy
from pybtex.database import BibliographyData, parse_string

from core.answer.export import as_bibtex, as_csl_json, as_ris
from core.answer.message import Message
from core.search.types import Source

SHANGHAI = timezone(timedelta(hours=8))
CREATED = 1_763_305_200.0  # 2025-11-16 23:00 in Shanghai, still the 16th; 15:00 UTC
HOSTILE = r"100% 可靠_的 {研究} & $5 \input{x} ~a^b #1 <script>"
PAGE = Source(
    1, HOSTILE, "https://www.example.cn/a_(b)?x=1&y=%E4%BD%A0#{z}", "摘要", "tavily", "2024-10-12", "page", 900
)
ARTICLE = Source(
    2,
    "《中华人民共和国劳动合同法》第十九条（2012-12-28 公布，已修改）",
    "https://wenyuan.example/legal?law=%E5%8A%B3%E5%8A%A8&article=19",
    "劳动合同期限……",
    "laws",
    "2012-12-28",
    "library",
)
CASE = Source(3, "某甲诉某乙 (2019)京01民终1号", "/legal?case=x", "要旨", "cases", "2019-05-06", "library")
FILE = Source(4, "合同 .docx", "file:0123", "第一条", "", None, "file", 300)
ENGLISH = Source(5, "Solid-state batteries", "https://example.org/s", "…", "tavily")


def answer(*cited: Source) -> Message:
    return Message("assistant", "答", cited=cited, created=CREATED)


TALK = (
    Message("user", "问", created=CREATED),
    answer(PAGE, ARTICLE, CASE),
    Message("note", "记", created=CREATED),
    Message("user", "又问", created=CREATED),
    answer(replace(PAGE, number=7), FILE, ENGLISH),
)
EVERYWHERE = "问源：第 1 个回答的 [1]，第 2 个回答的 [7]"


def test_csl_has_each_source_once_with_its_kind_its_days_and_where_it_is_cited() -> None:
    found = json.loads(as_csl_json(TALK, zone=SHANGHAI))
    page, article, case, file, english = found
    assert page == {
        "id": "wenyuan1",
        "type": "webpage",
        "title": HOSTILE,
        "container-title": "example.cn",
        "URL": PAGE.url,
        "issued": {"date-parts": [[2024, 10, 12]]},
        "accessed": {"date-parts": [[2025, 11, 16]]},
        "language": "zh-CN",
        "note": EVERYWHERE,
    }
    assert article == {
        "id": "wenyuan2",
        "type": "legislation",
        "title": "中华人民共和国劳动合同法",
        "section": "第十九条",
        "source": "本地法规库",
        "URL": ARTICLE.url,
        "issued": {"date-parts": [[2012, 12, 28]]},
        "language": "zh-CN",
        "note": "问源：第 1 个回答的 [2]",
    }
    assert (case["type"], case["title"], case["source"]) == ("legal_case", CASE.title, "本地案例库")
    assert "URL" not in case, "an address that leads nowhere from elsewhere"
    assert (file["type"], file["title"]) == ("report", FILE.title)
    assert not {"URL", "issued", "accessed"} & set(file)
    assert "language" not in english, "Latin letters are many languages"


# Of the published schema (csl-data.json of the Citation Style Language): what is required, and the variables used here.
CSL_TYPES = {"webpage", "legislation", "legal_case", "report"}
CSL_TEXTS = {"title", "section", "container-title", "source", "URL", "language", "note"}


def test_csl_keeps_to_the_published_schema() -> None:
    found = json.loads(as_csl_json(TALK, zone=SHANGHAI))
    for entry in found:
        assert {"id", "type"} <= set(entry) <= {"id", "type", "issued", "accessed"} | CSL_TEXTS
        assert entry["type"] in CSL_TYPES
        assert all(isinstance(entry[name], str) for name in CSL_TEXTS & set(entry))
    assert len({entry["id"] for entry in found}) == len(found)


def ris(*messages: Message) -> list[dict[str, Any]]:
    return list(rispy.loads(as_ris(messages, zone=SHANGHAI)))


def test_ris_is_read_back_by_a_parser() -> None:
    page, article, case, file, _ = ris(*TALK)
    assert page["type_of_reference"] == "ELEC"
    assert page["title"] == HOSTILE
    assert page["secondary_title"] == "example.cn"
    assert page["urls"] == [PAGE.url]
    assert (page["year"], page["date"], page["access_date"]) == ("2024", "2024/10/12/", "2025/11/16/")
    assert (page["language"], page["notes"]) == ("zh-CN", [EVERYWHERE])
    assert (article["type_of_reference"], article["title"]) == ("STAT", "中华人民共和国劳动合同法")
    assert (article["section"], article["date"]) == ("第十九条", "2012/12/28/")
    assert article["database_provider"] == "本地法规库"
    assert (case["type_of_reference"], file["type_of_reference"]) == ("CASE", "RPRT")


def test_ris_has_lines_as_the_format_wants_them() -> None:
    text = as_ris([answer(replace(PAGE, title="一行\r\nER  - \r\nTY  - BOOK 又一行"))], zone=SHANGHAI)
    lines = text.split("\r\n")
    assert "\n" not in "".join(lines)
    assert all(re.fullmatch(r"[A-Z][A-Z0-9]  - .*|", line) for line in lines)
    assert [line for line in lines if line.startswith(("TY", "ER"))] == ["TY  - ELEC", "ER  - "]


def bibtex(*messages: Message) -> BibliographyData:
    return parse_string(as_bibtex(messages, zone=SHANGHAI), "bibtex")


def test_bibtex_is_read_back_by_a_parser() -> None:
    data = bibtex(*TALK)
    assert {key: entry.type for key, entry in data.entries.items()} == {
        "wenyuan1": "online",
        "wenyuan2": "legislation",
        "wenyuan3": "jurisdiction",
        "wenyuan4": "report",
        "wenyuan5": "online",
    }
    page, article = data.entries["wenyuan1"].fields, data.entries["wenyuan2"].fields
    assert page["url"] == "https://www.example.cn/a_(b)?x=1&y=%E4%BD%A0#%7Bz%7D"
    assert (page["date"], page["year"], page["urldate"]) == ("2024-10-12", "2024", "2025-11-16")
    assert (article["title"], article["number"]) == ("{中华人民共和国劳动合同法}", "第十九条")
    assert page["note"] == EVERYWHERE


def test_bibtex_escapes_what_tex_would_read() -> None:
    title = bibtex(*TALK).entries["wenyuan1"].fields["title"]
    assert title == (
        r"{100\% 可靠\_的 {\textbraceleft}研究{\textbraceright} \& \$5 {\textbackslash}input{\textbraceleft}x"
        r"{\textbraceright} {\textasciitilde}a{\textasciicircum}b \#1 <script>}"
    )
    odd = replace(PAGE, title="没有配对的 } 和 { 和 \\", url="https://example.cn/}{\\")
    both = bibtex(answer(odd, ENGLISH))
    assert list(both.entries) == ["wenyuan1", "wenyuan2"], "the next entry begins where it should"


@pytest.mark.parametrize("make", [as_ris, as_bibtex])
def test_without_references_a_file_is_empty(make: Any) -> None:
    assert make([answer()]) == ""
    assert as_csl_json([answer()]) == "[]\n"


def test_a_damaged_day_is_left_out() -> None:
    (entry,) = json.loads(as_csl_json([answer(replace(PAGE, published="昨天"))]))
    assert "issued" not in entry
