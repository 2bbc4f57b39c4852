"""Settings of reading."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from core.base.http import normalize_url
from core.base.http.errors import HttpInvalidRequest
from core.base.settings import Count, Flag, Hours, Names, Seconds, Section, ValueFormat


def _hosts(value: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(_host, value))


def _host(entry: str) -> str:
    """Return the host as it stands in a normalized address: lower case and ASCII."""
    try:
        address = normalize_url(f"http://{entry}/")
    except HttpInvalidRequest:
        address = ""
    found = re.fullmatch(r"http://([^/@?#]+)/", address)
    if not found:
        raise ValueError("应是主机名，可加端口，如 wiki.example.com 或 10.0.0.8:8080")
    return found[1].lower()


Hosts = Annotated[Names, AfterValidator(_hosts), ValueFormat("主机名或主机名:端口，逗号分隔")]


class ReadingSettings(Section):
    name = "reading"
    group = "搜索"
    pages: Count = Field(3, ge=0, le=5, description="每次搜索后阅读前几条来源的全文，0 为不读网页")
    timeout: Seconds = Field(4.0, ge=0.5, le=60, description="阅读网页的时间，到时没有读完的只用摘要")
    cache_hours: Hours = Field(24.0, ge=0, le=720, description="读过的网页多久之内不再重新打开，0 为不缓存")
    files: Count = Field(5, ge=0, le=10, description="提问时可以附几个文件，0 为不能附文件")
    file_megabytes: Count = Field(10, ge=1, le=25, description="附件和要核验的文稿每个最大多少 MB")
    unconfined: Flag = Field(
        False,
        description="系统不能封闭解析网页和文件的进程时（如旧内核、macOS）是否仍然读；被攻破的进程可以改动本机的文件",
    )
    keep: Flag = Field(
        True,
        description="是否把读到的网页文字与回答一起保存，供以后查看；不保存时，以后打开的回答没有依据核验的标记。附件的文字总是与问题一起保存",
    )
    kept_file_megabytes: Count = Field(
        50,
        ge=0,
        le=1000,
        description="每个对话最多保存多少 MB 的 PDF 附件原件，供「看这一页」显示原页，与对话一起删除；0 为不保存",
    )
    allow_hosts: Hosts = Field((), description="内网中可以阅读的主机；80 和 443 之外的端口要写出来")
    deny_hosts: Hosts = Field((), description="不阅读的主机，其下级域名也不读")
