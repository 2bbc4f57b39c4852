from . import check_results, check_texts, events, export, message, stored_message
from .annotation import annotate
from .citation_verdicts import (
    AGREEING_SOURCES,
    HOW_MADE_NOTE,
    MARKS,
    NO_SOURCES_NOTE,
    PROBLEM_VERDICTS,
    UNCITED,
    VERDICTS_WORST_FIRST,
    CitationVerdict,
    agreeing_sources,
    list_agreements,
    list_verdicts,
    tally,
)
from .citations import INVENTED, cited_numbers, cited_sources, drop_unsourced, parse_markdown
from .html.markdown import Block, BlockStream, render_annotated, render_html, split_clean_blocks
from .html.revision_diff import revision_diff_html
from .html.source_html import references_html, results_html, site_name, source_panel_html, verdict_html
from .html.source_marks import TextSpan, compared_spans, marked_html
from .source_details import ATTACHED, OFFICIAL, describe_source, is_official, reading_status
from .sourced_text import SourcedEvents, SourcedText

__all__ = [
    "AGREEING_SOURCES",
    "ATTACHED",
    "HOW_MADE_NOTE",
    "INVENTED",
    "MARKS",
    "NO_SOURCES_NOTE",
    "OFFICIAL",
    "PROBLEM_VERDICTS",
    "UNCITED",
    "VERDICTS_WORST_FIRST",
    "Block",
    "BlockStream",
    "CitationVerdict",
    "SourcedEvents",
    "SourcedText",
    "TextSpan",
    "agreeing_sources",
    "annotate",
    "check_results",
    "check_texts",
    "cited_numbers",
    "cited_sources",
    "compared_spans",
    "describe_source",
    "drop_unsourced",
    "events",
    "export",
    "is_official",
    "list_agreements",
    "list_verdicts",
    "marked_html",
    "message",
    "parse_markdown",
    "reading_status",
    "references_html",
    "render_annotated",
    "render_html",
    "results_html",
    "revision_diff_html",
    "site_name",
    "source_panel_html",
    "split_clean_blocks",
    "stored_message",
    "tally",
    "verdict_html",
]
