"""Atomic claims of conclusions: split by rules, stored as places in the text, reviewed.

``splitting`` puts it together from ``blocks`` (Markdown and sentences), ``clauses`` (where a finding
ends) and ``weighing`` (what kind a claim is, and whether it is essential); ``stored`` is the file that
people review, and ``release.json`` that file for the released tasks.
"""

from expbench.dataset.claims.splitting import Span, claims_of, covered, split
from expbench.dataset.claims.stored import (
    StoredSplit,
    digest_of,
    read_claims,
    shipped_splits,
    split_by_rules,
    split_of,
    task_claims,
    with_claims,
    write_claims,
)

__all__ = [
    "Span",
    "StoredSplit",
    "claims_of",
    "covered",
    "digest_of",
    "read_claims",
    "shipped_splits",
    "split",
    "split_by_rules",
    "split_of",
    "task_claims",
    "with_claims",
    "write_claims",
]
