"""法条核验 tells which law: whose, of which year, and what is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.legal.verify import ABROAD, DRAFT, OTHER_EDITION, Author, StatuteFinding, StatuteMark, Verifier
from support import invented

LIGHTHOUSE = "中华人民共和国灯塔法"


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> Verifier:
    folder = tmp_path_factory.mktemp("which")
    numbered = {
        "name": "最高人民法院关于适用《中华人民共和国灯塔法》若干问题的规定（三）",
        "kind": "司法解释",
        "published": "2022-01-01",
        "articles": [{"number": "1", "text": "塔主应当修塔。"}, {"number": "2", "text": "塔主可以卖塔。"}],
    }
    local = {
        "name": "灯塔管理条例",
        "kind": "行政法规",
        "published": "2021-01-01",
        "articles": [{"number": "1", "text": "塔边不得钓鱼。"}],
    }
    own_place = {
        "name": "中华人民共和国香港特别行政区灯塔法",
        "kind": "法律",
        "published": "1997-07-01",
        "articles": [{"number": "1", "text": "港口设灯。"}],
    }
    more = invented.jsonl(folder / "a.jsonl", numbered, local, own_place)
    return Verifier(invented.library(folder / "data", invented.lawrefbook(folder / "laws"), more))


def only(verifier: Verifier, text: str, by: Author = Author.MODEL) -> StatuteFinding:
    (verdict,) = verifier.verify(text, by)
    return verdict


# ── Whose ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "德国灯塔法第三条规定，守塔人应当在日落前点灯。",
        "日本国灯塔法第3条",
        "《法国灯塔法》第三条",
        "英国《灯塔法》第三条",
        "美国的灯塔法第一条",
        "台湾灯塔法第三条",
        "我国台湾地区“灯塔法”第三条",
        "澳门灯塔法第1条",
        "俄罗斯联邦灯塔法第三条",
        "欧盟《灯塔管理条例》第一条",
        "中美两国灯塔法第三条",
        "德國燈塔法第三條",
    ],
)
def test_another_countrys_law_is_not_ours(verifier: Verifier, text: str) -> None:
    verdict = only(verifier, text)
    assert (verdict.mark, verdict.meaning, verdict.text) == (StatuteMark.UNKNOWN, ABROAD, None)


@pytest.mark.parametrize(
    "text",
    [
        "美国公民依据我国灯塔法第三条",
        "德国公司违反灯塔法第三条",
        "我国灯塔法第三条",
        "中国灯塔法第三条",
        "《我国灯塔法》第三条",
        "现行灯塔法第三条",
        "《新灯塔法》第三条",
    ],
)
def test_ours_is_ours(verifier: Verifier, text: str) -> None:
    verdict = only(verifier, text)
    assert (verdict.mark, verdict.law_name, verdict.note) == (StatuteMark.EXISTS, LIGHTHOUSE, "")


def test_a_law_of_ours_about_a_place_is_known(verifier: Verifier) -> None:
    assert only(verifier, "香港特别行政区灯塔法第一条").law_name == "中华人民共和国香港特别行政区灯塔法"


def test_that_law_goes_on_being_the_other_countrys(verifier: Verifier) -> None:
    verdicts = verifier.verify("德国灯塔法第三条要求点灯。该法第二条要求看守。")
    assert [verdict.meaning for verdict in verdicts] == [ABROAD, ABROAD]


@pytest.mark.parametrize("place", ["北京市", "广东省", "深圳经济特区", "本市"])
def test_a_citys_rules_are_not_the_national_ones(verifier: Verifier, place: str) -> None:
    verdict = only(verifier, f"根据{place}灯塔管理条例第一条")
    assert (verdict.mark, verdict.law_name) == (StatuteMark.UNKNOWN, f"{place}灯塔管理条例")
    assert verdict.meaning == StatuteMark.UNKNOWN.meaning


def test_a_city_that_merely_stands_near_changes_nothing(verifier: Verifier) -> None:
    assert only(verifier, "塔在北京市，根据灯塔管理条例第一条").mark is StatuteMark.EXISTS


# ── Which version ─────────────────────────────────────────────────────────────────────────────────────────────────

OLD = "灯塔由守塔人看守，旧规定。"


@pytest.mark.parametrize(
    "named",
    [
        "《灯塔法》（2010年公布）",
        "《灯塔法（2010年）》",
        "灯塔法（2010年版）",
        "2010年《灯塔法》",
        "2010年灯塔法",
        "2015年灯塔法",
        "灯塔法（2010 年公布）",
        "2010 年《灯塔法》",
        "2010 年灯塔法",
        "旧灯塔法",
        "原《灯塔法》",
        "修订前的《灯塔法》",
    ],
)
def test_a_named_version_is_the_one_that_is_compared(verifier: Verifier, named: str) -> None:
    verdict = only(verifier, f"{named}第二条规定：“{OLD}”")
    assert (verdict.mark, verdict.published) == (StatuteMark.AGREES, "2010-05-01")
    assert verdict.note == "按2010-05-01公布的版本核验，不是现行文本。"
    assert verdict.cited.startswith(named)


def test_what_another_version_says_is_not_what_the_named_one_says(verifier: Verifier) -> None:
    assert (
        only(verifier, "《灯塔法》（2020年修正）第二条规定：“灯塔由守塔人看守，旧规定。”").mark is StatuteMark.DIFFERS
    )
    assert only(verifier, "2010年《灯塔法》第三条规定：“守塔人应当在日落前点灯。”").mark is StatuteMark.DIFFERS
    missing = only(verifier, "2010年《灯塔法》第五条")
    assert (missing.mark, missing.note) == (
        StatuteMark.MISSING,
        "按2010-05-01公布的版本核验，不是现行文本。全文共三条。",
    )


@pytest.mark.parametrize("text", ["1979年灯塔法第二条", "《灯塔法》(2015年修正)第二条", "旧浮标法第二条"])
def test_a_version_that_the_library_does_not_hold(verifier: Verifier, text: str) -> None:
    verdict = only(verifier, text)
    assert (verdict.mark, verdict.meaning) == (StatuteMark.UNKNOWN, OTHER_EDITION)
    assert verdict.note.startswith("库中只有")


def test_an_unnamed_older_version_is_not_called_wrong(verifier: Verifier) -> None:
    """旧刑法 may be older than anything in the library."""
    verdict = only(verifier, "旧灯塔法第二条规定：“灯塔由猫看守，猫不得睡觉。”")
    assert (verdict.mark, verdict.meaning) == (StatuteMark.UNKNOWN, OTHER_EDITION)


def test_an_older_version_with_small_changes_is_not_the_old_law(tmp_path: Path) -> None:
    """旧刑法 is that of 1979, not the text before the last amendment."""
    texts = [f"第{number}种灯，由守塔人看守，每日点亮。" for number in range(1, 11)]

    def lamps(published: str, first: str) -> dict[str, object]:
        articles = [{"number": str(number), "text": text} for number, text in enumerate([first, *texts], 1)]
        return {"name": "灯刑法", "kind": "法律", "published": published, "articles": articles}

    laws = lamps("2020-01-01", "盗灯的，处罚款。"), lamps("2023-01-01", "盗灯的，处拘留。")
    verifier = Verifier(invented.library(tmp_path / "data", invented.jsonl(tmp_path / "a.jsonl", *laws)))
    found = only(verifier, "旧灯刑法第二条")
    assert (found.mark, found.meaning, found.text) == (StatuteMark.UNKNOWN, OTHER_EDITION, None)


def test_a_year_that_belongs_to_something_else_names_no_version(verifier: Verifier) -> None:
    assert only(verifier, "2010年，双方签约。根据《灯塔法》第三条").published == "2020-08-08"
    assert only(verifier, "还原灯塔法第三条的本意").published == "2020-08-08"


# ── What is no law ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "《灯塔法（草案）》第三条",
        "《灯塔法》（草案）第三条",
        "《灯塔法（征求意见稿）》第三条",
        "《灯塔法》（二次审议稿）第三条",
    ],
)
def test_a_draft_is_no_law(verifier: Verifier, text: str) -> None:
    verdict = only(verifier, text)
    assert (verdict.mark, verdict.meaning) == (StatuteMark.UNKNOWN, DRAFT)


@pytest.mark.parametrize(
    "name",
    [
        "灯塔公司章程",
        "灯塔租赁合同",
        "股东协议",
        "灯塔发展规划",
        "灯塔建设方案",
        "GB 50016 灯塔设计防火规范",
        "灯塔涂料标准",
    ],
)
def test_contracts_plans_and_standards_are_not_looked_up(verifier: Verifier, name: str) -> None:
    assert verifier.verify(f"依照《{name}》第三条") == []


# ── How laws are named ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "law"),
    [
        ("“灯塔法”第三条", LIGHTHOUSE),
        ("〈灯塔法〉第三条", LIGHTHOUSE),
        ("《灯塔法》第二章第三条", LIGHTHOUSE),
        ("《灯塔法》中的第三条", LIGHTHOUSE),
        ("《灯塔法》\n第三条", LIGHTHOUSE),
        (
            "最高人民法院《关于审理灯塔纠纷案件适用法律若干问题的规定》第一条",
            "最高人民法院关于审理灯塔纠纷案件适用法律若干问题的规定",
        ),
        ("灯塔法解释三第一条", "最高人民法院关于适用《中华人民共和国灯塔法》若干问题的规定（三）"),
        ("灯塔法司法解释（三）第一条", "最高人民法院关于适用《中华人民共和国灯塔法》若干问题的规定（三）"),
    ],
)
def test_names_as_people_write_them(verifier: Verifier, text: str, law: str) -> None:
    verdict = only(verifier, text)
    assert (verdict.mark, verdict.law_name) == (StatuteMark.EXISTS, law)


def test_that_interpretation_is_the_last_interpretation(verifier: Verifier) -> None:
    said = "灯塔法解释三第一条说修塔，《灯塔法》第三条说点灯，该解释第二条说卖塔，该法第二条说看守。"
    assert [(one.law_name[-3:], one.article_number) for one in verifier.verify(said)] == [
        ("（三）", "第一条"),
        ("灯塔法", "第三条"),
        ("（三）", "第二条"),
        ("灯塔法", "第二条"),
    ]
    assert len(verifier.verify("《灯塔法》第三条说点灯，该解释第二条说卖塔。")) == 1


def test_this_rule_is_a_rule_and_not_the_law_that_was_named_last(verifier: Verifier) -> None:
    """本规定 of a text whose title is not shown: nothing is looked up, least of all in 灯塔法."""
    assert [one.law_name for one in verifier.verify("适用灯塔法第三条和本规定第二十条。")] == [LIGHTHOUSE]
    assert len(verifier.verify("适用灯塔法第三条，《解释》第二条除外。")) == 1
    said = "灯塔法解释三第一条说修塔，《灯塔法》第三条说点灯，本解释第二条说卖塔。"
    assert verifier.verify(said)[-1].law_name.endswith("（三）")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("《灯塔发》", LIGHTHOUSE),
        ("灯塔发", LIGHTHOUSE),
        ("《中华人民共和国灯塔法法》", LIGHTHOUSE),
        ("燈塔發", LIGHTHOUSE),
        ("海灯法點", "中华人民共和国海灯法典"),
        ("《灯塔管里条例》", "灯塔管理条例"),
    ],
)
def test_a_misspelt_law_is_asked_back(verifier: Verifier, written: str, meant: str) -> None:
    verdict = only(verifier, f"依照{written}第一条处理。")
    assert (verdict.mark, verdict.text, verdict.note) == (StatuteMark.UNKNOWN, None, f"是否指《{meant}》？")


@pytest.mark.parametrize("name", ["矿灯法", "月光促进法", "北京市灯塔管理条例", "德国灯塔发展法"])
def test_another_name_is_not_a_misspelt_one(verifier: Verifier, name: str) -> None:
    assert only(verifier, f"依照《{name}》第一条处理。").note == ""


def test_an_article_in_the_title_of_what_is_cited_is_not_cited(verifier: Verifier) -> None:
    (verdict,) = verifier.verify("《关于适用灯塔法第三条几个问题的解释》第二条规定：“守塔人应当整夜唱歌不得睡觉。”")
    assert (verdict.mark, verdict.article_number) == (StatuteMark.UNKNOWN, "第二条")


def test_an_article_alone_is_of_the_law_that_was_just_named(verifier: Verifier) -> None:
    said = "《灯塔法》第三条要求点灯。第二条规定：“灯塔由猫看守，猫不得睡觉。”"
    _, second = verifier.verify(said)
    assert (second.cited, second.law_name, second.mark) == ("第二条", LIGHTHOUSE, StatuteMark.DIFFERS)


@pytest.mark.parametrize(
    "then",
    [
        "合同第二条另有约定。",
        "第九条也一样。",
        "\n第二条说的是别的。",
        "依据司法解释第二条。",
        "按双方的协议，第二条有效。",
    ],
)
def test_or_of_nothing_that_was_named(verifier: Verifier, then: str) -> None:
    assert len(verifier.verify(f"《灯塔法》第三条要求点灯。{then}")) == 1


def test_a_paragraph_that_an_older_version_had(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("older")
    versions = [
        {"name": "灯油法", "kind": "法律", "published": day, "articles": [{"number": "1", "text": text}]}
        for day, text in (("2001-01-01", "灯油要足。\n灯油要净。"), ("2011-01-01", "灯油要足。"))
    ]
    verifier = Verifier(invented.library(folder / "data", invented.jsonl(folder / "a.jsonl", *versions)))
    verdict = only(verifier, "《灯油法》第一条第二款")
    assert (verdict.mark, verdict.note) == (
        StatuteMark.NOT_IN_FORCE,
        "只见于2001-01-01公布的版本，现行条文没有这一款项。",
    )
    assert only(verifier, "《灯油法》第一条第三款").mark is StatuteMark.MISSING
