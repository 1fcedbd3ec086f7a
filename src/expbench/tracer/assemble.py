"""From what a walk has found to a :class:`Trace`: steps in the order of running, edges, ranks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from expbench.tracer.blocks import Piece
from expbench.tracer.graph import Edge, Reached, Span, Step, StepKind, Trace
from expbench.tracer.walk import FileFact, Link, Place, Walk
from expbench.tracer.words import Query, words

MOST_STEPS = 4_000

_WEIGHTS: dict[StepKind, float] = {
    "command": 0.9,
    "options": 0.8,
    "config": 0.8,
    "data": 0.7,
    "model": 0.7,
    "optimizer": 0.9,
    "schedule": 0.8,
    "loop": 0.8,
    "train": 0.9,
    "evaluate": 0.9,
    "metric": 0.9,
    "output": 0.7,
    "function": 0.5,
    "other": 0.2,
}
"""How much a kind of step says of an experiment, from 0 to 1."""


def assemble(walk: Walk, source: tuple[str, ...], usage: str, question: str) -> Trace:
    """Order, number and rank what was found."""
    ordered = list(_ordered(walk))
    texts = {
        id(piece): words(f"{place.path} {piece.label} {piece.words}") for place, piece in ordered
    }
    query = Query(f"{question} {usage}", list(texts.values()))
    lexical = {key: query.match(text) for key, text in texts.items()}
    reached = _files(walk, ordered, lexical)
    kept = _kept(walk, ordered, lexical)
    steps: list[Step] = []
    first: dict[Place, str] = {}
    for order, (place, piece) in enumerate(kept):
        step = Step(
            id=f"s{order + 1}",
            kind=piece.kind,
            span=Span(path=place.path, start=piece.start, end=piece.end),
            label=piece.label,
            order=order,
            values=piece.values,
            relevance=_relevance(walk, place, piece, lexical),
        )
        steps.append(step)
        first.setdefault(place, step.id)
    return Trace(
        source=source,
        usage=usage,
        steps=tuple(steps),
        edges=tuple(_edges(walk, kept, steps, first)),
        files=tuple(reached),
        mask=_mask(reached),
        notes=tuple(walk.tree.notes),
    )


def _ordered(walk: Walk) -> Iterator[tuple[Place, Piece]]:
    """Steps as they run: a place's steps in the source's order, and after each what it leads to."""
    leading: dict[Place, list[Link]] = defaultdict(list)
    for link in walk.links:
        leading[link.source].append(link)
    done: set[Place] = set()
    seen: set[tuple[str, int, int]] = set()
    starts = sorted(walk.pieces, key=lambda place: walk.distances.get(place, 0.0))
    for begin in starts:
        pending: list[Place | tuple[Place, Piece]] = [begin]
        while pending:
            item = pending.pop()
            if isinstance(item, tuple):
                place, piece = item
                key = (place.path, piece.start, piece.end)
                if key not in seen and place.path:
                    seen.add(key)
                    yield item
                continue
            if item in done or item not in walk.pieces:
                continue
            done.add(item)
            pending += reversed(_unfolded(item, walk.pieces[item], leading[item]))


def _unfolded(
    place: Place, found: list[Piece], links: list[Link]
) -> list[Place | tuple[Place, Piece]]:
    made = place.kind == "make"
    steps = found if made else sorted(found, key=lambda piece: (piece.start, -piece.end))
    items: list[tuple[int, int, Place | tuple[Place, Piece]]] = [
        (number if made else piece.start, number, (place, piece))
        for number, piece in enumerate(steps)
    ]
    for number, link in enumerate(links, len(steps)):
        recipe = (n for n, piece in enumerate(steps) if piece.start <= link.line <= piece.end)
        line = next(recipe, 0) if made else link.line or 10**9
        items.append((line, number, link.target))
    return [item for _, _, item in sorted(items, key=lambda each: each[:2])]


def _kept(
    walk: Walk, ordered: list[tuple[Place, Piece]], lexical: dict[int, float]
) -> list[tuple[Place, Piece]]:
    if len(ordered) <= MOST_STEPS:
        return ordered
    walk.tree.note(f"{len(ordered)} steps were found; the {MOST_STEPS} most relevant were kept.")
    ranked = sorted(ordered, key=lambda each: -_relevance(walk, each[0], each[1], lexical))[
        :MOST_STEPS
    ]
    keep = {id(piece) for _, piece in ranked}
    return [each for each in ordered if id(each[1]) in keep]


def _relevance(walk: Walk, place: Place, piece: Piece, lexical: dict[int, float]) -> float:
    near = 1.0 / (1.0 + max(0.0, walk.distances.get(place, 9.0)) * 0.5)
    fact = walk.files[place.path]
    given = 1.0 if fact.given else 0.5 if fact.named else 0.0
    score = 0.3 * near + 0.2 * given + 0.3 * lexical[id(piece)] + 0.2 * _WEIGHTS[piece.kind]
    return round(min(1.0, score * (0.6 if piece.kind == "other" else 1.0)), 4)


def _edges(
    walk: Walk, kept: list[tuple[Place, Piece]], steps: list[Step], first: dict[Place, str]
) -> Iterator[Edge]:
    """From the innermost step at a link's line to the first step of where it leads."""
    of: dict[Place, list[Step]] = defaultdict(list)
    for (place, _), step in zip(kept, steps, strict=True):
        of[place].append(step)
    seen: set[tuple[str, str]] = set()
    for link in walk.links:
        target = first.get(link.target)
        around = [s for s in of[link.source] if s.span.start <= link.line <= s.span.end] or of[
            link.source
        ][:1]
        if target is None or not around:
            continue
        source = min(around, key=lambda s: s.span.end - s.span.start).id
        if source != target and (source, target) not in seen:
            seen.add((source, target))
            yield Edge(source=source, target=target, kind=link.kind)


def _files(
    walk: Walk, ordered: list[tuple[Place, Piece]], lexical: dict[int, float]
) -> list[Reached]:
    best: dict[str, list[float]] = defaultdict(list)
    for place, piece in ordered:
        best[place.path].append(lexical[id(piece)])
    reached = [
        Reached(
            path=path,
            distance=round(max(0.0, fact.distance)),
            relevance=_file_relevance(path, fact, best[path]),
            why=fact.why,
        )
        for path, fact in walk.files.items()
    ]
    return sorted(reached, key=lambda each: (-each.relevance, each.distance, each.path))


def _file_relevance(path: str, fact: FileFact, matches: list[float]) -> float:
    near = 1.0 / (1.0 + max(0.0, fact.distance))
    top = sorted(matches, reverse=True)[:3]
    lexical = sum(top) / 3 if top else 0.0
    standing = 1.0 if fact.given else 0.6 if fact.named else 0.0
    role = {
        "runs": 1.0,
        "calls": 0.8,
        "dispatches": 0.6,
        "configures": 0.6,
        "imports": 0.3,
        None: 0.5,
    }[fact.leading]
    score = (
        0.4 * standing + 0.25 * near + 0.2 * lexical + 0.1 * role + 0.05 * min(1.0, fact.links / 8)
    )
    if path.lower().endswith((".md", ".txt", ".rst")) or path.endswith("__init__.py"):
        score *= 0.6
    return round(min(1.0, score), 4)


def _mask(reached: list[Reached]) -> tuple[str, ...]:
    """Files by how surely they give the answer away: the given ones, then what they run and use."""
    prose = (".md", ".rst", ".txt")
    return tuple(each.path for each in reached if not each.path.lower().endswith(prose))
