"""Who calls a service: a token with its scopes, or the operator at this machine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from core.base.visitors import COMMAND_LINE, Visitor
from core.documents import Access
from core.serve.errors import ScopeMissing

if TYPE_CHECKING:
    from core.store import Token


class Scope(StrEnum):
    """What a token may be used for. Its value is stored."""

    SEARCH = "search"
    LAW = "law"
    CHECK = "check"
    ASK = "ask"
    DOCUMENTS = "documents"
    CHANGE_DOCUMENTS = "change_documents"

    @property
    def label(self) -> str:
        return _LABELS[self]


_LABELS = {
    Scope.SEARCH: "搜索网络、阅读网页",
    Scope.LAW: "查法规和案例、核验法条",
    Scope.CHECK: "核验引用",
    Scope.ASK: "提问",
    Scope.DOCUMENTS: "查自己的资料",
    Scope.CHANGE_DOCUMENTS: "增删自己的资料",
}
ALL_SCOPES = frozenset(Scope)
DEFAULT_SCOPES = frozenset({Scope.SEARCH, Scope.LAW, Scope.CHECK, Scope.ASK})
"""What a new token may be used for, unless its maker chooses: nothing that belongs to the maker."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls a service, what they may do, and under what name they count and own documents."""

    visitor: Visitor
    """Whose limits of questions and searches count."""
    access: Access
    """Under what name collections of documents are opened."""
    scopes: frozenset[Scope] = ALL_SCOPES

    @classmethod
    def from_token(cls, token: Token) -> Caller:
        """Return the program that calls with a token. It opens the collections of the token's maker and nobody else's. It has
        limits of its own, and shares with other tokens of this maker what people at one address share."""
        visitor = Visitor(f"token {token.id}", f"maker {token.owner}", token_id=token.id)
        return cls(visitor, Access(maker=token.owner), frozenset(scope for scope in Scope if scope in token.scopes))

    @property
    def token_id(self) -> str:
        """The token; empty for the operator."""
        return self.visitor.token_id

    def require(self, scope: Scope) -> None:
        """Raise ScopeMissing if the token is not for this."""
        if scope not in self.scopes:
            raise ScopeMissing(scope.label)


OPERATOR = Caller(COMMAND_LINE, Access(COMMAND_LINE.name))
"""Whoever may start programs on this machine: the command line, and `wenyuan mcp` over standard input."""
