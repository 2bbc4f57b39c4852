"""A judge that was won over says 支持 with whatever words of the page get through. It tries every sentence, two of them, and every
clause: no changed number, date or name is ever accepted. Faithful paraphrases are, with the sentence that says it."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from core.answer.check_results import SourceText, Verdict
from core.base.chinese.sentences import split_sentences
from core.checks import check_statement
from core.run.second_opinion import JudgedCitation, ModelVerdict, accept_verdict

TOWN = (
    "青岚镇政府3月12日公布上年度统计公报。全镇常住人口4.6万人，其中城镇人口1.9万人，农村人口2.7万人。全年粮食产量8.2万吨，蔬菜产量5.4万吨，"
    "水果产量1.3万吨。财政收入3.5亿元，支出4.1亿元。镇中心小学有学生820人、教师56人，镇中学有学生640人、教师71人。"
    "石桥水库2008年动工，2012年蓄水，2015年开始向县城供水，库容为960万立方米。南山隧道全长2.3公里，北山隧道全长1.7公里。"
    "镇卫生院设床位120张，比上年增加15张。去年新修乡村公路36公里，改造危房214户。图书室周一至周五上午9时开放，下午5时闭馆。"
)
COMPANY = (
    "云帆船厂由木匠顾长河于1956年在白沙渡创办，1983年改为股份公司，1997年在深港交易所上市。现任董事长是顾长河的孙女顾明漪，总经理是罗开宇，"
    "总工程师是俄籍专家伊万诺夫。公司最大的客户是远洋运输集团，第二大客户是蓝鲸渔业。去年6月，公司向东洲航运交付三艘货轮，向北港客运交付两艘渡轮。"
    "今年1月，子公司海燕机械与德国布伦纳公司签订了合作协议，由布伦纳公司提供发动机。设计部设在滨城，焊接车间设在白沙渡，试航基地设在鹿角湾。"
    "工会主席陶静说，工厂食堂由职工自己管理。2019年9月，副总经理孟跃辞职，转到星辰重工工作。"
)
MUSEUM = (
    "松江博物馆收藏的青铜鼎是1974年由农民郑福来在柳湾村挖出的，铭文由古文字学家潘仲文释读。同一处遗址1976年又出土了玉璧和陶罐。"
    "博物馆新馆由建筑师叶蔚然设计，2011年5月开工，2014年10月建成，旧馆于2013年关闭。镇馆之宝漆木屏风来自楚墓，曾于1992年在巴黎展出，2003年在东京展出。"
    "馆长方淑仪说，今年第一季度接待观众18万人次，第二季度接待观众25万人次，其中外国观众1.2万人次。门票为30元，学生票为15元，每周二免费开放。"
    "修复组由七人组成，组长是从敦煌请来的冯志远。语音导览有汉语、英语和法语三种。"
)
PAGES = {"town": TOWN, "company": COMPANY, "museum": MUSEUM}

NUMBERS = {
    "town": """
        全镇常住人口有2.7万人|青岚镇的城镇人口为2.7万人|全镇农村人口有1.9万人|全镇城镇人口达到4.6万人|全年粮食的产量为5.4万吨|全年蔬菜产量达8.2万吨|全镇水果产量有5.4万吨
        全镇财政收入为4.1亿元|全镇财政支出为3.5亿元|镇中心小学的学生有640人|镇中学的教师有56人|镇中心小学有71名教师|镇中学有学生820人|石桥水库的库容有690万立方米|南山隧道的长度为1.7公里
        北山隧道长2.3公里|镇卫生院的床位有135张|镇卫生院共有床位15张|卫生院比上年增加了120张床位|去年新修的乡村公路有214公里|去年改造了36户危房|图书室每天上午5时开放|图书室下午9时才闭馆
        全年粮食产量达82万吨|去年新修乡村公路超过63公里|全镇常住人口约6.4万人|镇中学的学生有820人，教师有71人|全年水果产量1.9万吨|南山隧道和北山隧道全长都是2.3公里
        财政收入为3.5万元|镇中心小学有教师71人，学生820人
    """,
    "museum": "第一季度接待观众25万人次|第二季度的外国观众有18万人次|外国观众有25万人次|学生票的价格是30元|博物馆门票是15元|修复组由三人组成|语音导览有七种语言",
    "company": "公司去年向东洲航运交付两艘货轮|公司向北港客运交付了三艘渡轮|去年6月公司交付三艘渡轮|公司向东洲航运交付六艘货轮",
}
DATES = {
    "town": """
        石桥水库2012年动工|石桥水库于2008年蓄水|石桥水库2012年开始向县城供水|石桥水库在2015年蓄水|石桥水库2008年开始向县城供水|石桥水库2015年动工|青岚镇政府2月13日公布统计公报
        图书室周六上午开放|图书室周二闭馆
    """,
    "company": """
        云帆船厂1983年在白沙渡创办|云帆船厂于1956年改为股份公司|云帆船厂在1997年改为股份公司|云帆船厂1956年上市|云帆船厂于1983年在深港交易所上市|云帆船厂1965年创办|今年6月公司向东洲航运交付货轮
        去年1月海燕机械与布伦纳公司签订了协议|副总经理孟跃2009年9月辞职|孟跃于2019年1月辞职|去年9月公司向北港客运交付渡轮|云帆船厂在当年上市
    """,
    "museum": """
        青铜鼎是1976年在柳湾村挖出的|青铜鼎于1992年挖出|遗址1974年出土了玉璧和陶罐|博物馆新馆2014年10月开工|新馆于2011年5月建成|新馆在2013年建成|旧馆于2014年关闭|旧馆2011年关闭
        漆木屏风2003年在巴黎展出|漆木屏风1992年在东京展出|漆木屏风曾于1974年在巴黎展出|今年第二季度接待观众18万人次|第一季度接待了25万人次观众|博物馆每周三免费开放|新馆2011年10月开工|新馆2014年5月建成|新馆2011年5月开工，旧馆于2014年10月关闭
    """,
}
NAMES = {
    "company": """
        云帆船厂由木匠罗开宇创办|云帆船厂由木匠顾明漪创办|云帆船厂由顾长河在鹿角湾创办|云帆船厂的现任董事长是罗开宇|总经理是顾明漪|总工程师是俄籍专家罗开宇|总工程师是俄籍专家彼得罗夫|公司最大的客户是蓝鲸渔业
        公司第二大客户是远洋运输集团|公司向北港客运交付三艘货轮|公司向东洲航运交付两艘渡轮|海燕机械与德国西门公司签订了合作协议|海燕机械与法国布伦纳公司签订了合作协议|由海燕机械提供发动机|设计部设在白沙渡
        焊接车间设在滨城|试航基地设在白沙渡|焊接车间设在鹿角湾|工会主席孟跃说食堂由职工管理|工会主席罗开宇说食堂由职工自己管理|副总经理陶静辞职|孟跃转到蓝鲸渔业工作|孟跃转到东洲航运工作
        第二大客户是东洲航运|工会主席陶静辞职，转到星辰重工工作|现任董事长是顾长河的孙女顾明瑶|总经理是罗开宇，由顾长河的孙女担任|云帆船厂由铁匠顾长河创办|子公司海鸥机械签订了合作协议|云帆船厂由木匠赵大海创办|云帆船厂在青岛上市
    """,
    "museum": """
        青铜鼎由农民潘仲文挖出|青铜鼎由农民郑福来在松江村挖出|铭文由古文字学家郑福来释读|铭文由古文字学家叶蔚然释读|博物馆新馆由建筑师方淑仪设计|新馆由建筑师潘仲文设计|漆木屏风来自汉墓|漆木屏风曾在伦敦展出
        漆木屏风2003年在巴黎展出|馆长冯志远说今年第一季度接待观众18万人次|修复组组长是方淑仪|组长是从洛阳请来的冯志远|语音导览有汉语、英语和德语三种|青铜鼎来自楚墓|馆长叶蔚然介绍了观众的人数|松江博物馆收藏的青铜爵是农民挖出的
    """,
    "town": "南水水库2008年动工|石桥水库开始向省城供水|西山隧道全长2.3公里|镇中学有学生820人|红旗镇政府公布了统计公报",
}


def quotations(text: str) -> list[str]:
    sentences = split_sentences(text)
    clauses = [clause for sentence in sentences for clause in re.split("[，,；;：:]", sentence)]
    return [*sentences, *map("".join, pairwise(sentences)), *clauses]


def accepted_quotation(statement: str, text: str) -> str:
    """Return the first quotation with which a judge makes the statement ◇ 有据; ✓ if the rules have said so before."""
    source = SourceText(1, text, is_full=True)
    citation = JudgedCitation((0, 0), statement, check_statement(statement, source), source)
    if citation.check.verdict is Verdict.SUPPORTED:
        return "✓"
    if not citation.is_open:
        return ""
    for quotation in quotations(text):
        told = accept_verdict(citation, ModelVerdict(True, quotation))
        if told is not None and told.verdict is Verdict.SUPPORTED:
            return quotation
    return ""


def listed(statements: dict[str, str]) -> list[tuple[str, str]]:
    return [
        (page, f"{statement.strip()}。")
        for page, lines in statements.items()
        for statement in lines.strip().replace("\n", "|").split("|")
    ]


@pytest.mark.parametrize("kind", [NUMBERS, DATES, NAMES], ids=["numbers", "dates", "names"])
def test_no_quotation_makes_a_changed_value_or_name_supported(kind: dict[str, str]) -> None:
    pairs = listed(kind)
    assert len(pairs) >= 30
    accepted = {statement: found for page, statement in pairs if (found := accepted_quotation(statement, PAGES[page]))}
    assert not accepted


FAITHFUL = {
    "town": """
        青岚镇的农村人口有2.7万人，城镇人口有1.9万人：农村人口2.7万人|粮食全年的产量达到8.2万吨：粮食产量|全镇财政的支出为4.1亿元：支出4.1亿元|镇中心小学的学生有820人：镇中心小学|石桥水库在2008年开工：石桥水库
        水库的库容达960万立方米：库容|南山隧道的长度为2.3公里：南山隧道|北山隧道的长度有1.7公里：北山隧道|镇卫生院设有120张床位：床位120张|去年改造了214户危房：危房|全年的水果产量为1.3万吨：水果|镇中学的教师有71人：镇中学
    """,
    "company": """
        云帆船厂1956年由木匠顾长河创办于白沙渡：创办|1983年变为股份公司：1983年|顾长河的孙女顾明漪是现任董事长：现任董事长|远洋运输集团是公司最大的客户：最大的客户|蓝鲸渔业是第二大客户：第二大客户
        公司在去年6月向东洲航运交付了三艘货轮：东洲航运|子公司海燕机械今年1月与德国布伦纳公司签署了合作协议：合作协议|布伦纳公司提供发动机：发动机|焊接车间位于白沙渡，试航基地位于鹿角湾：焊接车间
        副总经理孟跃在2019年9月辞职，转到了星辰重工工作：孟跃|职工自己管理工厂食堂：食堂|罗开宇是总经理：总经理
    """,
    "museum": """
        古文字学家潘仲文释读了铭文：铭文|博物馆新馆由建筑师叶蔚然负责设计：叶蔚然|建筑师叶蔚然设计了博物馆新馆：叶蔚然|新馆2011年5月动工，2014年10月落成：建成|漆木屏风曾于1992年在巴黎展览：巴黎|第二季度的观众为25万人次：第二季度
        学生票的价格为15元：学生票|博物馆每周二不收门票：每周二|修复组共有七人：修复组|语音导览提供汉语、英语和法语三种：语音导览|旧馆在2013年关门：旧馆|冯志远是从敦煌请来的组长：冯志远
    """,
}
"""Paraphrases, each with words of the sentence that says it."""


def test_faithful_paraphrases_are_accepted_with_the_sentence_that_says_them() -> None:
    pairs = [(page, *line.rstrip("。").split("：")) for page, line in listed(FAITHFUL)]
    left_open = accepted = 0
    for page, statement, words in pairs:
        quotation = accepted_quotation(f"{statement}。", PAGES[page])
        left_open += quotation != "✓"
        if quotation not in {"", "✓"}:
            accepted += 1
            assert words in quotation, statement
    assert left_open >= 20
    assert accepted >= left_open / 2
