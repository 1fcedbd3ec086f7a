"""Which papers are worth making tasks from: candidates from exports or live services, filtered and ranked
(publication, section 3.1: venue, citations, stars, forks, and a record of how hard a paper is to run)."""

from expbench.candidates.clients import GitHub, OpenReview, Scholar
from expbench.candidates.difficulty import Difficulty, difficulty_of
from expbench.candidates.duplicates import known_papers
from expbench.candidates.filtering import Fate, Filters, Selection, select
from expbench.candidates.reading import merged, read_candidates
from expbench.candidates.record import Candidate

__all__ = [
    "Candidate",
    "Difficulty",
    "Fate",
    "Filters",
    "GitHub",
    "OpenReview",
    "Scholar",
    "Selection",
    "difficulty_of",
    "known_papers",
    "merged",
    "read_candidates",
    "select",
]
