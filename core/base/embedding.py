"""Small sentence-embedding model on the local processor. It relates texts with the same meaning and other words.

Optional (`LEGAL_EMBEDDING`, the extra `embedding`). One model serves whoever asks. It is a folder with
`model.onnx` and `tokenizer.json`, or a name on the Hugging Face hub or its mirror in HF_ENDPOINT. bge-small-zh-v1.5 as
int8 takes 24 MB, and some 2 ms a sentence.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.base.errors import AppError
from core.base.extras import EMBEDDING

if TYPE_CHECKING:
    import numpy

    Vectors = numpy.ndarray[Any, numpy.dtype[numpy.float32]]

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
_HUB_FILES = (TOKENIZER, "onnx/model_quantized.onnx", "onnx/model_int8.onnx", "onnx/model.onnx")
MAX_TOKENS = 256
"""Number of tokens of a text that count. Nine of ten articles have fewer."""
CURE = "请检查语义模型的设置。"


class EmbeddingError(AppError):
    kind = "embedding"
    default_message = "语义模型现在不能用，一切照旧按字词。"


class Embedder:
    """Turns texts into unit vectors. The model is loaded on first use; any thread may call it."""

    def __init__(self, folder_or_name: str) -> None:
        self._folder_or_name = folder_or_name

    @cached_property
    def _files(self) -> tuple[Path, Path]:
        """Paths of the model and its tokenizer."""
        if not EMBEDDING.is_installed:
            raise EmbeddingError(EMBEDDING.missing, cure=EMBEDDING.cure)
        folder = Path(self._folder_or_name).expanduser()
        if folder.is_dir():
            return folder / MODEL, folder / TOKENIZER
        try:
            return _from_hub(self._folder_or_name)
        except Exception as error:
            raise EmbeddingError(f"得不到语义模型「{self._folder_or_name}」：{error}。", cure=CURE) from error

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the model file. Vectors of two models cannot be compared."""
        try:
            return hashlib.sha256(self._files[0].read_bytes()).hexdigest()[:12]
        except OSError as error:
            raise EmbeddingError(f"语义模型无法读取：{error}。", cure=CURE) from error

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        os.putenv("ORT_DISABLE_TELEMETRY", "1")  # read at its import: onnxruntime reports its use to its makers
        model, words = self._files
        try:
            import onnxruntime
            import tokenizers

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1  # the other cores answer other readers
            session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            tokenizer = tokenizers.Tokenizer.from_file(str(words))
        except Exception as error:  # onnxruntime raises many kinds of errors for a broken file
            raise EmbeddingError(f"语义模型无法载入：{error}。", cure=CURE) from error
        tokenizer.enable_truncation(MAX_TOKENS)
        tokenizer.enable_padding()
        return session, tokenizer

    @cached_property
    def width(self) -> int:
        return int(self.embed(["法"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text. Raises an EmbeddingError. With a model of small integers, the texts of one call change
        each other's rows a little (cosines by up to 0.02); one text alone always gets the same row."""
        session, tokenizer = self._loaded
        try:
            return _embed(session, tokenizer, texts)
        except Exception as error:  # onnxruntime again, for inputs or outputs of another kind
            raise EmbeddingError(f"语义模型没有算出结果：{error}。", cure=CURE) from error


def _embed(session: Any, tokenizer: Any, texts: Sequence[str]) -> Vectors:
    import numpy

    encoded = tokenizer.encode_batch(list(texts))
    fields = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
    wanted = [one.name for one in session.get_inputs() if one.name in fields]
    inputs = {name: numpy.array([getattr(one, fields[name]) for one in encoded], numpy.int64) for name in wanted}
    names = [one.name for one in session.get_outputs()]
    outputs = dict(zip(names, session.run(None, inputs), strict=True))
    rows = outputs.get("sentence_embedding")
    if rows is None:  # bge's sentence is its first token
        rows = outputs["last_hidden_state"][:, 0]
    lengths = numpy.linalg.norm(rows, axis=1, keepdims=True)
    return numpy.asarray(rows / numpy.maximum(lengths, 1e-9), numpy.float32)


def _from_hub(name: str) -> tuple[Path, Path]:
    import huggingface_hub

    folder = Path(huggingface_hub.snapshot_download(name, allow_patterns=list(_HUB_FILES)))
    model = next((folder / file for file in _HUB_FILES[1:] if (folder / file).is_file()), None)
    if model is None:
        raise FileNotFoundError("其中没有 ONNX 格式的模型")
    return model, folder / TOKENIZER
