"""Conversations that survive a reload: kept as they grow, opened by whoever may, a page at a time."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from core.answer import archive
from core.answer.events import Notice
from core.answer.message import Message
from core.base.errors import InputError
from core.base.settings import Settings
from core.base.text import clean, one_line, shorten
from core.store.database import Database
from core.store.errors import ConversationNotFound
from core.store.tables import conversations, messages, visits

# Once a second for every answer that is being written: built once.
_GROW = update(messages).where(
    messages.c.conversation_id == bindparam("conversation"),
    messages.c.id == bindparam("message"),
    messages.c.finished.is_(False),
    exists().where(
        conversations.c.id == bindparam("conversation"),
        or_(conversations.c.owner.is_(None), conversations.c.owner == bindparam("reader")),
    ),
)

TITLE_LENGTH = 40
UNFINISHED = Notice(kind="unfinished", text="这条回答在写完之前中断了，以上是已保存的部分。")


@dataclass(frozen=True, slots=True)
class Conversation:
    id: str
    title: str
    mode: str
    created: float
    """Seconds since 1970, as everywhere here."""
    updated: float


@dataclass(frozen=True, slots=True)
class Page:
    """Some messages in a row, the newest last."""

    conversation: Conversation
    messages: tuple[Message, ...]
    has_more: bool
    """There are older ones: ask again with `before=messages[0].id`."""


class ConversationStore:
    """Every method raises StoreError when the database cannot be used, and ConversationNotFound for an id that does
    not exist or belongs to another owner.

    A conversation with an owner is open to that owner only; one without an owner, to whoever has its id.
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
        """Raises StoreError where conversations cannot be kept just now."""
        with self._database.read() as connection:
            connection.execute(select(1))

    def create(self, owner: str | None = None, *, mode: str = "chat", id: str = "") -> str:
        """The id of a new conversation, for its first message. It is not listed before it has one.

        To create the same one again changes nothing: whoever was cut off cannot know whether it was created.
        """
        now = self._clock()
        id = id or new_conversation_id()
        row = {"id": id, "owner": digest(owner), "title": "", "mode": clean(mode), "created": now, "updated": now}
        with self._database.write() as connection:
            if connection.execute(select(conversations.c.id).where(conversations.c.id == id)).first() is None:
                connection.execute(insert(conversations).values(row))
        return id

    def save(self, id: str, message: Message, *, owner: str | None = None, finished: bool = True) -> None:
        """Adds a message, or replaces the one with the same id.

        An answer that is still growing is saved again and again with `finished=False`. Coming late, such a save never
        replaces the finished answer.
        """
        row = {
            "id": clean(message.id),
            "role": message.role,
            "text": clean(message.text),
            "payload": archive.encode(message),
            "finished": finished,
            "created": message.created,
        }
        if not _is_id(id):
            raise ConversationNotFound
        growing = {**row, "conversation": id, "message": row["id"], "reader": digest(owner)}
        with self._database.write() as connection:
            if not finished and connection.execute(_GROW, growing).rowcount:
                return
            question = title_of(message.text) if message.role == "user" else ""
            title = case((conversations.c.title == "", question), else_=conversations.c.title)
            self._change(connection, id, owner, title=title)
            same = and_(messages.c.conversation_id == id, messages.c.id == row["id"])
            was_finished = connection.execute(select(messages.c.finished).where(same)).scalar()
            if was_finished is None:
                next_position = select(func.coalesce(func.max(messages.c.position), 0) + 1).where(
                    messages.c.conversation_id == id
                )
                row |= {"conversation_id": id, "position": next_position.scalar_subquery()}
                connection.execute(insert(messages).values(row))
            elif finished or not was_finished:
                connection.execute(update(messages).where(same).values(row))

    def load(self, id: str, *, owner: str | None = None, last: int | None = 20, before: str | None = None) -> Page:
        """The newest messages, or the ones before a message; with `last=None` all of them."""
        wanted = select(messages).where(messages.c.conversation_id == id).order_by(messages.c.position.desc())
        if before is not None:
            wanted = wanted.where(messages.c.position < _position_of(id, before))
        with self._database.read() as connection:
            found = connection.execute(select(conversations).where(open_to(id, owner))).first()
            if found is None:
                raise ConversationNotFound
            rows = connection.execute(wanted.limit(None if last is None else last + 1)).all()
        newest_first = [_message(row) for row in rows[:last]]
        return Page(_conversation(found), tuple(reversed(newest_first)), has_more=len(rows) > len(newest_first))

    def remember(self, visitor: str, id: str) -> None:
        """Notes that this browser has opened the conversation. It does not open one: the owner is checked elsewhere."""
        row = {"visitor": digest(visitor), "conversation_id": id}
        seen = select(visits).where(visits.c.visitor == row["visitor"], visits.c.conversation_id == id)
        with self._database.write() as connection:
            # Two tabs of one browser open the same conversation at once: one of them waits here.
            exists = select(conversations.c.id).where(conversations.c.id == id).with_for_update()
            if not _is_id(id) or connection.execute(exists).first() is None:
                raise ConversationNotFound
            if connection.execute(seen).first() is None:
                connection.execute(insert(visits).values(row))

    def recent(
        self, owner: str | None = None, *, visitor: str | None = None, limit: int = 30
    ) -> tuple[Conversation, ...]:
        """The owner's conversations, and those without an owner that this browser has opened; the latest first.

        Without a login nobody has a list of everybody's conversations.
        """
        opened = select(visits.c.conversation_id).where(visits.c.visitor == digest(visitor))
        theirs = and_(conversations.c.owner.is_(None), conversations.c.id.in_(opened))
        mine = conversations.c.owner == digest(owner) if owner else theirs
        query = (
            select(conversations)
            .where(or_(mine, theirs), conversations.c.title != "")
            .order_by(conversations.c.updated.desc())
            .limit(limit)
        )
        with self._database.read() as connection:
            return tuple(_conversation(row) for row in connection.execute(query))

    def rename(self, id: str, title: str, *, owner: str | None = None) -> None:
        title = title_of(title)
        if not title:
            raise InputError("标题不能为空。")
        with self._database.write() as connection:
            self._change(connection, id, owner, title=title)

    def set_mode(self, id: str, mode: str, *, owner: str | None = None) -> None:
        with self._database.write() as connection:
            self._change(connection, id, owner, mode=clean(mode))

    def delete(self, id: str, *, owner: str | None = None) -> None:
        with self._database.write() as connection:
            if not connection.execute(delete(conversations).where(open_to(id, owner))).rowcount:
                raise ConversationNotFound

    def truncate_from(self, id: str, message_id: str, *, owner: str | None = None) -> None:
        """Removes a message and everything after it: the question is going to be asked again.

        A title that came from the first question goes with it, and the next question gives another.
        """
        gone = and_(messages.c.conversation_id == id, messages.c.position >= _position_of(id, message_id))
        questions = select(messages.c.text).where(messages.c.conversation_id == id, messages.c.role == "user")
        first_question = questions.order_by(messages.c.position).limit(1)
        with self._database.write() as connection:
            self._change(connection, id, owner)
            asked_first = connection.execute(first_question).scalar()
            connection.execute(delete(messages).where(gone))
            if asked_first is not None and connection.execute(first_question).first() is None:
                titled_so = and_(conversations.c.id == id, conversations.c.title == title_of(asked_first))
                connection.execute(update(conversations).where(titled_so).values(title=""))

    def _change(self, connection: Connection, id: str, owner: str | None, **values: object) -> None:
        """Comes first in every change: it checks the owner, and makes all others who write to the conversation wait."""
        changed = update(conversations).where(open_to(id, owner)).values(updated=self._clock(), **values)
        if not connection.execute(changed).rowcount:
            raise ConversationNotFound


def new_conversation_id() -> str:
    return secrets.token_urlsafe(18)


def title_of(question: str) -> str:
    """What a conversation is called after its first question."""
    return shorten(one_line(question), TITLE_LENGTH)


def may_open(owner: str | None, reader: str | None) -> bool:
    """A conversation without an owner is open to whoever has its id."""
    return owner is None or owner == reader


def _is_id(id: str) -> bool:
    """An id comes from an address that anybody may type; some characters would not even reach the database."""
    return re.fullmatch(r"[A-Za-z0-9_-]{24}", id, re.ASCII) is not None


def digest(owner: str | None) -> str | None:
    """The database need not know who people are, and any characters are welcome."""
    return hashlib.sha256(owner.encode("utf-8", "surrogatepass")).hexdigest() if owner else None


def open_to(id: str, owner: str | None) -> ColumnElement[bool]:
    if not _is_id(id):
        raise ConversationNotFound
    allowed = or_(conversations.c.owner.is_(None), conversations.c.owner == digest(owner))
    return and_(conversations.c.id == id, allowed)


def _position_of(id: str, message_id: str) -> ColumnElement[int]:
    same = and_(messages.c.conversation_id == id, messages.c.id == clean(message_id))
    position: Select[tuple[int]] = select(messages.c.position).where(same)
    return position.scalar_subquery()


def _conversation(row: Row[tuple[object, ...]]) -> Conversation:
    return Conversation(row.id, row.title, row.mode, row.created, row.updated)


def _message(row: Row[tuple[object, ...]]) -> Message:
    found = archive.decode(row.payload, id=row.id, role=row.role, text=row.text, created=row.created)
    return found if row.finished else replace(found, events=(*found.events, UNFINISHED))
