"""Chinese labels for names in the program."""

from __future__ import annotations

SEARCH_TYPES = {"general": "综合", "news": "新闻", "regulation": "法规", "case": "案例"}
ARGUMENTS = {
    "search_type": "类型",
    "law_name": "法律",
    "article": "条号",
    "as_of": "时间",
    "collection": "资料",
    "file": "文件",
    "pages": "页",
    "case_type": "类型",
    "cause": "案由",
    "court": "法院",
    "year": "年份",
    "focus": "关注",
}
"""Labels for the arguments of the agent's tools, besides the words to search for and the pages to read."""
MODES: dict[str, str] = {"chat": "Chat", "agent": "Agent"}
ORIGINS = {"default": "默认", "settings.yaml": "settings.yaml", "page": "页面", "environment": "环境变量"}
"""Labels for the origins of a setting's value."""
