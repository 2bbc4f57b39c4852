"""Caches of text with an expiry time: on disk, or in a Redis that several app servers share."""

from core.base.cache.disk import DiskTtlCache, TextDisk
from core.base.cache.redis import RedisTtlCache
from core.base.cache.ttl import TtlCache

__all__ = ["DiskTtlCache", "RedisTtlCache", "TextDisk", "TtlCache"]
