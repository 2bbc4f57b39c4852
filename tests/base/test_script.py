"""One spelling for comparing."""

from __future__ import annotations

import sys

import pytest

from core.base.script import folded, simplified, spellings


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("憂鬱的臺灣烏龜", "忧郁的台湾乌龟"),
        ("後來發現於裡面", "后来发现于里面"),
        ("著名的乾隆", "著名的干隆"),
        ("简体字不变", "简体字不变"),
        ("", ""),
    ],
)
def test_traditional_characters_become_simplified(written: str, plain: str) -> None:
    assert simplified(written) == plain


def test_width_and_case_are_folded() -> None:
    assert folded("ＡＢＣ１２３％，（臺灣）İ") == "abc123%,(台湾)i"


def test_nothing_moves() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    assert len(folded(every)) == len(every)


def test_a_page_of_many_traditional_characters_is_read_the_same_way() -> None:
    page = (
        "醫學與藥學發展歷史記載於國家圖書館龍鳳龜鳥魚馬車門開關電腦網路軟體設計師說話語言詞彙實驗報導觀點問題總結戰爭勝負買賣經濟貿易銀行錢幣財產權利義務責任訴訟審判應當處罰"
        * 50
    )
    assert folded(page) == "".join(map(folded, page))


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
    assert set(spellings(character)) == set(same)
