"""Answers as responses, through OpenAI's own client, which puts the events of a stream together."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from openai.types.responses import Response

from support.openai_protocol import TEXT, Served
from support.openai_server import DISCONNECT, CutOff, Thinks, in_turn

QUESTION = "全固态电池什么时候量产？"


def parts_of(response: Response) -> tuple[Any, Any]:
    """Return the reasoning and the text of a response as JSON."""
    reasoning, message = (item.to_dict() for item in response.output)
    return reasoning, message["content"][0]  # type: ignore[index]


def test_a_response_has_reasoning_text_and_annotations(served: Served) -> None:
    response = served.client().responses.create(model="wenyuan-chat", input=QUESTION)
    reasoning, text = parts_of(response)
    assert reasoning["type"] == "reasoning"
    assert reasoning["summary"][0]["text"].startswith(f"- 搜索「{QUESTION}」 · SearXNG · 1 条")
    assert response.output_text == text["text"]
    assert response.output_text.startswith("".join(TEXT) + "\n\n---\n\n**参考文献**")
    cited = text["annotations"]
    assert [text["text"][one["start_index"] : one["end_index"]] for one in cited] == ["[1]", "[1]"]
    assert [one["verdict"] for one in cited] == ["supported", "unchecked"]
    assert {one["type"] for one in cited} == {"url_citation"}
    assert (response.status, response.error, response.incomplete_details) == ("completed", None, None)
    assert response.usage
    assert (response.usage.input_tokens, response.usage.output_tokens, response.usage.total_tokens) == (11, 7, 18)
    assert (response.model_extra or {})["wenyuan"]["searches"]
    assert (response.model_extra or {})["store"] is False


def test_the_events_of_a_stream_add_up_to_the_response(served: Served) -> None:
    whole = served.client().responses.create(model="wenyuan-chat", input=QUESTION)
    go_on, events = served.say_one_by_one(), []
    with served.client().responses.stream(model="wenyuan-chat", input=QUESTION) as stream:
        for event in stream:
            events.append(event)
            if event.type == "response.output_text.delta":
                go_on()
        final = stream.get_final_response()
    assert final.output_text == whole.output_text
    assert parts_of(final)[1]["annotations"] == parts_of(whole)[1]["annotations"]
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert deltas[:3] == list(TEXT), "each as it came"
    assert "".join(deltas) == whole.output_text
    told = [event.delta for event in events if event.type == "response.reasoning_summary_text.delta"]
    assert "".join(told) == parts_of(final)[0]["summary"][0]["text"]
    added = [event.annotation for event in events if event.type == "response.output_text.annotation.added"]
    assert len(added) == 2
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kinds = list(dict.fromkeys(event.type for event in events))
    assert kinds == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
        "response.output_item.done",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.annotation.added",
        "response.output_text.done",
        "response.content_part.done",
        "response.completed",
    ]


def test_an_asynchronous_client_gets_the_same(served: Served) -> None:
    async def ask() -> str:
        async with served.async_client() as client:
            stream = await client.responses.create(model="wenyuan-chat", input=QUESTION, stream=True)
            return "".join([event.delta async for event in stream if event.type == "response.output_text.delta"])

    assert asyncio.run(ask()).startswith("".join(TEXT))


def test_without_reasoning_the_message_is_the_first_item(served: Served) -> None:
    served.model.reply = in_turn(["好。"])
    with served.client().responses.stream(model="wenyuan-plain", input=QUESTION) as stream:
        response = stream.get_final_response()
    assert [item.type for item in response.output] == ["message"]
    assert response.output_text == "好。"


@pytest.mark.parametrize("streamed", [False, True])
def test_a_response_that_was_cut_off_is_incomplete(served: Served, streamed: bool) -> None:
    served.model.reply = in_turn([Thinks("想"), "前半句", CutOff("length")])
    if streamed:
        (response,) = (
            event.response
            for event in served.client().responses.create(model="wenyuan-plain", input=QUESTION, stream=True)
            if event.type == "response.incomplete"
        )
    else:
        response = served.client().responses.create(model="wenyuan-plain", input=QUESTION)
    assert response.status == "incomplete"
    assert response.incomplete_details
    assert response.incomplete_details.reason == "max_output_tokens"
    assert response.output[-1].to_dict()["status"] == "incomplete"


def test_a_response_that_fails_on_the_way_keeps_its_text(served: Served) -> None:
    served.model.reply = in_turn(["前半句", DISCONNECT])
    *_, last = served.client().responses.create(model="wenyuan-plain", input=QUESTION, stream=True)
    assert last.type == "response.failed"
    assert last.response.output_text.startswith("前半句")
    assert last.response.error
    assert last.response.error.code == "server_error"
    assert "断开" in last.response.error.message


def test_input_may_be_a_conversation_with_what_others_left_in_it(served: Served) -> None:
    first = served.client().responses.create(model="wenyuan-chat", input=QUESTION)
    left = [item.to_dict() for item in first.output]
    asked: Any = [{"role": "user", "content": QUESTION}, *left, {"role": "user", "content": "再说短些"}]
    served.client().responses.create(model="wenyuan-plain", input=asked, instructions="只用一句话。")
    turns = [(one["role"], one["content"]) for one in served.model.requests[-1]["messages"][1:]]
    assert turns[:2] == [("user", QUESTION), ("assistant", "".join(TEXT))]
    assert turns[2][1].index("只用一句话。") < turns[2][1].index("再说短些")
