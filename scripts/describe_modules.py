"""Write the module tree of docs/architecture.md from the modules' docstrings: `make modules`.

`--check` writes nothing and fails when the document differs.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from core.base.paths import PROGRAM_DIR

DOCUMENT = "docs/architecture.md"
BEGIN, END = "<!-- modules -->\n", "<!-- /modules -->"


def summary(path: Path) -> str:
    """Return the first sentence of a module's docstring."""
    words = " ".join((ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split("\n\n")[0].split())
    sentence, dot, _ = words.partition(". ")
    return sentence.rstrip(".") + "." if dot or words else ""


def tree(folder: Path, depth: int = 0) -> Iterator[str]:
    """Yield a line for a package, one for each of its modules, then the same for its sub-packages."""
    indent = "  " * depth
    yield f"{indent}- **{folder.name}/** {summary(folder / '__init__.py')}".rstrip()
    for path in sorted(folder.glob("*.py")):
        if path.name != "__init__.py":
            yield f"{indent}  - `{path.stem}` {summary(path)}".rstrip()
    for inner in sorted(path.parent for path in folder.glob("*/__init__.py")):
        yield from tree(inner, depth + 1)


def main(arguments: list[str], root: Path = PROGRAM_DIR) -> int:
    """Write the tree, or compare it with `--check`; return the exit status."""
    document = root / DOCUMENT
    before, _, rest = document.read_text("utf-8").partition(BEGIN)
    written = before + BEGIN + "\n".join(tree(root / "core")) + "\n" + END + rest.partition(END)[2]
    if "--check" not in arguments:
        document.write_text(written, "utf-8")
    elif document.read_text("utf-8") != written:
        print(f"{DOCUMENT} does not list the modules as they are: run `make modules`.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
