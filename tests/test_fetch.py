"""Fetching the release and the papers' repositories: whole, proved, or not at all."""

from __future__ import annotations

import hashlib
import http.server
import io
import json
import os
import shutil
import stat
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from typer.testing import CliRunner
from workspaces import run_git

from expbench.cli import settings
from expbench.cli.main import app
from expbench.dataset import Suite, archives, fetch, load_suite
from expbench.dataset.fetch import ReleaseFile, fetch_release, release_files, release_folder
from expbench.dataset.release import known_tree, released_papers
from expbench.errors import DataError, RepositoryError
from expbench.schema import Repository, ResearchTask
from expbench.workspace import SourceFinder, mask, materialise
from expbench.workspace.repository import submodules
from expbench.workspace.repository.making import unfinished
from expbench.workspace.repository.repos import Origin, Pin, PinState, fetch_pins, pins_of
from expbench.workspace.repository.submodules import https_address

# --- the release ---------------------------------------------------------------------------------

CONTENTS = {
    "logs/v/list.json": b"[]\n",
    "outputs/logs/v/1/1_complete_final.json": b'{"questions": []}\n',
    "outputs/logs/v/2/2_complete_final.json": b'{"questions": [] }\n',
}
PLACES = {"v/list.json", "v/1/1_complete_final.json", "v/2/2_complete_final.json"}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """A release of three small files."""
    files = tuple(
        ReleaseFile(path, hashlib.sha256(content).hexdigest()) for path, content in CONTENTS.items()
    )
    monkeypatch.setattr(fetch, "release_files", lambda: files)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    return CONTENTS


def as_folder(path: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


def as_zip(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def as_tar(path: Path, files: dict[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:
        for name, content in files.items():
            add(archive, name, content)
    return path


def add(archive: tarfile.TarFile, name: str, content: bytes, **facts: object) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    for fact, value in facts.items():
        setattr(member, fact, value)
    archive.addfile(member, io.BytesIO(content))


def kept(root: Path) -> set[str]:
    """Every file below a cache's data folder but the lock."""
    return {str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()} - {".lock"}


MAKERS: dict[str, Callable[[Path, dict[str, bytes]], Path]] = {
    "folder": as_folder,
    "zip": as_zip,
    "tar.gz": as_tar,
    "tar": lambda path, files: as_tar(path, files, "w:"),
    "tar.xz": lambda path, files: as_tar(path, files, "w:xz"),
    "tar.bz2": lambda path, files: as_tar(path, files, "w:bz2"),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_only_the_wanted_files_are_taken_wherever_they_lie(
    tmp_path: Path, small: dict[str, bytes], kind: str
) -> None:
    moved = {f"deep/er/{name}": content for name, content in small.items()}
    extra = {"deep/agent.py": b"x", "deep/old/1_complete_final.json": b"another version"}
    given = MAKERS[kind](tmp_path / f"given.{kind}", {**extra, **moved})
    assert fetch_release(tmp_path / "data", given) is True
    folder = release_folder(tmp_path / "data")
    assert kept(folder) == PLACES
    assert (folder / "v/2/2_complete_final.json").read_bytes() == b'{"questions": [] }\n'
    assert fetch_release(tmp_path / "data", tmp_path / "absent") is False


@pytest.mark.parametrize("kind", ["folder", "zip", "tar.gz"])
def test_a_wrong_checksum_names_the_file_and_keeps_nothing(
    tmp_path: Path, small: dict[str, bytes], kind: str
) -> None:
    """R16: the data set is the one that every result names, byte for byte."""
    changed = {**small, "outputs/logs/v/2/2_complete_final.json": b'{"questions": []}\n'}
    given = MAKERS[kind](tmp_path / f"given.{kind}", changed)
    with pytest.raises(DataError, match=r"v/2/2_complete_final\.json.*checksum"):
        fetch_release(tmp_path / "data", given)
    assert kept(tmp_path / "data") == set()
    assert fetch_release(tmp_path / "data", as_folder(tmp_path / "right", small))


def test_a_missing_file_is_named(tmp_path: Path, small: dict[str, bytes]) -> None:
    given = as_folder(tmp_path / "given", dict(list(small.items())[:1]))
    with pytest.raises(DataError, match=r"lacks 1_complete_final\.json and 1 more"):
        fetch_release(tmp_path / "data", given)
    assert kept(tmp_path / "data") == set()
    with pytest.raises(DataError, match="no folder or archive"):
        fetch_release(tmp_path / "data", tmp_path / "absent")


def test_a_damaged_release_is_made_whole_again(tmp_path: Path, small: dict[str, bytes]) -> None:
    given = as_folder(tmp_path / "given", small)
    fetch_release(tmp_path / "data", given)
    broken = release_folder(tmp_path / "data") / "v/list.json"
    broken.write_bytes(b"[")
    assert fetch_release(tmp_path / "data", given) is True
    assert broken.read_bytes() == b"[]\n"
    assert kept(release_folder(tmp_path / "data")) == PLACES


@pytest.mark.parametrize(
    "name",
    ["../escape.json", "a/../../escape.json", "/tmp/escape.json", "..\\escape.json", "C:\\x"],
)
@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_an_archive_with_a_name_that_leads_out_is_refused(
    tmp_path: Path, small: dict[str, bytes], kind: str, name: str
) -> None:
    """R28."""
    given = MAKERS[kind](tmp_path / f"given.{kind}", {**small, name: b"evil"})
    with pytest.raises(DataError, match="leads out of its folder"):
        fetch_release(tmp_path / "data", given)
    assert kept(tmp_path / "data") == set()
    assert not list(tmp_path.rglob("escape.json"))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, "zip"])
def test_a_wanted_file_that_is_a_link_or_device_is_refused(
    tmp_path: Path, small: dict[str, bytes], kind: bytes | str
) -> None:
    """R28: a link in an archive would read a file of this machine."""
    given = tmp_path / "given"
    if isinstance(kind, bytes):
        with tarfile.open(given, "w:gz") as archive:
            add(archive, "v/list.json", b"", type=kind, linkname="/etc/passwd")
    else:
        with zipfile.ZipFile(given, "w") as archive:
            link = zipfile.ZipInfo("v/list.json")
            link.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(link, "/etc/passwd")
    with pytest.raises(DataError, match="link or device"):
        fetch_release(tmp_path / "data", given)
    assert kept(tmp_path / "data") == set()


@pytest.mark.parametrize("kind", ["folder", "zip", "tar.gz", "tar.xz"])
def test_a_bomb_is_not_unpacked(
    tmp_path: Path, small: dict[str, bytes], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R28."""
    monkeypatch.setattr(archives, "MEMBER_CAP", 10_000)
    given = MAKERS[kind](tmp_path / f"given.{kind}", {**small, "b/list.json": bytes(10_001)})
    with pytest.raises(DataError, match=r"b/list\.json.*larger"):
        fetch_release(tmp_path / "data", given)
    assert kept(tmp_path / "data") == set()


def test_an_archive_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, small: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R28: also when the much is in files that nobody wants, and when no file is large."""
    monkeypatch.setattr(archives, "TOTAL_CAP", 50_000)
    bomb = as_tar(tmp_path / "bomb.tar.gz", {"unwanted.bin": bytes(1_000_000), **small})
    many = as_zip(tmp_path / "many.zip", {f"{i}/list.json": bytes(9_000) for i in range(6)})
    for given in (bomb, many):
        with pytest.raises(DataError, match="larger"):
            fetch_release(tmp_path / "data", given)
    monkeypatch.setattr(archives, "NAMES_CAP", 10)
    names = {f"{i}.txt": b"" for i in range(12)}
    for kind in ("folder", "zip", "tar"):
        with pytest.raises(DataError, match="over 10 files"):
            fetch_release(tmp_path / "data", MAKERS[kind](tmp_path / f"names.{kind}", names))
    assert kept(tmp_path / "data") == set()


@pytest.mark.parametrize("kind", ["zip", "tar.gz", "tar.xz", "tar.bz2"])
def test_a_truncated_archive_is_said_to_be_one(
    tmp_path: Path, small: dict[str, bytes], kind: str
) -> None:
    given = MAKERS[kind](tmp_path / f"given.{kind}", {**small, "x.bin": os.urandom(50_000)})
    content = given.read_bytes()
    for size in (0, 3, 40, len(content) // 2):
        given.write_bytes(content[:size])
        with pytest.raises(DataError, match=r"cannot be read|lacks"):
            fetch_release(tmp_path / "data", given)
    given.write_bytes(b"this is no archive at all" * 100)
    with pytest.raises(DataError, match="cannot be read"):
        fetch_release(tmp_path / "data", given)
    assert kept(tmp_path / "data") == set()


@dataclass
class Server:
    """Serves files on loopback; ``answers`` are statuses to give first, by path."""

    files: dict[str, bytes]
    answers: dict[str, list[int]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    address: str = ""


@contextmanager
def serving(files: dict[str, bytes]) -> Iterator[Server]:
    server = Server(files)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.lstrip("/")
            server.asked.append(path)
            waiting = server.answers.get(path)
            status = waiting.pop(0) if waiting else (200 if path in server.files else 404)
            self.send_response(status)
            if status == 401:
                self.send_header("WWW-Authenticate", 'Basic realm="papers"')
            content = server.files.get(path, b"") if status == 200 else b""
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        server.address = f"http://127.0.0.1:{running.server_address[1]}"
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        running.shutdown()
        thread.join()


def test_a_download_tries_again_and_goes_on_where_it_stopped(
    tmp_path: Path, small: dict[str, bytes]
) -> None:
    """R43: what came is not asked for a second time."""
    first, second, third = small
    with serving(dict(small)) as server:
        server.answers = {first: [500, 503], third: [404]}
        with pytest.raises(DataError, match=r"2_complete_final\.json.*status 404.*--from"):
            fetch_release(tmp_path / "data", address=server.address)
        assert not release_folder(tmp_path / "data").exists()
        assert server.asked.count(first) == 3
        seen: list[int] = []
        assert fetch_release(
            tmp_path / "data", None, lambda name, done, total: seen.append(done), server.address
        )
        assert server.asked.count(first) == 3
        assert server.asked.count(second) == 1
        assert seen[-1] == 3
    assert kept(tmp_path / "data") == {f"{release_folder(Path()).name}/{name}" for name in PLACES}


def test_a_download_with_a_wrong_checksum_keeps_nothing(
    tmp_path: Path, small: dict[str, bytes]
) -> None:
    with (
        serving({**small, "logs/v/list.json": b"[1]\n"}) as server,
        pytest.raises(DataError, match=r"logs/v/list\.json.*checksum"),
    ):
        fetch_release(tmp_path / "data", address=server.address)
    assert kept(tmp_path / "data") == set()


def test_no_network_is_one_sentence(tmp_path: Path, small: dict[str, bytes]) -> None:
    with pytest.raises(DataError, match=r"cannot be downloaded.*--from"):
        fetch_release(tmp_path / "data", address="http://127.0.0.1:9")


def test_the_manifest_lists_the_release_and_the_cache_then_serves_it(
    tmp_path: Path, release: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R16: 51 task files and two lists of papers, and the tasks are those of the user's folder."""
    beside = Path(__file__).parents[2] / "shared" / "expbench-data"
    data = Path(os.environ.get("EXPBENCH_DATA", beside))
    monkeypatch.delenv("EXPBENCH_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert settings.data_folder(None) is None
    done = CliRunner().invoke(app, ["tasks", "fetch", "--from", str(data), "--json"])
    facts = json.loads(done.stdout)
    assert done.exit_code == 0 and facts["files"] == len(release_files()) == 53
    assert settings.data_folder(None) == Path(facts["folder"])
    assert load_suite("expbench", settings.data_folder(None)).version == release.version
    assert settings.data_folder(tmp_path) == tmp_path
    monkeypatch.setenv("EXPBENCH_DATA", str(tmp_path / "own"))
    assert settings.data_folder(None) == tmp_path / "own"


# --- repositories --------------------------------------------------------------------------------


def repository(root: Path, files: dict[str, str], links: dict[str, str] | None = None) -> str:
    """A repository with one commit, which is returned; ``links`` are submodules' commits by path."""
    root.mkdir(parents=True, exist_ok=True)
    run_git(root, "init", "-q", "-b", "main")
    return commit(root, files, links)


def commit(root: Path, files: dict[str, str], links: dict[str, str] | None = None) -> str:
    as_folder(root, {name: text.encode() for name, text in files.items()})
    run_git(root, "add", "-A", "-f")
    for path, oid in (links or {}).items():
        run_git(root, "update-index", "--add", "--cacheinfo", f"160000,{oid},{path}")
    run_git(root, "commit", "-q", "--allow-empty", "-m", "files")
    return run_git(root, "rev-parse", "HEAD")


def modules(**paths: str) -> str:
    """A ``.gitmodules`` with an address for each path; ``__`` stands for a slash."""
    return "".join(
        f'[submodule "{path}"]\n\tpath = {path.replace("__", "/")}\n\turl = "{url}"\n'
        for path, url in paths.items()
    )


HOST = "https://host.example"


@dataclass(frozen=True)
class Mirror:
    """A folder of clones with one paper, whose repository has submodules in submodules."""

    root: Path
    commit: str
    part: str

    @property
    def pin(self) -> Pin:
        return Pin(f"{HOST}/owner/paper", self.commit, ("v/1",))


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    """``paper`` has ``libs/part`` by an ssh address and ``part`` has ``inner`` by a relative one."""
    root = tmp_path / "mirror"
    inner = repository(root / "owner/inner", {"kernel.cu": "fast\n"})
    part = repository(
        root / "owner+part/repo",
        {"train.py": "secret\n", "README.md": "part\n", ".gitmodules": modules(inner="../inner")},
        {"inner": inner},
    )
    commit(root / "owner+part/repo", {"train.py": "moved on\n"})
    address = "git@host.example:owner/part.git"
    pin = repository(
        root / "owner/paper",
        {"run.py": "1\n", "README.md": "x", ".gitmodules": modules(libs__part=address)},
        {"libs/part": part},
    )
    commit(root / "owner/paper", {"run.py": "moved on\n"})
    bare = root / "owner+part/bare"
    run_git(root, "clone", "-q", "--bare", str(root / "owner+part/repo"), str(bare))
    shutil.rmtree(root / "owner+part/repo")
    bare.rename(root / "owner+part/repo")
    return Mirror(root, pin, part)


def bring(store: Path, mirror: Path, *pins: Pin) -> tuple[PinState, ...]:
    return fetch_pins(pins, store, Origin(mirror), 4, lambda state: None)


def task_of(pin: Pin, *masked: str) -> ResearchTask:
    return ResearchTask(
        id="v/1/0",
        paper="v/1",
        venue="v",
        type=1,
        repository=Repository(url=pin.url, commit=pin.commit),
        question="q",
        method="m",
        mask=masked,
    )


def test_submodules_are_folders_of_the_workspace_and_can_be_masked(
    tmp_path: Path, mirror: Mirror
) -> None:
    """R39, R41: at the recorded commits, though the clones have moved on; ssh is not needed."""
    (state,) = bring(tmp_path / "store", mirror.root, mirror.pin)
    assert state.state == "fetched" and state.contents is not None, state.reason
    assert [(each.path, each.url) for each in state.contents.submodules] == [
        ("libs/part", f"{HOST}/owner/part.git"),
        ("libs/part/inner", f"{HOST}/owner/inner"),
    ]
    assert state.contents.submodules[0].commit == mirror.part
    assert state.contents.files == 7
    shutil.rmtree(mirror.root)
    prepared = SourceFinder(tmp_path / "store").prepared(task_of(mirror.pin, "libs/part/train.py"))
    materialise(prepared, tmp_path / "w")
    files = {str(p.relative_to(tmp_path / "w")) for p in (tmp_path / "w").rglob("*") if p.is_file()}
    assert {name for name in files if not name.startswith(".git/")} == {
        ".gitmodules",
        "run.py",
        "libs/part/.gitmodules",
        "libs/part/README.md",
        "libs/part/inner/kernel.cu",
    }
    assert (tmp_path / "w/run.py").read_text() == "1\n"
    assert prepared.refused == ()


def test_the_same_pin_gives_the_same_tree_and_commit_everywhere(
    tmp_path: Path, mirror: Mirror
) -> None:
    first, second = (
        bring(tmp_path / name, mirror.root, mirror.pin)[0].contents for name in ("one", "two")
    )
    assert first is not None and first == second
    assert first.whole != first.commit == mirror.commit
    assert first.tree == run_git(
        mirror.root / "owner/paper", "rev-parse", f"{mirror.commit}^{{tree}}"
    )


@pytest.mark.parametrize(
    ("address", "https"),
    [
        ("git@host.example:a/b.git", f"{HOST}/a/b.git"),
        ("host.example:a/b", f"{HOST}/a/b"),
        ("ssh://git@host.example/a/b.git", f"{HOST}/a/b.git"),
        ("ssh://git@host.example:2222/a/b", f"{HOST}/a/b"),
        ("git://host.example/a/b", f"{HOST}/a/b"),
        ("http://host.example/a/b/", f"{HOST}/a/b"),
        ("https://host.example:8443/g/s/b", f"{HOST}:8443/g/s/b"),
        ("https://token@host.example/a/b", f"{HOST}/a/b"),
        ("../b.git", f"{HOST}/own/b.git"),
        ("../../a/b", f"{HOST}/a/b"),
        ("./b", f"{HOST}/own/paper/b"),
    ],
)
def test_addresses_of_submodules_become_https(address: str, https: str) -> None:
    """R39."""
    assert https_address(address, f"{HOST}/own/paper") == https


@pytest.mark.parametrize(
    "address",
    [
        "/etc",
        "file:///etc",
        "ext::sh -c touch% canary",
        "--upload-pack=touch canary",
        "-u:x/y",
        "https://host.example/../../etc",
        "https://-oProxyCommand=x/a/b",
        "git@host.example:../../etc",
        "../../../../../etc",
        "https://host.example/a/b c",
        "",
    ],
)
def test_addresses_that_are_no_place_on_the_network_are_refused(address: str) -> None:
    with pytest.raises(RepositoryError, match="no https form"):
        https_address(address, f"{HOST}/own/paper")


def test_a_submodule_that_cannot_be_had_is_named_and_nothing_is_kept(
    tmp_path: Path, mirror: Mirror
) -> None:
    """R39."""
    shutil.rmtree(mirror.root / "owner/inner")
    (state,) = bring(tmp_path / "store", mirror.root, mirror.pin)
    assert state.state == "failed"
    assert "Submodule libs/part/inner" in state.reason and f"{HOST}/owner/inner" in state.reason
    assert list((tmp_path / "store").iterdir()) == []


def test_a_submodule_without_an_address_is_listed_and_left_out(tmp_path: Path) -> None:
    pin = repository(tmp_path / "m/o/p", {"a.py": "1\n"}, {"vendored": "1" * 40})
    (state,) = bring(tmp_path / "store", tmp_path / "m", Pin(f"{HOST}/o/p", pin, ()))
    assert state.contents is not None and state.contents.unresolved == ("vendored",)
    assert state.contents.whole == pin


def test_submodules_that_nest_without_end_are_refused(
    tmp_path: Path, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("MAX_DEPTH", "MAX_SUBMODULES"):
        with monkeypatch.context() as patch:
            patch.setattr(submodules, limit, 1)
            (state,) = bring(tmp_path / "store", mirror.root, mirror.pin)
        assert state.state == "failed" and "more submodules" in state.reason


def lose(clone: Path, treeish: str) -> None:
    """Delete the loose object of a file."""
    oid = run_git(clone, "rev-parse", treeish)
    git_dir = clone if (clone / "objects").is_dir() else clone / ".git"
    (git_dir / "objects" / oid[:2] / oid[2:]).unlink()


def test_a_clone_that_lacks_objects_is_reported_with_the_paths_and_the_others_are_kept(
    tmp_path: Path, mirror: Mirror
) -> None:
    """R42, R5: one broken clone spoils no other repository."""
    pin = repository(tmp_path / "mirror/o/big", {"data/big.bin": "much\n", "ä b.txt": "2\n"})
    for name in ("data/big.bin", "ä b.txt"):
        lose(tmp_path / "mirror/o/big", f"{pin}:{name}")
    wanted = Pin(f"{HOST}/o/big", pin, ("v/2",))
    broken, fine = bring(tmp_path / "store", mirror.root, wanted, mirror.pin)
    assert (broken.state, fine.state) == ("failed", "fetched")
    assert broken.missing == ("data/big.bin", "ä b.txt")
    assert [p.name for p in (tmp_path / "store").iterdir()] == [f"git-{mirror.commit}.git"]
    with pytest.raises(RepositoryError, match=r"data/big\.bin"):
        SourceFinder(tmp_path / "store", clones=mirror.root).source(task_of(wanted))


def test_what_a_submodules_clone_lacks_is_reported_by_its_path_in_the_paper(
    tmp_path: Path, mirror: Mirror
) -> None:
    lose(mirror.root / "owner/inner", "HEAD:kernel.cu")
    (state,) = bring(tmp_path / "store", mirror.root, mirror.pin)
    assert state.missing == ("libs/part/inner/kernel.cu",)
    assert list((tmp_path / "store").iterdir()) == []


def test_a_pin_that_the_clone_does_not_have_fails_and_head_is_not_taken(
    tmp_path: Path, mirror: Mirror
) -> None:
    """R41."""
    pins = [Pin(mirror.pin.url, wrong, ()) for wrong in ("0" * 40, "main", "")]
    pins.append(Pin(f"{HOST}/owner/unknown", "0" * 40, ()))
    states = bring(tmp_path / "store", mirror.root, *pins)
    assert [state.state for state in states] == ["failed"] * 4
    assert all(state.reason for state in states)
    assert list((tmp_path / "store").iterdir()) == []


def test_another_tree_than_the_known_one_fails(
    tmp_path: Path, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R41: the tree hash must be the packaged one."""
    monkeypatch.setattr("expbench.workspace.repository.repos.known_tree", lambda commit: "e" * 40)
    (state,) = bring(tmp_path / "store", mirror.root, mirror.pin)
    assert state.state == "failed" and "e" * 40 in state.reason
    assert list((tmp_path / "store").iterdir()) == []


def test_the_packaged_table_has_a_tree_for_all_pins_but_one() -> None:
    papers = released_papers().values()
    trees = [tree for paper in papers for tree in (paper.tree, *paper.task_trees.values())]
    assert [paper.id for paper in papers if not paper.tree] == ["18540"]
    assert all(len(tree) == 40 for tree in trees if tree)
    assert len(set(trees) - {""}) == 51
    for paper in papers:
        assert known_tree(paper.commit) == paper.tree
        assert all(known_tree(pin) == tree for pin, tree in paper.task_trees.items())
    assert known_tree("0" * 40) == known_tree("") == ""


def test_lfs_pointers_are_listed(tmp_path: Path) -> None:
    """R40."""
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 74361\n"
    attributes = "*.parquet filter=lfs diff=lfs merge=lfs -text\n"
    files = {"d/x.parquet": pointer, "lfs.md": f"see\n{pointer}", ".gitattributes": attributes}
    pin = repository(tmp_path / "m/o/p", files)
    (state,) = bring(tmp_path / "store", tmp_path / "m", Pin(f"{HOST}/o/p", pin, ()))
    assert state.contents is not None and state.contents.lfs == ("d/x.parquet",)


def test_a_hostile_clone_runs_nothing(tmp_path: Path, mirror: Mirror) -> None:
    """R13, R39: hooks, filters, monitors, commands in settings and in ``.gitmodules``."""
    canary = tmp_path / "canary"
    touch = f"touch {canary}"
    clone = mirror.root / "o/evil"
    text = modules(libs__part="git@host.example:owner/part.git")
    files = {
        ".gitmodules": f"{text}\tupdate = !{touch}\n[include]\n\tpath = {tmp_path}/included\n",
        ".gitattributes": "* filter=evil diff=evil\n",
        "a.py": "1\n",
    }
    (tmp_path / "included").write_text(modules(libs__part="https://other.example/x/y"))
    pin = repository(clone, files, {"libs/part": mirror.part})
    hook = clone / "hook"
    hook.write_text(f"#!/bin/sh\n{touch}\n")
    hook.chmod(0o755)
    for name in ("core.fsmonitor", "core.sshCommand", "core.alternateRefsCommand", "core.pager"):
        run_git(clone, "config", name, str(hook))
    for name in ("filter.evil.smudge", "diff.evil.textconv", "uploadpack.packObjectsHook"):
        run_git(clone, "config", name, str(hook))
    run_git(clone, "config", "remote.origin.url", str(mirror.root / "owner/paper"))
    run_git(clone, "config", "remote.origin.promisor", "true")
    run_git(clone, "config", "remote.origin.uploadpack", str(hook))
    run_git(clone, "config", "extensions.partialClone", "origin")
    run_git(clone, "config", "core.repositoryFormatVersion", "1")
    hooks = clone / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "post-update", "pre-auto-gc"):
        shutil.copy(hook, hooks / name)
    wanted = Pin(f"{HOST}/o/evil", pin, ())
    (state,) = bring(tmp_path / "store", mirror.root, wanted)
    assert state.state == "fetched" and state.contents is not None, state.reason
    materialise(mask(SourceFinder(tmp_path / "store").source(task_of(wanted)), ()), tmp_path / "w")
    lose(clone, f"{pin}:a.py")
    (state,) = bring(tmp_path / "second", mirror.root, wanted)
    assert state.missing == ("a.py",)
    assert not canary.exists()
    # The traps are real: the user's own git springs them.
    with pytest.raises(subprocess.CalledProcessError):
        run_git(clone, "cat-file", "-p", f"{pin}:a.py")
    assert canary.exists()


@pytest.mark.parametrize("address", ["ext::touch% {canary}", "file://{mirror}/owner/part", "/etc"])
def test_a_hostile_address_of_a_submodule_is_refused(
    tmp_path: Path, mirror: Mirror, address: str
) -> None:
    canary = tmp_path / "canary"
    url = address.format(canary=canary, mirror=mirror.root)
    pin = repository(mirror.root / "o/e", {".gitmodules": modules(s=url)}, {"s": mirror.part})
    (state,) = bring(tmp_path / "store", mirror.root, Pin(f"{HOST}/o/e", pin, ()))
    assert state.state == "failed" and "Submodule s cannot be had" in state.reason
    assert not canary.exists()


def test_a_server_that_asks_for_a_password_is_a_failure_and_no_prompt(tmp_path: Path) -> None:
    """R39."""
    with serving({}) as server:
        server.answers = {"o/p/info/refs?service=git-upload-pack": [401] * 9}
        pin = Pin(f"{server.address}/o/p", "1" * 40, ())
        (state,) = fetch_pins([pin], tmp_path / "store", Origin(), 1, lambda state: None)
        assert server.asked
    assert state.state == "failed" and state.reason


def test_git_goes_through_the_users_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving({}) as proxy:
        monkeypatch.setenv("http_proxy", proxy.address)
        monkeypatch.setenv("GIT_PROXY_COMMAND", "touch canary")
        network = settings.network_variables()
        assert "GIT_PROXY_COMMAND" not in network
        pin = Pin("http://papers.invalid/o/p", "1" * 40, ())
        fetch_pins([pin], tmp_path / "store", Origin(network=network), 1, lambda state: None)
        assert any("papers.invalid/o/p" in path for path in proxy.asked)


def test_a_second_fetch_has_everything_and_a_damaged_store_is_mended(
    tmp_path: Path, mirror: Mirror
) -> None:
    """R43."""
    store = tmp_path / "store"
    bring(store, mirror.root, mirror.pin)
    assert bring(store, tmp_path / "nothing", mirror.pin)[0].state == "had"
    objects = store / f"git-{mirror.commit}.git" / "objects"
    for folder in objects.glob("??"):
        shutil.rmtree(folder)
    assert bring(store, mirror.root, mirror.pin)[0].state == "fetched"
    (store / f"git-{mirror.commit}.git" / "expbench.json").write_text("{")
    assert bring(store, mirror.root, mirror.pin)[0].state == "fetched"


def test_what_a_killed_fetch_left_is_removed_and_what_a_living_one_makes_is_not(
    tmp_path: Path, mirror: Mirror
) -> None:
    """R23, R43."""
    dead = subprocess.Popen(["true"])
    dead.wait()
    for process in (dead.pid, os.getpid()):
        (tmp_path / "store" / f"{unfinished()}{process}-x").mkdir(parents=True)
    bring(tmp_path / "store", mirror.root, mirror.pin)
    left = {path.name for path in (tmp_path / "store").iterdir()}
    assert left == {f"{unfinished()}{os.getpid()}-x", f"git-{mirror.commit}.git"}


def test_each_pinned_commit_is_wanted_once(release: Suite, mini: Suite) -> None:
    """Suite ``mini`` ships its code; of the release's 51 repositories one has two pins."""
    assert pins_of(mini.tasks) == ()
    pins = pins_of(release.tasks)
    assert len({pin.url for pin in pins}) == 51
    twice = [pin for pin in pins if "repobench" in pin.url]
    assert len(twice) == len(pins) - 50 == 2


def test_the_command_prints_a_table_and_fails_when_one_failed(
    tmp_path: Path, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R5, R41: exit code 1, the others are kept; ``--paper`` and ``--json``."""
    question = {"question": "q", "method": "m", "expected_outcome": "o", "no_answer": "x"}
    for paper, pin in (("1", mirror.commit), ("2", "0" * 40)):
        content = {
            "questions": [question],
            "repository": {"url": mirror.pin.url, "commit": pin},
        }
        name = f"data/v/{paper}/{paper}_complete_final.json"
        as_folder(tmp_path, {name: json.dumps(content).encode()})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    arguments = ["repos", "fetch", "--data", str(tmp_path / "data"), "--mirror", str(mirror.root)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1
    assert "2 repositories: 1 fetched, 0 had, 1 failed; 7 files" in done.stdout
    assert f"owner/paper {'0' * 8}: failed" in done.stdout
    one = CliRunner().invoke(app, [*arguments, "--paper", "v/1", "--json"])
    (state,) = json.loads(one.stdout)["repositories"]
    assert (one.exit_code, state["state"], state["papers"]) == (0, "had", ["v/1"])
    assert CliRunner().invoke(app, [*arguments, "--paper", "nobody"]).exit_code == 2
