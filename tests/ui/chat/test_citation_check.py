"""依据核验 on the chat page: what it says of an answer that has no sources, or cites none of them."""

from __future__ import annotations

import os
from pathlib import Path

from streamlit.testing.v1 import AppTest

from core.answer.check_results import (
    AnswerCheck,
    QuotedPassage,
    SourceCheck,
    SourceText,
    UncitedStatement,
    Verdict,
)
from core.answer.citation_verdicts import NO_SOURCES_NOTE
from core.answer.events import Answer, Checked, SearchFinished, invented_notice
from core.answer.message import Message, message_from_run
from core.checks import check_answer
from core.search.types import SearchQuery, SearchResponse, Source
from core.ui.session import ChatState
from support import invented
from support.openai_server import openai_server
from support.pages import ask, check_title, chips, html, open_page, rerun, search, serving


def said(page: AppTest) -> int:
    return [caption.value for caption in page.chat_message[-1].caption].count(NO_SOURCES_NOTE)


def test_an_answer_out_of_nothing_says_so_once_live_and_later() -> None:
    with openai_server() as server:
        server.script = ["水是湿的。"]
        with serving(OPENAI_API_KEY="k", OPENAI_BASE_URL=server.url, LLM_MODEL="openai:script:x"):
            page = ask(search(open_page(), on=False), "水怎么样？")
            assert said(page) == 1
            assert said(rerun(page)) == 1
            assert said(ask(search(page, on=True), "冰呢？")) == 0


def test_the_embedded_model_has_its_own_words_for_it() -> None:
    with serving():
        assert said(ask(search(open_page(), on=False), "水怎么样？")) == 0


SENTENCE = "海州灯塔建成于2001年。"
SOURCES = (
    Source(1, "水价", "https://water.example/1", "摘要", read="page", characters=9),
    Source(2, "灯塔", "https://tower.example/2", "摘要", read="page", characters=9),
)


def answer(agreeing: int | None) -> Message:
    evidence = (QuotedPassage(agreeing or 0, 0, 13, SENTENCE),)
    check = SourceCheck(Verdict.SUPPORTED, 0.9, "原文如此。", evidence) if agreeing else None
    found = SearchFinished(SearchResponse(SearchQuery("灯塔"), provider="fake"), SOURCES)
    checked = Checked(AnswerCheck((), (UncitedStatement(0, len(SENTENCE), SENTENCE, check),)))
    return message_from_run([found, checked, Answer(SENTENCE)], seconds=1, id="a1")


def page_with(message: Message) -> AppTest:
    page = open_page()
    page.session_state["chat"] = ChatState(messages=[Message("user", "问"), message])
    page.session_state["claims-a1"] = page.session_state["sources-a1"] = True  # as clicks do
    return rerun(page)


def test_a_source_that_was_not_cited_is_named_in_the_text_the_fold_and_the_lists() -> None:
    page = page_with(answer(2))
    titles = [fold.label.replace("\\", "") for fold in page.main.expander]
    assert titles[0].startswith("2 个来源 ")
    assert "核验 · 1 句未标注，与来源相符" in titles
    shown = html(page)
    assert ">未标注，与 [2] 相符</a>" in shown
    assert "无出处" not in shown
    (fold,) = [part for part in shown.split("<ul") if "wy-claims" in part]
    assert "模型没有标注来源；原文与 [2] 相符。" in fold
    assert page.button_group(key="claims-kind-a1").options == ["未标注，与来源相符 1"]
    assert "未标注，与回答相符 · 日期不详" in shown, "in the list above the answer"
    assert '<div class="wy-refs-title">与回答相符的来源（模型没有标注）</div>' in shown
    assert ">参考文献</div>" not in shown


def test_an_answer_that_agrees_with_no_source_has_no_such_list() -> None:
    page = page_with(answer(None))
    assert page.main.expander[0].label.startswith("找到 2 个来源，都没有用到")
    assert "无出处" in html(page)
    assert "相符" not in html(page)


CONCLUDING = "根据《灯塔法》第三条，守塔人应当在日落前点灯。因此，他违法了。"


def test_a_sentence_that_names_an_article_and_a_conclusion_are_told_in_the_text_and_the_fold(tmp_path: Path) -> None:
    invented.library(Path(os.environ["DATA_DIR"]), invented.lawrefbook(tmp_path / "laws"))
    found = SearchFinished(SearchResponse(SearchQuery("灯塔"), provider="fake"), SOURCES)
    checked = Checked(check_answer(CONCLUDING, [SourceText(1, "水价不变。"), SourceText(2, "灯塔很高。")]))
    page = page_with(message_from_run([found, checked, Answer(CONCLUDING)], seconds=1, id="a1"))
    shown = html(page)
    assert "守塔人应当在日落前点灯。<sup" in shown
    assert ">✓<span>法条核验 《灯塔法》第三条：引述与条文一致。</span></sup>" in shown
    assert "<span>结论，未核</span></sup>" in shown
    assert "无出处" not in shown
    assert page.button_group(key="claims-kind-a1").options == ["结论，未核 1"], (
        "the other one stands among the statutes"
    )
    assert chips(page) == ["✓ 《灯塔法》第三条"]
    assert check_title(page) == "核验 · 法条 1 条一致 · 1 句结论，未核", "each is counted once"


def test_a_source_that_does_not_exist_is_named_at_its_sentence_and_below_live_and_later() -> None:
    with openai_server() as server:
        server.script = ["守塔人喜欢唱歌[6]。"]
        with serving(OPENAI_API_KEY="k", OPENAI_BASE_URL=server.url, LLM_MODEL="openai:script:x"):
            page = ask(search(open_page(), on=True), "守塔人喜欢什么？")
            for shown in (html(page), html(rerun(page))):
                assert "无出处（来源 6 不存在）</sup>" in shown
                assert shown.count('<div class="wy-remark">模型引用了不存在的来源 6') == 1
                assert "[6]" not in shown


def test_the_notice_is_no_box_above_the_answer() -> None:
    page = page_with(message_from_run([invented_notice([6], has_sources=True), Answer("答。")], seconds=1, id="a1"))
    assert not [info.value for info in page.info if "不存在" in info.value]
