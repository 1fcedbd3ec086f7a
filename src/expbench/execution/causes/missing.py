"""What a path or program that is not there was: a checkpoint, input data, code, or a part of the system."""

from __future__ import annotations

import re

from expbench.schema import FailureKind

_WEIGHTS = re.compile(
    r"(?i)\.(?:pt|pth|pth\.tar|ckpt|safetensors|onnx|tflite|gguf|ggml|caffemodel|weights|keras|"
    r"pdparams|"
    r"params|meta|model|ckpt-\d+|mar)(?:\.index)?$"
)
_WEIGHT_WORDS = re.compile(
    r"(?i)(?:^|[/_.-])(?:checkpoints?|ckpts?|pre-?trained|weights?|pytorch_model|snapshots?)"
    r"(?=[/_.-]|\d|$)|(?:^|[/_-])(?:best|final|last|trained|saved)_?models?(?=[/_.-]|$)"
)
_PICKLED = re.compile(r"(?i)\.(?:pkl|pickle|joblib|bin|h5|hdf5|msgpack|pb|npz|npy)$")
_MODEL_WORDS = re.compile(
    r"(?i)(?:^|[/_.-])(?:models?|clf|classifier|net|encoder|decoder)(?=[/_.-]|\d|$)"
)
_CODE = re.compile(
    r"(?i)\.(?:py|pyx|ipynb|sh|bash|R|Rmd|jl|c|cc|cpp|cxx|h|hpp|cu|cuh|m|js|mjs|ts|java|jar|"
    r"scala|go|rs|pl|lua|"
    r"mk|cmake|ya?ml|toml|cfg|ini|conf|gin|patch|diff|md|rst|lock|so|whl|exe|out)$"
    r"|(?:^|/)(?:Makefile|Dockerfile|setup\.py|requirements[\w.-]*\.txt|"
    r"environment[\w.-]*\.ya?ml|config\.json|"
    r"package\.json|CMakeLists\.txt|Cargo\.toml)$|(?:^|/)(?:configs?|scripts?|src)$"
)
_RESULTS = re.compile(
    r"(?i)(?:^|[/_.-])(?:results?|outputs?|logs?|metrics?|figures?|figs?|plots?|preds?|"
    r"predictions?|scores?|"
    r"summary|history)(?=[/_.-]|\d|$)"
)
_DATA = re.compile(
    r"(?i)\.(?:csv|tsv|npz|npy|parquet|arrow|feather|jsonl?|ndjson|mat|h5|hdf5|h5ad|tfrecords?|"
    r"lmdb|mdb|nii|dcm|"
    r"png|jpe?g|gif|tiff?|bmp|wav|flac|mp3|mp4|avi|zip|tar|gz|tgz|bz2|xz|zst|7z|rar|xlsx?|ods|"
    r"dat|data|xml|arff|"
    r"pkl|pickle|joblib|libsvm|svm|vocab|mtx|graphml|gml|edgelist|edges|nc|sqlite3?|db|rds|rda|"
    r"rdata|fasta|fa|"
    r"vcf|bam|ply|obj|stl|pcd|xyz|pdb|sdf|smi|txt|test|train|bpe)(?:\.(?:gz|bz2|xz|zst))?$"
    r"|-ubyte$"
)
_DATA_WORDS = re.compile(
    r"(?i)(?:^|[/_.-])(?:data|datas?ets?|raw|corpus|corpora|inputs?|images?|train|test|"
    r"val(?:id(?:ation)?)?|splits?|"
    r"annotations?|labels?|e?mnist|fashion-?mnist|kmnist|cifar-?100?|imagenet|svhn|celeba|coco|"
    r"voc(?:20\d\d)?|"
    r"cityscapes|kitti|shapenet|modelnet|glue|superglue|squad|imdb|wikitext|ptb|cora|citeseer|"
    r"pubmed|ogbn?|"
    r"movielens|ml-\d+[mk]|librispeech|uci|kaggle|stl10|tiny-imagenet|omniglot|ETT[hm]\d|"
    r"electricity|traffic)"
    r"(?=[/_.-]|\d|$)"
)
_SYSTEM = re.compile(
    r"bin/activate|conda\.sh$|(?:^|/)(?:ana|mini)conda|^/(?:usr|lib|lib64|etc|bin|sbin|proc|sys)/|"
    r"(?:^|/)lib[\w+-]+\.so[.\d]*$|(?:^|/)\.?venv/"
)
_DEVICE = re.compile(r"^/dev/(?:nvidia|dri|kfd)|nvidia|/cuda(?:-[\d.]+)?(?:/|$)")
_GPU_PROGRAMS = {"nvidia-smi", "nvcc", "rocm-smi", "nsys", "ncu", "nvidia-cuda-mps-control"}
_SCRIPT = re.compile(r"^\.{1,2}/|/.*/|\.(?:sh|bash|py|pl|R|jl|rb)$")


def path_kind(path: str) -> FailureKind:
    """The kind of failure that a missing file or folder is."""
    path = path.replace("\\", "/").rstrip("/")
    if _DEVICE.search(path):
        return "gpu"
    if path == "/dev/tty":
        return "interactive"
    if _WEIGHTS.search(path):
        return "checkpoint"
    if _CODE.search(path):
        return "environment" if _SYSTEM.search(path) else "missing_file"
    if _WEIGHT_WORDS.search(path) or (_PICKLED.search(path) and _MODEL_WORDS.search(path)):
        return "checkpoint"
    if _RESULTS.search(path):
        return "missing_file"
    if _DATA.search(path):
        return "input_data"
    if _SYSTEM.search(path):
        return "environment"
    return "input_data" if _DATA_WORDS.search(path) else "missing_file"


def program_kind(name: str) -> FailureKind:
    """The kind of failure that a command that is not found is: a script of the code, or a tool."""
    if name.rpartition("/")[2] in _GPU_PROGRAMS:
        return "gpu"
    return path_kind(name) if _SCRIPT.search(name) else "environment"


def hub_kind(address: str) -> FailureKind:
    """The kind of a thing that is missing on a model hub, by its address."""
    return "input_data" if "dataset" in address.lower() else "checkpoint"
