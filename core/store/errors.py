"""Errors of the storage."""

from __future__ import annotations

from core.base.errors import AppError


class StoreError(AppError):
    kind = "store"
    default_message = "对话记录暂时无法保存或读取。"
    default_cure = "可以继续提问，但关闭页面后新的内容可能丢失；请管理员检查数据目录的空间和权限，或数据库的地址。"


class StoreTooNew(StoreError):
    kind = "store_too_new"

    def __init__(self, *, found: int, known: int) -> None:
        super().__init__(
            f"对话数据库由更新版本的程序写成（格式 {found}，本程序只认识到 {known}），没有改动它。",
            cure="请升级本程序，或改用另一个数据目录或数据库。",
        )


class StoreRepaired(StoreError):
    """The database was damaged and set aside. The next try finds a new, empty one."""

    kind = "store_repaired"
    default_cure = "可以继续提问。"


class StoreRejected(StoreError):
    """The database works but refuses this content. Another try would change nothing."""

    kind = "store_rejected"
    default_message = "数据库不接受这条内容，没有保存。"
    default_cure = "细节已写入日志。"


class ConversationNotFound(AppError):
    """The id is unknown, or the conversation is somebody else's. One sentence is true for both, so that nobody can find
    out which ids exist."""

    kind = "conversation_not_found"
    default_message = "这个对话没有分享给你，或者已经不存在。"
    default_cure = "对话只有开始它的浏览器或帐号能打开；要看别人的对话，请对方点「分享」，把分享的链接发给你。"


class ShareNotFound(ConversationNotFound):
    kind = "share_not_found"
    default_message = "这个分享链接已经失效。"
    default_cure = "分享的人可能撤回了它，或删除了对话；可以向对方要新的链接，也可以开始新对话。"


class TokenNotFound(AppError):
    kind = "token_not_found"
    default_message = "没有这个令牌，可能已经撤回。"
