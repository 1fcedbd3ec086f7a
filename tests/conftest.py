"""Fixtures that several test modules share: a cache of its own, sandboxes' host, the mini suite."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings
from workspaces import MASKED, Upstream, make_upstream

from expbench.dataset import Suite, load_suite
from expbench.errors import PrerequisiteError
from expbench.paths import CachePaths
from expbench.sandboxes import bubblewrap
from expbench.sandboxes.host import SandboxHost
from expbench.workspace import Prepared, mask, materialise

# No example is held to the clock: a busy machine is slow, and that says nothing of what is tested.
settings.register_profile("expbench", deadline=None)
settings.load_profile("expbench")


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> CachePaths:
    """A cache folder of this test session."""
    return CachePaths(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def host(cache: CachePaths) -> SandboxHost:
    """Makes real sandboxes; tests that need it are skipped where this machine refuses them."""
    try:
        bubblewrap.check()
    except PrerequisiteError as error:
        pytest.skip(f"no bubblewrap sandbox on this machine: {error}")
    return SandboxHost(cache)


@pytest.fixture(scope="session")
def mini() -> Suite:
    """The embedded suite."""
    return load_suite("mini")


@pytest.fixture(scope="session")
def release_folder() -> Path:
    """The folder of the released data set, where it is at hand."""
    beside = Path(__file__).parents[2] / "shared" / "expbench-data"
    folder = Path(os.environ.get("EXPBENCH_DATA", beside))
    if not folder.is_dir():
        pytest.skip("the released data set is not here: set EXPBENCH_DATA to its folder")
    return folder


@pytest.fixture(scope="session")
def release(release_folder: Path) -> Suite:
    """The released data set's suite."""
    return load_suite("expbench", release_folder)


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Upstream:
    """A repository with masked content in the pin and before and after it."""
    return make_upstream(tmp_path_factory.mktemp("upstream"))


@pytest.fixture(scope="module")
def prepared(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """That repository's pin, masked."""
    return mask(upstream.source(tmp_path_factory.mktemp("repos")), MASKED)


@pytest.fixture
def workspace(prepared: Prepared, tmp_path: Path) -> Path:
    """A copy of the masked tree, as an agent gets it."""
    materialise(prepared, tmp_path / "workspace")
    return tmp_path / "workspace"
