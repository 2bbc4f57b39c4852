"""The models of the protocol: ways to answer. Which language model writes is configured, and the same for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.answer.message import Mode
from core.serve.openai.errors import UnknownModel

CREATED = 1_767_225_600
"""What clients take for the day on which a model was made: 2026-01-01."""


@dataclass(frozen=True, slots=True)
class OfferedModel:
    id: str
    mode: Mode
    search: bool
    description: str

    def to_json(self) -> dict[str, Any]:
        fixed = {"object": "model", "created": CREATED, "owned_by": "wenyuan"}
        return {"id": self.id, **fixed, "description": self.description}


MODELS = (
    OfferedModel("wenyuan-chat", "chat", search=True, description="先搜索网络和法规库，再回答，每句话带来源"),
    OfferedModel("wenyuan-agent", "agent", search=False, description="由 AI 决定搜索什么、读什么、搜索几次，再回答"),
    OfferedModel("wenyuan-plain", "chat", search=False, description="不搜索，直接回答；适合起标题一类的小任务"),
)


def find_model(name: str) -> OfferedModel:
    """Return the model with this name. Raise UnknownModel."""
    for model in MODELS:
        if model.id == name:
            return model
    known = "、".join(model.id for model in MODELS)
    raise UnknownModel(f"没有名为「{name[:80]}」的模型。", cure=f"可以用的有：{known}。")


def list_json() -> dict[str, Any]:
    return {"object": "list", "data": [model.to_json() for model in MODELS]}
