"""What outlives the process: conversations, in SQLite or PostgreSQL. Nothing outside this package knows which."""

from core.store.conversations import Conversation, ConversationStore, Page
from core.store.database import Database

__all__ = ["Conversation", "ConversationStore", "Database", "Page"]
