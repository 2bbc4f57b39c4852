"""An estimate of how many tokens a text costs, for budgets and for models that do not report it."""

from __future__ import annotations

import math
import re

from core.base.text import HAN

# Measured on ordinary prose, right to about a quarter: for current tokenizers one Chinese character is a little less than
# a token, four other characters are about one.
_TOKENS_PER_HAN = 0.7
_TOKENS_PER_OTHER = 0.25
_HAN_RUN = re.compile(f"[{HAN}]+")


def estimate_tokens(text: str) -> int:
    """Return an estimate, to be shown as one (估算): no tokenizer is loaded."""
    other = len(_HAN_RUN.sub("", text))
    return math.ceil((len(text) - other) * _TOKENS_PER_HAN + other * _TOKENS_PER_OTHER)
