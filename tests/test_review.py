"""Reviews: what is decided stays, who may decide, what others make of it, and how far reviewers agree."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from review_pages import (
    Server,
    decided,
    digest,
    draft,
    field,
    project,
    serving,
    write_draft,
)
from typer.testing import CliRunner

from expbench.cli.main import app
from expbench.construct.records import Decision
from expbench.errors import DataError, UserError
from expbench.failures.sampling import kappa
from expbench.review.agreeing import agree, kappa_interval
from expbench.review.book import Asked, Book, StaleError
from expbench.review.decisions import decisions, reviewed, spent, standing
from expbench.review.project import ProjectSubject

FIRST, SECOND = "venue/paper/0", "venue/paper/1"


def word(number: int, kind: Any, name: str = "question", **more: Any) -> Decision:
    at = f"2026-01-02T03:04:{number:02d}+00:00"
    return Decision(draft=FIRST, field=name, kind=kind, at=at, number=number, **more)


def asked(name: str = "question", kind: Any = "accept", **more: Any) -> Asked:
    return Asked(**{"draft": FIRST, "field": name, "kind": kind, "last": 0, "of": "x", **more})


# --- what others make of decisions -----------------------------------------------------------------


def test_a_reviewed_draft_has_the_fixes_and_tells_what_was_rejected() -> None:
    made = [
        word(1, "accept"),
        word(2, "fix", "method", value="Train twice."),
        word(3, "reject", "requirements/0", reason="The step is not in the code."),
    ]
    found = reviewed(draft(0), {"ann": made})
    assert found.fields["method"].value == "Train twice."
    assert found.fields["method"].spans == draft(0).fields["method"].spans
    assert found.accepted == ("question", "method")
    assert found.rejected == {"requirements/0": "The step is not in the code."}
    assert reviewed(draft(1), {"ann": made}) == draft(1), "another draft is left alone"


def test_an_undo_uncovers_the_decision_before_and_then_none() -> None:
    made = [word(1, "fix", value="One?"), word(2, "reject", reason="no"), word(3, "undo")]
    assert reviewed(draft(0), {"ann": made}).fields["question"].value == "One?"
    assert standing([*made, word(4, "undo"), word(5, "undo")]) == {}


def test_of_several_reviewers_the_latest_fix_and_any_rejection_count() -> None:
    ann = [word(1, "fix", value="Ann's?"), word(2, "reject", "method", reason="vague")]
    bob = [word(3, "fix", value="Bob's?"), word(4, "accept", "method")]
    found = reviewed(draft(0), {"bob": bob, "ann": ann})
    assert found.fields["question"].value == "Bob's?"
    assert found.rejected == {"method": "vague"} and found.accepted == ("question",)


def test_a_decision_says_nothing_about_a_value_that_a_later_stage_wrote() -> None:
    made = [word(1, "accept", of=digest(draft(0), "question"))]
    assert reviewed(draft(0), {"ann": made}).accepted == ("question",)
    again = draft(0, question=field("Is it another question?"))
    assert reviewed(again, {"ann": made}) == again


def test_time_is_told_by_draft() -> None:
    assert spent([word(1, "accept", seconds=3), word(2, "undo", seconds=4.5)]) == {FIRST: 7.5}


# --- keeping ---------------------------------------------------------------------------------------


def test_two_books_of_one_reviewer_count_on_together(tmp_path: Path) -> None:
    one, other = Book(tmp_path, "ann"), Book(tmp_path, "ann")
    numbers = [
        one.add(asked(f"f{n}")).number if n % 2 else other.add(asked(f"f{n}")).number
        for n in range(6)
    ]
    assert numbers == [1, 2, 3, 4, 5, 6]
    assert one.all() == other.all() == decisions(tmp_path)["ann"]


def test_who_has_not_seen_the_newest_decision_is_refused_and_shown_it(tmp_path: Path) -> None:
    book = Book(tmp_path, "ann")
    first = book.add(asked(tab="a"))
    with pytest.raises(StaleError) as refused:
        book.add(asked(kind="reject", reason="no", tab="b"))
    assert refused.value.newest == first
    assert book.add(asked(kind="reject", reason="no", tab="b", last=1)).number == 2
    with pytest.raises(StaleError):
        book.add(asked(kind="undo", tab="a", last=1))
    assert len(book.all()) == 2


def test_what_is_sent_twice_since_its_answer_got_lost_is_kept_once(tmp_path: Path) -> None:
    book = Book(tmp_path, "ann")
    assert book.add(asked(tab="a")) == book.add(asked(tab="a", seconds=9))
    assert len(book.all()) == 1


def test_a_line_that_a_kill_cut_short_is_cut_off_and_nothing_else(tmp_path: Path) -> None:
    book = Book(tmp_path, "ann")
    kept = [book.add(asked(f"f{n}")) for n in range(3)]
    with book.path.open("ab") as file:
        file.write(b'{"draft":"venue/pap')
    assert list(decisions(tmp_path)["ann"]) == kept, "readers pass over it"
    again = Book(tmp_path, "ann")
    assert again.add(asked("later")).number == 4
    assert [each.field for each in decisions(tmp_path)["ann"]] == ["f0", "f1", "f2", "later"]


def test_a_damaged_line_is_named_and_not_passed_over(tmp_path: Path) -> None:
    book = Book(tmp_path, "ann")
    book.add(asked())
    book.path.write_text(book.path.read_text() + "{}\n")
    with pytest.raises(DataError, match=r"ann\.jsonl, line 2 is damaged"):
        Book(tmp_path, "ann")


@pytest.mark.parametrize("name", ["", "../ann", "a/b", ".hidden", "a" * 61, "a\nb"])
def test_a_reviewers_name_is_that_of_a_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot name a file"):
        Book(tmp_path, name)


# --- the server ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("project") / "p"
    secret = folder.parent / "secret.txt"
    secret.write_text("outside")
    project(folder, [draft(0), draft(1)])
    (folder / "repo/.git").mkdir()
    (folder / "repo/.git/config").write_text("inside git")
    (folder / "repo/linked.py").symlink_to(secret)
    (folder / "repo/folder").symlink_to(folder.parent)
    with serving(folder) as found:
        yield found


def test_the_page_answers_with_its_token_only(server: Server) -> None:
    token = server.address.rstrip("/").rpartition("/")[2]
    assert len(token) >= 40
    for path in ("", "overview", "static/app.js", "page/1.png", "nowhere", "agreement"):
        assert server.get(path).status_code == (404 if path == "nowhere" else 200)
        for wrong in ("", "x", token[:-1], token + "x", token.swapcase(), "é", "%00"):
            answer = httpx.get(f"{server.origin}/{wrong}/{path}")
            assert answer.status_code == 403 and token not in answer.text
    assert httpx.get(server.origin).status_code == 403
    other = {"Origin": server.origin, "Content-Type": "application/json"}
    assert httpx.post(f"{server.origin}/x/decision", json={}, headers=other).status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", ""]
)
def test_another_host_is_refused(host: str, server: Server) -> None:
    given = {"Host": host.format(port=server.port)}
    assert httpx.get(server.address, headers=given).status_code == 403
    own = {"Host": f"localhost:{server.port}"}
    assert httpx.get(server.address, headers=own).status_code == 200


def test_another_pages_decision_is_refused(server: Server) -> None:
    now = server.fields(FIRST)["question"]
    made = {
        "draft": FIRST,
        "field": "question",
        "kind": "accept",
        "last": now["last"],
        "of": now["of"],
    }
    assert server.post(made, Origin="http://evil.example").status_code == 403
    assert server.post(made, Origin="null").status_code == 403
    assert server.post(made, Origin="").status_code == 403
    plain = {"Content-Type": "text/plain"}
    assert server.post(made, **plain).status_code == 415
    assert httpx.put(server.address + "decision", json=made).status_code == 405
    assert server.fields(FIRST)["question"]["last"] == now["last"]


def test_every_answer_forbids_what_is_not_its_own(server: Server) -> None:
    for path in ("", "overview", "static/app.js", "nowhere", "page/1.png", "agreement", "../x"):
        headers = server.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"


def test_only_the_repositorys_own_files_are_shown(server: Server) -> None:
    def lines(path: str, first: int = 1, last: int = 3) -> Any:
        return server.json("lines", path=path, first=first, last=last)

    found = lines("src/train.py", 299, 400)
    assert found["lines"] == ["value_299 = train(batch=299)", "value_300 = train(batch=300)"]
    assert (found["first"], found["total"]) == (299, 300)
    secret = Path(server.said.split(": ")[1].split("/p/reviews")[0]) / "secret.txt"
    for path in (
        "../../secret.txt",
        str(secret),
        "linked.py",
        "folder/secret.txt",
        ".git/config",
        "src",
        "",
        "nowhere.py",
        "a\0b",
        "x" * 9_000,
    ):
        answer = lines(path)
        assert answer["problem"] == "The repository has no such file." and answer["lines"] == []
    assert lines("src/train.py", 900, 901)["lines"] == ["value_300 = train(batch=300)"]
    assert server.get("page/3.png").status_code == 404
    assert server.get("page/9.png").status_code == 404
    assert server.get("static/..%2Fweb.py").status_code == 404


def test_a_decision_has_to_make_sense(server: Server) -> None:
    def refused(name: str, kind: str, **more: Any) -> str:
        answer = server.decide(FIRST, name, kind, **more)
        assert answer.status_code in (400, 422), answer.text
        return str(answer.json()["message"])

    assert "rejected" in refused("question", "reject", reason=" ")
    assert "Write a text" in refused("question", "fix", value=["a"])
    assert "list of texts" in refused("masked_source", "fix", value="a")
    assert "object" in refused("design_complexity", "fix", value=[])
    assert "Accept" in refused("question", "label", value="met")
    assert "well formed" in refused("question", "dance")
    assert "well formed" in refused("question", "accept", seconds=-1)
    assert "anew" in refused("question", "accept", of="0" * 64)
    none = {"draft": FIRST, "field": "none", "kind": "accept", "last": 0, "of": ""}
    assert server.post(none).status_code == 422
    assert server.post({**none, "draft": "nothing"}).status_code == 404
    assert server.post("x").status_code == 400
    assert server.post({**none, "value": _nested(150)}).status_code == 422
    assert server.post({**none, "value": _nested(900)}).status_code == 400
    long = {**none, "value": "x" * 3_000_000}
    assert server.post(long).status_code in (400, 413)
    assert server.json("overview")["tasks"][0]["decided"] == 0


def _nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def test_decisions_are_counted_timed_and_taken_back(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", [draft(0), draft(1)])
    with serving(folder) as server:
        assert server.decide(FIRST, "question", "accept", seconds=20).json()["last"] == 1
        fix = server.decide(
            SECOND, "method", "fix", value="Train once.", reason="wrong", seconds=40
        )
        assert fix.json()["decision"]["value"] == "Train once."
        assert server.decide(FIRST, "question", "undo").json()["decision"] is None
        tasks = server.json("overview")["tasks"]
        assert [(t["decided"], t["total"], t["seconds"]) for t in tasks] == [(0, 5, 20), (1, 5, 40)]
        stale = server.decide(SECOND, "method", "accept", last=0, tab="other")
        assert stale.status_code == 409
        assert "another tab" in stale.json()["message"]
        assert stale.json()["field"]["decision"]["value"] == "Train once."
        code, said = server.interrupt()
    assert code == 0
    assert "1 of 10 fields of 2 tasks are decided by ann in 1 minutes" in said
    (second,) = [each for each in ProjectSubject(folder).drafts() if each.id == SECOND]
    assert reviewed(second, decisions(folder)).fields["method"].value == "Train once."


def test_a_field_that_a_stage_writes_anew_is_open_again(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", [draft(0)])
    with serving(folder) as server:
        server.decide(FIRST, "question", "accept")
        old = server.fields(FIRST)["question"]
        write_draft(folder, draft(0, question=field("Another question, longer than before?")))
        now = server.fields(FIRST)["question"]
        assert old["decision"] and now["decision"] is None and now["last"] == old["last"]
        late = server.decide(FIRST, "question", "accept", of=old["of"])
        assert late.status_code == 422
        assert server.decide(FIRST, "question", "accept").status_code == 200


def test_what_was_answered_outlives_a_kill(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", [draft(n) for n in range(4)])
    answered = []
    with serving(folder) as server:
        for number in range(4):
            for name in ("question", "method"):
                answer = server.decide(f"venue/paper/{number}", name, "accept")
                answered.append((answer.json()["decision"]["draft"], name))
        server.kill()
    with (folder / "reviews/ann.jsonl").open("ab") as file:
        file.write(b'{"draft": "venue/paper/0", "fi')
    with serving(folder) as server:
        assert "8 of 20 fields" in server.said
        assert server.decide(FIRST, "masked_source", "accept").json()["last"] == 9
    made = [(each.draft, each.field) for each in decisions(folder)["ann"]]
    assert made == [*answered, (FIRST, "masked_source")]


def test_a_crowd_and_a_kill_lose_no_answered_decision(tmp_path: Path) -> None:
    """Two servers for one reviewer, many at once, and one of the servers killed on the way."""
    folder = project(tmp_path / "p", [draft(n) for n in range(20)])
    places = [(f"venue/paper/{n}", name) for n in range(20) for name in sorted(draft(0).fields)]
    with serving(folder) as one, serving(folder) as other, ThreadPoolExecutor(8) as crowd:

        def decide(at: int) -> tuple[str, str] | None:
            if at == 60:
                one.kill()
            try:
                made = (one if at % 2 else other).decide(*places[at], "accept")
            except httpx.TransportError:
                return None
            return places[at] if made.status_code == 200 else None

        answered = {place for place in crowd.map(decide, range(100)) if place}
    found = decisions(folder)["ann"]
    kept = {(each.draft, each.field) for each in found}
    assert answered <= kept and 50 <= len(answered) < 100
    assert [each.number for each in found] == list(range(1, len(found) + 1))


def test_two_servers_review_one_project(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", [draft(0)])
    with (
        serving(folder, "ann") as ann,
        serving(folder, "bob") as bob,
        serving(folder, "ann") as too,
    ):
        assert len({ann.port, bob.port, too.port}) == 3
        assert ann.decide(FIRST, "question", "accept").status_code == 200
        assert bob.fields(FIRST)["question"]["decision"] is None, "reviewers do not see each other"
        assert too.fields(FIRST)["question"]["decision"]["kind"] == "accept"
        assert too.decide(FIRST, "method", "reject", reason="no").json()["last"] == 2
        assert bob.decide(FIRST, "question", "reject", reason="no").json()["last"] == 1
        page = ann.get("agreement").text
        assert "ann and bob" in page and "0 of 1" in page


def test_a_thousand_tasks_are_listed(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", [draft(n) for n in range(1000)])
    with serving(folder) as server:
        tasks = server.json("overview")["tasks"]
        assert [each["id"] for each in tasks[8:12]] == [f"venue/paper/{n}" for n in range(8, 12)]
        assert server.decide("venue/paper/777", "question", "accept").status_code == 200
        assert server.json("overview")["tasks"][777]["decided"] == 1


# --- the command -----------------------------------------------------------------------------------


def command(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["review", *arguments], env={"COLUMNS": "200"})
    return done.exit_code, done.output + (done.stderr if done.stderr_bytes else "")


def test_what_a_user_can_mend_is_one_sentence(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", [draft(0)])
    for arguments, words in (
        ([str(tmp_path)], "neither a project nor a run"),
        ([str(folder), "--reviewer", "a/b"], "cannot name a file"),
        ([str(folder), "--json"], "--agreement"),
        ([str(folder), "--export", str(tmp_path / "x.jsonl")], "is a project"),
    ):
        code, said = command(*arguments)
        assert code == 2 and words in said and "Traceback" not in said
    (folder / "drafts/venue_paper_0.json").write_text("{}")
    code, said = command(str(folder))
    assert code == 2 and "is no draft of a task" in said


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", [draft(0)])
    with serving(folder) as server:
        code, said = command(str(folder), "--port", str(server.port))
        assert code == 2 and "choose another with --port" in said


# --- agreement -------------------------------------------------------------------------------------


def test_agreement_is_told_by_kind_of_field_with_intervals(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", [draft(n) for n in range(4)])
    tasks = [f"venue/paper/{n}" for n in range(4)]
    ann = [(t, "question", "accept") for t in tasks] + [(t, "method", "accept") for t in tasks[:2]]
    ann += [(t, "method", "reject") for t in tasks[2:]]
    bob = [(t, "question", "accept") for t in tasks] + [(t, "method", "accept") for t in tasks[:3]]
    bob += [(tasks[3], "method", "reject")]
    decided(folder / "reviews/ann.jsonl", *ann)
    decided(folder / "reviews/bob.jsonl", *bob)
    code, said = command(str(folder), "--agreement", "--json")
    assert code == 0
    found = json.loads(said)
    rows = {row["kind"]: row for row in found["pairs"]}
    assert set(rows) == {"all", "question", "method"}
    assert (rows["method"]["same"], rows["method"]["both"]) == (3, 4)
    assert rows["method"]["kappa"] == pytest.approx(0.5)
    assert rows["question"]["kappa"] is None, "one word only: chance explains everything"
    interval = rows["method"]["kappa_interval"]
    assert interval["low"] <= 0.5 <= interval["high"] and interval["how"] == "bootstrap over tasks"
    assert 0 < rows["method"]["defined"] < 2_000
    assert found["reviewers"][0]["minutes"] == pytest.approx(0.8)
    assert found["reviewers"][0]["words"] == {"accept": 6, "reject": 2}
    code, said = command(str(folder), "--agreement")
    assert code == 0 and "ann and bob" in said and "0.50" in said and "not defined" in said


def test_fixes_agree_when_their_values_do(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", [draft(0)])
    for name, value in (("ann", "The same."), ("bob", "The same."), ("eve", "Another.")):
        made = (FIRST, "question", "fix")
        decided(
            folder / f"reviews/{name}.jsonl", made, value=value, of=digest(draft(0), "question")
        )
    found = agree(ProjectSubject(folder).tasks(), decisions(folder))
    alike = {(p.first, p.second): (p.fixed, p.alike) for p in found.pairs if p.kind == "all"}
    assert alike == {("ann", "bob"): (1, 1), ("ann", "eve"): (1, 0), ("bob", "eve"): (1, 0)}
    assert {p.interval.how for p in found.pairs} == {"no interval: one task"}


def test_one_reviewer_agrees_with_nobody(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", [draft(0)])
    decided(folder / "reviews/ann.jsonl", (FIRST, "question", "accept"))
    code, said = command(str(folder), "--agreement")
    assert code == 0 and "One reviewer" in said and "1 of 5" in said


def test_the_interval_of_kappa_is_that_of_drawn_tasks() -> None:
    """Tasks drawn by hand, without tables, give the same kappas."""
    import numpy as np

    rows = [
        (f"t{n // 3}", "ab"[n % 2], "ab"[(n * n) % 2 if n < 20 else n % 3 == 0]) for n in range(30)
    ]
    interval, of = kappa_interval(rows)
    names = list(dict.fromkeys(task for task, _, _ in rows))
    draws = np.random.default_rng(20_250_524).multinomial(10, np.full(10, 0.1), 2_000)
    values = []
    for often in draws:
        own = [
            r
            for name, count in zip(names, often, strict=True)
            for r in rows
            if r[0] == name
            for _ in range(count)
        ]
        value = kappa([a for _, a, _ in own], [b for _, _, b in own])
        if value is not None:
            values.append(value)
    assert of == len(values)
    assert (interval.low, interval.high) == pytest.approx(
        tuple(np.quantile(values, (0.025, 0.975)))
    )
