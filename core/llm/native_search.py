"""Calls of a model that searches the web itself: the request, and how LangChain's stream of the answer is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from core.llm.pieces import CitationPiece, SearchPiece, ThoughtPiece
from core.search import (
    BARE_TOOL,
    EXTRAS,
    search_queries,
    search_tool,
    strip_service_marks,
    takes_bare_tool,
    visited_urls,
)
from core.search.types import SearchQuery

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import Runnable

ChunkPart = str | ThoughtPiece | SearchPiece | CitationPiece


def bind_web_search(
    chat: BaseChatModel, query: SearchQuery, *, base_url: str | None, required: bool
) -> Runnable[Any, Any]:
    """Return the model with its search tool bound. `required`: the model must search before it answers."""
    if takes_bare_tool(base_url or ""):
        return chat.bind_tools([BARE_TOOL])
    return chat.bind_tools([search_tool(query)], tool_choice="required" if required else None, **EXTRAS)


class NativeChunkReader:
    """Reads the chunks of one answer. LangChain reports a search when it is over, and a citation after its text."""

    def __init__(self) -> None:
        self._lengths: dict[Any, int] = {}
        self._remarks: set[Any] = set()
        """Indices of text blocks that are remarks between two searches: DeepSeek and newer OpenAI models write them."""

    def read(self, chunk: Any) -> Iterator[ChunkPart]:
        """Yield the parts of one chunk: text, thoughts, searches and citations."""
        content = chunk.content
        for block in [content] if isinstance(content, str) else content:
            if isinstance(block, str):
                yield block
            elif block.get("type") == "web_search_call":
                yield _to_search_piece(block)
            elif block.get("type") == "reasoning":
                for part in block.get("summary") or ():
                    yield ThoughtPiece(str(part.get("text") or ""))
            elif block.get("type") == "text":
                yield from self._read_text(block)

    def _read_text(self, block: dict[str, Any]) -> Iterator[ChunkPart]:
        part = block.get("index")
        if block.get("phase", "final_answer") != "final_answer":
            self._remarks.add(part)
        if part in self._remarks:
            return
        text = block.get("text") or ""
        self._lengths[part] = self._lengths.get(part, 0) + len(text)
        yield text
        for note in block.get("annotations") or ():
            if note.get("type") == "url_citation" and isinstance(note.get("url"), str):
                here = note.get("end_index") == self._lengths[part]
                yield CitationPiece(strip_service_marks(note["url"]), str(note.get("title") or ""), here)


def _to_search_piece(call: dict[str, Any]) -> SearchPiece:
    action = call.get("action")
    urls = tuple(url for url in visited_urls(action) if isinstance(url, str))
    return SearchPiece(tuple(search_queries(action)), urls, failed=call.get("status") == "failed")
