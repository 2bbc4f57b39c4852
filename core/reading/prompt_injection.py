"""Detection of text that looks like instructions to a model.

Such text is counted and reported, never followed and never removed: an article about these attacks quotes them.
"""

from __future__ import annotations

import re

# All patterns are lower case and begin with plain words, which makes a search through a book quick.
_LIKE_INSTRUCTIONS = tuple(
    map(
        re.compile,
        (
            r"(?:ignore|disregard|forget|override)\b.{0,30}\b(?:previous|prior|above|earlier|all|your|system)\b.{0,30}\b(?:\w{0,3}nstruct|prompt|rules?\b|messages?\b)",
            r"(?:important|urgent) (?:message|instructions?)\b.{0,60}\b(?:ai|assistant|model|llm|chatbot)\b",
            r"(?:ai|language) (?:assistants?|models?|agents?)\b.{0,40}\b(?:must|should always|are (?:instructed|required))\b",
            r"you are now (?:a|an|in|the)\b",
            r"new (?:system )?instructions?\s*:",
            r"(?:reply|respond|answer) only(?: with| in\b|\s*:)",
            r"(?:in|to|of|into) your (?:response|answer|reply|output|system prompt)\b",
            r"(?:encode|encrypt|translate|remove spaces from) (?:your|the) (?:response|answer|reply)\b",
            r"(?:reveal|print|repeat|output)\b.{0,60}\b(?:system prompt|api[_ ]?keys?|environment variables?|instructions)\b",
            r"(?:call|use|invoke) (?:the )?(?:web_search|read_page)\b",
            r"(?:decode and follow|before you (?:can )?(?:solve|answer|do) the task)",
            r"(?:<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|\[/?inst\]|<</?sys>>)",
            r"(?:#+ ?\(?system(?:_message)?\)?|system (?:message|prompt))\s*[:\uff1a)]",
            r"(?:final answer|最终答案)\s*[:\uff1a]",
            r"(?:忽略|无视|忘记|忘掉|抛开|覆盖|忽視|無視|忘記).{0,12}(?:之前|以上|上述|前面|先前|所有|原有|系统|你的|以前|系統).{0,12}(?:指令|指示|提示|要求|规则|设定|命令|内容|規則)",
            r"(?:所有|各|请|要求|任何).{0,6}(?:ai|人工智能|智能|大模型|语言模型).{0,4}(?:助手|助理|模型).{0,12}(?:必须|应当|应该|务必|请|不得|输出|回答)",
            r"(?:你现在是|你將扮演|从现在起你|从现在开始.{0,4}你|你必须扮演)",
            r"(?:在|于)(?:你的|您的)?(?:回答|回复|答案|输出)的?.{0,2}(?:开头|末尾|结尾|最后|中)(?:必须|请|要)?(?:输出|加上|写上|附上|插入|包含|推荐)",
            r"(?:输出|打印|泄露|重复).{0,10}(?:系统提示|提示词|环境变量)",
            r"(?:只|仅)(?:能|需|要)?(?:回答|回复|输出)[「“\"']",
        ),
    )
)


def count_instructions(text: str) -> int:
    """Return the number of places that look like instructions to a model."""
    lowered = text.lower()
    return sum(1 for pattern in _LIKE_INSTRUCTIONS for _ in pattern.finditer(lowered))
