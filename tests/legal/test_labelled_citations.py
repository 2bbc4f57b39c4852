"""法条核验 on a labelled set that is made from the library itself. The real laws' share is in test_shared.py and `make bench`."""

from __future__ import annotations

from collections import Counter

import pytest

from core.legal.library.index import LegalIndex, LegalLibrary
from core.legal.verify import Author, Verifier
from support import invented
from support.labelled_citations import AGREES, Labelled, false_green, labelled, qualities, real_prose, said_of

CABLEWAYS = (
    "缆车的建造应当征得山下居民同意，并留出三个月的公示时间。\n居民可以推举代表参加验收。",
    "缆车满五年应当更换钢索，更换期间不得载客。",
    "经营者可以在大风时停运，但是必须提前一个小时通知乘客。\n停运超过两个小时的，应当退还票款。",
    "乘客不得在车厢内站立跳跃或者向窗外抛掷物品。",
    "违反前款规定造成损失的，行为人应当在十日内赔偿。\n无力赔偿的，可以分三次付清。\n赔偿不影响追究其他责任。",
    "山区主管部门禁止无证人员操作缆车，并且每个季度检查一次。",
)
OLD_CABLEWAYS = tuple(text.replace("应当", "须").replace("五年", "八年") for text in CABLEWAYS)
BALLOONS = (
    "热气球升空前，操作员必须检查燃料，并且登记同行人数。",
    "热气球可以在日出后两个小时内升空，起风后不得升空。\n风力由气象站在当天清晨公布。",
    "操作员应当持有六个月内的体检证明。",
    "落地地点偏离计划的，应当在三日内向航空俱乐部说明理由。",
    "任何人不得在居民区上空抛掷压舱物，违者禁止飞行一年。",
)
POTTERY = (
    "陶艺馆应当每年公开两次馆藏目录，并接受捐赠人查询。",
    "捐赠人可以指定陶器的展出地点，但是不得要求长期展出。",
    "修复陶器使用的泥料必须阴干三个月以上。",
    "馆长任期四年，可以连任一次。\n任期届满应当移交全部钥匙。",
)
COURT = (
    "游客依据缆车法第三条请求退还票款的，人民法院应予支持。",
    "缆车法第五条所称损失，包括误工的损失。依照本规定第一条处理的除外。",
    "热气球法第二条规定的风力，以气象站公布的为准。",
)


def law(name: str, kind: str, published: str, texts: tuple[str, ...]) -> dict[str, object]:
    articles = [{"number": str(number), "text": text} for number, text in enumerate(texts, 1)]
    return {"name": name, "kind": kind, "published": published, "effective": published, "articles": articles}


LAWS = (
    law("中华人民共和国缆车法", "法律", "2003-03-03", OLD_CABLEWAYS),
    law("中华人民共和国缆车法", "法律", "2013-03-03", CABLEWAYS),
    law("中华人民共和国热气球法", "法律", "2011-01-01", BALLOONS),
    law("陶艺馆管理条例", "行政法规", "2014-04-04", POTTERY),
    law("最高人民法院关于审理缆车和热气球纠纷案件的规定", "司法解释", "2020-02-02", COURT),
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> LegalLibrary:
    folder = tmp_path_factory.mktemp("labelled")
    return invented.library(folder / "data", invented.jsonl(folder / "laws.jsonl", *LAWS))


@pytest.fixture(scope="module")
def index(library: LegalLibrary) -> LegalIndex:
    index = library.index()
    assert index is not None
    return index


@pytest.fixture(scope="module")
def said(library: LegalLibrary, index: LegalIndex) -> list[tuple[Labelled, str]]:
    return [(one, said_of(Verifier(library), one)) for one in labelled(index, of_each=30)]


def test_every_kind_is_there(said: list[tuple[Labelled, str]]) -> None:
    kinds = Counter(one.kind for one, _ in said)
    assert len(kinds) == 21
    assert sum(kinds.values()) >= 600


def test_what_is_wrong_is_never_green(said: list[tuple[Labelled, str]]) -> None:
    assert false_green(said) == 0
    assert any(label == AGREES for _, label in said)


def test_each_label_is_given_to_those_that_deserve_it(said: list[tuple[Labelled, str]]) -> None:
    for label, quality in qualities(said).items():
        assert min(quality.precision, quality.recall) >= 0.98, [one for one in said if label in (one[0].label, one[1])]


def test_courts_that_cite_the_law_in_force_are_not_called_wrong(library: LegalLibrary, index: LegalIndex) -> None:
    assert all(verdict.mark in "✓○" for _, verdict in real_prose(Verifier(library), index, Author.PERSON))
