"""Which distribution brings a module, where the names differ, and what is not on the index at all."""

from __future__ import annotations

import re

DISTRIBUTIONS = {
    "absl": "absl-py",
    "bs4": "beautifulsoup4",
    "clip": "openai-clip",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "fitz": "pymupdf",
    "flash_attn": "flash-attn",
    "git": "gitpython",
    "google": "google-generativeai",
    "grpc": "grpcio",
    "huggingface_hub": "huggingface-hub",
    "hydra": "hydra-core",
    "igraph": "python-igraph",
    "kornia": "kornia",
    "mpl_toolkits": "matplotlib",
    "ot": "pot",
    "PIL": "pillow",
    "pkg_resources": "setuptools",
    "pytorch_lightning": "pytorch-lightning",
    "rdkit": "rdkit",
    "ruamel": "ruamel-yaml",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "tensorboardX": "tensorboardx",
    "umap": "umap-learn",
    "yaml": "pyyaml",
    "autogen": "pyautogen",
    "opencood": "",
    "vllm": "vllm",
    "fastchat": "fschat",
    "pcdet": "",
    "tree": "dm-tree",
    "attr": "attrs",
    "Crypto": "pycryptodome",
    "lightning": "lightning",
    "skvideo": "scikit-video",
    "einops_exts": "einops-exts",
    "open_clip": "open-clip-torch",
    "simple_knn": "",
    "mamba_ssm": "mamba-ssm",
    "SimpleITK": "simpleitk",
    "MDAnalysis": "mdanalysis",
    "Bio": "biopython",
    "IPython": "ipython",
}
"""Distribution of a module; an empty name: it is built from source, no index has it."""

ACCELERATED = ("flash-attn", "apex", "triton", "xformers", "bitsandbytes", "mamba-ssm", "spconv",
               "deepspeed", "vllm", "auto-gptq", "transformer-engine", "cupy", "nvdiffrast",
               "tiny-cuda-nn", "tinycudann", "causal-conv1d", "mmcv-full", "torch-scatter")  # fmt: skip
"""Distributions that need a CUDA toolkit or device."""

PYTHON_CEILING = {
    "torch": (((1, 8), 8), ((1, 11), 9), ((1, 13), 10), ((2, 2), 11), ((2, 5), 12)),
    "numpy": (((1, 17), 7), ((1, 19), 8), ((1, 21), 9), ((1, 23), 10), ((1, 26), 11), ((2, 1), 12)),
    "scipy": (((1, 6), 9), ((1, 9), 10), ((1, 11), 11), ((1, 14), 12)),
    "pandas": (((1, 2), 8), ((1, 5), 10), ((2, 1), 11), ((2, 2), 12)),
    "scikit-learn": (((0, 24), 8), ((1, 0), 9), ((1, 2), 10), ((1, 3), 11), ((1, 5), 12)),
    "matplotlib": (((3, 3), 8), ((3, 5), 10), ((3, 8), 11), ((3, 9), 12)),
    "tensorflow": (((2, 5), 8), ((2, 8), 9), ((2, 12), 10), ((2, 16), 11)),
    "jaxlib": (((0, 4), 10), ((0, 4, 17), 11)),
}
"""``(below this version, newest Python 3.minor with wheels)``, from the projects' release notes."""


BRINGS = {
    "accelerate": ("numpy", "torch", "pyyaml", "huggingface-hub"),
    "datasets": ("numpy", "pandas", "tqdm", "huggingface-hub", "pyarrow"),
    "jax": ("numpy", "scipy", "jaxlib"),
    "flax": ("jax", "optax", "numpy", "pyyaml"),
    "lightning": ("torch", "numpy", "tqdm", "pyyaml"),
    "matplotlib": ("numpy", "pillow"),
    "opencv-python": ("numpy",),
    "pandas": ("numpy", "python-dateutil"),
    "pytorch-lightning": ("torch", "numpy", "tqdm", "pyyaml"),
    "scanpy": (
        "anndata",
        "numpy",
        "pandas",
        "scipy",
        "scikit-learn",
        "matplotlib",
        "tqdm",
        "umap-learn",
    ),
    "scikit-learn": ("numpy", "scipy", "joblib"),
    "scipy": ("numpy",),
    "seaborn": ("numpy", "pandas", "matplotlib"),
    "statsmodels": ("numpy", "scipy", "pandas"),
    "timm": ("torch", "torchvision", "pyyaml", "huggingface-hub"),
    "torchvision": ("torch", "numpy", "pillow"),
    "transformers": ("numpy", "tqdm", "pyyaml", "huggingface-hub", "requests"),
    "xarray": ("numpy", "pandas"),
}
"""Well-known distributions that a declared one brings along, so that their imports are covered."""


def canonical(name: str) -> str:
    """A distribution's name in the index's normal form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def distribution(module: str) -> str:
    """The distribution that brings a top-level module; empty when no index has it."""
    return DISTRIBUTIONS.get(module, canonical(module))


def numbers(version: str) -> tuple[int, ...]:
    """``1.13.1+cu117`` as (1, 13, 1)."""
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3])


def python_ceiling(name: str, version: str) -> int | None:
    """The newest minor version of Python 3 that a pinned distribution has wheels for."""
    for below, minor in PYTHON_CEILING.get(name, ()):
        if numbers(version) < below:
            return minor
    return None
