"""Tavily without a key: few searches an hour, but nothing to register for."""

from __future__ import annotations

from core.base.http import Response
from core.search.engines.tavily import TavilyApi
from core.search.errors import EngineBlocked


class TavilyKeylessEngine(TavilyApi):
    name = "tavily_keyless"
    label = "Tavily（免密钥）"
    is_set_up = False

    @property
    def auth_headers(self) -> dict[str, str]:
        return {"X-Tavily-Access-Mode": "keyless", "X-Client-Source": "wenyuan"}

    def check_status(self, response: Response) -> None:
        if response.status in {401, 403}:
            raise EngineBlocked(
                f"Tavily 不接受免密钥的请求（{response.status}）。",
                cure="请到 app.tavily.com 注册，把密钥填在「设置」页面的「引擎」里，或改用其他引擎。",
                status=response.status,
            )
        super().check_status(response)
