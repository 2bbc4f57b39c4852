"""The agent's tool for opening pages: sources of this run by their numbers, and links that the user typed.

A page cannot be named in any other way. So text from the web cannot make the agent leak data in an address.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated, Any

from langchain_core.tools import BaseTool
from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, PrivateAttr

from core.agent.tools import AgentTool, Observation, ToolContext, ToolResult, failed_observation
from core.base.web_addresses import canonical_url, is_web_url
from core.run import MAX_PAGES_PER_CALL, PageRequest, read_sources
from core.search.types import Source


def _as_text(value: Any) -> Any:
    """Return the input as text. Models write 1, "1", [1, 3] or ["[1]", "https://…"]."""
    if isinstance(value, list):
        return ", ".join(map(str, value[: MAX_PAGES_PER_CALL * 2]))
    return str(value) if isinstance(value, int) else value


class ReadPageInput(BaseModel):
    sources: Annotated[str, BeforeValidator(_as_text)] = Field(
        validation_alias=AliasChoices(
            *("sources", "source", "numbers", "number", "ids", "id", "urls", "url", "pages", "page", "编号", "网址")
        ),
        description=f"要读的来源的编号，如 1 或 1, 3（一次最多 {MAX_PAGES_PER_CALL} 个）；或用户自己写出的网址",
        examples=["1", "1, 3"],
    )
    focus: Annotated[str, BeforeValidator(lambda value: str(value or ""))] = Field(
        default="",
        validation_alias=AliasChoices("focus", "question", "query", "look_for", "关注", "问题"),
        description="可选：想在网页里找什么；同一个编号可以换一个 focus 再读",
    )


class ReadPageTool(AgentTool):
    name: str = "read_page"
    description: str = (
        "打开搜索找到的网页，阅读其中与问题有关的段落。摘要只有几行：要引用具体的数字、条件或原话之前，先用此工具读这条来源。"
        "只能写搜索结果或附件的编号，或用户自己写出的网址。"
    )
    args_schema: Any = ReadPageInput
    _pages_being_read: dict[int, asyncio.Event] = PrivateAttr(default_factory=dict)

    async def use(self, call_id: str, sources: str, focus: str = "") -> ToolResult:
        wanted = PageRequest.parse(sources, focus)
        named = [self._find_source(page) for page in wanted.pages[:MAX_PAGES_PER_CALL]]
        allowed = [source for source in named if source is not None and _is_readable(source)]
        if not allowed:
            return failed_observation(self._refusal_text(named)), None
        chosen = tuple(dict.fromkeys(allowed))
        await self._read_pages(chosen, call_id)
        remark = "" if len(allowed) == len(wanted.pages) else f"其余的没有读。{self._allowed_pages_text()}"
        return await self._observation(self.context.run_sources.refreshed(chosen), wanted.focus, remark, call_id), None

    def _find_source(self, page: int | str) -> Source | None:
        """Return a source of this run. A link that the user typed becomes one now; any other address gives None."""
        known = self.context.run_sources
        if isinstance(page, int):
            return next((source for source in known.sources if source.number == page), None)
        typed = [link for link in self.context.links if canonical_url(link) == canonical_url(page)]
        return known.find_by_address(page) or next(iter(known.add_links(typed)), None)

    async def _read_pages(self, sources: Sequence[Source], call_id: str) -> None:
        """Read the pages, each only once in a run, also if several calls ask for it at the same time."""
        busy, context = self._pages_being_read, self.context
        under_way = [busy[source.number] for source in sources if source.number in busy]
        unread = [source for source in sources if source.read == "snippet" and not source.unread]
        mine = [source for source in unread if source.number not in busy]
        done = asyncio.Event()
        busy |= {source.number: done for source in mine}
        assert context.reader is not None
        try:
            pages = read_sources(
                context.reader, context.run_sources, mine, outer_deadline=context.deadline, call_id=call_id
            )
            async with aclosing(pages) as events:
                async for event in events:
                    context.emit(event)
        finally:
            done.set()
            for source in mine:
                del busy[source.number]
        for other in under_way:
            await other.wait()

    async def _observation(self, sources: Sequence[Source], focus: str, remark: str, call_id: str) -> Observation:
        pages = self.context.run_sources.pages
        read = [source for source in sources if source.number in pages]
        unread = [source for source in sources if source.number not in pages]
        if focus:  # passages near the snippet would repeat what the model already knows
            read = [replace(source, snippet="") for source in read]
        asked = focus or self.context.question
        block = await self.context.give_texts([*read, *unread], asked, call_id)
        note = "".join((*_status_sentences(read, unread), remark))
        return Observation(f"（{note}）\n{block}", ok=bool(read), summary=_summary(read, unread))

    def _refusal_text(self, named: Sequence[Source | None]) -> str:
        if any(named):
            return "这些来源不是网页，内容已经在查到的结果里，不需要再读。"
        return f"没有打开任何网页。{self._allowed_pages_text()}"

    def _allowed_pages_text(self) -> str:
        numbers = "、".join(str(source.number) for source in self.context.run_sources.sources if _is_readable(source))
        links = "、".join(self.context.links[:MAX_PAGES_PER_CALL])
        may = [f"编号 {numbers}"] * bool(numbers) + [f"用户写出的 {links}"] * bool(links)
        if not may:
            return "现在还没有可以读的来源，请先搜索，再写结果里的编号。"
        return f"可以读的只有：{'；'.join(may)}。一次最多 {MAX_PAGES_PER_CALL} 个。"


def _is_readable(source: Source) -> bool:
    """Return whether it is a page, or a user's file: a prompt holds only some passages of a file."""
    return source.read == "file" or (source.read in {"snippet", "page"} and is_web_url(source.url))


def _status_sentences(read: Sequence[Source], unread: Sequence[Source]) -> Iterator[str]:
    if read:
        yield f"已读全文：{_number_list(read)}，下面是其中有关的段落；要找别的内容，可以换一个 focus 再读同一个编号。"
    if unread:
        reasons = "、".join(f"[{source.number}]（{source.unread or '没有等到'}）" for source in unread)
        yield f"没有读到：{reasons}，只能用它的摘要，不要当作读过。"


def _number_list(sources: Sequence[Source]) -> str:
    return "".join(f"[{source.number}]" for source in sources)


def _summary(read: Sequence[Source], unread: Sequence[Source]) -> str:
    if not read:
        return f"没有读到网页：{'、'.join(dict.fromkeys(source.unread or '没有等到' for source in unread))}"
    return f"读了 {len(read)} 个网页" + (f"，{len(unread)} 个没有读到" if unread else "")


def build_read_page(context: ToolContext) -> BaseTool | None:
    """Return the tool, or None if there can be no page to read."""
    anything = context.search.has_engines or context.links or context.run_sources.sources
    offered = context.reader is not None and context.reader.max_pages and anything
    return ReadPageTool(context=context) if offered else None
