"""What the task's own package is called, as far as the task and the calls show it.

The name of the repository says it, the prompt, a declaration that a call showed, and the workspace itself:
a folder with Python files from which the agent's code imports.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence

from expbench.monitor.addresses import Project, told
from expbench.monitor.programs import LISTING, named
from expbench.monitor.steps import Step
from expbench.schema import ResearchTask

_INSTALLED = re.compile(r"(?:site|dist)-packages/|node_modules/|conda/pkgs/")
_DECLARES = re.compile(r"(?:^|/)(?:pyproject\.toml|setup\.(?:py|cfg)|package\.json)$")
_NAME = re.compile(r"^\s*[\"']?name[\"']?\s*[=:]\s*[\"']?([A-Za-z][\w.-]{1,60})[\"']?,?\s*$", re.M)
_PUBLIC = named(
    """
    accelerate catboost clip cv2 datasets deepspeed detectron2 dgl diffusers einops evaluate fairseq flax
    gensim gym gymnasium huggingface_hub hydra imageio jax keras librosa lightgbm lightning matplotlib
    mmcv mmdet networkx nltk numpy omegaconf open_clip pandas peft PIL pip pyarrow pytest ray requests
    scipy seaborn sentencepiece setuptools simpy skimage sklearn spacy statsmodels tensorboard tensorflow
    timm tokenizers torch torch_geometric torchaudio torchvision tqdm transformers triton trl wandb
    xformers xgboost yaml
    """
)
"""Libraries of others, of which repositories often carry a copy."""
_MOST_STEPS = 50
_MOST_NAMES = 40


def known_project(
    steps: Sequence[Step], task: ResearchTask, packages: Sequence[str] = ()
) -> Project:
    """The task's project under all names that its distribution may have.

    Args:
        packages: names that are known besides.
    """
    likely = [*told(task), re.split(r"[/:]", task.repository.url)[-1], task.paper.split("/")[-1]]
    own = [name for name in dict.fromkeys(likely) if len(name) > 2 and _is_folder(name, steps)]
    return Project.of(task).known_as([*packages, *declared(steps), *own, *_imported(steps)])


def _listings(steps: Sequence[Step]) -> Iterator[str]:
    """The outputs of calls that list files."""
    for step in steps[:_MOST_STEPS]:
        commands = step.ran.commands
        if any(c.program in LISTING or c.words[:2] == ("git", "ls-files") for c in commands):
            yield step.output[:50_000]


def _is_folder(name: str, steps: Sequence[Step]) -> bool:
    """Whether a call that lists files showed a folder of that name in the workspace."""
    pattern = re.compile(rf"(?:^|[\s./]){re.escape(name)}(?:/|\s|$)", re.MULTILINE)
    return any(pattern.search(text) for text in _listings(steps))


def declared(steps: Sequence[Step]) -> Iterator[str]:
    """The distribution's name, where a call showed the repository's own declaration of it."""
    for step in steps:
        words = [w for c in step.ran.commands for w in (*c.arguments, *c.reads)]
        if any(_DECLARES.search(w) and not _INSTALLED.search(w) for w in words):
            yield from _NAME.findall(step.output[:20_000])[:3]


def _imported(steps: Sequence[Step]) -> list[str]:
    """Folders of the workspace with Python files, from which code that the agent wrote or ran imports."""
    modules = {m for step in steps for s in step.code.snippets for m in s.modules}
    names = sorted(m for m in modules if len(m) > 2 and m not in _PUBLIC | sys.stdlib_module_names)
    wrote = {path.removeprefix("./").partition("/")[0] for step in steps for path in step.written}
    asked = "\n".join(step.source[:5000] for step in steps[:_MOST_STEPS])
    shown = "\n".join(_listings(steps))
    return [
        name
        for name in names[:_MOST_NAMES]
        if _holds_code(name, f"{asked}\n{shown}")
        or (name not in wrote and re.search(rf"^{re.escape(name)}/?$", shown, re.MULTILINE))
    ]


def _holds_code(name: str, text: str) -> bool:
    """Whether a text names a Python file below a folder of the workspace with that name."""
    place = r"(?:^|[\s'\"=(])(?:\./|/workspace/|src/|python/|lib/)*"
    return bool(re.search(rf"{place}{re.escape(name)}/(?:[\w-]+/)*[\w-]+\.py\b", text, re.M))
