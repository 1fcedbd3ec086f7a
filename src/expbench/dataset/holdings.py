"""What the papers of the release use from outside: services, data on request, public downloads.

Sizes are of the usual distribution in decimal gigabytes, rounded, as their providers state them; they
only have to tell the small from the large. ``None`` means that the size depends on what is chosen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Holding:
    """A data set. ``in_code`` tells whether its name means the same in code."""

    label: str
    name: re.Pattern[str]
    gigabytes: float | None
    in_code: bool = True


def _any(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z])(?:{pattern})(?![A-Za-z])", re.IGNORECASE)


API_NAMES = {
    "OpenAI": _any(
        r"gpt-?4\w*(?:-[\w.]+)?|gpt-?3\.5(?:-[\w.]+)?|chat-?gpt|text-davinci-\d+|openai|OPENAI_API_KEY"
        r"|gpt-judge"
    ),
    "Anthropic": _any(r"import anthropic|anthropic\.\w+|anthropic[- _]api\w*|claude(?:-[\w.]+)?"),
    "Google": _any(
        r"palm-?2(?:-\w+)*|palm 2(?:-\w+)*|text-bison|gemini(?:-[\w.]+)?|google\.generativeai"
    ),
    "language model of the user's choice": _any(
        r"(?:llm|openai|your|an|the|azure|model) api[ _-]?keys?|api[_-]key|--api[_-]?key|litellm|autogen"
        r"|OAI_CONFIG_LIST|OptoPrime|opto\.optimizers|language model apis?|llm apis?"
    ),
    "ServiceNow instance": _any(r"SNOW_INSTANCE\w*|servicenow|workarena\S*|browsergym"),
    "Freeciv server": _any(r"freeciv(?:-web)?|civrealm"),
}
"""Services that need a key or an account, by provider."""

GATED_NAMES = {
    "Llama weights": _any(r"meta-llama/\S*|llama-?[23]\w*(?:-\d+b)?|llama [23]\w*|code-?llama\S*"),
    "ImageNet": _any(r"imagenet(?:-?\d*k|-?22k|-?21k|-?1k)?"),
    "Waymo Open Dataset": _any(r"waymo|womd"),
    "nuScenes": _any(r"nuscenes|nuplan"),
    "OpenLane-V2": _any(r"openlane(?:-?v2)?"),
    "OPV2V / DAIR-V2X": _any(r"opv2v(?:-h)?|dair-v2x|v2xset|v2x-sim"),
    "HEST-1k": _any(r"hest-?1k|hest(?: library| dataset|-bench\w*|-library)"),
    "pathology foundation models": _any(r"conch|gigapath|virchow|h-optimus\S*"),
    "ScanNet": _any(r"scannet"),
    "GigaSpeech / WenetSpeech": _any(r"gigaspeech|wenetspeech|aishell-?\d"),
    "access token": re.compile(
        r"huggingface-cli login|\bHF_TOKEN\b|use_auth_token|hf_token|HUGGING_?FACE_TOKEN",
        re.IGNORECASE,
    ),
    "DL3DV": _any(r"dl3dv(?:-10k)?"),
    "ADNI / medical on request": _any(r"mimic-(?:iii|iv|cxr)|uk biobank"),
}
"""Data and weights that must be asked for, as a task's text names them."""

GATED_CODE = {
    "Llama weights": re.compile(r"meta-llama/[\w.-]+"),
    "access token": GATED_NAMES["access token"],
    "HEST-1k": re.compile(r"MahmoodLab/[\w.-]+", re.IGNORECASE),
}
"""The same, as code loads them."""


DATA_SETS = (
    Holding("ImageNet", _any(r"imagenet(?!-?\d+[- ]?pretrain)(?:-?1k)?"), 150.0, in_code=False),
    Holding("ImageNet-21k", _any(r"imagenet-?2[12]k"), 1300.0, in_code=False),
    Holding("COCO", _any(r"(?:ms-?)?coco(?:-?stuff\w*|2017|2014)?"), 25.0, in_code=False),
    Holding("LVIS", _any(r"ov-lvis|lvis"), 25.0, in_code=False),
    Holding("ADE20K", _any(r"ade20k(?:-\d+)?|ade-\d+"), 1.5, in_code=False),
    Holding("LibriSpeech", _any(r"librispeech"), 60.0, in_code=False),
    Holding("GigaSpeech", _any(r"gigaspeech|wenetspeech"), 500.0, in_code=False),
    Holding("AISHELL-1", _any(r"aishell-?1?"), 15.0, in_code=False),
    Holding("nuScenes", _any(r"nuscenes|nuplan"), 400.0, in_code=False),
    Holding("Waymo Open Dataset", _any(r"waymo|womd"), 1000.0, in_code=False),
    Holding("OpenLane-V2", _any(r"openlane(?:-?v2)?"), 300.0, in_code=False),
    Holding("OPV2V / DAIR-V2X", _any(r"opv2v(?:-h)?|dair-v2x"), 100.0, in_code=False),
    Holding("CIFAR", _any(r"cifar[- ]?100?n?"), 0.2, in_code=False),
    Holding("MNIST", _any(r"(?:fashion-?)?mnist"), 0.1),
    Holding("GTSRB", _any(r"gtsrb"), 0.4),
    Holding("Tiny ImageNet", _any(r"tiny[- ]?imagenet"), 0.3, in_code=False),
    Holding("Clothing1M", _any(r"clothing-?1m"), 20.0, in_code=False),
    Holding(
        "HH-RLHF and safety text sets",
        _any(r"hh-rlhf|beavertails|civil[- ]comments?|anthropic[- ]harmless\w*"),
        1.0,
    ),
    Holding("ETT", _any(r"ett[hm][12s]?"), 0.1),
    Holding(
        "Electricity, Traffic, Solar, Weather",
        _any(r"electricity dataset|traffic dataset|solar-energy|ecl dataset"),
        0.5,
        in_code=False,
    ),
    Holding("MVTec AD", _any(r"mvtec(?:[- ]?ad)?"), 5.0, in_code=False),
    Holding("VisA", _any(r"visa dataset|visa"), 2.0, in_code=False),
    Holding("BTAD", _any(r"btad"), 3.0, in_code=False),
    Holding("WikiText-2", _any(r"wikitext-?2?"), 0.1),
    Holding(
        "C4 / The Pile / MiniPile / RedPajama",
        _any(r"c4 dataset|the pile|minipile|redpajama|slimpajama"),
        100.0,
        in_code=False,
    ),
    Holding(
        "GSM8K, MMLU, BBH and other question sets",
        _any(r"gsm8k|mmlu|bbh|big-?bench(?: hard)?|humaneval|mbpp"),
        0.2,
        in_code=False,
    ),
    Holding("UltraFeedback / UltraChat", _any(r"ultrafeedback|ultrachat"), 2.0, in_code=False),
    Holding("Alpaca", _any(r"alpaca[- ]gpt4|alpaca data\w*"), 0.1, in_code=False),
    Holding(
        "InfiniteBench / LongBench",
        _any(r"(?:\u221e|infinite-?)bench|longbench"),
        1.5,
        in_code=False,
    ),
    Holding("RepoBench", _any(r"repobench(?:-[rcp])?"), 1.5, in_code=False),
    Holding("LAION / DataComp", _any(r"laion\S*|datacomp\S*|cc3m|cc12m"), 1000.0, in_code=False),
    Holding(
        "video sets",
        _any(r"webvid\S*|ucf-?crime|ucf101|kinetics\S*|shanghaitech|dota dataset"),
        50.0,
        in_code=False,
    ),
    Holding("DL3DV", _any(r"dl3dv(?:-10k)?"), 500.0, in_code=False),
    Holding(
        "Mip-NeRF 360, Tanks and Temples",
        _any(r"mip-?nerf ?360|tanks (?:and|&) temples|tnt dataset|dtu"),
        20.0,
        in_code=False,
    ),
    Holding("ScanNet", _any(r"scannet(?:\+\+)?"), 1000.0, in_code=False),
    Holding(
        "medical volumes",
        _any(
            r"m3d-seg|ct-?org|flare22?|amos(?:22)?|totalsegmentator|btcv|msd dataset|simpleitk volumes"
        ),
        50.0,
        in_code=False,
    ),
    Holding("ZINC / ChEMBL", _any(r"zinc-?\d*|chembl|moses"), 2.0, in_code=False),
    Holding(
        "molecular dynamics trajectories",
        _any(r"atlas dataset|tetrapeptides?|md trajectories"),
        50.0,
        in_code=False,
    ),
    Holding(
        "fluid simulations",
        _any(r"pdearena|compressible navier-stokes|shallow water\w*|navier-stokes dataset"),
        50.0,
        in_code=False,
    ),
    Holding("HEST-1k", _any(r"hest-?1k|hest dataset|hest-bench\w*"), 1000.0),
    Holding("DrivAerNet", _any(r"drivaernet(?:\+\+)?"), 1000.0, in_code=False),
    Holding("MM-NIAH", _any(r"mm-niah|obelics"), 50.0, in_code=False),
    Holding(
        "The Multimodal Universe",
        _any(r"multimodal ?universe|legacy survey|desi|hsc|sdss|tess|gaia|plasticc|galaxy10\S*"),
        None,
        in_code=False,
    ),
    Holding("The Well", _any(r"the well|the_well|well dataset\w*|WellDataset"), None),
    Holding(
        "AgentBench environments",
        _any(r"webshop|mind2web|alfworld|freebase|virtuoso"),
        10.0,
        in_code=False,
    ),
    Holding(
        "offline reinforcement learning data", _any(r"d4rl|minari|roboset"), 5.0, in_code=False
    ),
)
"""Every public data set of the release's papers that a task may have to fetch."""
