from .recorder import MetricsRecorder
from .statistics import DashboardReport, OutcomeCount, SpanStats, read_report
from .time_spans import TIME_SPANS, Grain, TimeSpan

__all__ = [
    "TIME_SPANS",
    "DashboardReport",
    "Grain",
    "MetricsRecorder",
    "OutcomeCount",
    "SpanStats",
    "TimeSpan",
    "read_report",
]
