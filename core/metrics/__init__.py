"""Metrics of the running installation: recorded in the background, read by the dashboard and by Prometheus."""

from core.metrics.recorder import MetricsRecorder

__all__ = ["MetricsRecorder"]
