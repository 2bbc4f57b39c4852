"""Persistent storage: conversations, choices, metrics and saved settings, in SQLite or PostgreSQL.

Only this package knows which.
"""

from core.store.conversations import UNDO_SECONDS, Conversation, ConversationStore, Page, new_conversation_id, title_of
from core.store.database import Database
from core.store.metrics import MetricsStore
from core.store.outbox import Outbox
from core.store.preferences import Preferences
from core.store.read_pages import KeptPage, ReadPages
from core.store.saved_settings import StoredSettings

__all__ = [
    "UNDO_SECONDS",
    "Conversation",
    "ConversationStore",
    "Database",
    "KeptPage",
    "MetricsStore",
    "Outbox",
    "Page",
    "Preferences",
    "ReadPages",
    "StoredSettings",
    "new_conversation_id",
    "title_of",
]
