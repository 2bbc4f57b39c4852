"""Errors of reading: a sentence for the reader, and a word or two for the card of the source."""

from __future__ import annotations

from typing import ClassVar, Literal

from core.base.errors import AppError
from core.base.extras import OCR
from core.reading.file_kinds import OTHER_FILES, OtherKind

NotAllowed = Literal["off", "address", "private", "denied", "insecure", "redirects", "unconfined"]
NotDelivered = Literal["unreachable", "timeout", "refused", "login", "missing", "failed"]
NotText = Literal["large", "complex", "binary", "script", "scanned", "locked", "broken", "empty"]
Reason = NotAllowed | NotDelivered | NotText | OtherKind
FileReason = Reason | Literal["kind", "many", "picture", "gone"]
_HOW_TO_RECOGNIZE = "请先用别的软件识别文字；管理员用 {install_ocr} 装上文字识别后，这里可以直接读。"


class ReadingError(AppError):
    """One page was not read. The answer goes on with the others, and with this one's snippet."""

    kind = "reading"

    _WORDS: ClassVar[dict[Reason, tuple[str, str]]] = {
        "off": ("未开启", "管理员关闭了网页阅读。"),
        "address": ("网址不可读", "这个网址不能阅读：只读 80 和 443 端口的 http、https 网页，网址中不能有用户名。"),
        "private": ("内网地址", "{host} 不是公开的网络地址，没有连接。"),
        "denied": ("不允许阅读", "管理员不允许阅读 {host}。"),
        "insecure": ("转向不加密的网址", "{host} 要求从加密的网址转到不加密的网址，没有跟随。"),
        "redirects": ("转向太多", "{host} 一再要求转到别的网址，没有继续跟随。"),
        "unconfined": (
            "无法安全解析",
            "这台机器不能封闭解析网页的进程，所以没有读 {host} 的网页。管理员可以在「设置」页面的「诊断」里看解决的办法。",
        ),
        "unreachable": ("连接不上", "连接不上 {host}。"),
        "timeout": ("太慢", "{host} 的网页没有在规定时间内读完。"),
        "refused": ("拒绝访问", "{host} 拒绝了访问。"),
        "login": ("需要登录", "{host} 的这个网页需要登录或订阅才能看到全文。"),
        "missing": ("网页不存在", "{host} 上没有这个网页了。"),
        "failed": ("对方出错", "{host} 没有给出这个网页。"),
        "large": ("太大", "{host} 的这个网页太大，没有读完。"),
        "complex": ("太复杂", "{host} 的这个网页结构过于复杂，没有读完。"),
        "binary": ("不是文字", "{host} 给出的不是文字内容。"),
        "script": ("需要脚本", "{host} 的这个网页要运行脚本才能显示正文。"),
        "scanned": ("没有文字层", "{host} 的这份 PDF 只有图像，没有文字。"),
        "locked": ("有密码", "{host} 的这份文件有密码。"),
        "broken": ("内容损坏", "{host} 给出的内容不完整或已损坏。"),
        "empty": ("没有正文", "{host} 的这个网页里没有找到正文。"),
        **{kind: ("格式不可读", f"{{host}} 给出的是{other.name}，不能读。") for kind, other in OTHER_FILES.items()},
    }

    def __init__(self, reason: Reason, *, host: str = "") -> None:
        self.short_reason, sentence = self._WORDS[reason]
        super().__init__(sentence.format(host=host))
        self.reason = reason
        self.host = host


class FileError(AppError):
    """A file that a reader attached was not read."""

    kind = "file"

    _SENTENCES: ClassVar[dict[FileReason, str]] = {
        "kind": "不是能读的文件：只读 {kinds}。",
        "many": "没有读：一个问题最多带 {most} 个文件。",
        "binary": "不是认得的文件，没有读。请看看是不是选错了文件，或者换一种格式再试。",
        **{kind: f"是{other.name}，没有读。{other.advice}" for kind, other in OTHER_FILES.items()},
        "large": "太大，没有读。",
        "scanned": f"是扫描件，没有文字层，没有读。{_HOW_TO_RECOGNIZE}",
        "picture": f"是图片，没有文字层，没有读。{_HOW_TO_RECOGNIZE}",
        "locked": "有密码，没有读。请去掉密码再试。",
        "empty": "里没有文字。",
        "missing": "没有第 {number} 页。",
        "gone": "的原页看不到了：没有保存原件，或者对话已经删除、分享已经撤回。",
        "complex": "结构过于复杂，没有读完。请另存为 txt 再试。",
        "timeout": "没有在规定时间内读完。请稍后再试。",
        "unconfined": "没有读：这台机器不能封闭解析文件的进程。管理员可以在「设置」页面的「诊断」里看解决的办法。",
    }
    _OTHERWISE = "不完整或已损坏，没有读。"

    def __init__(self, reason: FileReason, *, name: str, **numbers: object) -> None:
        sentence = self._SENTENCES.get(reason, self._OTHERWISE)
        super().__init__(f"「{name}」{sentence.format_map({**numbers, 'install_ocr': OCR.command})}")
        self.reason = reason
