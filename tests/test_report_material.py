"""What a report takes from a run's store: texts, and pictures that can hold no program."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_runs import QUICK, do, options_for

from expbench.paths import CachePaths
from expbench.report import material_of
from expbench.runs import Run
from expbench.sandboxes.host import SandboxHost
from expbench.schema import MadeFile

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 50


@pytest.fixture
def oracle(host: SandboxHost, cache: CachePaths, tmp_path: Path) -> Run:
    run, _ = do(options_for(tmp_path, cache, "oracle"))
    return run


def with_files(run: Run, files: dict[str, bytes]) -> list[MadeFile]:
    """Have the run's re-run have made these files."""
    outcome = run.outcomes[QUICK, 1]
    assert outcome.execution is not None
    blobs = {path: run.store.put(content) for path, content in files.items()}
    made = [
        MadeFile(path=path, size=blob.size, digest=blob.digest, content=blob)
        for path, blob in blobs.items()
    ]
    execution = outcome.execution.model_copy(update={"made": tuple(made)})
    run.outcomes[QUICK, 1] = outcome.model_copy(update={"execution": execution})
    return made


def test_only_real_pictures_are_shown_and_texts_as_texts(oracle: Run) -> None:
    """A page, or a drawing that can hold a script, under a picture's name is not taken for one."""
    files = {
        "plot.png": PNG,
        "page.png": b"<html><script>alert(1)</script>",
        "x.svg": b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        "big.png": PNG + b"0" * 300_000,
        "results.json": b'{"mse": 0.25}',
    }
    plot, page, drawing, big, results = with_files(oracle, files)
    found = material_of(oracle, oracle.ordered())
    assert set(found.pictures) == {plot.digest}
    assert found.pictures[plot.digest].startswith("data:image/png;base64,")
    assert found.outputs[results.digest] == '{"mse": 0.25}'
    assert not {page.digest, drawing.digest, big.digest} & set(found.outputs)


def test_of_a_long_text_head_and_tail_are_shown(oracle: Run) -> None:
    (log,) = with_files(oracle, {"log.txt": b"a" * 50_000 + b"end"})
    text = material_of(oracle, oracle.ordered()).outputs[log.digest]
    assert len(text) < 21_000
    assert "30003 characters left out" in text
    assert text.endswith("end")
