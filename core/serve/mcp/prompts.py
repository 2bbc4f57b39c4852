"""The prompts that a person picks in a program: how to use the tools for an answer with sources, and for a draft."""

from __future__ import annotations

from dataclasses import dataclass
from string import Template

import mcp_types
from mcp.shared.exceptions import MCPError

from core.base.text import clean, one_line, shorten


@dataclass(frozen=True, slots=True)
class Prompt:
    name: str
    title: str
    description: str
    argument: str
    argument_description: str
    text: str
    """`$given` stands for the argument."""


PROMPTS = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "answer_with_sources",
            "带来源回答",
            "先查资料再回答，每句话标来源，写完后核验",
            "question",
            "要回答的问题",
            """请用问源的工具查资料，然后回答下面的问题。

1. 用 web_search 搜索；涉及法律的，用 search_statutes、get_article 取条文原文，需要案例时用 search_cases；涉及我自己的资料的，用 search_documents。
2. 要用到的网页先用 read_page 读原文，不要只看摘要。
3. 回答里每一句取自资料的话后面标 [1]、[2]，末尾列「参考文献」：编号、标题、网址。没有查到的就说没有查到，不要凭记忆补。
4. 写完后用 check_claims 核验（来源给原文），引用了法条的再用 verify_statutes 核验；没有通过的地方改正，改不了的告诉我。

问题：
$given""",
        ),
        Prompt(
            "check_draft",
            "核对这份草稿",
            "核验草稿引用的法条、案号和来源，列出要改的地方",
            "text",
            "草稿的全文",
            """请用问源的工具核对下面的草稿。

1. 用 verify_statutes 核验全文引用的法条和案号。草稿写明了是哪一天的法律时，用 as_of 写上那一天。
2. 带 [1]、[2] 编号、又有来源的句子，用 check_claims 核验。
3. 列出每一处问题：原句、问题、条文或来源的原话、建议的改法。标记 ✗、≠、⌛ 的先列；○、？ 和没有核验的另外列出，不要当作正确。
4. 没有问题也要说明核验了几处、法规库截至哪一天。

草稿：
$given""",
        ),
    )
}


def list_prompts() -> list[mcp_types.Prompt]:
    return [
        mcp_types.Prompt(
            name=prompt.name,
            title=prompt.title,
            description=prompt.description,
            arguments=[
                mcp_types.PromptArgument(name=prompt.argument, description=prompt.argument_description, required=True)
            ],
        )
        for prompt in PROMPTS.values()
    ]


def fill_prompt(name: str, arguments: dict[str, str]) -> mcp_types.GetPromptResult:
    """Return a prompt with its argument filled in. Raise MCPError."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        known = "、".join(PROMPTS)
        raise MCPError(
            mcp_types.INVALID_PARAMS, f"没有叫「{shorten(one_line(name), 60)}」的提示。可以用的有：{known}。"
        )
    given = clean(arguments.get(prompt.argument, "")).strip()
    if not given:
        raise MCPError(mcp_types.INVALID_PARAMS, f"缺少参数 {prompt.argument}：{prompt.argument_description}。")
    text = Template(prompt.text).substitute(given=given)
    message = mcp_types.PromptMessage(role="user", content=mcp_types.TextContent(type="text", text=text))
    return mcp_types.GetPromptResult(description=prompt.description, messages=[message])
