"""HTTP client for all outbound requests: `fetch` sends a `Request` under a `Deadline` and returns a `Response`, or
raises an `HttpError`."""

from core.base.http import errors
from core.base.http.deadline import Cancelled, Deadline
from core.base.http.exchange import MAX_BYTES, Request, Response, fetch, normalize_url
from core.base.http.networks import is_public, trust_fake_addresses

__all__ = [
    "MAX_BYTES",
    "Cancelled",
    "Deadline",
    "Request",
    "Response",
    "errors",
    "fetch",
    "is_public",
    "normalize_url",
    "trust_fake_addresses",
]
