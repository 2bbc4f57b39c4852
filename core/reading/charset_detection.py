"""Decoding of bytes as text. The declared charset is used only if the bytes do not show it themselves."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from core.base.charsets import charset_label, web_codec

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_META = re.compile(rb"<meta[^>]{0,200}?(charset\s*=\s*[\"']?[\w.:-]{1,40})", re.IGNORECASE)
_META_WITHIN = 8_192
_SAMPLE = 30_000
_CHINESE = ("utf-8", "gb18030", "big5hkscs")
# The most frequent characters, half of any Chinese text, in both scripts. A wrong codec yields rare characters instead.
_FREQUENT = frozenset(
    "的一是不了在人有我他这这個个上们們来來到时時大地为為子中你说說生国國年着著就那和要她出也得里裡后後自以会會"
    "家可下而过過天去能对對小多然于於心学學么麼之都好看起发發当當没沒成只如事把还還用第样樣道想作种種开開，。、：；"
)
_IS_CHINESE = 0.08
_MAX_BROKEN_SHARE = 0.02
"""Share of broken characters up to which a declared charset is used: some programs cut pages inside characters."""


def decode_body(body: bytes, content_type: str) -> str:
    """Return the bytes as text, with the codec that the bytes or the declaration suggest."""
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return body.decode(codec, "replace")
    try:
        return body.decode("utf-8")  # hardly anything else is valid UTF-8 by chance
    except UnicodeDecodeError:
        return body.decode(_codec(body, content_type), "replace")


def _codec(body: bytes, content_type: str) -> str:
    sample = body[:_SAMPLE]
    chinese = max(_CHINESE, key=lambda codec: _chinese_share(sample, codec))
    if _chinese_share(sample, chinese) > _IS_CHINESE:  # whatever was declared: a server's default fits any bytes
        return chinese
    declared = _declared_codecs(body, content_type)
    fitting = (codec for codec in declared if _broken_share(sample, codec) <= _MAX_BROKEN_SHARE)
    return next(fitting, None) or _guess(sample)


def _declared_codecs(body: bytes, content_type: str) -> Iterator[str]:
    labels = [charset_label(content_type)]
    labels += [charset_label(found.decode("ascii", "replace")) for found in _META.findall(body[:_META_WITHIN])]
    yield from filter(None, map(web_codec, filter(None, labels)))


def _broken_share(sample: bytes, codec: str) -> float:
    text = sample.decode(codec, "replace")
    return text.count("\ufffd") / max(len(text), 1)


def _chinese_share(sample: bytes, codec: str) -> float:
    """Return the share of frequent Chinese characters among all that are not ASCII."""
    foreign = [character for character in sample.decode(codec, "replace") if not character.isascii()]
    return sum(character in _FREQUENT for character in foreign) / max(len(foreign), 1)


def _guess(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    found = from_bytes(sample).best()
    return (found and web_codec(found.encoding)) or "utf-8"
