"""The child process that recognizes text in pictures: `python -m core.reading.recognition_worker`.

Like the worker that takes files apart (worker.py) it loads everything and then gives up what it could be misused for. It is
sent nothing but pixels. It needs more memory, so there is one of it, and only while there is something to recognize.
"""

from __future__ import annotations

import json
import logging
import socket
from dataclasses import asdict

from core.reading.confinement import confine_process
from core.reading.pictures import Picture
from core.reading.recognition_engine import RecognitionEngine
from core.reading.worker_protocol import Task, run_tasks, send_frame

MEMORY = 1_600_000_000
"""Limit of the address space in bytes, of which about half is in use."""


def main() -> None:
    """Load the models, enter the confinement, then recognize until the socket is closed."""
    logging.disable(logging.CRITICAL)
    parent = socket.socket(fileno=0)
    engine = RecognitionEngine()
    send_frame(parent, json.dumps(confine_process(MEMORY)._asdict()).encode())

    def recognize(pixels: bytes, task: Task) -> tuple[dict[str, object], bytes]:
        try:
            lines = engine.recognize(Picture(task["width"], task["height"], pixels))
            return {"lines": [asdict(line) for line in lines]}, b""
        except MemoryError:
            return {"reason": "complex"}, b""
        except Exception:  # the libraries stumble over pictures in ways of their own
            return {"reason": "broken"}, b""

    run_tasks(parent, recognize)


if __name__ == "__main__":
    main()
