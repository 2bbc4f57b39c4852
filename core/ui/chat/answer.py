"""Answers on the page. Finished paragraphs are sent once; only the growing end is sent again."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import streamlit as st
from markupsafe import Markup
from streamlit.delta_generator import DeltaGenerator

from core.answer import (
    Block,
    BlockStream,
    annotate,
    references_html,
    render_annotated,
    render_html,
    results_html,
    split_clean_blocks,
)
from core.answer.check_results import AnswerCheck
from core.reading import Place
from core.search.types import SearchResult, Source
from core.ui import session
from core.ui.escape import draw_html

UPDATES_PER_SECOND = 20
BYTES_PER_SECOND = 60_000
"""Limit for sending a growing paragraph. A very long one is sent less often, so that slow connections keep up."""


def app_url() -> str:
    return session.app().settings.public.url


def draw_answer(
    text: str,
    sources: Sequence[Source],
    *,
    anchor: str,
    check: AnswerCheck | None = None,
    growing: DeltaGenerator | None = None,
) -> None:
    """Draw a complete answer. Its citation numbers have cards with the result of the check. A fresh answer takes the place of the
    growing one in one step, so that it is never gone, and its ticks appear with a small motion."""
    annotated = annotate(text, check)
    start = growing
    rest = st.container()
    for special, group in itertools.groupby(split_clean_blocks(annotated.text), key=_is_special):
        place, start = start or rest, None
        if special:
            _draw_special(place, next(group))
            for block in group:
                _draw_special(rest, block)
        else:
            markdown = "\n\n".join(block.text for block in group)
            html = render_annotated(markdown, annotated, sources, anchor=anchor, app_url=app_url())
            draw_html(Markup('<div class="wy-answer%s">%s</div>') % (" fresh" if growing else "", html), place)
    if start:
        start.empty()


def _is_special(block: Block) -> bool:
    """Return whether a block is code or a formula, which Streamlit draws itself. Everything between is one piece of
    HTML."""
    return block.kind in {"code", "math"}


def draw_references(
    sources: Sequence[Source],
    *,
    anchor: str = "",
    title: str = "参考文献",
    places: Mapping[int, Sequence[Place]] = MappingProxyType({}),
) -> None:
    heading = Markup('<div class="wy-refs-title">%s</div>') % title
    draw_html(heading + references_html(sources, anchor=anchor, app_url=app_url(), places=places))


def draw_source_list(sources: Sequence[Source]) -> None:
    """Draw sources that no text points to."""
    draw_html(references_html(sources, app_url=app_url()))


def draw_results(results: Iterable[SearchResult]) -> None:
    """Draw results without a number, which no text can cite."""
    draw_html(results_html(results, app_url=app_url()))


def _draw_special(place: DeltaGenerator, block: Block) -> None:
    if block.kind == "math":
        place.latex(block.body)
    else:
        place.code(block.body, language=block.language or None, wrap_lines=True)


class AnswerView:
    """Answer while it is being written."""

    def __init__(self, sources: Sequence[Source], *, anchor: str) -> None:
        self.sources = sources
        self._anchor = anchor
        self._all = st.container()
        self._place: DeltaGenerator | None = None
        self.restart()

    def restart(self) -> None:
        """Remove the drawn text, because it was not the answer."""
        self._clear()
        self._blocks = BlockStream()
        self._final: list[Block] = []
        self._next_update = 0.0
        self._changed = False

    def _clear(self) -> None:
        """Empty the current place. The next one must be elsewhere, because a replaced container keeps its elements
        until the script ends."""
        if self._place is not None:
            self._place.empty()
            self._place = None

    def add_text(self, text: str) -> None:
        self._final += self._blocks.feed(text)
        self._changed = True

    def draw(self) -> None:
        """Draw new text. Does nothing if it is too early to send again."""
        now = time.monotonic()
        if not self._changed or now < self._next_update:
            return
        if self._place is None:  # created only now, because every place is a message to the browser
            self._place = self._all.empty()
            self._area = self._place.container()
            self._end = self._area.empty()
        for block in self._final:
            self._draw_end([block])
            self._end = self._area.empty()
        self._final.clear()
        sent = self._draw_end(self._blocks.open_blocks)
        self._next_update = now + max(1 / UPDATES_PER_SECOND, sent / BYTES_PER_SECOND)
        self._changed = False

    def finish(self, text: str, sources: Sequence[Source], check: AnswerCheck | None) -> None:
        """Draw the complete answer as every later rerun does."""
        with self._all:
            draw_answer(text, sources, anchor=self._anchor, check=check, growing=self._place or self._all.empty())

    def _draw_end(self, blocks: list[Block]) -> int:
        """Draw blocks into the last place. Returns the number of characters sent."""
        match blocks:
            case []:
                return 0
            case [Block(kind="code" | "math") as block]:
                _draw_special(self._end, block)
                return len(block.body)
            case _:
                markdown = "\n\n".join(block.text for block in blocks)
                html = render_html(markdown, self.sources, anchor=self._anchor, app_url=app_url())
                if html.strip():
                    draw_html(Markup('<div class="wy-answer">%s</div>') % html, self._end)
                return len(html)
