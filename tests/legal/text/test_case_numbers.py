"""案号 in all their forms."""

from __future__ import annotations

import pytest

from core.legal.entities import CaseType
from core.legal.text.case_numbers import find_case_numbers


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("（2023）京01民终1234号", CaseType.CIVIL),
        ("(2023)粤01刑终567号", CaseType.CRIMINAL),
        ("〔2022〕沪0101行初88号", CaseType.ADMINISTRATIVE),
        ("［２０２２］沪０１０１行初８８号", CaseType.ADMINISTRATIVE),
        ("（2022）沪0101 执 88 号", CaseType.OTHER),
        ("（2021）最高法知民终9号", CaseType.CIVIL),
        ("（2020）京01破5号之一", CaseType.OTHER),
        ("（2014）沂南刑初字第348号", CaseType.CRIMINAL),
        ("（2014）民刑初字第1号", CaseType.CRIMINAL),
        ("（2007）朝民初字第18230号", CaseType.CIVIL),
        ("(2012)沪一中民四(商)终字第123号", CaseType.CIVIL),
        ("（2003）民一终字第1号", CaseType.CIVIL),
        ("（2019）闽行赔终7号", CaseType.ADMINISTRATIVE),
    ],
)
def test_forms(text: str, kind: CaseType) -> None:
    (number,) = find_case_numbers(f"某法院作出{text}判决")
    assert (number.start, number.text, number.type) == (5, text, kind)


@pytest.mark.parametrize(
    "text",
    [
        "法释〔2020〕17号",
        "国办发〔2021〕15号",
        "（2019）豫新检刑诉12号",
        "（2020）年度报告第3号",
        "（2023）京01民终号",
        "",
    ],
)
def test_what_is_no_case_number(text: str) -> None:
    assert find_case_numbers(text) == []


def test_one_spelling_for_all_brackets() -> None:
    spellings = ["(2023)京01民终12号", "〔2023〕京01民终12号", "（２０２３） 京01 民终 12号"]
    assert {find_case_numbers(text)[0].canonical() for text in spellings} == {"（2023）京01民终12号"}
