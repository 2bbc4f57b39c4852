"""The addresses below /v1, behind the door."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from core.base.errors import AppError
from core.serve.access import Scope as AccessScope
from core.serve.answers import Ask
from core.serve.disconnects import run_while_connected
from core.serve.door import Door, Entry, entry_of
from core.serve.errors import status_of
from core.serve.event_stream import EventStream
from core.serve.json_document import JsonDocument
from core.serve.openai.chat_completions import ChatCompletion
from core.serve.openai.conversation import ask_from, messages_of
from core.serve.openai.errors import AnswerBrokenOff, BadRequest, error_body
from core.serve.openai.models import OfferedModel, find_model, list_json
from core.serve.openai.pieces import ContentPiece, EndPiece, FailurePiece, Piece, ReasoningPiece, stream_pieces
from core.serve.openai.requests import Body, ChatMessage, ChatRequest, ResponseRequest, parse_request
from core.serve.openai.responses import ModelResponse
from core.serve.threads import run_in_service_thread


class Form(Protocol):
    """How an interface writes an answer."""

    def begin(self) -> bytes: ...

    def add(self, piece: ReasoningPiece | ContentPiece) -> bytes: ...

    def end(self, piece: EndPiece) -> bytes: ...

    def fail(self, error: AppError) -> bytes: ...

    def document(self, reasoning: str, text: str, end: EndPiece) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Answering:
    """A request that is being answered."""

    entry: Entry
    model: OfferedModel
    messages: Sequence[ChatMessage]
    form: Form
    collections: Sequence[str] = ()

    async def events(self) -> AsyncGenerator[bytes]:
        """Yield the answer as events while it grows. Raise an AppError before the first of them, if it fails before that."""
        has_begun = False
        async with aclosing(self._pieces()) as pieces:
            async for piece in pieces:
                if isinstance(piece, FailurePiece) and not has_begun:
                    raise piece.error
                yield (b"" if has_begun else self.form.begin()) + self._event(piece)
                has_begun = True

    def _event(self, piece: Piece) -> bytes:
        match piece:
            case FailurePiece(error=error):
                return self.form.fail(error)
            case EndPiece():
                return self.form.end(piece)
            case _:
                return self.form.add(piece)

    async def document(self) -> dict[str, Any]:
        """Return the whole answer. Raise an AppError if it fails."""
        reasoning, text = "", ""
        async with aclosing(self._pieces()) as pieces:
            async for piece in pieces:
                match piece:
                    case ReasoningPiece():
                        reasoning += piece.text
                    case ContentPiece():
                        text += piece.text
                    case FailurePiece(error=error):
                        raise error
                    case EndPiece():
                        return self.form.document(reasoning, text, piece)
        raise AnswerBrokenOff

    def _pieces(self) -> AsyncGenerator[Piece]:
        app = self.entry.app

        def make_ask() -> Ask:
            return replace(ask_from(self.messages, self.model, app.reader), collections=self.collections)

        return stream_pieces(app, self.entry.caller, make_ask)


async def _list_models(request: Request) -> Response:
    entry_of(request.scope).caller.require(AccessScope.ASK)
    return JsonDocument(list_json())


async def _show_model(request: Request) -> Response:
    entry_of(request.scope).caller.require(AccessScope.ASK)
    return JsonDocument(find_model(request.path_params["name"]).to_json())


async def _complete_chat(request: Request) -> Response:
    asked = await _read(request, ChatRequest)
    model, options = find_model(asked.model), asked.stream_options
    form = ChatCompletion(model, reports_usage=bool(options and options.include_usage))
    answering = Answering(entry_of(request.scope), model, asked.messages, form, asked.collections)
    return await _answer(request, answering, stream=asked.stream)


async def _create_response(request: Request) -> Response:
    asked = await _read(request, ResponseRequest)
    model = find_model(asked.model)
    form = ModelResponse(model, asked.instructions)
    answering = Answering(entry_of(request.scope), model, messages_of(asked), form, asked.collections)
    return await _answer(request, answering, stream=asked.stream)


async def _read(request: Request, kind: type[Body]) -> Body:
    caller = entry_of(request.scope).caller
    caller.require(AccessScope.ASK)
    body = await request.body()
    return await run_in_service_thread(caller, lambda: parse_request(kind, body))


async def _answer(request: Request, answering: Answering, *, stream: bool | None) -> Response:
    if stream:
        return EventStream(answering.events())
    return JsonDocument(await run_while_connected(request.receive, answering.document()))


_ROUTER = Router(
    [
        Route("/v1/models", _list_models),
        Route("/v1/models/{name}", _show_model),
        Route("/v1/chat/completions", _complete_chat, methods=["POST"]),
        Route("/v1/responses", _create_response, methods=["POST"]),
    ],
    redirect_slashes=False,
)


async def serve_openai(scope: Scope, receive: Receive, send: Send) -> None:
    """Serve one request that the door has let in."""
    try:
        await _ROUTER(scope, receive, send)
    except AppError as error:
        if status_of(error) == 422:  # OpenAI's interfaces say 400
            raise BadRequest(error.message, cure=error.cure) from None
        raise


SERVICE = Door(serve_openai, error_body=error_body)
