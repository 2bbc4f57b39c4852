"""Form of 案号: a labelled list of what courts write, what nobody can, and what is the number of something else."""

from __future__ import annotations

from datetime import date

import pytest

from core.legal.text.case_number_form import find_case_references
from core.legal.text.case_numbers import case_keys, find_guiding_numbers, may_name_case

TODAY = date(2026, 11, 18)

VALID = """
（2023）京01民终1234号
(2023)粤01刑终567号
〔2022〕沪0101行初88号
［２０２２］沪０１０１行初８８号
【2022】沪0101行初88号
（2022年）沪0101 执 88 号
（2021）最高法知民终9号
（2023）最高法民再12号
（2023）最高法商初1号
（2023）最高法委赔监8号
（2020）京01破5号之一
（2020）京01破5号之十二
（2019）閩行賠終7號
（2023）京0105民诉前调12号
（2023）京0105执异12号
（2023）京0491民初3号
（2021）京74民终8号
（2021）渝87民初8号
（2022）沪72民初5号
（2023）浙0192民初55号
（2022）新40民终3号
（2021）兵0801民初3号
（2020）渝0233民初3号
（2023）琼9001刑初2号
（2023）川3201刑初7号
（2023）辽7101民初9号
（2023）粤1971民初9号
（2023）京0105民特监4号
（2023）豫刑更99号
（2024）苏民辖终7号
（2024）内2201行审1号
（2020）黔01民终1234号
（2022）渝0120法赔3号
（2024）京03破申45号
(2015)鄂武汉中行终字第00569号
（2014）梅兴法刑初字第344号
[1998]海行初字第142号
（2014）沂南刑初字第348号
（2014）民刑初字第1号
（2007）朝民初字第18230号
(2012)沪一中民四(商)终字第123号
（2003）民一终字第1号
（2011）新刑未初字第29号
（2009）武海法商字第12号
（2015）执申字第52号
（2016）豫民申字第33号
（1999）经终字第3号
""".strip().splitlines()

IMPOSSIBLE = {
    "（2031）京01民终12号": "还没有到",
    "（2027）京01民终12号": "还没有到",
    "（1970）京民终字第1号": "1985",
    "（2023）京99民终12号": "「京99」",
    "（2023）苏15民终12号": "「苏15」",
    "（2023）京011民终12号": "「京011」",
    "（2023）甲01民终12号": "「甲01」",
    "（2023）北京01民终12号": "「北京01」",
    "（2023）蒙01民终12号": "「蒙01」",
    "（2023）海淀民初12号": "「海淀」",
    "(2024)刑初字第567号": "字第",
    "（2023）民申12号": "缺少法院代字",
    "（2023）京01号": "缺少类型代字",
    "（2023）京1234号": "缺少类型代字",
    "（2023）最高法12号": "缺少类型代字",
    "（2023）京01民终号": "缺少编号",
    "（2023）京01民终XX号": "缺少编号",
    "（2023）京01民终×××号": "缺少编号",
    "（2023）京01婚初12号": "「婚初」",
    "（2023）京0105民终12号": "基层法院",
    "（2014）京01民终12号": "字第",
    "（2014）民刑初1号": "字第",
    "（2020）京民终字第12号": "字第",
    "指导性案例0号": "编号为 0",
}

OTHER = """
法释〔2020〕17号
法〔2015〕137号
国办发〔2021〕15号
财税〔2016〕36号
（2019）豫新检刑诉12号
（2020）年度报告第3号
（2013）京仲裁字第0123号
（2012）中国贸仲京裁字第0001号
（2020）京海劳人仲字第12号
京劳人仲字（2020）第12号
（2020）京方圆内经证字第1234号
（2022）粤广南方第012345号
（2014）某工商行罚字第1号
（2014）民刑初字
（2023）第12号
第24批指导性案例
2024年发布指导性案例12件
""".strip().splitlines()

TYPES = """
刑辖 民辖 民辖终 民辖监 行辖 行辖终 赔辖 赔辖终 刑初 刑终 刑监 刑申 刑抗 刑再 刑没 刑核 刑医 刑医解 刑医复 刑医监 刑止 刑止调 刑止核
刑更 刑更监 刑更备 刑教 刑教解 刑教复 刑教监 刑他 民初 民终 民监 民申 民抗 民再 民撤 民特 民特监 民催 民督 民督监 民破 民算 民保令 民保更 民他
行初 行终 行监 行申 行抗 行再 行审 行审复 行他 行赔初 行赔终 行赔监 行赔申 行赔抗 行赔再 行赔他 法赔 委赔 委赔监 委赔提 委赔再 赔确监 赔他
司救刑 司救民 司救行 司救赔 司救执 司救访 司救他 认台 认港 认澳 认复 认他 请台送 请港送 请澳送 台请送 港请送 澳请送 请台调 台请调
请移管 助移管 请移赃 助移赃 协外认 协他 协外送 请外送 协外调 请外调 请外移 协外移 请外引 协外引 司惩 司惩复 财保 行保 行保复 证保
执 执恢 执保 执异 执复 执监 执协 执他 清申 清终 清监 强清 破申 破终 破监 破
"""
"""Type codes of 法〔2015〕137号 and its amendments."""


@pytest.mark.parametrize("code", TYPES.split())
def test_every_type_of_the_rules_is_known(code: str) -> None:
    (found,) = find_case_references(f"（2023）京01{code}5号", TODAY)
    assert found.problem == ""


def test_the_list_is_long_enough() -> None:
    assert len(VALID) + len(IMPOSSIBLE) + len(OTHER) >= 60


@pytest.mark.parametrize("text", VALID)
def test_what_courts_write_has_no_problem(text: str) -> None:
    (found,) = find_case_references(f"见{text}判决。", TODAY)
    assert (found.start, found.end, found.problem) == (1, 1 + len(text), "")
    assert found.key in case_keys(text), "the search knows the same number"


@pytest.mark.parametrize(("text", "why"), IMPOSSIBLE.items())
def test_what_no_court_can_write_says_why(text: str, why: str) -> None:
    (found,) = find_case_references(f"见{text}判决。", TODAY)
    assert why in found.problem


@pytest.mark.parametrize("text", OTHER)
def test_numbers_of_other_documents_are_left_alone(text: str) -> None:
    assert find_case_references(f"见{text}文件。", TODAY) == []


@pytest.mark.parametrize("text", [*VALID, *IMPOSSIBLE, "指导案例24号", "指導性案例24號", "检例第3号"])
def test_the_quick_look_misses_none(text: str) -> None:
    assert may_name_case(f"见{text}判决。")


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("指导性案例24号", ["指导性案例24号"]),
        ("指导案例24号", ["指导性案例24号"]),
        ("第24号指导案例", ["指导性案例24号"]),
        ("24号指导性案例", ["指导性案例24号"]),
        ("指导案例第二十四号", ["指导性案例24号"]),
        ("最高法指导案例 24 号", ["指导性案例24号"]),
        ("最高人民法院指导性案例第２４号", ["指导性案例24号"]),
        ("指导案例24", ["指导性案例24号"]),
        ("指導性案例（第24號）", ["指导性案例24号"]),
        ("指导案例124号", ["指导性案例124号"]),
        ("第一百二十四号指导性案例", ["指导性案例124号"]),
        ("检例第24号", ["检例第24号"]),
        ("最高检指导性案例第24号", ["检例第24号"]),
        ("最高人民检察院第24号指导性案例", ["检例第24号"]),
        ("最高检第二十批指导性案例（检例第73号）", ["检例第73号"]),
        ("指导案例24号、25号和第126号", ["指导性案例24号", "指导性案例25号", "指导性案例126号"]),
        ("第24批指导性案例", []),
        ("指导案例24个", []),
        ("指导案例第一百二号", []),  # 102 to some and 120 to others
    ],
)
def test_guiding_cases(text: str, keys: list[str]) -> None:
    assert [number.canonical() for number in find_guiding_numbers(f"参照{text}处理")] == keys
    assert case_keys(text) == keys
