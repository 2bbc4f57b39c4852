from .chat_service import ChatService

__all__ = [
    "ChatService",
]
