"""Logging to standard error, with keys removed from messages, exception texts and URLs."""

from __future__ import annotations

import logging
import re
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator

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
    """Drop records that repeat too often: a fault that occurs thousands of times a second must not fill the disk."""

    def __init__(self, *, limit: int = 50, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._limit = limit
        self._seconds = seconds
        self._clock = clock
        self._begun = clock()
        self._counts: Counter[tuple[str, int, str]] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        if self._clock() - self._begun >= self._seconds:
            self._begun = self._clock()
            self._counts.clear()
        kind = (record.name, record.lineno, str(record.msg)[:60])
        self._counts[kind] += 1
        if self._counts[kind] == self._limit:
            record.msg = f"{record.msg} (further records of this kind are left out for up to {self._seconds:.0f} s)"
        return self._counts[kind] <= self._limit


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


def configure_logging(*, level: str = "INFO", secrets: Iterable[str] = ()) -> None:
    """Install one handler on the root logger. A second call (a reload, a second App) replaces only our own handler."""
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if getattr(handler, "wenyuan", False)]:
        root.removeHandler(handler)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(RepetitionFilter())
    handler.addFilter(RedactingFilter(secrets))
    handler.wenyuan = True  # type: ignore[attr-defined]
    root.addHandler(handler)
    root.setLevel(level)
    for chatty in ("httpx", "httpx2", "httpcore", "openai", "watchdog", "asyncio"):
        logging.getLogger(chatty).setLevel(max(logging.WARNING, root.level))
