"""Print the licence of every package that the app installs; with --check, whether NOTICE names those that ask for more
than to be mentioned.

    .venv/bin/python -m scripts.list_licences
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator
from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement

from core.base.paths import PROGRAM_DIR

PINS = ("requirements.txt", "requirements-ocr.txt", "requirements-embedding.txt", "constraints.txt")
PERMISSIVE = re.compile(r"\b(0?BSD|MIT|Apache|PSF|Python|Zlib|CC0)\b")


def main(arguments: Collection[str]) -> int:
    licences = {name: licence_of(name) for name in sorted(pinned_names(), key=str.lower)}
    if "--check" not in arguments:
        print(*(f"{name}: {licence}" for name, licence in licences.items()), sep="\n")
        return 0
    notice = (PROGRAM_DIR / "NOTICE").read_text("utf-8")
    missing = [name for name, licence in licences.items() if not is_permissive(licence) and not names(notice, name)]
    for name in missing:
        print(f"NOTICE does not name {name} ({licences[name]})", file=sys.stderr)
    return 1 if missing else 0


def pinned_names() -> Iterator[str]:
    for file in PINS:
        for line in (PROGRAM_DIR / file).read_text("utf-8").splitlines():
            if line and not line.startswith(("#", "-")):
                yield Requirement(line).name


def licence_of(name: str) -> str:
    """Return what a package says of its licence, where it says it most exactly."""
    try:
        about = distribution(name).metadata
    except PackageNotFoundError:
        return "not installed here"
    classifiers = (line.split(" :: ") for line in about.get_all("Classifier", []))
    approved = " AND ".join(words[2] for words in classifiers if words[0] == "License" and len(words) > 2)
    texts = (*about.get_all("License-Expression", []), approved, *about.get_all("License", []))
    return next((text.splitlines()[0] for text in texts if text), "unknown")


def is_permissive(licence: str) -> bool:
    """Return whether each licence that is named asks for nothing but to be mentioned; also where there is a choice."""
    return all(PERMISSIVE.search(part) for part in re.split(r" AND | OR |,|[()]", licence) if part.strip())


def names(notice: str, package: str) -> bool:
    return bool(re.search(rf"(?<![\w-]){re.escape(package)}(?![\w-])", notice))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
