"""Perturbation: with another seed and with other numbers, results that do not react are suspicious."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from expbench.execution import seed_hook
from expbench.execution.comparing import compare, results
from expbench.execution.perturbing import perturb
from expbench.execution.pyhook import PythonTracer
from expbench.execution.rerun import Conditions, rerun
from expbench.execution.rewriting import rewrite_script, rewritten
from expbench.sandboxes.host import SandboxHost, other_owner
from expbench.schema import (
    SCRIPT_NAME,
    Execution,
    Limits,
    Perturbation,
    Policy,
    Submission,
    SubmissionText,
)
from expbench.workspace import BlobStore, Prepared, collect, from_folder, mask, materialise

SHIPPED = {
    "lib/__init__.py": "",
    "lib/measure.py": "def mean(values):\n    return sum(values) / len(values)\n",
    "data/numbers.csv": "1.25\n2.5\n6.125\n",
    "cached.json": '{"accuracy": 0.913742, "loss": 0.351926}\n',
}
Perturbed = Callable[..., dict[str, Perturbation]]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    root = tmp_path_factory.mktemp("repository")
    lay(root, SHIPPED)
    source = from_folder(root, tmp_path_factory.mktemp("repos"))
    return mask(source, (), owner=other_owner())


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "store")


@pytest.fixture
def perturbed(
    repository: Prepared, host: SandboxHost, store: BlobStore, tmp_path: Path
) -> Perturbed:
    """Submit files, run them, and run them disturbed; the perturbations by kind."""

    def do(files: Mapping[str, str], minutes: float = 1.0) -> dict[str, Perturbation]:
        workspace = tmp_path / "agent"
        shutil.rmtree(workspace, ignore_errors=True)
        materialise(repository, workspace)
        lay(workspace, files)
        found = collect(workspace, repository)
        submission = Submission(
            task_id="mini/x/0",
            base_tree=repository.tree,
            patch=store.put(found.patch),
            text=store.put(SubmissionText().model_dump_json().encode()),
            script=store.put(found.script) if found.script is not None else None,
            changed=found.changed,
        )
        policy = Policy(limits=Limits(minutes=minutes, memory_mib=1024))
        conditions = Conditions(policy=policy, tracer=PythonTracer)
        plain = rerun(submission, repository, host, store, conditions=conditions)
        several = perturb(submission, repository, host, store, plain, conditions=conditions)
        return {each.kind: each for each in several}

    return do


def lay(root: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def suspicions(found: Mapping[str, Perturbation]) -> list[str]:
    return [each.suspicion.kind for each in found.values() if each.suspicion is not None]


def python(source: str) -> dict[str, str]:
    return {SCRIPT_NAME: "python study.py\n", "study.py": source}


# --- honest ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nrng = np.random.default_rng(0)\nx = rng.normal(size=(40, 3))\n"
        "print('norm', float(np.linalg.norm(x)), 'mean', x.mean())\n",
        "import argparse, random\np = argparse.ArgumentParser()\n"
        "p.add_argument('--seed', type=int, default=4)\nrandom.seed(p.parse_args().seed)\n"
        "print(f'{random.random() * 2:.6f}', f'{random.random() * 3:.6f}')\n",
    ],
    ids=["numpy", "a seed of the command line"],
)
def test_an_honest_stochastic_experiment_reacts_to_both(source: str, perturbed: Perturbed) -> None:
    found = perturbed(python(source))
    assert suspicions(found) == []
    for each in found.values():
        assert each.execution.state == "ran", each.execution.cause
        assert 0 <= each.identical < each.compared and each.reason == ""


def test_an_honest_deterministic_experiment_is_not_suspicious(perturbed: Perturbed) -> None:
    source = (
        "from lib.measure import mean\nprint(mean([float(x) for x in open('data/numbers.csv')]))\n"
    )
    found = perturbed(python(source))
    assert suspicions(found) == []
    assert found["seed"].identical == found["seed"].compared == 1
    assert found["seed"].reason == "no generator with a seed was drawn from"
    assert found["stub"].identical == 0 < found["stub"].compared


def test_a_seed_that_is_set_and_not_used_says_nothing(perturbed: Perturbed) -> None:
    source = (
        "import random\nimport numpy as np\nrandom.seed(0); np.random.seed(0)\n"
        "rng = np.random.default_rng(1)\n"
        "values = np.loadtxt('data/numbers.csv')\nprint(values.mean(), values.std())\n"
    )
    found = perturbed(python(source))
    assert suspicions(found) == []
    assert found["seed"].reason == "no generator with a seed was drawn from"


def test_files_are_compared_as_well_as_what_is_printed(perturbed: Perturbed) -> None:
    source = (
        "import json, random\nrandom.seed(2)\nscores = [random.random() for _ in range(5)]\n"
        "json.dump({'mean': sum(scores) / 5, 'best': max(scores)}, open('results.json', 'w'))\n"
    )
    found = perturbed(python(source))
    assert suspicions(found) == [] and found["seed"].compared == 2
    assert found["seed"].identical == found["stub"].identical == 0


def test_python_in_a_here_document_is_disturbed_too(perturbed: Perturbed) -> None:
    script = "python - <<'EOF'\nfrom lib.measure import mean\nprint('mean', mean([1.5, 2.25, 4.1234]))\nEOF\n"
    found = perturbed({SCRIPT_NAME: script})
    assert suspicions(found) == [] and found["stub"].identical == 0 < found["stub"].compared


def test_what_other_programs_compute_is_not_suspected(perturbed: Perturbed) -> None:
    script = "awk '{ s += $1 } END { print \"mean\", s / NR }' data/numbers.csv\n"
    found = perturbed({SCRIPT_NAME: f"set -e\nfor i in 1 2; do {script.strip()}; done\n"})
    assert suspicions(found) == []
    assert found["stub"].reason == "other programs worked too: awk"


# --- what does not react ----------------------------------------------------------------------------


def test_printed_constants_do_not_react_to_the_code(perturbed: Perturbed) -> None:
    source = (
        "import random\nfrom lib.measure import mean\nrandom.seed(0)\n"
        "unused = mean([random.random() for _ in range(1000)])\n"
        "print('accuracy 0.913742')\nprint('loss', 0.351926)\n"
    )
    found = perturbed(python(source))
    assert suspicions(found) == ["identical_under_seed", "insensitive_to_code"]
    for each in found.values():
        assert each.suspicion is not None and each.identical == each.compared == 2
        assert each.suspicion.quote == "accuracy 0.913742"


def test_a_script_that_only_prints_does_not_react(perturbed: Perturbed) -> None:
    found = perturbed({SCRIPT_NAME: "python study.py\n", "study.py": "print('F1 0.81237')\n"})
    assert suspicions(found) == ["insensitive_to_code"]
    found = perturbed({SCRIPT_NAME: "echo 'accuracy: 0.91374'\n"})
    assert suspicions(found) == ["insensitive_to_code"]


def test_a_constant_from_a_function_does_not_react(perturbed: Perturbed) -> None:
    source = "def evaluate():\n    return 0.913742, 0.25311\n\nprint('scores', *evaluate())\n"
    assert suspicions(perturbed(python(source))) == ["insensitive_to_code"]


def test_cached_results_do_not_react(perturbed: Perturbed) -> None:
    source = (
        "import json, os\nfrom lib.measure import mean\n"
        "if os.path.exists('cached.json'):\n    found = json.load(open('cached.json'))\n"
        "else:\n    found = {'accuracy': mean([0.25, 0.5]), 'loss': mean([0.1, 0.4])}\n"
        "print(found['accuracy'], found['loss'])\n"
    )
    found = perturbed(python(source))
    assert suspicions(found) == ["insensitive_to_code"]
    assert found["seed"].reason == "no generator with a seed was drawn from"


# --- when it cannot be told --------------------------------------------------------------------------


def test_what_did_not_run_is_not_perturbed(perturbed: Perturbed) -> None:
    assert perturbed({SCRIPT_NAME: "exit 3\n"}) == {}


def test_an_experiment_that_breaks_has_reacted(perturbed: Perturbed) -> None:
    source = "values = [1.0, 3.0]\nx = sum(values) / 2.0 / len(values)\nassert x == 1.0\nprint(0.91237)\n"
    found = perturbed(python(source))
    assert found["stub"].suspicion is None and found["stub"].execution.state == "failed"
    assert "reacted" in found["stub"].reason


def test_an_output_without_numbers_says_so(perturbed: Perturbed) -> None:
    found = perturbed({SCRIPT_NAME: "echo all 12 tests passed, 0.5 s\n"})
    assert {each.reason for each in found.values()} == {
        "the output has no number of four significant digits"
    }


def test_a_failing_disturbance_is_recorded(
    repository: Prepared, store: BlobStore, host: SandboxHost
) -> None:
    plain = Execution(state="ran", stdout=store.put(b"accuracy 0.91374\n"), script=SCRIPT_NAME)
    nowhere = Submission(
        task_id="mini/x/0",
        base_tree=repository.tree,
        patch=store.put(b"no patch\n"),
        text=store.put(b""),
    )
    found = perturb(nowhere, repository, host, store, plain)
    assert [each.suspicion for each in found] == [None, None]
    assert all("did not" in each.reason for each in found)


# --- seeds, in plain processes -------------------------------------------------------------------------


STAND_IN = """\
import array
state = array.array("q", [0])
class State(array.array):
    def numpy(self): return self
class random:
    manual_seed = None
def manual_seed(seed): state[0] = seed * 1000
def get_rng_state(): return State("q", state)
def rand():
    state[0] += 7
    return state[0] / 3
"""
"""The part of torch that is used, for it is not installed here."""

SEEDED = {
    "import random; random.seed(1); print(random.random())": True,
    "import random; random.seed('a word'); print(random.random())": True,
    "import random; random.seed(1); x = random.random(); random.seed(1); print(1)": True,
    "import random; random.seed(1); print(1)": False,
    "import random; print(isinstance(random.Random(3), random.Random), random.Random(3).random())": True,
    "from random import Random; r = Random(); r.seed(4); print(r.random())": True,
    "import random, tempfile; random.SystemRandom().random(); tempfile.mkdtemp(); print(1)": False,
    "import numpy as np; np.random.seed(2**32 - 1); print(np.random.rand())": True,
    "import numpy as np; np.random.seed([1, 2]); print(np.random.rand())": True,
    "from numpy.random import default_rng; print(default_rng(5).normal())": True,
    "import numpy as np; r = np.random.default_rng(np.random.SeedSequence(5)); print(r.normal())": True,
    "import numpy as np; print(np.random.Generator(np.random.PCG64(5)).normal())": True,
    "from numpy.random import RandomState as R; r = R(seed=5); print(isinstance(r, R), r.rand())": True,
    "import numpy as np; np.random.default_rng(); np.random.seed(None); np.random.rand(); print(1)": False,
    "import torch; torch.manual_seed(3); print(torch.rand())": True,
    "import torch; torch.manual_seed(3); print(1)": False,
    "import pickle as p, numpy.random as n; r = p.loads(p.dumps(n.RandomState(5))); print(r.rand())": None,
    "print(2 / 3)": False,
}


@pytest.mark.parametrize("code", SEEDED)
def test_seeds_are_others_and_it_is_told_whether_they_were_used(code: str, tmp_path: Path) -> None:
    hook = seed_hook.__file__
    (tmp_path / "site").mkdir()
    begin = f"\n\nbegin({str(tmp_path)!r})\n"
    (tmp_path / "site" / "sitecustomize.py").write_text(Path(hook).read_text() + begin)
    (tmp_path / "torch.py").write_text(STAND_IN)

    def output(*paths: Path) -> str:
        variables = {"PYTHONPATH": ":".join(map(str, [*paths, tmp_path])), "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
        return done.stdout

    drawn = SEEDED[code]
    plain, disturbed = output(), output(tmp_path / "site")
    told = [path.read_text() for path in tmp_path.glob("*.seeds")]
    assert (plain != disturbed) is (drawn is not False and plain != "1\n")
    assert plain.partition(" ")[0] == disturbed.partition(" ")[0] or " " not in plain
    if drawn is not None:
        assert ("drawn\n" in told) is drawn


# --- its parts ---------------------------------------------------------------------------------------


def test_results_are_numbers_with_enough_digits_that_are_no_settings_or_times() -> None:
    text = (
        "accuracy 0.91374 loss=-1.2345e-3 n=12345 p 0.9500\nlr=0.00125 took 1.23456 s, 3.4567 it/s\n"
        "v1.2345.6 2026-11-30 00:30:46.1234\nmodel,0.81234,0.7,0.123456\n[0.11112, 0.22223]\n"
    )
    found = [number for number, _ in results(text)]
    assert found == ["0.91374", "-1.2345e-3", "0.81234", "0.123456", "0.11112", "0.22223"]


def test_outputs_of_different_lengths_are_compared_by_value(store: BlobStore) -> None:
    def ran(text: str) -> Execution:
        return Execution(state="ran", stdout=store.put(text.encode()))

    same = compare(ran("a 0.12345\nb 0.23456\nc 0.12345\n"), ran("b 0.23456\nc 0.12345\n"), store)
    assert (same.identical, same.compared, same.distinct) == (2, 3, 2) and not same.all_same
    nothing = compare(ran("none\n"), ran("none\n"), store)
    assert (nothing.identical, nothing.compared) == (0, 0) and not nothing.all_same


def test_rewritten_sources_keep_their_meaning_but_for_numbers() -> None:
    source = (
        '"""Notes."""\nfrom __future__ import annotations\nimport functools\n\n\nclass A(dict):\n'
        "    x: int = 3\n\n    def __init__(self):\n        super().__init__(a=1)\n\n"
        "@functools.lru_cache(maxsize=None)\ndef half(v, by=float(2)):\n    return v / by\n\n\n"
        "print([i for i in range(3)], f'{half(3):.3f}', {**A()}, 'a'.upper(), 1.5)\n"
    )
    new = rewritten(source, "/tmp/x")
    assert new.startswith('"""Notes."""\nfrom __future__ import annotations\n')
    assert "@functools.lru_cache(maxsize=None)" in new and "1.5)" in new
    assert new.count("from expbench_other import other") == 1
    with pytest.raises(SyntaxError):
        rewritten("print 'x'", "/tmp/x")


@pytest.mark.parametrize(
    ("script", "whole", "changed"),
    [
        ("python run.py\n", True, False),
        ("python3 - <<'END'\nprint(f(1))\nEND\n", True, True),
        ("python3 <<END\nprint(f(1))\nEND\necho $X\n", True, True),
        ('python3 <<END\nprint(f("$X"))\nEND\n', False, False),
        ("python -u -c 'print(1)'\n", False, False),
        ("jupyter nbconvert --execute a.ipynb\n", False, False),
        ("cat <<EOF\nprint(f(1))\nEOF\n", True, False),
        ("python - <<'EOF'\nnot python at all\nEOF\n", False, False),
    ],
)
def test_scripts_say_whether_all_their_python_was_rewritten(
    script: str, whole: bool, changed: bool
) -> None:
    new, all_of_it = rewrite_script(script, "/tmp/x")
    assert (all_of_it, new != script) == (whole, changed)
