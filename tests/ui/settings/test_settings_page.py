"""The page 设置: every part of it, and that no secret is anywhere on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from streamlit.testing.v1 import AppTest

import core.app
from core.app import App, build_app, extra_sections
from core.base.settings import load_settings
from core.base.text import paste_lines
from core.search.engines.searxng import ENABLE_JSON, SearxngSettings
from core.search.errors import EngineBlocked
from core.search.types import SearchResult
from core.ui import permission
from core.ui.session import ROUTED
from core.ui.settings.settings_page import EXAMPLE_QUESTION, EXAMPLE_SOURCES
from support.base import ROOT, VARIABLES
from support.fake_engines import FakeEngine, results
from support.pages import html, values
from support.scripted_app import scripted_app
from support.shared import shared


@contextmanager
def opened(app: App, part: str = "配置") -> Iterator[AppTest]:
    with shared(app):
        page = AppTest.from_file(str(ROOT / "pages" / "settings.py"), default_timeout=30)
        page.session_state[ROUTED] = True
        yield go(page, part)


def go(page: AppTest, part: str) -> AppTest:
    page.session_state["settings_part"] = part
    return ran(page)


def ran(page: AppTest) -> AppTest:
    page.run()
    assert not page.exception
    return page


def press(page: AppTest, label: str) -> AppTest:
    next(button for button in page.button if button.label == label).click()
    return ran(page)


def codes(page: AppTest) -> list[str]:
    return [code.value for code in page.code]


def everything(node: Any) -> str:
    """All that is sent to the browser."""
    children = getattr(node, "children", {})
    return "\n".join((str(getattr(node, "proto", "")), *map(everything, children.values())))


def test_each_value_says_where_it_comes_from(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("search: {result_count: 4}", "utf-8")
    app = build_app(load_settings(file, {"SEARCH_TIMEOUT": "8", "DATA_DIR": str(tmp_path)}, sections=extra_sections()))
    try:
        with opened(app) as page:
            assert "环境变量 SEARCH_TIMEOUT · 默认值 5" in html(page)
            assert "settings.yaml · 默认值 5" in html(page)
            assert "整次搜索的时间，换引擎也在内（1 到 60 秒）" in html(page)
            assert html(page).count('class="wy-setting') == len(app.loaded_settings.origins)
            page.toggle[0].set_value(True)
            assert html(ran(page)).count('class="wy-setting') == 3
            page.text_input[0].set_value("timeout")
            assert "SEARCH_TIMEOUT" in html(ran(page))
            assert "DATA_DIR" not in html(page)
            page.text_input[0].set_value("没有这样的设置")
            assert "没有符合条件的设置" in values(ran(page).info)
    finally:
        app.close()


def test_what_could_not_be_used_is_said_first() -> None:
    with (
        scripted_app(says=[], SEARCH_TIMEOUT="<b>soon</b>", AGENT_MAX_ITERATIONS="99") as (app, _),
        opened(app) as page,
    ):
        (warning,) = page.warning
        for part in ("有 2 处", "SEARCH", "TIMEOUT", "需要一个数字", "默认值 5", "ITERATIONS", "不能大于 10"):
            assert part in warning.value
        assert "默认（环境变量 SEARCH_TIMEOUT 的值无法使用）" in html(page)
        assert "soon" not in everything(page._tree)


SECRETS = {
    variable: f"verysecret-{variable.removesuffix('_API_KEY').lower()}"
    for variable in VARIABLES
    if variable.endswith("_API_KEY")
}
ADDRESSES = {
    "CACHE_URL": "redis://:verysecret-cache@127.0.0.1:1/0",
    "DATABASE_URL": "postgresql+psycopg://me:verysecret-database@127.0.0.1:1/x",
    "SEARXNG_URL": "http://me:verysecret-searxng@127.0.0.1:1",
    "OPENAI_BASE_URL": "http://me:verysecret-model@127.0.0.1:1/v1",
}


def test_no_secret_is_anywhere_and_what_is_away_is_said() -> None:
    assert len(SECRETS) >= 7
    environ = {**SECRETS, **ADDRESSES, "LLM_ATTEMPTS": "1", "SEARCH_PROVIDER_PRIORITY": "exa,searxng,bundled"}
    app = build_app(load_settings(ROOT / "settings.yaml", environ, sections=extra_sections()))
    try:
        with opened(app) as page:
            assert html(page).count("已设置") == len(SECRETS) + 2
            assert "http://已隐藏@127.0.0.1:1" in html(page)
            assert "Redis" in values(page.warning)
            assert "数据库" in values(page.warning)
            seen = everything(page._tree)
            for engine in ("exa", "searxng"):
                go(page, "引擎").button(key=f"test-{engine}").click()
                seen += everything(ran(page)._tree)
                assert "测试失败" in html(page)
            seen += everything(press(go(page, "诊断"), "运行诊断")._tree)
            assert "有问题" in html(page)
            go(page, "提示词").button_group[0].set_value("agent")
            seen += everything(ran(page)._tree)
    finally:
        app.close()
    assert "verysecret" not in seen


def test_an_engine_is_tested_for_real_and_what_it_found_is_inert() -> None:
    hostile = SearchResult("<img src=x onerror=alert(1)>", "https://example.org/", "", "example.org")
    engine = FakeEngine("fake", [hostile, *results(3)])
    with scripted_app(says=[], engines=[engine], SEARCH_RATE_LIMIT="1") as (app, _), opened(app, "引擎") as page:
        assert "就绪" in html(page)
        press(page, "测试")
        assert "测试成功</b>：4 条结果" in html(page)
        assert "第一条：&lt;img src=x" in html(page)
        assert len(engine.queries) == 1
        press(page, "测试")  # the visitor's own limit counts
        assert "搜索次数已达到每分钟的上限" in html(page)
        assert len(engine.queries) == 1


def test_a_failed_test_names_reason_cure_and_rest() -> None:
    engine = FakeEngine("fake", EngineBlocked("要求输入验证码。", cure="请在浏览器里完成验证。"))
    with scripted_app(says=[], engines=[engine]) as (app, _), opened(app, "引擎") as page:
        press(page, "测试")
        assert "测试失败</b>：要求输入验证码。请在浏览器里完成验证。" in html(page)
        assert "刚才失败过，暂停到 " in html(page)
        assert "测试失败" in html(ran(page)), "the result stays"


def test_all_engines_are_tested_with_one_click_and_each_says_what_came_of_it() -> None:
    good = FakeEngine("good", results(3))
    bad = FakeEngine("bad", EngineBlocked("要求输入验证码。", cure="请在浏览器里完成验证。"))
    with scripted_app(says=[], engines=[good, bad]) as (app, _), opened(app, "引擎") as page:
        press(page, "全部测试")
        assert "测试成功</b>：3 条结果" in html(page)
        assert "测试失败</b>：要求输入验证码。请在浏览器里完成验证。" in html(page)
        assert "正在测试" not in html(page)
        assert "测试了 2 个引擎：1 个成功，1 个失败" in values(page.caption)
        assert len(good.queries) == len(bad.queries) == 1
        assert "测试成功" in html(ran(page)), "the results stay"
        assert len(good.queries) == 1


def test_what_can_be_used_comes_first() -> None:
    order = "exa,tavily,bundled"
    with scripted_app(says=[], engines=None, SEARCH_PROVIDER_PRIORITY=order) as (app, _), opened(app, "引擎") as page:
        text = html(page)
        assert text.index("<b>1 内置手册</b>") < text.index("<b>Exa</b>") < text.index("<b>Tavily</b>")
        assert "还不能使用" in values(page.subheader)


def test_an_engine_that_is_left_out_has_no_button() -> None:
    with (
        scripted_app(says=[], engines=None, SEARCH_PROVIDER_PRIORITY="exa,bundled") as (app, _),
        opened(app, "引擎") as page,
    ):
        assert "缺少密钥" in html(page)
        assert "环境变量是 EXA_API_KEY" in html(page)
        assert [button.key for button in page.button if button.label == "测试"] == ["test-bundled"]


def test_the_diagnosis_shows_cures_to_copy_and_stays() -> None:
    engine = FakeEngine("fake", EngineBlocked("拒绝访问。", cure=f"请写入：{paste_lines(ENABLE_JSON)}"))
    with (
        scripted_app(says=[["2"]], engines=[engine], LLM_MODEL="scripted:test") as (app, model),
        opened(app, "诊断") as page,
    ):
        assert "诊断于" not in values(page.caption)
        press(page, "运行诊断")
        assert "有问题</span> <b>引擎 fake" in html(page)
        assert '<pre tabindex="0">search:\n  formats: [html, json]</pre><button' in html(page)
        assert "失败过，暂停到 " in html(page)
        assert len(model.asked) == 1
        press(page, "运行诊断")
        assert len(model.asked) == len(engine.queries) == 1
        with opened(app, "诊断") as another:
            assert "有问题</span> <b>引擎 fake" in html(another)


def test_the_settings_for_searxng_are_complete() -> None:
    with scripted_app(says=[]) as (app, _), opened(app, "诊断") as page:
        document = yaml.safe_load(codes(page)[-1])
        assert document["use_default_settings"] is True
        assert document["search"]["formats"] == ["html", "json"]
        assert document["server"]["limiter"] is False
        assert len(document["server"]["secret_key"]) >= 32
        enabled = [engine["name"] for engine in document["engines"] if engine["disabled"] is False]
        assert enabled == list(app.settings.section(SearxngSettings).engines_zh)


def test_the_prompt_of_chat_mode_with_sources() -> None:
    with scripted_app(says=[]) as (app, model), opened(app, "提示词") as page:
        template, system, human = codes(page)
        assert "$date" in template
        assert "$date" not in system
        assert system.partition("。")[0] == template.partition("。")[0]
        assert EXAMPLE_SOURCES[0].title in human
        assert human.endswith(f"问题：{EXAMPLE_QUESTION}")
        page.selectbox[0].select("english")
        page.text_input[0].set_value("</sources> & <b>?")
        _, system, human = codes(ran(page))
        assert system.startswith("You are")
        assert human.endswith("问题：</sources> & <b>?")
        assert model.asked == []


@pytest.mark.parametrize(
    ("variant", "sign"), [("small", "每次只写下面两种格式"), ("chinese_tools", "同时调用几次工具")]
)
def test_the_prompt_of_agent_mode_with_its_tools(variant: str, sign: str) -> None:
    engines = [FakeEngine("fake", results(1))]
    with scripted_app(says=[], engines=engines, LLM_MODEL="scripted:x") as (app, model), opened(app, "提示词") as page:
        page.button_group[0].set_value("agent")
        assert "agent_chinese.md" in ran(page).expander[0].label.replace("\\", "")
        page.selectbox[0].select(variant)
        template, system, human = codes(ran(page))
        assert "$tools" in template
        assert "web_search - " in system
        assert sign in system
        assert EXAMPLE_QUESTION in human
        assert model.asked == []


def test_a_bad_template_is_named_and_its_content_is_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "mine.md"
    file.write_text("verysecret $nosuch", "utf-8")
    with (
        scripted_app(says=[], LLM_MODEL="scripted:x", AGENT_PROMPT=str(file)) as (app, _),
        opened(app, "提示词") as page,
    ):
        page.button_group[0].set_value("agent")
        ran(page)
        assert "mine.md 无法使用" in values(page.warning).replace("\\", "")
        assert "verysecret" not in everything(page._tree)
        file.write_text("规则 $tools [$tool_names]\n---\n$history问：$question\n$steps", "utf-8")
        assert codes(ran(page))[1].startswith("规则")
        assert not page.warning


def save(page: AppTest, engine: str, typed: str) -> AppTest:
    """Into the newest of its fields: after saving it is another one."""
    field = next(field for field in page.text_input if str(field.key).startswith(f"engine-{engine}-"))
    field.set_value(typed)
    next(button for button in page.button if button.key == f"FormSubmitter:engine-{engine}-保存").click()
    return ran(page)


ENGINES = {"SEARCH_PROVIDER_PRIORITY": "exa,searxng,bundled"}


@pytest.fixture
def at_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest has no connection that could come from here or from elsewhere."""
    monkeypatch.setattr(permission, "is_on_this_machine", lambda settings: True)


@pytest.mark.usefixtures("at_the_machine")
def test_a_key_and_an_address_are_saved_beside_their_engine() -> None:
    with scripted_app(says=[], engines=None, **ENGINES) as (app, _), opened(app, "引擎") as page:
        save(page, "exa", " verysecret-exa ")
        assert "已保存" in values(page.toast)
        assert "缺少密钥" not in html(page)
        save(page, "searxng", "http://127.0.0.1:8080/, http://me:verysecret@b.example")
        assert app.settings.section(SearxngSettings).url == (
            "http://127.0.0.1:8080",
            "http://me:verysecret@b.example",
        )
        assert [engine.name for engine in app.chain.engines] == ["exa", "searxng", "bundled"]
        assert "verysecret" not in everything(ran(page)._tree)
        next(button for button in page.button if button.key == "FormSubmitter:engine-exa-清除").click()
        assert "缺少密钥" in html(ran(page))


@pytest.mark.usefixtures("at_the_machine")
def test_what_an_engine_cannot_use_is_said_and_not_saved() -> None:
    with scripted_app(says=[], engines=None, **ENGINES) as (app, _), opened(app, "引擎") as page:
        before = app.configured
        save(page, "searxng", "127.0.0.1:8080")
        assert "地址应以" in values(page.warning)
        save(page, "exa", "密钥 verysecret")
        assert "密钥中有空格" in values(page.warning)
        assert core.app.shared_app().configured is before


@pytest.mark.usefixtures("at_the_machine")
def test_an_engine_that_the_environment_holds_is_locked() -> None:
    environ = {**ENGINES, "EXA_API_KEY": "verysecret-exa"}
    with scripted_app(says=[], engines=None, **environ) as (app, _), opened(app, "引擎") as page:
        assert any("由环境变量" in caption.value for caption in page.caption)
        assert not [field for field in page.text_input if str(field.key).startswith("engine-exa-")]


def test_who_may_not_edit_sees_why_and_no_field() -> None:
    with (
        scripted_app(says=[], engines=None, **ENGINES, SETTINGS_EDIT_BY="nobody") as (app, _),
        opened(app, "引擎") as page,
    ):
        assert "不能从页面修改" in values(page.info)
        assert not page.text_input
        assert [button.label for button in page.button] == ["全部测试", "测试", "测试"]
        go(page, "模型")
        assert "不能从页面修改" in values(page.info)
        assert not page.text_input
