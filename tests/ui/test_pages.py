"""The pages run headless, without a browser: what is on them, and that LangChain is not loaded before they are painted."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.answer.message import Message
from core.app import shared_app
from core.base.settings import SavedSettingsFile
from core.ui.chat.actions import CHAT_ON
from core.ui.session import ChatState
from support.base import ROOT
from support.pages import ask, choose, open_page, reader

HOME = str(ROOT / "Home.py")


@pytest.fixture(autouse=True)
def _embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "bundled")


@pytest.fixture
def app() -> AppTest:
    test = AppTest.from_file(HOME, default_timeout=30).run()
    assert not test.exception
    return test


def through_home(app: AppTest) -> AppTest:
    """AppTest takes the files in pages/ for the pages: from its second run on it would leave Home.py out."""
    app._page_hash = app._finished_page_script_hash = ""
    return app


def texts(elements: Any) -> str:
    return " ".join(str(element.value) for element in elements)


def test_the_first_screen_teaches(app: AppTest) -> None:
    assert app.header[0].value == "问源"
    assert [button.label.partition("  \n")[0].strip("*") for button in app.main.button] == [
        "查一条法条",
        "核验一份文稿",
        "带来源的研究",
        "比较两种说法",
        "最近的新闻",
        "看看怎么用",
        "打开联网搜索",
        "先不用",
    ]
    assert "内置摘录模型" in texts(app.sidebar.caption)


def test_only_the_newest_messages_are_drawn_until_asked_for(app: AppTest) -> None:
    app.session_state["chat"] = ChatState(messages=[Message("user", f"第{n}条") for n in range(50)])
    app.run()
    assert len(app.chat_message) == 20
    assert "更早的消息" in app.main.button[0].label
    app.main.button[0].click().run()
    assert len(app.chat_message) == 40


def test_a_new_conversation_forgets_the_old_one(app: AppTest) -> None:
    ask(app, "你是谁")
    assert len(app.chat_message) == 2
    through_home(app).run()
    app.sidebar.button[0].click()
    through_home(app).run()
    assert len(app.chat_message) == 0
    assert app.header[0].value == "问源"


def test_a_mode_chosen_before_the_first_question_is_kept_with_the_conversation() -> None:
    page = ask(choose(choose(open_page(), "agent"), "chat"), "你是谁")
    id = page.session_state["chat"].conversation_id
    kept = shared_app().store.load(id, visitor_id=reader(page)).messages
    assert [(message.role, message.text) for message in kept][:2] == [
        ("note", CHAT_ON),
        ("user", "你是谁"),
    ]


def test_one_question_looks_a_handful_of_times_whether_settings_were_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    page, looks, stamp = open_page(), list[Any](), SavedSettingsFile.stamp

    def counted(saved: SavedSettingsFile) -> Any:
        looks.append(stamp(saved))
        return looks[-1]

    monkeypatch.setattr(SavedSettingsFile, "stamp", counted)
    ask(page, "你是谁")
    assert 1 <= len(looks) <= 6


def test_without_any_engine_the_toggle_is_disabled_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "nosuch")
    app = AppTest.from_file(HOME, default_timeout=30).run()
    assert app.toggle[0].disabled
    assert "没有可用的搜索引擎" in texts(app.caption)


def test_langchain_is_not_loaded_before_the_first_paint() -> None:
    code = f"""
import sys
from core.app import App
App.warm_up = lambda self: None
from streamlit.testing.v1 import AppTest
app = AppTest.from_file({HOME!r}, default_timeout=30).run()
assert not app.exception and app.header[0].value == "问源"
print([name for name in sys.modules if name.startswith("langchain")])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
