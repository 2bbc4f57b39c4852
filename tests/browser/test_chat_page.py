"""The chat page as a person meets it."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import docx
import pytest
from playwright.sync_api import Dialog, expect

from core.base.compression import plain_text
from support.app_server import AppServer
from support.faults import Server, json_answer, keep_alive
from support.forked_server import forked_server
from support.openai_server import OpenAIServer
from support.visitor import Visitor
from support.waiting import until

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


def test_a_fresh_clone_searches_when_told_cites_and_a_reload_shows_the_conversation_again(
    serve: Serve, visit: Visit
) -> None:
    visitor = visit(serve(**EMBEDDED), watched=True)
    page = visitor.page
    expect(page).to_have_title("问源")
    expect(page.get_by_text("联网 已禁用")).to_be_visible()
    visitor.ask("怎么打开联网搜索？")
    visitor.answered("内置摘录模型")
    assert "参考文献" not in visitor.last_answer

    visitor.search_on()
    sidebar = page.get_by_test_id("stSidebar")
    sidebar.get_by_text("帮助", exact=True).click()
    expect(page.get_by_text("查找文章")).to_be_visible()
    sidebar.get_by_text("对话", exact=True).click()
    expect(page.get_by_text("联网 已启用")).to_be_visible()
    visitor.settled()

    visitor.ask("怎么打开联网搜索？")
    visitor.answered("参考文献")
    answer = page.get_by_test_id("stChatMessage").last
    citation = answer.locator("sup.cite a").first
    assert citation.get_attribute("href") == "/help?article=search-toggle"
    assert answer.locator(".wy-refs-title + ol.wy-refs li").first.inner_text().startswith("怎么打开联网搜索")
    visitor.answered("tokens")  # the end of what stands below an answer
    assert "估算" in visitor.last_answer

    before = visitor.last_answer
    page.reload()
    expect(answer).to_have_text(before, use_inner_text=True)
    visitor.settled()
    visitor.ask("你是谁")
    expect(page.get_by_test_id("stChatMessage")).to_have_count(6)
    visitor.answered("内置摘录模型")
    assert visitor.foreign == []


def test_an_address_leads_to_its_article_offline_or_says_what_is_not_there(serve: Serve, visit: Visit) -> None:
    server = serve(**EMBEDDED)
    page = visit(server, path="/help?article=search-toggle").page
    expect(page.get_by_role("heading", name="怎么打开联网搜索")).to_be_visible()
    page.get_by_text("全部文章").click()
    expect(page.get_by_text("查找文章")).to_be_visible()
    page.goto(f"{server.url}/help?article=nosuch")
    expect(page.get_by_text("手册里没有这篇文章")).to_be_visible()
    page.goto(f"{server.url}/?c={'A' * 24}")
    expect(page.get_by_text("这个对话没有分享给你，或者已经不存在")).to_be_visible()


def test_an_answer_goes_on_until_it_is_stopped_replaced_or_left_and_is_kept(
    connected: AppServer, visit: Visit, model_server: OpenAIServer
) -> None:
    visitor = visit(connected)
    page, messages = visitor.page, visitor.page.get_by_test_id("stChatMessage")
    broken_off = model_server.broken_off

    def ended() -> bool:
        return model_server.broken_off == broken_off + 1

    visitor.ask("慢慢说 slow")
    page.get_by_text("第5词").first.wait_for()
    for state in ("已启用", "已禁用"):
        visitor.flip("联网")
        page.get_by_text(f"联网 {state}").wait_for()
    page.get_by_text("第60词").first.wait_for()
    page.evaluate(ESC_OF_AN_INPUT_METHOD)
    page.get_by_text("第70词").first.wait_for()
    assert model_server.broken_off == broken_off, "neither another widget nor a key of the input method ends it"
    page.keyboard.press("Escape")
    page.get_by_text("已停止").wait_for()
    visitor.settled()
    assert "第5词" in visitor.last_answer
    until(ended)

    visitor.ask("再问 slow")  # the page is usable at once
    expect(messages.nth(3)).to_contain_text("第4词")
    broken_off += 1
    visitor.ask("第三问 slow")
    expect(messages).to_have_count(6)
    expect(messages.nth(3)).to_contain_text("已停止")
    expect(messages.nth(3)).to_contain_text("第4词")
    until(ended)

    expect(messages.nth(5)).to_contain_text("第5词")
    broken_off += 1
    page.get_by_test_id("stSidebar").get_by_text("帮助", exact=True).click()
    until(ended)
    page.get_by_text("查找文章").wait_for()
    page.get_by_test_id("stSidebar").get_by_text("对话", exact=True).click()
    expect(messages).to_have_count(6)
    visitor.answered("已停止")
    assert "第5词" in visitor.last_answer

    visitor.ask("第四问 slow")
    expect(messages.nth(7)).to_contain_text("第5词")
    broken_off += 1
    page.close()
    until(ended)


FAILURES = {
    "401": "拒绝了当前的密钥",
    "403": "模型服务拒绝了访问（403）",
    "500": "模型服务出错（500）",
    "empty": "空的回答",
    "disconnect": "途中断开",
    "hang": "规定时间内没有继续输出",
}


def test_every_model_failure_is_a_sentence_and_the_page_goes_on(connected: AppServer, visit: Visit) -> None:
    visitor = visit(connected)
    page = visitor.page
    for number, (model, sentence) in enumerate(FAILURES.items(), 1):
        visitor.ask(f"问题 {model}")
        expect(page.get_by_test_id("stChatMessage")).to_have_count(2 * number)
        visitor.answered(sentence)
        assert ("前半句已经写出" in visitor.last_answer) == (model == "disconnect")
        assert "Traceback" not in page.content()
        assert "verysecret" not in page.content()
        expect(page.get_by_test_id("stChatInputTextArea")).to_be_enabled()


def test_a_blank_message_is_not_sent_a_long_one_is_refused_and_not_lost_a_hostile_one_is_shown_as_it_was_typed(
    serve: Serve, visit: Visit
) -> None:
    visitor = visit(serve(**EMBEDDED), watched=True)
    visitor.ask("   ")
    text = "长" * 100_000
    visitor.ask(text)
    visitor.page.get_by_text("超过了 20,000 个字符的上限").wait_for()
    box = visitor.page.get_by_test_id("stChatInputTextArea")
    expect(box).to_have_value(text)
    visitor.settled()
    expect(visitor.page.get_by_test_id("stChatMessage")).to_have_count(0)
    box.fill("你是谁")
    visitor.page.get_by_role("button", name="发送").click()
    visitor.answered("内置摘录模型")
    expect(visitor.page.get_by_test_id("stChatMessage")).to_have_count(2)
    expect(visitor.page.get_by_text("20,000 个字符的上限")).to_have_count(0)

    hostile = "<img src=http://evil.example/x> ![a](http://evil.example/y) :red[红] [l](http://evil.example)"
    visitor.ask(hostile)
    expect(visitor.page.get_by_test_id("stChatMessage")).to_have_count(4)
    visitor.answered("内置摘录模型")
    question = visitor.page.get_by_test_id("stChatMessage").nth(2)
    assert question.inner_text().strip().endswith(hostile)
    assert question.locator("a").count() == 0
    assert visitor.foreign == []


def test_a_killed_server_loses_nothing_that_was_shown_and_the_next_may_begin_with_any_page(
    visit: Visit, model_server: OpenAIServer, tmp_path: Path
) -> None:
    environ = {
        **EMBEDDED,
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": model_server.url,
        "LLM_MODEL": "openai:as-asked",
        "DATA_DIR": str(tmp_path / "data"),
    }
    with forked_server(**environ) as server:
        visitor = visit(server)
        visitor.ask("慢慢说 slow")
        visitor.page.get_by_text("第20词").first.wait_for()
        until(lambda: is_stored("第20词", tmp_path / "data"))
        server.process.kill()
        server.process.wait()
        address = visitor.page.url.replace(server.url, "")
    with forked_server(**environ) as server:
        # Before the first st.navigation Streamlit would run pages/help.py alone, with an English menu.
        visitor.page.goto(f"{server.url}/help")
        expect(visitor.page.get_by_test_id("stSidebar").get_by_text("对话")).to_be_visible()
        visitor.page.goto(server.url + address)
        visitor.answered("第20词")
        assert "中断" in visitor.last_answer


def is_stored(text: str, folder: Path) -> bool:
    with closing(sqlite3.connect(folder / "database" / "wenyuan.sqlite3")) as database:
        texts = database.execute("SELECT text FROM messages").fetchall()
    return any(text in plain_text(stored) for (stored,) in texts)


def test_an_answer_can_be_taken_away(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED), zone="Asia/Kathmandu")
    visitor.search_on()
    visitor.ask("SearXNG 返回 403 怎么办？")
    visitor.answered("参考文献")
    visitor.page.get_by_role("button", name="导出").click()
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
    expect(page.get_by_test_id("stMain")).to_have_css("overflow", "visible")


def test_the_last_question_can_be_changed_and_answered_again_and_another_browser_sees_none_of_it(
    serve: Serve, visit: Visit
) -> None:
    visitor, other = visit(serve(**EMBEDDED)), visit(serve(**EMBEDDED))
    visitor.ask("你是谁")
    visitor.answered("内置摘录模型")
    visitor.page.get_by_role("button", name="更多").click()
    visitor.page.get_by_role("button", name="修改问题").click()
    box = visitor.page.get_by_role("dialog").get_by_role("textbox")
    box.fill("who are you, only one person knows")
    visitor.page.get_by_text("重新发送").click()
    visitor.answered("built-in")
    messages = visitor.page.get_by_test_id("stChatMessage")
    expect(messages).to_have_count(2)
    visitor.page.reload()
    expect(messages.first).to_contain_text("who are you")
    expect(messages).to_have_count(2)
    other.page.reload()
    other.settled()
    assert "only one person knows" not in other.page.content()


def test_commands_typed_in_the_box(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED))
    page = visitor.page
    for typed in ("/search on", "/SEARCH ON"):
        expect(page.get_by_text("联网 已禁用")).to_be_visible()
        visitor.ask(typed)
        expect(page.get_by_text("联网搜索已打开")).to_be_visible()
        expect(page.get_by_text("联网 已启用")).to_be_visible()
        visitor.ask("/nosuch")
        expect(page.get_by_text("没有「/nosuch」这个命令")).to_be_visible()
        visitor.ask("/clear")
        expect(page.get_by_text("提出问题，得到每句话都能查到来源的回答。")).to_be_visible()
        visitor.settled()
        visitor.flip("联网")


def test_nothing_scrolls_sideways_on_a_phone(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED), width=390)
    visitor.search_on()
    visitor.ask("SearXNG 返回 403 怎么办？")
    visitor.answered("参考文献")
    for scheme in ("light", "dark"):
        visitor.page.emulate_media(color_scheme=scheme)
        visitor.settled()
        assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 390


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
    visitor = visit(connected, watched=True)
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
        visitor = visit(server, watched=True)
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
