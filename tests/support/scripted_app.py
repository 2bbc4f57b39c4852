"""A whole App with a scripted model and fake engines: what most tests above the services need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from core.app import App, build_app
from core.llm.model import Model
from core.search import SearchEngine
from support.base import loaded
from support.scripted import ScriptedChatModel


@contextmanager
def scripted_app(
    *, says: list[list[Any]], engines: Sequence[SearchEngine] | None = (), **environ: str
) -> Iterator[tuple[App, ScriptedChatModel]]:
    scripted = ScriptedChatModel(script=says)
    settings = loaded(**{"LLM_MODEL": "scripted:test", **environ})
    app = build_app(settings, model=Model(settings.values, build=lambda _: scripted), engines=engines)
    try:
        yield app, scripted
    finally:
        app.close()
