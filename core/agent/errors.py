"""Errors that end an agent's run early."""

from __future__ import annotations

from core.base.errors import AppError


class AgentError(AppError):
    kind = "agent"
    default_message = "Agent 没有完成这次任务。"
    default_cure = "可以换一种问法，或切换到 Chat 模式。"


class AgentOutputError(AgentError):
    kind = "agent_output"
    default_message = "模型没有按约定的格式输出。"


class BudgetExceeded(AgentError):
    kind = "agent_budget"
    default_message = "Agent 用完了次数或时间。"


class LoopDetected(AgentError):
    kind = "agent_loop"
    default_message = "Agent 在重复同样的操作，已停止。"
