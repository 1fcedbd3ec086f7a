"""Choosing papers: exports and live services read, filtered, ranked, and said how hard they are."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from expbench.candidates import (
    Candidate,
    Filters,
    GitHub,
    OpenReview,
    Scholar,
    difficulty_of,
    known_papers,
    merged,
    read_candidates,
    select,
)
from expbench.candidates.clients import Service
from expbench.candidates.duplicates import in_benchmark, likeness
from expbench.cli.main import app
from expbench.errors import DataError, NotFoundError, PrerequisiteError

# Shapes as the services' references have them; titles and numbers are ours.
NOTE: dict[str, Any] = {
    "id": "aBc1",
    "forum": "aBc1",
    "content": {
        "title": {"value": "Small Steps:  A Study of Learning Rates"},
        "venue": {"value": "NeurIPS 2024 poster"},
        "venueid": {"value": "NeurIPS.cc/2024/Conference"},
        "abstract": {"value": "We study. Code: https://github.com/ours/small-steps."},
        "keywords": {"value": ["optimisation"]},
    },
}
OLD_NOTE: dict[str, Any] = {
    "id": "x9",
    "content": {
        "title": "Deep Graphs",
        "venue": "ICLR 2024",
        "code": "github.com/ours/Deep-Graphs",
    },
}
PAPER: dict[str, Any] = {
    "paperId": "649def34",
    "externalIds": {"ArXiv": "2401.00001", "DBLP": "x"},
    "title": "Small Steps: a Study of Learning Rates",
    "venue": "Neural Information Processing Systems",
    "year": 2024,
    "citationCount": 120,
    "openAccessPdf": {"url": "https://example.invalid/p.pdf", "status": "GREEN"},
    "abstract": None,
}
REPOSITORY: dict[str, Any] = {
    "full_name": "Ours/Small-Steps",
    "description": "Code of Small Steps",
    "stargazers_count": 340,
    "forks_count": 21,
    "pushed_at": "2025-03-01T10:00:00Z",
    "license": {"key": "mit", "spdx_id": "MIT"},
    "size": 20480,
    "archived": False,
    "language": "Python",
    "homepage": None,
}


def paper(title: str, **more: Any) -> Candidate:
    name = title.lower().replace(" ", "-")
    return Candidate(**({"title": title, "repository": f"ours/{name}"} | more))


# --- reading ---------------------------------------------------------------------------------------


def test_exports_of_three_services_become_one_paper(tmp_path: Path) -> None:
    exports = {
        "openreview.json": {"notes": [NOTE, OLD_NOTE], "count": 2},
        "scholar.json": {"total": 1, "data": [PAPER]},
        "github.json": [REPOSITORY],
    }
    found = []
    for name, content in exports.items():
        (tmp_path / name).write_text(json.dumps(content))
        found += read_candidates(tmp_path / name)
    small, deep = merged(found)
    assert small.title == "Small Steps: A Study of Learning Rates"
    assert (small.citations, small.stars, small.forks) == (120, 340, 21)
    assert (small.repository, small.licence, small.size_mb) == ("ours/small-steps", "mit", 20.0)
    assert (small.venue, small.year, small.arxiv) == ("NeurIPS 2024 poster", 2024, "2401.00001")
    assert (small.pushed, small.archived) == ("2025-03-01", False)
    assert small.sources == ("openreview", "semantic scholar", "github")
    assert (deep.title, deep.repository, deep.citations) == (
        "Deep Graphs",
        "ours/deep-graphs",
        None,
    )


def test_json_lines_of_ones_own_and_a_repository_alone(tmp_path: Path) -> None:
    file = tmp_path / "c.jsonl"
    lines = [paper("One", stars=5).model_dump_json(exclude_defaults=True), json.dumps(REPOSITORY)]
    file.write_text("\ufeff" + "\n\n".join(lines) + "\n")
    one, repository = read_candidates(file)
    assert (one.stars, one.sources) == (5, ("file",))
    assert (repository.title, repository.stars) == ("Code of Small Steps", 340)
    assert merged([one, repository]) == [one, repository]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1: no JSON"),
        ("[1]", "record 1: no JSON object"),
        ('{"title": ""}\n{"x": 1}', "line 2"),
        ('[{"content": {"title": {"value": " "}}}]', "record 1"),
        ('[{"full_name": 3}]', "record 1"),
        ('{"data": 3}', "no list"),
        ('{"title": "x", "stars": "many"}', "record 1"),
    ],
)
def test_what_is_no_candidate_is_said_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "c.json"
    file.write_text(text)
    with pytest.raises(DataError, match=said):
        read_candidates(file)
    with pytest.raises(DataError, match="cannot be read"):
        read_candidates(tmp_path / "none.json")


@given(
    st.lists(
        st.builds(
            Candidate,
            title=st.sampled_from(["A b", "a  B!", "C", "Ähm", "ahm"]),
            stars=st.none() | st.integers(0, 9),
            arxiv=st.sampled_from(["", "1", "1v2"]),
        )
    )
)
def test_merging_loses_no_paper_and_is_done_once(candidates: list[Candidate]) -> None:
    once = merged(candidates)
    assert merged(once) == once or len(merged(once)) <= len(once)
    stars = [each.stars for each in candidates if each.stars is not None]
    assert max(stars, default=None) == max(
        (each.stars for each in once if each.stars is not None), default=None
    )


# --- the same paper ----------------------------------------------------------------------------------


def test_papers_of_the_release_are_found_by_repository_or_title() -> None:
    known = known_papers()
    assert len(known) == 51
    for each in known:
        assert in_benchmark(Candidate(title="Anything", repository=each.repository)) != ""
        assert in_benchmark(Candidate(title=each.title.upper() + ".")) != ""
    assert in_benchmark(paper("Small Steps: A Study of Learning Rates")) == ""


def test_titles_of_different_papers_of_the_release_are_not_alike() -> None:
    titles = [each.title for each in known_papers()]
    pairs = [(a, b) for at, a in enumerate(titles) for b in titles[:at]]
    assert [pair for pair in pairs if likeness(*pair) > 0.6] == []


# --- filters -----------------------------------------------------------------------------------------


def fates(filters: Filters, *candidates: Candidate) -> dict[str, str]:
    return {each.candidate.title: each.filter for each in select(candidates, {}, filters).fates}


@pytest.mark.parametrize(
    ("filters", "good", "bad", "name"),
    [
        ({"venues": ("neurips",)}, {"venue": "NeurIPS 2024"}, {"venue": "CVPR"}, "venue"),
        ({"since_year": 2024}, {"year": 2024}, {"year": 2023}, "year"),
        ({"citations": 5}, {"citations": 5}, {"citations": 4}, "citations"),
        ({"stars": 5}, {"stars": 6}, {"stars": 0}, "stars"),
        ({"forks": 1}, {"forks": 1}, {"forks": 0}, "forks"),
        ({"pushed_since": date(2025, 1, 1)}, {"pushed": "2025-01-01"}, {"pushed": "2024-12-31"}, "activity"),
        ({"licences": ("MIT",)}, {"licence": "mit"}, {"licence": "gpl-3.0"}, "licence"),
        ({"size_mb": 10}, {"size_mb": 10.0}, {"size_mb": 10.1}, "size"),
        ({}, {}, {"archived": True}, "not archived"),
        ({}, {}, {"repository": ""}, "has a repository"),
    ],
)  # fmt: skip
def test_each_filter_lets_through_and_keeps_out(
    filters: dict[str, Any], good: dict[str, Any], bad: dict[str, Any], name: str
) -> None:
    given = fates(Filters(**filters), paper("A good one", **good), paper("Other and bad", **bad))
    assert given == {"A good one": "", "Other and bad": name}
    field = next(iter(bad), "")
    if filters:
        unknown = paper("Unknown")
        assert fates(Filters(**filters), unknown) == {"Unknown": name}, field
        assert fates(Filters(**filters, keep_unknown=True), unknown) == {"Unknown": ""}


def test_the_rank_is_by_percentiles_and_twins_come_once() -> None:
    first = paper("Learning to rank things well", citations=100, stars=10, forks=1)
    second = paper("Another subject altogether", citations=1, stars=1000, forks=50)
    third = paper("Nothing is known of this")
    twin = first.model_copy(update={"title": "Learning to Rank Things Well!!", "repository": "b/c"})
    selection = select([third, first, second, twin], {}, Filters())
    ranked = [(each.rank, each.candidate.title) for each in selection.selected]
    assert ranked == [
        (1, "Another subject altogether"),
        (2, "Learning to rank things well"),
        (3, "Nothing is known of this"),
    ]
    assert [each.score for each in selection.selected] == [
        pytest.approx(5 / 6),
        pytest.approx(2 / 3),
        0.0,
    ]
    (out,) = [each for each in selection.fates if not each.passed]
    assert (out.filter, out.why) == ("not twice", "the same as Learning to rank things well")
    came = [(step.name, step.came, step.passed) for step in selection.steps]
    assert came[-1] == ("not twice", 4, 3) and came[0][1] == 4


# --- how hard it is ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("readme", "side", "level", "quote"),
    [
        ("Training needs 8 A100 GPUs.", "gpus", 4, "8 A100 GPUs"),
        ("We used 64 x H100.", "gpus", 5, "64 x H100"),
        ("Runs on a single RTX 3090 GPU.", "gpus", 2, "single RTX 3090"),
        ("Install CUDA 11.8 first.", "gpus", 2, "CUDA 11.8"),
        ("It needs a GPU with 80GB memory.", "memory", 5, "80GB"),
        ("One needs 11 GB of GPU memory.", "memory", 2, "11 GB"),
        ("Training takes about 3 days.", "time", 4, "3 days"),
        ("It took 20 minutes.", "time", 1, "20 minutes"),
        ("pip install flash-attn", "environment", 4, "flash-attn"),
        ("Run it:\n\n    python train.py --lr 0.1\n", "code", 2, "python train.py"),
        ("A nice paper.", "code", 4, "names no command"),
    ],
)
def test_a_level_rests_on_what_the_readme_says(
    readme: str, side: str, level: int, quote: str
) -> None:
    sign = difficulty_of(paper("X", readme=readme)).of(side)
    assert sign is not None and sign.level == level and quote in sign.quote


def test_a_folder_of_the_repository_says_more_and_nothing_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_bytes(b"# X\n\xff\n```\npython run.py\n```\n")
    (tmp_path / "requirements.txt").write_text("numpy==1.26\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_x.py").write_text("")
    (tmp_path / "loop").symlink_to(tmp_path)
    found = difficulty_of(paper("X"), tmp_path)
    assert {each.side: each.level for each in found.signs} == {"environment": 1, "code": 1}
    assert found.level == 1
    assert difficulty_of(paper("X")).level is None
    hard = {"X": difficulty_of(paper("X", readme="8 A100 GPUs"))}
    kept = [select([paper("X")], hard, Filters(gpus=n)).selected for n in (0, 4, 8, 16)]
    assert [len(each) for each in kept] == [0, 0, 1, 1]
    assert select([paper("X")], hard, Filters(level=3)).fates[0].filter == "difficulty"


@given(st.text(max_size=400))
def test_any_readme_has_a_record(readme: str) -> None:
    for sign in difficulty_of(paper("X", readme=readme)).signs:
        assert 1 <= sign.level <= 5


# --- live services -------------------------------------------------------------------------------------

Answer = tuple[int, Mapping[str, str], Any]


@contextmanager
def service(
    answer: Callable[[str, dict[str, str], int], Answer],
) -> Iterator[tuple[str, list[str]]]:
    """A server on loopback that answers by path, query and the number of the request."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            seen.append(self.path + str(self.headers.get("Authorization") or ""))
            code, headers, content = answer(parts.path, query, len(seen))
            body = content.encode() if isinstance(content, str) else json.dumps(content).encode()
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def note(number: int) -> dict[str, Any]:
    return {"id": f"n{number}", "content": {"title": {"value": f"Paper {number}"}}}


def test_openreview_is_asked_page_by_page() -> None:
    def answer(path: str, query: dict[str, str], _: int) -> Answer:
        assert path == "/notes" and query["content.venueid"] == "NeurIPS.cc/2024/Conference"
        start = int(query["offset"])
        size = min(int(query["limit"]), 1300 - start)
        return 200, {}, {"notes": [note(n) for n in range(start, start + size)]}

    with service(answer) as (address, seen):
        asked = OpenReview(Service(address))
        assert len(list(asked.papers("NeurIPS.cc/2024/Conference", 5000))) == 1300
        assert len(seen) == 2
        assert len(list(asked.papers("NeurIPS.cc/2024/Conference", 7))) == 7


def test_semantic_scholar_goes_on_by_its_token_and_finds_by_title() -> None:
    def answer(path: str, query: dict[str, str], _: int) -> Answer:
        if path == "/paper/search/match":
            found = query["query"] == PAPER["title"]
            return (200, {}, {"data": [PAPER]}) if found else (404, {}, {"error": "no match"})
        assert query["sort"] == "citationCount:desc"
        first = "token" not in query
        return 200, {}, {"total": 3, "token": "t" if first else None, "data": [PAPER] * 2}

    with service(answer) as (address, _):
        asked = Scholar(Service(address))
        assert len(list(asked.papers("steps", "", "2024-", 10))) == 4
        assert len(list(asked.papers("steps", "", "", 3))) == 3
        found = asked.paper(PAPER["title"])
        assert found is not None and found.citations == 120
        assert asked.paper("another") is None


def test_a_busy_service_is_waited_for_and_a_used_up_quota_is_said() -> None:
    waits: list[float] = []

    def answer(path: str, _: dict[str, str], number: int) -> Answer:
        if path.endswith("/readme"):
            return 200, {}, "# Small Steps"
        if number == 1:
            return 429, {"Retry-After": "7"}, {}
        if number == 2:
            return 503, {}, {}
        return 200, {}, REPOSITORY

    with service(answer) as (address, seen):
        asked = GitHub(Service(address, {"Authorization": "Bearer t0ken"}, waits.append))
        found = asked.repository("ours/small-steps")
        assert found is not None and (found.stars, found.readme) == (340, "# Small Steps")
        assert waits == [7.0, 2.0]
        assert all(each.endswith("Bearer t0ken") for each in seen)

    def used_up(*_: Any) -> Answer:
        return 403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999"}, {}

    with service(used_up) as (address, seen):
        with pytest.raises(PrerequisiteError, match=r"403.*give a token"):
            GitHub(Service(address, {}, waits.append)).repository("a/b")
        assert len(seen) == 1

    with service(lambda *_: (404, {}, {})) as (address, _):
        assert GitHub(Service(address)).repository("a/b") is None
        with pytest.raises(NotFoundError):
            Service(address).get("/x")
    with (
        service(lambda *_: (200, {}, "<html>")) as (address, _),
        pytest.raises(PrerequisiteError, match="no JSON"),
    ):
        list(OpenReview(Service(address)).papers("v", 5))
    with (
        service(lambda *_: (200, {}, {"error": "x"})) as (address, _),
        pytest.raises(PrerequisiteError, match="form has changed"),
    ):
        list(OpenReview(Service(address)).papers("v", 5))
    with pytest.raises(PrerequisiteError, match="no answer"):
        Service("http://127.0.0.1:9", {}, waits.append).get("/x")


# --- the command ---------------------------------------------------------------------------------------


def run(*args: str | Path, code: int = 0, env: Mapping[str, str] | None = None) -> str:
    done = CliRunner().invoke(app, ["construct", "select", *map(str, args)], env=env)
    assert done.exit_code == code, done.output
    return done.output


def test_the_command_selects_from_files_and_services(tmp_path: Path) -> None:
    file = tmp_path / "papers.jsonl"
    wanted = Candidate(title=PAPER["title"], repository="ours/small-steps")
    release = Candidate(title=known_papers()[0].title, repository="x/y", stars=9)
    file.write_text("".join(f"{each.model_dump_json()}\n" for each in (wanted, release)))

    def answer(path: str, _: dict[str, str], __: int) -> Answer:
        if path == "/paper/search/match":
            return 200, {}, {"data": [PAPER]}
        return 200, {}, "takes 2 days on 4 GPUs" if path.endswith("/readme") else REPOSITORY

    out, page = tmp_path / "chosen.jsonl", tmp_path / "page.html"
    with service(answer) as (address, _):
        places = {"EXPBENCH_GITHUB_URL": address, "EXPBENCH_SCHOLAR_URL": address}
        told = run(
            "--from", file, "--enrich", "--stars", "100", "--out", out, "--page", page, env=places
        )
    assert "already in the benchmark" in told and "ours/small-steps" in told
    (line,) = [json.loads(each) for each in out.read_text().splitlines()]
    assert (line["rank"], line["candidate"]["stars"]) == (1, 340)
    sides = {each["side"]: each["level"] for each in line["difficulty"]["signs"]}
    assert sides["gpus"] == 3 and sides["time"] == 4
    shown = page.read_text()
    assert shown.count("<circle") == 2 and "1 of 2 candidates passed" in shown
    again = json.loads(run("--from", out, "--json"))
    assert [each["candidate"]["citations"] for each in again["fates"]] == [120]


def test_a_page_shows_hostile_titles_as_text(tmp_path: Path) -> None:
    file, page = tmp_path / "c.jsonl", tmp_path / "page.html"
    file.write_text(paper("<script>x</script>", stars=1, citations=1).model_dump_json())
    run("--from", file, "--page", page)
    assert "<script" not in page.read_text() and "&lt;script&gt;" in page.read_text()


def test_what_a_user_gets_wrong_is_one_sentence(tmp_path: Path) -> None:
    assert "Name where candidates come from" in run(code=2)
    assert "cannot be read" in run("--from", tmp_path / "none", code=2)
    file = tmp_path / "c.jsonl"
    file.write_text(paper("X").model_dump_json())
    assert "is no folder" in run("--from", file, "--clones", tmp_path / "none", code=2)
    assert "cannot be written" in run("--from", file, "--out", tmp_path / "no" / "x", code=2)
