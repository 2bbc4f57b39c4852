"""LangChain's classic agents, imported here and nowhere else: the package is kept, not developed, by its authors."""

import warnings

# It brings langchain_community along, which says with its first import that nobody works on it any more.
warnings.filterwarnings("ignore", message="`langchain-community` is being sunset", category=DeprecationWarning)

from langchain_classic.agents import (  # noqa: E402
    AgentExecutor,
    AgentOutputParser,
    create_react_agent,
    create_tool_calling_agent,
)
from langchain_classic.agents.agent import RunnableMultiActionAgent  # noqa: E402

__all__ = [
    "AgentExecutor",
    "AgentOutputParser",
    "RunnableMultiActionAgent",
    "create_react_agent",
    "create_tool_calling_agent",
]
