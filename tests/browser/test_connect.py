"""A model is connected in the page: by whoever sits at the machine, at once for everybody, and no key ever comes back."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, WebSocket, expect
from websockets.exceptions import InvalidStatus

from core.base.settings import SavedSettingsFile
from core.llm.model_services import find_service
from support.app_server import AppServer
from support.faults import unused_port
from support.forked_server import forked_server
from support.oidc_server import oidc_server
from support.openai_server import OpenAIServer, openai_server
from support.visitor import Visitor
from support.waiting import until
from support.wire import Wire

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]
KEY = "right-key-0123456789-abcdef"
WRONG = "wrong-key-9876543210-fedcba"
ANSWER = "问源的回答会给出来源"
UNCONNECTED = "还没有连接模型：现在只能摘录来源中的原句"
ENVIRON = {"SEARCH_PROVIDER_PRIORITY": "exa,bundled"}


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with openai_server() as server:
        server.api_key = KEY
        yield server


@pytest.fixture
def fresh_app() -> Iterator[AppServer]:
    """It has not looked yet which models there are on this machine."""
    with forked_server(**ENVIRON) as server:
        yield server


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("connect")


@pytest.fixture(scope="module")
def running_app(data: Path) -> Iterator[AppServer]:
    with forked_server(DATA_DIR=str(data), **ENVIRON) as server:
        yield server


@pytest.fixture
def app(running_app: AppServer, data: Path) -> AppServer:
    """Nothing is connected, whatever was before."""
    saved = SavedSettingsFile(data)
    if connected := saved.read().values:
        saved.change(dict.fromkeys(connected, ""))
        until(lambda: is_unconnected(running_app))
    return running_app


def is_unconnected(app: AppServer) -> bool:
    with Wire(app.url, page="settings", headers={"Origin": app.url}) as tab:
        return UNCONNECTED in tab.news


class Hand:
    """Counts its clicks and pastes."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = self.pastes = 0

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1

    def paste(self, text: str) -> None:
        """Into whatever has the focus, all at once."""
        self.page.keyboard.insert_text(text)
        self.pastes += 1


def field(page: Page, name: str) -> Locator:
    return page.get_by_role("textbox", name=name)


def choose(visitor: Visitor, name: str) -> None:
    pill(visitor.page, name).click()
    visitor.settled()


def pill(page: Page, name: str) -> Locator:
    return page.get_by_test_id("stButtonGroup").filter(has_text="DeepSeek").get_by_text(name, exact=True)


def at_settings(visitor: Visitor, part: str = "模型") -> Visitor:
    if not visitor.page.url.endswith("/settings"):
        visitor.page.goto(f"{visitor.url}/settings")
    visitor.page.get_by_role("tab", name=part, exact=True).click()
    visitor.settled()
    return visitor


def point_to(visitor: Visitor, address: str) -> None:
    field(visitor.page, "地址").fill(address)
    field(visitor.page, "地址").press("Enter")


def received(page: Page) -> list[bytes]:
    """Everything that the server tells this page from now on, shown or not."""
    frames: list[bytes] = []

    def follow(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: frames.append(frame if isinstance(frame, bytes) else frame.encode()))

    page.on("websocket", follow)
    return frames


@pytest.fixture
def at_home() -> Iterator[tuple[OpenAIServer, str]]:
    """A model at an address that the registry knows, and the name of its service."""
    with ExitStack() as stack:
        for id in ("vllm", "lmstudio", "ollama"):
            port = int(find_service(id).base_url.removesuffix("/v1").rpartition(":")[2])
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError:
                    continue
            yield stack.enter_context(openai_server(port)), find_service(id).label
            return
        pytest.skip("somebody uses the ports of vLLM, LM Studio and Ollama")


def test_from_nothing_to_an_answer_in_five_clicks_and_one_paste(
    fresh_app: AppServer, visit: Visit, at_home: tuple[OpenAIServer, str]
) -> None:
    model, name = at_home
    model.api_key = KEY
    early, visitor = visit(fresh_app), visit(fresh_app)
    page, hand = visitor.page, Hand(visitor.page)
    hand.click(page.get_by_role("button", name="连接模型"))
    hand.click(pill(page, name))
    hand.click(field(page, "密钥"))
    hand.paste(KEY)
    hand.click(page.get_by_role("button", name="保存"))
    page.get_by_role("dialog").wait_for(state="hidden")
    visitor.ask("你好")
    visitor.answered(ANSWER)
    assert (hand.clicks, hand.pastes) == (4, 1)
    visitor.cost_shows("ok")

    early.ask("一直开着的页面呢？")  # for everybody, and nothing was restarted
    early.answered(ANSWER)


def test_below_an_answer_without_sources_the_same_is_offered(app: AppServer, visit: Visit) -> None:
    visitor = visit(app)
    visitor.ask("写一首诗")
    visitor.answered(UNCONNECTED)
    visitor.page.get_by_test_id("stChatMessage").last.get_by_role("button", name="连接").click()
    expect(visitor.page.get_by_role("dialog")).to_contain_text("DeepSeek")


def test_a_model_on_this_machine_is_offered_by_itself(fresh_app: AppServer, visit: Visit) -> None:
    port = int(find_service("lmstudio").base_url.removesuffix("/v1").rpartition(":")[2])
    try:
        running = openai_server(port)
        model = running.__enter__()
    except OSError:
        pytest.skip("somebody uses LM Studio's port")
    try:
        model.models = ["ok", "think"]
        visitor = visit(fresh_app)
        hand = Hand(visitor.page)
        hand.click(visitor.page.get_by_role("button", name="连接本机的 LM Studio"))
        hand.click(visitor.page.get_by_role("button", name="保存"))
        visitor.page.get_by_role("dialog").wait_for(state="hidden")
        visitor.ask("你好")
        visitor.answered(ANSWER)
        assert (hand.clicks, hand.pastes) == (2, 0)
    finally:
        running.__exit__(None, None, None)


def test_what_goes_wrong_is_said_and_changes_nothing(app: AppServer, visit: Visit, model: OpenAIServer) -> None:
    visitor = at_settings(visit(app, path="/settings"))
    page = visitor.page
    choose(visitor, "其他 OpenAI 兼容地址")
    point_to(visitor, "127.0.0.1:1/v1")
    expect(page.get_by_text("地址应以").filter(has_text="开头")).to_be_visible()
    point_to(visitor, f"http://127.0.0.1:{unused_port()}/v1")
    expect(page.get_by_text("拒绝了连接")).to_be_visible()
    point_to(visitor, model.url)
    expect(page.get_by_text("模型服务拒绝了这个密钥")).to_be_visible()
    field(page, "密钥").fill("有空格 的密钥")
    expect(page.get_by_text("密钥中有空格、换行或非英文字符")).to_be_visible()
    field(page, "密钥").fill(WRONG)
    expect(page.get_by_text("密钥中有空格")).to_have_count(0)
    expect(page.get_by_text("模型服务拒绝了这个密钥")).to_be_visible()
    field(page, "模型名").fill("ok")
    field(page, "模型名").press("Enter")
    page.get_by_role("button", name="测试").click()
    expect(page.get_by_text("测试失败：模型服务拒绝了当前的密钥")).to_be_visible()

    model.listing, model.calls_tools = (200, b"<html>Welcome</html>"), True
    field(page, "密钥").fill(KEY)
    expect(page.get_by_text("这个地址没有给出模型列表")).to_be_visible()
    field(page, "模型名").fill("think")
    field(page, "模型名").press("Enter")
    visitor.settled()
    page.get_by_role("button", name="测试").click()
    expect(page.get_by_text("会先思考；能调用工具")).to_be_visible()
    page.reload()
    expect(page.get_by_text(UNCONNECTED)).to_be_visible()
    assert WRONG not in app.log
    assert KEY not in app.log


def test_a_list_of_four_hundred_models(app: AppServer, visit: Visit, model: OpenAIServer) -> None:
    model.models = [f"vendor/model-{number:03}" for number in range(399)] + ["ok"]
    visitor = at_settings(visit(app, path="/settings"))
    page = visitor.page
    choose(visitor, "其他 OpenAI 兼容地址")
    point_to(visitor, model.url)
    field(page, "密钥").fill(KEY)
    page.get_by_text("共 400 个").wait_for()
    visitor.settled()
    box = page.get_by_role("combobox", name="模型")
    box.fill("model-377")
    page.get_by_role("option", name="vendor/model-377").click()
    visitor.settled()
    page.get_by_role("button", name="保存").click()
    expect(page.get_by_text("现在由 vendor/model-377 回答")).to_be_visible()


def save(visitor: Visitor, model: OpenAIServer) -> None:
    choose(visitor, "其他 OpenAI 兼容地址")
    point_to(visitor, model.url)
    field(visitor.page, "密钥").fill(KEY)
    visitor.page.get_by_text("也可以自己输入").wait_for()
    visitor.settled()
    visitor.page.get_by_role("button", name="保存").click()
    visitor.page.get_by_text("现在由 ok 回答").wait_for()
    visitor.settled()


def test_no_key_comes_back_and_none_is_anywhere_else(
    app: AppServer, visit: Visit, model: OpenAIServer, data: Path
) -> None:
    visitor = visit(app)
    page = visitor.page
    told = received(page)
    save(at_settings(visitor), model)
    expect(field(page, "密钥")).to_have_value("")
    assert KEY not in page.content()

    page.reload()
    page.get_by_text("也可以自己输入").wait_for()  # with the key that was saved
    visitor.settled()
    expect(field(page, "密钥")).to_have_attribute("placeholder", "已有密钥，留空则不变")
    page.get_by_role("tab", name="配置").click()
    page.get_by_text("查找设置").wait_for()
    visitor.settled()
    page.goto(app.url)
    visitor.ask("我的密钥是什么？")
    visitor.answered(ANSWER)
    exported = ""
    for name in ("Markdown", "网页（HTML）", "JSON"):
        page.get_by_role("button", name="导出").click()
        with page.expect_download() as download:
            page.get_by_role("button", name=name, exact=True).click()
        exported += download.value.path().read_text("utf-8")
        page.keyboard.press("Escape")
    assert ANSWER[:5] in exported

    (kept,) = [path for path in data.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert kept.relative_to(data) == Path("settings/page.json")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert told
    assert not [frame for frame in told if KEY.encode() in frame]
    for place in (page.content(), exported, app.log):
        assert KEY not in place

    at_settings(visitor)
    page.get_by_role("button", name="断开").click()
    page.get_by_text(UNCONNECTED).wait_for()
    assert KEY not in kept.read_text("utf-8")


def test_the_saved_key_is_sent_to_no_other_address(app: AppServer, visit: Visit, model: OpenAIServer) -> None:
    visitor = at_settings(visit(app, path="/settings"))
    save(visitor, model)
    with openai_server() as elsewhere:
        elsewhere.api_key = KEY
        point_to(visitor, elsewhere.url)
        expect(visitor.page.get_by_text("模型服务拒绝了这个密钥")).to_be_visible()


def test_what_the_environment_holds_is_locked_and_says_why(visit: Visit, model: OpenAIServer) -> None:
    with forked_server(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=model.url, **ENVIRON) as app:
        model.models = ["ok", "think"]
        visitor = at_settings(visit(app, path="/settings"))
        page = visitor.page
        expect(page.get_by_text("OPENAI_API_KEY、OPENAI_BASE_URL 由环境变量")).to_be_visible()
        expect(field(page, "密钥")).to_have_count(0)
        page.get_by_text("共 2 个").wait_for()
        visitor.settled()
        page.get_by_role("button", name="保存").click()
        expect(page.get_by_text("现在由 ok 回答")).to_be_visible()


# ── Who may not ───────────────────────────────────────────────────────────────────────────────────────────────────────


def form_shown(app: AppServer, **headers: str) -> bool:
    with Wire(
        app.url, page="settings", headers={name.replace("_", "-"): value for name, value in headers.items()}
    ) as tab:
        shown = tab.news
    assert ("粘贴到这里" in shown) != ("才能在这里修改" in shown)
    return "粘贴到这里" in shown


def test_another_machine_and_another_page_see_no_form(fresh_app: AppServer) -> None:
    app = fresh_app
    assert form_shown(app, Origin=app.url)
    assert not form_shown(app), "a program, or a stranger at the other end of a tunnel"
    for origin in ("https://evil.example", "http://localhost:3000", "http://localhost:8501"):
        with pytest.raises(InvalidStatus):
            form_shown(app, Origin=origin)
    assert form_shown(app, Origin=app.url)
    assert not form_shown(app, Origin=app.url, X_Forwarded_For="203.0.113.7")
    assert not form_shown(app, Origin=app.url), "the stranger may come again without the header"


def test_the_link_that_the_terminal_prints_makes_an_owner_once(fresh_app: AppServer, visit: Visit) -> None:
    until(lambda: "首次设置：" in fresh_app.log)
    link = re.search(r"首次设置：(\S+)（", fresh_app.log)
    assert link
    owner = visit(fresh_app, path=link[1].removeprefix(fresh_app.url))
    expect(owner.page.get_by_text("现在可以用这个浏览器修改")).to_be_visible()
    assert "setup" not in owner.page.url
    late = visit(fresh_app, path=link[1].removeprefix(fresh_app.url))
    expect(late.page.get_by_text("这个设置链接已经用过")).to_be_visible()
    for visitor, may in ((owner, True), (late, False)):
        visitor.page.goto(f"{fresh_app.url}/settings")
        expect(visitor.page.get_by_text(UNCONNECTED)).to_be_visible()
        visitor.settled()
        assert visitor.page.get_by_text("./wenyuan setup-link").is_visible() is not may
    assert not form_shown(fresh_app, Origin=fresh_app.url), "now that it has an owner, the place counts for nothing"


def test_an_account_on_the_list_may_and_another_may_not(visit: Visit) -> None:
    people = {"zhang": {"sub": "1", "name": "张三"}, "li": {"sub": "2", "name": "李四"}}
    with (
        oidc_server(people) as provider,
        forked_server(secrets=provider.secrets, SETTINGS_EDIT_BY="login", SETTINGS_ADMINS="1", **ENVIRON) as app,
    ):
        for person, may in (("li", False), ("zhang", True)):
            visitor = visit(app)
            visitor.page.get_by_role("button", name="登录", exact=True).click()
            visitor.page.get_by_role("button", name=person, exact=True).click()  # on the provider's page
            visitor.page.get_by_text("已登录：").wait_for()
            visitor.settled()
            at_settings(visitor)
            expect(field(visitor.page, "密钥")).to_have_count(1 if may else 0)
            expect(visitor.page.get_by_text("SETTINGS_ADMINS 名单里的帐号")).to_have_count(0 if may else 1)


def test_nobody_means_nobody(visit: Visit) -> None:
    with forked_server(SETTINGS_EDIT_BY="nobody", **ENVIRON) as app:
        visitor = visit(app)
        expect(visitor.page.get_by_role("button", name="连接模型")).to_have_count(0)
        at_settings(visitor)
        expect(visitor.page.get_by_text("这里不能从页面修改")).to_be_visible()
        expect(field(visitor.page, "密钥")).to_have_count(0)
