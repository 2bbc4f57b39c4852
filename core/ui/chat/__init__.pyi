from . import (
    actions,
    composer,
    first_screen,
    live_answer,
    search_ledger,
    sidebar,
    source_desk,
    source_texts,
    transcript,
)
from .answer import draw_answer, draw_results, draw_source_list
from .citation_check import draw_check

__all__ = [
    "actions",
    "composer",
    "draw_answer",
    "draw_check",
    "draw_results",
    "draw_source_list",
    "first_screen",
    "live_answer",
    "search_ledger",
    "sidebar",
    "source_desk",
    "source_texts",
    "transcript",
]
