from .access import ALL_SCOPES, DEFAULT_SCOPES, OPERATOR, Caller, Scope
from .admittance import is_known_host
from .answers import (
    Ask,
    EventOrder,
    answer_document,
    iter_answer_events,
    require_offered_model,
    start_answer,
    stream_answer_events,
)
from .claims import pair_json
from .collections import collection_json, document_json, find_collection, hit_json, own_collection
from .door import Door, Entry, entry_of
from .law import VerifiedDraft, verify_draft
from .mcp.stdio import serve_stdio
from .origins import OwnOriginsOnly, host_and_port, is_own_page
from .outsiders import Outsiders, is_from_elsewhere
from .routes import API_ROUTES, close_services
from .token_words import scope_labels, token_facts
from .web import require_engine, search_json

__all__ = [
    "ALL_SCOPES",
    "API_ROUTES",
    "DEFAULT_SCOPES",
    "OPERATOR",
    "Ask",
    "Caller",
    "Door",
    "Entry",
    "EventOrder",
    "Outsiders",
    "OwnOriginsOnly",
    "Scope",
    "VerifiedDraft",
    "answer_document",
    "close_services",
    "collection_json",
    "document_json",
    "entry_of",
    "find_collection",
    "hit_json",
    "host_and_port",
    "is_from_elsewhere",
    "is_known_host",
    "is_own_page",
    "iter_answer_events",
    "own_collection",
    "pair_json",
    "require_engine",
    "require_offered_model",
    "scope_labels",
    "search_json",
    "serve_stdio",
    "start_answer",
    "stream_answer_events",
    "token_facts",
    "verify_draft",
]
