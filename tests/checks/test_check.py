"""Statements beside sources: cases of our own for every trap."""

from __future__ import annotations

import json

import pytest

from bench.checks import written
from core.answer.check_results import CHECKER_VERSION, SourceText, Verdict
from core.answer.citation_verdicts import tally
from core.checks import CheckMemory, check_answer, check_statement
from core.checks.source_index import IndexedSource

PAGE = (
    "北川灯具公司是一家生产灯塔设备的企业，总部设在海州市。{}"
    "公司表示，未来三年将继续扩大生产线，并与多所大学合作培养技术人员。海州市港务局是它最大的客户。"
)


def verdict(statement: str, said: str, **source: object) -> Verdict:
    return check_statement(statement, SourceText(1, PAGE.format(said), **source)).verdict  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("北川灯具公司2024年的营业收入为1.2亿元。", "2024年，公司的营业收入为一亿两千万元。"),
        ("北川灯具公司2024年的营业收入为120,000,000元。", "2024年，公司的营业收入为1.2亿元。"),
        ("公司2024年上半年的营业收入为5亿元。", "公司2024年1至6月的营业收入为5亿元。"),
        ("公司于2024年3月5日在海州市正式上市。", "公司于2024-03-05在海州市正式上市。"),
        ("公司的出口额同比增长了两成。", "公司的出口额同比增长了20%。"),
        ("公司的员工总数约为3000人。", "公司的员工总数为2987人。"),
        ("公司的产品单价为3万至5万元。", "公司的产品单价为3-5万元。"),
        ("未满十八周岁的学徒不得单独登塔作业。", "未满十八周岁的学徒不得单独登塔作业。"),
        ("公司的憂鬱燈塔系列在臺灣銷量最高。", "公司的忧郁灯塔系列在台湾销量最高。"),
        (
            "董事长说：“我们一定要把灯塔的光留给后来的航海者”。",
            "董事长说：“我们一定要把灯塔的光留给后来的航海者。”",
        ),
    ],
)
def test_the_source_says_so(statement: str, said: str) -> None:
    assert verdict(statement, said) is Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("statement", "said", "stated", "found"),
    [
        ("北川灯具公司2024年的营业收入为1.3亿元。", "2024年，北川灯具公司的营业收入为一亿两千万元。", "1.3亿元", "一亿两千万元"),
        ("公司2024年上半年的营业收入为5亿元。", "公司2024年下半年的营业收入为5亿元。", "2024年上半年", "2024年下半年"),
        ("公司的采购合同总额为300美元。", "公司的采购合同总额为￥300，另付500元运费。", "300美元", "￥300"),
        ("公司的产品单价为3万至5万元。", "公司的产品单价为3-6万元。", "3万至5万元", "3-6万元"),
        ("公司的员工总数超过3000人。", "公司的员工总数不到3000人。", "超过3000人", "不到3000人"),
        ("未满十八周岁的学徒可以单独登塔作业。", "未满十八周岁的学徒不得单独登塔作业。", "可以", "不得"),
        ("公司的出口额同比增长了20%。", "公司的出口额环比增长了20%。", "同比", "环比"),
        ("公司的出口额同比增长了20%。", "公司的出口额同比下降了20%。", "增长", "下降"),
        ("公司认为这种灯具适合在雾天使用。", "公司认为这种灯具不适合在雾天使用。", "适合", "不适合"),
        ("根据港口条例第十八条，灯塔每晚都要点亮。", "根据港口条例第十九条，灯塔每晚都要点亮。", "第十八", "第十九"),
        ("董事长说：“我们一定要把灯塔留给后来的航海者”。", "董事长说：“我们一定要把灯光留给后来的航海者。”", "我们一定要把灯塔留给后来的航海者", "我们一定要把灯光留给后来的航海者"),
    ],
)  # fmt: skip
def test_the_source_says_otherwise_and_both_are_shown(statement: str, said: str, stated: str, found: str) -> None:
    check = check_statement(statement, SourceText(1, PAGE.format(said)))
    assert check.verdict is Verdict.CONTRADICTED
    assert [(one.stated, one.found) for one in check.differences][:1] == [(stated, found)]
    assert stated in check.reason
    assert check.score < 0.5


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("公司的营业收入为100万元。", "公司的营业收入不到100万元。"),
        ("海州市将停止供水七天。", "网传海州市将停止供水七天，消息不实。"),
        ("灯塔的主要部件是透镜。", "灯塔的主要部件是（ ） A塔身 B透镜 C灯座"),
        ("当事人应当提交登塔申请书。", "当事人可以提交登塔申请书。"),
        ("《灯塔之光》是公司出版的年度刊物。", "《海上之光》是公司出版的年度刊物。"),
    ],
)
def test_what_is_doubtful_is_never_a_tick(statement: str, said: str) -> None:
    assert verdict(statement, said) is not Verdict.SUPPORTED


def test_what_is_not_there_is_absent_only_from_what_was_read_in_full() -> None:
    statement = "火星探测器在去年成功采集到了三种稀有矿物样本。"
    assert verdict(statement, "") is Verdict.ABSENT
    assert verdict(statement, "", is_full=False) is Verdict.UNCHECKED


def test_a_snippet_supports_what_it_says_literally_and_contradicts_nothing() -> None:
    snippet = SourceText(1, "2024年，北川灯具公司的营业收入为1.2亿元，创下新高。", is_full=False)
    assert check_statement("2024年，北川灯具公司的营业收入为1.2亿元。", snippet).verdict is Verdict.SUPPORTED
    assert check_statement("2024年，北川灯具公司的营业收入为1.5亿元。", snippet).verdict is Verdict.UNCHECKED


@pytest.mark.parametrize(
    "source", ["Beichuan Lamps reported revenue of 120 million yuan in 2024, up 20 percent year on year.", "", "   \n"]
)
def test_another_language_or_no_text_is_not_checked(source: str) -> None:
    check = check_statement("北川灯具公司2024年的营业收入为1.2亿元。", SourceText(1, source))
    assert check.verdict is Verdict.UNCHECKED


def test_a_translated_name_is_no_contradiction() -> None:
    statement = "唐纳德·特朗普（Donald Trump）当选为美国总统。"
    assert verdict(statement, "特朗普当选为美国总统。") not in {Verdict.CONTRADICTED, Verdict.ABSENT}


def test_last_year_is_counted_from_the_source_s_day() -> None:
    statement, said = "公司在2023年建成了新的海州灯塔。", "公司去年建成了新的海州灯塔。"
    assert verdict(statement, said, published="2024-06-01") is not Verdict.ABSENT
    assert verdict(statement, said, published="2022-06-01") in {Verdict.CONTRADICTED, Verdict.ABSENT}


def test_evidence_is_a_place_in_the_source() -> None:
    source = PAGE.format("2024年，公司的营业收入为一亿两千万元。")
    (evidence, *_) = check_statement("公司2024年的营业收入为1.2亿元。", SourceText(7, source)).evidence
    assert evidence.source == 7
    assert source[evidence.start : evidence.end] == evidence.text
    assert "一亿两千万元" in evidence.text


def test_what_two_sources_say_in_parts_neither_of_them_says() -> None:
    first = SourceText(1, PAGE.format("北川灯具公司去年在海州市建成了亚洲最大的透镜工厂。"))
    second = SourceText(2, "这家工厂每天可以生产四百套灯塔透镜，产品销往二十个国家。" + PAGE.format(""))
    answer = "北川灯具公司在海州市建成了亚洲最大的透镜工厂，每天可以生产四百套灯塔透镜[1][2]。"
    (statement,) = check_answer(answer, [first, second]).statements
    assert [citation.check.verdict for citation in statement.citations] == [Verdict.UNCHECKED, Verdict.UNCHECKED]


def test_of_two_sources_each_has_its_own_verdict() -> None:
    sources = [
        SourceText(1, PAGE.format("公司的员工总数为3000人。")),
        SourceText(2, PAGE.format("公司的员工总数为5000人。")),
    ]
    (statement,) = check_answer("公司的员工总数为3000人[1][2]。", sources).statements
    assert [citation.check.verdict for citation in statement.citations] == [Verdict.SUPPORTED, Verdict.CONTRADICTED]
    assert statement.check.verdict is Verdict.SUPPORTED


def test_a_table_is_checked_cell_by_cell() -> None:
    table = "| 公司 | 2024年营业收入 | 员工总数 |\n|---|---|---|\n| 北川灯具公司 | 1.2亿元[1] | 5000人[1] |\n"
    source = SourceText(1, PAGE.format("2024年，北川灯具公司营业收入为1.2亿元，员工总数为3000人。"))
    first, second = check_answer(table, [source]).statements
    assert first.check.verdict is not Verdict.CONTRADICTED
    assert second.check.verdict is Verdict.CONTRADICTED


def test_a_shared_number_accuses_nothing_of_being_missing() -> None:
    source = SourceText(1, PAGE.format("公司的员工总数为3000人。"))
    first, second = check_answer("火星探测器采集到了三种矿物样本。公司的员工总数为3000人[1]。", [source]).statements
    assert (first.shares_citation, first.check.verdict) == (True, Verdict.UNCHECKED)
    assert second.check.verdict is Verdict.SUPPORTED


def test_an_answer_is_summed_up_and_can_be_stored() -> None:
    source = SourceText(1, PAGE.format("公司的员工总数为3000人。"))
    checked = check_answer(
        "公司的员工总数为3000人[1]。公司的员工总数为5000人[1]。丙公司有 70 家分店。要看哪一家？", [source]
    )
    assert tally(checked) == "1 处不符 · 1 处有据 · 1 句无出处"
    assert [one.text for one in checked.uncited] == ["丙公司有 70 家分店。"]
    document = json.loads(json.dumps(checked.to_json()))
    assert document["version"] == CHECKER_VERSION
    assert document["statements"][1]["citations"][0]["differences"] == [
        {"kind": "number", "stated": "5000人", "found": "3000人"}
    ]


def test_a_check_that_remembers_says_the_same_and_compares_only_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    answer, pages = written(20, 5)
    whole, memory, compared = check_answer(answer, pages), CheckMemory(), list[int]()
    index = IndexedSource.__init__

    def counted(self: IndexedSource, source: SourceText) -> None:
        compared.append(source.number)
        index(self, source)

    monkeypatch.setattr(IndexedSource, "__init__", counted)
    for length in (*range(0, len(answer), 150), len(answer)):
        growing = check_answer(answer[:length], pages, memory)
    assert growing == whole
    assert sorted(compared) == [page.number for page in pages]
    monkeypatch.setattr("core.checks.check.check_parsed_statement", None)
    assert check_answer(answer, pages, memory) == whole, "nothing is compared twice"


def test_numbers_without_a_source_and_answers_without_numbers_are_no_error() -> None:
    assert check_answer("公司的员工总数为3000人[9]。", []).statements == ()
    assert tally(check_answer("", [])) == ""


def test_what_is_beyond_the_limits_says_so() -> None:
    source = SourceText(1, PAGE.format("公司的员工总数为3000人。"))
    checked = check_answer("公司的员工总数为3000人[1]。\n\n" * 550, [source])
    assert len(checked.statements) == 550
    assert checked.statements[0].check.verdict is Verdict.SUPPORTED
    assert checked.statements[-1].check.verdict is Verdict.UNCHECKED
    assert "过长" in checked.statements[-1].check.reason


@pytest.mark.parametrize("value", [2, 5, 9])
def test_a_number_of_one_digit_is_found_where_it_stands(value: int) -> None:
    between = "".join(f"第 {line} 项与此无关，另行约定。" for line in range(20))
    rows = between.join(f"南湾灯塔的守塔人数为 {count} 人。" for count in range(1, 10))
    check = check_statement(f"南湾灯塔的守塔人数为 {value} 人。", SourceText(1, rows))
    assert check.verdict is Verdict.SUPPORTED
    assert [passage.text for passage in check.evidence] == [f"南湾灯塔的守塔人数为 {value} 人。"]


def test_a_page_longer_than_the_limit_was_not_read_in_full() -> None:
    check = check_statement("火星探测器在去年成功采集到了三种稀有矿物样本。", SourceText(1, PAGE.format("") * 30_000))
    assert check.verdict is Verdict.UNCHECKED


LIMITS = (
    "塔高十米以上不满二十米的，值班时间不得超过一小时；塔高二十米以上不满三十米的，值班时间不得超过二小时；"
    "塔高三十米以上的，值班时间不得超过六小时。"
)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("塔高三十米以上的，值班时间不超过六小时。", Verdict.SUPPORTED),
        ("塔高二十米以上不满三十米的，值班时间不能超过2小时。", Verdict.SUPPORTED),
        ("塔高二十米以上不满三十米的，值班时间不得超过三小时。", Verdict.CONTRADICTED),
        ("塔高二十米以上不满三十米的，值班时间不得超过六小时。", Verdict.CONTRADICTED),
        ("塔高二十米以上不满三十米的，值班时间超过二小时。", Verdict.CONTRADICTED),
    ],
)
def test_limits_are_exact_and_belong_to_their_clause(statement: str, expected: Verdict) -> None:
    assert check_statement(statement, SourceText(1, LIMITS)).verdict is expected


def test_the_reader_is_told_where_the_number_was_taken_from() -> None:
    check = check_statement("塔高二十米以上不满三十米的，值班时间不得超过六小时。", SourceText(1, LIMITS))
    assert "不得超过六小时" in check.reason
    assert "不得超过二小时" in check.reason
    other = check_statement("塔高二十米以上不满三十米的，值班时间不得超过三小时。", SourceText(1, LIMITS))
    assert [(one.stated, one.found) for one in other.differences] == [("不得超过三小时", "不得超过二小时")]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("灯塔每年检修九次，由守塔人登记在册。", Verdict.CONTRADICTED),
        ("灯塔每年检修两次，由守塔人登记在册。", Verdict.SUPPORTED),
        ("灯塔每年检修 9 次，由守塔人登记在册。", Verdict.CONTRADICTED),
    ],
)
def test_small_counts_in_words_are_no_tick_where_the_source_counts_otherwise(statement: str, expected: Verdict) -> None:
    assert check_statement(statement, SourceText(1, "灯塔每年检修两次，由守塔人登记在册。")).verdict is expected
