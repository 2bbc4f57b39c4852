"""The entry of `python -m core` and `wenyuan`: runs the command line, and says what to do where it cannot be loaded."""

from __future__ import annotations

import sys

MISSING = "缺少依赖 {name}。{cure}"
REINSTALL = "请用当初安装的工具（pipx、uv 或 pip）重新安装问源。"
RUN_THE_SCRIPT = "请在源代码目录里运行 {script}，它会先装好依赖。"
FAILED, INTERRUPTED = 1, 130


def main() -> int:
    """Run a command and return its exit status."""
    try:
        from core.command_line import main as run_command

        return run_command()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "core":
            raise
        print(_missing_text(error.name or ""), file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:  # before the command could begin
        return INTERRUPTED


def _missing_text(name: str) -> str:
    from core.base.paths import COMMAND, IS_INSTALLED

    return MISSING.format(name=name, cure=REINSTALL if IS_INSTALLED else RUN_THE_SCRIPT.format(script=COMMAND))


if __name__ == "__main__":
    sys.exit(main())
