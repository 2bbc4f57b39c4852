"""Long work beside pages that somebody looks at."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_SHORT = 0.0005
_lock = threading.Lock()
_under_way = 0
_usual = sys.getswitchinterval()


@contextmanager
def aside() -> Iterator[None]:
    """Around imports that take seconds: whoever else runs gets the interpreter back after half a millisecond.

    With the usual five, a page that is drawn meanwhile waits so long after every message that it sends, and sends fifty.
    """
    global _under_way
    with _lock:
        _under_way += 1
        sys.setswitchinterval(_SHORT)
    try:
        yield
    finally:
        with _lock:
            _under_way -= 1
            if not _under_way:
                sys.setswitchinterval(_usual)
