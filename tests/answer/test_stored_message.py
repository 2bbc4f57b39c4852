from __future__ import annotations

import builtins
import json
import types
import typing
from dataclasses import fields, is_dataclass, replace
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core.answer.events
from core.answer.check_results import (
    CHECKER_VERSION,
    AnswerCheck,
    SourceCheck,
    StatementCheck,
    UncitedStatement,
    Verdict,
)
from core.answer.events import DAMAGED, Answer, Checked, Notice, RunEvent, Thought, Usage, _Event
from core.answer.message import Message
from core.answer.stored_message import DAMAGED_TEXT, EVENT_TYPES, decode_message, encode_message
from core.base.text import clean
from support.messages import FULL

texts = st.text(max_size=20).map(clean)
PLAIN = {
    str: texts,
    int: st.integers(-(2**53), 2**53),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    type(None): st.none(),
}


def anything_of(kind: Any) -> st.SearchStrategy[Any]:
    """From the types of the fields: one that is added later is in the test already."""
    if kind in PLAIN:
        return PLAIN[kind]
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return st.builds(kind, **{field.name: anything_of(hints[field.name]) for field in fields(kind)})
    arguments = get_args(kind)
    match get_origin(kind):
        case builtins.tuple:
            return st.lists(anything_of(arguments[0]), max_size=2).map(tuple)
        case builtins.dict:
            return st.dictionaries(*map(anything_of, arguments), max_size=2)
        case typing.Literal:
            return st.sampled_from(arguments)
        case types.UnionType:
            return st.one_of(*map(anything_of, arguments))
    return st.sampled_from(list(kind))


def again(message: Message) -> Message:
    return decode_message(
        encode_message(message), id=message.id, role=message.role, text=message.text, created=message.created
    )


def test_every_event_type_can_be_kept() -> None:
    defined = {
        value.type: value
        for value in vars(core.answer.events).values()
        if isinstance(value, type) and issubclass(value, _Event) and value is not _Event
    }
    assert defined == EVENT_TYPES


@pytest.mark.parametrize("kind", EVENT_TYPES.values())
@settings(max_examples=30)
@given(data=st.data())
def test_an_event_comes_back_as_it_was(kind: type[RunEvent], data: st.DataObject) -> None:
    event = data.draw(anything_of(kind))
    message = Message("assistant", "答", (event,))
    assert type(again(message).events[0]) is kind
    assert again(message) == message


def test_a_message_comes_back_as_it_was() -> None:
    assert again(FULL) == FULL
    question = Message("user", "问", files=("合同.docx", "a.txt"))
    assert again(question) == question
    assert again(FULL).created == FULL.created
    assert [type(event) for event in again(FULL).events] == [type(event) for event in FULL.events]


@given(st.text(st.characters(exclude_categories=()), max_size=30))
def test_whatever_is_written_can_be_stored_anywhere(text: str) -> None:
    document = encode_message(Message("assistant", text, (Thought(text), Usage(1, 2, parts={text: 1})), model=text))
    assert "\x00" not in document
    document.encode()  # a lone surrogate would raise
    assert json.loads(document)["events"][0].get("text", "") == clean(text)


@settings(max_examples=200)
@given(st.text("答[1]。 *", max_size=12), st.text("答[1]。 *", max_size=6), st.integers(-3, 12), st.integers(-3, 12))
def test_what_is_left_out_because_the_text_has_it_comes_back(text: str, said: str, start: int, end: int) -> None:
    check = SourceCheck(Verdict.ABSENT, 0.5, "")
    for part in (said, text[start:end], text):
        checked = Checked(
            AnswerCheck((StatementCheck(start, end, part, check, ()),), (UncitedStatement(start, end, part),))
        )
        message = Message("assistant", text, (checked, Answer(text), Answer(part)))
        assert again(message) == message


def test_the_text_is_not_stored_twice() -> None:
    text = "劳动者可以解除劳动合同[1][2]。用人单位应当支付经济补偿[2]。"
    check = SourceCheck(Verdict.SUPPORTED, 0.9, "")
    statements = (
        StatementCheck(0, 18, "劳动者可以解除劳动合同。", check, ()),
        StatementCheck(18, 34, "用人单位应当支付经济补偿。", check, ()),
    )
    message = Message("assistant", text, (Checked(AnswerCheck(statements)), Answer(text)))
    assert text[18:34].startswith("用人单位"), "the places are those of the statements"
    assert "劳动" not in encode_message(message)
    assert "用人单位" not in encode_message(message)
    assert again(message) == message


def test_documents_of_version_2_are_read_as_they_are() -> None:
    """Version 2 wrote every field, and the text in the events too."""
    document = json.loads(encode_message(FULL))
    answer = next(entry for entry in document["events"] if entry["type"] == "answer")
    answer["text"] = "改写之前[1]"
    document["version"] = 2
    found = decode_message(json.dumps(document), id="id1", role="assistant", text=FULL.text, created=0)
    assert [event.text for event in found.events if isinstance(event, Answer)] == ["改写之前[1]"]


def test_the_version_of_a_check_is_always_written() -> None:
    """A newer checker must find the results of this one to be old."""
    message = Message("assistant", "答", (Checked(AnswerCheck()),))
    assert json.loads(encode_message(message))["events"][0]["check"]["version"] == CHECKER_VERSION


def test_an_event_from_a_newer_version_is_left_out() -> None:
    document = json.loads(encode_message(FULL))
    document["version"] = 99
    document["events"].insert(0, {"type": "hologram", "shape": "cube"})
    document["events"][1]["colour"] = "red"
    document["mood"] = "good"
    found = decode_message(json.dumps(document), id="id1", role="assistant", text=FULL.text, created=0)
    assert found == FULL


def test_a_field_that_an_older_version_did_not_write_has_its_default() -> None:
    document = json.loads(encode_message(FULL))
    usage = next(entry for entry in document["events"] if entry["type"] == "usage")
    del usage["parts"], usage["estimated"]
    found = decode_message(json.dumps(document), id="id1", role="assistant", text=FULL.text, created=0)
    assert found.usage == Usage(10, 20, False, {})


def test_damage_that_was_told_in_other_words_is_known_by_its_kind() -> None:
    reworded = Message("assistant", "答", (Notice(DAMAGED.kind, "换一句话。"),))
    assert not again(reworded).is_unsourced
    document = json.loads(encode_message(reworded))
    document["events"].append({"type": "usage", "input": "?"})
    found = decode_message(json.dumps(document), id="id1", role="assistant", text="答", created=0)
    assert [notice.kind for notice in found.notices] == [DAMAGED.kind]


def test_one_damaged_event_costs_one_event() -> None:
    document = json.loads(encode_message(FULL))
    document["events"][1]["response"] = "?"
    found = decode_message(json.dumps(document), id="id1", role="assistant", text=FULL.text, created=0)
    expected = (*FULL.events[:1], DAMAGED, *FULL.events[2:])
    assert found == replace(FULL, events=expected)


@pytest.mark.parametrize(
    "document",
    [
        "",
        "null",
        "[]",
        "{",
        "{}",
        "[" * 100_000,
        b"bytes",
        None,
        7,
        '{"version": 1, "events": 3, "cited": [], "seconds": 0, "model": ""}',
        '{"version": 1, "events": [[]], "cited": [], "seconds": 0, "model": ""}',
        '{"version": 1, "events": [{"type": []}], "cited": [], "seconds": 0, "model": ""}',
        '{"version": 1, "events": [], "cited": ["x"], "seconds": 0, "model": ""}',
        '{"version": 1, "events": [], "cited": [], "seconds": "soon", "model": ""}',
        f'{{"version": 1, "events": [], "cited": [], "seconds": 1{"0" * 400}, "model": ""}}',
    ],
)
def test_a_damaged_document_leaves_the_text(document: object) -> None:
    found = decode_message(document, id="x", role="assistant", text="还在", created=5.0)
    assert (found.text, found.notices, found.created) == ("还在", (DAMAGED,), 5.0)
    empty = decode_message(document, id="x", role="?", text=b"\xff", created="never")
    assert (empty.text, empty.role, empty.created) == (DAMAGED_TEXT, "assistant", 0.0)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["events", "cited", "seconds", "model", "type", "response", "query"]), inner
            )
        ),
    )
)
def test_no_document_raises(document: Any) -> None:
    assert decode_message(json.dumps(document), id="x", role="user", text="文", created=0).text == "文"
