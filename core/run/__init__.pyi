from . import prompts
from .admission import Admission, TooManyQuestions
from .answer_checking import AnswerChecks, TextsByNumber, source_texts
from .answer_saver import AnswerSaver
from .answer_service import AnswerService
from .approvals import Approvals
from .choices import NO_CHOICES, Choices
from .chosen_collections import ChosenCollections
from .configured import Configured
from .document_pages import DocumentPages
from .document_search import DocumentFindings, search_documents
from .excerpts import SearchState, are_related, in_script_of, is_small_talk, write_excerpts
from .given_texts import (
    NO_SPANS,
    FittedSources,
    excerptable,
    fair_share,
    format_sources,
    format_within_budget,
    max_articles,
)
from .history import newest_messages
from .law_search import WEB_SEARCH_FAILED, may_be_in_library, search_articles
from .page_reading import attach_files, instructions_notice, read_sources, select_pages
from .page_request import MAX_PAGES_PER_CALL, PageRequest
from .pasted_check import (
    MAX_ADDRESSES,
    PastedSource,
    PastedTextCheck,
    check_pasted_text,
    parse_pasted_sources,
    refuse_long_sources,
    validate_pasted_text,
)
from .query_rewriting import NOTHING_SPENT, Rewriter
from .question import ABOUT_FILES, MAX_ATTACHED_FILES, AnswerOptions, Question
from .reader_controls import Control, ControlGroup, control_groups, read_choices, restore_picked
from .revision import Revision, has_problems
from .run import Run
from .run_sources import RunSources
from .search_notices import search_notices
from .source_budget import LESS_GIVEN, GrowingPrompt, SourceBudget, budget_after_refusal, find_source_budget
from .statute_wording import NOT_ASKED, StatuteWorder
from .whole_reading import WholeReading

__all__ = [
    "ABOUT_FILES",
    "LESS_GIVEN",
    "MAX_ADDRESSES",
    "MAX_ATTACHED_FILES",
    "MAX_PAGES_PER_CALL",
    "NOTHING_SPENT",
    "NOT_ASKED",
    "NO_CHOICES",
    "NO_SPANS",
    "WEB_SEARCH_FAILED",
    "Admission",
    "AnswerChecks",
    "AnswerOptions",
    "AnswerSaver",
    "AnswerService",
    "Approvals",
    "Choices",
    "ChosenCollections",
    "Configured",
    "Control",
    "ControlGroup",
    "DocumentFindings",
    "DocumentPages",
    "FittedSources",
    "GrowingPrompt",
    "PageRequest",
    "PastedSource",
    "PastedTextCheck",
    "Question",
    "Revision",
    "Rewriter",
    "Run",
    "RunSources",
    "SearchState",
    "SourceBudget",
    "StatuteWorder",
    "TextsByNumber",
    "TooManyQuestions",
    "WholeReading",
    "are_related",
    "attach_files",
    "budget_after_refusal",
    "check_pasted_text",
    "control_groups",
    "excerptable",
    "fair_share",
    "find_source_budget",
    "format_sources",
    "format_within_budget",
    "has_problems",
    "in_script_of",
    "instructions_notice",
    "is_small_talk",
    "max_articles",
    "may_be_in_library",
    "newest_messages",
    "parse_pasted_sources",
    "prompts",
    "read_choices",
    "read_sources",
    "refuse_long_sources",
    "restore_picked",
    "search_articles",
    "search_documents",
    "search_notices",
    "select_pages",
    "source_texts",
    "validate_pasted_text",
    "write_excerpts",
]
