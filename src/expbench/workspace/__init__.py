"""Workspaces and submissions: nothing leaks in, nothing is lost coming out."""

from expbench.workspace.collect import Collected, collect
from expbench.workspace.finder import SourceFinder
from expbench.workspace.prepare import Prepared, mask, materialise, materialise_patched, prove_clean
from expbench.workspace.reading import code_reader, read_files, shipped_documents
from expbench.workspace.response import Response, parse_response
from expbench.workspace.source import Source, find_clone, from_folder, from_git
from expbench.workspace.store import BlobStore
from expbench.workspace.whole import write_source

__all__ = [
    "BlobStore",
    "Collected",
    "Prepared",
    "Response",
    "Source",
    "SourceFinder",
    "code_reader",
    "collect",
    "find_clone",
    "from_folder",
    "from_git",
    "mask",
    "materialise",
    "materialise_patched",
    "parse_response",
    "prove_clean",
    "read_files",
    "shipped_documents",
    "write_source",
]
