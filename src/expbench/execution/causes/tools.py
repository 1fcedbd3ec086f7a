"""How the shell, signals and other languages show why a program failed.

A text is one line of output, from its beginning.
"""

from __future__ import annotations

import re

from expbench.execution.causes.python import ADDRESS
from expbench.execution.causes.rules import HINT, rule

_Q = "['\"‘“`]"
_E = "['\"’”`]"
_SEP = r"(?:^|: ?)"

SIGNALS = (
    rule(
        "memory",
        r"(?:^|: |\d )\s*Killed(?:\s{2,}|$)",
        r"(?i)oom[-_]kill|Out of memory: Killed process|out-of-memory handler",
        r"instance of 'std::bad_alloc'|OutOfMemoryError|JavaScript heap out of memory",
        r"fork: (?:retry: )?Cannot allocate memory|: Cannot allocate memory$|memory exhausted$",
        detail="memory",
    ),
    rule("other", r"fork: (?:retry: )?Resource temporarily unavailable", detail="processes"),
    rule("other", r"No space left on device|Disk quota exceeded|File too large$", detail="disk"),
    rule("other", r"(?:^|\s)Segmentation fault\b|SIGSEGV", detail="SIGSEGV"),
    rule("environment", r"(?:^|\s)Illegal instruction\b|SIGILL", detail="SIGILL"),
    rule("other", r"(?:^|\s)Bus error\b|SIGBUS", detail="SIGBUS"),
    rule("other", r"(?:^|\s)Aborted\s*(?:\(core dumped\)|$)", detail="SIGABRT", sure=HINT),
    rule("time", r"DUE TO TIME LIMIT|(?:^|\s)Terminated: .*time", detail="time"),
)

LANGUAGES = (
    rule(
        "missing_module",
        r"there is no package called [‘'\"](?P<what>[\w.]+)",
        r"^ERROR: (?:LoadError: )?ArgumentError: Package (?P<what>\w+) (?:not found|"
        r"\[?\w* ?does not have|is required)",
        r"^Can't locate (?P<what>\S+\.p[ml]) in @INC",
        r"Cannot find (?:module|package) ['\"](?P<what>(?![./])[^'\"]+)",
        r"(?:ClassNotFoundException|NoClassDefFoundError): (?P<what>[\w./$]+)|"
        r"error: package (?P<what>[\w.]+) does not",
        r"^lua\S*: .*module '(?P<what>[^']+)' not found|cannot load such file -- (?P<what>\S+)",
    ),
    rule(
        "missing_file",
        r"Cannot find module ['\"](?P<what>[./][^'\"]+)",
        r"Unable to access jarfile (?P<what>\S+)|Could not find or load main class (?P<what>\S+)",
        r"^Fatal error: cannot open file '(?P<what>[^']+\.[Rr])'",
    ),
    rule(
        "environment",
        r"namespace [‘'](?P<what>[\w.]+)[’'] .*(?:is being loaded|is already loaded), but",
        r"package [‘'](?P<what>[\w.]+)[’'] (?:is not available|was (?:built|installed) (?:under|"
        r"before))",
        r"compilation failed for package [‘'](?P<what>[\w.]+)|"
        r"installation of package [‘'](?P<what>[\w.]+)[’'] had",
        r"Unsatisfiable requirements detected for package (?P<what>\w+)",
        r"could not load library \"(?P<what>[^\"]+)|UnsupportedClassVersionError|"
        r"(?P<what>GLIBC\w*_[\d.]+)' not found",
    ),
    rule(
        "memory",
        r"cannot allocate (?:vector|memory)|OutOfMemoryError|vector memory exhausted|"
        r"heap out of memory",
        detail="memory",
    ),
    rule(
        "path",
        r"cannot open (?:compressed )?file [‘'](?P<what>[^’']+)[’']"
        r"(?:, probable reason)?.*No such file",
        r"opening file \"(?P<what>[^\"]+)\": No such file",
        r"[‘'\"](?P<what>[^’'\"]+)[’'\"] does not exist in current working directory",
        r"(?:FileNotFoundException|NoSuchFileException): (?P<what>[^\s(]+)|"
        r"ENOENT: .*'(?P<what>[^']+)'",
    ),
    rule(
        "syntax", r"^Error(?: in \w+\(.*?\))? ?: (?:unexpected |.*<text>:\d|.*\d+:\d+: unexpected)"
    ),
    rule(
        "syntax",
        r"^ERROR: (?:LoadError: )?(?:syntax:|ParseError)|^syntax error at (?P<what>\S+) line",
        r"^Error: unexpected |^Error: unexpected (?:symbol|input|string|end of input)",
    ),
    rule("syntax", r"^Error: (?:unexpected|incomplete)"),
    rule(
        "tensor",
        r"non-conformable (?:arguments|arrays)|DimensionMismatch|incorrect number of dimensions|"
        r"nonconformant arguments",
    ),
    rule(
        "network",
        r"cannot open URL '?\w+://(?P<what>[^/']+)|RequestError: .*https?://(?P<what>[^/\s]+)|"
        r"UnknownHostException: (?P<what>\S+)|(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED) (?P<what>\S+)",
    ),
    rule("missing_file", r"^Error in source\(|^ERROR: .*could not open file (?P<what>\S+)"),
    rule("permission", r"EACCES: .*'(?P<what>[^']+)'|AccessDeniedException: (?P<what>\S+)"),
    # What R says only after this line, as a warning, explains more than the error does.
    rule("other", r"^Error in .*cannot open the connection|^Execution halted", sure=HINT),
    rule(
        "other",
        r"^Error in (?P<what>\w+)\b|^Error: (?:object|"
        r"could not find function) [‘'\"](?P<what>[\w.]+)",
        r"^ERROR: (?:LoadError: )?(?P<what>\w+(?:Error|Exception|Mismatch))\b",
        r"^Exception in thread \"[^\"]+\" (?:[\w.]+\.)?(?P<what>\w+)|"
        r"^thread '.*' (?P<what>panicked)|"
        r"^(?P<what>panic): |^Uncaught (?P<what>\w+)|^(?P<what>(?:Type|Reference|Range)Error): ",
    ),
)

SHELL = (
    rule(
        "syntax",
        r"\\r'?: (?:command not found|No such file)|\^M: bad interpreter|\r: ",
        r"(?:[Ss]yntax error|unexpected EOF while looking)|: bad substitution|"
        r": unexpected (?:token|end of file)",
        r"conditional binary operator expected|: missing `\]'|parse error near|"
        r"here-document .* delimited by end",
        near=re.compile(r"^([^\s:]+\.\w+): "),
    ),
    rule(
        "missing_file",
        r"can't open (?:file|input) '?(?P<what>[^':]+\.\w+)'?: \[Errno 2\]",
        r"can't find '__main__' module in '(?P<what>[^']+)'",
        r"file or directory not found: (?P<what>\S+)",
        r"Could not open (?P<what>\S+\.\w+)|Can't open (?:perl script )?\"?(?P<what>[^\":]+)",
    ),
    rule("missing_file", r"^MissingInputException"),
    rule(
        "missing_module",
        r"(?:python[\d.]*|pypy\d?): No module named '?(?P<what>[\w.]+)",
        r"Error while finding module specification for '[\w.]+' \(\w+: No module named '"
        r"(?P<what>[\w.]+)",
        rf"^(?:Module ?Not ?Found ?Error|Import ?Error): No module named {_Q}?(?P<what>[\w.]+)",
    ),
    rule(
        "program",
        rf"{_SEP}(?P<what>[^:\s]+): (?:command )?not found\.?$",
        r"command not found: (?P<what>\S+)",
        rf"env: {_Q}?(?P<what>[\w./+-]+){_E}?: No such file",
        r"(?P<what>\S+): bad interpreter: No such file",
        r"^(?:\S*make)(?:\[\d+\])?: (?P<what>[^:\s]+): (?:Command not found|No such file)",
        r"exec: \"?(?P<what>[^\":]+)\"?: executable file not found",
        r"unable to find the specified executable file.*?(?P<what>\S*)$",
    ),
    rule("environment", r"(?P<what>[^:\s]+): cannot execute: required file not found"),
    rule("environment", r"(?P<what>[^:\s]+): (?:cannot execute binary file|Exec format error)"),
    rule(
        "gpu",
        r"^NVIDIA-SMI has failed|^No devices were found|Failed to initialize NVML",
        detail="CUDA",
    ),
    rule("environment", r"Cannot connect to the (?P<what>Docker) daemon"),
    rule("other", r"not enough slots available|Argument list too long", detail="processes"),
    rule(
        "permission",
        rf"(?:{_SEP}|['‘]){_Q}?(?P<what>[^:'’]+){_E}?: (?:[\w ]+: )?(?:Permission denied|"
        rf"Read-only file system|"
        r"Operation not permitted|Is a directory)$",
        r"sudo: (?P<what>.*) is not in the sudoers",
    ),
    rule(
        "path",
        rf"cannot (?:stat|access|open|create \w+) (?:file |directory )?{_Q}?(?P<what>[^'’:]+){_E}?"
        r"(?: for reading)?: No such file",
        r"(?:^|: )(?P<what>[^:]+): (?:[Cc]an(?:not|'t) open: )?No such file or directory\.?$",
        r"cannot find or open (?P<what>[^\s,]+)",
        r"Path ['\"](?P<what>[^'\"]+)['\"] does not exist",
        r"(?:No such file or directory|not found|does not exist):? ['\"](?P<what>[^'\"]+)['\"]",
    ),
    rule(
        "other",
        r"error: unrecognized arguments: (?P<what>\S+)|"
        r"the following arguments are required: (?P<what>[^,\s]+)",
        r"error: argument (?P<what>[^:\s]+)|[Nn]o such option:? (?P<what>\S+)|Missing (?:option|"
        r"argument) '?(?P<what>[^\s']+)",
        r"Invalid value for '?(?P<what>[^\s':]+)|(?:unrecognized|unknown|"
        r"invalid) option:? (?:-- )?['\"]?(?P<what>[\w-]+)",
        r"^error: a value is required for '(?P<what>[^\s']+)|unbound variable: (?P<what>\w+)|"
        r": (?P<what>\w+): unbound variable",
        r"Could not override '(?P<what>[^']+)'",
    ),
)

PRINTED_ERRORS = (
    rule("missing_module", rf"No module named {_Q}?(?P<what>[\w.]+)"),
    rule(
        "gpu",
        r"CUDA out of memory\. Tried|CUDA error|(?i:no (?:GPU|CUDA)[\w ]* (?:found|available|"
        r"detected))|"
        r"(?i:(?:CUDA|GPU) (?:is )?(?:not|un) ?available)|(?i:requires? an? (?:NVIDIA )?GPU)",
        detail="CUDA",
    ),
    rule(
        "network",
        r"ConnectionPool\(host='(?P<what>[^']+)'|Could not resolve host:? (?P<what>[\w.-]+)",
    ),
    rule(
        "network",
        r"Temporary failure in name resolution|Name or service not known|Network is unreachable|"
        r"Max retries exceeded|Connection (?:refused|timed out)|(?i:no internet|"
        r"check your (?:internet )?connection)",
        near=ADDRESS,
    ),
    rule("permission", rf"Permission denied(?:: {_Q}(?P<what>[^'\"]+))?"),
    rule(
        "path",
        rf"\[Errno 2\] [^:]+: {_Q}(?P<what>[^'\"]+)",
        rf"(?i)(?:not found|missing|does not exist|doesn't exist|no such file|not exist|"
        rf"cannot find|could not find|"
        rf"couldn't find|unable to (?:find|open)|"
        rf"cannot open)\b.*?{_Q}?(?P<what>[\w.~-]*/[\w./-]+|[\w-]+\.[A-Za-z]\w{{0,11}}\b)",
        rf"(?i){_Q}?(?P<what>[\w.~-]*/[\w./-]*\w|"
        rf"[\w-]+\.[A-Za-z]\w{{0,11}}\b){_E}?.*?(?:not found|missing|"
        r"does not exist|doesn't exist|no such file|not exist|could not be found)",
    ),
    rule(
        "checkpoint",
        r"(?i)(?:checkpoint|pre-?trained (?:model|weights)|model weights)\b.*(?:not found|"
        r"missing|not exist|n't exist)|"
        r"(?:no|missing|cannot find|could not find) (?:\w+ ){0,2}(?:checkpoint|weights)",
    ),
    rule(
        "input_data",
        r"(?i)\bdata(?:set| ?set| files?)?\b.*(?:not found|missing|not exist|n't exist|"
        r"not available|download)|"
        r"(?:no|missing|cannot find|could not find|download) (?:\w+ ){0,2}(?:dataset|data)\b",
    ),
)
"""For lines that a program prints about an error, and for its last words. All are ``PRINTED``."""
