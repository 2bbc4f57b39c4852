from . import cases, draft_check, import_view, law, law_filters, legal_page, pasted_check_form, statute_search

__all__ = [
    "cases",
    "draft_check",
    "import_view",
    "law",
    "law_filters",
    "legal_page",
    "pasted_check_form",
    "statute_search",
]
