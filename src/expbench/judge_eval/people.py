"""Labels by people, from a table: judges are measured against what most of them say."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from expbench.errors import DataError
from expbench.judge_eval.agreement import agreement
from expbench.judge_eval.cases import Label, label_of, phase_of
from expbench.judge_eval.evaluation import PeopleReport, column
from expbench.judge_eval.running import Judged
from expbench.judge_eval.sets import LabelledSet, ReadyCase

_NAMES = {
    "case": ("case", "case_id", "task", "task_id", "id"),
    "item": ("item", "item_id", "text", "item_text"),
    "phase": ("phase",),
    "label": ("label", "verdict"),
    "person": ("person", "rater", "annotator", "name", "who"),
}
Place = tuple[str, int]
"""A case's id and an item's place in it."""


@dataclass(frozen=True)
class People:
    """Every person's label of every item that they looked at."""

    source: str
    labels: Mapping[Place, Mapping[str, Label]]

    @property
    def persons(self) -> tuple[str, ...]:
        return tuple(sorted({person for given in self.labels.values() for person in given}))

    def majority(self, place: Place) -> Label | None:
        """What most say; ``None`` where nobody does or as many say the other."""
        counts = Counter(self.labels.get(place, {}).values())
        if counts["met"] == counts["not_met"]:
            return None
        return "met" if counts["met"] > counts["not_met"] else "not_met"


def read_people(file: Path, labelled: LabelledSet) -> People:
    """Read labels from a CSV (comma, semicolon or tab; UTF-8) with a header line.

    Columns are ``case`` (a case's id, or a task's that has one case), ``item`` (its text, its id, or
    ``phase/number``), ``phase``, ``label`` and, with several people, ``person``.

    Raises:
        DataError: the file cannot be read, or a row names nothing or contradicts another.
    """
    found: dict[Place, dict[str, Label]] = defaultdict(dict)
    finder = _Finder(labelled)
    for where, row in _rows(file):
        label = label_of(row["label"])
        if label not in ("met", "not_met"):
            raise DataError(f"{where}: the label is {row['label']!r}: write met or not_met.")
        place = finder.find(row, where)
        person = row["person"].strip() or "someone"
        known: Label = "met" if label == "met" else "not_met"
        if found[place].setdefault(person, known) != known:
            raise DataError(f"{where}: {person} has labelled this item twice, and differently.")
    if not found:
        raise DataError(f"{file} holds no label: one row for each item and person.")
    return People(file.name, found)


def relabelled(labelled: LabelledSet, people: People) -> LabelledSet:
    """The set with the people's majority as labels; what has none is not labelled."""

    def with_labels(case: ReadyCase) -> ReadyCase:
        items = tuple(
            item.model_copy(update={"label": people.majority((case.id, index))})
            for index, item in enumerate(case.case.items)
        )
        return replace(case, case=case.case.model_copy(update={"items": items}))

    name = f"{labelled.name}, labels of {people.source}"
    return replace(labelled, name=name, cases=tuple(map(with_labels, labelled.cases)))


def people_report(
    labelled: LabelledSet, people: People, results: Sequence[Sequence[Judged]], seed: int = 0
) -> PeopleReport:
    """Every contestant against the people, and the people against each other and the set."""
    theirs = relabelled(labelled, people)
    own = {
        (case.id, index): item.label
        for case in labelled.cases
        for index, item in enumerate(case.case.items)
    }
    majority = {place: people.majority(place) for place in people.labels}
    both = [
        (label, mine) for place, label in majority.items() if label and (mine := own.get(place))
    ]
    return PeopleReport(
        source=people.source,
        persons=people.persons,
        items=len(people.labels),
        tied=sum(label is None for label in majority.values()),
        agreement=agreement([tuple(given.values()) for given in people.labels.values()]),
        with_labels=agreement(both),
        columns=tuple(column(theirs, judged, seed) for judged in results),
    )


def _rows(file: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Each row with its place, under the names of :data:`_NAMES`."""
    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise DataError(f"{file} cannot be read ({why}): give a CSV file of labels.") from None
    header = text.partition("\n")[0]
    delimiter = max(",;\t", key=header.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    fields = {name.strip().lower(): name for name in reader.fieldnames or () if name}
    columns = {
        ours: next((fields[name] for name in names if name in fields), None)
        for ours, names in _NAMES.items()
    }
    lacking = [name for name in ("case", "item", "label") if columns[name] is None]
    if lacking:
        raise DataError(
            f"{file}:1 has no column {', '.join(lacking)}: the header is "
            "case,item,phase,label,person."
        )
    try:
        for row in reader:
            given = {ours: row.get(name or "") or "" for ours, name in columns.items()}
            if any(given.values()):
                yield f"{file}:{reader.line_num}", given
    except csv.Error as error:
        raise DataError(f"{file}:{reader.line_num} is no CSV ({error}).") from None


class _Finder:
    """Finds the item that a row is about."""

    def __init__(self, labelled: LabelledSet) -> None:
        self._cases: dict[str, list[ReadyCase]] = defaultdict(list)
        for case in labelled.cases:
            self._cases[case.id].append(case)
            if case.task.id != case.id:
                self._cases[case.task.id].append(case)

    def find(self, row: Mapping[str, str], where: str) -> Place:
        name, wanted = row["case"].strip(), _plain(row["item"])
        phase = phase_of(row["phase"])
        cases = self._cases.get(name)
        if not cases:
            raise DataError(f"{where}: the set has no case and no task {name!r}.")
        places = [
            (case.id, index)
            for case in cases
            for index, (item, known) in enumerate(zip(case.items, case.case.items, strict=True))
            if phase in ("", item.phase)
            and wanted in (_plain(item.text), _plain(item.id), _plain(known.id))
        ]
        if not places:
            raise DataError(f"{where}: {name!r} has no item {row['item'].strip()!r}.")
        if len(places) > 1:
            raise DataError(
                f"{where}: {len(places)} items of {name!r} are called {row['item'].strip()!r}: "
                "name the case by its id, and the item by its phase and number (design/0)."
            )
        return places[0]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
