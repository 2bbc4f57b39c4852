"""Conversations: saved while they grow, opened by those who may, some messages at a time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Insert,
    Row,
    Select,
    Update,
    and_,
    bindparam,
    case,
    delete,
    exists,
    false,
    func,
    insert,
    literal,
    or_,
    select,
    union_all,
    update,
)

from core.answer import cited_sources, stored_message
from core.answer.events import UNFINISHED
from core.answer.message import Message
from core.base.chinese.script import equivalent_characters
from core.base.compression import MAX_BYTES, compress_text, decompress_text
from core.base.errors import InputError
from core.base.settings import Settings
from core.base.text import clean, one_line, shorten
from core.store.database import Database
from core.store.errors import ConversationNotFound, ShareNotFound
from core.store.ids import digest, is_id, new_conversation_id
from core.store.stored_pages import load_source_pages
from core.store.tables import attached_files, conversations, messages, read_pages, visits
from core.store.text_pairs import pairs_of

_NOT_DELETED = conversations.c.deleted.is_(None)


def _belongs_to(reader: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that a conversation belongs to the reader. With an owner, it belongs to that account.
    Without one, it belongs to those who have it in their list."""
    listed = exists().where(visits.c.conversation_id == conversations.c.id, visits.c.visitor == reader)
    return or_(conversations.c.owner == reader, and_(conversations.c.owner.is_(None), listed))


# Statements that run with every question, and once a second for every growing answer. Building them is most of the work.
_CHANGEABLE = and_(conversations.c.id == bindparam("conversation"), _NOT_DELETED, _belongs_to(bindparam("reader")))
_EXISTS = select(conversations.c.id).where(conversations.c.id == bindparam("conversation"))
_PURGE = delete(conversations).where(conversations.c.deleted < bindparam("before"))
_NEW, _VISITED = insert(conversations), insert(visits)
_CHANGE = update(conversations).where(_CHANGEABLE)
_SAID = _CHANGE.values(title=case((conversations.c.title == "", bindparam("question")), else_=conversations.c.title))
_SAME = and_(messages.c.conversation_id == bindparam("conversation"), messages.c.id == bindparam("message"))
_FINISHED = select(messages.c.finished).where(_SAME)
_SAID_SO = select(messages.c.text).where(_SAME, messages.c.finished.is_(True), exists().where(_CHANGEABLE))
_REPLACE = update(messages).where(_SAME)
_GROW = _REPLACE.where(messages.c.finished.is_(False), exists().where(_CHANGEABLE))


def _add_at(step: int) -> Insert:
    """Return the statement that adds a message `step` places behind the last one; an answer, behind its question."""
    said = messages.alias()
    here = said.c.conversation_id == bindparam("conversation")
    behind = select(messages.c.position + 1).where(
        messages.c.conversation_id == bindparam("conversation"), messages.c.id == bindparam("after")
    )
    is_free = ~exists().where(here, said.c.position == behind.scalar_subquery())
    last = select(func.coalesce(func.max(said.c.position), 1 - step) + step).where(here)
    place = func.coalesce(behind.where(is_free).scalar_subquery(), last.scalar_subquery())
    return insert(messages).values(conversation_id=bindparam("conversation"), position=place)


_ADD_QUESTION, _ADD = _add_at(2), _add_at(1)
"""Before a question there is room for the answer to the one before: two may be asked at once, in two tabs."""


def _listed(*conditions: ColumnElement[bool]) -> Select[Any]:
    """Return the statement for a reader's list. Each half follows an index of its own, from the latest conversation to the
    last that is wanted; with one condition for both, the database would read everybody's."""
    of_account = select(conversations).where(conversations.c.owner == bindparam("reader"))
    visited = visits.join(conversations, visits.c.conversation_id == conversations.c.id)
    of_browser = select(conversations).select_from(visited)
    of_browser = of_browser.where(visits.c.visitor == bindparam("reader"), conversations.c.owner.is_(None))
    halves = (
        half.where(conversations.c.title != "", _NOT_DELETED, *conditions)
        for half in (
            _latest(of_account, conversations.c.updated, conversations.c.id),
            _latest(of_browser, visits.c.updated, visits.c.conversation_id),
        )
    )
    listed = union_all(*(select(half.subquery()) for half in halves)).subquery()
    return _latest(select(listed), listed.c.updated, listed.c.id)


def _latest(query: Select[Any], updated: ColumnElement[float], id: ColumnElement[str]) -> Select[Any]:
    return query.order_by(updated.desc(), id).limit(bindparam("most"))


_LISTED = _listed()
"""The list without words to search for. It runs with every run of a page."""

TITLE_LENGTH = 40
UNDO_SECONDS = 30 * 60
"""Time in which a deleted conversation can be restored. It is removed when the next one is begun or deleted after that.
"""
MAX_SEARCH_LENGTH, MAX_SEARCH_WORDS = 100, 8


@dataclass(frozen=True, slots=True)
class ChosenCollection:
    """A collection of documents that a conversation uses. Its name is kept, to be said when the collection is gone."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation without its messages."""

    id: str
    title: str
    mode: str
    created: float
    """Seconds since 1970, like all times here."""
    updated: float
    share: str = ""
    """Key that opens the conversation for reading; empty while it is not shared."""
    collections: tuple[ChosenCollection, ...] = ()
    """What its reader has chosen from the document library, for all questions to come."""


@dataclass(frozen=True, slots=True)
class MessagePage:
    """Consecutive messages of a conversation, the newest last."""

    conversation: Conversation
    messages: tuple[Message, ...]
    has_more: bool
    """True if there are older messages: ask again with `before=messages[0].id`."""
    may_change: bool
    """True if the visitor who loaded it may change the conversation."""


class ConversationStore:
    """Conversations and their messages in the database.

    Every method raises StoreError if the database cannot be used. It raises ConversationNotFound for an id that does
    not exist or belongs to somebody else.

    `visitor_id` names an account or a browser; the two never look alike. A conversation with an owner, which is an
    account, is open to that owner only; one without, to the browser that has it in its list. Its share opens either for
    reading.
    """

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    @classmethod
    def from_settings(cls, settings: Settings) -> ConversationStore:
        return cls(Database.from_settings(settings))

    def close(self) -> None:
        self._database.close()

    def check(self) -> None:
        """Raise StoreError if conversations cannot be saved now."""
        with self._database.read() as connection:
            connection.execute(select(1))

    def create(
        self, owner: str | None = None, *, visitor_id: str | None = None, mode: str = "chat", id: str = ""
    ) -> str:
        """Create a conversation in the list of `visitor_id` and return its id. It is listed once it has a message.
        Creating the same one again changes nothing: a caller that was cut off cannot know whether it was created."""
        id = id or new_conversation_id()
        with self._database.write() as connection:
            self._purge(connection)
            self._create(connection, id, owner, visitor_id, title="", mode=clean(mode))
        return id

    def _create(
        self, connection: Connection, id: str, owner: str | None, visitor_id: str | None, **values: str
    ) -> None:
        if connection.execute(_EXISTS, {"conversation": id}).first() is not None:
            return
        now = self._clock()
        connection.execute(_NEW, {"id": id, "owner": digest(owner), "created": now, "updated": now, **values})
        if visitor_id and not owner:
            connection.execute(_VISITED, {"visitor": digest(visitor_id), "conversation_id": id})

    def save(
        self,
        id: str,
        message: Message,
        *,
        visitor_id: str | None = None,
        finished: bool = True,
        question_id: str = "",
    ) -> None:
        """Add a message, or replace the one with the same id. An answer that is still growing is saved repeatedly with
        `finished=False`. Such a save never replaces the finished answer, even if it comes late. An answer with
        `question_id` is put behind that question, also if another was asked meanwhile."""
        said = clean(message.text)
        row = {
            "id": clean(message.id),
            "role": message.role,
            "text": said,
            "payload": pack(stored_message.encode_message(message)),
            "finished": finished,
            "created": message.created,
            "pairs": pairs_of(said) if finished else None,  # a growing text is read when words are searched for
        }
        where = {"conversation": _valid_id(id), "message": row["id"], "reader": _reader_digest(visitor_id)}
        with self._database.write() as connection:
            if not finished and connection.execute(_GROW, {**row, **where}).rowcount:
                return
            question = make_title(message.text) if message.role == "user" else ""
            self._change(connection, id, visitor_id, _SAID, updated=self._clock(), question=question)
            was_finished = connection.execute(_FINISHED, where).scalar()
            if was_finished is None:
                add = _ADD_QUESTION if message.role == "user" else _ADD
                connection.execute(add, {**row, **where, "after": clean(question_id)})
            elif finished or not was_finished:
                connection.execute(_REPLACE, {**row, **where})

    def save_check(self, id: str, message: Message, *, visitor_id: str | None = None) -> None:
        """Save an answer with a repeated check. Nothing is saved for another visitor, or if its text has changed since.
        The conversation keeps its place in the list, because nobody has said anything."""
        payload = pack(stored_message.encode_message(message))
        where = {"conversation": _valid_id(id), "message": clean(message.id), "reader": _reader_digest(visitor_id)}
        with self._database.write() as connection:
            if connection.execute(_SAID_SO, where).scalar() == clean(message.text):
                connection.execute(_REPLACE, {"payload": payload, **where})

    def load(
        self,
        id: str,
        *,
        visitor_id: str | None = None,
        share: str = "",
        last: int | None = 20,
        before: str | None = None,
    ) -> MessagePage:
        """Return the newest messages, or those before a message; with `last=None` all of them."""
        opened = select(conversations, _belongs_to(literal(_reader_digest(visitor_id))).label("changeable"))
        wanted = select(messages).where(messages.c.conversation_id == id).order_by(messages.c.position.desc())
        if before is not None:
            wanted = wanted.where(messages.c.position < _position_of(id, before))
        with self._database.read() as connection:
            found = connection.execute(opened.where(is_readable_by(id, visitor_id, share))).first()
            if found is None:
                raise ConversationNotFound
            rows = connection.execute(wanted.limit(None if last is None else last + 1)).all()
            page = tuple(_message(row, connection) for row in reversed(rows[:last]))
        conversation = _conversation(found)
        if not found.changeable:
            conversation = replace(conversation, collections=())  # what others call their files is nobody's business
        return MessagePage(conversation, page, len(rows) > len(page), may_change=bool(found.changeable))

    def list_conversations(
        self, visitor_id: str | None, *, words: str = "", limit: int = 30
    ) -> tuple[Conversation, ...]:
        """Return the conversations of an account, and those without an owner in this list, the latest first. With
        `words`, only those that contain each word in their title or messages. Without a visitor the list is empty."""
        if not visitor_id:
            return ()
        conditions = map(self._contains_word, one_line(words[:MAX_SEARCH_LENGTH]).split()[:MAX_SEARCH_WORDS])
        query = _listed(*conditions) if words else _LISTED
        with self._database.read() as connection:
            rows = connection.execute(query, {"reader": digest(visitor_id), "most": limit})
            return tuple(map(_conversation, rows))

    def _contains_word(self, word: str) -> ColumnElement[bool]:
        spelled = [equivalent_characters(character) for character in word]
        in_title = self._database.contains(conversations.c.title, spelled)
        # The order is given: pairs are looked at first, texts only where those allow it. And by the limit, not by EXISTS, for
        # which PostgreSQL would read everybody's messages.
        in_message = case(
            (self._database.may_contain(messages.c.pairs, word), self._database.contains(messages.c.text, spelled)),
            else_=false(),
        )
        said = select(messages.c.position).where(messages.c.conversation_id == conversations.c.id, in_message).limit(1)
        said = said.with_hint(messages, "INDEXED BY messages_pairs", "sqlite")
        return or_(in_title, said.scalar_subquery().is_not(None))

    def newest_texts(
        self, id: str, *, visitor_id: str | None = None, share: str = "", last: int = 20
    ) -> tuple[tuple[str, str, str], ...]:
        """Return id, role and text of the newest messages, the newest last: enough to see whether another tab or another
        server has changed any."""
        said = conversations.outerjoin(messages, messages.c.conversation_id == conversations.c.id)
        query = select(messages.c.id, messages.c.role, messages.c.text).select_from(said)
        query = query.where(is_readable_by(id, visitor_id, share)).order_by(messages.c.position.desc()).limit(last)
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        if not rows:
            raise ConversationNotFound
        return tuple((row.id, row.role, row.text) for row in reversed(rows) if row.id is not None)

    def rename(self, id: str, title: str, *, visitor_id: str | None = None) -> None:
        title = make_title(title)
        if not title:
            raise InputError("标题不能为空。")
        with self._database.write() as connection:
            self._change(connection, id, visitor_id, title=title)

    def set_mode(self, id: str, mode: str, *, visitor_id: str | None = None) -> None:
        with self._database.write() as connection:
            self._change(connection, id, visitor_id, mode=clean(mode))

    def set_collections(self, id: str, chosen: Iterable[ChosenCollection], *, visitor_id: str | None = None) -> None:
        document = json.dumps([[clean(one.id), clean(one.name)] for one in chosen], ensure_ascii=False)
        with self._database.write() as connection:
            self._change(connection, id, visitor_id, collections=document)

    def delete(self, id: str, *, visitor_id: str | None = None) -> None:
        """Hide the conversation from everybody. `restore` brings it back, for a while."""
        with self._database.write() as connection:
            self._purge(connection)
            self._change(connection, id, visitor_id, deleted=self._clock())

    def restore(self, id: str, *, visitor_id: str | None = None) -> None:
        """Undo `delete`, with all messages and the share."""
        with self._database.write() as connection:
            deleted = and_(conversations.c.id == _valid_id(id), _belongs_to(literal(_reader_digest(visitor_id))))
            if not connection.execute(update(conversations).where(deleted).values(deleted=None)).rowcount:
                raise ConversationNotFound

    def _purge(self, connection: Connection) -> None:
        connection.execute(_PURGE, {"before": self._clock() - UNDO_SECONDS})

    def share(self, id: str, *, visitor_id: str | None = None) -> str:
        """Return the key that opens the conversation for reading. It stays the same until sharing is stopped."""
        shared = _CHANGE.values(share=func.coalesce(conversations.c.share, new_conversation_id()))
        with self._database.write() as connection:
            self._change(connection, id, visitor_id, shared)
            return str(connection.execute(select(conversations.c.share).where(conversations.c.id == id)).scalar())

    def stop_sharing(self, id: str, *, visitor_id: str | None = None) -> None:
        with self._database.write() as connection:
            self._change(connection, id, visitor_id, share=None)

    def find_shared(self, share: str) -> str:
        """Return the id of the conversation that this share opens."""
        if not is_id(share):
            raise ShareNotFound
        with self._database.read() as connection:
            query = select(conversations.c.id).where(conversations.c.share == share, _NOT_DELETED)
            id = connection.execute(query).scalar()
        if id is None:
            raise ShareNotFound
        return str(id)

    def copy(self, id: str, *, visitor_id: str | None = None, share: str = "", owner: str | None = None) -> str:
        """Copy the conversation, with the pages that were read and the files, into the list of `visitor_id`. Return the new id."""
        new = new_conversation_id()
        with self._database.write() as connection:
            found = connection.execute(select(conversations).where(is_readable_by(id, visitor_id, share))).first()
            if found is None:
                raise ConversationNotFound
            self._create(connection, new, owner, visitor_id, title=found.title, mode=found.mode)
            for table in (messages, read_pages, attached_files):
                others = [column for column in table.c if column.name != "conversation_id"]
                rows = select(literal(new), *others).where(table.c.conversation_id == id)
                names = ["conversation_id", *(column.name for column in others)]
                connection.execute(insert(table).from_select(names, rows))
        return new

    def truncate_from(self, id: str, message_id: str, *, visitor_id: str | None = None) -> None:
        """Remove a message and everything after it, because the question is going to be asked again. A title that came
        from the first question goes with it, and the next question gives a new one."""
        gone = and_(messages.c.conversation_id == id, messages.c.position >= _position_of(id, message_id))
        questions = select(messages.c.text).where(messages.c.conversation_id == id, messages.c.role == "user")
        first_question = questions.order_by(messages.c.position).limit(1)
        with self._database.write() as connection:
            self._change(connection, id, visitor_id, updated=self._clock())
            asked_first = connection.execute(first_question).scalar()
            connection.execute(delete(messages).where(gone))
            if isinstance(asked_first, str) and connection.execute(first_question).first() is None:
                titled_so = and_(conversations.c.id == id, conversations.c.title == make_title(asked_first))
                connection.execute(update(conversations).where(titled_so).values(title=""))

    def _change(
        self, connection: Connection, id: str, visitor_id: str | None, change: Update = _CHANGE, **values: object
    ) -> None:
        """Check the visitor and lock the conversation. Every change does this first."""
        theirs = {"conversation": _valid_id(id), "reader": _reader_digest(visitor_id)}
        if not connection.execute(change, {**theirs, **values}).rowcount:
            raise ConversationNotFound


def make_title(question: str) -> str:
    """Return the title of a conversation from its first question."""
    return shorten(one_line(question), TITLE_LENGTH)


def _reader_digest(visitor_id: str | None) -> str:
    """Return the digest of the visitor; blank, which no digest is, for None."""
    return digest(visitor_id) or ""


def _valid_id(id: str) -> str:
    if not is_id(id):
        raise ConversationNotFound
    return id


def is_readable_by(id: str, visitor_id: str | None, share: str = "") -> ColumnElement[bool]:
    """Return the condition that the conversation may be read."""
    theirs = _belongs_to(literal(_reader_digest(visitor_id)))
    allowed = or_(theirs, conversations.c.share == share) if is_id(share) else theirs
    return and_(conversations.c.id == _valid_id(id), _NOT_DELETED, allowed)


def _position_of(id: str, message_id: str) -> ColumnElement[int]:
    same = and_(messages.c.conversation_id == id, messages.c.id == clean(message_id))
    return select(messages.c.position).where(same).scalar_subquery()


def _conversation(row: Row[tuple[object, ...]]) -> Conversation:
    chosen = _decode_chosen(row.collections)
    return Conversation(row.id, row.title, row.mode, row.created, row.updated, row.share or "", chosen)


def _decode_chosen(document: str) -> tuple[ChosenCollection, ...]:
    """Return the chosen collections; none for a document that this program cannot read."""
    with suppress(ValueError, TypeError, RecursionError):
        return tuple(ChosenCollection(str(id), str(name)) for id, name in json.loads(document or "[]"))
    return ()


def pack(document: str) -> str:
    """Return the document as the database stores it: compressed, unless it is too long to be unpacked again."""
    return compress_text(document) if len(document.encode()) <= MAX_BYTES else document


def _unpack(payload: object) -> object:
    """Return the document. Older programs did not compress it; what is damaged is returned as it is."""
    with suppress(ValueError):
        return decompress_text(payload) if isinstance(payload, str) and not payload.startswith("{") else payload
    return payload


def _message(row: Row[tuple[object, ...]], connection: Connection) -> Message:
    found = stored_message.decode_message(
        _unpack(row.payload),
        id=row.id,
        role=row.role,
        text=row.text,
        created=row.created,
        load_texts=partial(load_source_pages, connection, row.conversation_id, row.id),
    )
    if row.finished:
        return found
    cited = found.cited or cited_sources(found.text, found.sources)
    return replace(found, events=(*found.events, UNFINISHED), cited=cited)
