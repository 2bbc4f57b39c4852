"""Persistent storage: conversations, choices, metrics and saved settings, in SQLite or PostgreSQL.

Only this package knows which.
"""

from core.store.conversations import (
    UNDO_SECONDS,
    Conversation,
    ConversationStore,
    MessagePage,
    make_title,
    new_conversation_id,
)
from core.store.database import Database
from core.store.metrics_store import MetricsStore
from core.store.outbox import Outbox
from core.store.preferences import PreferenceStore
from core.store.read_pages import ReadPageStore, StoredPage
from core.store.saved_settings import SavedSettingsTable

__all__ = [
    "UNDO_SECONDS",
    "Conversation",
    "ConversationStore",
    "Database",
    "MessagePage",
    "MetricsStore",
    "Outbox",
    "PreferenceStore",
    "ReadPageStore",
    "SavedSettingsTable",
    "StoredPage",
    "make_title",
    "new_conversation_id",
]
