from __future__ import annotations

from core.app import build_app
from core.base import http
from core.base.http.networks import trust_fake_addresses
from support.base import loaded


def test_the_settings_say_whether_fake_addresses_lead_out() -> None:
    try:
        for value, public in (("1", True), ("0", False)):
            build_app(loaded(NETWORK_FAKE_ADDRESSES=value, SEARCH_PROVIDER_PRIORITY="bundled")).close()
            assert http.is_public("198.18.0.7") is public
    finally:
        trust_fake_addresses(False)
