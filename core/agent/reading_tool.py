"""The agent's tool for opening pages: sources of this run by their numbers, and links that the user typed.

A page cannot be named in any other way. Text from the web can therefore not send the agent to an address and leak data
in it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Annotated, Any

from langchain_core.tools import BaseTool
from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, PrivateAttr

from core.agent.tools import AgentTool, Observation, Result, ToolContext, failure
from core.base.text import one_line, shorten
from core.base.web_addresses import URL_LENGTH, addresses_in, canonical, is_web_address
from core.reading import Reader
from core.run.evidence import within_budget
from core.run.prompts import LONGEST_QUERY
from core.run.reading import reading
from core.search.types import Source

AT_ONCE = 3
INPUT_LENGTH = AT_ONCE * URL_LENGTH


@dataclass(frozen=True, slots=True)
class Wanted:
    """The pages in a model's input: `[1]`, `1, 3`, `来源 2` or a link, each optionally followed by what to look for."""

    pages: tuple[int | str, ...]
    """Numbers of sources, and addresses."""
    focus: str = ""

    @classmethod
    def read_from(cls, written: str, focus: str = "") -> Wanted:
        written = one_line(written[:INPUT_LENGTH])
        pages: list[int | str] = []
        end = 0
        while found := _PAGE.match(written, end):
            pages += [int(found[1])] if found[1] else addresses_in(found[2])
            end = found.end()
        return cls(
            tuple(dict.fromkeys(pages)), shorten(one_line(focus or written[end:].strip(_BORDERS)), LONGEST_QUERY)
        )


_BORDERS = " ,，、;；:：\"'「」[]【】()（）"
_PAGE = re.compile(
    r"[\s,，、;；\"']*(?:(?:and|和|与|及|来源|编号|网页|网址|sources?|numbers?|pages?|urls?)[\s:：]*)*"
    r"(?:[\[【(（「#\"']*\s*(\d{1,3})(?![a-z0-9_%]|\.\d|[年月日])\s*[\]】)）」\"']*|(https?://[^\s，。、；]+))",
    re.IGNORECASE,
)


def _as_text(value: Any) -> Any:
    """Return the input as text. Models write 1, "1", [1, 3] or ["[1]", "https://…"]."""
    if isinstance(value, list):
        return ", ".join(map(str, value[: AT_ONCE * 2]))
    return str(value) if isinstance(value, int) else value


class ReadPageInput(BaseModel):
    sources: Annotated[str, BeforeValidator(_as_text)] = Field(
        validation_alias=AliasChoices(
            *("sources", "source", "numbers", "number", "ids", "id", "urls", "url", "pages", "page", "编号", "网址")
        ),
        description=f"要读的来源的编号，如 1 或 1, 3（一次最多 {AT_ONCE} 个）；或用户自己写出的网址",
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
    _under_way: dict[int, asyncio.Event] = PrivateAttr(default_factory=dict)

    async def use(self, call_id: str, sources: str, focus: str = "") -> Result:
        wanted = Wanted.read_from(sources, focus)
        named = [self._named(page) for page in wanted.pages[:AT_ONCE]]
        allowed = [source for source in named if source is not None and _can_be_read(source)]
        if not allowed:
            return failure(self._refusal(named)), None
        chosen = tuple(dict.fromkeys(allowed))
        await self._read(chosen, call_id)
        remark = "" if len(allowed) == len(wanted.pages) else f"其余的没有读。{self._rule()}"
        return self._told(self.context.evidence.now(chosen), wanted.focus, remark), None

    def _named(self, page: int | str) -> Source | None:
        """Return a source of this run. A link that the user typed becomes one now; any other address gives None."""
        evidence = self.context.evidence
        if isinstance(page, int):
            return next((source for source in evidence.sources if source.number == page), None)
        typed = [link for link in self.context.links if canonical(link) == canonical(page)]
        return evidence.at(page) or next(iter(evidence.number_links(typed)), None)

    async def _read(self, sources: Sequence[Source], call_id: str) -> None:
        """Read the pages, each only once in a run, also if several calls ask for it at the same time."""
        under_way = [self._under_way[source.number] for source in sources if source.number in self._under_way]
        mine = [
            source
            for source in sources
            if source.read == "snippet" and not source.unread and source.number not in self._under_way
        ]
        done = asyncio.Event()
        self._under_way |= {source.number: done for source in mine}
        try:
            within = self.context.deadline
            pages = reading(self._reader, self.context.evidence, mine, within=within, call_id=call_id)
            async with aclosing(pages) as events:  # type: ignore[type-var]
                async for event in events:
                    self.context.emit(event)
        finally:
            done.set()
            for source in mine:
                del self._under_way[source.number]
        for other in under_way:
            await other.wait()

    @property
    def _reader(self) -> Reader:
        assert self.context.reader is not None
        return self.context.reader

    def _told(self, sources: Sequence[Source], focus: str, remark: str) -> Observation:
        pages = self.context.evidence.pages
        read = [source for source in sources if source.number in pages]
        unread = [source for source in sources if source.number not in pages]
        if focus:  # passages near the snippet would repeat what the model already knows
            read = [replace(source, snippet="") for source in read]
        asked = focus or self.context.question
        _, block = within_budget([*read, *unread], self.context.settings, pages=pages, question=asked)
        note = "".join((*_sentences(read, unread), remark))
        return Observation(f"（{note}）\n{block}", ok=bool(read), summary=_summary(read, unread))

    def _refusal(self, named: Sequence[Source | None]) -> str:
        if any(named):
            return "这些来源不是网页，内容已经在查到的结果里，不需要再读。"
        return f"没有打开任何网页。{self._rule()}"

    def _rule(self) -> str:
        numbers = "、".join(str(source.number) for source in self.context.evidence.sources if _can_be_read(source))
        links = "、".join(self.context.links[:AT_ONCE])
        may = [f"编号 {numbers}"] * bool(numbers) + [f"用户写出的 {links}"] * bool(links)
        if not may:
            return "现在还没有可以读的来源，请先搜索，再写结果里的编号。"
        return f"可以读的只有：{'；'.join(may)}。一次最多 {AT_ONCE} 个。"


def _can_be_read(source: Source) -> bool:
    """Return whether it is a page, or a user's file: a prompt holds only some passages of a file."""
    return source.read == "file" or (source.read in {"snippet", "page"} and is_web_address(source.url))


def _sentences(read: Sequence[Source], unread: Sequence[Source]) -> Iterator[str]:
    if read:
        yield f"已读全文：{_marks(read)}，下面是其中有关的段落；要找别的内容，可以换一个 focus 再读同一个编号。"
    if unread:
        reasons = "、".join(f"[{source.number}]（{source.unread or '没有等到'}）" for source in unread)
        yield f"没有读到：{reasons}，只能用它的摘要，不要当作读过。"


def _marks(sources: Sequence[Source]) -> str:
    return "".join(f"[{source.number}]" for source in sources)


def _summary(read: Sequence[Source], unread: Sequence[Source]) -> str:
    if not read:
        return f"没有读到网页：{'、'.join(dict.fromkeys(source.unread or '没有等到' for source in unread))}"
    return f"读了 {len(read)} 个网页" + (f"，{len(unread)} 个没有读到" if unread else "")


def read_page(context: ToolContext) -> BaseTool | None:
    """Return the tool, or None if there can be no page to read."""
    anything = context.search.available or context.links or context.evidence.sources
    offered = context.reader is not None and context.reader.pages and anything
    return ReadPageTool(context=context) if offered else None
