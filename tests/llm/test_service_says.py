"""What a model service says beside its words: that the answer was cut off, that the question should go elsewhere."""

from __future__ import annotations

import pytest

from core.answer.events import CUT_OFF_KIND, Notice, RunFailed, Usage
from core.app import build_app
from core.run.question import AnswerOptions
from support.agents import notice, of, streamed, wired_agent
from support.base import loaded
from support.openai_server import CutOff, Redirect, in_turn, openai_server


@pytest.mark.parametrize(("reason", "words"), [("length", "长度的上限"), ("content_filter", "内容过滤")])
@pytest.mark.parametrize("mode", ["chat", "agent"])
def test_an_answer_that_was_cut_off_says_so(mode: str, reason: str, words: str) -> None:
    with wired_agent(environ={"AGENT_STRATEGY": "tools"}) as world:
        assert world.server is not None
        world.server.reply = in_turn(["前半句", CutOff(reason)])
        service = world.runner if mode == "agent" else world.app.chat
        events = list(service.stream("问题", options=AnswerOptions()))
    assert streamed(events) == "前半句"
    said = notice(events)
    assert said.kind == CUT_OFF_KIND
    assert words in said.text
    assert said.to_json()["finishReason"] == reason
    assert [event.type for event in events[-2:]] == ["answer", "usage"]


def test_a_whole_answer_says_nothing() -> None:
    with wired_agent() as world:
        assert world.server is not None
        world.server.reply = in_turn(["一句完整的回答。"])  # without a number: there are no sources to cite
        assert not of(list(world.app.chat.stream("问题")), Notice)


def test_a_redirect_of_the_model_service_is_not_followed() -> None:
    """The question and the key were meant for the address that was configured."""
    with openai_server() as configured, openai_server() as stranger:
        configured.reply = in_turn([Redirect(stranger.url)])
        app = build_app(loaded(OPENAI_BASE_URL=configured.url, OPENAI_API_KEY="sk-secret", LLM_MODEL="openai:reply"))
        try:
            events = list(app.chat.stream("只给自己的服务器看的问题"))
        finally:
            app.close()
        assert stranger.requests == []
    (failed,) = of(events, RunFailed)
    assert failed.kind == "model_redirected"
    assert "没有跟随" in failed.message
    assert not of(events, Usage)
