"""The tools that the agent may be offered, and other names that models use for them."""

from __future__ import annotations

from collections.abc import Sequence

from core.agent.document_tools import build_document_search, build_read_document
from core.agent.legal_tools import build_case_search, build_regulation_search
from core.agent.reading_tool import build_read_page
from core.agent.tools import ToolFactory, build_web_search

TOOLS: Sequence[ToolFactory] = (
    build_document_search,
    build_read_document,
    build_web_search,
    build_regulation_search,
    build_case_search,
    build_read_page,
)

ALIASES: dict[str, tuple[str, ...]] = {
    "web_search": (
        *("search", "websearch", "web search", "search web", "search_web", "internet search", "google"),
        *("google search", "google_search", "bing", "baidu", "duckduckgo", "百度", "谷歌", "搜索", "网络搜索"),
        *("联网搜索", "网页搜索", "互联网搜索", "搜索引擎", "搜索工具"),
    ),
    "regulation_search": (
        *("regulationsearch", "regulation search", "law_search", "law search", "statute_search", "法规检索"),
        *("法规搜索", "法条检索", "法条查询", "查法规", "查法条"),
    ),
    "case_search": (
        *("casesearch", "case search", "judgment_search"),
        *("案例检索", "案例搜索", "裁判文书检索", "查案例", "查判决"),
    ),
    "read_page": (
        *("read", "readpage", "read page", "read_url", "read_source", "open", "open_page", "open page", "open_url"),
        *("visit", "visit_page", "browse", "browser", "fetch", "fetch_page", "fetch_url", "web_fetch", "阅读"),
        *("阅读网页", "阅读来源", "阅读全文", "读网页", "读取网页", "打开网页", "查看网页", "浏览网页"),
    ),
    "document_search": (
        *("documentsearch", "document search", "search_documents", "search documents", "docs_search", "file_search"),
        *("查资料", "搜索资料", "资料检索", "资料搜索", "查文件", "搜索文件"),
    ),
    "read_document": (
        *("readdocument", "read document", "read_file", "read file", "open_document", "open_file"),
        *("读资料", "读文件", "读取文件", "打开文件", "查看文件"),
    ),
}
"""Names that models use for a tool instead of its own."""
