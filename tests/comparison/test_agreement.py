"""A passage says what a statement says, word by word; or says it otherwise; or neither."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from core.answer.check_results import SourceCheck, SourceText, Verdict
from core.checks import check_statement

NEWS = (
    "其次，贝林厄姆的商业价值不容小觑。2023年游泳世锦赛将在日本福冈举行，2024年的赛事将在卡塔尔多哈举行。"
    "董事会周一宣布任命周岚为公司首席执行官，原首席执行官陈默将留任董事。公司（2001年成立）去年收入三百亿元，同比增长12%。"
    "有网友称总部将迁往海宁市，公司予以否认。如果监管部门批准，公司明年可能在香港上市。功耗降低至60%。"
    "绿色款 mini，售价5199元起 绿色款，售价5999元起。但同样好于市场预期。"
    "工会表示，工厂必须停产检修。勇士以129比115战胜马刺，晋级总决赛。蓝鲸是世界上最大的动物，它的心脏重达180公斤。"
    "一家生产灯具的公司和两家船厂分别获得金奖和银奖。在十一月以前，居民可以免费更换水表，租户除外。"
    "他取代老队长，成为新的领队。这种药对多数成年人有效。"
)


def check(statement: str, passage: str = NEWS) -> SourceCheck:
    return check_statement(statement, SourceText(1, passage))


@pytest.mark.parametrize(
    "statement",
    [
        "2023年游泳世锦赛将在日本福冈举行。",
        "董事会宣布任命周岚为首席执行官，原首席执行官陈默将留任董事。",
        "公司去年收入三百亿元，同比增长12%。",
        "公司去年的收入是三百亿元，同比增长了12%。",
        "公司去年营收300亿元，同比增长12%。",
        "好于市场预期。",
        "董事會宣布任命周嵐為首席執行官。",
        "工会称，工厂必须停产检修。",
        "工会表示工厂应当停产检修。",
        "勇士129-115击败马刺，晋级总决赛。",
        "蓝鲸是世界上最大的动物，心脏重180公斤。",
        "11月之前，居民可以免费更换水表，租户除外。",
    ],
)
def test_what_the_passage_says(statement: str) -> None:
    found = check(statement)
    assert found.verdict is Verdict.SUPPORTED, found.reason
    words = {NEWS[one.found_start : one.found_end] for one in found.alignment}
    assert words
    assert all(one.start < one.end and one.found_start < one.found_end for one in found.alignment)


@pytest.mark.parametrize(
    "statement",
    [
        "2023年游泳世锦赛将在卡塔尔多哈举行。",  # the subject of one clause, the place of another
        "2024年游泳世锦赛将在日本福冈举行。",
        "董事会宣布任命陈默为首席执行官。",
        "首席执行官任命周岚为董事会。",
        "陈默将不再留任董事。",
        "公司去年收入三百亿元，同比下降12%。",
        "公司去年收入三百亿美元。",
        "公司去年收入三百二十亿元。",
        "公司去年收入超过三百亿元。",
        "总部将迁往海宁市。",  # somebody says so
        "监管部门批准，公司明年在香港上市。",
        "公司明年在香港上市。",
        "公司明年可能在香港上市。",  # a condition is left out
        "功耗降低了60%。",
        "绿色款售价5199元起。",
        "董事会周一宣布任命周岚为公司首席执行官，同比增长12%。",  # far apart
        "工厂必须停产检修。",  # the union says so
        "工厂可以停产检修。",
        "马刺以129比115战胜勇士，晋级总决赛。",
        "马刺晋级总决赛。",
        "蓝鲸是最大的动物，它的心脏重达180公斤。",  # of the world
        "一家生产灯具的公司获得银奖。",
        "两家船厂获得金奖。",
        "居民可以免费更换水表。",  # an exception is left out
        "十一月以后，居民可以免费更换水表，租户除外。",
        "老队长取代他，成为新的领队。",
        "这种药对成年人有效。",
        "这种药对所有成年人有效。",
        "这种药可能对多数成年人有效。",
        "据传这种药对多数成年人有效。",
        "因为功耗降低至60%，所以好于市场预期。",
    ],
)
def test_what_it_does_not_say(statement: str) -> None:
    assert check(statement).verdict is not Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("statement", "stated", "found"),
    [
        ("公司去年收入三百二十亿元，同比增长12%。", "三百二十亿元", "三百亿元"),
        ("公司去年收入三百亿元，同比增长20%。", "20%", "12%"),
        ("公司去年收入三百亿元，同比下降12%。", "下降", "增长"),
        ("公司去年收入三百亿美元，同比增长12%。", "三百亿美元", "三百亿元"),
        ("原首席执行官陈默将不留任董事。", "不留任", "留任"),
        ("马刺以129比115战胜勇士。", "马刺", "勇士"),
        ("勇士以115比129战胜马刺。", "115比129", "129比115"),
        ("十一月以后，居民可以免费更换水表，租户除外。", "以后", "以前"),
        ("工会表示，工厂无需停产检修。", "无需", "必须"),
    ],
)
def test_what_it_says_otherwise_is_shown_side_by_side(statement: str, stated: str, found: str) -> None:
    result = check(statement)
    assert result.verdict is Verdict.CONTRADICTED, result.reason
    (difference,) = result.differences
    assert (difference.stated, difference.found) == (stated, found)


@pytest.mark.parametrize(
    ("statement", "passage"),
    [
        ("用人单位可以解除劳动合同。", "用人单位不得解除劳动合同。"),
        ("用人单位无需支付赔偿金。", "用人单位应当支付赔偿金。"),
        ("公司收入同比增长两成。", "公司收入同比下降两成。"),
        ("公司收入同比增长两成。", "公司收入环比增长两成。"),
        ("失业率高于预期水平。", "失业率低于预期水平。"),
        ("这是全国最高的大楼。", "这是全国最低的大楼。"),
        ("该药物能治疗感冒。", "该药物不能治疗感冒。"),
        ("收费标准不由管理局负责。", "收费标准由管理局负责。"),
        ("乙方案将个人积蓄转换为企业收入。", "乙方案将企业收入转换为个人积蓄。"),
        ("在海关总署指导下，市场中心设立了这个平台。", "在市场中心指导下，海关总署设立了这个平台。"),
        ("陈默的加盟，主要是接替周岚在工厂的工作。", "周岚的加盟主要是接替陈默在工厂的工作。"),
        ("这种药既能止痛，也能治疗发热的原因。", "这种药虽然能止痛，但不能治疗发热的原因。"),
        ("二十个省份公布了去年的增速，五个省份公布了总量。", "二十四个省份公布了去年的增速。"),
    ],
)
def test_the_opposite_contradicts(statement: str, passage: str) -> None:
    assert check(statement, passage).verdict is Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("statement", "passage"),
    [
        ("用人单位不得解除劳动合同。", "用人单位禁止解除劳动合同。"),
        ("公司收入上升两成。", "公司收入增长两成。"),
        ("公司收入增长，利润下降。", "公司利润下降，收入增长。"),
        ("不仅能治疗感冒。", "能治疗感冒。"),
        ("当事人可以提交证据。", "当事人应当提交证据。"),
        ("二十四个省份公布了去年的增速。", "二十四个省份公布了去年的增速，二十三个省份公布了去年的总量。"),
        ("一是身体的界限，二是心理的界限。", "要把握两条：一是身体的界限，二是心理的界限。"),
    ],
)
def test_other_words_for_the_same_do_not_contradict(statement: str, passage: str) -> None:
    assert check(statement, passage).verdict is not Verdict.CONTRADICTED


@pytest.mark.parametrize(
    "page",
    [
        "网传海州市将停止供水七天，消息不实。",
        "海州市将停止供水七天？记者昨天向水务局求证。",
        "有人说：“海州市将停止供水七天。”水务局否认。",
        "水务局否认海州市将停止供水七天。",
        "海州市将停止供水七天的说法并无根据。",
        "假如大坝决口，海州市将停止供水七天。",
        "原告主张海州市将停止供水七天，法院不予采信。",
        "从来没有证据表明海州市将停止供水七天。",
        "海州市计划停止供水七天。",
        "海州市未能停止供水七天。",
        "海州市尚未停止供水七天。",
        "海州市停止供水七天的计划已经撤销。",
        "海州市将停止供水七天。这一说法没有依据。",
        "很多人转发：海州市将停止供水七天。其实这个消息是错误的。",
    ],
)
def test_a_claim_that_is_reported_doubted_or_planned_is_not_said(page: str) -> None:
    assert check("海州市将停止供水七天。", page).verdict is not Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("statement", "passage"),
    [
        ("她把座位换到了窗边。", "她将座位换到了窗边。"),
        ("负责人没有被限制离境。", "负责人并未被限制离境。"),
        ("文章指出，这座桥全长三公里。", "这座桥全长三公里。"),
        ("编号印在卡槽的内侧。", "编号印于卡槽的内侧。"),
        ("如果在文本框中单击，其他文本框会被锁定。", "如果我在文本框中单击，其他文本框将被锁定。"),
    ],
)
def test_the_same_with_other_function_words(statement: str, passage: str) -> None:
    found = check(statement, passage)
    assert found.verdict is Verdict.SUPPORTED, found.reason


@pytest.mark.parametrize(
    ("statement", "passage"),
    [
        ("她换到了窗边的座位。", "她将换到窗边的座位。"),
        ("作者认为，这座桥全长三公里。", "专家认为，这座桥全长三公里。"),
        ("作者的同事认为，这座桥全长三公里。", "这座桥全长三公里。"),
    ],
)
def test_function_words_that_say_more_are_compared(statement: str, passage: str) -> None:
    assert check(statement, passage).verdict is not Verdict.SUPPORTED


LEASE = (
    "承租人有下列行为之一的，出租人可以收回房屋：\n（一）擅自转租的；\n（二）拖欠租金满三个月的。\n"
    "同时具备下列条件的，出租人应当续租：\n（一）租金按时付清的；\n（二）房屋完好的。"
)


def test_each_of_several_cases_stands_in_the_place_of_the_list() -> None:
    found = check("承租人拖欠租金满三个月的，出租人可以收回房屋。", LEASE)
    assert found.verdict is Verdict.SUPPORTED, found.reason
    assert "".join(LEASE[one.found_start : one.found_end] for one in found.alignment) == (
        "承租人拖欠租金满三个月的出租人可以收回房屋"
    )
    assert [passage.text.strip()[:4] for passage in found.evidence] == ["承租人有", "（二）拖"]


@pytest.mark.parametrize(
    "statement",
    [
        "承租人拖欠租金满两个月的，出租人可以收回房屋。",
        "承租人擅自转租的，出租人应当续租。",
        "出租人可以收回房屋。",
        "出租人应当续租。",
        "房屋完好的，出租人应当续租。",  # all cases are needed
        "承租人房屋完好的，出租人可以收回房屋。",
    ],
)
def test_another_case_than_those_of_the_list_is_not_said(statement: str) -> None:
    assert check(statement, LEASE).verdict is not Verdict.SUPPORTED


@pytest.mark.parametrize("text", ["水" * 100_000, "一，" * 50_000, "甲乙，" * 30_000, "a" * 100_000, "1," * 50_000])
def test_any_text_is_compared_in_bounded_time(text: str) -> None:
    began = time.thread_time()
    for statement in (text, text[:400]):
        check(statement, text)
        check(statement, text[::-1])
    assert time.thread_time() - began < 20


def test_hand_written_pairs(shared: Path) -> None:
    """None of the statements that were made false by one change are green; most of the nearly verbatim ones are, and few of
    the faithful ones are accused."""
    lines = (shared / "data" / "claims" / "minimal_pairs.dev.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    verdicts = {row["id"]: check(row["statement"], row["source"]).verdict for row in rows}
    false = [row["id"] for row in rows if row["label"] != "supported" and verdicts[row["id"]] is Verdict.SUPPORTED]
    near = [verdicts[row["id"]] is Verdict.SUPPORTED for row in rows if row["distance"] == "near"]
    faithful = [verdicts[row["id"]] for row in rows if row["label"] == "supported"]
    assert false == []
    assert sum(near) >= 0.6 * len(near)
    assert sum(one in {Verdict.CONTRADICTED, Verdict.ABSENT} for one in faithful) <= 0.02 * len(faithful)
