"""Quantities that mean the same, and those that do not."""

from __future__ import annotations

import pytest

from core.base.chinese.quantities import Quantity, find_quantities
from core.comparison.numbers import QuantityMatch, match_quantity


def only(text: str) -> Quantity:
    (found,) = find_quantities(text)
    return found


def compared(stated: str, real: str) -> QuantityMatch:
    return match_quantity(only(stated), only(real))


@pytest.mark.parametrize(
    ("stated", "real"),
    [
        ("一亿两千万元", "1.2 亿元"),
        ("1.2亿", "１２０，０００，０００"),
        ("两成", "20%"),
        ("百分之二十", "20％"),
        ("三分之一", "三分之一"),
        ("翻一番", "2倍"),
        ("¥500", "500元"),
        ("$500", "500美元"),
        ("3公里", "3000米"),
        ("半年", "0.5年"),
        ("一年半", "1.5年"),
        ("3-5万元", "3万至5万元"),
        ("约100万人", "98万人"),
        ("近百人", "98人"),
        ("超过100万", "120万"),
        ("30多万", "超过30万"),
        ("5家", "五个"),
        ("5周", "35天"),
    ],
)
def test_the_same_in_other_words(stated: str, real: str) -> None:
    assert compared(stated, real) is QuantityMatch.SAME


@pytest.mark.parametrize(
    ("stated", "real"),
    [
        ("1.2亿", "1.23亿"),
        ("100万", "近100万"),
        ("100万", "超过100万"),
        ("不足3%", "3%"),
        ("18岁以上", "超过18岁"),
        ("800-1400美元", "800-1400"),
    ],
)
def test_neither_the_same_nor_wrong(stated: str, real: str) -> None:
    assert compared(stated, real) is QuantityMatch.NEAR


@pytest.mark.parametrize(
    ("stated", "real"),
    [
        ("1.2亿", "1.3亿"),
        ("¥500", "$500"),
        ("20%", "20个百分点"),
        ("3年", "3个月"),
        ("130倍", "133倍"),
        ("约72%", "78%"),
        ("71%", "70%"),
        ("约6374千米", "约6371千米"),
        ("不到100万", "超过100万"),
        ("18岁以上", "18岁以下"),
        ("3-5万元", "3-6万元"),
        ("超过100万", "900万"),
        ("22多岁", "20多岁"),
    ],
)
def test_another_quantity(stated: str, real: str) -> None:
    assert compared(stated, real) is QuantityMatch.OTHER
