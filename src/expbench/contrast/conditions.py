"""Whether two runs were made under the same conditions, and which field says otherwise.

A difference of scores is one of agents only where everything else was alike: the data, what was masked and
told, the judge and how it was asked, and what the sandbox allowed. A memory limit alone has moved other
benchmarks by six points (R32).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from expbench.runs import Run
from expbench.schema import Record

Kind = Literal["data", "mask", "prompt", "judge", "protocol", "resources"]


class Condition(Record):
    """A field in which two runs were not alike, with both values as text."""

    kind: Kind
    field: str
    first: str
    second: str

    @property
    def text(self) -> str:
        """The field and both values in a few words."""
        return f"{self.field} ({self.first} against {self.second})"


def differing(first: Run, second: Run) -> tuple[Condition, ...]:
    """Every condition that makes a comparison unfair, in a fixed order."""
    ones, others = dict(_conditions(first)), dict(_conditions(second))
    return tuple(
        Condition(kind=kind, field=name, first=value, second=others[kind, name])
        for (kind, name), value in ones.items()
        if value != others[kind, name]
    ) + tuple(_found(first, second))


def notes(first: Run, second: Run) -> tuple[str, ...]:
    """What else was not alike, and is no reason to refuse: versions of programs, epochs."""
    found = list(_told("epochs", first.manifest.epochs, second.manifest.epochs))
    ones, others = first.manifest.versions, second.manifest.versions
    for name in sorted(ones.keys() | others.keys()):
        found += _told(name, ones.get(name, "–"), others.get(name, "–"))
    return tuple(found)


def _conditions(run: Run) -> Iterator[tuple[tuple[Kind, str], str]]:
    manifest = run.manifest
    judging, policy = manifest.judging, manifest.policy
    groups: Mapping[Kind, Mapping[str, object]] = {
        "data": {
            "suite": manifest.suite,
            "suite_version": manifest.suite_version,
            "data_version": manifest.data_version,
            "errata": manifest.errata,
        },
        "mask": {"mask": manifest.mask},
        "prompt": {"hints": manifest.hints, "reveal": manifest.reveal},
        "judge": {
            "judging.judges": judging.judges,
            "judging.samples": judging.samples,
            "judging.items_per_call": judging.items_per_call,
            "judged_only": manifest.judged_only,
            "monitor_model": manifest.monitor_model,
            "claims_model": manifest.claims_model,
        },
        "protocol": {"judging.protocol": judging.protocol},
        "resources": {
            **{f"policy.limits.{name}": value for name, value in policy.limits},
            **{f"policy.requests.{name}": value for name, value in policy.requests},
            "policy.network": policy.network,
            "policy.allow_hosts": policy.allow_hosts,
            "policy.gpus": policy.gpus,
            "sandbox": manifest.sandbox,
            "image": manifest.image,
        },
    }
    for kind, fields in groups.items():
        for name, value in fields.items():
            yield (kind, name), _text(value)


def _found(first: Run, second: Run) -> Iterator[Condition]:
    """What only outcomes tell: the judges' own prompts, and limits that a sandbox did not hold."""
    sides: tuple[tuple[Kind, str, Callable[[Run], set[str] | None]], ...] = (
        ("judge", "judge's prompt", _prompts),
        ("resources", "limits not enforced", _not_enforced),
    )
    for kind, name, look in sides:
        one, other = look(first), look(second)
        if one is not None and other is not None and one != other:
            values = [_text(tuple(sorted(each))) for each in (one, other)]
            yield Condition(kind=kind, field=name, first=values[0], second=values[1])


def _prompts(run: Run) -> set[str] | None:
    judgements = (outcome.judgement for outcome in run.outcomes.values())
    return {each.prompt_digest[:12] for each in judgements if each and each.prompt_digest} or None


def _not_enforced(run: Run) -> set[str] | None:
    enforced = [each.enforced for each in run.outcomes.values() if each.enforced]
    return {name for each in enforced for name in each.missing} if enforced else None


def _told(name: str, one: object, other: object) -> list[str]:
    return [f"{name}: {_text(one)} against {_text(other)}"] if one != other else []


def _text(value: object) -> str:
    """A value for people; manifests may be a stranger's, so nothing invisible is passed on."""
    if isinstance(value, tuple):
        value = ", ".join(map(str, value))
    shown = "none" if value is None or value == "" else str(value)
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in shown)
