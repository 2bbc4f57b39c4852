"""LangChain's classic agents and its Streamlit handler, imported here and nowhere else: their authors no longer develop them."""

import warnings
from typing import TYPE_CHECKING

# It imports langchain_community, which warns at its first import that it is no longer developed.
warnings.filterwarnings("ignore", message="`langchain-community` is being sunset", category=DeprecationWarning)

from langchain_classic.agents import (  # noqa: E402
    AgentExecutor,
    AgentOutputParser,
    create_react_agent,
    create_tool_calling_agent,
)
from langchain_classic.agents.agent import RunnableMultiActionAgent  # noqa: E402

if TYPE_CHECKING:  # what LangChain calls it with, which its own signatures leave out
    from langchain_core.callbacks import BaseCallbackHandler as StreamlitCallbackHandler
else:
    try:  # it imports Streamlit only where it draws
        from langchain_community.callbacks.streamlit.streamlit_callback_handler import StreamlitCallbackHandler
    except ImportError:  # the package is archived, and nothing here needs more than the names of its methods
        from langchain_core.callbacks import BaseCallbackHandler as StreamlitCallbackHandler

__all__ = [
    "AgentExecutor",
    "AgentOutputParser",
    "RunnableMultiActionAgent",
    "StreamlitCallbackHandler",
    "create_react_agent",
    "create_tool_calling_agent",
]
