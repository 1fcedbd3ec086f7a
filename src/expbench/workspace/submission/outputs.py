"""Which files are output, told by their names: for the judges' view, and for the clean re-run.

The judges' view leaves out all that is no source (:mod:`.view`). The clean re-run sets aside less, only
what looks like results of an experiment: a script may need any other file that the agent made.
"""

from __future__ import annotations

import re

from expbench.schema import RESPONSE_NAME, SCRIPT_NAME
from expbench.workspace.submission.ignored import suffix

OUTPUT_SUFFIXES = frozenset(
    b".log .csv .tsv .out .err .dat .jsonl .ndjson .npy .npz .pkl .pickle .joblib .pt .pth .ckpt "
    b".safetensors .onnx .gguf .keras .tflite .h5 .hdf5 .parquet .arrow .feather .mat .rds .rdata .db "
    b".sqlite .sqlite3 .png .jpg .jpeg .gif .bmp .webp .tif .tiff .ico .pdf .eps .svg .mp3 .mp4 .avi "
    b".wav .zip .gz .tgz .bz2 .xz .zst .7z .tar .whl .bin .so .o .a .dll .dylib .exe .class .jar .pyc "
    b".pyo .lock .lockb .pid .prof".split()
)
"""No source, whatever the name says."""

OUTPUT_WORDS = frozenset(
    b"result results output outputs log logs figure figures plot plots metric metrics summary measured "
    b"stdout stderr nohup wandb mlruns".split()
)
"""A text with one of these in its name or a folder's is output."""

SETTING_WORDS = frozenset(
    b"config configs configuration setting settings schema template prompt prompts readme "
    b"requirements".split()
)
"""A text with one of these in its name is source."""

TEXTS = frozenset((b".json", b".txt", b".md", b".html", b".xml", b".yaml", b".yml"))
"""Texts that may be source or output."""

_NUMBERS = frozenset(
    b".npy .npz .pkl .pickle .h5 .hdf5 .parquet .arrow .feather .mat .rds .rdata".split()
)
_RESULT_SUFFIXES = frozenset(
    b".log .out .err .csv .tsv .jsonl .ndjson .png .jpg .jpeg .gif .bmp .webp .tif .tiff .pdf .eps "
    b".svg".split()
)
_LOGS = frozenset((b".log", b".out", b".err"))
_RESULT_WORDS = OUTPUT_WORDS | frozenset(b"score scores pred preds prediction predictions".split())
_WEIGHTS = frozenset(
    b".pt .pth .ckpt .safetensors .onnx .gguf .keras .tflite .so .o .a .dll .dylib .exe .class .jar "
    b".whl".split()
)
_LIKELY_WORDS = frozenset(
    b"eval evals evaluation accuracy accuracies loss losses history report reports table tables".split()
)
_INPUT_WORDS = frozenset(
    b"data dataset datasets input inputs corpus raw vocab vocabulary label labels queries questions ids "
    b"index indices mapping params grid hyperparameters sample samples subset synthetic features assets "
    b"images weights".split()
)
_PART_WORDS = frozenset(b"train test valid validation val dev split splits fold folds".split())
_WORDS = re.compile(rb"[^a-z0-9]+")


def words_of(path: bytes) -> tuple[frozenset[bytes], frozenset[bytes]]:
    """The words of a file's name, without its suffix, and of its folders, in lower case."""
    folder, _, name = path.lower().rpartition(b"/")
    ending = suffix(name)
    stem = name[: -len(ending)] if ending else name
    return frozenset(_WORDS.split(stem)), frozenset(_WORDS.split(folder))


def looks_like_result(path: bytes) -> bool:
    """Whether a file that came with a submission looks like a result of its experiment.

    Code and settings never do. A word such as ``metrics`` in the name or a folder's decides for texts, tables
    and arrays; without one, logs, tables and pictures do unless a word says that they are input
    (``data/pairs.csv``). The response does: its conclusion states the results.
    """
    if path == RESPONSE_NAME.encode():
        return True
    if path == SCRIPT_NAME.encode():
        return False
    ending = suffix(path)
    name, folders = words_of(path)
    possible = ending in TEXTS or ending in _NUMBERS or ending in _RESULT_SUFFIXES or not ending
    if name & SETTING_WORDS or not (possible or b".tfevents." in path.lower()):
        return False
    words = name | folders
    if words & _RESULT_WORDS or any(b"result" in word for word in name):
        return True
    if words & _INPUT_WORDS:
        return False
    if name & _LIKELY_WORDS:
        return True
    if ending in _LOGS:
        return True  # train.log is no part of the data
    return not words & _PART_WORDS and (ending in _RESULT_SUFFIXES or b".tfevents." in path.lower())


def may_be_result(path: bytes) -> bool:
    """Whether a file may be a result by its suffix and no word says that it is input or a setting."""
    ending = suffix(path)
    name, folders = words_of(path)
    possible = ending in TEXTS | _NUMBERS | OUTPUT_SUFFIXES - _WEIGHTS or not ending
    said = (name | folders) & (_INPUT_WORDS | SETTING_WORDS)
    return possible and not said and path != SCRIPT_NAME.encode()
