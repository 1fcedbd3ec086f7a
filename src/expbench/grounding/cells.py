"""A number of a re-run's output with its place and the names that it stands under."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from expbench.grounding.figures import Figure
from expbench.grounding.names import Token, label_tokens

Label = tuple[str, str]
"""A name and the role that it has: ``row:method``, ``column``, ``key``, ``lead``, ``title``."""

SETTING = re.compile(
    r"(?:^|[^a-z])(?:lrs?|learning[ _-]?rates?|seeds?|batch(?:[ _-]?size)?s?|epochs?|steps?|"
    r"iter(?:ation)?s?|"
    r"dropout|momentum|weight[ _-]?decay|wd|betas?[12]?|gammas?|eps(?:ilon)?|tol(?:erance)?|temp|sigma|"
    r"lambda|"
    r"alphas?|tau|levels?|n|k|m|d|h|b|w|t|size|dim(?:ension)?s?|threshold|width|grid|horizon|lags?|leads?|"
    r"ratio|"
    r"n_\w{1,10}|num_\w{1,10}|samples?|folds?|runs?|rounds?|reps?|repeats?|trials?|idx|index|id|depth|"
    r"layers?|"
    r"window|members?|gaps?|noise|ridge|floor|degree|order|length|len|threads?|hidden|units?|workers|clients|"
    r"years?|months?|days?|x|changes|quantile|rank|round|position|fraction|rate|penalty|"
    r"budget)(?:[ _](?:[kmg]i?b|ms|px))?[\s_\"':=]*$",
    re.IGNORECASE,
)
"""Names of what is set, not measured."""


_BRACKETS = re.compile(r"\([^()\d]*\)")
"""What a title says in brackets names nothing: *mean bias (estimate - truth)*."""


@dataclass(frozen=True)
class Cell:
    """One number of an output.

    ``labels`` go from the general to the special; ``group`` tells the table, list or kind of line that it is
    from; ``place`` is the address for people.
    """

    figure: Figure
    source: str
    line: int
    place: str
    quote: str
    labels: tuple[Label, ...]
    group: str
    derived: str = ""
    """How it was made of other numbers: ``mean of 5``, ``last of 20``."""
    written: str = field(default="", compare=False)
    """The number as it stands in the output."""

    @property
    def value(self) -> float:
        """The number."""
        return self.figure.value

    @cached_property
    def tokens(self) -> frozenset[Token]:
        """All words and numbers of the labels."""
        return frozenset(
            token
            for role, label in self.labels
            for token in label_tokens(_BRACKETS.sub(" ", label) if role == "title" else label)
        )

    @cached_property
    def key(self) -> tuple[str, ...]:
        """What is the same for this number in another run of the same program."""
        return (self.source, self.group, *(f"{role}={label}" for role, label in self.labels))


def _same_key(one: str, other: str) -> bool:
    """Whether two titles name one thing in turn: *dataset: iris*, *dataset: wine*."""
    key = one.partition(": ")[0]
    return key != one and key == other.partition(": ")[0]


@dataclass
class Headings:
    """The titles under which a line stands, as a reader would say it.

    A marked line (``== x ==``, ``# x``, ``x:``) holds until the next one of its kind; the first line of a
    paragraph holds for the paragraph, and for a table that follows after a blank line.
    """

    file: tuple[Label, ...] = ()
    marked: str = ""
    first: str = ""
    second: str = ""
    parents: list[tuple[int, str]] = field(default_factory=list)
    _blank: bool = True
    _ended: bool = False
    _below: bool = False

    def blank(self) -> None:
        """A blank line was read."""
        self._blank = True

    def used(self) -> None:
        """Numbers were read under the present titles."""
        self._blank = False

    def reopen(self) -> None:
        """A table begins: one that follows another under the same titles has them too."""
        self._ended = False

    def ended(self) -> None:
        """A table was read: what stood right above it holds for nothing else."""
        self._blank = False
        self._ended = True

    def read(self, line: str) -> None:
        """A line without numbers, or one before a table, was read."""
        words = line.strip().strip("=#*-_~[]<>| \t")
        if not re.search(r"\w", words) or len(words) > 200:
            return
        if self.parents and self.parents[-1][0] and line.rstrip().endswith(":"):
            return
        if re.match(r"\s*(?:[=#*~\[<]|-{2,})", line):
            self.marked, self.first, self.second = words, "", ""
        elif self._blank or not self.first or _same_key(self.first, words):
            self.first, self.second = words, ""
        else:
            self.second = words
        self._blank = self._ended = False

    def indent(self, line: str, opens: bool = False) -> None:
        """Forget the parents that this line is not below of; a colon at the end, or ``opens``, makes one."""
        depth = len(line) - len(line.lstrip())
        if depth:
            self._below = self.first.endswith(":") or self._below
        elif self._below:
            self.first = self.second = ""
            self._below = False
        while self.parents and self.parents[-1][0] >= depth:
            self.parents.pop()
        if (line.rstrip().endswith(":") or opens) and len(line.strip()) < 100:
            self.parents.append((depth, line.strip().rstrip(":")))

    def above(self, line: str, name: str) -> None:
        """What is further in than this line, which has numbers of its own, is of its name."""
        self.parents.append((len(line) - len(line.lstrip()), name))

    def labels(self, structure: bool = False) -> tuple[Label, ...]:
        """The titles, each once; for a ``structure`` without those that a table has used up."""
        above = [name for _, name in self.parents[:-1]]
        if self.parents:
            above.append(self.parents[-1][1])
        first = "" if self._ended and structure else self.first
        second = "" if self._ended else self.second
        titles = (self.marked.strip(": "), first.strip(": "), second.strip(": "))
        names = dict.fromkeys(name for name in titles if name)
        parents = dict.fromkeys(name for name in above if name and name not in names)
        return (
            *self.file,
            *(("title", name) for name in names),
            *((f"parent{depth}", name) for depth, name in enumerate(parents)),
        )
