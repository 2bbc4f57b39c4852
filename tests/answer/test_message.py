"""What a message says of itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.answer.citation_verdicts import NO_SOURCES_NOTE
from core.answer.events import Answer, RunFailed, SearchFinished, TextDelta
from core.answer.export import as_html, as_json, as_markdown
from core.answer.message import Message, message_from_run
from core.answer.stored_message import decode_message, encode_message
from core.base.settings import EMBEDDED_LABEL
from core.search.types import SearchQuery, SearchResponse

ALONE = message_from_run([TextDelta("水是湿的。"), Answer("水是湿的。", ())], seconds=1.0, model="gpt-5-mini")


def test_an_answer_out_of_nothing_says_so_live_stored_and_exported() -> None:
    stored = decode_message(encode_message(ALONE), id=ALONE.id, role="assistant", text=ALONE.text, created=0.0)
    assert ALONE.is_unsourced
    assert stored.is_unsourced
    for export in (as_markdown, as_html, as_json):
        assert export("题", [ALONE]).count(NO_SOURCES_NOTE) == 1


@pytest.mark.parametrize(
    "message",
    [
        replace(ALONE, role="user"),
        replace(ALONE, role="note"),
        replace(ALONE, mode="agent"),
        replace(ALONE, model=EMBEDDED_LABEL),
        replace(ALONE, text=" ", events=(RunFailed("model", "连接不上模型服务。"),)),
        replace(ALONE, events=(SearchFinished(SearchResponse(SearchQuery("水"))),)),
        decode_message("{", id="a", role="assistant", text="水是湿的。", created=0.0),
    ],
    ids=["question", "note", "agent", "embedded", "nothing written", "searched in vain", "damaged"],
)
def test_of_others_it_is_not_said(message: Message) -> None:
    assert not message.is_unsourced
    assert NO_SOURCES_NOTE not in as_markdown("题", [message])
    assert NO_SOURCES_NOTE not in as_json("题", [message])
