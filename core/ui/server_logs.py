"""The log of Streamlit and uvicorn, through our own handler: with its format, ids, redaction and silence about repetition."""

from __future__ import annotations

import logging

from streamlit import logger as streamlit_logger

_WEBSOCKETS = "streamlit.web.server.starlette.starlette_websocket"
_WITH_ADDRESSES = ("uvicorn", "websockets")
"""Loggers that note each connection and its address as information."""


def route_server_logs() -> None:
    """Send all that Streamlit and uvicorn log to the handlers of the root logger. Call it when that is configured."""
    # Streamlit gives a handler of its own to each logger, also to those of modules that it imports later.
    setattr(streamlit_logger, "setup_formatter", _route)  # noqa: B010 (to mypy it is a constant)
    streamlit_logger.init_uvicorn_logs()
    streamlit_logger.update_formatter()
    logging.getLogger(_WEBSOCKETS).addFilter(_shorten)


def _route(logger: logging.Logger) -> None:
    is_quiet = logger.name.startswith(_WITH_ADDRESSES)
    logger.handlers.clear()
    logger.propagate = True
    logger.setLevel(max(logger.level, logging.getLogger().level, logging.WARNING if is_quiet else logging.NOTSET))


def _shorten(record: logging.LogRecord) -> bool:
    """Remove the traceback of a warning: it is about a malformed frame, which anybody can send."""
    if record.levelno <= logging.WARNING:
        record.exc_info = None
    return True
