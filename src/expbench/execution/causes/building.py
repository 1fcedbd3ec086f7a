"""How installers, compilers and downloads show why a program failed: what is done before an experiment.

A text is one line of output, from its beginning.
"""

from __future__ import annotations

import re

from expbench.execution.causes.python import ADDRESS
from expbench.execution.causes.rules import HINT, rule

_Q = "['\"‘“`]"
_E = "['\"’”`]"

INSTALLERS = (
    rule(
        "network",
        r"^(?:WARNING: Retrying|ERROR: Could not (?:install|find)).*host='(?P<what>[^']+)'",
        r"Temporary failure resolving '(?P<what>[^']+)'",
        r"^E: Failed to fetch \w+://(?P<what>[^/\s]+)/?.*(?:resolv|connect|timed out|refused|"
        r"40[37])",
        r"CondaHTTPError: .*<https?://(?P<what>[^/>]+)",
        r"^(?:CondaHTTPError|CondaSSLError|ProxyError)",
    ),
    rule(
        "network",
        r"^WARNING: Retrying \(Retry\(",
        r"^WARNING: There was an error checking the latest version",
        r"^ERROR: HTTP error 40[37] while getting",
        near=ADDRESS,
        detail="package index",
    ),
    rule("interactive", r"^CondaSystemExit|^Proceed \(\[y\]/n\)\?|\[Y/n\] Abort\.", detail="stdin"),
    rule(
        "permission",
        r"^E: Could not open lock file (?P<what>\S+).*Permission denied|are you root\?",
        r"^ERROR: Could not install packages due to an \w+: \[Errno 13\][^:]*: '(?P<what>[^']+)'",
        r"^(?:EnvironmentNotWritableError|NoWritable\w+Error|NotWritableError)",
    ),
    rule(
        "missing_file",
        r"^ERROR: Could not open requirements file: .*: '(?P<what>[^']+)'",
        r"^EnvironmentFileNotFound: '(?P<what>[^']+)'",
        r"^ERROR: Directory '(?P<what>[^']+)' is not installable",
        r"^ERROR: (?P<what>\S+) is not a valid editable requirement|"
        r"^ERROR: Invalid requirement: '(?P<what>[^'\s]+)",
    ),
    rule(
        "environment",
        r"^ERROR: Could not find a version that satisfies the requirement (?P<what>[^\s(;]+)",
        r"^ERROR: No matching distribution found for (?P<what>[^\s(;]+)",
        r"^ERROR: Cannot install "
        r"(?P<what>[\w.-]+).*because these package versions have conflicting",
        r"^ERROR: Package '(?P<what>[^']+)' requires a different Python",
        r"^ERROR: (?P<what>\S+) is not a supported wheel|"
        r"^ERROR: Failed building (?:editable )?for (?P<what>\S+)",
        r"^\s*ERROR: Failed building wheel for (?P<what>\S+)",
        r"^ERROR: Failed to build installable wheels.*\((?P<what>[^),]+)",
        r"^ERROR: Could not build wheels for (?P<what>[^\s,]+)",
        r"^E: Unable to locate package (?P<what>\S+)",
        rf"^E: Package {_Q}(?P<what>[^'’]+){_E} has no installation candidate",
        r"^EnvironmentNameNotFound: Could not find conda environment: (?P<what>\S+)",
        r"^EnvironmentLocationNotFound: Not a conda environment: (?P<what>\S+)",
        r"nothing provides (?:requested )?(?P<what>[^\s,]+)|"
        r"package (?P<what>\S+) .*does not exist \(perhaps",
        r"^(?:PackagesNotFoundError|ResolvePackageNotFound):.*?\s- (?P<what>\S+)",
        r"^(?:UnsatisfiableError|LibMambaUnsatisfiableError|PackagesNotFoundError|"
        r"ResolvePackageNotFound)\b",
        r"(?P<what>externally-managed-environment)|^ERROR: (?P<what>ResolutionImpossible)",
        r"^(?:CommandNotFoundError: Your shell|CondaError: Run )'?.*(?P<what>conda)\b",
        r"^E: (?:Unmet dependencies|Unable to correct problems|dpkg was interrupted|Sub-process)",
        r"Because (?P<what>[\w.-]+) was not found in the package registry",
        r"version solving failed|^ERROR: THESE PACKAGES DO NOT MATCH THE HASHES",
    ),
    rule(
        "environment",
        r"error: subprocess-exited-with-error|error: metadata-generation-failed|"
        r"error: legacy-install-failure",
        r"^\s*× |did not run successfully|No solution found when resolving",
        sure=HINT,
    ),
)

COMPILERS = (
    rule(
        "gpu",
        r"nvcc fatal\s*: Unsupported gpu architecture '(?P<what>[^']+)",
        r"(?P<what>CUDA_HOME|CUDA_TOOLKIT_ROOT_DIR|CMAKE_CUDA_COMPILER|cuda_runtime\.h|"
        r"cublas\w*\.h|cudnn\.h)\b"
        r".*(?:not set|not found|NOTFOUND|could be found|No such file)|"
        r"No (?P<what>CMAKE_CUDA_COMPILER)",
        r"Could NOT find (?P<what>CUDA\w*)|cannot find -l(?P<what>cuda\w*|cublas|cudnn|nvrtc)",
    ),
    rule(
        "environment",
        r":\d+(?::\d+)?: (?:fatal )?error: (?P<what>[^:\s]+): No such file or directory",
        r":\d+(?::\d+)?: fatal error: '(?P<what>[^']+)' file not found",
        r"undefined (?:reference to|symbol:?) [`'‘\"]?(?P<what>[^`'’\"\s(]+)",
        r"cannot find -l(?P<what>[\w+.-]+)",
        r"Could NOT find (?P<what>\w+)|package configuration file provided by \"(?P<what>\w+)\"",
        r"^(?P<what>CMake) [\d.]+ or higher is required",
        r"Package '?(?P<what>[\w+.-]+)'?,? (?:required by|was not found in the pkg-config)|"
        r"No package '(?P<what>[\w+.-]+)' found",
        r"^configure: error: .*?(?P<what>\w+) (?:is required|not found|is missing)",
        r"error: command '(?P<what>[^']+)' failed: No such file or directory",
        r"error: linker `(?P<what>\w+)` not found",
    ),
    rule(
        "missing_file",
        r"^(?:\S*make)(?:\[\d+\])?: \*\*\* No rule to make target [`'](?P<what>[^']+)'",
        r"^(?:\S*make)(?:\[\d+\])?: (?P<what>[^:]*[Mm]akefile[^:]*): No such file",
        r"CMake Error: The source directory \"(?P<what>[^\"]+)\"",
        r"error: could not find `(?P<what>Cargo\.toml)`",
        r"(?:error|gcc|g\+\+|cc|clang|gfortran|nvcc)\b.*: (?P<what>[\w./-]+\.(?:c|cc|cpp|cu|f90|"
        r"o)): No such file",
    ),
    rule("missing_file", r"make: \*\*\* No targets specified and no makefile", detail="Makefile"),
    rule(
        "syntax",
        r"^(?P<what>[\w./+-]+\.\w+)(?::\d+(?::\d+)?|\(\d+\)): (?:fatal )?error: ",
        r"^error(?:\[E\d+\])?: (?:expected|mismatched types|cannot find|unresolved|"
        r"could not compile)",
        r"^(?P<what>[\w./+-]+\.go):\d+:\d+: ",
    ),
    rule(
        "other",
        r"make.*\*\*\* .*Error \d+|ninja: build stopped|ld returned \d+ exit|"
        r"compilation terminated|"
        r"error: command .* failed with exit|CMake Error|^configure: error|Build FAILED",
        detail="build",
        sure=HINT,
    ),
)

DOWNLOADS = (
    rule(
        "network",
        r"[Cc]ould not resolve (?:host(?:name)?|proxy):? (?P<what>[\w.-]+)",
        rf"unable to resolve host address {_Q}(?P<what>[^'’]+)",
        r"[Ff]ailed to connect to (?P<what>[\w.-]+) port",
        r"^(?:fatal|ssh|git@\S+)[^:]*: .*(?:access|"
        r"connect to host) '?(?:https?://)?(?P<what>[\w.-]+)",
        r"^(?:Connecting|Resolving) to? ?(?P<what>[\w.-]+).* failed: ",
        r"^Resolving (?P<what>[\w.-]+) \(.*failed: ",
    ),
    rule(
        "network",
        r"^curl: \((?:5|6|7|28|35|52|56)\) |^curl: \(22\).*(?:403|407|5\d\d)",
        r"CONNECT tunnel failed|Proxy tunneling failed|ERROR 403: |Proxy request sent.*(?:403|407)",
        r"^wget: .*(?:unable|failed|bad address)|^rsync: .*|^aws: .*|"
        r"^Could not connect to the endpoint URL",
        r"^(?:ssh|scp|fatal|git): .*(?:Connection|Network|Host is unreachable|"
        r"Could not read from remote)",
        near=ADDRESS,
    ),
    rule(
        "input_data",
        r"(?P<what>kaggle\.json)|^(?:403|401) - (?:Forbidden|Unauthorized)|"
        r"Cannot retrieve the public link",
        r"ERROR 404: |^curl: \(22\).*404|^gdown\.\S*: ",
        near=re.compile(r"(https?://\S*[^\s.,:'\")])"),
    ),
    rule(
        "interactive",
        r"could not read (?P<what>Username|Password) for|terminal is required|"
        r"input device is not a TTY|"
        r"^sudo: a (?P<what>password) is required|Host key verification failed",
    ),
)
