"""The chat model of the settings: built when first needed, streamed with retries and deadlines."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from pydantic import SecretStr

from core.base.settings import LlmSettings, Settings, choose_model
from core.base.text import clean_piece
from core.base.threads import LoopThread, run_in_thread
from core.base.tuning import exempt_from_garbage_collection, short_switch_interval
from core.llm.call_limit import ModelCallLimit
from core.llm.context_length import UNKNOWN_LENGTH, listed_length, packaged_length
from core.llm.errors import TEXT_KEPT, ModelDisconnected, ModelEmptyAnswer, ModelError, is_retryable, to_model_error
from core.llm.native_search import ChunkPart, NativeChunkReader, bind_web_search
from core.llm.pieces import Piece, SearchingPiece, TextPiece, ThoughtPiece, TokenUsage
from core.llm.reasoning import ThinkSplitter, reasoning_text
from core.llm.retry import log_cause, retry_attempts
from core.llm.tokens import estimate_tokens
from core.search.types import SearchQuery

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from core.llm.openai_chat import OpenAIChat

log = logging.getLogger(__name__)

Prompt = Sequence[tuple[str, str]]
"""(role, text) pairs, which LangChain reads as messages: system, human, ai."""

CUT_OFF_REASONS = ("length", "content_filter")
"""The values of `finish_reason` by which a service says that it ended the answer early."""
IDLE_CONNECTIONS = 5
LENGTH_SECONDS = 300.0
"""Seconds for which a context length is believed: a server may be started again with another one."""
SHORTEST_LENGTH = 1_000
MAX_OTHER_MODELS = 64
"""The number of models, chosen by readers, that are kept at once. Each keeps connections open."""


def build_chat_model(settings: Settings) -> BaseChatModel:
    """Build LangChain's chat model for the settings. Raises a ModelError where they cannot be used."""
    choice = choose_model(settings)
    if choice.is_embedded:
        raise ModelError(f"{choice.label}只摘录来源，不能写作。", cure="请在「设置」页面的「模型」里连接一个模型。")
    from langchain.chat_models import init_chat_model

    if "OPENAI_BASE_URL" in settings.unusable:
        raise ModelError(
            "模型服务的地址无法使用，没有改用其他地址：问题只该发给它所指的服务。",
            cure="请管理员改正这个地址（以 http:// 或 https:// 开头）后重启。",
        )
    options: dict[str, Any] = {"max_retries": 0, "timeout": settings.llm.first_token_timeout}
    if settings.llm.temperature is not None:
        options["temperature"] = settings.llm.temperature
    if choice.provider == "openai":
        return _build_openai_chat(choice.name, settings, options)
    try:
        model: BaseChatModel = init_chat_model(choice.name, model_provider=choice.provider, **options)
    except ImportError:
        package = f"langchain-{choice.provider.replace('_', '-')}"
        raise ModelError(
            f"使用 {choice.provider} 的模型还缺少一个软件包。", cure=f"请安装 {package} 后重启。"
        ) from None
    except ValueError as error:
        log.warning("cannot build the model %s: %s", choice.name, error)
        raise ModelError(
            f"无法识别模型「{choice.provider}:{choice.name}」。",
            cure="请在「设置」页面的「模型」里重新选择，写法如 openai:模型名。",
        ) from None
    return model


def _build_openai_chat(name: str, settings: Settings, options: dict[str, Any]) -> BaseChatModel:
    from core.llm.openai_chat import OpenAIChat
    from core.llm.plain_chunks import PlainChunksClient

    key = settings.openai.api_key
    if settings.openai.base_url:
        options["base_url"] = settings.openai.base_url
    chat = OpenAIChat(
        model=name,
        api_key=key or SecretStr("none"),  # local servers want none, the client wants some
        # Its own timeout around every chunk uses asyncio.wait_for, which in Python 3.11 can swallow a cancellation.
        stream_chunk_timeout=None,
        stream_usage=True,  # LangChain leaves the usage out for custom addresses unless this is set
        **options,
        **_http_clients(),
    )
    chat.async_client = PlainChunksClient(chat.async_client)
    return chat


def _http_clients() -> dict[str, Any]:
    """Return HTTP clients that follow no redirects, to hosts that nobody has configured, and keep few idle connections.
    By default openai follows redirects, and keeps a hundred unused connections open, each of them a file handle."""
    from openai import DEFAULT_CONNECTION_LIMITS, DefaultAsyncHttpxClient, DefaultHttpxClient

    limits = type(DEFAULT_CONNECTION_LIMITS)(max_connections=1_000, max_keepalive_connections=IDLE_CONNECTIONS)
    return {
        "http_client": DefaultHttpxClient(follow_redirects=False, limits=limits),
        "http_async_client": DefaultAsyncHttpxClient(follow_redirects=False, limits=limits),
    }


class Model:
    """Streams answers of one model. `build` and `sleep` are arguments for tests without a network and without waiting."""

    def __init__(
        self,
        settings: Settings,
        *,
        build: Callable[[Settings], BaseChatModel] = build_chat_model,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        limit: ModelCallLimit | None = None,
    ) -> None:
        self.choice = choose_model(settings)
        self.settings = settings
        self.cannot_search = False
        """True once a request has shown that the model has no web search of its own."""
        self._build = build
        self._sleep = sleep
        self._limit = limit
        self._lock = threading.Lock()
        self._chat: BaseChatModel | None = None
        self._others: dict[tuple[str, float | None], Model] = {}
        self._length: tuple[float, int] = (float("-inf"), 0)
        """When the context length was asked for, and the length; 0 for unknown."""

    @property
    def label(self) -> str:
        return self.choice.label

    def for_settings(self, settings: Settings) -> Model:
        """Return the model for these settings: this one, or another that is kept for the next reader who chooses it."""
        mine, wanted = self.settings.llm, settings.llm
        if (wanted.model, wanted.temperature) == (mine.model, mine.temperature):
            return self
        if len(self._others) >= MAX_OTHER_MODELS:
            self._others.clear()
        # No lock here: `_lock` may be held for seconds while the model is built.
        return self._others.setdefault(
            (wanted.model, wanted.temperature), Model(settings, build=self._build, sleep=self._sleep, limit=self._limit)
        )

    def chat_model(self) -> BaseChatModel:
        with self._lock:
            if self._chat is None:
                self._chat = self._build(self.settings)
                exempt_from_garbage_collection()
            return self._chat

    async def achat_model(self) -> BaseChatModel:
        """Return the chat model, built in a thread if it is not there yet: the imports take seconds."""
        return await asyncio.to_thread(self.chat_model) if self._chat is None else self._chat

    async def count_call(self) -> None:
        """Count one request to the model. Must be awaited before every request. Raises TooManyCalls."""
        if self._limit is not None and not self.choice.is_embedded:
            await self._limit.count()

    async def context_length(self) -> int:
        """Return the tokens that the model takes, with its answer: as the service or the settings say, the smaller of
        both; a cautious number where neither says it."""
        if time.monotonic() - self._length[0] > LENGTH_SECONDS:
            await run_in_thread(self._find_length, name="wenyuan-context-length")
        return min(filter(None, (self._length[1], self.settings.llm.context_tokens)), default=UNKNOWN_LENGTH)

    def note_refused_length(self, limit: int | None, *, estimated: int) -> None:
        """Note that a prompt was too long, so that the next one is shorter. `limit`: the context length that the service
        has named; `estimated`: the tokens of the refused prompt by our estimate."""
        self._length = time.monotonic(), limit or max(estimated // 2, SHORTEST_LENGTH)

    def _find_length(self) -> None:
        found: int | None = None
        with suppress(ModelError):
            if self.choice.provider == "openai" and self.settings.openai.base_url:
                found = listed_length(self.settings, self.choice.name)
            else:
                found = packaged_length(self.chat_model())
        self._length = time.monotonic(), found or 0

    def warm_up(self) -> None:
        """Import LangChain and build the model in the background; excerpts need neither."""
        if not self.choice.is_embedded:
            threading.Thread(target=self._build_early, name="wenyuan-warm-up", daemon=True).start()

    def _build_early(self) -> None:
        try:
            with short_switch_interval():
                self.chat_model()
            self._find_length()
        except ModelError as error:
            log.warning("%s", error)

    def stream(self, prompt: Prompt) -> AsyncGenerator[Piece]:
        """Stream the answer piece by piece; the usage comes last. Raises a ModelError, also in mid-stream."""
        return cast("AsyncGenerator[Piece]", self._stream(prompt, _StreamedAnswer(_read_plain_chunk), _ask_plainly))

    def stream_short(self, prompt: Prompt, *, max_tokens: int) -> AsyncGenerator[Piece]:
        """Stream an answer of at most `max_tokens` tokens, tried only once: it is not the answer to the reader."""
        ask = partial(_ask_plainly, max_tokens=max_tokens)
        return cast("AsyncGenerator[Piece]", self._stream(prompt, _StreamedAnswer(_read_plain_chunk), ask, attempts=1))

    def stream_with_search(
        self, prompt: Prompt, query: SearchQuery, *, required: bool = False
    ) -> AsyncGenerator[SearchingPiece]:
        """Stream an answer for which the model searches the web itself. May raise ModelCannotSearch before any piece."""
        base_url = self.settings.openai.base_url

        def ask(chat: BaseChatModel, prompt: list[tuple[str, str]]) -> Any:
            return bind_web_search(chat, query, base_url=base_url, required=required).astream(prompt)

        return self._stream(prompt, _StreamedAnswer(NativeChunkReader().read), ask, searching=True)

    async def _stream(
        self,
        prompt: Prompt,
        answer: _StreamedAnswer,
        ask: Callable[[BaseChatModel, list[tuple[str, str]]], Any],
        *,
        searching: bool = False,
        attempts: int | None = None,
    ) -> AsyncGenerator[SearchingPiece]:
        limits = self.settings.llm.model_copy(update={"attempts": attempts} if attempts else {})
        chat = await self.achat_model()
        try:
            async with asyncio.timeout(limits.total_timeout):
                chunks, chunk = await self._open_stream(lambda: ask(chat, list(prompt)), limits, searching=searching)
                async with aclosing(chunks):
                    while chunk is not None:
                        for piece in answer.add_chunk(chunk):
                            yield piece
                        # Before its first thought or word, and while it searches, a model may be silent for longer.
                        longest = 0.0 if answer.has_begun else limits.first_token_timeout
                        chunk = await _next_chunk(chunks, max(longest, limits.idle_timeout))
        except Exception as error:
            model_error = to_model_error(error, mid_stream=bool(answer.written), searching=searching)
            raise log_cause(model_error, error) from None
        for piece in answer.finish():
            yield piece
        if self.choice.provider == "openai" and not answer.is_finished:
            # A dropped connection without a length looks like an ordinary end.
            raise ModelDisconnected(cure="" if answer.is_blank else TEXT_KEPT)
        if answer.is_blank:
            raise ModelEmptyAnswer
        yield answer.usage(prompt)

    def probe(self, loop: LoopThread) -> float:
        """Return the seconds until the model's first piece. Raises the ModelError that a reader would meet."""

        async def first_piece() -> None:
            async with aclosing(self.stream([("human", "1+1=?")])) as pieces:
                await anext(pieces)

        started = time.monotonic()
        loop.submit(first_piece()).result()
        return time.monotonic() - started

    async def _open_stream(self, ask: Callable[[], Any], limits: LlmSettings, *, searching: bool) -> tuple[Any, Any]:
        """Return the stream and its first chunk. Until that chunk a failed request is tried again."""
        retries = retry_attempts(limits, count_call=self.count_call, should_retry=is_retryable, sleep=self._sleep)
        async for attempt in retries:
            with attempt:
                chunks = ask()
                try:
                    return chunks, await _next_chunk(chunks, limits.first_token_timeout)
                except Exception as error:
                    await chunks.aclose()
                    raise log_cause(to_model_error(error, searching=searching), error) from None
        raise AssertionError("tenacity ends by returning or raising")


def _ask_plainly(chat: BaseChatModel, prompt: list[tuple[str, str]], **options: Any) -> Any:
    """Open a stream. OpenAI's protocol is read directly, without LangChain's message around every few words."""
    if getattr(chat, "uses_chat_completions", False):
        return cast("OpenAIChat", chat).stream_pieces(prompt, **options)
    return chat.bind(**options).astream(prompt)


MAX_REPORTED_TOKENS = 1_000_000_000


def read_reported_usage(usage: Any) -> TokenUsage | None:
    """Return LangChain's `usage_metadata` as TokenUsage, or None if it is missing or not credible. The output includes
    the reasoning, where the service counts it. An absurd figure would spoil the sums of all users."""
    if not usage:
        return None
    read, written = usage["input_tokens"], usage["output_tokens"]
    reasoning = (usage.get("output_token_details") or {}).get("reasoning") or 0
    if min(read, written, reasoning) < 0 or not 0 < read + written <= MAX_REPORTED_TOKENS or reasoning > written:
        return None
    return TokenUsage(read, written, estimated=False, reasoning=reasoning)


async def _next_chunk(chunks: Any, seconds: float) -> Any:
    async with asyncio.timeout(seconds):
        return await anext(chunks, None)


def _read_plain_chunk(chunk: Any) -> Iterator[ChunkPart]:
    if thought := reasoning_text(chunk):
        yield ThoughtPiece(thought)
    yield str(chunk.text)


class _StreamedAnswer:
    """The state of one streamed answer. `read` splits a chunk into its parts."""

    def __init__(self, read: Callable[[Any], Iterator[ChunkPart]]) -> None:
        self._read = read
        self.written = ""
        self.thought = ""
        self.is_blank = True
        self._splitter = ThinkSplitter()
        self.is_finished = False
        """True once the server has said that the answer is complete."""
        self._reported: TokenUsage | None = None
        self._cut_off = ""

    @property
    def has_begun(self) -> bool:
        """True once the model has begun to think or to write."""
        return bool(self.thought or self.written)

    def add_chunk(self, chunk: Any) -> Iterator[SearchingPiece]:
        """Yield the pieces of a chunk: a LangChain message, or plain text or thought."""
        plain = isinstance(chunk, str | ThoughtPiece)
        if not plain:
            self._note_ending(chunk)
        for part in (chunk,) if plain else self._read(chunk):
            if isinstance(part, str):
                self.written += (text := clean_piece(part))
                yield from self._note_text(self._splitter.feed(text))
            elif isinstance(part, ThoughtPiece):
                thought = ThoughtPiece(clean_piece(part.text))
                self.thought += thought.text
                yield thought
            else:
                yield part

    def _note_ending(self, message: Any) -> None:
        usage = getattr(message, "usage_metadata", None)
        self._reported = read_reported_usage(usage) or self._reported
        ending = message.response_metadata.get("finish_reason") or message.response_metadata.get("status")
        self.is_finished |= bool(usage or ending)
        if ending in CUT_OFF_REASONS:
            self._cut_off = ending

    def finish(self) -> Iterator[Piece]:
        yield from self._note_text(self._splitter.end())

    def _note_text(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        for piece in pieces:
            if isinstance(piece, TextPiece) and piece.text.strip():
                self.is_blank = False
            yield piece

    def usage(self, prompt: Prompt) -> TokenUsage:
        if self._reported:
            return replace(self._reported, cut_off=self._cut_off)
        asked = sum(estimate_tokens(text) for _, text in prompt)
        written = estimate_tokens(self.thought + self.written)
        return TokenUsage(asked, written, estimated=True, cut_off=self._cut_off)
