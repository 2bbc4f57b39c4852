"""Legal search with a sentence-embedding model: what it brings on public questions, and what it costs.

The vectors of all articles take a processor core some twenty minutes. They are kept in bench/library, so that this is spent once on a
machine; their cost is measured on a sample each time.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.legal import (
    DATA,
    everyday_questions,
    imported,
    opened,
    p95,
    public_questions,
    questions,
    read_jsonl,
    services,
)
from bench.rows import Row
from core.base.embedding import Embedder
from core.legal.imports.embed_library import embed_library
from core.legal.library.index import ARTICLES, LegalIndex, LegalLibrary
from core.legal.library.vectors import VectorFile

FOLDER = Path(__file__).with_name("library")
SETTING = "LEGAL_EMBEDDING"
NEEDS = f"the corpora (../shared/data/legal) and a model named by {SETTING}"
SAMPLE = 640

NOTE = """### How words and meaning are added

The best hit of the words counts 1, the worst of 150 by meaning 0 and the best 1.25; the sum is multiplied by what is known of the law
and the article (above). Measured with bge-small-zh-v1.5 as int8 (24 MB). On the same questions as above, recall@10, all with prior
and length, STARD's laws counted in the other half:

| fusion | STARD | LawBench 3-8 | both | LawBench 3-2 (control) |
| --- | --- | --- | --- | --- |
| words alone | 0.587 | 0.257 | 0.515 | 0.778 |
| cosines as they are, weight 1 (before) | 0.593 | 0.336 | 0.536 | 0.778 |
| reciprocal ranks (60) | 0.616 | 0.360 | 0.560 | 0.793 |
| shares, weight 1.25 | 0.632 | 0.343 | 0.569 | 0.793 |
| shares, weight 1.25, without prior and length | 0.580 | 0.305 | 0.520 | 0.793 |

The two halves of STARD give 0.624 and 0.640 with the weight that was chosen; the one's best weight is 1.25, the other's 1. The
instruction that bge's authors put before a question (为这个句子生成表示以用于检索相关文章：) lost 0.01 and is not used. All 61,087 articles took 19
minutes of one core of a machine that others used. The table is from before there were more everyday words and references ("Legal search").
"""


def rows() -> Iterator[Row]:
    model = os.environ.get(SETTING, "")
    if not (DATA.is_dir() and model):
        return
    embedder = Embedder(model)
    library = LegalLibrary(FOLDER, embedder=embedder)
    if not library.available:
        for _ in imported(library):
            pass
    embed_library(library)
    vectors = library.vectors_of(ARTICLES)
    assert vectors is not None
    yield from cost(opened(library), vectors)
    yield from public_questions(lambda: services(FOLDER, embedder), "words and meaning", 0.56)
    yield from everyday_questions(services(FOLDER, embedder), "words and meaning")
    yield from speed(library)


def cost(index: LegalIndex, vectors: VectorFile) -> Iterator[Row]:
    texts = [text for _, text in index.meanings()]
    sample = random.Random(7).sample(texts, SAMPLE)
    with tempfile.TemporaryDirectory() as folder:
        new = VectorFile(Path(folder), vectors.embedder)
        started = time.process_time()
        new.add(new.missing_texts(sample), lambda _: None)
        minutes = (time.process_time() - started) / len(sample) * len(texts) / 60
    yield Row(f"vectors of {len(texts):,} articles, processor time (from {SAMPLE} of them)", minutes, "min", 30)
    yield Row("their size", vectors.records().nbytes / 1e6, "MB", 35)


def speed(library: LegalLibrary) -> Iterator[Row]:
    index = opened(library)
    asked = questions(index, read_jsonl(DATA / "dev_queries.jsonl"), random.Random(7))
    library.similar_articles(asked[0], 10)  # the model is loaded, and the vectors are found, before the first question
    took = p95(lambda text: index.search(text, 10, library.similar_articles), asked)
    yield Row(f"full text and meaning over {index.counts()['articles']:,} articles, p95", took, "ms", 40)
