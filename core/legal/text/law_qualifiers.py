"""Qualifiers of a law's name: another country, a city, an earlier year, a draft, or no law at all."""

from __future__ import annotations

import re
from typing import NamedTuple

from core.base.chinese.script import plain
from core.base.text import HAN

_PLACES = (
    "美国 英国 法国 德国 日本 韩国 朝鲜 俄罗斯 前苏联 苏联 意大利 西班牙 葡萄牙 荷兰 比利时 卢森堡 瑞士 奥地利 瑞典 挪威 丹麦 芬兰 冰岛 爱尔兰 "
    "波兰 捷克 匈牙利 罗马尼亚 保加利亚 希腊 土耳其 乌克兰 白俄罗斯 加拿大 墨西哥 巴西 阿根廷 智利 秘鲁 哥伦比亚 澳大利亚 新西兰 印度 印度尼西亚 "
    "印尼 巴基斯坦 孟加拉国 斯里兰卡 越南 泰国 老挝 柬埔寨 缅甸 马来西亚 新加坡 菲律宾 文莱 蒙古国 哈萨克斯坦 乌兹别克斯坦 伊朗 伊拉克 以色列 "
    "沙特 沙特阿拉伯 阿联酋 埃及 南非 尼日利亚 肯尼亚 埃塞俄比亚 欧盟 欧共体 欧洲 台湾 香港 澳门 台湾省 中华民国 民国 北洋政府 大清 清朝 "
    "加州 加利福尼亚 纽约州 特拉华州 外国 他国 该国 各国 两国 国外 域外 境外"
)
_PLACE = "|".join(sorted(_PLACES.split(), key=len, reverse=True))
_OF_A_PLACE = rf"(?:{_PLACE})(?:联邦|人民|民主|共和国|王国|地区|特别行政区|政府|国)*"
_ABROAD_BEFORE = re.compile(rf"(?:我国|中国)?{_OF_A_PLACE}(?:的|现行)*[“\"「]?$")
_BEGINS_ABROAD = re.compile(_OF_A_PLACE)

_LOCAL_BEFORE = re.compile(rf"[{HAN}]{{1,9}}(?:省|市|自治区|自治州|自治县|县|区|旗|经济特区|新区)的?$")
_BEGINS_LOCAL = re.compile(rf"[{HAN}]{{1,9}}?(?:省|市|自治区|自治州|自治县|县|区|旗)")
_INTRODUCES = re.compile(r".*(?:根据|依据|依照|按照|参照|违反|适用|符合|依|按|和|与|及|或|在|的|、)")
_MAY_BE_LOCAL = re.compile(r"(?:条例|规定|办法|细则|规则|决定)$")

_DRAFT = re.compile(r"草案|征求意见稿|送审稿|建议稿|审议稿|专家稿|讨论稿")
_NOT_A_LAW = re.compile(
    r"(?:合同|合同书|协议|协议书|章程|规划|规划纲要|纲要|方案|计划|标准|规范|规程|规约|指南|白皮书|承诺书|意向书|说明书|通知书|判决书|裁定书"
    r"|申请书|须知|保险单|条款|管理制度|手册)(?:\([^()]*\))?$"
)

_YEAR = r"(?P<year>(?:19|20)\d\d)\s*年?\s*(?:\d{1,2}\s*月\s*)?(?:\d{1,2}\s*日\s*)?"
_MADE = r"(?:第[一二三四五六七八]次)?(?P<made>修正|修订|修改|公布|颁布|通过|版|文本|年版)*"
_IN_BRACKETS = re.compile(rf"{_YEAR}{_MADE}本?")
_FORMER = re.compile(r"旧|(?<![古养])老|(?<![还草平高中复])原|(?:修订|修正|修改)前的?")
_EDITION_BEFORE = re.compile(rf"(?<!\d)(?:(?:{_YEAR}{_MADE}|{_FORMER.pattern})(?:的|施行的|实施的)?)$")


class Edition(NamedTuple):
    """Version of a law that a text names."""

    words: str
    year: int = 0
    is_year_made: bool = False
    """True if the law was made, amended or published in that year, else it was in force then."""
    is_draft: bool = False


def place_before(words: str, name: str) -> str:
    """Return the country, region or city right before a name: 德国, 我国台湾地区, 北京市."""
    if abroad := _ABROAD_BEFORE.search(words):
        return abroad[0]
    local = _LOCAL_BEFORE.search(words) if _MAY_BE_LOCAL.search(name) else None
    return _INTRODUCES.sub("", local[0]) if local else ""


def is_abroad(name: str) -> bool:
    return bool(_BEGINS_ABROAD.match(name.removeprefix("我国").removeprefix("中国")))


def is_local(name: str) -> bool:
    """Return whether a name begins with a place, as 北京市物业管理条例 does."""
    return bool(_MAY_BE_LOCAL.search(name)) and bool(_BEGINS_LOCAL.match(name))


def is_not_a_law(name: str) -> bool:
    return bool(_NOT_A_LAW.search(name))


def edition_before(words: str) -> Edition | None:
    """Return the edition at the end of the words before a name: 2018年《公司法》, 1979年刑法, 旧刑法."""
    return _edition(_EDITION_BEFORE.search(words))


def edition_in_brackets(brackets: str) -> Edition | None:
    """Return the edition in brackets: （2018年修正）, （草案）."""
    if _DRAFT.search(brackets):
        return Edition(brackets, is_draft=True)
    return _edition(_IN_BRACKETS.fullmatch(brackets.strip()))


def edition_of_name(name: str) -> Edition | None:
    """Return the edition at the end of a name: 《公司法（2018年修正）》."""
    brackets = re.search(r"[(（]([^()（）]*)[)）]$", name)
    return edition_in_brackets(plain(brackets[1])) if brackets else None


def _edition(match: re.Match[str] | None) -> Edition | None:
    return Edition(match[0], int(match["year"] or 0), bool(match["made"])) if match else None
