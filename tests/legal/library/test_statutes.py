"""Regulation search: names, articles in any notation, everyday words, references, and who answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.legal.errors import NoLegalIndex
from core.legal.library.index import LegalLibrary
from core.legal.library.statutes import RegulationService
from core.legal.text.paragraphs import excerpt, split_paragraphs
from core.search.errors import AllEnginesFailed, QueryError
from core.search.types import SearchQuery, SearchResponse, SearchResult
from support import invented


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> LegalLibrary:
    folder = tmp_path_factory.mktemp("regulation")
    return invented.library(folder / "data", invented.lawrefbook(folder / "laws"))


@pytest.fixture
def service(library: LegalLibrary) -> RegulationService:
    return RegulationService(library)


def web(query: str, limit: int) -> SearchResponse:
    page = SearchResult(title="灯塔法全文", url="https://law.example/x", snippet="第一条……", source="law.example")
    return SearchResponse(SearchQuery(query), (page,), provider="fake")


class TestByArticle:
    @pytest.mark.parametrize(
        "query",
        [
            "灯塔法第二条",
            "《中华人民共和国灯塔法》第2条",
            "灯塔法第２条",
            "灯塔法2条",
            "灯塔法 2",
            "灯塔法二",
            "第二条 灯塔法",
            "灯塔法（2020年修正）第二条",
            "灯塔法第二条第一款",
            "灯塔法的第二条",
            "燈塔法第二條",
            "《中華人民共和國燈塔法》第2條第一款",
            " 灯塔法\u3000第 2 条 ",
        ],
    )
    def test_any_notation(self, service: RegulationService, query: str) -> None:
        first = service.search(query).results[0]
        assert (first.law_name, first.article_number) == ("中华人民共和国灯塔法", "第二条")
        assert first.content.endswith("离岗的守塔人可以申请复核。")

    def test_suffix(self, service: RegulationService) -> None:
        for query in ("灯塔法第三条之一", "灯塔法第3条之1", "灯塔法3之一"):
            assert service.search(query).results[0].article_number == "第三条之一"

    def test_paragraph_and_item(self, service: RegulationService) -> None:
        first = service.search("灯塔法第二条第一款第（二）项").results[0]
        assert (first.paragraph, first.item, first.excerpt) == (1, 2, "（二）擅自熄灯的。")
        assert first.citation() == "《中华人民共和国灯塔法》第二条第一款第（二）项"

    def test_lists_and_ranges(self, service: RegulationService) -> None:
        numbers = [result.article_number for result in service.search("灯塔法第一条至第三条、第六条").results]
        assert list(dict.fromkeys(numbers)) == ["第一条", "第二条", "第三条", "第六条"]

    def test_other_versions_follow_where_their_words_differ(self, service: RegulationService) -> None:
        found = service.search("灯塔法第二条").results
        assert [(r.published, r.status.value if r.status else None) for r in found] == [
            ("2020-08-08", "有效"),
            ("2010-05-01", "已修改"),
        ]
        assert len(service.search("灯塔法第一条").results) == 1

    def test_no_such_article_is_said_and_not_looked_up_on_the_web(self, library: LegalLibrary) -> None:
        response = RegulationService(library, web).search("灯塔法第九十九条")
        assert (response.results, response.origin) == ((), "index")
        assert response.note == "没有这一条：《中华人民共和国灯塔法》共六条，没有第九十九条。"

    def test_a_repealed_law_is_not_taken_for_another(self, service: RegulationService) -> None:
        for query in ("灯笼法第三条", "灯笼法"):
            response = service.search(query)
            assert response.results[0].law_name == "中华人民共和国海灯法典"
            assert "废止" in response.note

    def test_a_question_about_an_article_brings_more_than_the_article(self, service: RegulationService) -> None:
        found = service.search("灯塔法第三条规定的点灯时间，守塔人忘了怎么办？").results
        assert found[0].article_number == "第三条"
        assert len(found) > 1


class TestByName:
    def test_a_name_brings_the_law_and_its_relatives(self, service: RegulationService) -> None:
        law, *others = service.search("灯塔法").results
        assert (law.law_name, law.article_number, law.article_count) == ("中华人民共和国灯塔法", None, 7)
        assert law.content == "共七条。第一章 总则；第二章 灯光"
        assert [other.law_name for other in others] == ["灯塔法实施条例"]

    def test_short_names(self, service: RegulationService) -> None:
        assert service.search("灯塔条例").results[0].law_name == "灯塔法实施条例"
        assert service.search("灯塔司法解释").results[0].law_name.startswith("最高人民法院")

    def test_words_in_a_title(self, service: RegulationService) -> None:
        assert service.search("雾号").results[0].law_name == "关于雾号问题的批复"


class TestByWords:
    def test_question(self, service: RegulationService) -> None:
        assert "夜班津贴" in service.search("请问夜班津贴什么时候发？").results[0].content

    def test_the_same_in_other_words_is_added_and_takes_nothing_away(self, service: RegulationService) -> None:
        own, chosen = "大雾的时候守塔人要鸣笛吗？", "浮标登记满五年重新登记"

        def first(asked: str, also: tuple[str, ...] = ()) -> str:
            return service.search(asked, other_wordings=also).results[0].citation()

        both = [one.citation() for one in service.search(chosen, other_wordings=(own,)).results[:3]]
        assert {first(own), first(chosen)} <= set(both)
        assert first(own, also=(own, "那第二种呢", "", "鸣笛" * 1_000)) == first(own)
        assert first("浮标法第二条", also=(own,)) == "《中华人民共和国浮标法》第二条"

    def test_a_special_rule_brings_the_general_one_that_it_names(self, tmp_path: Path) -> None:
        """前条, 本法第几条 and another law's; nothing of the question stands in them."""
        lamps = [
            {"number": "第一条", "text": "一切行为应当诚信。"},
            {"number": "第二条", "text": "违约者赔偿损失。"},
            {"number": "第三条", "text": "浮标漂走的，依照前条、本法第一条和《海港法》第七条处理。"},
        ]
        port = [{"number": "第七条", "text": "船长承担费用。"}]
        laws = ({"name": "灯塔法", "articles": lamps}, {"name": "海港法", "articles": port})
        found = RegulationService(invented.library(tmp_path, invented.jsonl(tmp_path / "laws.jsonl", *laws))).search(
            "浮标漂走了"
        )
        first, *others = [one.citation() for one in found.results]
        assert first == "《灯塔法》第三条"
        assert sorted(others) == ["《海港法》第七条", "《灯塔法》第一条", "《灯塔法》第二条"]

    def test_limit(self, service: RegulationService) -> None:
        assert len(service.search("守塔人点灯怎么办", limit=2).results) == 2

    @pytest.mark.parametrize("query", ["", "  ", "\u200b"])
    def test_nothing_asked(self, service: RegulationService, query: str) -> None:
        with pytest.raises(QueryError):
            service.search(query)


class TestReferences:
    def test_inside_and_outside_the_law_with_first_words(self, service: RegulationService) -> None:
        fifth = service.search("灯塔法第五条").results[0]
        found = [(r.law_name, r.article_number, (r.content or "")[:4]) for r in fifth.references]
        assert found == [
            ("中华人民共和国浮标法", "第二条", "浮标由船"),
            ("中华人民共和国灯塔法", "第二条", "灯塔由守"),
            ("中华人民共和国灯塔法", "第三条", "守塔人应"),
            ("中华人民共和国灯塔法", "第四条", "违反本法"),
        ]
        first = fifth.references[0]
        assert fifth.content[first.start : first.end] == "《中华人民共和国浮标法》第二条第一款"

    def test_the_article_before(self, service: RegulationService) -> None:
        (reference,) = service.search("灯塔法第三条之一").results[0].references
        assert reference.article_number == "第三条"

    def test_an_article_does_not_refer_to_itself(self, service: RegulationService) -> None:
        assert service.search("灯塔法第一条").results[0].references == ()


class TestWhoAnswered:
    def test_the_index(self, library: LegalLibrary) -> None:
        assert RegulationService(library, web).search("灯塔法第一条").origin == "index"

    def test_the_web_without_an_index(self, tmp_path: Path) -> None:
        response = RegulationService(LegalLibrary(tmp_path), web).search("灯塔法第一条")
        assert response.origin == "web"
        (result,) = response.results
        assert (result.law_name, result.article_number, result.effective_date) == ("灯塔法全文", None, None)
        assert (result.url, result.source) == ("https://law.example/x", "law.example")

    def test_the_web_for_what_the_index_does_not_hold(self, library: LegalLibrary) -> None:
        assert RegulationService(library, web).search("zzz qqq").origin == "web"
        named = RegulationService(library, web).search("《守塔人休假办法》第三条")
        assert (named.origin, named.note) == ("web", "库中没有《守塔人休假办法》。")
        assert RegulationService(library).search("《守塔人休假办法》第三条").origin == "index"

    def test_the_web_wherever_one_of_the_laws_is_not_held(self, library: LegalLibrary) -> None:
        """In whatever order, and in whatever words, it is said that an article or a law is missing."""
        for query in ("灯塔法第九十九条、《守塔人休假办法》第三条", "《守塔人休假办法》第三条、灯塔法第九十九条"):
            response = RegulationService(library, web).search(query)
            assert response.origin == "web"
            assert "库中没有《守塔人休假办法》。" in response.note
            assert "没有第九十九条" in response.note

    def test_that_a_law_is_not_held_is_told_also_when_the_web_is_away(self, library: LegalLibrary) -> None:
        def away(query: str, limit: int) -> SearchResponse:
            raise AllEnginesFailed

        named = RegulationService(library, away).search("《守塔人休假办法》第三条")
        assert (named.origin, named.results) == ("index", ())
        assert named.note.startswith("库中没有《守塔人休假办法》。所有搜索引擎都没有成功。")
        with pytest.raises(AllEnginesFailed):
            RegulationService(library, away).search("zzz qqq")

    def test_neither(self, tmp_path: Path) -> None:
        with pytest.raises(NoLegalIndex):
            RegulationService(LegalLibrary(tmp_path)).search("灯塔法")


def test_fields_of_the_answer(service: RegulationService) -> None:
    document = service.search("灯塔法第二条").to_json()
    assert set(document) >= {"query", "results", "totalResults", "searchTime", "origin"}
    first = document["results"][0]
    assert {key: first[key] for key in ("lawName", "articleNumber", "effectiveDate")} == {
        "lawName": "中华人民共和国灯塔法",
        "articleNumber": "第二条",
        "effectiveDate": "2020-10-01",
    }
    assert first["source"].startswith("LawRefBook/Laws")


def test_paragraphs_and_items() -> None:
    text = "第一款：\n（一）甲；\n(2) 乙。\n第二款。"
    assert [len(lines) for lines in split_paragraphs(text)] == [3, 1]
    assert (excerpt(text, 2, None), excerpt(text, None, 2), excerpt(text, 1, 1)) == (
        "第二款。",
        "(2) 乙。",
        "（一）甲；",
    )
    assert excerpt(text, 3, None) is None
    assert excerpt(text, None, None) is None


@pytest.mark.parametrize(
    ("query", "law"),
    [
        ("不存在的法第5条", "不存在的法"),
        ("虚构法第5条", "虚构法"),
        ("勞動合同法第38條", "劳动合同法"),
        ("虚构条例 5", "虚构条例"),
    ],
)
def test_an_unknown_law_brings_no_other_law(service: RegulationService, query: str, law: str) -> None:
    response = service.search(query)
    assert response.results == ()
    assert response.note == f"库中没有《{law}》。"


@pytest.mark.parametrize("query", ["灯塔发第三条", "《灯塔发》第3条", "《中华人民共和国灯塔法法》第三条"])
def test_a_misspelt_law_is_asked_back(service: RegulationService, query: str) -> None:
    response = service.search(query)
    assert response.results == ()
    assert response.note.endswith("》。是否指《中华人民共和国灯塔法》？")


def test_a_law_that_is_only_named_alike_is_said(service: RegulationService) -> None:
    response = service.search("灯法第3条")
    assert {result.law_name for result in response.results} == {"中华人民共和国灯塔法"}
    assert response.note.startswith("库中没有《灯法》，以下是名称最接近的《中华人民共和国灯塔法》。")


@pytest.mark.parametrize("query", ["第一条、" * 5_000, "\u3164\u200b", ""])
def test_what_nobody_can_look_up_is_refused_at_once(service: RegulationService, query: str) -> None:
    with pytest.raises(QueryError):
        service.search(query)


def test_everyday_words_are_understood_in_either_script(service: RegulationService) -> None:
    def found(query: str) -> list[tuple[str, str | None]]:
        return [(result.law_name, result.article_number) for result in service.search(query).results]

    assert found("守塔人離崗可以申請複核嗎？") == found("守塔人离岗可以申请复核吗？") != []
    assert found("燈塔法") == found("灯塔法")
    assert service.search("燈塔法").query == "燈塔法"
