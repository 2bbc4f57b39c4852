"""Clock of the reader's browser, which may differ from the server's."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import streamlit as st


def reader_zone() -> tzinfo | None:
    """Return the time zone that the browser names, else its offset from UTC. None, the server's zone, without a
    browser."""
    try:
        return ZoneInfo(st.context.timezone or "")
    except (KeyError, ValueError, OSError):  # not a name, or one that this machine has no data for
        offset = st.context.timezone_offset
        return None if offset is None else timezone(-timedelta(minutes=offset))


def now() -> datetime:
    return datetime.now().astimezone(reader_zone())
