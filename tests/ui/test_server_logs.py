"""What Streamlit and uvicorn log goes through our handler."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from streamlit import logger as streamlit_logger

from core.base.logs import configure_logging
from core.ui.server_logs import route_server_logs

NAMES = ("streamlit.runtime.app_session", "uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi", "websockets")


@pytest.fixture
def _streamlit_as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(streamlit_logger, "setup_formatter", streamlit_logger.setup_formatter)
    yield
    monkeypatch.undo()
    for logger in streamlit_logger._loggers.values():
        logger.propagate = False
        logger.setLevel(streamlit_logger._global_log_level)
        logger.filters.clear()
    streamlit_logger.update_formatter()


@pytest.mark.usefixtures("_streamlit_as_it_was")
def test_every_logger_uses_our_handler_also_one_that_is_made_later(capsys: pytest.CaptureFixture[str]) -> None:
    logging.getLogger("uvicorn").addHandler(logging.StreamHandler())  # as uvicorn's own configuration does
    configure_logging(level="INFO", secrets=["geheimes-wort"])
    route_server_logs()
    later = "streamlit.a_module_that_is_imported_later"
    streamlit_logger.get_logger(later)
    streamlit_logger.set_log_level("INFO")
    streamlit_logger.update_formatter()  # Streamlit reads its configuration again
    for name in (*NAMES, later):
        logging.getLogger(name).warning("geheimes-wort\nin two lines")
        logging.getLogger(name).warning("geheimes-wort\nin two lines")
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition("WARNING ")[2] for line in lines] == [
        f"{name}: ***\\nin two lines" for name in (*NAMES, later)
    ]


@pytest.mark.usefixtures("_streamlit_as_it_was")
def test_levels_are_ours_and_connections_are_not_noted(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(level="INFO")
    route_server_logs()
    logging.getLogger("uvicorn.error").info('192.0.2.1:5 - "WebSocket /_stcore/stream" [accepted]')
    logging.getLogger("streamlit.runtime.app_session").info("said")
    configure_logging(level="ERROR")
    route_server_logs()
    logging.getLogger("streamlit.runtime.app_session").warning("not said")
    assert [line.partition(": ")[2] for line in capsys.readouterr().err.splitlines()] == ["said"]


@pytest.mark.usefixtures("_streamlit_as_it_was")
def test_a_malformed_frame_is_one_line_and_a_fault_of_ours_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(level="INFO")
    route_server_logs()
    route_server_logs()
    logger = streamlit_logger.get_logger("streamlit.web.server.starlette.starlette_websocket")
    try:
        1 / 0  # noqa: B018
    except ZeroDivisionError as error:
        logger.warning("Error deserializing back message", exc_info=error)
        assert len(capsys.readouterr().err.splitlines()) == 1
        logger.exception("Error sending websocket payload")
    assert "ZeroDivisionError" in capsys.readouterr().err
