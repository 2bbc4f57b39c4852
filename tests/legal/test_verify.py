"""法条核验: each mark, and what it says."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.legal.errors import NoLegalIndex
from core.legal.library.index import LegalLibrary
from core.legal.text.quotations import is_quoted_from
from core.legal.verify import StatuteFinding, StatuteMark, Verifier, findings_report
from support import invented

GOOD = "守塔人应当在日落前点灯。"


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> Verifier:
    folder = tmp_path_factory.mktemp("verify")
    future = {
        "name": "天灯法",
        "kind": "法律",
        "published": "2026-02-02",
        "effective": "2027-01-01",
        "articles": [{"number": "1", "text": "放天灯。"}],
    }
    articles = [{"number": "1", "text": "渔船夜间挂灯。"}]
    repealed = {"name": "渔灯管理条例", "kind": "行政法规", "published": "2001-01-01", "articles": articles}
    sources = (invented.lawrefbook(folder / "laws"), invented.jsonl(folder / "a.jsonl", future, repealed))
    return Verifier(invented.library(folder / "data", *sources))


def only(verifier: Verifier, text: str) -> StatuteFinding:
    (verdict,) = verifier.verify(text)
    return verdict


@pytest.mark.parametrize(
    ("text", "mark", "note"),
    [
        ("根据《灯塔法》第三条。", StatuteMark.EXISTS, ""),
        ("根据灯塔法第3条之1。", StatuteMark.EXISTS, ""),
        ("《灯塔法》第二条第一款第（二）项", StatuteMark.EXISTS, ""),
        ("《灯塔法》第二条至第四条", StatuteMark.EXISTS, ""),
        ("《灯塔法》第九条", StatuteMark.MISSING, "全文共六条。"),
        ("《燈塔法》第九條", StatuteMark.MISSING, "全文共六条。"),
        ("《燈塔法》第三條規定：“守塔人應當在日落前點燈。”", StatuteMark.AGREES, ""),
        ("《燈塔法》第三條規定：“守塔人應當在日出前點燈。”", StatuteMark.DIFFERS, ""),
        ("依燈塔法第3條，守塔人應當在日落前點燈。", StatuteMark.AGREES, ""),
        ("《灯塔法》第二条第三款", StatuteMark.MISSING, "该条没有第三款。"),
        ("《灯塔法》第二条第（九）项", StatuteMark.MISSING, "该处没有第（九）项。"),
        ("《灯塔法》第二条至第九条", StatuteMark.MISSING, "没有第九条，全文共六条。"),
        ("《天灯法》第一条", StatuteMark.NOT_IN_FORCE, "自2027-01-01起施行。"),
        ("《灯笼法》第一条", StatuteMark.NOT_IN_FORCE, "由《中华人民共和国海灯法典》第三条废止。"),
        ("《渔灯管理条例》第一条", StatuteMark.NOT_IN_FORCE, "由《中华人民共和国海灯法典》第三条废止。"),
        ("《关于雾号问题的批复》第一条", StatuteMark.UNKNOWN, "库中这份文件没有分条。"),
        ("《月光法》第一条", StatuteMark.UNKNOWN, ""),
        (f"《灯塔法》第三条规定：“{GOOD}”", StatuteMark.AGREES, ""),
        ("《灯塔法》第三条明确规定，“守塔人，应当在 日落前点灯”", StatuteMark.AGREES, ""),
        ("《灯塔法》第二条规定：“灯塔由守塔人看守……擅自熄灯的”", StatuteMark.AGREES, ""),
        ("《灯塔法》第三条：“第三条 守塔人应当在日落前点灯。”", StatuteMark.AGREES, ""),
        ("《灯塔法》第三条规定：“守塔人应当在日出前点灯。”", StatuteMark.DIFFERS, ""),
        ("《灯塔法》第二条规定：“擅自熄灯的……灯塔由守塔人看守”", StatuteMark.DIFFERS, ""),
        (f"“{GOOD}”（《灯塔法》第三条）", StatuteMark.AGREES, ""),
        ("“守塔人可以不点灯也没有关系”（《灯塔法》第三条）", StatuteMark.DIFFERS, ""),
        (f"《灯塔法》第三条规定：\n\n> {GOOD}\n\n后文", StatuteMark.AGREES, ""),
        ("《灯塔法》第三条规定：\n> 守塔人应当整夜唱歌，不得睡觉。\n", StatuteMark.DIFFERS, ""),
        ("《灯塔法》第三条所称“日落”以当地为准", StatuteMark.EXISTS, ""),
        ("依据《灯塔法》第三条，双方签订的协议载明“乙方整夜唱歌不得睡觉”", StatuteMark.EXISTS, ""),
        (
            "《灯塔法》第二条规定：“灯塔由守塔人看守，旧规定。”",
            StatuteMark.NOT_IN_FORCE,
            "引文出自2010-05-01公布的版本，现行条文已不同。",
        ),
    ],
)
def test_marks(verifier: Verifier, text: str, mark: StatuteMark, note: str) -> None:
    verdict = only(verifier, text)
    assert (verdict.mark, verdict.note) == (mark, note)


def test_a_citation_is_named_as_its_writer_wrote_it(verifier: Verifier) -> None:
    assert only(verifier, "依《燈塔法》第三條辦理").cited == "《燈塔法》第三條"


def test_every_citation_with_its_place_and_article(verifier: Verifier) -> None:
    text = "甲：依《灯塔法》第三条、第九条。乙：合同第七条不是法条。"
    good, bad = verifier.verify(text)
    assert [text[v.start : v.end] for v in (good, bad)] == ["《灯塔法》第三条", "第九条"] == [good.cited, bad.cited]
    assert (good.text, good.law_name, good.article_number) == (GOOD, "中华人民共和国灯塔法", "第三条")
    assert bad.text is None
    assert good.to_json()["mark"] == "○"


def test_an_article_that_only_an_older_version_has(tmp_path: Path) -> None:
    verifier = Verifier(
        invented.library(tmp_path / "data", invented.lawrefbook(tmp_path / "a"), invented.just_laws(tmp_path / "b"))
    )
    verdict = only(verifier, "《灯塔法》第五条")
    assert (verdict.mark, verdict.note) == (
        StatuteMark.NOT_IN_FORCE,
        "只见于2020-08-08公布的版本，现行文本没有这一条。",
    )
    assert verdict.text is not None


def test_a_draft_of_twenty_pages(verifier: Verifier) -> None:
    page = "本院经审理查明，被告未在日落前点灯，致使原告的船搁浅，应当承担责任。" * 8
    draft = "".join(f"{page}《灯塔法》第{n % 9 + 1}条规定：“{GOOD}”。" for n in range(100))
    started = time.thread_time()
    assert len(verifier.verify(draft)) == 100
    assert time.thread_time() - started < 3


def test_no_index(tmp_path: Path) -> None:
    with pytest.raises(NoLegalIndex):
        Verifier(LegalLibrary(tmp_path)).verify("《灯塔法》第一条")


@given(st.text(alphabet="《灯塔法》第三条规定：“”「」>…\n（）守日", max_size=80))
def test_no_text_breaks_it(verifier: Verifier, text: str) -> None:
    assert all(0 <= verdict.start < verdict.end <= len(text) for verdict in verifier.verify(text))


@given(st.lists(st.sampled_from(["守塔人", "点灯", "。", "，", " ", "\n"]), min_size=1).map("".join))
def test_a_text_always_quotes_itself(text: str) -> None:
    assert is_quoted_from(text, text)
    assert is_quoted_from(f"{text}……", f"前文{text}后文")


def test_a_report_counts_every_mark(verifier: Verifier) -> None:
    document = findings_report(verifier.verify("《灯塔法》第三条、第九条。《月光法》第一条。"))
    assert document["counts"] == {"✓": 0, "○": 1, "≠": 0, "✗": 1, "⌛": 0, "？": 1}
    assert json.loads(json.dumps(document, ensure_ascii=False)) == document
