"""合同审查: no finding without its article, the planted faults of sixty contracts, and nothing said about sound ones."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import docx
import pytest

from core.legal import legal_export
from core.legal.contracts.contract_text import ContractKind, contract_kind
from core.legal.contracts.review import RULES, UNKNOWN_KIND, ContractFinding, ContractReview, ContractReviewer
from core.legal.contracts.rule import Severity
from core.legal.draft import Draft, draft_with_comments
from core.reading import Reader, ReadingSettings
from support import contracts, invented

LABOUR = """劳动合同
甲方（用人单位）：某某科技有限公司
乙方（劳动者）：张小明
第一条 合同期限为{term}，自2024年3月1日起计算。
第二条 {clause}
签订日期：2024年3月1日
"""
LOAN = """借款合同
甲方（出借人）：李红
乙方（借款人）：王强
第一条 甲方出借人民币壹拾万元整给乙方，期限一年。
第二条 {clause}
签订日期：{day}
"""
SALE = """设备买卖合同
卖方（甲方）：苏州某某机械有限公司，住所苏州市工业园区
买方（乙方）：常州某某电子有限公司，住所常州市新北区
第一条 合同总价为人民币50万元。
第二条 {clause}
签订日期：2024年3月1日
"""


@pytest.fixture(scope="module")
def reviewer(tmp_path_factory: pytest.TempPathFactory) -> ContractReviewer:
    return ContractReviewer(contracts.quoted_laws(tmp_path_factory.mktemp("contracts")))


def review(reviewer: ContractReviewer, text: str) -> ContractReview:
    found = reviewer.review(text)
    assert found is not None
    return found


def said(reviewer: ContractReviewer, text: str) -> list[tuple[str, str]]:
    return [(one.rule, one.severity.value) for one in review(reviewer, text).findings]


# ── The planted faults ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("remainder", "faults"), [(0, 65), (1, 63)], ids=["even", "odd"])
def test_planted_faults_are_found_and_nothing_else(reviewer: ContractReviewer, remainder: int, faults: int) -> None:
    half = [one for one in contracts.labelled() if int(one["file"]) % 2 == remainder]
    tally = contracts.measure(half, reviewer)
    assert (tally.faults, tally.missed, tally.unexpected) == (faults, [], [])


def test_sound_contracts_are_not_accused(reviewer: ContractReviewer) -> None:
    sound = list(contracts.clean(contracts.labelled()))
    assert len(sound) == 12
    assert contracts.measure(sound, reviewer).unexpected == []
    assert [said(reviewer, text) for text in contracts.sound()] == [[]] * 9


def test_every_finding_has_its_article_and_its_sentence(reviewer: ContractReviewer) -> None:
    for contract in contracts.labelled():
        found = reviewer.review(contract["text"])
        for one in found.findings if found else ():
            first = one.articles[0]
            assert "".join(first.anchor.split()) in "".join(first.text.split())
            assert contract["text"][one.start : one.end] == one.sentence != ""


def test_kind_and_day_of_signing_are_read(reviewer: ContractReviewer) -> None:
    kinds = {"labour": "劳动合同", "lease": "租赁合同", "loan": "借款合同", "sale": "买卖合同"}
    for contract in contracts.labelled():
        found = review(reviewer, contract["text"])
        assert str(found.signed) == str(contract["day"])
        assert found.kind in {kinds[contract["kind"]], "消费服务合同"}


# ── No finding without its article ────────────────────────────────────────────────────────────────────────────────


def without(law: str, tmp_path: Path, changed: tuple[str, str] = ("", "")) -> ContractReviewer:
    """A reviewer whose library lacks a law, or has some words of it changed."""
    laws = [json.loads(line) for line in contracts.ARTICLES.read_text("utf-8").splitlines()]
    for one in laws:
        if one["name"].endswith(law):
            texts = [each | {"text": each["text"].replace(*changed)} for each in one["articles"]]
            one["articles"] = texts if changed[0] else []
    source = tmp_path / "laws.jsonl"
    source.write_text("".join(f"{json.dumps(one)}\n" for one in laws if one["articles"]), "utf-8")
    return ContractReviewer(invented.library(tmp_path / "data", source))


TOO_LONG = LABOUR.format(term="一年", clause="试用期为三个月。")


def test_without_the_law_nothing_is_said_but_why(tmp_path: Path) -> None:
    found = review(without("劳动合同法", tmp_path), TOO_LONG)
    assert found.findings == ()
    assert any("试用期与合同期限" in note and "库中没有" in note for note in found.notes)


def test_an_article_in_other_words_confirms_nothing(tmp_path: Path) -> None:
    changed = without("劳动合同法", tmp_path, ("试用期不得超过二个月", "试用期不得超过四个月"))
    found = review(changed, TOO_LONG)
    assert found.findings == ()
    assert any("与规则所依据的不同" in note for note in found.notes)


def test_a_law_that_was_not_in_force_confirms_nothing(reviewer: ContractReviewer) -> None:
    sale = SALE.format(clause="乙方支付定金20万元。")
    assert said(reviewer, sale) == [("earnest", "不符合")]
    found = review(reviewer, sale.replace("2024年3月1日", "2019年3月1日"))
    assert found.findings == ()
    assert any("民法典" in note and "2021-01-01" in note for note in found.notes)


def test_the_version_of_the_day_of_signing_is_quoted(reviewer: ContractReviewer) -> None:
    text = LABOUR.format(term="一年", clause="女员工三年内不得生育。")
    then = review(reviewer, text.replace("2024年", "2022年")).findings[0].articles[0]
    now = review(reviewer, text).findings[0].articles[0]
    assert (then.article_number, now.article_number) == ("第二十三条", "第四十四条")


def test_a_loan_without_the_interpretation_is_only_worth_a_look(tmp_path: Path, reviewer: ContractReviewer) -> None:
    text = LOAN.format(clause="月利率3%。", day="2024年3月1日")
    assert said(reviewer, text) == [("rate-cap", "不符合")]
    statutes_only = without("民间借贷案件适用法律若干问题的规定", tmp_path)
    assert said(statutes_only, text) == [("rate-cap", "请核对")]


# ── Rules ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("term", "clause", "accused"),
    [
        ("二个月", "试用期为十日。", True),
        ("六个月", "试用期为一个月。", False),
        ("六个月", "试用期为二个月。", True),
        ("一年", "试用期为二个月。", False),
        ("三十五个月", "试用期：3个月。", True),
        ("三年", "试用期为六个月。", False),
        ("三年", "前七个月为试用期。", True),
        ("完成一定工作任务", "试用期为一个月。", True),
    ],
)
def test_probation_by_term(reviewer: ContractReviewer, term: str, clause: str, accused: bool) -> None:
    assert ("probation-term" in dict(said(reviewer, LABOUR.format(term=term, clause=clause)))) is accused


@pytest.mark.parametrize(
    ("clause", "accused"),
    [
        ("年利率13.8%。", False),
        ("年利率13.9%。", True),
        ("月利率1.15%。", False),
        ("月息2分。", True),
        ("日利率万分之三。", False),
        ("日利率万分之五。", True),
        ("每月支付利息2000元。", True),
        ("利率为一年期贷款市场报价利率的四倍。", False),
        ("利率为一年期贷款市场报价利率的六倍。", True),
    ],
)
def test_interest_against_four_times_the_rate_of_the_day(
    reviewer: ContractReviewer, clause: str, accused: bool
) -> None:
    """On 1 March 2024 the one-year rate was 3.45 %, four times that are 13.8 %."""
    text = LOAN.format(clause=clause, day="2024年3月1日")
    assert ("rate-cap" in dict(said(reviewer, text))) is accused


def test_a_rate_of_which_the_table_does_not_know_the_day_says_so(reviewer: ContractReviewer) -> None:
    (one,) = review(reviewer, LOAN.format(clause="年利率13%。", day="2026年3月1日")).findings
    assert one.severity is Severity.CHECK
    assert "2025-05-20" in one.note


@pytest.mark.parametrize(
    ("clause", "accused"),
    [
        ("乙方支付定金10万元。", False),
        ("乙方支付定金人民币壹拾万零壹仟元整。", True),
        ("定金为合同总价的20%。", False),
        ("乙方支付合同总价30%的定金。", True),
        ("定金交付后三日内支付合同总价30%的货款。", False),
    ],
)
def test_earnest_money_up_to_a_fifth(reviewer: ContractReviewer, clause: str, accused: bool) -> None:
    assert ("earnest" in dict(said(reviewer, SALE.format(clause=clause)))) is accused


@pytest.mark.parametrize(
    "clause",
    [
        "甲方不得扣押乙方的身份证，不得收取押金。",
        "休息日安排加班又不能补休的，支付不低于工资200%的加班工资。",
        "乙方辞职的，提前三十日书面通知，无须支付违约金。",
        "甲方依法缴纳社会保险费，个人缴纳部分由甲方代扣代缴。",
        "乙方离职后不得泄露甲方的经营秘密。",
    ],
)
def test_clauses_that_follow_the_law_are_not_accused(reviewer: ContractReviewer, clause: str) -> None:
    assert said(reviewer, LABOUR.format(term="一年", clause=clause)) == []


# ── What is a contract ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "今天天气很好。",
        "民事起诉状\n原告：张三\n被告：某公司\n诉讼请求：支付违约金。双方签订的劳动合同约定试用期六个月。",
        "劳动合同的试用期最长多久？根据《劳动合同法》第十九条，不超过六个月。",
        "某某人民法院民事判决书\n甲方与乙方签订租赁合同。本院认为，租赁期限三十年。",
    ],
)
def test_other_texts_get_no_review(reviewer: ContractReviewer, text: str) -> None:
    assert reviewer.review(text) is None


def test_a_contract_of_another_kind_is_said_to_be_unknown(reviewer: ContractReviewer) -> None:
    found = review(reviewer, "技术合作协议\n甲方：某公司\n乙方：某大学\n双方合作开发软件。")
    assert (found.kind, found.findings, found.notes) == (None, (), (UNKNOWN_KIND,))


def test_a_contract_without_a_title_is_known_by_its_words() -> None:
    text = "甲方：张三\n乙方：李四\n甲方把房子租给乙方，租金每月2000元，押金2000元，乙方不得转租。"
    assert contract_kind(text) is ContractKind.LEASE


# ── Word, exports, hostile texts ──────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("core.reading.reader.FILE_TIMEOUT", 120.0)
    reader = Reader(ReadingSettings())
    yield reader
    reader.close()


def test_word_comment_at_the_sentence_with_the_words_of_the_article(reviewer: ContractReviewer, reader: Reader) -> None:
    made = draft_with_comments(Draft("合同", TOO_LONG), (), reader, reviewer.review(TOO_LONG))
    document = docx.Document(io.BytesIO(made))
    texts = [comment.text for comment in document.comments]
    assert any("不符合" in text and "劳动合同期限一年以上不满三年的，试用期不得超过二个月" in text for text in texts)
    assert any("不能代替律师" in text for text in texts)


def test_exports_have_the_clauses(reviewer: ContractReviewer) -> None:
    checked = legal_export.CheckedDraft("合同.txt", (), reviewer.review(TOO_LONG))
    (clause,) = json.loads(legal_export.findings_json([checked]))["contract"]["findings"]
    assert (clause["severity"], clause["articles"][0]["articleNumber"]) == ("不符合", "第十九条")
    assert "试用期为三个月" in legal_export.findings_csv([checked])
    assert "试用期不得超过二个月" in legal_export.findings_markdown([checked])


def test_marks_and_tags_in_a_contract_stay_text(reviewer: ContractReviewer) -> None:
    text = LABOUR.format(term="一年", clause="**试用期**为<b>三个月</b>，[见](https://evil.example)。")
    found = review(reviewer, text)
    (one,) = found.findings
    assert "<b>" in one.sentence
    shown = legal_export.findings_markdown([legal_export.CheckedDraft("a", (), found)])
    assert "](https://evil.example)" not in shown
    assert "<b>" not in shown


@pytest.mark.parametrize("piece", ["试用期", "不得违约金甲方乙方", "一", "押金不退还，", "1.", "由向到人民法院"])
def test_200_000_characters_of_anything_end(reviewer: ContractReviewer, piece: str) -> None:
    head = "劳动合同\n甲方：某公司\n乙方：某人\n"
    for title in ("劳动合同", "房屋租赁合同", "借款合同", "买卖合同"):
        found = reviewer.review((head.replace("劳动合同", title) + piece * 200_000)[:210_000])
        assert found is None or found.is_cut


def test_rules_have_one_name_each() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)


def test_a_finding_cannot_be_made_without_an_article(reviewer: ContractReviewer) -> None:
    assert all(one.articles for contract in contracts.labelled() for one in findings_of(reviewer, contract))


def findings_of(reviewer: ContractReviewer, contract: dict[str, Any]) -> tuple[ContractFinding, ...]:
    found = reviewer.review(contract["text"])
    return found.findings if found else ()
