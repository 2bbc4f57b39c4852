"""The reader's clock, which need not be the server's."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import streamlit as st


def reader_zone() -> tzinfo | None:
    """As the browser names it, else as far from UTC as it says; None, which stands for the server's, without a browser."""
    try:
        return ZoneInfo(st.context.timezone or "")
    except (KeyError, ValueError, OSError):  # not a name, or one that this machine has no data for
        offset = st.context.timezone_offset
        return None if offset is None else timezone(-timedelta(minutes=offset))


def now() -> datetime:
    return datetime.now().astimezone(reader_zone())
