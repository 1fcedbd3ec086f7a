"""How Python's exceptions and its libraries' show why a program failed.

A text is the last line of a traceback, its type without the module, and the message's next lines:
``FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'``.
"""

from __future__ import annotations

import re

from expbench.execution.causes.rules import HINT, rule

ADDRESS = re.compile(r"(?:https?|ftp)://([\w.-]*\w)")
_SOURCE = re.compile(r'File "(?:[^"]*/)?([^"/]+)", line')
_Q = "['\"‘“`]"
_PROGRAM = "\x00started "
"""Put before a FileNotFoundError of a program that could not be started."""

_VERSIONED = (
    "numpy|torch|torchvision|torchaudio|torchtext|tensorflow|keras|jax|jaxlib|flax|pandas|scipy|sklearn|networkx|"
    "matplotlib|PIL|collections|inspect|asyncio|transformers|datasets|cv2|distutils|importlib|pkgutil|gym|gymnasium|"
    "numba|skimage|dgl|torch_geometric|optax|pytorch_lightning|lightning|time|ssl|cgi|typing|fractions|string|"
    "tokenizers|accelerate|peft|seaborn|statsmodels|nltk|spacy|gensim|xgboost|lightgbm|pkg_resources|setuptools"
)

WRAPPERS = re.compile(
    r"^(?:CalledProcessError|ChildFailedError|ProcessRaisedException|ProcessExitedException|"
    r"BrokenProcessPool|"
    r"BrokenPipeError|CellExecutionError|PapermillExecutionError|RayTaskError|SystemExit|"
    r"JobException|"
    r"RuntimeError: DataLoader worker \(pid\(s\) [\d, ]+\) exited unexpectedly|"
    r"RuntimeError: (?:\[\d+\] is setting up NCCL|NCCL communicator was aborted|"
    r".*Connection closed by peer)|"
    r"\w+: Caught \w+ in (?:DataLoader worker|replica)|RuntimeError: Error building extension|"
    r"DistBackendError|DistNetworkError|DistStoreError)"
)
"""Exceptions that only say that something else failed."""

_NOT_REACHED = (
    "Temporary failure in name resolution|Name or service not known|nodename nor servname|"
    "Failed to resolve|No address associated|getaddrinfo failed|Network is unreachable|No route to host|"
    "Connection refused|Connection reset|Connection aborted|Connection timed out|Remote end closed|"
    "Tunnel connection failed|Cannot connect to proxy|Max retries exceeded|timed out"
)

PYTHON = (
    rule("program", rf"^{_PROGRAM}.*{_Q}(?P<what>[^'\"]+){_Q}$"),
    rule("interactive", r"^EOFError: EOF when reading", r"^BdbQuit\b", detail="stdin"),
    rule("interactive", r"Inappropriate ioctl for device|'/dev/tty'", detail="terminal"),
    rule("interactive", r"reading from stdin while output is captured", detail="stdin"),
    rule("interactive", r"^StdinNotImplementedError|^Abort$", detail="stdin"),
    rule("interactive", r"^UsageError: .*(?:api_key not configured|wandb login)", detail="login"),
    rule("syntax", r"^(?:SyntaxError|IndentationError|TabError|E999 SyntaxError)\b", near=_SOURCE),
    # --- network ------------------------------------------------------------------------------
    rule(
        "network",
        r"ConnectionPool\(host=\\?'(?P<what>[^'\\]+).*(?:Max retries|timed out|Failed to)",
        r"couldn't connect to '(?:https?://)(?P<what>[^'/]+)",
        r"Cannot connect to host (?P<what>[^\s:]+)",
        r"HTTP(?:Status)?Error: .*\b(?:403|407|429|5\d\d)\b.* url:? '?https?://(?P<what>[^\s'/]+)",
        rf"(?:{_NOT_REACHED}).*https?://(?P<what>[^\s'\"/)>]+)",
        rf"https?://(?P<what>[^\s'\"/)>]+).*(?:{_NOT_REACHED})",
    ),
    rule(
        "network",
        r"^(?:LocalEntryNotFoundError|OfflineModeIsEnabled)|Couldn't reach .*\bHub\b|"
        r"find the requested files in the (?:local|disk) cache",
        near=ADDRESS,
        detail="huggingface.co",
    ),
    rule(
        "network",
        rf"^(?:\w*(?:Error|Exception|Timeout|gaierror|Retry)\b).*(?:{_NOT_REACHED})",
        r"^(?:gaierror|URLError|ConnectionError|ConnectTimeout|ReadTimeout|ProxyError|SSLError|"
        r"ConnectError|"
        r"MaxRetryError|NewConnectionError|NameResolutionError|ClientConnector\w*Error|"
        r"APIConnectionError|"
        r"Connection(?:Refused|Reset|Aborted)Error|RemoteDisconnected|IncompleteRead|"
        r"ContentTooShortError)\b",
        r"^HTTP(?:Status)?Error: .*\b(?:403|407|429|5\d\d)\b",
        r"^RuntimeError: Error downloading\b",
        near=ADDRESS,
    ),
    # --- graphics processors ------------------------------------------------------------------
    rule(
        "gpu",
        r"\b(?P<what>lib(?:cuda|cudart|cudnn|nvrtc|nccl|cublas|cusparse|cufft|curand|nvidia|"
        r"nvToolsExt)[\w.-]*)"
        r": cannot open shared object",
    ),
    rule("gpu", r"\b(?P<what>CUDA_HOME)\b.*not set"),
    rule(
        "gpu",
        r"CUDA out of memory",
        r"CUDA error\b",
        r"not compiled with CUDA",
        r"Found no NVIDIA driver|NVIDIA driver on your system|CUDA driver|no CUDA-capable device",
        r"No CUDA GPUs? (?:are|is) available",
        r"Attempting to deserialize object on (?:a )?CUDA device",
        r"cu(?:DNN|BLAS|FFT|SPARSE|SOLVER) error|CU(?:DNN|BLAS|SPARSE|SOLVER)_STATUS_",
        r"[Ii]nvalid device (?:id|ordinal)|invalid CUDA '?device",
        r"CUDA (?:runtime|unknown|kernel) (?:error|errors)|no kernel image is available",
        r"(?:HIP|MPS backend).*(?:error|out of memory)",
        r"Unknown backend:? '?(?:gpu|cuda)|Unable to initialize backend '(?:cuda|gpu)",
        r"(?i)^[\w.]*(?:Error|Exception)\b.*\b(?:no|without|requires?|needs?|"
        r"needed)\b[^.]{0,40}\b(?:GPUs?|CUDA)\b",
        r"(?i)^[\w.]*(?:Error|Exception)\b.*\b(?:GPUs?|CUDA)\b[^.]{0,40}"
        r"(?:not (?:available|found|detected|supported)|unavailable|(?:is|are) required)",
        r"NVML(?:Error|_\w+)|^AcceleratorError",
        r"OOM when allocating tensor.*GPU|RESOURCE_EXHAUSTED.*(?:GPU|cuda)",
        detail="CUDA",
    ),
    # --- memory, processes, disk --------------------------------------------------------------
    rule(
        "memory",
        r"^_?(?:Array)?MemoryError\b|^ArrowMemoryError",
        r"DefaultCPUAllocator:|can't allocate memory|Cannot allocate memory|bad_alloc",
        r"DataLoader worker .* killed by signal: (?:Killed|Bus error)|out of shared memory",
        r"SIGKILL\(-9\)|excessive memory usage",
        r"^ResourceExhaustedError|RESOURCE_EXHAUSTED: Out of memory|OutOfMemoryError",
        detail="memory",
    ),
    rule("other", r"No space left on device|Disk quota exceeded", detail="disk"),
    rule("other", r"Too many open files", detail="files"),
    rule("other", r"can't start new thread|Resource temporarily unavailable", detail="processes"),
    # --- modules and what does not fit --------------------------------------------------------
    rule(
        "missing_module",
        rf"No module named {_Q}?(?P<what>[\w.]+)",
        rf"Missing optional dependency {_Q}(?P<what>[^'\"]+)",
        r"requires (?:the )?(?P<what>[\w.-]+) (?:library|package)\b.{0,60}(?:not found|"
        r"not installed|install)",
        r"^DependencyNotInstalled: (?P<what>[\w.-]+)",
        rf"^DistributionNotFound: The {_Q}(?P<what>[\w.-]+)",
        r"^PackageNotFoundError: (?:No package metadata was found for )?(?P<what>[\w.-]+)$",
        r"^(?:ImportError|ModuleNotFoundError|RuntimeError|"
        r"OptionalDependencyNotAvailable)\b.*pip3? install "
        r"(?:-\S+ )*['\"`]?(?P<what>[A-Za-z][\w.-]*)",
        rf"^ImportError: (?:Please install |Could not import )(?:the )?{_Q}?(?P<what>[\w.-]+)",
        rf"^(?:ImportError|RuntimeError): {_Q}?(?P<what>[\w.-]+){_Q}? (?:is not installed|"
        rf"must be installed|is required)",
    ),
    rule("other", r"partially initialized module|attempted relative import", detail="import"),
    rule(
        "environment",
        rf"cannot import name .* from {_Q}(?P<what>[\w.]+){_Q} \([^)]*(?:(?:site|dist)-packages|"
        rf"/lib/python)",
        rf"cannot import name .* from {_Q}(?P<what>[\w.]+){_Q} \(unknown location",
        rf"^AttributeError: module {_Q}(?P<what>(?:{_VERSIONED})"
        rf"(?:\.[\w.]+)?){_Q} has no attribute",
        r"^AttributeError: '(?P<what>DataFrame|Series)' object has no attribute "
        r"'(?:append|iteritems|ix|as_matrix|mad|get_value|set_value|swaplevel_)'",
        r"(?P<what>[\w+.-]+\.so[.\d]*): (?:cannot open shared object|undefined symbol)",
        r"version `(?P<what>\w+_[\d.]+)' not found",
        r"(?P<what>[\w-]+)\s*(?:[<>=!~]=?\s*[\w.]+,?\s*)+is required .*but found",
        r"^(?:Contextual)?VersionConflict: \((?P<what>[\w.-]+)",
        r"(?P<what>numpy)\.\w+ size changed|using (?P<what>NumPy) 1|"
        r"compiled against.* (?P<what>numpy) is|"
        r"(?P<what>Numpy) is not available",
        r"(?P<what>JAVA_HOME) is not set|(?P<what>Java) gateway process exited",
        r"no (?P<what>\$?DISPLAY|display) name|(?P<what>Qt) platform plugin|"
        r"couldn't connect to (?P<what>display)",
        r"(?P<what>Ninja) is required to load|(?P<what>[\w+.-]+): compiler not found",
        r"^(?:NameNotFound|UnregisteredEnv|NamespaceNotFound|DeprecatedEnv|VersionNotFound)\b.*?"
        r"(?:Environment|Namespace)?:? ?`?(?P<what>[\w./-]+)`? (?:doesn't exist|not found|"
        r"is deprecated)",
        r"^TypeError: (?P<what>Descriptors) cannot",
        r"requires a different (?P<what>Python)|(?P<what>Python) (?:>=|version|"
        r"3\.\d+).*(?:required|is not supported)",
    ),
    rule("missing_module", rf"cannot import name .* from {_Q}(?P<what>[\w.]+){_Q}"),
    # --- checkpoints --------------------------------------------------------------------------
    rule(
        "checkpoint",
        r"^OSError: (?P<what>\S+) is not a local folder and is not a valid model identifier",
        r"(?:Can't|Cannot|Unable to) load (?:the )?(?:tokenizer|model|config\w*|weights|"
        r"feature extractor|"
        r"image processor|processor)s? .*?for '(?P<what>[^']+)'",
        r"no file named [\w., -]+ found in directory (?P<what>[^\s,]+)",
        rf"\[E050\] Can't find model {_Q}(?P<what>[\w.-]+)",
        r"Failed to find any matching files for (?P<what>\S+)",
        r"Error\(s\) in loading state_dict for (?P<what>\w+)",
        r"(?i)^\w*(?:Error|Exception): .*\b(?:checkpoint|weights|state_dict|"
        r"pretrained model)\b.{0,80}?"
        r"(?:not found|does not exist|doesn't exist|missing|not available)(?:[^/\w]*(?:at|in|:) "
        r"['\"]?(?P<what>[\w./-]+))?",
        r"(?i)^\w*(?:Error|Exception): (?:no|could not find|cannot find|missing) (?:any |the |a )?"
        r"(?:checkpoint|weights|pretrained model)s?\b(?:[^/]*(?:at|in|"
        r":) ['\"]?(?P<what>[\w./-]+))?",
    ),
    rule(
        "checkpoint",
        r"PytorchStreamReader failed|SafetensorError|HeaderTooLarge|MetadataIncompleteBuffer|"
        r"Weights only load failed",
        r"^UnpicklingError: invalid load key",
        near=re.compile(r"['\"]([^'\"\s]+\.(?:pth?|ckpt|bin|safetensors|pkl|pickle))['\"]"),
    ),
    rule(
        "hub",
        r"^(?:RepositoryNotFoundError|EntryNotFoundError|RemoteEntryNotFoundError|GatedRepoError|"
        r"RevisionNotFoundError|HTTPError: 40[14]|HTTPStatusError: .*40[14])\b",
        near=re.compile(
            r"huggingface\.co/((?:datasets/)?[\w.-]+(?:/[\w.-]+)?)/(?:resolve|tree|raw)"
        ),
    ),
    # --- input data ---------------------------------------------------------------------------
    rule(
        "input_data",
        rf"^DatasetNotFoundError: Dataset {_Q}(?P<what>[\w./-]+)",
        r"Couldn't find (?:a dataset script|any data file) at (?P<what>\S+?)[.,]?(?:\s|$)",
        r"(?i)Dataset not found(?: or corrupted)?(?:[^/\w]*(?:at|in|:) ['\"]?(?P<what>[\w./-]+))?",
        r"(?P<what>kaggle\.json)",
        r"Resource '?(?P<what>[\w/]+)'? not found",
        r"(?:Found|found) (?:0|no) (?:images|files|videos|samples|valid file)[^/]*(?:in|"
        r":) ?(?:subfolders of: )?"
        r"(?P<what>[\w./-]+)",
        r"Couldn't find any class folder in (?P<what>\S+?)\.?(?:\s|$)",
        r"num_samples should be a positive integer value",
        r"cannot identify image file '(?P<what>[^']+)'",
        r"File is not a (?:zip|gzip) file|not a gzip file|^(?:BadZipFile|BadGzipFile|"
        r"EmptyDataError)\b",
        r"^EOFError: Ran out of input|^UnpicklingError: pickle data was truncated|"
        r"end-of-stream marker",
        r"HTTP Error 404",
        r"!_?src\.empty\(\)",
        r"(?i)^\w*(?:Error|Exception|Exit): .*\bdata ?sets?\b.{0,80}?(?:not found|does not exist|"
        r"doesn't exist|"
        r"missing|not available|download)(?:[^/\w]*(?:at|in|:) ['\"]?(?P<what>[\w./-]+))?",
    ),
    # --- files --------------------------------------------------------------------------------
    rule(
        "permission",
        rf"^PermissionError\b[^:]*:[^:]*(?:: {_Q}(?P<what>.+?){_Q}(?: ->.*)?)?$",
        rf"(?:Permission denied|Read-only file system|"
        rf"Operation not permitted)(?:: {_Q}(?P<what>[^'\"]+))?",
    ),
    rule(
        "path",
        rf"^\w*(?:Error|Exception)\b.*\[Errno (?:2|20)\] [^:]+: {_Q}(?P<what>[^'\"]+)",
        r"[Uu]nable to (?:\w+ )?open file.*name = '(?P<what>[^']+)'",
        r"[Ff]ile not found:? (?:filepath=)?(?P<what>[^\s:]*[./]\S*)",
        r"(?:Error opening|does not exist:|File) '?(?P<what>[^\s':]+)'?:? (?:System error|"
        r"does not exist|not found)",
        rf"^(?:FileNotFoundError|NotADirectoryError|LibsndfileError|PathNotFound|"
        rf"MissingConfigException)\b.*?"
        rf"{_Q}(?P<what>[^'\"\s]*[./][^'\"\s]*){_Q}",
        r"^(?:FileNotFoundError|OSError|IOError)\b.*?(?P<what>[\w.~/-]*[\w]\.\w{1,12}\b|"
        r"[\w.~-]*/[\w./-]+).*"
        r"(?:not found|not exist|[Nn]o such file|missing)",
        r"^(?:FileNotFoundError|NotADirectoryError)\b.*?(?P<what>[\w.~-]*/[\w./-]+|"
        r"[\w-]+\.\w{1,12}\b)",
    ),
    rule("missing_file", r"^(?:FileNotFoundError|NotADirectoryError|MissingConfigException)\b"),
    # --- tensors ------------------------------------------------------------------------------
    rule(
        "tensor",
        r"shapes? (?:cannot be multiplied|mismatch|must match)|mat1 and mat2|[Ss]ize mismatch|"
        r"shape mismatch",
        r"[Ss]izes? of tensors? .*(?:must match|match)|must match the (?:existing )?size|"
        r"invalid for input of size",
        r"could not be broadcast|shapes? .* not aligned|mismatch in its core dimension|"
        r"cannot reshape array",
        r"dimensions .* must match|array dimensions|inhomogeneous shape|"
        r"setting an array element with a sequence",
        r"expected (?:scalar )?(?:type|dtype)|expected m1 and m2 to have the same dtype|"
        r"dtypes? .*(?:mismatch|to be the same)",
        r"Expected (?:all tensors to be on the same device|object of (?:scalar|device) type|\dD)|"
        r"same device",
        r"[Ee]xpected \d+-?[dD](?:imensional)?|[Ee]xpected .*(?:to have \d+ (?:channels|"
        r"dimensions|elements)|input\[)",
        r"does not require grad|inplace operation|backward through the graph a second time|"
        r"grad can be implicitly created only for scalar",
        r"^IndexError: (?:Target \d+ is out of bounds|index out of range in self|"
        r"Dimension out of range|"
        r"too many indices for (?:tensor|array)|The shape of the mask)",
        r"inconsistent numbers? of samples|has \d+ features, but \w+ is expecting|"
        r"Found array with (?:dim|\d+ sample)",
        r"[Ii]ncompatible shapes|Dimensions must be equal|incompatible with the layer|"
        r"contracting dimensions|"
        r"^InvalidArgumentError|^TypeError: (?:dot_general|add|sub|mul|cat) .*shape|"
        r"^_ArrayShapeError",
        r"can't convert \S+ device type tensor|only (?:one element|integer) tensors|"
        r"a Tensor with \d+ elements cannot",
        r"not implemented for '(?:Half|BFloat16|Long|Int|Bool|Float|Double|Byte|ComplexFloat)'|"
        r"_cpu\" not implemented for|"
        r"result type \w+ can't be cast|stack expects each tensor to be equal size",
        r"Input type \(.*\) and (?:weight|bias) type|einsum\(\)|einsum: |"
        r"Kernel size can't be greater",
        r"only tensors of floating point|tensor with dtype|tensors used as indices|"
        r"[Uu]nsupported (?:dtype|ScalarType)",
    ),
    rule(
        "time", r"^TimeoutExpired\b|timed out after [\d.]+ seconds|DUE TO TIME LIMIT", detail="time"
    ),
    rule("network", r"^TimeoutError\b", near=ADDRESS, sure=HINT),
)


def started(message: str) -> str:
    """The text for a program that Python could not start because it is not there."""
    return _PROGRAM + message
