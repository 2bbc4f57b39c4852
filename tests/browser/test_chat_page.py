"""The chat page as a person meets it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import docx
import pytest
from playwright.sync_api import Dialog, expect

from support.app_server import AppServer, app_server
from support.faults import Server, json_answer, keep_alive
from support.openai_server import OpenAIServer
from support.patience import until
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Serve = Callable[..., AppServer]
Visit = Callable[..., Visitor]

ESC_OF_AN_INPUT_METHOD = """document.querySelector('[data-testid=stChatInputTextArea]').dispatchEvent(
    new KeyboardEvent('keydown', {key: 'Escape', code: 'Escape', keyCode: 229, isComposing: true, bubbles: true}))"""
EMBEDDED = {"SEARCH_PROVIDER_PRIORITY": "bundled"}


@pytest.fixture
def connected(serve: Serve, model_server: OpenAIServer) -> AppServer:
    """The app with a model that behaves as the last word of the question says."""
    return serve(
        **EMBEDDED,
        OPENAI_API_KEY="k",
        OPENAI_BASE_URL=model_server.url,
        LLM_MODEL="openai:as-asked",
        LLM_FIRST_TOKEN_TIMEOUT="6",
        LLM_ATTEMPTS="1",
    )


def test_a_fresh_clone_answers_with_citations_and_references(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED))
    expect(visitor.page).to_have_title("问源")
    visitor.search_on()
    visitor.ask("怎么打开联网搜索？")
    visitor.answered("参考文献")
    answer = visitor.page.get_by_test_id("stChatMessage").last
    citation = answer.locator("sup.cite a").first
    assert citation.get_attribute("href") == "/help?article=search-toggle"
    assert answer.locator(".wy-refs-title + ol.wy-refs li").first.inner_text().startswith("怎么打开联网搜索")
    assert "估算" in visitor.last_answer
    assert visitor.foreign == []


def test_a_citation_leads_to_its_article_offline(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED), path="/help?article=search-toggle")
    expect(visitor.page.get_by_role("heading", name="怎么打开联网搜索")).to_be_visible()
    visitor.page.get_by_text("全部文章").click()
    expect(visitor.page.get_by_text("查找文章")).to_be_visible()


def test_an_article_that_does_not_exist_is_explained(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED), path="/help?article=nosuch")
    expect(visitor.page.get_by_text("手册里没有这篇文章")).to_be_visible()


def test_the_first_page_opened_may_be_any_page(visit: Visit) -> None:
    """Before the first st.navigation Streamlit would run pages/help.py alone, with an English menu."""
    with app_server(**EMBEDDED) as fresh:
        visitor = visit(fresh, path="/help")
        expect(visitor.page.get_by_test_id("stSidebar").get_by_text("对话")).to_be_visible()


def test_search_is_off_for_a_new_session_and_says_so(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED))
    expect(visitor.page.get_by_text("联网 已禁用")).to_be_visible()
    visitor.ask("怎么打开联网搜索？")
    visitor.answered("内置摘录模型")
    assert "参考文献" not in visitor.last_answer


def test_the_toggle_survives_a_visit_to_another_page(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED))
    visitor.search_on()
    sidebar = visitor.page.get_by_test_id("stSidebar")
    sidebar.get_by_text("帮助", exact=True).click()
    expect(visitor.page.get_by_text("查找文章")).to_be_visible()
    sidebar.get_by_text("对话", exact=True).click()
    expect(visitor.page.get_by_text("联网 已启用")).to_be_visible()


def test_stop_keeps_what_was_written_and_the_page_is_usable_at_once(
    connected: AppServer, visit: Visit, model_server: OpenAIServer
) -> None:
    visitor = visit(connected)
    visitor.ask("慢慢说 slow")
    visitor.page.get_by_text("第5词").first.wait_for()
    broken_off = model_server.broken_off
    visitor.page.evaluate(ESC_OF_AN_INPUT_METHOD)
    visitor.page.get_by_text("第9词").first.wait_for()
    assert model_server.broken_off == broken_off
    visitor.page.keyboard.press("Escape")
    visitor.page.get_by_text("已停止").wait_for()
    visitor.settled()
    assert "第5词" in visitor.last_answer
    until(lambda: model_server.broken_off == broken_off + 1)
    visitor.ask("再问 slow")
    visitor.page.get_by_text("第3词").nth(1).wait_for()


def test_another_widget_does_not_interrupt_the_answer(connected: AppServer, visit: Visit) -> None:
    visitor = visit(connected)
    visitor.ask("慢慢说 slow")
    visitor.page.get_by_text("第5词").first.wait_for()
    visitor.flip("联网")
    visitor.page.get_by_text("联网 已启用").wait_for()
    visitor.page.get_by_text("第60词").first.wait_for()
    assert "第5词" in visitor.last_answer


def test_a_new_question_ends_the_old_answer_and_keeps_it(connected: AppServer, visit: Visit) -> None:
    visitor = visit(connected)
    visitor.ask("第一问 slow")
    visitor.page.get_by_text("第4词").first.wait_for()
    visitor.ask("第二问 slow")
    visitor.page.get_by_text("已停止").wait_for()
    messages = visitor.page.get_by_test_id("stChatMessage")
    expect(messages).to_have_count(4)
    assert "第4词" in messages.nth(1).inner_text()


@pytest.mark.parametrize("leave", ["page", "tab"])
def test_leaving_cancels_the_model_call(
    connected: AppServer, visit: Visit, model_server: OpenAIServer, leave: str
) -> None:
    visitor = visit(connected)
    visitor.ask("慢慢说 slow")
    visitor.page.get_by_text("第5词").first.wait_for()
    before = model_server.broken_off
    if leave == "page":
        visitor.page.get_by_test_id("stSidebar").get_by_text("帮助", exact=True).click()
    else:
        visitor.page.close()
    until(lambda: model_server.broken_off == before + 1)
    if leave == "page":
        visitor.page.get_by_text("查找文章").wait_for()
        visitor.page.get_by_test_id("stSidebar").get_by_text("对话", exact=True).click()
        visitor.answered("已停止")
        assert "第5词" in visitor.last_answer


@pytest.mark.parametrize(
    ("model", "sentence", "kept"),
    [
        ("401", "拒绝了当前的密钥", ""),
        ("500", "正忙", ""),
        ("empty", "空的回答", ""),
        ("disconnect", "途中断开", "前半句已经写出"),
        ("hang", "规定时间内没有继续输出", ""),
    ],
)
def test_every_model_failure_is_a_sentence_and_the_page_goes_on(
    connected: AppServer, visit: Visit, model: str, sentence: str, kept: str
) -> None:
    visitor = visit(connected)
    visitor.ask(f"问题 {model}")
    visitor.answered(sentence)
    assert kept in visitor.last_answer
    assert "Traceback" not in visitor.page.content()
    assert "verysecret" not in visitor.page.content()
    expect(visitor.page.get_by_test_id("stChatInputTextArea")).to_be_enabled()


def test_a_message_that_is_too_long_is_refused_and_not_lost(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED))
    text = "长" * 100_000
    visitor.ask(text)
    visitor.page.get_by_text("超过了 20,000 个字符的上限").wait_for()
    box = visitor.page.get_by_test_id("stChatInputTextArea")
    expect(box).to_have_value(text)
    expect(visitor.page.get_by_test_id("stChatMessage")).to_have_count(0)
    box.fill("你是谁")
    visitor.page.get_by_role("button", name="发送").click()
    visitor.answered("内置摘录模型")
    expect(visitor.page.get_by_text("20,000 个字符的上限")).to_have_count(0)


def test_blank_messages_send_nothing(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED))
    visitor.ask("   ")
    time.sleep(0.5)
    visitor.settled()
    expect(visitor.page.get_by_test_id("stChatMessage")).to_have_count(0)


def test_a_reload_shows_the_conversation_again(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED))
    visitor.search_on()
    visitor.ask("怎么打开联网搜索？")
    visitor.answered("tokens")  # the end of what stands below an answer
    before = visitor.last_answer
    visitor.page.reload()
    expect(visitor.page.get_by_test_id("stChatMessage").last).to_have_text(before, use_inner_text=True)
    visitor.settled()
    visitor.ask("你是谁")
    visitor.answered("内置摘录模型")
    expect(visitor.page.get_by_test_id("stChatMessage")).to_have_count(4)


def test_a_killed_server_loses_nothing_that_was_shown(visit: Visit, model_server: OpenAIServer, tmp_path: Path) -> None:
    environ = {
        **EMBEDDED,
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": model_server.url,
        "LLM_MODEL": "openai:as-asked",
        "DATA_DIR": str(tmp_path / "data"),
    }
    with app_server(**environ) as server:
        visitor = visit(server)
        visitor.ask("慢慢说 slow")
        visitor.page.get_by_text("第20词").first.wait_for()
        time.sleep(3)
        server.process.kill()
        server.process.wait()
        address = visitor.page.url.replace(server.url, "")
    with app_server(**environ) as server:
        again = visit(server, path=address)
        again.answered("第20词")
        assert "中断" in again.page.get_by_test_id("stChatMessage").last.inner_text()


def test_a_foreign_address_is_explained(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED), path="/?c=" + "A" * 24)
    expect(visitor.page.get_by_text("没有找到这个对话")).to_be_visible()


def test_an_answer_can_be_taken_away(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED), zone="Asia/Kathmandu")
    visitor.search_on()
    visitor.ask("SearXNG 返回 403 怎么办？")
    visitor.answered("参考文献")
    visitor.page.get_by_text("导出", exact=True).click()
    with visitor.page.expect_download() as download:
        visitor.page.get_by_text("网页（HTML）").click()
    text = Path(download.value.path()).read_text("utf-8")
    assert "参考文献" in text
    assert "<script" not in text
    assert text.count("（UTC+05:45）") == 2, "question and answer have the reader's time"
    with visitor.page.expect_download() as download:
        visitor.page.get_by_text("Word 文档").click()
    words = [paragraph.text for paragraph in docx.Document(str(download.value.path())).paragraphs]
    assert "参考文献" in words
    assert sum("（UTC+05:45）" in line for line in words) == 2

    page = visitor.page  # on paper: the conversation alone
    page.keyboard.press("Escape")
    visitor.settled()
    page.emulate_media(media="print")
    for unwanted in (page.get_by_test_id("stSidebar"), page.get_by_test_id("stChatInput"), page.get_by_role("button")):
        expect(unwanted.filter(visible=True)).to_have_count(0)
    expect(page.locator(".wy-refs").filter(visible=True)).to_have_count(1)
    expect(page.get_by_test_id("stAppScrollToBottomContainer")).to_have_css("overflow", "visible")


def test_the_last_question_can_be_changed_and_answered_again(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED))
    visitor.ask("你是谁")
    visitor.answered("内置摘录模型")
    visitor.page.get_by_role("button", name="修改问题").click()
    box = visitor.page.get_by_role("dialog").get_by_role("textbox")
    box.fill("who are you")
    visitor.page.get_by_text("重新发送").click()
    visitor.answered("built-in")
    messages = visitor.page.get_by_test_id("stChatMessage")
    expect(messages).to_have_count(2)
    visitor.page.reload()
    expect(messages.first).to_contain_text("who are you")
    expect(messages).to_have_count(2)


@pytest.mark.parametrize("typed", ["/search on", "/SEARCH ON"])
def test_commands_typed_in_the_box(serve: Serve, visit: Visit, typed: str) -> None:
    visitor = visit(serve(**EMBEDDED))
    visitor.ask(typed)
    expect(visitor.page.get_by_text("联网搜索已打开")).to_be_visible()
    expect(visitor.page.get_by_text("联网 已启用")).to_be_visible()
    visitor.ask("/nosuch")
    expect(visitor.page.get_by_text("没有「/nosuch」这个命令")).to_be_visible()
    visitor.ask("/clear")
    expect(visitor.page.get_by_text("提出问题，得到每句话都能查到来源的回答。")).to_be_visible()


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_scrolls_sideways_on_a_phone(serve: Serve, visit: Visit, dark: bool) -> None:
    visitor = visit(serve(**EMBEDDED), width=390, dark=dark)
    visitor.search_on()
    visitor.ask("SearXNG 返回 403 怎么办？")
    visitor.answered("参考文献")
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_two_browsers_do_not_see_each_other(serve: Serve, visit: Visit) -> None:
    server = serve(**EMBEDDED)
    first, second = visit(server), visit(server)
    first.ask("只有第一个人知道的问题")
    first.answered("内置摘录模型")
    second.page.reload()
    second.settled()
    assert "只有第一个人知道" not in second.page.content()


HOSTILE = """# 标题 :material/home: :green-badge[OFFICIAL] $5 and $6

![跟踪](http://evil.example/pixel.png) <img src=x onerror=alert(1)> <script>alert(2)</script>

[点我](javascript:alert(3)) [数据](data:text/html,x) [外站](https://evil.example/login) https://evil.example/bare
<https://evil.example/auto> www.evil.example someone@evil.example //evil.example/x

[1]: https://evil.example/definition

结论[1]，没有来源的编号[9]。
"""


def test_a_hostile_answer_calls_nobody_and_links_nowhere(
    connected: AppServer, visit: Visit, model_server: OpenAIServer
) -> None:
    model_server.script = re.findall(r".{1,3}", HOSTILE, re.DOTALL)
    visitor = visit(connected)
    dialogs: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    visitor.page.on("dialog", dismiss)
    visitor.search_on()
    visitor.ask("怎么打开联网搜索？ script:hostile")
    visitor.answered("tokens")
    answer = visitor.page.get_by_test_id("stChatMessage").last
    hrefs = [link.get_attribute("href") or "" for link in answer.locator("a").all()]
    assert hrefs
    assert all(href.startswith(("/help?article=", "#")) for href in hrefs), hrefs
    assert answer.locator(".wy-answer img, .wy-answer script, .wy-answer iframe, .wy-answer [style]").count() == 0
    text = answer.inner_text()
    assert ":green-badge[OFFICIAL]" in text
    assert ":material/home:" in text
    assert "$5 and $6" in text
    assert "<script>alert(2)</script>" in text
    assert "[9]" not in text
    assert visitor.foreign == []
    assert dialogs == []


def test_a_hostile_question_is_shown_as_it_was_typed(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED))
    visitor.ask("<img src=http://evil.example/x> ![a](http://evil.example/y) :red[红] [l](http://evil.example)")
    visitor.answered("内置摘录模型")
    question = visitor.page.get_by_test_id("stChatMessage").first
    assert (
        question.inner_text()
        .strip()
        .endswith("<img src=http://evil.example/x> ![a](http://evil.example/y) :red[红] [l](http://evil.example)")
    )
    assert question.locator("a").count() == 0
    assert visitor.foreign == []


@pytest.mark.shared
def test_a_model_that_obeys_every_injection_harms_nobody(
    serve: Serve, visit: Visit, model_server: OpenAIServer, shared: Path
) -> None:
    """Titles, summaries and the answer itself are all the attackers'; the page calls nobody and links only to sources."""
    attacks = [
        json.loads(line)["text"] for line in (shared / "data" / "injections.jsonl").read_text("utf-8").splitlines()
    ]
    found = [
        {"title": attack, "url": f"https://source{n}.example/", "content": attack}
        for n, attack in enumerate(attacks[:10])
    ]
    payload = {"results": found, "answers": [], "infoboxes": [], "unresponsive_engines": []}
    with Server(keep_alive(json_answer(payload))) as searxng:
        server = serve(
            SEARCH_PROVIDER_PRIORITY="searxng",
            SEARXNG_URL=searxng.url,
            OPENAI_API_KEY="k",
            OPENAI_BASE_URL=model_server.url,
            LLM_MODEL="openai:as-asked",
        )
        model_server.script = [f"{attack}\n\n见[1]。\n\n" for attack in attacks]
        visitor = visit(server)
        visitor.search_on()
        visitor.ask("问题 script:attacks")
        visitor.answered("tokens")
        page = visitor.page
        hrefs = {link.get_attribute("href") or "" for link in page.get_by_test_id("stChatMessage").locator("a").all()}
        assert any(href.startswith("https://source0.example/") for href in hrefs)
        assert all(
            href.startswith("#") or re.fullmatch(r"https://source\d\.example/(#:~:text=[^&#]*)?", href)
            for href in hrefs
        ), hrefs
        assert page.locator(".wy-answer img, .wy-answer script, .wy-answer iframe, .wy-answer form").count() == 0
        assert visitor.foreign == []
        assert len(searxng.requests) <= 2  # the question, and the check at the start: no attacker's search
