"""From a task's text and the authors' code to what the task needs, by rule.

Every rule is a pattern with a meaning, tried on the task's own text first, then on the code that the
task's ground truth names. Nothing is run and nothing is guessed from the paper's name. The first place
that shows a need is its evidence. Where a rule is in doubt it says that a task needs *more*: a task is
called light only when nothing speaks against it, since a wrong ``lite`` wastes somebody's day.

Minutes are orders of magnitude, in four steps: a calculation (10), a model that is only evaluated (60),
one that is trained (240), one of a billion weights or on several GPUs that is trained (1440).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from expbench.dataset.holdings import API_NAMES, DATA_SETS, GATED_CODE, GATED_NAMES
from expbench.dataset.resources import Need, NeedKind, Resources
from expbench.schema import ResearchTask

QUOTE = 110
"""Characters of a quote."""

_GPU_TEXT = re.compile(
    r"\b(?:[A-Z]?\d?\s?GPUs?|CUDA|cuDNN|nvcc|NVIDIA|TPUs?|A100|H100|V100|A40|A6000|RTX[ -]?\w*\d{4}"
    r"|DeepSpeed|[Dd]istributed training|tensor[_ ]parallel\w*|3DGS|[Gg]aussian [Ss]platting"
    r"|NeRF\w*|NeuRodin)\b"
)
_OPTIONAL = re.compile(
    r"if (?:a |one )?(?:gpu |cuda )?(?:is |are )?(?:available|present|possible)|is_available|when available"
    r"|cpu ?(?:or|and|/|;)|; ?cpu|(?:or|and|/) ?(?:the )?cpu|cpu/gpu|gpu/cpu|optional"
    r"|without (?:a )?gpu|no gpu",
    re.IGNORECASE,
)
_GPU_CODE = re.compile(
    r"\.cuda\(|torch\.cuda\.(?!is_available|manual_seed|empty_cache|device_count)|\.to\(['\"]cuda"
    r"|torch\.device\(['\"]cuda['\":]|(?:device|default)\s*=\s*['\"]cuda"
    r"|CUDA_VISIBLE_DEVICES=\d|torchrun|deepspeed|accelerate launch"
    r"|nproc_per_node|torch\.distributed\.(?:launch|run)|--gres=gpu|jax\.devices\(['\"]gpu"
)
_GUARD = re.compile(r"is_available\(\)|device_count\(\)\s*[>=]|no[-_]cuda|use[-_](?:gpu|cuda)")
_BILLIONS = re.compile(r"(?<![\w.])(\d{1,3}(?:\.\d+)?)\s?[bB](?:illion)?(?![\w-]*(?:its?|ytes))\b")
_MODEL_NAME = re.compile(
    r"\b(?:llama|vicuna|mistral|mixtral|qwen|alpaca|openllama|mpt|falcon|baichuan|internlm|phi-3|gemma"
    r"|codegen|starcoder|codellama|llava|internvl|opt|pythia|roberta|bart|clip|vit|stable[ -]diffusion"
    r"|dinov2|resnet\d+|beit|swin|convnext|mamba|zipformer|moganet)(?:[-\s]?v?\d[\w.]*)?[-\w]*",
    re.IGNORECASE,
)
_LARGE_MODEL = re.compile(
    r"\b(?:llama|vicuna|mistral|mixtral|qwen|alpaca|openllama|mpt|falcon|baichuan|internlm|codegen|starcoder"
    r"|codellama|llava|internvl|stable[ -](?:video[ -])?diffusion|animatediff|megatron|gpt-j)"
    r"|(?<![\w.])\d{1,3}(?:\.\d+)?B(?=[-\s](?:model|param|preview|chat|instruct|\())",
    re.IGNORECASE,
)
_TRAINS = re.compile(
    r"\b(?:(?:pre-?|re)?train(?:s|ed|ing)?|fine-?tun\w+|epochs?|distill\w*)\b", re.IGNORECASE
)
_NOT_TRAINING = re.compile(
    r"pre-?trained|training[- ]free|training (?:set|split|data)|trained (?:model|checkpoint|weight)"
    r"|number of epochs|train(?:ing)?[-/ ](?:and[- ])?(?:val\w*|test\w*)|training-time",
    re.IGNORECASE,
)
_FRAMEWORK = re.compile(
    r"^\s*(?:import|from)\s+(?:torch|tensorflow|jax|flax|keras|mmcv|mmengine|transformers|timm)\b",
    re.M,
)
_NETWORK = re.compile(
    r"nn\.Module\b|from_pretrained\(|\bloss\.backward\(|Trainer\(|\.fit\(\s*model|state_dict\("
)
_CHECKPOINT = re.compile(r"from_pretrained\(|hf_hub_download\(|snapshot_download\(")
_PRETRAINED = re.compile(
    r"pre-?trained (?:\w+[- ]){0,3}(?:models?|checkpoints?|weights)\b", re.IGNORECASE
)
_STEPS = re.compile(
    r"\b\d+(?:\.\d+)?\s?(?:million|M)\s+(?:environment |training |time)?(?:frames|steps)", re.I
)
_RL = re.compile(
    r"\b(?:MAPPO|MASAC|MADDPG|QMIX|IPPO|ISAC|IDDPG|VDN|IQL|DQN|PPO|SAC|MAMuJoCo|max_n_frames)\b"
)
_BACKWARD = re.compile(r"\.backward\(\)|optimizer\.step\(\)")
_PROCESSES = re.compile(
    r"\b(?:(\d+)\s?[x×]?\s?(?:NVIDIA |RTX |A100 |V100 |H100 |A40 )*(?:\w+ )?GPUs)\b"
)
_MEMORY = re.compile(
    r"\b(\d{2})\s?G(?:i?B)?\b(?=[^.\n]{0,20}GPU)|(?:A100|H100|A6000|3090|4090)[^.\n]{0,8}?(\d{2})\s?GB?"
)


@dataclass(frozen=True)
class Place:
    """A text and its name: a field of the task, or a file of the repository."""

    name: str
    text: str
    code: bool = False

    def quote(self, match: re.Match[str]) -> tuple[str, str]:
        """(place, quote) of a match: for code the line number, and for both its line or part of it."""
        start = self.text.rfind("\n", 0, match.start()) + 1
        end = self.text.find("\n", match.end())
        line = self.text[start : end if end >= 0 else None]
        if len(line) > QUOTE:
            middle = max(0, match.start() - start - QUOTE // 3)
            line = line[middle : middle + QUOTE]
        where = f"{self.name}:{self.text.count(chr(10), 0, start) + 1}" if self.code else self.name
        return where, " ".join(line.split())


def task_places(task: ResearchTask) -> tuple[Place, ...]:
    """What the task says, ground truth included: it says most about hardware and data."""
    reference = task.reference
    fields = {
        "question": task.question,
        "method": task.method,
        "instructions": task.instructions,
        "usage": reference.usage,
        "design": "\n".join(item.text for item in reference.design),
        "requirements": "\n".join(step.text for step in reference.requirements),
    }
    return tuple(Place(name, text) for name, text in fields.items() if text)


def demands(task: ResearchTask, code: Mapping[str, str], documents: Mapping[str, str]) -> Resources:
    """Decide what a task needs.

    Args:
        code: the files that the task's ground truth names, with what they import of their own, by path.
        documents: the repository's README and files that declare packages, by path.
    """
    said = task_places(task)
    files = tuple(Place(path, text, code=True) for path, text in sorted(code.items()))
    shared = tuple(Place(path, text, code=True) for path, text in sorted(documents.items()))
    gpu = _gpu(task, said, files, shared)
    minutes, time = _minutes(said, files, bool(gpu), gpu[0].amount if gpu else None)
    needs = [
        *gpu,
        *_named("api_key", API_NAMES, [*said, *files]),
        *_named("gated_data", GATED_NAMES, said),
        *_named("gated_data", GATED_CODE, files),
        *_downloads(said, files),
        *time,
    ]
    return Resources(needs=tuple(needs), minutes=minutes, gpu_memory_gb=_memory(said))


def _first(pattern: re.Pattern[str], places: Iterable[Place]) -> tuple[Place, re.Match[str]] | None:
    for place in places:
        if (match := pattern.search(place.text)) is not None:
            return place, match
    return None


def _need(
    kind: NeedKind, what: str, place: Place, match: re.Match[str], amount: float | None
) -> Need:
    where, quote = place.quote(match)
    return Need(kind=kind, what=what, amount=amount, place=where, quote=quote)


def _gpu(
    task: ResearchTask, said: Sequence[Place], files: Sequence[Place], shared: Sequence[Place]
) -> tuple[Need, ...]:
    """One need: the first of text, code, large model, trained network that asks for a GPU."""
    count = max((float(m[1]) for p in said for m in _PROCESSES.finditer(p.text)), default=1.0)
    for what, place, match in _gpu_signs(task, said, files, shared):
        return (_need("gpu", what, place, match, min(count, 1024.0)),)
    return ()


def _gpu_signs(
    task: ResearchTask, said: Sequence[Place], files: Sequence[Place], shared: Sequence[Place]
) -> Iterator[tuple[str, Place, re.Match[str]]]:
    for place in said:
        for match in _GPU_TEXT.finditer(place.text):
            around = place.text[max(0, match.start() - 60) : match.end() + 60]
            if not _OPTIONAL.search(around):
                yield "GPU named in the text", place, match
    for place in files:
        shown = _GPU_CODE.search(place.text)
        if shown and not _GUARD.search(place.text):
            yield "GPU in the code", place, shown
    if found := _first(_LARGE_MODEL, said):
        yield "large model", *found
    network = _first(_NETWORK, files)
    large = _large_data(said)
    if large and (network or task.type == 3):
        yield "network on a large data set", *large
    if not files and (found := _first(_MODEL_NAME, said)):
        yield "neural network", *found
    if not files and not task.reference.requirements and (found := _trained(said)):
        hardware = re.compile(r"CUDA|GPU|cuda")
        if stated := _first(hardware, shared):
            yield "trained network; the repository asks for CUDA", *stated


def _trained(said: Sequence[Place]) -> tuple[Place, re.Match[str]] | None:
    for place in said:
        if place.name == "design":
            continue
        for match in _TRAINS.finditer(place.text):
            around = place.text[max(0, match.start() - 12) : match.end() + 18]
            if not _NOT_TRAINING.search(around):
                return place, match
    return None


def _large_data(said: Sequence[Place]) -> tuple[Place, re.Match[str]] | None:
    for known in DATA_SETS:
        if (known.gigabytes is None or known.gigabytes > 1) and (found := _first(known.name, said)):
            return found
    return None


def _named(
    kind: NeedKind, names: Mapping[str, re.Pattern[str]], places: Sequence[Place]
) -> Iterator[Need]:
    for what, pattern in names.items():
        if found := _first(pattern, places):
            yield _need(kind, what, *found, None)


def _downloads(said: Sequence[Place], files: Sequence[Place]) -> Iterator[Need]:
    for known in DATA_SETS:
        if found := _first(known.name, [*said, *files] if known.in_code else said):
            yield _need("download", known.label, *found, known.gigabytes)
    weights = [
        (float(match[1]), place, match)
        for place in said
        for match in _BILLIONS.finditer(place.text)
        if 0.05 <= float(match[1]) <= 700 and _LARGE_MODEL.search(place.text)
    ]
    if weights:
        # Two bytes a weight, the usual half precision of published checkpoints.
        size, place, match = max(weights, key=lambda weight: weight[0])
        yield _need("download", "model weights", place, match, round(2 * size, 1))
        return
    shown = _first(_LARGE_MODEL, said) or _first(_CHECKPOINT, files) or _first(_PRETRAINED, said)
    if shown:
        yield _need("download", "model weights", *shown, None)


def _minutes(
    said: Sequence[Place], files: Sequence[Place], gpu: bool, count: float | None
) -> tuple[float, tuple[Need, ...]]:
    """(minutes, evidence): the longest step that anything speaks for."""
    trained = _trained(said)
    framework = _first(_FRAMEWORK, files)
    large = _first(_LARGE_MODEL, said)
    if trained and gpu and (large or (count or 1) > 1):
        return 1440.0, (_need("time", "large or parallel training", *trained, 1440.0),)
    if found := _first(_STEPS, said):
        return 240.0, (_need("time", "long simulation", *found, 240.0),)
    if trained and (gpu or framework or not files):
        return 240.0, (_need("time", "training", *trained, 240.0),)
    known = any(data.name.search(place.text) for data in DATA_SETS for place in said)
    learns = _first(_RL, said) or (_first(_BACKWARD, files) if known else None)
    if learns:
        return 240.0, (_need("time", "training", *learns, 240.0),)
    if framework and known:
        return 60.0, (_need("time", "evaluation of a network on a data set", *framework, 60.0),)
    if gpu or large:
        return 60.0, ()
    return 10.0, ()


def _memory(said: Sequence[Place]) -> float | None:
    """Gigabytes of GPU memory, where the text says so."""
    found = [float(m[1] or m[2]) for place in said for m in _MEMORY.finditer(place.text)]
    return max(found, default=None)
