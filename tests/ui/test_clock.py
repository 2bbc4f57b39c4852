"""The reader's clock, as their browser tells it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

WINTER, SUMMER = datetime(2026, 1, 1), datetime(2026, 7, 1)


def _show() -> None:
    import streamlit as st

    from core.ui.clock import now, reader_zone

    st.session_state["zone"] = reader_zone()
    st.session_state["now"] = now()


def seen(**context: Any) -> AppTest:
    page = AppTest.from_function(_show, default_timeout=30)
    page.context = context
    page.run()
    assert not page.exception
    return page


def test_a_zone_by_name_knows_summer() -> None:
    page = seen(timezone="Europe/Berlin", timezone_offset=-60)
    zone = page.session_state["zone"]
    assert (zone.utcoffset(WINTER), zone.utcoffset(SUMMER)) == (timedelta(hours=1), timedelta(hours=2))
    assert page.session_state["now"].tzinfo is zone


@pytest.mark.parametrize("name", ["", "Mars/Base", "Asia", "../../etc/passwd", "x" * 5_000, None])
def test_without_a_name_that_is_known_the_distance_counts(name: str | None) -> None:
    page = seen(timezone=name, timezone_offset=-345)
    assert page.session_state["zone"].utcoffset(None) == timedelta(hours=5, minutes=45)


def test_without_a_browser_it_is_the_server_s() -> None:
    page = seen()
    assert page.session_state["zone"] is None
    assert page.session_state["now"].utcoffset() == datetime.now().astimezone().utcoffset()
