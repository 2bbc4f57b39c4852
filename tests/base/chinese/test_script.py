"""One spelling for comparing."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.chinese.script import (
    comparison_form,
    equivalent_characters,
    is_traditional,
    plain,
    to_simplified,
    to_traditional,
)


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("憂鬱的臺灣烏龜", "忧郁的台湾乌龟"),
        ("後來發現於裡面", "后来发现于里面"),
        ("著名的乾隆", "著名的干隆"),
        ("徵收與牴觸、逕行、帳戶", "征收与抵触、径行、账户"),
        ("简体字不变", "简体字不变"),
        ("", ""),
    ],
)
def test_traditional_characters_become_simplified(written: str, plain: str) -> None:
    assert to_simplified(written) == plain


def test_width_and_case_are_folded() -> None:
    assert comparison_form("ＡＢＣ１２３％，（臺灣）İ") == "abc123%,(台湾)i"


def test_nothing_moves() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    assert len(comparison_form(every)) == len(every)


def test_a_page_of_many_traditional_characters_is_read_the_same_way() -> None:
    page = (
        "醫學與藥學發展歷史記載於國家圖書館龍鳳龜鳥魚馬車門開關電腦網路軟體設計師說話語言詞彙實驗報導觀點問題總結戰爭勝負買賣經濟貿易銀行錢幣財產權利義務責任訴訟審判應當處罰"
        * 50
    )
    assert comparison_form(page) == "".join(map(comparison_form, page))


@pytest.mark.parametrize(
    ("plain", "written"),
    [
        ("以后见到皇后的头发", "以後見到皇后的頭髮"),
        ("系统征收条例", "系統徵收條例"),
        ("见 `settings.yml`[1]", "見 `settings.yml`[1]"),
        ("已經是繁體", "已經是繁體"),
    ],
)
def test_and_back_word_by_word(plain: str, written: str) -> None:
    assert to_traditional(plain) == written


def test_what_was_written_back_is_compared_as_the_same() -> None:
    """Else 依据核验 would doubt a quotation for its script."""
    every = "".join(map(chr, range(0x3400, 0xA000)))
    assert comparison_form(to_traditional(every)) == comparison_form(every)


@pytest.mark.parametrize("text", ["怎麼打開聯網搜尋？", "什麼是合同", "你是誰", "SearXNG 返回 403 怎麼辦"])
def test_who_asks_in_traditional_characters(text: str) -> None:
    assert is_traditional(text)


@pytest.mark.parametrize("text", ["怎么打开联网搜索？", "著作权法", "hello", "", "中文", "《於术》一书讲了什么内容呢"])
def test_who_does_not(text: str) -> None:
    assert not is_traditional(text)


@pytest.mark.parametrize(
    ("character", "same"),
    [
        ("台", "台臺檯颱"),
        ("臺", "台臺檯颱"),
        ("a", "aAａＡ"),
        ("Ａ", "aAａＡ"),
        ("％", "%％"),
        ("之", "之"),
        ("ß", "ß"),
    ],
)
def test_every_spelling_of_a_character(character: str, same: str) -> None:
    assert set(equivalent_characters(character)) == set(same)


@given(st.text())
def test_plain_keeps_every_place(text: str) -> None:
    assert len(plain(text)) == len(text)
