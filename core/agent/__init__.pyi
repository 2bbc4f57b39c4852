from .runner import AgentRunner

__all__ = [
    "AgentRunner",
]
