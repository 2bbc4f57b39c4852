"""Errors of an HTTP exchange that brought no answer. Callers turn them into errors of their own.

HttpTooLarge is an answer past the byte limit, before or after decompression. HttpProtocolError is an answer that is not
HTTP, is cut short, or has an encoding that was not asked for.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from core.base.errors import AppError

ConnectFailure = Literal["dns", "refused", "reset", "tls", "proxy", "unreachable"]


class HttpError(AppError):
    """An exchange that brought no answer. Of the address it names only the `host`."""

    kind = "http"
    default_message = "网络请求没有成功。"

    def __init__(self, message: str = "", *, cure: str = "", host: str = "") -> None:
        super().__init__(message, cure=cure)
        self.host = host


class HttpInvalidRequest(HttpError):
    kind = "http_invalid_request"
    default_message = "请求没有发出：服务地址或请求头无法使用。"
    default_cure = "请检查服务地址（以 http:// 或 https:// 开头）和密钥中是否有多余的字符。"


class HttpNotPublic(HttpError):
    kind = "http_not_public"

    def __init__(self, *, host: str) -> None:
        super().__init__(f"{host} 不是公开的网络地址，没有连接。", cure="请换一个网址，或先下载再上传文件。", host=host)


class HttpTimeout(HttpError):
    kind = "http_timeout"

    def __init__(self, *, host: str) -> None:
        super().__init__(f"{host} 没有在规定时间内答复。", cure="请稍后重试。", host=host)


class HttpCancelled(HttpError):
    kind = "http_cancelled"

    def __init__(self, *, host: str) -> None:
        super().__init__(f"对 {host} 的请求已取消。", host=host)


class HttpConnectError(HttpError):
    kind = "http_connect"

    _SENTENCES: ClassVar[dict[ConnectFailure, tuple[str, str]]] = {
        "dns": ("找不到 {host} 这个地址。", "请检查网络和服务地址的拼写。"),
        "refused": ("{host} 拒绝了连接。", "请检查网络，并确认服务已启动、端口正确。"),
        "reset": ("{host} 中断了连接。", "请稍后重试，或检查网络和代理。"),
        "tls": ("与 {host} 的加密连接没有建立。", "请检查服务地址、系统时间和证书的设置。"),
        "proxy": ("无法通过代理访问 {host}。", "请检查代理的设置；SOCKS 代理不受支持。"),
        "unreachable": ("连接不上 {host}。", "请检查网络和服务地址。"),
    }

    def __init__(self, *, host: str, reason: ConnectFailure) -> None:
        message, cure = self._SENTENCES[reason]
        super().__init__(message.format(host=host), cure=cure, host=host)
        self.reason = reason


class HttpRedirect(HttpError):
    """The server asked for a redirect. It is not followed: keys sent to one host must not go to another."""

    kind = "http_redirect"

    def __init__(self, *, host: str, target: str) -> None:
        super().__init__(f"{host} 要求转到 {target}，没有跟随。", cure="请把服务地址改为最终的地址。", host=host)
        self.target = target


class HttpTooLarge(HttpError):
    kind = "http_too_large"

    def __init__(self, *, host: str, limit: int) -> None:
        super().__init__(f"{host} 返回的内容超过 {limit} 字节的上限。", host=host)
        self.limit = limit


class HttpProtocolError(HttpError):
    kind = "http_protocol"

    def __init__(self, *, host: str) -> None:
        super().__init__(f"{host} 的答复不完整或不符合 HTTP 协议。", cure="请检查服务地址和端口。", host=host)


class HttpInvalidJson(HttpError):
    kind = "http_json"

    def __init__(self, *, host: str) -> None:
        super().__init__(f"{host} 返回的内容不是有效的 JSON。", cure="请检查服务地址。", host=host)
