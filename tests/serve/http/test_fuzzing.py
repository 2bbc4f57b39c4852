"""Schemathesis makes requests from the OpenAPI description, right ones and wrong ones. A real server answers each as described."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

import pytest
import schemathesis
from hypothesis import Phase, given, settings
from schemathesis import BaseSchema, Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from core.serve.http.operation import Operation
from core.serve.http.operations import OPERATIONS
from support import invented
from support.app_server import AppServer
from support.forked_server import forked_server
from support.guiding_cases import write_guiding_cases

EXAMPLES = 12
"""Right requests for each operation, and as many wrong ones. By hand, with hundreds of them: `st run URL`."""
CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    negative_data_rejection,
    unsupported_method,
]


REFUSED = {"checks": {"negative_data_rejection": {"expected-statuses": [400, 403, 404, 405, 413, 422]}}}
RIGHT = [(one, GenerationMode.POSITIVE) for one in OPERATIONS]
WRONG = [(one, GenerationMode.NEGATIVE) for one in OPERATIONS if one.request.model_fields]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    folder = tmp_path_factory.mktemp("data")
    invented.library(folder, invented.lawrefbook(folder / "laws"), write_guiding_cases(folder / "cases.jsonl"))
    with forked_server(API_ENABLED="true", SEARCH_PROVIDER_PRIORITY="bundled", DATA_DIR=str(folder)) as server:
        yield server


@pytest.fixture(scope="module")
def described(server: AppServer) -> BaseSchema:
    config = schemathesis.Config.from_dict(REFUSED)
    return schemathesis.openapi.from_url(f"{server.url}/api/v1/openapi.json", config=config)


@pytest.mark.parametrize(
    ("operation", "mode"), [*RIGHT, *WRONG], ids=lambda one: one.value if isinstance(one, Enum) else one.name
)
def test_every_request_is_answered_as_described(
    described: BaseSchema, operation: Operation, mode: GenerationMode
) -> None:
    requests = described[operation.path][operation.method].as_strategy(mode)

    @settings(max_examples=EXAMPLES, derandomize=True, database=None, phases=[Phase.generate])
    @given(requests)
    def send(case: Case[Any]) -> None:
        case.call_and_validate(checks=CHECKS)

    send()
