"""Settings saved from the page, for all app servers on one database. They hold keys, so they are encrypted."""

from __future__ import annotations

import base64
import hashlib
import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select, text, update

from core.base.settings import (
    Changes,
    SavedValues,
    SettingsNotSaved,
    SettingsTooNew,
    UnreadableSettings,
    decode_values,
    encode_values,
    merge_changes,
    resolve_changes,
)
from core.store.database import Database
from core.store.errors import StoreError
from core.store.tables import page_settings

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

log = logging.getLogger(__name__)

KEY_DERIVATION_ROUNDS = 200_000
"""Rounds of the key derivation: the secret may be a made-up word instead of random characters."""


class SavedSettingsTable:
    """Saved settings in the database, encrypted. The app servers share `secret`, and the database does not have it."""

    RECHECK_SECONDS = 3.0

    def __init__(self, database: Database, *, secret: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._secret = secret
        self._clock = clock
        self._lock = threading.Lock()
        self._look_again = 0.0
        self._newest: int | None = None
        self._last = SavedValues()

    def stamp(self) -> int | None:
        """Return the newest version, as known some seconds ago. Another thread reads it: no page waits for the database."""
        with self._lock:
            due = self._clock() >= self._look_again
            if due:
                self._look_again = self._clock() + self.RECHECK_SECONDS
        if due:
            threading.Thread(target=self._read_version, name="wenyuan-saved-settings", daemon=True).start()
        return self._newest

    def read(self) -> SavedValues:
        """Return the saved values; while the database is away, those that were read last."""
        try:
            with self._database.read() as connection:
                version, document = self._read_row(connection)
        except StoreError as error:
            return self._last if self._last.stamp is not None else SavedValues(problem=error.message.rstrip("。"))
        self._newest = version
        try:
            self._last = SavedValues(self._decrypt(document), stamp=version)
        except UnreadableSettings as error:
            self._last = SavedValues(problem=str(error), stamp=version)
        return self._last

    def change(self, changes: Changes) -> Mapping[str, str]:
        if not self._secret:
            raise SettingsNotSaved(
                "没有保存：使用 DATABASE_URL 时，密钥要加密后才能存进数据库。",
                cure="请在每台服务器上设置相同的 STREAMLIT_SERVER_COOKIE_SECRET（一长串随机字符），然后重启。",
            )
        try:
            with self._database.write() as connection:
                self._newest, resolved = self._replace(connection, changes)
        except StoreError as error:
            raise SettingsNotSaved(f"没有保存：{error.message}", cure="请稍后再试，或检查 DATABASE_URL。") from None
        return resolved

    def _replace(self, connection: Connection, changes: Changes) -> tuple[int, Mapping[str, str]]:
        """Save the changes and return the new version, and the changes for what was saved before."""
        begin = "INSERT INTO page_settings (id, version, document) VALUES (1, 0, '') ON CONFLICT (id) DO NOTHING"
        connection.execute(text(begin))
        # Another process that saves at the same time waits here, and then finds what was saved.
        connection.execute(update(page_settings).values(version=page_settings.c.version + 1))
        version, document = self._read_row(connection)
        try:
            kept = self._decrypt(document)
        except SettingsTooNew:
            raise SettingsNotSaved(
                "没有保存：数据库里的设置由更新版本的程序写成，没有改动它。", cure="请升级本程序。"
            ) from None
        except UnreadableSettings as error:
            log.warning("what was saved from the page is replaced: %s", error)
            kept = {}
        resolved = resolve_changes(kept, changes)
        document = self._fernet.encrypt(encode_values(merge_changes(kept, resolved)).encode()).decode()
        connection.execute(update(page_settings).values(document=document))
        return version, resolved

    def _read_version(self) -> None:
        with suppress(StoreError), self._database.read() as connection:  # else the last known version stays
            self._newest = self._read_row(connection)[0]

    def _read_row(self, connection: Connection) -> tuple[int, str]:
        found = connection.execute(select(page_settings.c.version, page_settings.c.document)).first()
        return (found.version, found.document) if found else (0, "")

    def _decrypt(self, document: str) -> dict[str, str]:
        if not document:
            return {}
        from cryptography.fernet import InvalidToken

        if not self._secret:
            raise UnreadableSettings("没有设置 STREAMLIT_SERVER_COOKIE_SECRET，无法解密")
        try:
            return decode_values(self._fernet.decrypt(document.encode()).decode())
        except InvalidToken:
            raise UnreadableSettings("STREAMLIT_SERVER_COOKIE_SECRET 与保存时不同，无法解密") from None

    @cached_property
    def _fernet(self) -> Fernet:
        from cryptography.fernet import Fernet

        key = hashlib.pbkdf2_hmac("sha256", self._secret.encode(), b"wenyuan page settings 1", KEY_DERIVATION_ROUNDS)
        return Fernet(base64.urlsafe_b64encode(key))
