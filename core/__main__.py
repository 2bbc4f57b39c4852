"""The entry of `python -m core` and `wenyuan`: runs the command line, and says what to do where it cannot be loaded."""

from __future__ import annotations

import sys

MISSING = (
    "缺少依赖 {name}。请用安装了依赖的 Python 运行：在源代码目录里先运行 make run，再用 .venv/bin/python -m core。"
)
FAILED, INTERRUPTED = 1, 130


def main() -> int:
    """Run a command and return its exit status."""
    try:
        from core.command_line import main as run_command

        return run_command()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "core":
            raise
        print(MISSING.format(name=error.name), file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:  # before the command could begin
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
