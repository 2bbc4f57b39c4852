"""The button 让模型复核: when it is there, what it changes on the page and in the database, and what it says when it fails."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from core.app import App
from core.search.types import SearchResult
from core.ui import identity
from core.ui.session import ChatState
from support.fake_engines import FakeEngine
from support.openai_server import Fail, OpenAIServer, in_turn, openai_server
from support.pages import ask, costs, html, open_page, rerun, search, serving, values
from support.waiting import until

PAGE = "为应对冬季低温，全市将在十一月底以前更换老旧水表八千只，费用由市财政承担，居民不需要付费。增加的水量主要用于新建的三个居民区。"
ANSWER = "换水表的费用由财政出，居民不用付费[1]。"
QUOTE = "费用由市财政承担，居民不需要付费"
FOUND = [SearchResult("供水", "https://news.example/1", PAGE, "news.example", engine="fake", rank=1, text=PAGE)]

ME = "m" * 32


@pytest.fixture(autouse=True)
def me(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page is opened by the same browser."""
    monkeypatch.setattr(identity, "visitor", lambda: ME)


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with openai_server() as running:
        yield running


def environment(server: OpenAIServer, **more: str) -> dict[str, str]:
    return {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url, "LLM_MODEL": "openai:reply", **more}


@pytest.fixture
def app(server: OpenAIServer) -> Iterator[App]:
    with serving([FakeEngine("fake", FOUND)], **environment(server)) as running:
        yield running


def answered() -> AppTest:
    return unfold(ask(search(open_page(), on=True), "换表要钱吗？"))


def unfold(page: AppTest) -> AppTest:
    """As a click does; AppTest forgets it with every run."""
    page.session_state[f"claims-{state(page).messages[-1].id}"] = True
    return rerun(page)


def state(page: AppTest) -> ChatState:
    found: ChatState = page.session_state["chat"]
    return found


def offered(page: AppTest) -> bool:
    return "让模型复核" in [button.label for button in page.main.button]


def review(page: AppTest) -> AppTest:
    next(button for button in page.main.button if button.label == "让模型复核").click()
    rerun(page)
    until(lambda: not state(rerun(page)).tasks)
    return unfold(page)


def test_the_models_word_is_shown_as_such_and_kept(app: App, server: OpenAIServer) -> None:
    server.reply = in_turn([ANSWER], [f"1｜支持｜「{QUOTE}」"])
    page = answered()
    assert 'class="cite unchecked"' in html(page)
    review(page)
    shown = html(page)
    assert 'class="cite model"' in shown
    assert 'class="cite supported"' not in shown
    assert "◇ 有据（模型复核） [1]" in shown
    assert "✓ 有据" not in shown
    assert "模型认为来源支持这一句，原话如下" in shown
    assert "核验 · 1 处有据（模型复核）" in [fold.label for fold in page.expander]
    assert "看了 1 处，采纳 1 处，另用了 18 tokens。" in values(page.caption)
    assert_costs_are_apart(page)
    assert not offered(page)
    id, answer = state(page).conversation_id, state(page).messages[-1]
    until(lambda: app.store.load(id or "", visitor_id=ME).messages[-1] == answer)


def assert_costs_are_apart(page: AppTest) -> None:
    (lines,) = costs(page)
    assert lines[0] == "18 tokens", "of the answer alone"
    assert lines[-1] == "复核另用 18 tokens"
    assert 'class="wy-cost">18 tokens</span>' in html(page), "the total is always in view"


def test_a_failure_is_a_sentence_and_changes_nothing(app: App, server: OpenAIServer) -> None:
    server.reply = in_turn([ANSWER], [Fail(500)])
    page = review(answered())
    assert "没有复核成：" in values(page.warning)
    assert 'class="cite unchecked"' in html(page)
    assert offered(page)
    server.reply = in_turn([f"1｜支持｜「{QUOTE}」"])
    assert not review(page).warning
    assert 'class="cite model"' in html(page)


def test_too_many_questions_are_a_sentence(server: OpenAIServer) -> None:
    server.reply = in_turn([ANSWER])
    with serving([FakeEngine("fake", FOUND)], **environment(server, LIMITS_ANSWERS_PER_MINUTE="1")):
        page = review(answered())
        assert "提问次数已达到每分钟的上限" in values(page.warning)


def test_who_does_not_want_it_has_no_button(server: OpenAIServer) -> None:
    server.reply = in_turn([ANSWER])
    with serving([FakeEngine("fake", FOUND)], **environment(server, CHECKS_JUDGE="off")):
        assert not offered(answered())


def test_the_embedded_model_is_never_asked() -> None:
    with serving([FakeEngine("fake", FOUND)]) as app:
        assert app.model.choice.is_embedded
        assert not offered(answered())


# ── By itself ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def automatic(server: OpenAIServer) -> Iterator[App]:
    with serving([FakeEngine("fake", FOUND)], **environment(server, CHECKS_JUDGE="auto")) as running:
        yield running


def reviewed(page: AppTest) -> AppTest:
    until(lambda: not state(rerun(page)).tasks)
    return page


def test_the_answer_is_there_before_the_review_which_comes_by_itself(automatic: App, server: OpenAIServer) -> None:
    go_on = threading.Event()
    server.reply = in_turn([ANSWER], [go_on, f"1｜支持｜「{QUOTE}」"])
    page = ask(search(open_page(), on=True), "换表要钱吗？")
    assert state(page).run is None, "the answer is complete, and the next question may be asked"
    assert 'class="cite unchecked"' in html(page)
    assert "模型正在复核引用…" in html(page)
    assert "复核另用" not in html(page)
    id = state(page).conversation_id or ""
    until(lambda: automatic.store.load(id, visitor_id=ME).messages[-1].is_whole)
    go_on.set()
    reviewed(page)
    assert 'class="cite model"' in html(page)
    assert "模型正在复核" not in html(page)
    assert "核验 · 1 处有据（模型复核）" in [fold.label for fold in page.expander]
    assert not page.session_state[f"claims-{state(page).messages[-1].id}"], "nobody has unfolded it"
    assert_costs_are_apart(page)
    answer = state(page).messages[-1]
    until(lambda: automatic.store.load(id, visitor_id=ME).messages[-1] == answer)


def test_a_click_while_it_comes_is_not_lost(automatic: App, server: OpenAIServer) -> None:
    go_on = threading.Event()
    server.reply = in_turn([ANSWER], [go_on, f"1｜支持｜「{QUOTE}」"])
    page = ask(search(open_page(), on=True), "换表要钱吗？")
    (task,) = state(page).tasks.values()
    go_on.set()
    until(task.future.done)
    next(button for button in page.main.button if button.label == "来源原文").click()
    rerun(page)
    assert [box.label for box in page.selectbox if box.label == "来源"], "the dialog is open"
    assert not state(page).tasks
    assert 'class="cite model"' in html(page)


def test_a_fold_that_is_open_stays_open(automatic: App, server: OpenAIServer) -> None:
    go_on = threading.Event()
    server.reply = in_turn([ANSWER], [go_on, f"1｜支持｜「{QUOTE}」"])
    page = answered()
    assert not offered(page), "it is being reviewed"
    go_on.set()
    until(lambda: not state(unfold(page)).tasks)
    assert "看了 1 处，采纳 1 处" in values(page.caption)


@pytest.mark.parametrize("reply", [[Fail(500)], ["说不好。"]])
def test_a_review_that_fails_makes_no_noise(automatic: App, server: OpenAIServer, reply: list[object]) -> None:
    server.reply = in_turn([ANSWER], reply)
    page = unfold(reviewed(ask(search(open_page(), on=True), "换表要钱吗？")))
    assert not page.warning
    assert not page.error
    assert 'class="cite unchecked"' in html(page)
    assert offered(page), "the reader may ask for it"


def test_the_next_question_is_answered_meanwhile(automatic: App, server: OpenAIServer) -> None:
    go_on = threading.Event()
    server.reply = in_turn([ANSWER], [go_on, f"1｜支持｜「{QUOTE}」"], ["好的，不客气。"])
    page = ask(search(open_page(), on=True), "换表要钱吗？")
    until(lambda: len(server.requests) > 1)
    ask(search(page, on=False), "谢谢")
    assert state(page).messages[-1].text == "好的，不客气。"
    assert 'class="cite unchecked"' in html(page)
    go_on.set()
    reviewed(page)
    assert 'class="cite model"' in html(page)
    first = next(message for message in state(page).messages if message.role == "assistant")
    assert first.check is not None
    assert first.check.opinion is not None


def test_the_review_of_an_answer_that_is_gone_is_dropped(automatic: App, server: OpenAIServer) -> None:
    go_on = threading.Event()
    again = "费用由市财政承担[1]。"
    server.reply = in_turn([ANSWER], [go_on, f"1｜支持｜「{QUOTE}」"], [again], ["1｜无法判断"])
    page = ask(search(open_page(), on=True), "换表要钱吗？")
    until(lambda: len(server.requests) > 1)
    click(page, "重新回答")
    go_on.set()
    until(lambda: not state(rerun(page)).tasks)
    assert [message.text for message in state(page).messages if message.role == "assistant"] == [again]
    id = state(page).conversation_id or ""
    automatic.outbox.flush(10)
    assert [one.text for one in automatic.store.load(id, visitor_id=ME).messages if one.role == "assistant"] == [again]


# ── 按核验结果改写 ────────────────────────────────────────────────────────────────────────────────────────────────────

WRONG = "全市将在十一月底以前更换老旧水表九千只[1]。"
RIGHT = "全市将在十一月底以前更换老旧水表八千只[1]。"


def click(page: AppTest, words: str) -> AppTest:
    next(button for button in page.button if button.label == words).click()
    return rerun(page)


def labels(page: AppTest) -> list[str]:
    return [button.label for button in page.button]


def proposed(server: OpenAIServer, text: str = RIGHT) -> AppTest:
    server.reply = in_turn([WRONG], [text])
    page = click(answered(), "按核验结果改写")
    until(lambda: not state(rerun(page)).tasks)
    return unfold(page)


def test_another_version_is_proposed_adopted_and_taken_back(app: App, server: OpenAIServer) -> None:
    page = proposed(server)
    assert f"<del>{WRONG}</del><ins>{RIGHT}</ins>" in html(page)
    assert "改写后：1 处有据" in values(page.caption)
    assert state(page).messages[-1].text == WRONG, "nothing is decided yet"
    page = click(page, "采用")
    answer = state(page).messages[-1]
    assert (answer.text, answer.before) == (RIGHT, WRONG)
    assert answer.usage is not None
    assert answer.usage.total == 36
    assert "核验 · 1 处有据" in [fold.label for fold in page.expander]
    assert "改写前的回答" in [fold.label for fold in page.expander]
    assert "采用" not in labels(page)
    id = state(page).conversation_id or ""
    until(lambda: app.store.load(id, visitor_id=ME).messages[-1] == answer)
    page = click(page, "恢复")
    old = state(page).messages[-1]
    assert (old.text, old.before) == (WRONG, "")
    assert "核验 · :red[1 处不符]" in [fold.label for fold in page.expander]
    until(lambda: app.store.load(id, visitor_id=ME).messages[-1] == old)


def test_who_declines_keeps_the_answer(app: App, server: OpenAIServer) -> None:
    page = click(proposed(server), "不用")
    assert state(page).messages[-1].text == WRONG
    assert "采用" not in labels(unfold(page))
    assert "按核验结果改写" in labels(page)


def test_a_version_that_changes_nothing_is_a_sentence(app: App, server: OpenAIServer) -> None:
    page = proposed(server, WRONG)
    assert "没有改写成：模型没有改动这个回答。" in values(page.warning)


def test_only_the_last_answer_with_problems_can_be_rewritten(app: App, server: OpenAIServer) -> None:
    server.reply = in_turn([WRONG], [RIGHT])
    page = answered()
    assert "按核验结果改写" in labels(page)
    problem = f"claims-{state(page).messages[-1].id}"
    ask(page, "再说一遍")
    page.session_state[problem] = True
    assert "按核验结果改写" not in labels(rerun(page)), "another answer came after it"
    assert "按核验结果改写" not in labels(unfold(page)), "nothing is wrong"
