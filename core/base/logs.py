"""Logging to standard error: as text or JSON, with the ids of process, conversation and question, without keys."""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import TypeVar

T = TypeVar("T")
HIDDEN = "***"
MAX_TYPED_KEYS = 500
_LIKE_A_KEY = re.compile(r"(?=.*\d)(?=.*[a-zA-Z])[!-~]{16,}")

_KEY_SHAPES = re.compile(
    r"""(?ix)
    (?P<bearer> \b(?:bearer|basic)\s+ ) [\w.~+/=-]{8,}
    | (?P<named> \b[\w-]*(?:api[_-]?key|apikey|token|secret|password|authorization|access[_-]?key)
                 ["']? \s*[=:]\s* ["']? )
      (?!bearer\b|basic\b) [^\s"'&,;)\]}]{4,}
    | (?P<userinfo> :// ) [^/\s:@]+ : [^/\s@]+ (?=@)
    | (?P<prefixed> \b(?:sk|pplx|tvly|exa|gsk|xai|AIza|bce-v3) [-/]? ) [\w-]{16,}
    | (?P<token> \bwy- ) [\w-]{32,}
    """
)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return `text` without the given secrets and without anything that looks like a secret."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return _KEY_SHAPES.sub(lambda match: next(filter(None, match.groups()), "") + HIDDEN, text)


_FORGES = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")


def escape_control_characters(message: str) -> str:
    """Return the message on one line. A foreign line break could forge a record, an escape code could hide one."""
    return _FORGES.sub(lambda found: repr(found[0])[1:-1], message)


class RedactingFilter(logging.Filter):
    """Rewrite each record, so that no later formatter can bring a key back."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__()
        self.secrets: list[str] = []
        self.typed_keys: deque[str] = deque(maxlen=MAX_TYPED_KEYS)
        self.hide(secrets)

    def hide(self, secrets: Iterable[str]) -> None:
        # Longest first: a key that contains another one must not leave its tail behind. Very short values would
        # blank out ordinary words.
        known = {*self.secrets, *(secret for secret in secrets if len(secret) >= 6)}
        self.secrets = sorted(known, key=len, reverse=True)

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact the message and the traceback of the record."""
        try:
            message = record.getMessage()
        except Exception:  # a wrong number of arguments: logging would print them all, keys included
            message = f"{record.msg} (unprintable arguments)"
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        secrets = [*self.secrets, *self.typed_keys]
        record.msg, record.args = escape_control_characters(redact(message, secrets)), None
        if record.exc_text:
            record.exc_text = redact(record.exc_text, secrets)
        record.exc_info = None
        return True


class RepetitionFilter(logging.Filter):
    """Drop records that repeat: a fault that lasts is said once and then every ten minutes, and a fault that occurs
    thousands of times a second in different words must not fill the disk."""

    MAX_TEXTS = 1_000
    """Number of different faults that are remembered."""

    def __init__(
        self,
        *,
        limit: int = 50,
        seconds: float = 60.0,
        silence: float = 600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Let `limit` records of one place in the code pass in `seconds`, and one warning of the same words in `silence`."""
        super().__init__()
        self._limit = limit
        self._seconds = seconds
        self._silence = silence
        self._clock = clock
        self._begun = clock()
        self._counts: Counter[tuple[str, int, str]] = Counter()
        self._said: OrderedDict[tuple[str, ...], tuple[float, int]] = OrderedDict()
        """When a warning was said last, and how often it was left out since."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno >= logging.WARNING and self._was_just_said(record):
            return False
        if self._clock() - self._begun >= self._seconds:
            self._begun = self._clock()
            self._counts.clear()
        kind = (record.name, record.lineno, str(record.msg)[:60])
        self._counts[kind] += 1
        if self._counts[kind] == self._limit:
            record.msg = f"{record.msg} (further records of this kind are left out for up to {self._seconds:.0f} s)"
        return self._counts[kind] <= self._limit

    def _was_just_said(self, record: logging.LogRecord) -> bool:
        """Return whether the same warning was said in the last minutes. One that is said again tells how often it was not."""
        try:
            message = record.getMessage()[:500]
        except Exception:  # a wrong number of arguments, which the other filter reports
            return False
        fault = (record.name, message, *_exception_origin(record))
        said_at, left_out = self._said.pop(fault, (-self._silence, 0))
        if self._clock() - said_at < self._silence:
            self._said[fault] = said_at, left_out + 1
            return True
        self._said[fault] = self._clock(), 0
        if len(self._said) > self.MAX_TEXTS:
            self._said.popitem(last=False)
        if left_out:
            record.msg, record.args = f"{message} (said {left_out} more times since it was last written here)", None
        return False


def _exception_origin(record: logging.LogRecord) -> tuple[str, ...]:
    """Return the type of a record's exception and the place where it was raised; nothing for a record without one."""
    kind, _, traceback = record.exc_info or (None, None, None)
    while traceback and traceback.tb_next:
        traceback = traceback.tb_next
    place = f"{traceback.tb_frame.f_code.co_filename}:{traceback.tb_lineno}" if traceback else ""
    return (kind.__qualname__, place) if kind else ()


def hide_in_logs(secrets: Iterable[str]) -> None:
    """Hide these secrets from now on, also after logging was configured. They stay hidden: an old key is still a key."""
    for known in _redacting_filters():
        known.hide(secrets)


def hide_typed_key_in_logs(key: str) -> None:
    """Hide a key that somebody types into a form. Only text that looks like a key is hidden, or any visitor could blank
    out words of the log. Only the newest keys are remembered, or any visitor could fill the memory."""
    for known in _redacting_filters():
        if _LIKE_A_KEY.fullmatch(key) and key not in known.typed_keys:
            known.typed_keys.append(key)


def _redacting_filters() -> Iterator[RedactingFilter]:
    for handler in logging.getLogger().handlers:
        yield from (known for known in handler.filters if isinstance(known, RedactingFilter))


_ids: ContextVar[Mapping[str, str]] = ContextVar("log_ids", default=MappingProxyType({}))
ID_LENGTH = 8
"""Characters of an id that are logged: enough to tell conversations apart, too few to open one."""


def add_log_ids(**ids: str) -> None:
    """Add ids to all further records of this thread or task, and of those that it starts."""
    _ids.set({**_ids.get(), **{name: id[:ID_LENGTH] for name, id in ids.items() if id}})


def with_log_ids(job: Callable[[], T]) -> Callable[[], T]:
    """Return the job as it runs in another thread: with the ids of this one, and with nothing else of its context."""
    ids = _ids.get()

    def run() -> T:
        token = _ids.set(ids)
        try:
            return job()
        finally:
            _ids.reset(token)

    return run


class TextFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s [%(ids)s] %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        record.ids = " ".join((str(record.process), *(f"{name}={id}" for name, id in _ids.get().items())))
        return super().format(record)


class JsonFormatter(logging.Formatter):
    """One JSON object per line, for programs that collect logs."""

    default_msec_format = "%s.%03d"

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname,
            "logger": record.name,
            "process": record.process,
            **_ids.get(),
            "message": record.getMessage(),
            **({"exception": record.exc_text} if record.exc_text else {}),
        }
        return json.dumps(entry)  # in ASCII: what a terminal cannot show would be escaped in a way that is no JSON


def configure_logging(*, level: str = "INFO", format: str = "text", secrets: Iterable[str] = ()) -> None:
    """Install one handler on the root logger. A second call (a reload, a second App) replaces only our own handler, and
    remembers what was said and what is hidden."""
    root = logging.getLogger()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if format == "json" else TextFormatter())
    handler.filters = [RepetitionFilter(), RedactingFilter()]
    handler.wenyuan = True  # type: ignore[attr-defined]
    for earlier in [handler for handler in root.handlers if getattr(handler, "wenyuan", False)]:
        root.removeHandler(earlier)
        handler.filters = earlier.filters
    root.addHandler(handler)
    hide_in_logs(secrets)
    root.setLevel(level)
    for chatty in ("httpx", "httpx2", "httpcore", "openai", "watchdog", "asyncio"):
        logging.getLogger(chatty).setLevel(max(logging.WARNING, root.level))
