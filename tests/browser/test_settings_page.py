"""The page 设置 as a person meets it: test an engine, run the diagnosis, copy what helps."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from core.doctor import SEARXNG_SETTINGS
from support.app_server import AppServer
from support.faults import unused_port
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Serve = Callable[..., AppServer]
Visit = Callable[..., Visitor]
PAUSED = re.compile(r"失败过，暂停到 \d\d:\d\d")


@pytest.fixture(scope="module")
def environ() -> dict[str, str]:
    """A server that is not there, a key that is missing, a value that is wrong, and a Redis that is away."""
    return {
        "SEARCH_PROVIDER_PRIORITY": "exa,searxng,bundled",
        "SEARXNG_URL": f"http://127.0.0.1:{unused_port()}",
        "SEARCH_TIMEOUT": "soon",
        "CACHE_URL": f"redis://:verysecret@127.0.0.1:{unused_port()}/0",
    }


def opened(serve: Serve, visit: Visit, environ: dict[str, str], **options: object) -> Visitor:
    visitor = visit(serve(**environ), path="/settings", **options)
    visitor.page.get_by_role("tab", name="引擎").wait_for()
    visitor.settled()
    return visitor


def part(visitor: Visitor, name: str, sign: str) -> None:
    visitor.page.get_by_role("tab", name=name).click()
    visitor.page.get_by_text(sign).filter(visible=True).first.wait_for()
    visitor.settled()


def test_engines_diagnosis_and_prompts(serve: Serve, visit: Visit, environ: dict[str, str]) -> None:
    visitor = opened(serve, visit, environ, watched=True)
    page = visitor.page
    expect(page.get_by_text("连接不上 CACHE_URL 指向的 Redis")).to_be_visible()
    part(visitor, "配置", "查找设置")
    expect(page.get_by_text("SEARCH_TIMEOUT：需要一个数字")).to_be_visible()

    part(visitor, "引擎", "按顺序使用")
    expect(page.get_by_text("缺少密钥")).to_be_visible()
    page.get_by_role("button", name="全部测试").click()
    page.get_by_text("第一条：怎么打开联网搜索").wait_for()
    page.get_by_text("并确认服务已启动、端口正确").wait_for()
    page.get_by_text(PAUSED).wait_for()
    expect(page.get_by_text("测试了 2 个引擎：1 个成功，1 个失败")).to_be_visible()
    page.get_by_role("button", name="测试", exact=True).last.click()
    page.get_by_text("第一条：怎么打开联网搜索").wait_for()

    part(visitor, "诊断", "自建 SearXNG 时直接使用")
    page.get_by_role("button", name="运行诊断").click()
    page.get_by_text("诊断于").wait_for(timeout=30_000)
    finding = page.locator(".wy-engine").filter(has_text="引擎 searxng").filter(visible=True)
    expect(finding).to_contain_text("并确认服务已启动、端口正确")
    expect(finding).to_contain_text(PAUSED)
    expect(page.get_by_test_id("stCode").filter(has_text="use_default_settings: true")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="下载 settings.yml").click()
    text = download.value.path().read_text("utf-8")
    assert text.startswith(SEARXNG_SETTINGS.read_text("utf-8").partition("server:")[0])
    assert "secret_key: " in text

    part(visitor, "提示词", "填好之后")
    expect(page.get_by_text("民法典 第一千零七十七条")).to_be_visible()
    assert "verysecret" not in page.content()
    assert visitor.foreign == []


def test_on_a_phone_nothing_scrolls_sideways(serve: Serve, visit: Visit, environ: dict[str, str]) -> None:
    visitor = opened(serve, visit, environ, width=390)
    part(visitor, "配置", "查找设置")
    visitor.page.get_by_text("引擎（").first.click()
    for name, sign in (
        ("模型", "其他 OpenAI 兼容地址"),
        ("引擎", "按顺序使用"),
        ("诊断", "自建 SearXNG"),
        ("提示词", "填好之后"),
        ("接口", "多久以后过期"),
        ("配置", "查找设置"),
    ):
        part(visitor, name, sign)
        widths = visitor.page.evaluate(
            "[document.documentElement, document.querySelector('[data-testid=stMain]')]"
            ".map(element => [element.scrollWidth, element.clientWidth])"
        )
        assert all(inner <= outer for inner, outer in widths), (name, widths)


def test_a_page_that_is_not_shown_leads_to_the_chat(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(SEARCH_PROVIDER_PRIORITY="bundled", PUBLIC_PAGES="help"), path="/settings")
    visitor.page.get_by_test_id("stChatInputTextArea").wait_for()
    expect(visitor.page.get_by_role("tab", name="引擎")).to_have_count(0)
    sidebar = visitor.page.get_by_test_id("stSidebarNav")
    expect(sidebar.get_by_text("帮助")).to_be_visible()
    expect(sidebar.get_by_text("设置")).to_have_count(0)
