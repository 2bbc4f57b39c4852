"""Private parts of other libraries that the program uses: one test per library, so that an upgrade fails by name."""

from __future__ import annotations

import asyncio
import http.client
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any


def parameters(function: Callable[..., Any]) -> list[str]:
    """Return the names of a function's parameters, without `self`."""
    return [name for name in inspect.signature(function).parameters if name != "self"]


def test_http_client_reads_the_status_and_chunk_sizes_in_methods_of_their_own() -> None:
    """`core/base/http/connections.py` overrides both."""
    assert parameters(http.client.HTTPResponse._read_status) == []  # type: ignore[attr-defined]
    assert parameters(http.client.HTTPResponse._read_next_chunk_size) == []  # type: ignore[attr-defined]


def test_asyncio_switches_off_the_delay_in_a_function_of_its_own() -> None:
    """`core/base/tuning.py` replaces it: it does not know the sockets that Streamlit makes."""
    assert parameters(asyncio.base_events._set_nodelay) == ["sock"]  # type: ignore[attr-defined]


def test_urllib3_opens_and_lends_connections_in_methods_of_their_own() -> None:
    """`core/base/http/connections.py` overrides them to keep the deadline and to refuse private addresses."""
    from urllib3.connection import HTTPConnection
    from urllib3.connectionpool import HTTPConnectionPool
    from urllib3.poolmanager import PoolManager

    assert parameters(HTTPConnection._new_conn) == []
    assert parameters(HTTPConnection._tunnel) == []
    assert HTTPConnection("example.com")._dns_host == "example.com"
    assert parameters(HTTPConnectionPool._get_conn) == ["timeout"]
    assert parameters(HTTPConnectionPool._put_conn) == ["conn"]
    assert set(PoolManager().pool_classes_by_scheme) == {"http", "https"}


def test_requests_builds_its_pools_where_the_adapter_can_replace_them() -> None:
    """`core/base/http/connections.py` overrides them."""
    from requests.adapters import HTTPAdapter

    assert parameters(HTTPAdapter.init_poolmanager)[:3] == ["connections", "maxsize", "block"]
    assert parameters(HTTPAdapter.proxy_manager_for) == ["proxy", "proxy_kwargs"]
    assert parameters(HTTPAdapter.build_connection_pool_key_attributes) == ["request", "verify", "cert"]
    assert parameters(HTTPAdapter.cert_verify) == ["conn", "url", "verify", "cert"]


def test_limits_counts_in_memory_by_key() -> None:
    """`core/base/rate_limits.py` forgets idle keys before the library counts."""
    from limits.storage import MemoryStorage

    assert parameters(MemoryStorage.acquire_entry) == ["key", "limit", "expiry", "amount"]
    assert isinstance(MemoryStorage().events, dict)


def test_langchain_openai_converts_in_methods_of_their_own() -> None:
    """`core/llm/openai_chat.py` overrides them to carry reasoning; `core/llm/model.py` wraps the client."""
    from langchain_openai import ChatOpenAI

    converted = parameters(ChatOpenAI._convert_chunk_to_generation_chunk)
    assert converted == ["chunk", "default_chunk_class", "base_generation_info"]
    assert parameters(ChatOpenAI._get_request_payload) == ["input_", "stop", "kwargs"]
    assert parameters(ChatOpenAI._use_responses_api) == ["payload"]
    assert parameters(ChatOpenAI._convert_input) == ["model_input"]
    assert "async_client" in ChatOpenAI.model_fields


def test_streamlit_keeps_uploads_and_pages_where_they_are_looked_for() -> None:
    """`core/ui/uploads.py` deletes old uploads; the session sends pages through the router; answers see reruns."""
    from streamlit.runtime import Runtime, get_instance
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
    from streamlit.runtime.pages_manager import PagesManager
    from streamlit.runtime.scriptrunner import RerunException, get_script_run_ctx

    assert callable(get_instance)
    assert parameters(get_script_run_ctx) == ["suppress_warning"]
    assert issubclass(RerunException, BaseException)
    assert isinstance(inspect.getattr_static(Runtime, "uploaded_file_mgr"), property)
    assert MemoryUploadedFileManager("/upload").file_storage == {}
    assert parameters(MemoryUploadedFileManager.remove_file) == ["session_id", "file_id"]
    assert hasattr(PagesManager, "uses_pages_directory")


def test_streamlit_gives_its_loggers_their_handlers_in_one_function() -> None:
    """`core/ui/server_logs.py` replaces it, and shortens what is logged of a malformed frame."""
    from streamlit import logger
    from streamlit.web.server.starlette import starlette_websocket

    from core.ui.server_logs import _WEBSOCKETS

    assert parameters(logger.setup_formatter) == ["logger"]
    assert "setup_formatter(" in inspect.getsource(logger.get_logger)
    assert "setup_formatter(" in inspect.getsource(logger.update_formatter)
    assert starlette_websocket.__name__ == _WEBSOCKETS


def test_streamlit_s_index_html_has_what_is_replaced_in_it() -> None:
    """The page's HTML is made from it by replacing these, each of which must be there exactly once."""
    from streamlit import file_util

    original = (Path(file_util.get_static_dir()) / "index.html").read_text("utf-8")
    replaced = (
        '<html lang="en">',
        "<title>Streamlit</title>",
        "You need to enable JavaScript to run this app.",
        "</head>",
        "<head>",
        '<link rel="stylesheet"',
        '<div id="root"></div>',
        "</body>",
    )
    assert {part: original.count(part) for part in replaced} == dict.fromkeys(replaced, 1)


def test_streamlit_s_scripts_have_the_names_that_are_loaded_early() -> None:
    from streamlit import file_util

    from core.ui.index_html import _PRELOADED

    folder = Path(file_util.get_static_dir()) / "static" / "js"
    assert [part for part in _PRELOADED if not list(folder.glob(f"{part}.*.js"))] == []


def test_uvicorn_looks_its_compressor_up_in_its_own_module() -> None:
    """`asgi.py` replaces the name there."""
    from uvicorn.protocols.websockets import websockets_sansio_impl

    assert parameters(websockets_sansio_impl.ServerPerMessageDeflateFactory)  # type: ignore[attr-defined]
    assert "ServerPerMessageDeflateFactory" in inspect.getsource(websockets_sansio_impl.WebSocketsSansIOProtocol)


def test_python_docx_names_its_body_and_cells() -> None:
    """`core/reading/word_document.py` comments runs of any part; `core/answer/export/word_body.py` fills tables cell by cell."""
    from docx import Document

    document = Document()
    assert document._body is not None
    assert len(document.add_table(2, 3)._cells) == 6
    assert document.add_paragraph("")._p.tag.endswith("}p")


def test_lxml_names_its_element_class() -> None:
    """`core/reading/word_document.py` and `core/reading/plain_text.py` use it as a type."""
    from lxml import etree

    assert isinstance(etree.fromstring("<a/>"), etree._Element)
