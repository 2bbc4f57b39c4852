"""Two ways of saying a rule are the same words."""

from __future__ import annotations

import re
import time

import pytest

from core.legal.text.rule_words import _FIRST_CHARACTERS, SYNONYMS, rule_words


def keys(text: str) -> list[str]:
    return [word.key for word in rule_words(text)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("试用期不得超过六个月", "试用期最长 6 个月"),
        ("不得超过六个月", "六个月以内"),
        ("三十日内", "30天内"),
        ("百分之八十", "80%"),
        ("二万元以上二十万元以下", "20,000元以上20万元以下"),
        ("一万二千元", "12,000元"),
        ("一万二元", "1.2万元"),
        ("不少于三年", "三年以上"),
        ("应当", "必须"),
        ("应予支持", "应当予以支持"),
        ("不得", "禁止"),
        ("劳动者有权", "员工可以"),
        ("人民法院或者人民政府", "法院或政府"),
        ("未经批准", "没有经过批准"),
        ("依照規定", "按照规定"),
        ("（第一项）、", "第一项"),
    ],
)
def test_the_same(one: str, other: str) -> None:
    assert keys(one) == keys(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("六个月", "二个月"),
        ("三年以上", "超过三年"),
        ("三日", "三个工作日"),
        ("应当", "可以"),
        ("可以不", "可以"),
        ("或者", "并且"),
        ("有效", "无效"),
        ("申请人", "被申请人"),
        ("一百二元", "一百二十元"),
    ],
)
def test_not_the_same(one: str, other: str) -> None:
    assert keys(one) != keys(other)


def test_the_words_know_their_places() -> None:
    text = "试用期（最长６个月）"
    assert [text[word.start : word.end] for word in rule_words(text)] == ["试", "用", "期", "最长６个月", "最长６个月"]


def test_every_spelling_begins_with_a_character_that_is_looked_at() -> None:
    for spellings in SYNONYMS.values():
        for spelling in re.sub(r"\(\?<?[!=][^)]*\)", "", spellings).split("|"):
            first = spelling[1 : spelling.index("]")] if spelling[0] == "[" else spelling[0]
            assert all(re.match(f"[{_FIRST_CHARACTERS}]", character) for character in first), spelling


@pytest.mark.parametrize(
    "text", [" " * 50_000, "一" * 50_000, "不得超过" * 12_000, "1,000" * 10_000, "百分之" * 16_000]
)
def test_hostile_text_takes_no_longer(text: str) -> None:
    started = time.thread_time()
    rule_words(text)
    assert time.thread_time() - started < 1
