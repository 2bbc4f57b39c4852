from . import tables
from .conversations import (
    UNDO_SECONDS,
    ChosenCollection,
    Conversation,
    ConversationStore,
    MessagePage,
    make_title,
)
from .counts import AnswerCount, AttemptCount, Counts, SearchCount, TokenUse
from .database import Database
from .dump import SCHEMA, TABLE_NAMES, count_rows, open_snapshot, replace_rows, stage_rows
from .errors import ConversationNotFound, ShareNotFound, StoreError, StoreRepaired, StoreTooNew
from .ids import digest, new_conversation_id
from .metrics_store import MetricsStore
from .outbox import Outbox
from .preferences import PreferenceStore
from .read_pages import ReadPageStore
from .record_file import RecordFile
from .saved_settings import SavedSettingsTable
from .shared_files import SharedFiles
from .stored_pages import StoredPage
from .tokens import TOKEN_PREFIX, Token, TokenStore
from .upkeep import Upkeep

__all__ = [
    "SCHEMA",
    "TABLE_NAMES",
    "TOKEN_PREFIX",
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
    "RecordFile",
    "SavedSettingsTable",
    "SearchCount",
    "ShareNotFound",
    "SharedFiles",
    "StoreError",
    "StoreRepaired",
    "StoreTooNew",
    "StoredPage",
    "Token",
    "TokenStore",
    "TokenUse",
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
