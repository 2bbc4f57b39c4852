"""What a text says that an article provides, wherever it stands; and nothing where it only names the article."""

from __future__ import annotations

import pytest

from core.legal.text.restatement import Restatement, find_restatements, group_citations
from core.legal.text.statute_citations import find_citations

SAID = "守塔人应当在日落前点灯"


def found(text: str) -> list[Restatement | None]:
    citations = [citation for citation in find_citations(text) if citation.law]
    return list(find_restatements(text, group_citations(text, citations)))


@pytest.mark.parametrize(
    "text",
    [
        f"《灯塔法》第三条规定，{SAID}。",
        f"《灯塔法》第三条规定{SAID}[1]。",
        f"《灯塔法》第三条的规定，{SAID}。别的不说。",
        f"根据《灯塔法》第三条，{SAID}。",
        f"《灯塔法》第三条明确：{SAID}；第四条规定另一件事。",
        f"{SAID}（《灯塔法》第三条）。",
        f"今天下雨。{SAID}。（参见《灯塔法》第三条）",
        f"{SAID}，法律依据是《灯塔法》第三条。",
        f"1. **《灯塔法》第三条**：{SAID}",
        f"- {SAID}，见《灯塔法》第三条。",
        f"### 《灯塔法》第三条\n\n{SAID}\n\n别的不说。",
        f"| 《灯塔法》第三条 | {SAID} |",
        f"| {SAID} | 《灯塔法》第三条 |",
        f"《灯塔法》第三条、第四条规定，{SAID}。",
        f"《灯塔法》第三条规定，一般来说，{SAID}，请您注意。",
    ],
)
def test_said(text: str) -> None:
    one, *_ = found(text)
    assert one
    assert one.text == SAID


@pytest.mark.parametrize(
    "text",
    [
        "根据《灯塔法》第三条。",
        "法律依据：《灯塔法》第三条。",
        "违反《灯塔法》第三条规定，应当赔偿损失。",
        "符合《灯塔法》第三条规定的情形的，可以离开岗位。",
        "按照《灯塔法》第三条规定支付夜班津贴给守塔人。",
        "《灯塔法》第三条并未规定守塔人可以睡觉不点灯。",
        "有人说《灯塔法》第三条规定守塔人可以不点灯。",
        "《灯塔法》第三条规定守塔人可以不点灯，这是错误的。",
        "《灯塔法》第三条规定守塔人可以不点灯吗？",
        "《灯塔法》第三条所称日落以当地的时间为准。",
        f"{SAID}，船东依据《灯塔法》第三条的规定请求赔偿的，应予支持。",
        "不属于《灯塔法》第三条规定情形的申请，当场驳回。",
    ],
)
def test_only_named(text: str) -> None:
    assert found(text) == [None]


def test_each_citation_has_its_own() -> None:
    first, second = found("《灯塔法》第三条规定塔要点灯到天亮；《浮标法》第二条规定浮标要登记在册。")
    assert first
    assert second
    assert (first.text, second.text) == ("塔要点灯到天亮", "浮标要登记在册")


def test_brackets_in_one_sentence_have_each_its_own() -> None:
    text = "塔要点灯到天亮（《灯塔法》第三条），浮标要登记在册（《浮标法》第二条）。"
    assert found(text) == [Restatement("塔要点灯到天亮", True, stands_alone=True), Restatement("浮标要登记在册", True)]


def test_a_citation_within_a_rule_is_part_of_it() -> None:
    first, second = found("《灯塔法》第四条规定，大雾期间依照《浮标法》第二条的规定鸣笛并登记。")
    assert first == Restatement("大雾期间依照《浮标法》第二条的规定鸣笛并登记", is_attributed=True, stands_alone=True)
    assert second is None


def test_what_another_citation_breaks_into_is_not_whole() -> None:
    first, *_ = found("《灯塔法》第四条规定，大雾期间的鸣笛与登记，《浮标法》第二条规定，每年一次。")
    assert first
    assert not first.is_complete


@pytest.mark.parametrize(
    ("text", "stands_alone"),
    [
        (f"根据《灯塔法》第三条，{SAID}。", True),
        (f"昨天下雨。\n\n- 《灯塔法》第三条规定，{SAID}。", True),
        (f"{SAID}（《灯塔法》第三条）。", True),
        (f"有大雾的，根据《灯塔法》第三条，{SAID}。", False),
        (f"有大雾怎么办？《灯塔法》第三条规定，{SAID}。", False),
        (f"有大雾的：\n《灯塔法》第三条规定，{SAID}。", False),
        (f"## 有大雾时 ##\n《灯塔法》第三条规定，{SAID}。", False),
    ],
)
def test_what_comes_before_may_be_its_condition(text: str, stands_alone: bool) -> None:
    (one,) = found(text)
    assert one is not None
    assert one.stands_alone is stands_alone
