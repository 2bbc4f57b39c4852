from . import tables
from .conversations import (
    UNDO_SECONDS,
    ChosenCollection,
    Conversation,
    ConversationStore,
    MessagePage,
    digest,
    make_title,
    new_conversation_id,
)
from .database import Database
from .dump import SCHEMA, TABLE_NAMES, count_rows, open_snapshot, replace_rows, stage_rows
from .errors import ConversationNotFound, ShareNotFound, StoreError, StoreRepaired, StoreTooNew
from .metrics_store import AnswerCount, AttemptCount, Counts, MetricsStore, SearchCount
from .outbox import Outbox
from .preferences import PreferenceStore
from .read_pages import ReadPageStore
from .saved_settings import SavedSettingsTable
from .shared_files import SharedFiles
from .stored_pages import StoredPage
from .upkeep import Upkeep

__all__ = [
    "SCHEMA",
    "TABLE_NAMES",
    "UNDO_SECONDS",
    "AnswerCount",
    "AttemptCount",
    "ChosenCollection",
    "Conversation",
    "ConversationNotFound",
    "ConversationStore",
    "Counts",
    "Database",
    "MessagePage",
    "MetricsStore",
    "Outbox",
    "PreferenceStore",
    "ReadPageStore",
    "SavedSettingsTable",
    "SearchCount",
    "ShareNotFound",
    "SharedFiles",
    "StoreError",
    "StoreRepaired",
    "StoreTooNew",
    "StoredPage",
    "Upkeep",
    "count_rows",
    "digest",
    "make_title",
    "new_conversation_id",
    "open_snapshot",
    "replace_rows",
    "stage_rows",
    "tables",
]
