"""A quotation speaks of a statement, or only stands in the same source."""

from __future__ import annotations

import pytest

from core.checks import is_about


@pytest.mark.parametrize(
    ("quotation", "statement", "expected"),
    [
        ("费用由市财政承担，居民不需要付费", "换水表的费用由财政出，居民不用付费。", True),
        ("費用由市財政承擔，居民不需要付費", "换水表的费用由财政出，居民不用付费。", True),
        ("本页面内容仅供参考", "换水表的费用由财政出，居民不用付费。", False),
        ("费用由市财政承担", "林远因为水费涨价的事被免去了局长职务。", False),
        ("its readers borrow books for free", "Readers can borrow books for free.", True),
        ("the library of the town is open", "The mayor of the town is a thief.", False),
        (
            "民居付费换表水不由政财用出",
            "换水表的费用由财政出，居民不用付费。",
            False,
        ),  # the characters without their order
        ("一二三", "。", False),
        ("", "换水表的费用由财政出。", False),
    ],
)
def test_most_of_what_is_said_must_be_there(quotation: str, statement: str, expected: bool) -> None:
    assert is_about(quotation, statement) is expected
