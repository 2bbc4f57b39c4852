"""Settings: defaults < settings.yaml < environment. Read once, validated once, frozen; each is described where it stands."""

from core.base.settings.load import (
    LoadedSettings,
    Origin,
    harmless_environment,
    load_settings,
    proxies_named,
    report_problems,
)
from core.base.settings.model_choice import EMBEDDED, EMBEDDED_LABEL, ModelChoice, choose_model
from core.base.settings.sections import (
    LimitsSettings,
    LlmSettings,
    MetricsSettings,
    PanelControl,
    SearchSettings,
    Settings,
)
from core.base.settings.values import (
    Address,
    Addresses,
    ApiKey,
    Count,
    Flag,
    Form,
    LowerCase,
    Names,
    Seconds,
    Section,
    Word,
    variable,
)

__all__ = [
    "EMBEDDED",
    "EMBEDDED_LABEL",
    "Address",
    "Addresses",
    "ApiKey",
    "Count",
    "Flag",
    "Form",
    "LimitsSettings",
    "LlmSettings",
    "LoadedSettings",
    "LowerCase",
    "MetricsSettings",
    "ModelChoice",
    "Names",
    "Origin",
    "PanelControl",
    "SearchSettings",
    "Seconds",
    "Section",
    "Settings",
    "Word",
    "choose_model",
    "harmless_environment",
    "load_settings",
    "proxies_named",
    "report_problems",
    "variable",
]
