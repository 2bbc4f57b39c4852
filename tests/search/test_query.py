"""From what was asked to what engines receive."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.search.query import MAX_LENGTH, effective_query, language_code, recency, text_with_sites, time_range_start
from core.search.types import SearchQuery, SearchType, TimeRange
from support.base import loaded


def effective(text: str = "劳动合同法", **fields: object) -> SearchQuery:
    return effective_query(SearchQuery(text, **fields), loaded().values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("劳动合同法第三十八条", "zh-CN"),
        ("Python 3.14 有什么新功能", "zh-CN"),
        ("what is new in Python", "en"),
        ("2026", "en"),
        ("日本の天気", "auto"),
        ("서울 날씨", "auto"),
        ("où est la gare", "auto"),
    ],
)
def test_the_language_follows_the_question(text: str, language: str) -> None:
    assert effective(text).language == language


def test_a_chosen_language_stays() -> None:
    assert effective(language="en").language == "en"
    assert effective(language="zh").language == "zh-CN"
    assert effective_query(SearchQuery("问题"), loaded(SEARCH_LANGUAGE="ja").values).language == "ja"
    assert effective_query(SearchQuery("问题", language="fr"), loaded(SEARCH_LANGUAGE="ja").values).language == "fr"


@pytest.mark.parametrize("written", ["zh-CN", "zh_cn", " ZH-cn ", "ｚｈ－ＣＮ"])
def test_a_language_is_read_as_people_write_it(written: str) -> None:
    assert loaded(SEARCH_LANGUAGE=written).values.search.language == "zh-CN"


@pytest.mark.parametrize("written", ["中文", "chinese", "zh-CN-x", "z", "zh CN", "en&q=x"])
def test_what_is_no_language_code_is_refused(written: str) -> None:
    settings = loaded(SEARCH_LANGUAGE=written)
    assert settings.values.search.language == "auto"
    assert settings.problems[0].key == "SEARCH_LANGUAGE"


def test_legal_searches_get_their_sites_and_words() -> None:
    regulation = effective(type=SearchType.REGULATION)
    assert regulation.text == "劳动合同法 法规"
    assert "flk.npc.gov.cn" in regulation.sites
    case = effective("试用期辞退 案例", type=SearchType.CASE)
    assert case.text == "试用期辞退 案例", "a word that is there already is not added"
    assert "wenshu.court.gov.cn" in case.sites
    assert effective().sites == effective(type=SearchType.NEWS).sites == ()


def test_sites_that_the_caller_names_win() -> None:
    assert effective(type=SearchType.CASE, sites=("a.example",)).sites == ("a.example",)


def test_sites_and_words_are_settings() -> None:
    settings = loaded(LEGAL_REGULATION_SITES="a.example、b.example", LEGAL_REGULATION_WORDS=",").values
    query = effective_query(SearchQuery("问题", SearchType.REGULATION), settings)
    assert (query.text, query.sites) == ("问题", ("a.example", "b.example"))


def test_the_text_is_cleaned_and_bounded() -> None:
    assert effective("  一\n二\ud800\u202e  三 ").text == "一 二 三"
    assert len(effective("长" * 20_000).text) == MAX_LENGTH


def test_site_operators_name_the_widest_sites_only() -> None:
    assert text_with_sites(SearchQuery("x")) == "x"
    assert text_with_sites(SearchQuery("x", sites=("a.cn",))) == "x site:a.cn"
    sites = ("flk.npc.gov.cn", "gov.cn", "court.gov.cn", "pkulaw.com", "notgov.cn")
    assert text_with_sites(SearchQuery("x", sites=sites)) == "x (site:gov.cn OR site:pkulaw.com OR site:notgov.cn)"
    assert text_with_sites(SearchQuery("x", sites=("a", "b")), separator=" | ") == "x (site:a | site:b)"


def test_small_mappings() -> None:
    assert [language_code(SearchQuery("x", language=code)) for code in ("auto", "zh-CN", "en")] == ["", "zh", "en"]
    assert recency(SearchQuery("x", SearchType.NEWS)) is TimeRange.MONTH
    assert recency(SearchQuery("x", SearchType.NEWS, time_range=TimeRange.DAY)) is TimeRange.DAY
    assert recency(SearchQuery("x")) is None
    assert (datetime.now(UTC) - time_range_start(TimeRange.WEEK)).total_seconds() == pytest.approx(7 * 86400, abs=5)
