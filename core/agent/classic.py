"""LangChain's classic agents, imported here and nowhere else: the package is kept, not developed, by its authors."""

from langchain_classic.agents import AgentExecutor, AgentOutputParser, create_react_agent, create_tool_calling_agent
from langchain_classic.agents.agent import RunnableMultiActionAgent

__all__ = [
    "AgentExecutor",
    "AgentOutputParser",
    "RunnableMultiActionAgent",
    "create_react_agent",
    "create_tool_calling_agent",
]
