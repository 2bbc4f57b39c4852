"""What a request may say. Fields that are not named here have no effect; those that would promise what is not done are
refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from core.serve.errors import NoJson
from core.serve.openai.errors import BadRequest
from core.serve.validation import first_problem

MAX_COLLECTIONS = 20


class FileData(BaseModel):
    file_data: str | None = None
    filename: str | None = None


class ImageUrl(BaseModel):
    url: str


class Part(BaseModel):
    """A part of a message, in the form of either interface."""

    type: str
    text: str | None = None
    refusal: str | None = None
    image_url: ImageUrl | str | None = None
    file: FileData | None = None
    file_data: str | None = None
    filename: str | None = None


class ChatMessage(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None


class OutputFormat(BaseModel):
    type: str = "text"


class TextOptions(BaseModel):
    format: OutputFormat | None = None


class StreamOptions(BaseModel):
    include_usage: bool | None = None


class ChatRequest(BaseModel):
    """The body of /v1/chat/completions."""

    model: str
    collections: list[str] = Field(default=[], max_length=MAX_COLLECTIONS)
    """Names of the caller's collections that the answer may use: a field of our own."""
    messages: list[ChatMessage] = Field(min_length=1)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = None
    stop: str | list[str] | None = None
    logprobs: bool | None = None
    modalities: list[str] | None = None
    response_format: OutputFormat | None = None
    tool_choice: str | dict[str, Any] | None = None
    function_call: str | dict[str, Any] | None = None

    def broken_promises(self) -> Iterator[tuple[str, bool]]:
        """Yield each field that asks for what is not done."""
        yield "n", self.n not in (None, 1)
        yield "stop", bool(self.stop)
        yield "logprobs", bool(self.logprobs)
        yield "modalities", bool(set(self.modalities or ()) - {"text"})
        yield "response_format", self.response_format is not None and self.response_format.type != "text"
        yield "tool_choice", self.tool_choice not in _NO_TOOL
        yield "function_call", self.function_call not in _NO_TOOL


class InputItem(BaseModel):
    """An item of the input of a response: a message, or what another program has left behind."""

    type: str = "message"
    role: Literal["system", "developer", "user", "assistant"] | None = None
    content: str | list[Part] | None = None


class ResponseRequest(BaseModel):
    """The body of /v1/responses."""

    model: str
    collections: list[str] = Field(default=[], max_length=MAX_COLLECTIONS)
    input: str | list[InputItem]
    instructions: str | None = None
    stream: bool | None = None
    previous_response_id: str | None = None
    conversation: str | dict[str, Any] | None = None
    prompt: dict[str, Any] | None = None
    background: bool | None = None
    top_logprobs: int | None = None
    text: TextOptions | None = None
    tool_choice: str | dict[str, Any] | None = None

    def broken_promises(self) -> Iterator[tuple[str, bool]]:
        yield "previous_response_id", bool(self.previous_response_id)
        yield "conversation", bool(self.conversation)
        yield "prompt", bool(self.prompt)
        yield "background", bool(self.background)
        yield "top_logprobs", bool(self.top_logprobs)
        yield "text.format", bool(self.text and self.text.format and self.text.format.type != "text")
        yield "tool_choice", self.tool_choice not in _NO_TOOL


_NO_TOOL = (None, "none", "auto")
_NOT_DONE = {
    "n": "一次只写一个回答，n 只能是 1。",
    "stop": "不支持 stop：回答写到结束为止。",
    "logprobs": "不提供 logprobs。",
    "top_logprobs": "不提供 top_logprobs。",
    "modalities": "只输出文字。",
    "response_format": "不能保证按指定的 JSON 格式输出。",
    "text.format": "不能保证按指定的 JSON 格式输出。",
    "tool_choice": "不调用请求里的工具，所以不能指定必须调用。",
    "function_call": "不调用请求里的函数，所以不能指定必须调用。",
    "previous_response_id": "回答不保存，不能用 previous_response_id 接着问。请把前面的对话放进 input。",
    "conversation": "对话不保存在这里。请把前面的对话放进 input。",
    "prompt": "这里没有保存的提示词。请写在 instructions 里。",
    "background": "不能在后台回答。请用 stream。",
}

Body = TypeVar("Body", ChatRequest, ResponseRequest)


def parse_request(kind: type[Body], body: bytes) -> Body:
    """Return the body of a request. Raise BadRequest with the field that cannot be used, or NoJson."""
    try:
        request = kind.model_validate_json(body)
    except ValidationError as error:
        problem = first_problem(error)
        raise BadRequest(problem.sentence, param=problem.field) if problem else NoJson from None
    for field, is_asked in request.broken_promises():
        if is_asked:
            raise BadRequest(_NOT_DONE[field], param=field)
    return request
