"""Answers as chat completions, through OpenAI's own client."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from support.openai_protocol import TEXT, Served, serving
from support.openai_server import Call, CutOff, Thinks, in_turn
from support.pdf_files import pdf_file

QUESTION = "全固态电池什么时候量产？"
ASKED: Any = [{"role": "user", "content": QUESTION}]
REFERENCE = "- ［1］ [全固态电池的量产时间](https://example.org/a) — example.org"


def chat(served: Served, model: str = "wenyuan-chat", messages: Any = ASKED, **options: Any) -> ChatCompletion:
    answer = served.client().chat.completions.create(model=model, messages=messages, **options)
    assert isinstance(answer, ChatCompletion)
    return answer


def stream(
    served: Served, model: str = "wenyuan-chat", messages: Any = ASKED, **options: Any
) -> list[ChatCompletionChunk]:
    return list(served.client().chat.completions.create(model=model, messages=messages, stream=True, **options))


def text_of(answer: ChatCompletion) -> str:
    return answer.choices[0].message.content or ""


def joined(chunks: list[ChatCompletionChunk], field: str = "content") -> str:
    return "".join(getattr(choice.delta, field, None) or "" for chunk in chunks for choice in chunk.choices)


def own(answer: ChatCompletion | ChatCompletionChunk) -> dict[str, Any]:
    """Return what the program says beyond OpenAI's interface."""
    found: dict[str, Any] = (answer.model_extra or {})["wenyuan"]
    return found


# ── The answer ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_answer_has_its_sources_verdicts_and_searches(served: Served) -> None:
    answer = chat(served)
    text, message = text_of(answer), answer.choices[0].message
    assert text.startswith("".join(TEXT) + "\n\n---\n\n**参考文献**\n\n" + REFERENCE)
    assert "**依据核验**\n\n- 1 处有据 · 1 处未核。" in text
    cited = [one.url_citation for one in message.annotations or ()]
    assert [text[one.start_index : one.end_index] for one in cited] == ["[1]", "[1]"]
    assert {(one.url, one.title) for one in cited} == {("https://example.org/a", "全固态电池的量产时间")}
    assert [one.model_extra["verdict"] for one in cited if one.model_extra] == ["supported", "unchecked"]
    assert all(one.model_extra and one.model_extra["number"] == 1 and one.model_extra["reason"] for one in cited)
    assert served.web.asked == [QUESTION]
    (search,) = own(answer)["searches"]
    assert search["attempts"][0] | {"seconds": 0} == {
        "provider": "searxng",
        "outcome": "ok",
        "seconds": 0,
        "reason": "",
    }
    assert [one["verdict"] for one in own(answer)["checked"]["statements"]] == ["supported", "unchecked"]
    assert own(answer)["sources"][0]["read"] == "snippet"
    assert own(answer)["statutes"] == own(answer)["notices"] == []
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (11, 7, 18)


def test_a_stream_brings_the_same_piece_by_piece(served: Served) -> None:
    go_on, chunks = served.say_one_by_one(), []
    options: Any = {"stream": True, "stream_options": {"include_usage": True}}
    for chunk in served.client().chat.completions.create(model="wenyuan-chat", messages=ASKED, **options):
        chunks.append(chunk)
        if any(choice.delta.content for choice in chunk.choices):
            go_on()
    whole = chat(served)
    assert joined(chunks) == text_of(whole)
    contents = [choice.delta.content for chunk in chunks for choice in chunk.choices if choice.delta.content]
    assert contents[:3] == list(TEXT), "each as it came"
    assert chunks[0].choices[0].delta.role == "assistant"
    assert {chunk.id for chunk in chunks} == {chunks[0].id}
    *_, cited, last, usage = chunks
    annotations = (cited.choices[0].delta.model_extra or {})["annotations"]
    assert annotations == [one.to_dict() for one in whole.choices[0].message.annotations or ()]
    assert last.choices[0].finish_reason == "stop"
    assert own(last)["sources"] == own(whole)["sources"]
    assert (usage.choices, usage.usage) == ([], whole.usage)


def test_usage_comes_in_a_stream_only_if_it_is_asked_for(served: Served) -> None:
    assert all(chunk.usage is None and chunk.choices for chunk in stream(served))


def test_an_asynchronous_client_gets_the_same(served: Served) -> None:
    async def ask() -> tuple[str, str]:
        async with served.async_client() as client:
            answer = await client.chat.completions.create(model="wenyuan-chat", messages=ASKED)
            chunks = await client.chat.completions.create(model="wenyuan-chat", messages=ASKED, stream=True)
            return text_of(answer), joined([chunk async for chunk in chunks])

    whole, streamed = asyncio.run(ask())
    assert whole == streamed
    assert whole.startswith("".join(TEXT))


def test_the_raw_response_is_json_in_utf_8(served: Served) -> None:
    raw = served.client().chat.completions.with_raw_response.create(model="wenyuan-plain", messages=ASKED)
    assert raw.headers["content-type"] == "application/json"
    assert "全固态电池".encode() in raw.content
    assert text_of(raw.parse()).startswith("全固态电池预计在 2027 年小批量生产。"), "there is nothing to cite"


# ── The models ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_models_are_listed_and_found_by_name(served: Served) -> None:
    names = [model.id for model in served.client().models.list()]
    assert names == ["wenyuan-chat", "wenyuan-agent", "wenyuan-plain"]
    assert served.client().models.retrieve("wenyuan-agent").id == "wenyuan-agent"


def test_the_plain_model_searches_nothing_and_adds_nothing(served: Served) -> None:
    served.model.reply = in_turn(["电池的标题"])
    answer = chat(served, "wenyuan-plain")
    assert text_of(answer) == "电池的标题", "a title, as front ends ask for"
    assert served.web.asked == []
    assert own(answer)["searches"] == []


def test_what_went_wrong_is_told_below_the_text_too() -> None:
    with serving(search_status=403) as served:
        served.model.reply = in_turn(["不知道。"])
        chunks = stream(served)
    text, _, below = joined(chunks).partition("\n\n---\n\n")
    assert text == "不知道。"
    assert below.startswith("> ")
    assert "403" in joined(chunks, "reasoning_content")
    assert own(chunks[-1])["notices"], "and for programs"


# ── The agent ─────────────────────────────────────────────────────────────────────────────────────────────────────────

ANNOUNCED = "先查一查公开的资料，看看各家公司最近公布的时间表，再比较它们说的是不是同一件事。" * 4


def agent_reply() -> list[list[Any]]:
    return [
        [Thinks("要查时间表"), ANNOUNCED, Call("web_search", json.dumps({"query": "全固态电池 量产"}))],
        [*TEXT],
    ]


def test_the_text_of_an_agent_is_only_what_turns_out_to_be_the_answer(served: Served) -> None:
    """A tool call may follow any text, and what was sent cannot be taken back."""
    served.model.reply = in_turn(*agent_reply())
    chunks = stream(served, "wenyuan-agent")
    assert joined(chunks).startswith("".join(TEXT) + "\n\n---\n\n**参考文献**")
    reasoning = joined(chunks, "reasoning_content")
    assert reasoning.startswith("要查时间表\n\n草稿：\n")
    assert reasoning.count(ANNOUNCED) == 1
    assert f"{ANNOUNCED}\n- 搜索「全固态电池 量产」 · SearXNG · 1 条" in reasoning
    served.model.reply = in_turn(*agent_reply())
    whole = chat(served, "wenyuan-agent")
    assert text_of(whole) == joined(chunks)
    assert (whole.choices[0].message.model_extra or {})["reasoning_content"].count(ANNOUNCED) == 1


def test_a_growing_answer_of_an_agent_is_seen_as_a_draft(served: Served) -> None:
    answer = "结论是这样的，" * 60
    served.model.reply = in_turn([answer])
    chunks = stream(served, "wenyuan-agent")
    assert joined(chunks).startswith(answer)
    assert joined(chunks, "reasoning_content").startswith(f"草稿：\n{answer[:120]}")


# ── What the model thinks, and how it ends ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("model", ["wenyuan-plain", "wenyuan-agent"])
def test_reasoning_stays_apart_from_the_text_and_is_counted(served: Served, model: str) -> None:
    served.model.reply = in_turn([Thinks("先想一想", parts=2), "好。"])
    served.model.reasoning_tokens = 5
    chunks = stream(served, model, stream_options={"include_usage": True})
    assert joined(chunks).startswith("好。")
    assert joined(chunks, "reasoning_content").startswith("先想一想")
    details = chunks[-1].usage and chunks[-1].usage.completion_tokens_details
    assert details
    assert details.reasoning_tokens == 5


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_an_answer_that_was_cut_off_says_why(served: Served, reason: str) -> None:
    served.model.reply = in_turn(["前半句", CutOff(reason)])
    assert chat(served, "wenyuan-plain").choices[0].finish_reason == reason
    *_, last = stream(served, "wenyuan-plain")
    assert last.choices[0].finish_reason == reason
    assert own(last)["notices"][0]["kind"] == "cut_off"


# ── The conversation ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_our_own_references_are_not_sent_to_the_model_again(served: Served) -> None:
    first = text_of(chat(served))
    conversation = [*ASKED, {"role": "assistant", "content": first}, {"role": "user", "content": "再说短些"}]
    chat(served, "wenyuan-plain", conversation)
    turns = [(one["role"], one["content"]) for one in served.model.requests[-1]["messages"][1:]]
    assert turns == [("user", QUESTION), ("assistant", "".join(TEXT)), ("user", "再说短些")]


@pytest.mark.parametrize("model", ["wenyuan-plain", "wenyuan-agent"])
def test_system_messages_are_wishes_for_the_answer(served: Served, model: str) -> None:
    system = [{"role": "system", "content": "只用一句话。"}, {"role": "developer", "content": "不用术语。"}]
    chat(served, model, [*system, *ASKED])
    rules, asked = (str(served.model.requests[-1]["messages"][place]["content"]) for place in (0, -1))
    assert "一句话。" not in rules
    assert asked.index("只用一句话。\n\n不用术语。") < asked.index(QUESTION)


def test_a_file_in_the_request_is_read(served: Served) -> None:
    body = base64.b64encode(pdf_file(["月租金为人民币八千六百元。"])).decode()
    file = {"type": "file", "file": {"filename": "合同.pdf", "file_data": f"data:application/pdf;base64,{body}"}}
    text = {"type": "text", "text": "月租金是多少？"}
    served.model.reply = in_turn(["月租金是八千六百元[1]。"])
    answer = chat(served, "wenyuan-plain", [{"role": "user", "content": [text, file]}])
    assert "月租金为人民币八千六百元。" in served.prompt
    assert "- ［1］ 合同.pdf（第 1 页 · 附件" in text_of(answer)
    (cited,) = answer.choices[0].message.annotations or []
    assert (cited.url_citation.model_extra or {})["read"] == "file"
