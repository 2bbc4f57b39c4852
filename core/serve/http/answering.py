"""提问 over HTTP: a stream of events, or one document."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

from sse_starlette import ServerSentEvent
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from core.answer.events import RunEvent, RunFailed
from core.answer.message import Message
from core.base.errors import AppError, InputError
from core.serve.answers import Ask, answer_document, require_offered_model, start_in_thread, stream_answer_events
from core.serve.disconnects import run_while_connected
from core.serve.door import Entry
from core.serve.event_stream import ServerSentEvents
from core.serve.exchange import EVENT_STREAM
from core.serve.http.request_models import AnswerRequest
from core.serve.json_document import JsonDocument, encode_json
from core.serve.threads import run_in_service_thread

if TYPE_CHECKING:
    from core.run import Run


async def answer(entry: Entry, asked: AnswerRequest, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a question. What goes wrong before the answer begins is raised, what goes wrong within it is an event."""
    ask, run = await run_while_connected(receive, start_in_thread(entry.app, entry.caller, partial(_ask, entry, asked)))
    if asked.stream if asked.stream is not None else _takes_events(scope):
        await ServerSentEvents(_server_sent(entry, ask, run))(scope, receive, send)
    else:
        document = await run_while_connected(receive, _document(entry, ask, run))
        await JsonDocument(document)(scope, receive, send)


def _takes_events(scope: Scope) -> bool:
    """Return whether a client that has not said `stream` gets events: all but those that accept JSON only."""
    accepted = Headers(scope=scope).get("accept", "")
    return EVENT_STREAM in accepted or "application/json" not in accepted


def _ask(entry: Entry, asked: AnswerRequest) -> Ask:
    require_offered_model(entry.app, asked.model)
    reader = entry.app.reader
    if len(asked.files) > reader.max_files:
        raise InputError(f"附了 {len(asked.files)} 个文件，一次最多 {reader.max_files} 个。", cure="请上传到资料集。")
    return Ask(
        asked.question,
        mode=asked.mode,
        search=asked.search,
        model=asked.model,
        history=[Message(one.role, one.text) for one in asked.history],
        files=tuple(reader.read_file(file.name, file.content) for file in asked.files),
        collections=asked.collections,
        time_range=asked.since,
        instructions=asked.instructions,
    )


async def _server_sent(entry: Entry, ask: Ask, run: Run) -> AsyncGenerator[ServerSentEvent]:
    try:
        async with aclosing(stream_answer_events(entry.app, ask, run)) as batches:
            async for batch in batches:
                for event in batch:
                    yield _encode(event)
    except AppError as error:
        yield _encode(RunFailed(error.kind, str(error)))


def _encode(event: RunEvent) -> ServerSentEvent:
    return ServerSentEvent(encode_json(event.to_json()).decode(), event=event.type, sep="\n")


async def _document(entry: Entry, ask: Ask, run: Run) -> dict[str, Any]:
    async with aclosing(stream_answer_events(entry.app, ask, run)) as batches:
        events = [event async for batch in batches for event in batch]
    return await run_in_service_thread(entry.caller, partial(answer_document, ask, run, events))
