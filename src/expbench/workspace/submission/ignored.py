"""What of an agent's tree stays out of the patch: what is rebuilt anyway, and what is large.

The clean re-run applies the patch to the base tree, and the script may read any small file that the
agent made. So the rules leave out only

- what a tool makes again: virtual environments, installed packages, caches, the folders of experiment
  trackers, lock files;
- what is large (more than ``LARGE`` bytes) and no source: model weights, archives, everything in
  folders of checkpoints or data.

They never touch source (code, scripts, configurations, notebooks, documents: by suffix and name), and
never a path of the base tree. A lock file of the base tree is therefore in the patch when it was
changed: the repository's own commands may read it, and the old one would no longer fit the manifest
beside it. A new lock file is made again from that manifest. Outputs in notebooks are left out of the
judges' view, not of the patch: the notebook is source, and a changed copy would be another file.
"""

from __future__ import annotations

import os

LARGE = 1024**2
"""Bytes from which weights, archives and data are left out."""

_CACHES = frozenset(
    b"__pycache__ node_modules .ipynb_checkpoints .pytest_cache .mypy_cache .ruff_cache .cache .tox "
    b".nox .hypothesis .triton .nv .npm .pnpm-store .gradle .Trash-0".split()
)
_PACKAGES = frozenset((b"site-packages", b"dist-packages"))
_ENVIRONMENT = frozenset(
    b"bin lib lib64 include share etc Scripts Lib Include pyvenv.cfg .gitignore .lock CACHEDIR.TAG".split()
)
_TRACKERS = frozenset((b"wandb", b"mlruns", b"lightning_logs"))
_LARGE_FOLDERS = frozenset(
    b"checkpoint checkpoints ckpt ckpts weights data dataset datasets".split()
)
_LOCKS = frozenset(
    b"uv.lock poetry.lock pipfile.lock pdm.lock pixi.lock conda-lock.yml package-lock.json "
    b"npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb cargo.lock gemfile.lock "
    b"composer.lock".split()
)
_WEIGHTS = frozenset(
    b".pt .pth .ckpt .safetensors .bin .h5 .hdf5 .onnx .gguf .ggml .tflite .keras .pb .msgpack".split()
)
_ARCHIVES = frozenset(b".zip .tar .gz .tgz .bz2 .xz .zst .7z .rar .whl .tbz2 .txz".split())
_CODE = frozenset(
    b".py .pyx .pxd .pyi .ipynb .sh .bash .zsh .fish .ps1 .bat .c .h .cc .cpp .cxx .hpp .hh .cu .cuh "
    b".java .js .jsx .ts .tsx .mjs .cjs .go .rs .rb .pl .pm .r .rmd .qmd .jl .m .scala .kt .swift "
    b".lua .sql .f .f90 .cl .metal .asm .s .proto .thrift .cmake .mk .gradle .tcl .v .sv .vhd .hs "
    b".ml .clj .ex .erl .dart .cs .php .css .scss .vue .j2 .jinja .patch .diff .nix .tf .gin".split()
)
_TEXTS = frozenset(
    b".yaml .yml .toml .ini .cfg .conf .json .json5 .jsonnet .env .properties .xml .html .md .rst "
    b".txt .tex .bib .adoc .org".split()
)
_SOURCE_NAMES = frozenset(
    b"makefile dockerfile license readme snakefile justfile procfile .gitignore .gitattributes "
    b".dockerignore .gitmodules".split()
)


def suffix(path: bytes) -> bytes:
    """The suffix of a path's name in lower case, with its dot; empty when it has none."""
    return os.path.splitext(path)[1].lower()


def is_source(path: bytes, size: int) -> bool:
    """Whether a file is source. Configurations and documents of more than ``LARGE`` bytes are data."""
    ending = suffix(path)
    if ending in _CODE:
        return True
    return size <= LARGE and (ending in _TEXTS or path.rpartition(b"/")[2].lower() in _SOURCE_NAMES)


def folder_reason(name: bytes, full: bytes) -> str:
    """Why all of a folder that the base tree has not is left out; empty when it is not.

    Args:
        full: its path on the host.
    """
    if name == b".git":
        return "git's own folder"
    if name in _CACHES:
        return "cache"
    if name in _PACKAGES:
        return "installed packages"
    if os.path.lexists(full + b"/conda-meta") or _is_environment(full):
        return "virtual environment"
    return ""


def file_reason(path: bytes, size: int) -> str:
    """Why a file that the base tree has not is left out; empty when it is not."""
    *folders, name = path.lower().split(b"/")
    if name in _LOCKS:
        return "lock file"
    ending = suffix(name)
    if ending in (b".pyc", b".pyo"):
        return "cache"
    if is_source(path, size):
        return ""
    if not _TRACKERS.isdisjoint(folders):
        return "records of an experiment tracker"
    if size <= LARGE:
        return ""
    if ending in _WEIGHTS:
        return "model weights"
    if ending in _ARCHIVES:
        return "archive"
    return "" if _LARGE_FOLDERS.isdisjoint(folders) else "data or checkpoint"


def _is_environment(full: bytes) -> bool:
    """Whether a folder is a virtual environment and nothing else: an agent's code may lie in one."""
    if not os.path.lexists(full + b"/pyvenv.cfg"):
        return False
    try:
        with os.scandir(full) as entries:
            return all(entry.name in _ENVIRONMENT for entry in entries)
    except OSError:
        return True
