from __future__ import annotations

import builtins
import copy
import json
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core.answer.events
from core.answer.check_results import (
    CHECKER_VERSION,
    AnswerCheck,
    CitationCheck,
    QuotedPassage,
    SecondOpinion,
    SourceCheck,
    StatementCheck,
    UncitedStatement,
    Verdict,
)
from core.answer.check_texts import source_texts, with_digests
from core.answer.events import DAMAGED, Answer, Checked, Notice, RunEvent, SearchFinished, Thought, Usage, _Event
from core.answer.message import Message
from core.answer.stored_message import DAMAGED_TEXT, EVENT_TYPES, _to_plain, decode_message, encode_message
from core.base.text import clean
from core.search.types import SearchQuery, SearchResponse, Source
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


@dataclass(frozen=True)
class Text:
    text: str


def again(message: Message, texts: Mapping[int, Text] = MappingProxyType({})) -> Message:
    return decode_message(
        encode_message(message),
        id=message.id,
        role=message.role,
        text=message.text,
        created=message.created,
        load_texts=lambda _: texts,
    )


def decode(document: str, text: str, texts: Mapping[int, Text]) -> Message:
    return decode_message(document, id="x", role="assistant", text=text, created=0, load_texts=lambda _: texts)


def test_every_event_type_can_be_kept() -> None:
    defined = {
        value.type: value
        for value in vars(core.answer.events).values()
        if isinstance(value, type) and issubclass(value, _Event) and value is not _Event
    }
    assert defined == EVENT_TYPES


@pytest.mark.parametrize("kind", [kind for kind in EVENT_TYPES.values() if kind is not Checked])
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


# ── Checks ────────────────────────────────────────────────────────────────────────────────────────────────────────────

TEXTS = {1: Text("灯塔高三十米，建于一九二〇年。守塔人应当在日落前点灯。"), 2: Text("港口每年停靠八百艘船。")}
SOURCES = tuple(Source(number, f"题{number}", f"https://{number}.example/", "摘要", read="page") for number in TEXTS)
FOUND = SearchFinished(SearchResponse(SearchQuery("灯塔"), provider="fake"), SOURCES)
places = st.integers(0, 30)


@st.composite
def results(draw: st.DrawFn) -> SourceCheck:
    number = st.sampled_from(sorted(TEXTS))
    spans = draw(st.lists(st.tuples(number, places, places), max_size=2))
    evidence = tuple(QuotedPassage(one, start, end, TEXTS[one].text[start:end]) for one, start, end in spans)
    result: SourceCheck = draw(anything_of(SourceCheck))
    return replace(result, evidence=evidence)


def citation_checks() -> st.SearchStrategy[CitationCheck]:
    return st.builds(CitationCheck, st.sampled_from(sorted(TEXTS)), places, places, results())


def statement_checks() -> st.SearchStrategy[StatementCheck]:
    cited = st.lists(citation_checks(), max_size=2).map(tuple)
    return st.builds(StatementCheck, places, places, texts, results(), cited, st.booleans())


@st.composite
def answer_checks(draw: st.DrawFn) -> AnswerCheck:
    statements = draw(st.lists(statement_checks(), max_size=2))
    uncited = draw(
        st.lists(st.builds(UncitedStatement, places, places, texts, st.none() | results(), st.booleans()), max_size=2)
    )
    check = AnswerCheck(tuple(statements), tuple(uncited), opinion=draw(st.none() | anything_of(SecondOpinion)))
    return with_digests(check, source_texts(SOURCES, TEXTS))


def checked_message(check: AnswerCheck) -> Message:
    return Message("assistant", "灯塔高三十米[1]。", (FOUND, Checked(check)), SOURCES)


def marks(check: AnswerCheck | None) -> list[Verdict]:
    """Everything in a check that a reader could take for a verdict."""
    assert check is not None
    of_statements = [one.check for one in check.statements]
    of_citations = [cited.check for one in check.statements for cited in one.citations]
    return [one.verdict for one in (*of_statements, *of_citations, *(one.check for one in check.uncited if one.check))]


@settings(max_examples=200)
@given(answer_checks())
def test_a_check_comes_back_as_it_was_with_the_texts_it_was_made_with(check: AnswerCheck) -> None:
    message = checked_message(check)
    assert "守塔人" not in encode_message(message)
    assert again(message, TEXTS) == message


@settings(max_examples=200)
@given(answer_checks())
def test_no_mark_of_another_checker_is_shown(check: AnswerCheck) -> None:
    """Neither of a stored one nor of one that an older program stored with its words."""
    old = replace(check, version=1)
    by_version_3 = json.loads(encode_message(checked_message(old)))
    by_version_3["version"], by_version_3["events"][1]["check"] = 3, _to_plain(old)
    for document in (encode_message(checked_message(old)), json.dumps(by_version_3)):
        found = decode(document, checked_message(old).text, TEXTS).check
        assert set(marks(found)) <= {Verdict.UNCHECKED}
        assert found is not None
        assert found.version != CHECKER_VERSION, "it will be made again"
        assert [(one.start, one.end, one.text) for one in found.statements] == [
            (one.start, one.end, one.text) for one in old.statements
        ]


@settings(max_examples=200)
@given(answer_checks(), st.sampled_from([{}, {2: TEXTS[2]}, {1: Text("灯塔高四十米。"), 2: TEXTS[2]}]))
def test_what_rests_on_a_text_that_is_gone_or_another_is_not_shown(check: AnswerCheck, there: dict[int, Text]) -> None:
    found = again(checked_message(check), there).check
    assert found is not None
    lost = {1} if there else {1, 2}
    for statement in found.statements:
        for result, numbers in (
            (statement.check, set[int]()),
            *((cited.check, {cited.number}) for cited in statement.citations),
        ):
            numbers |= {passage.source for passage in result.evidence}
            assert result.verdict is Verdict.UNCHECKED or numbers.isdisjoint(lost)
    assert not any(one.agreeing_source in lost for one in found.uncited if one.check and one.check.evidence)
    assert again(checked_message(found), there).check == found, "and it stays so"


def test_sources_that_say_it_together_lose_the_mark_together() -> None:
    both = tuple(QuotedPassage(number, 0, 5, TEXTS[number].text[:5]) for number in TEXTS)
    together = SourceCheck(Verdict.SUPPORTED, 0.9, "原文如此。", both)
    cited = tuple(CitationCheck(one.source, 0, 3, replace(together, evidence=(one,))) for one in both)
    check = with_digests(AnswerCheck((StatementCheck(0, 9, "甲", together, cited),)), source_texts(SOURCES, TEXTS))
    assert set(marks(again(checked_message(check), TEXTS).check)) == {Verdict.SUPPORTED}
    found = again(checked_message(check), {2: TEXTS[2]}).check
    assert set(marks(found)) == {Verdict.UNCHECKED}
    assert found is not None
    assert "不再有效" in found.statements[0].citations[1].check.reason


def test_a_check_that_was_replaced_is_not_stored() -> None:
    first, second = AnswerCheck((StatementCheck(0, 9, "甲", SourceCheck(Verdict.ABSENT, 0.1, ""), ()),)), AnswerCheck()
    events = Checked(first), Answer("答"), Checked(second)
    assert again(Message("assistant", "答", events)).events == events[1:]


def test_a_damaged_check_is_left_out_and_told() -> None:
    result = SourceCheck(Verdict.SUPPORTED, 0.9, "", (QuotedPassage(1, 0, 2, "灯塔"),))
    statement = StatementCheck(0, 9, "甲", result, (CitationCheck(1, 0, 3, result),))
    document = json.loads(encode_message(checked_message(AnswerCheck((statement,)))))
    damages: list[tuple[str, Any]] = [
        ("results", []),
        ("results", [[]]),
        ("statements", [[0]]),
        ("digests", {"x": ""}),
        ("version", None),
    ]
    for name, damage in damages:
        spoilt = copy.deepcopy(document)
        spoilt["events"][1]["check"][name] = damage
        found = decode(json.dumps(spoilt), "答", TEXTS)
        assert found.check is None
        assert DAMAGED in found.notices


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
