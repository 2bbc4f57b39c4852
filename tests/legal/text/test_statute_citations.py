"""Statutes cited in running text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.legal.text.law_names import law_key
from core.legal.text.statute_citations import Citation, find_citations

KNOWN = {
    "灯塔法",
    "浮标法",
    "海灯法典",
    "灯塔合同法",
    "海港特区基本法",
    "关于审理灯塔纠纷案件的规定",
    "灯塔修正案(2018年)",
}


def known(name: str) -> bool:
    return law_key(name) in KNOWN


def found(text: str, *, in_statute: bool = False) -> list[str]:
    """Citations in a short form: law, articles, 款 and 项."""
    return [short(citation) for citation in find_citations(text, known, in_statute=in_statute)]


def short(citation: Citation) -> str:
    text = f"{'本法' if citation.is_own_law else citation.law}:{citation.article.number}"
    text += f".{citation.article.suffix}" if citation.article.suffix else ""
    text += f"-{citation.last.number}" if citation.last else ""
    text += f"款{citation.paragraph}" if citation.paragraph else ""
    text += f"项{citation.item}" if citation.item else ""
    return text + (f"前{citation.steps_back}" if citation.steps_back else "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("《灯塔法》第三十八条", ["灯塔法:38"]),
        ("《中华人民共和国灯塔法》第３８条第（二）项", ["中华人民共和国灯塔法:38项2"]),
        ("《灯塔法》第三十八条第一款第二项", ["灯塔法:38款1项2"]),
        ("《灯塔法》第一百二十条之一", ["灯塔法:120.1"]),
        ("《灯塔法》第三十八条之规定", ["灯塔法:38"]),
        ("《灯塔法》第三十八条、第四十六条和第五十条", ["灯塔法:38", "灯塔法:46", "灯塔法:50"]),
        ("《灯塔法》第三十八、三十九条", ["灯塔法:38", "灯塔法:39"]),
        ("《灯塔法》第十条至第十五条", ["灯塔法:10-15"]),
        ("《灯塔法》第10-15条", ["灯塔法:10-15"]),
        ("《灯塔法》第三条第一款、第三款，第九条", ["灯塔法:3款1", "灯塔法:9"]),
        ("《灯塔法》（2020修正）第三条", ["灯塔法:3"]),
        ("《灯塔法》的第三条", ["灯塔法:3"]),
        ("**《灯塔法》** 第三条，《灯塔法》：第四条", ["灯塔法:3", "灯塔法:4"]),
        ("根据灯塔法第三条及浮标法第5条的规定", ["灯塔法:3", "浮标法:5"]),
        ("依照灯塔法82条", ["灯塔法:82"]),
        ("海灯法典侵权责任编第1165条", ["海灯法典:1165"]),
        ("灯塔合同法第三条", ["灯塔合同法:3"]),
        ("海港特区基本法第三条", ["海港特区基本法:3"]),
        ("灯塔修正案（2018年）第三条", ["灯塔修正案(2018年):3"]),
        ("《灯塔法》第三条规定……该法第四条规定", ["灯塔法:3", "灯塔法:4"]),
        (
            "《中华人民共和国灯塔法》（以下简称《塔法》）第三条。塔法第四条",
            ["中华人民共和国灯塔法:3", "中华人民共和国灯塔法:4"],
        ),
        ("《关于审理〈灯塔法〉案件的规定》第三条", ["关于审理〈灯塔法〉案件的规定:3"]),
        ("《关于审理《灯塔法》案件的规定》第三条", ["关于审理《灯塔法》案件的规定:3"]),
        ("根据航海条例第三条", ["航海条例:3"]),
        ("甲方违反合同第七条的约定", []),
        ("第三条 本合同自签字之日起生效", []),
        ("这个办法第一条就错了", []),
        ("他说的方法第三条", []),
        ("第一百二条", []),
    ],
)
def test_citations_in_a_text(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("违反本法第二条、第三条之一规定的", ["本法:2", "本法:3.1"]),
        ("依照第九条的规定", ["本法:9"]),
        ("依照前条的规定", ["本法:0前1"]),
        ("前两条规定的", ["本法:0前2"]),
        ("依照《浮标法》第二条和本条例第三条", ["浮标法:2", "本法:3"]),
        ("依照浮标公约第三条", []),
    ],
)
def test_references_inside_a_statute(text: str, expected: list[str]) -> None:
    assert found(text, in_statute=True) == expected


def test_spans_are_places_in_the_original_text() -> None:
    text = "前文　根据《灯塔法》第３８条、第４６条，处理。"
    assert [text[c.start : c.end] for c in find_citations(text)] == ["《灯塔法》第３８条", "第４６条"]


@given(st.text(alphabet="《》第三十八条款项之一、至灯塔法本该同（）() 0１-，\n", max_size=60))
def test_no_text_breaks_it_and_spans_are_in_order(text: str) -> None:
    for in_statute in (False, True):
        spans = [(c.start, c.end) for c in find_citations(text, known, in_statute=in_statute)]
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert spans == sorted(spans)


@pytest.mark.parametrize("piece", ["《", "第一", "第一条、", "灯塔法", "（", "根据", "第一条第一款第一项", "》第一条"])
def test_the_time_grows_with_the_length_of_a_hostile_text_and_not_faster(piece: str) -> None:
    def seconds(count: int) -> float:
        started = time.thread_time()
        find_citations(piece * count, known)
        return time.thread_time() - started

    assert seconds(2_000) < 20 * seconds(500) + 0.1
