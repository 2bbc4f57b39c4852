from . import entities, legal_export
from .article_numbers import ArticleNumber, parse_article_number
from .article_sources import article_source, force_note, reference_notes
from .case_check import NO_LONGER_FOLLOWED, CaseFinding
from .contracts.review import ContractFinding, ContractReview, GoverningArticle
from .contracts.rule import Severity
from .draft import PASTED_DRAFT_NAME, Draft, draft_with_comments
from .draft_sample import SAMPLE_DRAFT
from .errors import FILL_BUTTON, FILL_COMMAND, IMPORT_CASES, ImportBusy, NoCases, NoLegalIndex
from .imports.build import DOWNLOAD, ImportProgress
from .imports.corpus_download import PUBLIC_CORPORA
from .imports.import_job import IMPORT_FAILED, Importer, ImportJob
from .imports.import_run import law_import
from .imports.law_package import LAW_PACKAGE_NOTE
from .imports.report import ImportReport
from .legal_export import case_facts, case_parts
from .legal_services import LegalServices
from .library.article_history import AmendingItem, ArticleVersion, amending_items, article_history, has_same_words
from .library.article_index import StoredArticle
from .library.article_references import ArticleReference
from .library.case_search import CaseResponse
from .library.catalogue import (
    FACETS,
    FIELD,
    ISSUER,
    KIND,
    STATE,
    YEARS,
    Catalogue,
    CatalogueEntry,
    source_name,
    source_note,
)
from .library.index import LegalIndex, LegalLibrary
from .library.law_index import LawVersion
from .library.statutes import LegalArticle, RegulationResponse, article_result, later_amendment_note
from .library.version_on_day import missing_amendments, version_on
from .page_addresses import case_address, law_address, law_query, short_link
from .statute_checks import StatuteCheck
from .text.case_numbers import case_keys, may_name_case
from .text.case_sections import RELATED_LAWS, case_sections
from .text.law_names import law_key
from .text.lay_words import added_phrases, search_terms
from .text.paragraphs import excerpt, split_paragraphs
from .text.periods import Period, parse_period, past_periods
from .text.statute_citations import find_citations, may_cite
from .text.text_diff import DiffSegment, diff_quotation, diff_texts
from .verify import PROBLEMS, WORST_FIRST, Author, FindingGroup, StatuteFinding, StatuteMark, summary

__all__ = [
    "DOWNLOAD",
    "FACETS",
    "FIELD",
    "FILL_BUTTON",
    "FILL_COMMAND",
    "IMPORT_CASES",
    "IMPORT_FAILED",
    "ISSUER",
    "KIND",
    "LAW_PACKAGE_NOTE",
    "NO_LONGER_FOLLOWED",
    "PASTED_DRAFT_NAME",
    "PROBLEMS",
    "PUBLIC_CORPORA",
    "RELATED_LAWS",
    "SAMPLE_DRAFT",
    "STATE",
    "WORST_FIRST",
    "YEARS",
    "AmendingItem",
    "ArticleNumber",
    "ArticleReference",
    "ArticleVersion",
    "Author",
    "CaseFinding",
    "CaseResponse",
    "Catalogue",
    "CatalogueEntry",
    "ContractFinding",
    "ContractReview",
    "DiffSegment",
    "Draft",
    "FindingGroup",
    "GoverningArticle",
    "ImportBusy",
    "ImportJob",
    "ImportProgress",
    "ImportReport",
    "Importer",
    "LawVersion",
    "LegalArticle",
    "LegalIndex",
    "LegalLibrary",
    "LegalServices",
    "NoCases",
    "NoLegalIndex",
    "Period",
    "RegulationResponse",
    "Severity",
    "StatuteCheck",
    "StatuteFinding",
    "StatuteMark",
    "StoredArticle",
    "added_phrases",
    "amending_items",
    "article_history",
    "article_result",
    "article_source",
    "case_address",
    "case_facts",
    "case_keys",
    "case_parts",
    "case_sections",
    "diff_quotation",
    "diff_texts",
    "draft_with_comments",
    "entities",
    "excerpt",
    "find_citations",
    "force_note",
    "has_same_words",
    "later_amendment_note",
    "law_address",
    "law_import",
    "law_key",
    "law_query",
    "legal_export",
    "may_cite",
    "may_name_case",
    "missing_amendments",
    "parse_article_number",
    "parse_period",
    "past_periods",
    "reference_notes",
    "search_terms",
    "short_link",
    "source_name",
    "source_note",
    "split_paragraphs",
    "summary",
    "version_on",
]
