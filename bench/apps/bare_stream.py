"""The peer: the least that does the same job, a search and the model's event stream passed on to one reader.

`python -m bench.apps.bare_stream PORT`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

client = httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=None))


async def answer(request: Request) -> StreamingResponse:
    question = request.query_params["q"]
    found = await client.get(f"{os.environ['SEARXNG_URL']}/search", params={"q": question, "format": "json"})
    sources = "\n".join(f"{one['title']} {one['url']} {one['content']}" for one in found.json()["results"])
    messages = [{"role": "system", "content": sources}, {"role": "user", "content": question}]
    return StreamingResponse(events(messages), media_type="text/event-stream")


async def health(_: Request) -> Response:
    return Response()


async def events(messages: list[dict[str, str]]) -> AsyncIterator[str]:
    asked = {"model": os.environ["LLM_MODEL"].removeprefix("openai:"), "messages": messages, "stream": True}
    address = f"{os.environ['OPENAI_BASE_URL']}/chat/completions"
    async with client.stream("POST", address, json=asked) as response:
        async for line in response.aiter_lines():
            if not line.startswith("data: {"):
                continue
            for choice in json.loads(line.removeprefix("data: "))["choices"]:
                if text := choice["delta"].get("content"):
                    yield f"data: {json.dumps({'text': text}, ensure_ascii=False)}\n\n"
    yield "data: [DONE]\n\n"


if __name__ == "__main__":
    routes = [Route("/", answer), Route("/health", health)]
    uvicorn.run(Starlette(routes=routes), port=int(sys.argv[1]), log_level="warning")
