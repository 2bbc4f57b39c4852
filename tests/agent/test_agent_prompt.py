from __future__ import annotations

import logging
from pathlib import Path

import pytest

from core.agent.agent_prompt import TOOLS_SUFFIX, VARIANTS, build_agent_prompt
from core.base.settings import ModelChoice
from core.run.choices import Choices
from core.run.prompts import FOLDER
from core.run.question import AnswerOptions
from support.agents import agent, answer, final, notice, wired_agent

MODEL = ModelChoice("openai", "gpt-5-mini")
GOOD = "规则 {braces} $$5 ${tools} 之一 [$tool_names]\n---\n$history问：$question\n$steps"


def prompt(wanted: str = "auto", question: str = "你好吗", strategy: str = "react", model: ModelChoice = MODEL) -> str:
    built = build_agent_prompt(wanted, strategy=strategy, question=question, model=model, today="2026-01-02")
    values = {"tools": "T", "tool_names": "N", "history": "", "input": question, "agent_scratchpad": ""}
    if strategy == "tools":
        values["agent_scratchpad"] = []  # type: ignore[assignment]
    return "\n".join(str(message.text) for message in built.messages.invoke(values).to_messages())


@pytest.mark.parametrize("name", [f"agent_{variant}{form}" for variant in VARIANTS for form in ("", TOOLS_SUFFIX)])
def test_every_variant_tells_goal_tools_queries_stopping_and_citing(name: str) -> None:
    text = (FOLDER / f"{name}.md").read_text("utf-8")
    for chinese, english in [
        ("搜索", "search"),
        ("好：", "good:"),
        ("不好：", "bad:"),
        ("停止", "stop"),
        ("[1]", "[1]"),
        ("数据|资料", "data"),
        ("问源", "Wenyuan"),
    ]:
        assert any(word in text for word in (*chinese.split("|"), english)), (name, chinese)
    assert "$tools" in text
    for tool in ("web_search", "regulation_search", "case_search"):
        assert tool in text, name


def test_the_language_of_the_question_chooses_the_variant() -> None:
    assert "怎样写搜索词" in prompt(question="英伟达的首席执行官是谁")
    assert "How to write a query" in prompt(question="Who leads NVIDIA?")


@pytest.mark.parametrize(
    ("name", "small"),
    [
        ("smollm2", True),
        ("qwen3:0.6b", True),
        ("llama-3.2-3b-instruct", True),
        ("llama3.2:1b", True),
        ("gemma:2b", True),
        ("gemma-2-2b-it", True),
        ("gemma3n:e2b", True),
        ("qwen2.5:1.5b", True),
        ("Qwen2.5-Coder-1.5B-Instruct", True),
        ("qwen1.5b", True),
        ("qwen3-30b-a3b", False),
        ("mixtral-8x7b", False),
        ("qwen1.5-7b", False),
        ("qwen3:8b", False),
        ("gpt-5-mini", False),
    ],
)
def test_small_models_get_a_short_prompt(name: str, small: bool) -> None:
    assert ("每次只写下面两种格式" in prompt(model=ModelChoice("openai", name))) is small


@pytest.mark.parametrize(("strategy", "form"), [("react", ""), ("tools", TOOLS_SUFFIX)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_can_be_chosen_by_name(variant: str, strategy: str, form: str) -> None:
    template = (FOLDER / f"agent_{variant}{form}.md").read_text("utf-8")
    told = (
        template.partition("---\n")[0].replace("$date", "2026-01-02").replace("$tools", "T").replace("$tool_names", "N")
    )
    assert prompt(variant, question="Who?", strategy=strategy).startswith(told.strip())


@pytest.mark.parametrize("variant", VARIANTS)
def test_for_tool_calling_it_needs_no_format_and_the_model_may_think_aloud(variant: str) -> None:
    text = prompt(variant, strategy="tools")
    assert "Action Input" not in text
    assert "留空" not in text
    assert any(words in text for words in ("写出思考", "think aloud", "写一句想法"))


def test_the_readers_choice_counts_under_tool_calling() -> None:
    """Through the real client: what the server is sent begins with the variant that was chosen."""
    with wired_agent(environ={"AGENT_STRATEGY": "tools"}) as world:
        for variant, words in (
            ("small", "用工具查找资料"),
            ("english", "You are Wenyuan"),
            ("chinese", "重视来源的中文研究助手"),
        ):
            world.ask(options=AnswerOptions(choices=Choices(prompt=variant)))
            assert words in world.server.requests[-1]["messages"][0]["content"]


def test_the_date_is_filled_in() -> None:
    assert "2026-01-02" in prompt()


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.md"
    path.write_text(GOOD, "utf-8")
    assert prompt(str(path)) == "规则 {braces} $5 T 之一 [N]\n问：你好吗\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (GOOD.replace("$question", ""), "缺少占位符 $question"),
        (GOOD.replace("$steps", "").replace("${tools}", ""), "缺少占位符 $steps、$tools"),
        (GOOD + " $nonsense", "无法识别的占位符 $nonsense"),
        (GOOD + " 5 $ 整", "写错的 $"),
        (GOOD.encode("gb18030"), "UTF-8"),
        (None, "不存在"),
    ],
)
def test_a_bad_file_is_reported_by_name_and_the_default_used(
    tmp_path: Path, content: str | bytes | None, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    path = tmp_path / "mine.md"
    if isinstance(content, str):
        path.write_text(content, "utf-8")
    elif content is not None:
        path.write_bytes(content)
    with agent(final("好。"), prompt=str(path)) as world:
        events = world.ask()
        assert "怎样写搜索词" in world.prompts[0]
    told = notice(events)
    assert "mine.md" in told.text
    assert said in told.text
    assert "mine.md" in caplog.text
    assert answer(events).text == "好。"
