"""法条核验 of restatements: green only where the words agree, red only where they cannot both be true."""

from __future__ import annotations

import time

import pytest

from core.legal.verify import Author, StatuteFinding, StatuteMark, Verifier
from support import invented
from support.labour_law import ARTICLES, INVENTED, RECORD


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> Verifier:
    folder = tmp_path_factory.mktemp("restated")
    older = {
        "name": "航标条例",
        "kind": "行政法规",
        "published": "2001-01-01",
        "articles": [{"number": "1", "text": "航标损坏的，管理机构应当在三日内修复，并通知过往船舶。"}],
    }
    newer = older | {
        "published": "2020-01-01",
        "articles": [{"number": "1", "text": "航标损坏的，管理机构应当在一日内修复，并通知过往船舶。"}],
    }
    return Verifier(invented.library(folder / "data", invented.jsonl(folder / "a.jsonl", RECORD, older, newer)))


def only(verifier: Verifier, text: str, by: Author = Author.MODEL) -> StatuteFinding:
    (verdict,) = verifier.verify(text, by)
    return verdict


def test_three_invented_rules_get_no_green_mark(verifier: Verifier) -> None:
    verdicts = verifier.verify(INVENTED)
    assert [verdict.article_number for verdict in verdicts] == ["第十条", "第二十条", "第二十二条"]
    assert all(verdict.mark in (StatuteMark.EXISTS, StatuteMark.DIFFERS) for verdict in verdicts)
    assert all(verdict.claim and verdict.note for verdict in verdicts)


@pytest.mark.parametrize(
    ("text", "mark", "note"),
    [
        ("根据《劳动合同法》第十九条，劳动合同期限一年以上不满三年的，试用期不得超过2个月。", StatuteMark.AGREES, ""),
        ("同一用人单位与同一劳动者只能约定一次试用期（《劳动合同法》第十九条第二款）。", StatuteMark.AGREES, ""),
        ("| 《劳动合同法》第19条 | 试用期包含在劳动合同期限内 |", StatuteMark.AGREES, ""),
        ("《劳动合同法》第十九条对试用期作了系统规定。", StatuteMark.EXISTS, ""),
        ("根据《劳动合同法》第十九条，应予支持。", StatuteMark.EXISTS, ""),
        (
            "《劳动合同法》第十九条规定，劳动合同期限一年以上不满三年的，试用期不得超过六个月。",
            StatuteMark.DIFFERS,
            "文中写「不得超过六个月」，条文是「不得超过二个月」。",
        ),
        (
            "《劳动合同法》第二十二条规定，同一用人单位与同一劳动者只能约定一次试用期。",
            StatuteMark.DIFFERS,
            "更像第十九条。",
        ),
        (
            "《劳动合同法》第十九条第一款规定，同一用人单位与同一劳动者只能约定一次试用期。",
            StatuteMark.EXISTS,
            "所述内容在该条的其他款项，请核对。",
        ),
        ("《劳动合同法》第十九条、第二十二条规定，同一用人单位与同一劳动者只能约定一次试用期。", None, ""),
        (
            "《劳动合同法》第十九条规定，试用期不得超过二个月。",
            StatuteMark.DIFFERS,
            "条文另有条件「劳动合同期限一年以上不满三年的」。",
        ),
        (
            "合同签两年的，根据《劳动合同法》第十九条，试用期不得超过二个月。",
            StatuteMark.EXISTS,
            "条文另有条件「劳动合同期限一年以上不满三年的」。请核对。",
        ),
        (
            "《劳动合同法》第十九条规定，经工会同意的，同一用人单位与同一劳动者只能约定一次试用期。",
            StatuteMark.DIFFERS,
            "条文没有条件「经工会同意的」。",
        ),
        (
            "《劳动合同法》第三十八条规定，劳动者未及时足额支付劳动报酬的，用人单位可以解除劳动合同。",
            StatuteMark.DIFFERS,
            "文中「劳动者」与「用人单位」的位置与条文相反。",
        ),
        (
            "《劳动合同法》第二十二条规定，劳动者违反服务期约定的，应当按照约定向劳动者支付违约金。",
            StatuteMark.DIFFERS,
            "文中写「劳动者」，条文是「用人单位」。",
        ),
        (
            "《航标条例》第一条规定，航标损坏的，管理机构应当在三日内修复，并通知过往船舶。",
            StatuteMark.NOT_IN_FORCE,
            "所述内容出自2001-01-01公布的版本，现行条文已不同。",
        ),
        (
            "《劳动合同法》第十九条规定：“同一用人单位与同一劳动者只能约定一次试用期”，试用期不包含在劳动合同期限内。",
            StatuteMark.DIFFERS,
            "条文没有「不」。",
        ),
        ("《劳动合同法》第十九条规定：“劳动合同期限3个月以上不满1年的，试用期不得超过1个月”。", StatuteMark.AGREES, ""),
        (
            "《劳动合同法》第十九条规定：“试用期包含在劳动合同期限内。······该期限为劳动合同期限。”",
            StatuteMark.AGREES,
            "",
        ),
        (
            "《劳动合同法》第三十八条规定：“用人单位有下列情形之一的，劳动者可以解除劳动合同：（二）未及时足额支付劳动报酬的；（五）因本法第二十六条第一款规定的情形致使劳动合同无效的”。",
            StatuteMark.AGREES,
            "",
        ),
        ("《劳动合同法》第三十八条规定的“老板拖欠工资并且态度恶劣”的情形并不少见。", StatuteMark.EXISTS, ""),
        (
            "《劳动合同法》第二十条规定：“劳动者在“试用期”的工资不得低于本单位相同岗位最低档工资”。",
            StatuteMark.AGREES,
            "",
        ),
    ],
)
def test_marks(verifier: Verifier, text: str, mark: StatuteMark | None, note: str) -> None:
    found = [verdict for verdict in verifier.verify(text) if verdict.article_number != "第二十六条"]
    if mark is None:  # said of two articles, and one of them says so
        assert [verdict.mark for verdict in found] == [StatuteMark.AGREES, StatuteMark.EXISTS]
    else:
        assert [(verdict.mark, verdict.note) for verdict in found] == [(mark, note)]


def test_people_are_asked_to_look_where_models_are_contradicted(verifier: Verifier) -> None:
    text = "根据《劳动合同法》第二十二条，员工的工资在试用期不低于岗位最低档工资，也不低于当地的最低工资标准。"
    model, person = only(verifier, text), only(verifier, text, Author.PERSON)
    assert (model.mark, model.note) == (StatuteMark.DIFFERS, "更像第二十条。")
    assert (person.mark, person.note) == (StatuteMark.EXISTS, "所述内容更像第二十条，请核对。")
    dropped = only(verifier, "《劳动合同法》第十九条规定，试用期不得超过二个月。", Author.PERSON)
    assert (dropped.mark, dropped.note[-4:]) == (StatuteMark.EXISTS, "请核对。")
    number = "根据《劳动合同法》第十九条，劳动合同期限一年以上不满三年的，试用期不得超过六个月。"
    assert only(verifier, number, Author.PERSON).mark is StatuteMark.DIFFERS


def test_what_was_said_and_its_meaning_are_in_the_json(verifier: Verifier) -> None:
    document = only(verifier, "《劳动合同法》第二十二条规定，试用期包含在劳动合同期限内。").to_json()
    assert document["claim"] == "试用期包含在劳动合同期限内"
    assert document["text"] == ARTICLES["22"]
    assert document["meaning"] == {"≠": "所述内容与条文不符", "○": "未能比对"}[document["mark"]]


@pytest.mark.parametrize(
    "piece",
    [
        "《劳动合同法》第十条、第十九条、",
        "依照本法第十九条，",
        "|《劳动合同法》第十九条|",
        "《劳动合同法》第十九条规定：“",
        "《劳动合同法》第十九条规定，" + "的" * 40,
        "《劳动合同法》第十九条" + " " * 60,
        "（《劳动合同法》第十九条）",
        "《劳动合同法》第十九条，" + "试用期，一个月，" * 40,
    ],
)
def test_hostile_text_grows_no_faster_than_its_length(verifier: Verifier, piece: str) -> None:
    def seconds(length: int) -> float:
        text = "《劳动合同法》第十条。" + piece * (length // len(piece))
        started = time.thread_time()
        verifier.verify(text)
        return time.thread_time() - started

    assert any(seconds(16_000) < 2.5 for _ in range(2))


# ── The two meanings of ○ ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "is_alike"),
    [
        ("根据《劳动合同法》第十条，用人单位应当自用工之日起一个月内与劳动者订立书面劳动合同。", True),
        ("根据《劳动合同法》第十条，用人单位应当自用工之日起一个月内与劳动者签好书面劳动合同并送达副本。", False),
        ("根据《劳动合同法》第十条，用人单位用工时可以先口头约定，之后再订立书面劳动合同。", False),
        ("根据《劳动合同法》第三十八条，劳动者未及时足额完成工作任务的，用人单位可以扣发劳动报酬。", False),
        ("《劳动合同法》第十条是关于合同形式的规定。", False),
    ],
)
def test_what_the_article_has_in_other_words_is_told_apart(verifier: Verifier, text: str, is_alike: bool) -> None:
    found = only(verifier, text)
    assert (found.mark, found.is_alike) == (StatuteMark.EXISTS, is_alike)
    assert found.meaning == ("条文有近似内容" if is_alike else "未能比对")
    assert found.to_json()["isAlike"] is is_alike


def test_other_words_in_one_place_are_named(verifier: Verifier) -> None:
    found = only(verifier, "《航标条例》第一条规定，航标损坏的，管理机构应当在一日内更换，并通知过往船舶。")
    assert (found.mark, found.note) == (StatuteMark.EXISTS, "文中写「更换」，条文此处是「修复」，请核对。")
