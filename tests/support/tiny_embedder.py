"""A real ONNX model with a real tokenizer, small enough to be written here: a sentence is the mean of what its letters mean.

Letters of one group mean the same; every other letter means nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers

GROUPS, SHARE = 8, 16
WIDTH = GROUPS * SHARE
"""What a group means is spread over many components, as in real models: one alone would be cut off."""


def write_model(folder: Path, groups: Sequence[str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    letters = {"[UNK]": 0} | {letter: 1 + place for place, letter in enumerate("".join(groups))}
    table = numpy.zeros((len(letters), WIDTH), numpy.float32)
    for place, group in enumerate(groups):
        table[[letters[letter] for letter in group], place * SHARE : (place + 1) * SHARE] = 1.0
    onnx.save(_model(table), folder / "model.onnx")
    tokenizer = Tokenizer(models.WordLevel(letters, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def _model(table: numpy.ndarray) -> onnx.ModelProto:
    shape = ["batch", "tokens"]
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", "input_ids"], ["meant"]),
            helper.make_node("ReduceMean", ["meant", "axis"], ["sentence_embedding"], keepdims=0),
        ],
        "tiny",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, shape)],
        [helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", WIDTH])],
        [
            numpy_helper.from_array(table, "table"),
            numpy_helper.from_array(numpy.array([1], numpy.int64), "axis"),
        ],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    made.ir_version = 10
    return made
