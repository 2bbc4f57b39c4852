"""What one token of a model's stream costs, layer by layer, from the socket to the events of an answer.

`python -m bench.stream serve` is the model: a process of its own, which sends each token alone and in its time.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.answers import long_answer
from bench.rows import Row

ROOT = Path(__file__).resolve().parent.parent
TOKENS = 600
CASES = ((60, 1), (50, 1), (60, 10))
"""Tokens a second, as quick hosted models write them, and how many answers at once."""
FIRST_TOKEN_SECONDS = 0.3
ROUNDS = 2
LIMITS = {"the model": 1.0, "Chat mode": 1.0, "Agent mode": 1.4}
"""Of what a bare event stream costs. With page, search and keeping an answer may cost 1.6 of it, an agent's 2.2 (`bench/readers.py`):
the stream alone has to leave them the rest."""

NOTE = f"""Processor time of one answer of {TOKENS} tokens, from the request to the last word, each layer with all below it: a
socket of asyncio's; httpx, line by line, with `json.loads`; the openai package; LangChain's ChatOpenAI; then `Model.stream`, which
reads in bursts (`core/llm/bursts.py`), and the events of both modes without a page. The model is a process of its own and sends
every token alone, chunked, as services do. The less there is to do, the more a single answer costs: what a process that was
asleep has to wake up for is then nearly all of it. Ten at once share that. On a machine that is busy with other things tokens
arrive in clumps, by which the bare stream, which reads each for itself, wins most. The limits are what an answer with its page may
cost (1.6 times a bare stream, an agent's 2.2, see "One process, many readers") less what page, search and keeping take."""

Layer = Callable[[], Awaitable[str]]


# ── The model ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    asked = json.loads(await reader.readexactly(int(length.split(b":")[1])))
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    now = asyncio.get_running_loop().time
    first = now() + FIRST_TOKEN_SECONDS
    for number, text in enumerate(long_answer(TOKENS)):
        await asyncio.sleep(first + number / int(asked["model"]) - now())
        writer.write(_chunk({"content": text}))
    usage = {"prompt_tokens": 1_000, "completion_tokens": TOKENS, "total_tokens": 1_000 + TOKENS}
    writer.write(_chunk({}, "stop") + _chunk(None, usage=usage) + _framed(b"data: [DONE]\n\n") + b"0\r\n\r\n")
    await writer.drain()
    writer.close()


def _chunk(delta: dict[str, Any] | None, ending: str | None = None, **more: Any) -> bytes:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": ending}]
    common = {"id": "chatcmpl-bench", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "bench"}
    return _framed(f"data: {json.dumps({**common, 'choices': choices, **more}, ensure_ascii=False)}\n\n".encode())


def _framed(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


async def _serve() -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def _model_server() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, "-m", "bench.stream", "serve"], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as server:
        assert server.stdout is not None
        try:
            yield f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        finally:
            server.terminate()


# ── The layers, each with all that is below it ────────────────────────────────────────────────────────────────────────


def _socket(url: str, pace: int) -> Layer:
    port = int(url.split(":")[2].split("/")[0])
    body = json.dumps({"model": str(pace)}).encode()

    async def read() -> str:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        events = [line async for line in reader if line.startswith(b"data: {")]
        writer.close()
        return _text(events)

    return read


def _bare(url: str, pace: int) -> Layer:
    """A bare event stream, as one would write it by hand."""
    import httpx

    client = httpx.AsyncClient(timeout=60)

    async def lines() -> AsyncIterator[bytes]:
        asked = {"model": str(pace), "messages": [], "stream": True}
        async with client.stream("POST", f"{url}/chat/completions", json=asked) as response:
            async for line in response.aiter_lines():
                yield line.encode()

    async def read() -> str:
        text = ""
        async for line in lines():
            if line.startswith(b"data: {"):
                text += _text([line])
        return text

    return read


def _text(events: list[bytes]) -> str:
    chunks = (json.loads(event.removeprefix(b"data: ")) for event in events)
    return "".join(choice["delta"].get("content", "") for chunk in chunks for choice in chunk["choices"])


def _openai(url: str, pace: int) -> Layer:
    from openai import AsyncOpenAI

    client = AsyncOpenAI(api_key="k", base_url=url)

    async def read() -> str:
        text = ""
        stream = await client.chat.completions.create(
            model=str(pace), messages=[{"role": "user", "content": "问题"}], stream=True
        )
        async for chunk in stream:
            text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
        return text

    return read


def _langchain(url: str, pace: int) -> Layer:
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    chat = ChatOpenAI(model=str(pace), api_key=SecretStr("k"), base_url=url, stream_usage=True)

    async def read() -> str:
        text = ""
        async for chunk in chat.astream("问题"):
            text += str(chunk.text)
        return text

    return read


def _app(url: str, pace: int) -> Any:
    from core.app import build_app, extra_sections
    from core.base.settings import load_settings

    environ = {"DATA_DIR": tempfile.mkdtemp(), "OPENAI_BASE_URL": url, "LLM_MODEL": f"openai:{pace}"}
    environ |= {"OPENAI_API_KEY": "k", "AGENT_STRATEGY": "tools", "LOG_LEVEL": "WARNING"}
    return build_app(load_settings(ROOT / "settings.yaml", environ, sections=extra_sections()))


def _model(app: Any) -> Layer:
    from core.llm.pieces import TextPiece

    async def read() -> str:
        pieces = [piece async for piece in app.model.stream([("human", "问题")])]
        return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))

    return read


def _service(service: Any) -> Layer:
    from core.answer.events import TextDelta

    async def read() -> str:
        events = [event async for event in service.events(service.accept_question("问题"))]
        return "".join(event.text for event in events if isinstance(event, TextDelta))

    return read


# ── Measuring ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _layers(url: str, pace: int, app: Any) -> dict[str, Layer]:
    return {
        "a socket": _socket(url, pace),
        "a bare event stream": _bare(url, pace),
        "openai": _openai(url, pace),
        "ChatOpenAI": _langchain(url, pace),
        "the model": _model(app),
        "Chat mode": _service(app.chat),
        "Agent mode": _service(app.agent),
    }


async def _milliseconds(layers: dict[str, Layer], at_once: int) -> dict[str, float]:
    """Processor time of one whole answer. In turn, so that a busy moment of the machine hits all of them alike."""
    wanted = "".join(long_answer(TOKENS)).strip()
    taken: dict[str, list[float]] = {name: [] for name in layers}
    for _ in range(ROUNDS):
        for name, read in layers.items():
            began = time.process_time()
            answers = await asyncio.gather(*(read() for _ in range(at_once)))
            taken[name].append((time.process_time() - began) * 1000 / at_once)
            assert {answer.strip() for answer in answers} == {wanted}, name
    return {name: min(times) for name, times in taken.items()}


def _measured(url: str, pace: int, at_once: int) -> dict[str, float]:
    app = _app(url, pace)
    app.model.chat_model()
    try:
        measured: dict[str, float] = app.loop.submit(_milliseconds(_layers(url, pace, app), at_once)).result()
        return measured
    finally:
        app.close()


def rows() -> Iterator[Row]:
    warnings.simplefilter("ignore")
    with _model_server() as url:
        for pace, at_once in CASES:
            measured = _measured(url, pace, at_once)
            bare = measured["a bare event stream"]
            for name, milliseconds in measured.items():
                title = f"{pace} tokens/s, {at_once} at once: {name}"
                limit = LIMITS[name] * bare if name in LIMITS else None
                yield Row(title, milliseconds, "ms", limit, "a bare event stream", bare)


if __name__ == "__main__":
    asyncio.run(_serve())
