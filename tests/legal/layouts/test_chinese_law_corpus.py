"""chinese-law-corpus: which of its texts and dates are believed, and what a case keeps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.legal.article_numbers import ArticleNumber
from core.legal.entities import CaseType, CourtCase, Law, LawKind
from core.legal.layouts import corpora
from core.legal.layouts.items import Item, Skipped
from support import invented


def article(number: int, text: str, *path: str) -> dict[str, Any]:
    return {"articleNumber": number, "displayNumber": str(ArticleNumber(number)), "path": list(path), "text": text}


LAW: dict[str, Any] = {
    "title": "中华人民共和国灯塔法",
    "category": "法律",
    "issuingAuthority": "灯塔代表大会",
    "promulgationDate": "2018-12-29",
    "effectiveDate": "2019-01-01",
    "status": "effective",
    "articles": [
        article(1, "守塔人有权在值班期间按照本法的规定使用\n灯塔的全部设备。\n另一款。", "第一章总则"),
        article(2, "有下列情形之一的，守塔人应当立即向灯塔管理机构报告\n（一）灯灭\n（二）起雾", "第二章守塔"),
        article(3, "本法自1995年1月1日起施行。\n附：\n灯塔税目税率表\n不超过2000净吨，但不超过10000净吨的船\n12.6"),
    ],
}
GUIDING: dict[str, Any] = {
    "number": 14,
    "title": "甲某、乙某盗灯案",
    "issuedLine": "（最高人民法院审判委员会讨论通过 2013年1月31日发布）",
    "publishedAt": "2013-02-07",
    "keywords": ["刑事", "盗灯"],
    "gist": ["未成年的盗灯人可以缓刑。"],
    "facts": ["甲某盗灯。"],
    "result": ["海角市中级人民法院于2011年5月10日作出（2011）海刑初字第29号刑事判决：缓刑三年。"],
    "reasoning": ["甲某年幼。"],
    "relatedLaws": ["《中华人民共和国刑法》第七十二条第二款"],
    "sourceUrl": "https://www.court.gov.cn/shenpan/xiangqing/13320.html",
}
GAZETTE: dict[str, Any] = {
    "title": "甲公司诉乙灯塔股权转让合同纠纷案",
    "issueYear": 2005,
    "issueNo": 2,
    "caseNumber": "（2003）民二终字第143号",
    "court": "最高人民法院",
    "docType": "判决书",
    "body": [
        "最高人民法院民事判决书",
        "（2003）民二终字第143号",
        "上诉人：丙某，男，1963年5月6日出生，住海角市灯塔路1号。",
        "原审法院审理查明：灯\u0012塔已经出卖。",
        "本院认为：应当返还。判决如下：",
        "一、返还灯塔；",
        "二、驳回其他请求。",
        "审 判 长 徐某",
        "二〇〇三年十一月七日",
        "书记员 孔某",
        "［审判长简介］",
        "徐某高级法官：1963年出生。",
    ],
    "sourceUrl": "http://gongbao.court.gov.cn/Details/42.html",
}


def corpus(root: Path, **files: object) -> Path:
    """A corpus of these records; `laws__a` is laws/a.json. A string is written as it is."""
    for name, record in {"laws__index": [{"slug": "a"}], **files}.items():
        folder, _, stem = name.partition("__")
        path = root / folder.replace("_", "-") / f"{stem}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(record if isinstance(record, str) else json.dumps(record), "utf-8")
    return root


def read(source: Path) -> list[Item]:
    survey = corpora.survey(source)
    assert survey.name == "chinese-law-corpus"
    return list(corpora.read(source, survey))


def law(root: Path, **fields: object) -> Item:
    (item,) = read(corpus(root, laws__a=LAW | fields))
    return item


def case(root: Path, folder: str, record: object) -> CourtCase:
    (item,) = read(corpus(root, **{f"{folder}__a": record}))
    assert isinstance(item, CourtCase)
    return item


def test_a_law_with_the_dates_of_its_latest_amendment(tmp_path: Path) -> None:
    found = law(tmp_path)
    assert isinstance(found, Law)
    assert (found.name, found.kind, found.issuer) == ("中华人民共和国灯塔法", LawKind.STATUTE, "灯塔代表大会")
    assert (found.published, found.effective, found.repealed) == ("2018-12-29", "2019-01-01", False)
    assert found.articles[0].path == ("第一章 总则",)
    assert found.source == "chinese-law-corpus：a.json"


def test_a_sentence_that_was_broken_is_one_line_again_but_items_and_tables_stay(tmp_path: Path) -> None:
    found = law(tmp_path)
    assert isinstance(found, Law)
    first, second, last = (one.text.splitlines() for one in found.articles)
    assert first == ["守塔人有权在值班期间按照本法的规定使用灯塔的全部设备。", "另一款。"]
    assert second[1:] == ["（一）灯灭", "（二）起雾"]
    assert last[1:] == ["附：", "灯塔税目税率表", "不超过2000净吨，但不超过10000净吨的船", "12.6"]


def test_a_text_that_is_not_in_force_is_not_the_law_of_today(tmp_path: Path) -> None:
    found = law(tmp_path, status="2")
    assert isinstance(found, Skipped)
    assert "不是现行文本" in found.reason


@pytest.mark.parametrize("numbers", [(4, 5, 169, 204), (1, 2, 1), (1, 2, 40), (2, 3)])
def test_a_document_that_was_cut_at_the_articles_of_its_annexes_is_skipped(
    tmp_path: Path, numbers: tuple[int, ...]
) -> None:
    found = law(tmp_path, articles=[article(number, "条文。") for number in numbers])
    assert isinstance(found, Skipped)
    assert "条号不连续" in found.reason


def test_an_inserted_article_is_no_gap(tmp_path: Path) -> None:
    inserted = article(1, "插入。") | {"displayNumber": "第一条之一"}
    found = law(tmp_path, articles=[article(1, "一。"), inserted, article(2, "二。")])
    assert isinstance(found, Law)
    assert [one.number for one in found.articles] == [(1, 0), (1, 1), (2, 0)]


def test_an_edition_of_the_constitution_is_a_version_of_it(tmp_path: Path) -> None:
    found = law(tmp_path, title="中华人民共和国宪法（2018年修正文本）")
    assert isinstance(found, Law)
    assert (found.name, found.kind) == ("中华人民共和国宪法", LawKind.CONSTITUTION)


def test_a_guiding_case(tmp_path: Path) -> None:
    found = case(tmp_path, "guiding_cases", GUIDING)
    assert (found.name, found.number, found.source) == ("甲某、乙某盗灯案", "指导性案例14号", "指导性案例")
    assert (found.court, found.date, found.type) == ("海角市中级人民法院", "2011-05-10", CaseType.CRIMINAL)
    assert (found.gist, found.summary) == ("未成年的盗灯人可以缓刑。", "甲某盗灯。")
    for words in ("2013年1月31日发布", "相关法条\n《中华人民共和国刑法》第七十二条第二款", "裁判理由\n甲某年幼。"):
        assert words in found.text


def test_a_judgment_of_the_gazette(tmp_path: Path) -> None:
    found = case(tmp_path, "gazette_cases", GAZETTE)
    assert (found.number, found.court, found.date) == ("（2003）民二终字第143号", "最高人民法院", "2003-11-07")
    assert (found.type, found.source) == (CaseType.CIVIL, "最高人民法院公报2005年第2期")
    assert found.verdict == "一、返还灯塔；\n二、驳回其他请求。"
    assert found.summary == "原审法院审理查明：灯塔已经出卖。"  # nor birth dates nor addresses, nor control characters
    assert "简介" not in found.text
    assert "高级法官" not in found.text


def test_without_a_number_the_heading_tells_the_type(tmp_path: Path) -> None:
    heading = ["最高人民法院行政判决书", "经审理查明：灯灭。"]
    found = case(tmp_path, "gazette_cases", GAZETTE | {"caseNumber": "", "body": heading})
    assert (found.number, found.type, found.date, found.verdict) == (None, CaseType.ADMINISTRATIVE, None, None)


BROKEN: dict[str, object] = {
    "not_json": "{",
    "nested": "[" * 100_000,
    "list": "[]",
    "number": "3",
    "no_title": {**LAW, "title": None},
    "blank_title": {**LAW, "title": " "},
    "long_title": {**LAW, "title": "灯" * 1_000_000},
    "articles_a_string": {**LAW, "articles": "第一条"},
    "no_articles": {**LAW, "articles": []},
    "path_a_string": {**LAW, "articles": [{**article(1, "一。"), "path": "第一章"}]},
    "text_a_number": {**LAW, "articles": [{**article(1, "一。"), "text": 3}]},
    "huge_number": {**LAW, "articles": [{**article(1, "一。"), "displayNumber": "第99999999999999999999条"}]},
    "unknown_category": {**LAW, "category": "诗"},
}
BROKEN_CASES: dict[str, object] = {
    "number_a_word": {**GUIDING, "number": "十四"},
    "number_huge": {**GUIDING, "number": 10**400},
    "gist_a_string": {**GUIDING, "gist": "要点"},
    "url_a_list": {**GUIDING, "sourceUrl": ["x"]},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_law_costs_only_itself(tmp_path: Path, name: str) -> None:
    found = read(corpus(tmp_path, laws__broken=BROKEN[name], laws__good=LAW, gazette_cases__good=GAZETTE))
    assert [(type(one), one.path) for one in found if isinstance(one, Skipped)] == [(Skipped, "laws/broken.json")]
    assert {type(one) for one in found} == {Skipped, Law, CourtCase}


@pytest.mark.parametrize("name", BROKEN_CASES)
def test_a_broken_case_costs_only_itself(tmp_path: Path, name: str) -> None:
    found = read(corpus(tmp_path, guiding_cases__broken=BROKEN_CASES[name], guiding_cases__good=GUIDING))
    assert [type(one) for one in found] == [Skipped, CourtCase]


def test_infinity_is_no_year(tmp_path: Path) -> None:
    (found,) = read(corpus(tmp_path, gazette_cases__a=json.dumps(GAZETTE | {"issueYear": float("inf")})))
    assert isinstance(found, Skipped)


def test_an_archive_with_a_folder_on_top(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "folder", laws__a=LAW, guiding_cases__a=GUIDING)
    (tmp_path / "folder" / "README.md").write_text("# 说明", "utf-8")
    assert len(read(invented.packed(folder, tmp_path / "corpus.zip"))) == 2


@pytest.mark.shared
def test_the_samples(shared: Path) -> None:
    samples = shared / "data/legal/samples/chinese-law-corpus"
    if not samples.is_dir():
        pytest.skip("the samples of chinese-law-corpus are not here")
    found = read(samples)
    dates = {one.name: (one.published, one.effective) for one in found if isinstance(one, Law)}
    assert dates["中华人民共和国居民身份证法"] == ("2011-10-29", "2012-01-01")  # its last article says 2004
    identity_cards = next(one for one in found if isinstance(one, Law) and "身份证" in one.name)
    assert "有权使用居民身份证" in identity_cards.articles[12].text
    assert [one.path for one in found if isinstance(one, Skipped)] == ["laws/sfjs-94041b8c62.json"]
    numbers = {one.number: one.type for one in found if isinstance(one, CourtCase)}
    assert numbers == {
        "指导性案例9号": CaseType.CIVIL,
        "指导性案例14号": CaseType.CRIMINAL,
        "指导性案例260号": CaseType.CIVIL,
    }
