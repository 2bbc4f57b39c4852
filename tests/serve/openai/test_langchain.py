"""LangChain's client as it comes: a program that was written for OpenAI's models gets answers with sources."""

from __future__ import annotations

from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from support.openai_protocol import TEXT, Served

QUESTION = "全固态电池什么时候量产？"


def chat(served: Served, model: str = "wenyuan-chat") -> ChatOpenAI:
    return ChatOpenAI(model=model, base_url=served.url, api_key=SecretStr("none"), max_retries=0)


def test_an_answer_and_its_stream_are_the_same(served: Served) -> None:
    whole = chat(served).invoke(QUESTION)
    chunks = list(chat(served).stream(QUESTION))
    assert all(isinstance(chunk, AIMessageChunk) for chunk in chunks)
    assert "".join(str(chunk.text) for chunk in chunks) == whole.text
    assert str(whole.text).startswith("".join(TEXT) + "\n\n---\n\n**参考文献**")
    assert whole.usage_metadata
    assert whole.usage_metadata["total_tokens"] == 18
    assert whole.response_metadata["finish_reason"] == "stop"


def test_a_conversation_goes_on(served: Served) -> None:
    model = chat(served)
    conversation: list[BaseMessage] = [SystemMessage("只用一句话。"), HumanMessage(QUESTION)]
    conversation += [model.invoke(conversation), HumanMessage("再说短些")]
    chat(served, "wenyuan-plain").invoke(conversation)
    turns = [(one["role"], one["content"]) for one in served.model.requests[-1]["messages"][1:]]
    assert turns[:2] == [("user", QUESTION), ("assistant", "".join(TEXT))]
    assert turns[2][1].endswith("再说短些")


def test_through_the_responses_interface_it_sees_the_citations(served: Served) -> None:
    model = ChatOpenAI(
        model="wenyuan-chat", base_url=served.url, api_key=SecretStr("none"), max_retries=0, use_responses_api=True
    )
    answer = model.invoke(QUESTION)
    (text,) = (block for block in answer.content_blocks if block["type"] == "text")
    assert [one.get("url") for one in text["annotations"]] == ["https://example.org/a"] * 2
