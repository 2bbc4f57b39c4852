"""Messages of a request as a question, with what belongs to it."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from core.reading import FileError, Reader
from core.run import ABOUT_FILES, MAX_ATTACHED_FILES
from core.serve.answers import Ask
from core.serve.openai.conversation import ask_from, messages_of
from core.serve.openai.errors import BadRequest
from core.serve.openai.models import find_model
from core.serve.openai.requests import ChatMessage, ResponseRequest
from support.base import loaded
from support.reading import kept_workers

__all__ = ["kept_workers"]


@pytest.fixture
def reader(kept_workers: None) -> Iterator[Reader]:
    reader = Reader.from_settings(loaded().values)
    yield reader
    reader.close()


def ask(reader: Reader, *messages: tuple[str, Any], model: str = "wenyuan-chat") -> Ask:
    given = [ChatMessage.model_validate({"role": role, "content": content}) for role, content in messages]
    return ask_from(given, find_model(model), reader)


def text_file(name: str, text: str) -> dict[str, Any]:
    data = base64.b64encode(text.encode()).decode()
    return {"type": "file", "file": {"filename": name, "file_data": data}}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_the_last_message_is_the_question_and_the_others_stand_before_it(reader: Reader) -> None:
    asked = ask(
        reader,
        ("system", "短。"),
        ("user", [text("前一"), text("问")]),
        ("assistant", None),
        ("tool", "工具的结果"),
        ("assistant", [{"type": "refusal", "refusal": "不行。"}]),
        ("developer", "白话。"),
        ("user", " 问题\u200b "),
        model="wenyuan-agent",
    )
    assert (asked.question, asked.mode, asked.search) == ("问题", "agent", False)
    assert [(message.role, message.text) for message in asked.history] == [
        ("user", "前一\n问"),
        ("assistant", "不行。"),
    ]
    assert asked.instructions == "短。\n\n白话。"
    assert not asked.may_be_reviewed, "nobody would see 让模型复核"


@pytest.mark.parametrize(
    ("model", "mode", "search"), [("wenyuan-chat", "chat", True), ("wenyuan-plain", "chat", False)]
)
def test_the_model_decides_about_the_search(reader: Reader, model: str, mode: str, search: bool) -> None:
    asked = ask(reader, ("user", "问题"), model=model)
    assert (asked.mode, asked.search) == (mode, search)


def test_a_file_alone_asks_what_it_is_about(reader: Reader) -> None:
    asked = ask(reader, ("user", [text_file("甲.txt", "灯塔在岛上。")]))
    assert asked.question == ABOUT_FILES
    assert [(file.title, file.text) for file in asked.files] == [("甲.txt", "灯塔在岛上。")]


def test_files_of_earlier_messages_go_along_newest_first(reader: Reader) -> None:
    own = [text("它们说的一样吗？"), text_file("丙.txt", "丙"), text_file("乙.txt", "乙")]
    asked = ask(
        reader,
        ("user", [text("读"), text_file("甲.txt", "甲")]),
        ("user", [text("读"), text_file("乙.txt", "乙")]),
        ("user", own),
    )
    assert [file.title for file in asked.files] == ["丙.txt", "乙.txt", "甲.txt"]


def test_no_more_files_are_read_than_on_a_page(reader: Reader) -> None:
    earlier = [("user", [text("读"), text_file(f"{number}.txt", f"第 {number} 份")]) for number in range(20)]
    assert len(ask(reader, *earlier, ("user", "都读了吗？")).files) == MAX_ATTACHED_FILES
    with pytest.raises(FileError) as refused:
        ask(reader, ("user", [text_file(f"{number}.txt", "字") for number in range(reader.max_files + 1)]))
    assert refused.value.reason == "many"


@pytest.mark.parametrize(
    ("address", "name", "words"),
    [
        ("data:text/plain;charset=utf-8;base64,54Gv5aGU", "图片 1.txt", "灯塔"),
        ("data:text/plain,%E7%81%AF%E5%A1%94", "图片 1.txt", "灯塔"),
    ],
)
def test_data_in_an_address_is_a_file(reader: Reader, address: str, name: str, words: str) -> None:
    for url in (address, {"url": address}):
        (file,) = ask(reader, ("user", [{"type": "image_url", "image_url": url}])).files
        assert (file.title, file.text) == (name, words)


@pytest.mark.parametrize(
    "item",
    [
        {"type": "item_reference", "id": "msg_1"},
        {"type": "message", "content": "谁？"},
        {"role": "user", "content": [{"type": "input_file", "file_url": "https://example.org/a.pdf"}]},
        {"role": "user", "content": [{"type": "input_image", "file_id": "file_1"}]},
    ],
)
def test_items_that_cannot_be_used_are_refused(reader: Reader, item: dict[str, Any]) -> None:
    request = ResponseRequest.model_validate({"model": "wenyuan-plain", "input": [item]})
    with pytest.raises(BadRequest):
        ask_from(messages_of(request), find_model("wenyuan-plain"), reader)
