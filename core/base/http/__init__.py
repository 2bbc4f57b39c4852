"""The one way out: `fetch` sends a `Request` under a `Deadline` and brings a `Response`, or raises an `HttpError`."""

from core.base.http.addresses import is_public
from core.base.http.deadline import Cancelled, Deadline
from core.base.http.exchange import MAX_BYTES, Request, Response, fetch, normal_address

__all__ = ["MAX_BYTES", "Cancelled", "Deadline", "Request", "Response", "fetch", "is_public", "normal_address"]
