from . import errors, pieces
from .call_limit import ModelCallLimit
from .connection_test import ConnectionTestResult, run_connection_test
from .model import CUT_OFF_REASONS, Model, Prompt, read_reported_usage
from .model_services import (
    LOCAL_SERVICES,
    MAX_NAME_LENGTH,
    SERVICES,
    ListedModel,
    ModelService,
    find_service,
    list_models,
    service_for_address,
)
from .one_shot import ask_once
from .reasoning import ThinkSplitter, reasoning_text, strip_thinking
from .retry import log_cause, retry_attempts
from .tokens import estimate_tokens

__all__ = [
    "CUT_OFF_REASONS",
    "LOCAL_SERVICES",
    "MAX_NAME_LENGTH",
    "SERVICES",
    "ConnectionTestResult",
    "ListedModel",
    "Model",
    "ModelCallLimit",
    "ModelService",
    "Prompt",
    "ThinkSplitter",
    "ask_once",
    "errors",
    "estimate_tokens",
    "find_service",
    "list_models",
    "log_cause",
    "pieces",
    "read_reported_usage",
    "reasoning_text",
    "retry_attempts",
    "run_connection_test",
    "service_for_address",
    "strip_thinking",
]
