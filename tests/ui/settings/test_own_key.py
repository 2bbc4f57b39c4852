"""A reader's own key: in one session only, kept nowhere, and sent to no address but the service's own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.app import App, build_app, shared_app
from core.llm import model_services
from core.llm.model import Model
from core.llm.model_services import ModelService
from core.run.choices import Choices
from core.run.question import AnswerOptions
from core.ui.settings import own_key
from support.base import loaded
from support.openai_server import ANSWER, OpenAIServer, openai_server
from support.pages import ask, html, open_page, rerun, search, values
from support.shared import shared_and_closed

KEY = "readers-key-0123456789"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """The only service that there is."""
    with openai_server() as running:
        running.api_key = KEY
        only = (ModelService("deepseek", "DeepSeek", running.url, "https://keys.example"),)
        monkeypatch.setattr(model_services, "SERVICES", only)
        monkeypatch.setattr(own_key, "HOSTED_SERVICES", only)
        yield running


@pytest.fixture
def app() -> Iterator[App]:
    made = build_app(loaded(SEARCH_PROVIDER_PRIORITY="bundled", PANEL_OWN_KEY="1", SETTINGS_EDIT_BY="nobody"))
    with shared_and_closed(made):
        yield made


def press(page: AppTest, label: str) -> AppTest:
    next(button for button in page.button if label in button.label).click()
    return rerun(page)


def test_it_answers_in_this_session_and_in_no_other(server: OpenAIServer, app: App) -> None:
    configured = app.configured
    page = press(open_page(), "连接模型")
    page.text_input[0].set_value(KEY)
    page = press(page, "连接模型")  # a dialog stays open in a browser
    assert page.selectbox[-1].options == ["ok"]
    next(button for button in page.button if button.label == "在这次会话中使用").click()
    page = press(page, "连接模型")
    assert "模型：ok" in values(page.sidebar.caption)
    ask(page, "你好")
    assert ANSWER[:8] in html(page)

    other = ask(open_page(), "你好")
    assert "模型：内置摘录模型" in values(other.sidebar.caption)
    assert ANSWER[:8] not in html(other)

    app.outbox.flush(10)
    files = [path for path in Path(os.environ["DATA_DIR"]).rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    assert shared_app().configured is configured, "nothing was saved"


def test_where_the_built_in_model_has_nothing_to_quote_another_is_offered(app: App) -> None:
    page = ask(open_page(), "写一首诗")
    assert "连接模型" in [button.label for button in page.main.button]
    page = ask(search(page, on=True), "怎么打开联网搜索？")
    assert page.session_state["chat"].messages[-1].cited
    assert "连接模型" not in [button.label for button in page.main.button]


def test_only_services_whose_addresses_are_known_are_offered() -> None:
    assert {"deepseek", "openai"} <= {entry.id for entry in own_key.HOSTED_SERVICES}
    assert all(entry.base_url.startswith("https://") for entry in own_key.HOSTED_SERVICES)


def test_nobody_is_asked_for_a_key_unless_the_administrator_allows_it() -> None:
    with shared_and_closed(build_app(loaded(SEARCH_PROVIDER_PRIORITY="bundled", SETTINGS_EDIT_BY="nobody"))):
        assert not [button for button in open_page().button if "连接" in button.label]


def test_a_chosen_temperature_holds_for_it_and_a_chosen_model_does_not(server: OpenAIServer, app: App) -> None:
    own = Model(own_key._with_model(app.settings, app.settings.openai, "mine"))
    choices = Choices(model="openai:theirs", temperature=0.2)
    question = app.chat.accept_question("你好", options=AnswerOptions(choices=choices, own_model=own))
    assert question.model.label == "mine"
    assert question.settings.llm.temperature == 0.2
    assert app.chat.accept_question("你好", options=AnswerOptions(choices=choices)).model.label == "theirs"
