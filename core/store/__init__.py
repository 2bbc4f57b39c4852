"""What outlives the process: conversations and figures, in SQLite or PostgreSQL. Only this package knows which."""

from core.store.conversations import Conversation, ConversationStore, Page
from core.store.database import Database
from core.store.metrics import MetricsStore

__all__ = ["Conversation", "ConversationStore", "Database", "MetricsStore", "Page"]
