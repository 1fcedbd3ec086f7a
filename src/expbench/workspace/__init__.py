"""Workspaces and submissions: nothing leaks in, nothing is lost coming out."""

from expbench.workspace.finder import SourceFinder
from expbench.workspace.frozen import FrozenTree, freeze
from expbench.workspace.opening import (
    materialise,
    materialise_patched,
    open_view,
    write_whole,
)
from expbench.workspace.prepare import Prepared, mask
from expbench.workspace.proof import prove_clean
from expbench.workspace.reading import code_reader, read_files, shipped_documents
from expbench.workspace.repository.source import Source, find_clone, from_folder, from_git
from expbench.workspace.store import BlobStore
from expbench.workspace.submission.collect import Collected, collect
from expbench.workspace.submission.record import record_submission
from expbench.workspace.submission.response import Response, parse_response
from expbench.workspace.views import View

__all__ = [
    "BlobStore",
    "Collected",
    "FrozenTree",
    "Prepared",
    "Response",
    "Source",
    "SourceFinder",
    "View",
    "code_reader",
    "collect",
    "find_clone",
    "freeze",
    "from_folder",
    "from_git",
    "mask",
    "materialise",
    "materialise_patched",
    "open_view",
    "parse_response",
    "prove_clean",
    "read_files",
    "record_submission",
    "shipped_documents",
    "write_whole",
]
