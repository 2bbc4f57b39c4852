from . import (
    article_actions,
    article_list,
    cases,
    draft_check,
    import_view,
    law,
    law_filters,
    legal_page,
    pasted_check_form,
    statute_search,
)

__all__ = [
    "article_actions",
    "article_list",
    "cases",
    "draft_check",
    "import_view",
    "law",
    "law_filters",
    "legal_page",
    "pasted_check_form",
    "statute_search",
]
