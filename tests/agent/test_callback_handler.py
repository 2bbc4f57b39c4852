"""The one handler: LangChain's Streamlit handler by inheritance, with no callback left that would draw."""

from __future__ import annotations

import subprocess
import sys

from core.agent.callback_handler import AgentCallbackHandler
from core.agent.classic import StreamlitCallbackHandler
from support.base import ROOT


def test_no_callback_of_the_base_class_is_left_to_draw() -> None:
    """A callback that a later version adds is found here, not by a run that breaks."""
    assert StreamlitCallbackHandler.__module__.startswith("langchain_community.")
    draws = {name for name, method in vars(StreamlitCallbackHandler).items() if name.startswith("on_") and method}
    left = {name for name in draws if getattr(AgentCallbackHandler, name) is getattr(StreamlitCallbackHandler, name)}
    assert left == {"on_chain_start", "on_chain_end", "on_chain_error"}
    assert AgentCallbackHandler.ignore_chain is True, "LangChain asks this before it calls them"


def test_the_agent_runs_without_the_archived_package() -> None:
    code = """
import sys
sys.modules["langchain_community"] = None
sys.path.insert(0, "tests")
from langchain_core.callbacks import BaseCallbackHandler
from core.agent.callback_handler import AgentCallbackHandler
from support.agents import agent, answer, final, search_step
assert AgentCallbackHandler.__bases__ == (BaseCallbackHandler,)
with agent(search_step("英伟达 CEO"), final("好[1]。")) as world:
    assert answer(world.ask()).text == "好[1]。"
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=120, check=True)
