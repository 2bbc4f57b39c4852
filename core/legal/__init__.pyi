from . import entities, legal_export
from .article_numbers import ArticleNumber, parse_article_number
from .article_sources import article_source, force_note, reference_notes
from .contracts.review import ContractFinding, ContractReview, GoverningArticle
from .contracts.rule import Severity
from .draft import PASTED_DRAFT_NAME, Draft, draft_with_comments
from .errors import NoLegalIndex
from .imports.build import ImportProgress
from .imports.corpus_download import PUBLIC_CORPORA
from .imports.import_job import DOWNLOAD, Importer, ImportJob
from .imports.import_run import law_import
from .imports.report import ImportReport
from .legal_export import case_facts, case_parts
from .legal_services import LegalServices, StatuteCheck
from .library.article_history import AmendingItem, ArticleVersion, amending_items, article_history, has_same_words
from .library.article_index import StoredArticle
from .library.case_search import CaseResponse
from .library.catalogue import FACETS, FIELD, ISSUER, KIND, STATE, YEARS, Catalogue, CatalogueEntry, source_name
from .library.index import LegalIndex
from .library.law_index import LawVersion
from .library.statutes import LegalArticle, RegulationResponse, article_result, later_amendment_note
from .library.version_on_day import missing_amendments, version_on
from .page_addresses import case_address, law_address, law_query, short_link
from .text.case_numbers import find_case_numbers
from .text.law_names import law_key
from .text.lay_words import search_terms
from .text.paragraphs import excerpt, split_paragraphs
from .text.periods import Period, parse_period, past_periods
from .text.statute_citations import find_citations, may_cite
from .text.text_diff import DiffSegment, diff_quotation, diff_texts
from .verify import PROBLEMS, WORST_FIRST, Author, StatuteFinding, StatuteMark

__all__ = [
    "DOWNLOAD",
    "FACETS",
    "FIELD",
    "ISSUER",
    "KIND",
    "PASTED_DRAFT_NAME",
    "PROBLEMS",
    "PUBLIC_CORPORA",
    "STATE",
    "WORST_FIRST",
    "YEARS",
    "AmendingItem",
    "ArticleNumber",
    "ArticleVersion",
    "Author",
    "CaseResponse",
    "Catalogue",
    "CatalogueEntry",
    "ContractFinding",
    "ContractReview",
    "DiffSegment",
    "Draft",
    "GoverningArticle",
    "ImportJob",
    "ImportProgress",
    "ImportReport",
    "Importer",
    "LawVersion",
    "LegalArticle",
    "LegalIndex",
    "LegalServices",
    "NoLegalIndex",
    "Period",
    "RegulationResponse",
    "Severity",
    "StatuteCheck",
    "StatuteFinding",
    "StatuteMark",
    "StoredArticle",
    "amending_items",
    "article_history",
    "article_result",
    "article_source",
    "case_address",
    "case_facts",
    "case_parts",
    "diff_quotation",
    "diff_texts",
    "draft_with_comments",
    "entities",
    "excerpt",
    "find_case_numbers",
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
    "missing_amendments",
    "parse_article_number",
    "parse_period",
    "past_periods",
    "reference_notes",
    "search_terms",
    "short_link",
    "source_name",
    "split_paragraphs",
    "version_on",
]
