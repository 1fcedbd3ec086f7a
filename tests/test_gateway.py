"""Network ``packages``: package managers work, and nothing else does (R14, R15).

Upstreams are real servers on loopback; package managers run in a network namespace that has no other
way out than the forwarder and the gateway.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import io
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tarfile
import threading
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from expbench.errors import PrerequisiteError, SandboxError, UserError
from expbench.sandboxes import bubblewrap, forwarder
from expbench.sandboxes.network import (
    Bounds,
    Denied,
    Gateway,
    Index,
    from_settings,
    host_runner,
)
from expbench.schema import Refusal, Repository, ResearchTask

PORT = 3128
JSON_PAGE = "application/vnd.pypi.simple.v1+json"

# --- upstreams -----------------------------------------------------------------------------------

Answer = tuple[int, dict[str, str], bytes | Iterator[bytes]]


@dataclass
class Site:
    """A server on loopback that the test fills: answers by path, and what it was asked."""

    answers: dict[str, Answer | Callable[[], Answer]] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def put(self, path: str, body: bytes | str, kind: str = "text/html", **headers: str) -> None:
        data = body.encode() if isinstance(body, str) else body
        length = {"Content-Length": str(len(data))}
        self.answers[path] = (200, {"Content-Type": kind, **length, **headers}, data)

    def redirect(self, path: str, target: str) -> None:
        self.answers[path] = (302, {"Location": target, "Content-Length": "0"}, b"")

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]


@contextlib.contextmanager
def serving(site: Site) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            site.asked.append((self.path, headers))
            found = site.answers.get(self.path, (404, {"Content-Length": "0"}, b""))
            status, said, body = found() if callable(found) else found
            self.send_response(status)
            for name, value in said.items():
                self.send_header(name, value)
            self.close_connection = True
            self.end_headers()
            with contextlib.suppress(OSError):
                for chunk in [body] if isinstance(body, bytes) else body:
                    self.wfile.write(chunk)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def wheel(name: str, requires: str = "", filling: int = 0) -> bytes:
    """A wheel with one module that says hello."""
    info = f"{name}-1.0.dist-info"
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    files = {
        f"{name}.py": f"GREETING = 'hello from {name}'\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        if filling:
            archive.writestr(f"{name}.bin", os.urandom(filling))
        listed = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
        archive.writestr(f"{info}/RECORD", listed)
    return data.getvalue()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def publish(site: Site, name: str, data: bytes, *, as_json: bool = False, digest: str = "") -> str:
    """Put a wheel and its page on a site; the file's path there."""
    file = f"{name.replace('-', '_')}-1.0-py3-none-any.whl"
    place, digest = f"/files/{name}/{file}", digest or sha256(data)
    site.put(place, data, "application/zip")
    if as_json:
        row = {"filename": file, "url": f"../..{place}", "hashes": {"sha256": digest}}
        page: dict[str, Any] = {"meta": {"api-version": "1.0"}, "name": name, "files": [row]}
        site.put(f"/simple/{name}/", json.dumps(page), JSON_PAGE)
    else:
        site.put(f"/simple/{name}/", f'<a href="{place}#sha256={digest}">{file}</a>')
    return place


# --- gateways ------------------------------------------------------------------------------------

OWN = Denied.of_task(
    ResearchTask(
        id="v/p/0",
        paper="p",
        venue="v",
        title="RecalNet: How to Recalibrate Deep Networks Without Any Labels",
        type=1,
        repository=Repository(url="https://github.com/some-lab/re-cal"),
        question="",
        method="",
    ),
    ("recal-core",),
)


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as found:
        yield found


@dataclass
class Made:
    """A running gateway, and what it refused."""

    gateway: Gateway
    socket: Path
    refusals: list[Refusal]

    def raw(self, request: bytes, seconds: float = 20) -> bytes:
        """Everything that comes back for these bytes."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(seconds)
            client.connect(str(self.socket))
            client.sendall(request)
            found = b""
            with contextlib.suppress(ConnectionResetError):
                while chunk := client.recv(65536):
                    found += chunk
            return found

    def get(self, target: str, method: str = "GET", **headers: str) -> tuple[int, bytes]:
        lines = [f"{name}: {value}" for name, value in {"Host": "gateway", **headers}.items()]
        found = self.raw("\r\n".join([f"{method} {target} HTTP/1.1", *lines, "", ""]).encode())
        head, _, body = found.partition(b"\r\n\r\n")
        if b"transfer-encoding: chunked" in head.lower():
            body = unchunked(body)
        return int(head.split()[1]) if head else 0, body

    def links(self, page: str) -> list[str]:
        """The addresses of the files that a page of the gateway names."""
        status, body = self.get(page)
        assert status == 200, body
        found = re.findall(r'href="http://gateway(/[^"#]+)', body.decode())
        assert len(found) == body.count(b"href=")
        return found


def unchunked(body: bytes) -> bytes:
    found = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size or b"0", 16)
        found, body = found + body[:length], body[length + 2 :]
    return found


Make = Callable[..., Made]


@pytest.fixture
def make(site: Site, tmp_path: Path) -> Iterator[Make]:
    """Starts gateways with a cache of their own that they share."""
    with contextlib.ExitStack() as stack:

        def begin(
            indexes: tuple[Index, ...] | None = None,
            allow: tuple[str, ...] = (),
            denied: Denied | None = OWN,
            **bounds: float,
        ) -> Made:
            if indexes is None:
                indexes = (Index.at("pypi", f"{site.url}/simple"),)
            place = Path(tmp_path, f"gateway-{time.monotonic_ns()}", "socket")
            refusals: list[Refusal] = []
            gateway = Gateway(
                place,
                indexes,
                allow,
                denied,
                cache=tmp_path / "cache",
                refused=refusals.append,
                bounds=replace(Bounds(), **bounds),
            )
            stack.enter_context(gateway)
            return Made(gateway, place, refusals)

        yield begin


@pytest.fixture
def made(make: Make) -> Made:
    return make()


# --- in a network namespace ----------------------------------------------------------------------

INNER = """\
import subprocess, sys
program, place, port, *command = sys.argv[1:]
forwarder = subprocess.Popen([sys.executable, "-I", program, place, port], stdout=subprocess.PIPE)
assert forwarder.stdout.readline() == b"ready\\n"
done = subprocess.run(command)
forwarder.kill()
forwarder.wait()
sys.exit(done.returncode)
"""


@pytest.fixture
def inside(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command where there is no network but loopback, a forwarder and the gateway's socket."""
    try:
        program = bubblewrap.check()
    except PrerequisiteError as error:
        pytest.skip(f"no bubblewrap sandbox on this machine: {error}")
    home = tmp_path / "home"
    home.mkdir()

    def run(made: Made, *command: str, variables: bool = True) -> subprocess.CompletedProcess[str]:
        start = [program, "--unshare-net", "--unshare-pid", "--die-with-parent", "--clearenv"]
        start += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        start += ["--bind", str(tmp_path), str(tmp_path), "--chdir", str(home)]
        said = {"HOME": str(home), "PATH": os.environ["PATH"], "PIP_CONFIG_FILE": "/dev/null"}
        said |= {"PIP_NO_CACHE_DIR": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        said |= made.gateway.environment(PORT) if variables else {}
        for name, value in said.items():
            start += ["--setenv", name, value]
        inner = [sys.executable, "-c", INNER, forwarder.__file__, str(made.socket), str(PORT)]
        return subprocess.run(
            [*start, "--", *inner, *command], capture_output=True, text=True, timeout=120, env={}
        )

    return run


Inside = Callable[..., subprocess.CompletedProcess[str]]


def pip(*arguments: str) -> list[str]:
    if importlib.util.find_spec("pip") is None:
        pytest.skip("no pip beside this Python")
    return [sys.executable, "-m", "pip", *arguments]


@pytest.mark.parametrize("as_json", [False, True])
def test_pip_installs_a_package_and_what_it_needs(
    make: Make, site: Site, inside: Inside, tmp_path: Path, as_json: bool
) -> None:
    """R14: a package mirror works, over both forms of an index's pages."""
    publish(site, "outer", wheel("outer", requires="inner"), as_json=as_json)
    publish(site, "inner", wheel("inner"), as_json=as_json)
    made = make()
    done = inside(made, *pip("install", "--target", str(tmp_path / "out"), "outer"))
    assert done.returncode == 0, done.stderr
    assert "hello from inner" in (tmp_path / "out" / "inner.py").read_text()
    assert made.refusals == []


def test_pip_does_not_get_the_papers_own_package(
    make: Make, site: Site, inside: Inside, tmp_path: Path
) -> None:
    """R14: the release of the same package is refused, in its own name and as a dependency."""
    publish(site, "re-cal", wheel("re_cal"))
    publish(site, "outer", wheel("outer", requires="Re.Cal"))
    made = make()
    for wanted in ("RE_CAL", "outer"):
        done = inside(made, *pip("install", "--target", str(tmp_path / "out"), wanted))
        assert done.returncode != 0
    assert {(each.kind, each.target) for each in made.refusals} == {("package", "re-cal")}
    assert all(each.papers for each in made.refusals)
    assert not any("cal" in path for path in site.paths())
    control = make(denied=Denied())
    done = inside(control, *pip("install", "--target", str(tmp_path / "out"), "outer"))
    assert done.returncode == 0, done.stderr


def test_uv_installs_a_package(make: Make, site: Site, inside: Inside, tmp_path: Path) -> None:
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        pytest.skip("no uv beside this Python")
    publish(site, "outer", wheel("outer", requires="inner"), as_json=True)
    publish(site, "inner", wheel("inner"), as_json=True)
    made = make()
    target = ["--python", sys.executable, "--target", str(tmp_path / "out")]
    done = inside(made, str(uv), "pip", "install", *target, "outer")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "inner.py").exists()


def tarball(name: str) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        text = json.dumps({"name": name, "version": "1.0.0"}).encode()
        member = tarfile.TarInfo("package/package.json")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    return data.getvalue()


def publish_npm(site: Site, name: str, data: bytes, digest: str = "") -> None:
    bare = name.rpartition("/")[2]
    place = f"/npm/{name}/-/{bare}-1.0.0.tgz"
    hashed = digest or hashlib.sha512(data).hexdigest()
    import base64

    integrity = f"sha512-{base64.b64encode(bytes.fromhex(hashed)).decode()}"
    dist = {"tarball": site.url + place, "integrity": integrity}
    facts = {"name": name, "version": "1.0.0", "dist": dist}
    page = {"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": facts}}
    site.put(place, data, "application/octet-stream")
    for path in (name, name.replace("/", "%2f"), name.replace("/", "%2F")):
        site.put(f"/npm/{path}", json.dumps(page), "application/json")


def test_npm_installs_a_package(make: Make, site: Site, inside: Inside, tmp_path: Path) -> None:
    """R14: also with a scope; the paper's own package is refused there too."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no npm on this machine")
    for name in ("plain", "@scope/scoped", "re-cal", "@some-lab/recal-core"):
        publish_npm(site, name, tarball(name))
    made = make((Index.at("npm", f"{site.url}/npm/"),))
    folder = tmp_path / "project"
    folder.mkdir()
    prefix = ["--prefix", str(folder), "--ignore-scripts"]
    done = inside(made, npm, "install", *prefix, "plain", "@scope/scoped")
    assert done.returncode == 0, done.stderr
    assert (folder / "node_modules" / "@scope" / "scoped" / "package.json").exists()
    for own in ("re-cal", "@some-lab/recal-core"):
        assert inside(made, npm, "install", *prefix, own).returncode != 0
    assert {each.target for each in made.refusals} == {"re-cal", "@some-lab/recal-core"}


REACH = """\
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=5).close()
except OSError as error:
    sys.exit(f"not reached: {error}")
"""


@pytest.mark.parametrize("variables", [True, False])
def test_there_is_no_other_way_out(made: Made, site: Site, inside: Inside, variables: bool) -> None:
    """R15: with proxy variables unset, direct TCP fails; the same works outside, as a control."""
    reach = [sys.executable, "-c", REACH, "127.0.0.1", str(site.port)]
    assert subprocess.run(reach, timeout=30).returncode == 0
    assert "not reached" in inside(made, *reach, variables=variables).stderr
    # A documentation address: no packet of it could leave the namespace.
    far = [sys.executable, "-c", REACH, "192.0.2.1", "53"]
    assert "not reached" in inside(made, *far, variables=variables).stderr
    name = "import socket; socket.getaddrinfo('example.com', 443)"
    assert inside(made, sys.executable, "-c", name, variables=variables).returncode != 0


def test_an_unlisted_host_is_refused_to_a_proxy_user_and_recorded(
    made: Made, inside: Inside
) -> None:
    """R14: each block is logged."""
    code = "import urllib.request as u; u.urlopen('https://example.com/x', timeout=20)"
    assert "403" in inside(made, sys.executable, "-c", code).stderr
    assert [(each.kind, each.target) for each in made.refusals] == [("host", "example.com:443")]


# --- what is denied ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "re-cal", "Re_Cal", "RE.CAL", "re--cal", "re-._cal", "recal", "re%2dcal", "re%2Dcal",
        "%72e-cal", "py-recal", "python-re-cal", "recal-pytorch", "recal-nightly", "recalnet",
        "recal_core",
    ],
)  # fmt: skip
def test_the_own_package_is_refused_in_every_spelling(made: Made, site: Site, name: str) -> None:
    """R14: names, affixes and encodings."""
    status, body = made.get(f"/pypi/0/simple/{name}/")
    assert status == 403
    assert b"own package" in body
    assert made.refusals[0].kind == "package"
    assert site.asked == []


@pytest.mark.parametrize(
    "path",
    [
        "/pypi/0/simple//re-cal/", "//pypi/0/simple/re-cal/", "/pypi/0/simple/x/../re-cal/",
        "/pypi/0/simple/%2e%2e/re-cal/", "/pypi/0/simple/x%2f..%2fre-cal/", "/pypi/0/simple/./re-cal/",
        "/pypi/0/simple/re%252dcal/", "/pypi/0/simple/r%C3%A9-cal/", "/pypi/0/simple/%EF%BD%92e-cal/",
        "/pypi/0/simple/re%E2%80%90cal/", "/pypi/0/simple/re%00cal/", "/pypi/0/simple/re-cal%20/",
        "/pypi/0/simple/re-cal%0d%0aX:y/", "/pypi/0/simple/re\\cal/", "/pypi/0/simple/re%ffcal/",
        "/pypi/0/simple/", "/pypi/0/simple/other/re-cal-1.0.tar.gz", "/pypi/0/pypi/other/json",
        "/pypi/1/simple/other/", "/pypi/99999/simple/other/", "/npm/0/other", "/", "/other", "*",
    ],
)  # fmt: skip
def test_an_odd_path_is_refused_rather_than_understood(made: Made, site: Site, path: str) -> None:
    assert made.get(path)[0] == 403
    assert len(made.refusals) == 1
    assert site.asked == []


@pytest.mark.parametrize(
    "file",
    [
        "re-cal-1.0.tar.gz", "re_cal-1.0-py3-none-any.whl", "ReCal-2.zip", "recal_1.0_all.deb",
        "python3-re-cal_1.0-1_all.deb", "recal.tar.gz", "recal-main.zip", "re%2dcal-v1.0.tgz",
        "re%252dcal-1.0.tar.gz", "recal-core-1.0-py_0.conda", "RecalNet-1!1.0.tar.gz",
    ],
)  # fmt: skip
def test_the_own_package_is_known_by_its_file(file: str) -> None:
    assert OWN.file(file)


@pytest.mark.parametrize("name", ["numpy", "recall", "torch", "calibration", "recal-extra-tools"])
def test_other_packages_are_not_denied(name: str) -> None:
    assert OWN.package(name) == OWN.file(f"{name}-1.0.tar.gz") == ""
    assert Denied().package(name) == ""


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/some-lab/re-cal", "https://github.com/a-fork/re-cal/archive/main.zip",
        "https://gitlab.com/x/Re-Cal.git", "https://arxiv.org/pdf/2505.1", "http://www.openreview.net/",
        "https://huggingface.co/x/re-cal", "https://github.com/x/%72e-cal", "https://a.org/recal-1.tgz",
        "https://a.org/?q=recalnet+how+to+recalibrate+deep+networks+without+any+labels",
    ],
)  # fmt: skip
def test_repository_forks_and_papers_are_denied(url: str) -> None:
    """R14: paper hosts, the repository, its forks and mirrors."""
    assert OWN.url(url)


def test_ordinary_addresses_are_not_denied() -> None:
    for url in ("https://github.com/other/thing", "https://example.com/data.zip"):
        assert OWN.url(url) == ""


def test_files_of_the_own_package_on_another_page_are_left_out(make: Make, site: Site) -> None:
    """R14: an innocent page that names them, or a link signed where nothing was denied, gains nothing."""
    own = publish(site, "re-cal", wheel("re_cal"))
    fork = "https://github.com/a/re-cal/archive/other-1.0.zip"
    site.put(
        "/simple/other/", f'<a href="{own}">x</a><a href="{fork}">y</a><a href="/o-1.zip">z</a>'
    )
    site.put("/o-1.zip", b"zip")
    assert [link.rpartition("/")[2] for link in make().links("/pypi/0/simple/other/")] == [
        "o-1.zip"
    ]
    signed = make(denied=Denied()).links("/pypi/0/simple/other/")
    assert len(signed) == 3
    made = make()
    assert [made.get(link)[0] for link in signed] == [403, 403, 200]


# --- links, redirects, digests -------------------------------------------------------------------


def test_only_files_that_a_page_named_are_fetched(made: Made, site: Site) -> None:
    publish(site, "other", wheel("other"))
    site.put("/secret.whl", b"secret")
    (link,) = made.links("/pypi/0/simple/other/")
    assert made.get(link)[0] == 200
    segment = link.split("/")[-2]
    for wrong in (
        link.replace(segment, segment[:-6] + "AAAAAA"),
        link.replace("other-1.0", "third-1.0"),
        link.replace(segment, "secret.whl"),
        f"/pypi/0/file/{site.url}/secret.whl",
        f"{link}.metadata",
    ):
        assert made.get(wrong)[0] == 403
    assert "/secret.whl" not in site.paths()
    assert len(made.refusals) == 5


def test_a_link_of_one_index_is_none_of_another(make: Make, site: Site) -> None:
    publish(site, "other", wheel("other"))
    first = Index.at("pypi", f"{site.url}/simple")
    made = make((first, Index.at("pypi", f"{site.url}/elsewhere", ca="")))
    (link,) = made.links("/pypi/0/simple/other/")
    assert made.get(link.replace("/pypi/0/", "/pypi/1/"))[0] == 403


def test_a_page_may_not_lead_into_a_private_network(make: Make, site: Site) -> None:
    """A page that names an address beside its own origin in a private network is not followed there."""
    with serving(Site()) as victim:
        victim.put("/o-1.zip", b"private")
        site.put("/simple/other/", f'<a href="{victim.url}/o-1.zip">o-1.zip</a>')
        made = make()
        (link,) = made.links("/pypi/0/simple/other/")
        status, body = made.get(link)
        assert (status, victim.asked) == (403, [])
        assert b"public internet" in body
        allowed = make(allow=(f"127.0.0.1:{victim.port}",))
        assert allowed.get(link) == (200, b"private")


def test_redirects_out_of_an_index_are_not_followed(make: Make, site: Site) -> None:
    with serving(Site()) as attacker:
        attacker.put("/simple/other/", '<a href="/evil-1.zip">evil-1.zip</a>')
        attacker.put("/o-1.zip", b"evil")
        site.redirect("/simple/other/", f"{attacker.url}/simple/other/")
        site.put("/simple/third/", '<a href="/o-1.zip">o-1.zip</a>')
        site.redirect("/o-1.zip", f"{attacker.url}/o-1.zip")
        made = make()
        assert made.get("/pypi/0/simple/other/")[0] == 403
        (link,) = made.links("/pypi/0/simple/third/")
        assert made.get(link)[0] == 403
        assert attacker.asked == []
        assert [each.kind for each in made.refusals] == ["host", "host"]


def test_redirects_within_an_index_are_followed_but_not_to_the_own_package(
    made: Made, site: Site
) -> None:
    publish(site, "re-cal", wheel("re_cal"))
    publish(site, "other", wheel("other"))
    site.redirect("/simple/moved/", "/simple/other/")
    site.redirect("/simple/alias/", "/simple/re-cal/")
    site.redirect("/simple/round/", "/simple/round/")
    assert len(made.links("/pypi/0/simple/moved/")) == 1
    assert made.get("/pypi/0/simple/alias/")[0] == 403
    assert made.get("/pypi/0/simple/round/")[0] == 502
    assert "/simple/re-cal/" not in site.paths()


@pytest.mark.parametrize("filling", [0, 3_000_000])
def test_a_file_with_another_digest_never_arrives_whole(
    make: Make, site: Site, tmp_path: Path, filling: int
) -> None:
    data = wheel("other", filling=filling)
    publish(site, "other", data, digest=sha256(b"something else"))
    made = make()
    (link,) = made.links("/pypi/0/simple/other/")
    status, body = made.get(link)
    assert (status, len(body) < len(data)) == (200 if filling else 403, True)
    assert [each.kind for each in made.refusals] == ["package"]
    assert list((tmp_path / "cache" / "files").iterdir()) == []


def test_a_download_is_shared_and_a_changed_one_is_noticed(
    make: Make, site: Site, tmp_path: Path
) -> None:
    data = wheel("other", filling=200_000)
    place = publish(site, "other", data)
    first, second = make(), make()
    (link,) = first.links("/pypi/0/simple/other/")
    assert first.get(link) == (200, data)
    (again,) = second.links("/pypi/0/simple/other/")
    assert second.get(again) == (200, data)
    assert site.paths().count(place) == 1
    (kept,) = (tmp_path / "cache" / "files").iterdir()
    kept.write_bytes(b"poison" + data[6:])
    assert second.get(link) == (200, data)
    assert site.paths().count(place) == 2


def test_the_cache_is_private_and_bounded(make: Make, site: Site, tmp_path: Path) -> None:
    made = make(cache_bytes=500_000)
    for number in range(4):
        publish(site, f"other{number}", wheel(f"other{number}", filling=200_000))
        (link,) = made.links(f"/pypi/0/simple/other{number}/")
        assert made.get(link)[0] == 200
    files = list((tmp_path / "cache" / "files").iterdir())
    assert sum(each.stat().st_size for each in files) <= 500_000
    assert len(files) == 2
    assert (tmp_path / "cache").stat().st_mode & 0o077 == 0


def test_metadata_beside_a_file_is_checked_too(made: Made, site: Site) -> None:
    """PEP 658: pip asks for it instead of the whole file."""
    data = wheel("other")
    place = publish(site, "other", data)
    for text, digest in (("right", sha256(b"right")), ("wrong", sha256(b"right"))):
        site.put(f"{place}.metadata", text)
        site.put(
            "/simple/other/",
            f'<a href="{place}#sha256={sha256(data)}" data-core-metadata="sha256={digest}">x</a>',
        )
        (link,) = made.links("/pypi/0/simple/other/")
        assert made.get(f"{link}.metadata")[0] == 200
    site.put("/simple/third/", f'<a href="{place}" data-core-metadata="sha256={"0" * 64}">x</a>')
    (link,) = made.links("/pypi/0/simple/third/")
    assert made.get(f"{link}.metadata")[0] == 403


def test_credentials_stay_on_the_host(make: Make, site: Site) -> None:
    publish(site, "other", wheel("other"))
    address = site.url.replace("://", "://robot:s3%40cret@")
    index = Index.at("pypi", f"{address}/simple/")
    made = make((index,), allow=(f"127.0.0.1:{site.port}",))
    (link,) = made.links("/pypi/0/simple/other/")
    assert made.get(link)[0] == 200
    expected = "Basic cm9ib3Q6czNAY3JldA=="
    assert [headers["authorization"] for _, headers in site.asked] == [expected] * 2
    made.get(f"{site.url}/simple/other/")
    assert "authorization" not in site.asked[-1][1]
    shown = f"{link}{made.gateway.environment(PORT)}{made.gateway.files(PORT)}{index!r}"
    assert "s3" not in shown.replace(link.split("/")[-2], "") and "robot" not in shown


def test_a_secret_in_an_indexs_path_is_not_in_its_links(make: Make, site: Site) -> None:
    import base64

    site.put("/t/TOPSECRET/simple/other/", '<a href="../../files/o-1.zip">x</a>')
    site.put("/t/TOPSECRET/files/o-1.zip", b"zip")
    made = make((Index.at("pypi", f"{site.url}/t/TOPSECRET/simple/"),))
    (link,) = made.links("/pypi/0/simple/other/")
    assert b"TOPSECRET" not in base64.urlsafe_b64decode(link.split("/")[-2] + "===")
    assert made.get(link) == (200, b"zip")


# --- conda, apt, npm without their tools -----------------------------------------------------------


def test_conda_and_apt_are_passed_on_but_for_the_own_package(make: Make, site: Site) -> None:
    for path in (
        "/c/noarch/repodata.json.zst", "/c/linux-64/other-1.0-py_0.conda", "/c/noarch/re-cal-1-0.conda",
        "/d/dists/bookworm/InRelease", "/d/pool/main/o/other/other_1%3a2.0~rc1+b1-1_amd64.deb",
        "/d/pool/main/r/re-cal/python3-re-cal_1.0_all.deb",
    ):  # fmt: skip
        site.put(path.replace("%3a", ":"), path)
    made = make((Index.at("conda", f"{site.url}/c"), Index.at("apt", f"{site.url}/d")))
    got = [
        made.get(path)[0]
        for path in (
            "/conda/0/noarch/repodata.json.zst", "/conda/0/linux-64/other-1.0-py_0.conda",
            "/conda/0/noarch/re-cal-1-0.conda", "/conda/0/secret/x.conda",
            "/apt/1/dists/bookworm/InRelease",
            "/apt/1/pool/main/o/other/other_1%3a2.0~rc1+b1-1_amd64.deb",
            "/apt/1/pool/main/r/re-cal/python3-re-cal_1.0_all.deb", "/apt/1/../c/noarch/x.conda",
        )
    ]  # fmt: skip
    assert got == [200, 200, 403, 403, 200, 200, 403, 403]


def test_npm_tarballs_are_checked_against_their_integrity(make: Make, site: Site) -> None:
    publish_npm(site, "plain", tarball("plain"), digest="0" * 128)
    made = make((Index.at("npm", f"{site.url}/npm/"),))
    status, body = made.get("/npm/0/plain")
    assert status == 200
    link = json.loads(body)["versions"]["1.0.0"]["dist"]["tarball"]
    assert made.get(link.removeprefix("http://gateway"))[0] == 403
    assert [each.kind for each in made.refusals] == ["package"]
    assert made.get("/npm/0/-/npm/v1/security/advisories/bulk", "POST")[0] == 403


# --- as a proxy ------------------------------------------------------------------------------------


@contextlib.contextmanager
def echoing() -> Iterator[int]:
    """A TCP server on loopback that sends back what it gets; its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                with client:
                    while data := client.recv(65536):
                        client.sendall(data)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def test_a_tunnel_leads_to_an_allowed_host_only(make: Make) -> None:
    with echoing() as port:
        made = make(allow=(f"127.0.0.1:{port}",))
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(20)
            client.connect(str(made.socket))
            client.sendall(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: x\r\n\r\nearly".encode())
            reply = b""
            while not reply.endswith(b"early"):
                reply += client.recv(1000)
            assert reply.startswith(b"HTTP/1.1 200")
            client.sendall(b"later")
            assert client.recv(1000) == b"later"
            client.shutdown(socket.SHUT_WR)
            assert client.recv(1000) == b""
        assert made.gateway.reached == {f"127.0.0.1:{port}": 1}
        for other in (
            "127.0.0.1:22", f"127.0.0.2:{port}", f"127.1:{port}", f"2130706433:{port}",
            f"0x7f000001:{port}", f"[::ffff:127.0.0.1]:{port}", f"localhost:{port}",
            f"127.0.0.1.:{port + 1}", "example.com:443", "EXAMPLE.com:443",
        ):  # fmt: skip
            assert made.get(other, "CONNECT")[0] == 403
        assert {each.kind for each in made.refusals} == {"host"}
        assert len(made.refusals) == 10


def test_papers_and_indexes_are_refused_even_when_allowed(make: Make, site: Site) -> None:
    """R14: sites of papers stay shut; an index behind TLS would hide which package is asked for."""
    own = "index.example:443"
    made = make(
        (Index.at("pypi", f"https://{own}/simple"),), allow=("arxiv.org", "api.semanticscholar.org")
    )
    for host in ("arxiv.org:443", "api.semanticscholar.org:443", own):
        assert made.get(host, "CONNECT")[0] == 403
    assert made.get("http://arxiv.org/abs/1")[0] == 403
    assert [(each.kind, each.papers) for each in made.refusals] == [
        ("host", True),
        ("host", True),
        ("host", False),
        ("host", True),
    ]


def hello(name: str | None) -> bytes:
    """The first message of a TLS client that asks for this server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    sent = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), sent, server_hostname=name).do_handshake()
    return sent.read()


@pytest.mark.parametrize(
    ("first", "passes"),
    [
        (hello("localhost"), True),
        (hello("LOCALHOST"), True),
        (hello("index.example"), False),
        (hello(None), False),
        (b"GET / HTTP/1.1\r\nHost: index.example\r\n\r\n", False),
        (b"", False),
    ],
)
def test_a_tunnel_is_for_the_very_host_that_was_asked_for(
    make: Make, first: bytes, passes: bool
) -> None:
    """R15: an allowed host that shares its address with an index does not lead to that index."""
    with echoing() as port:
        index = Index.at("pypi", f"https://index.example:{port}/simple")
        made = make((index,), allow=(f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"))
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(20)
            client.connect(str(made.socket))
            client.sendall(f"CONNECT localhost:{port} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            assert client.recv(1000).startswith(b"HTTP/1.1 200")
            for place in range(0, len(first), 100):
                client.sendall(first[place : place + 100])
            client.shutdown(socket.SHUT_WR)
            back = b""
            with contextlib.suppress(ConnectionResetError):
                while chunk := client.recv(65536):
                    back += chunk
        assert back == (first if passes else b"")
        assert len(made.refusals) == (0 if passes else 1)


def test_a_name_that_leads_into_a_private_network_is_refused(make: Make, site: Site) -> None:
    """A name server that answers with a private address gains nothing, unless that is allowed too."""
    site.put("/data", b"data")
    target = f"http://localhost:{site.port}/data"
    made = make((), allow=(f"localhost:{site.port}",))
    status, body = made.get(target)
    assert (status, site.asked) == (403, [])
    assert b"public internet" in body
    assert made.get(f"localhost:{site.port}", "CONNECT")[0] == 403
    both = make(
        (), allow=(f"localhost:{site.port}", f"127.0.0.1:{site.port}", f"[::1]:{site.port}")
    )
    assert both.get(target) == (200, b"data")


def test_plain_addresses_of_an_allowed_host_are_seen_through(make: Make, site: Site) -> None:
    site.put("/data?a=b", b"data")
    site.put("/x/recal-1.0.tar.gz", b"own")
    site.redirect("/moved", "http://127.0.0.1:22/")
    made = make((), allow=(f"127.0.0.1:{site.port}",))
    assert made.get(f"{site.url}/data?a=b") == (200, b"data")
    assert made.get(f"{site.url}/moved")[0] == 302
    assert made.get(f"{site.url}/x/%72ecal-1.0.tar.gz")[0] == 403
    assert made.get("http://127.0.0.1:22/")[0] == 403
    assert [each.kind for each in made.refusals] == ["path", "host"]


@pytest.mark.parametrize("entry", ["http://x", "x:", "x:0", "x:99999", "", "a b", "*.x", "x/y"])
def test_a_bad_entry_of_allowed_hosts_is_a_users_error(tmp_path: Path, entry: str) -> None:
    with pytest.raises(UserError, match="name:port"):
        Gateway(tmp_path / "s", (), (entry,), cache=tmp_path / "c", refused=print)


# --- hostile requests --------------------------------------------------------------------------------

TARGET = b"/pypi/0/simple/other/"


@pytest.mark.parametrize(
    "request_",
    [
        b"GET %s HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello" % TARGET,
        b"GET %s HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello" % TARGET,
        b"GET %s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % TARGET,
        b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\nzz\r\n",
        b"GET %s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n" % TARGET,
        b"GET %s HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n" % TARGET,
        b"GET %s HTTP/1.1\r\n\r\n" % TARGET,
        b"GET %s HTTP/1.1\r\nHost: x\r\nBad Header: y\r\n\r\n" % TARGET,
        b"GET %s HTTP/1.1\r\nHost: x\r\nA: \x00\r\n\r\n" % TARGET,
        b"GET %s HTTP/1.1\r\nHost: x\r\nA: %s\r\n\r\n" % (TARGET, b"y" * 100_000),
        b"GET /pypi/0/simple/a b/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /pypi/0/simple/\xff/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://user@index/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://allowed:80@evil:80/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://allowed\\@evil/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET https://allowed/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET ftp://allowed/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http:///x HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://allowed:x/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://allowed/# HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /pypi/0/simple/%zz/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST %s HTTP/1.1\r\nHost: x\r\n\r\n" % TARGET,
        b"CONNECT allowed HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT user@allowed:80 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT allowed:80:80 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\r\n" * 3,
        b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
    ],
)  # fmt: skip
def test_a_malformed_request_is_refused(make: Make, site: Site, request_: bytes) -> None:
    made = make(allow=("allowed",))
    reply = made.raw(request_)
    assert reply.startswith(b"HTTP/1.1 403 "), reply
    assert [each.kind for each in made.refusals] == ["request"]
    assert site.asked == []


def test_a_second_request_on_a_connection_is_never_read(made: Made, site: Site) -> None:
    publish(site, "other", wheel("other"))
    one = b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % TARGET
    assert (
        made.raw(one + b"GET /pypi/0/simple/second/ HTTP/1.1\r\nHost: x\r\n\r\n").count(b"HTTP/1.1")
        == 1
    )
    assert site.paths() == ["/simple/other/"]


def test_headers_of_a_sandbox_do_not_reach_an_index(made: Made, site: Site) -> None:
    publish(site, "other", wheel("other"))
    made.get(TARGET.decode(), Authorization="Basic eA==", Cookie="a=b", X="y")
    assert not {"authorization", "cookie", "x"} & set(site.asked[0][1])


def test_a_pages_own_markup_is_not_handed_on(made: Made, site: Site) -> None:
    publish(site, "other", wheel("other"))
    evil = '<script>x</script><a href="javascript:1">e-1.zip</a><a href="file:///etc/passwd">p</a>'
    evil += '<a href="http://u:p@127.0.0.1/q-1.zip">q</a><a href="/o-1.zip" data-requires-python=">3&quot;>">'
    site.put("/simple/other/", evil)
    status, body = made.get(TARGET.decode())
    assert status == 200
    assert body.count(b"<a ") == 1 and b"script" not in body and b'="&gt;3&quot;&gt;"' in body


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"files": 3}', b"[" * 200_000, b'{"files": [3]}'])
def test_a_page_that_is_none_is_a_failure_of_the_index(made: Made, site: Site, body: bytes) -> None:
    site.put("/simple/other/", body, JSON_PAGE)
    assert made.get(TARGET.decode())[0] == 502
    assert made.refusals == []


# --- bounds ------------------------------------------------------------------------------------------


def endless(piece: bytes, pause: float = 0.0) -> Callable[[], Answer]:
    def pieces() -> Iterator[bytes]:
        end = time.monotonic() + 20
        while time.monotonic() < end:
            yield piece
            time.sleep(pause)

    return lambda: (200, {"Content-Type": "text/html"}, pieces())


def test_endless_and_slow_indexes_are_bounded(make: Make, site: Site) -> None:
    import gzip

    bomb = gzip.compress(b"\0" * 10_000_000)
    site.put("/simple/bomb/", bomb, **{"Content-Encoding": "gzip"})
    site.answers["/simple/endless/"] = endless(b"x" * 65536)
    site.answers["/simple/slow/"] = endless(b"x", 0.1)
    site.answers["/simple/silent/"] = endless(b"", 0.1)
    made = make(page_bytes=1_000_000, page_seconds=2.0, idle_seconds=1.0)
    got = {
        name: made.get(f"/pypi/0/simple/{name}/")[0]
        for name in ("bomb", "endless", "slow", "silent")
    }
    assert got == {"bomb": 502, "endless": 502, "slow": 504, "silent": 504}


def test_an_endless_file_is_bounded(make: Make, site: Site, tmp_path: Path) -> None:
    site.answers["/o-1.zip"] = endless(b"x" * 65536)
    site.put("/simple/other/", f'<a href="/o-1.zip#sha256={"0" * 64}">o</a>')
    made = make(file_bytes=3_000_000)
    (link,) = made.links("/pypi/0/simple/other/")
    assert len(made.get(link)[1]) <= 3_000_000
    assert list((tmp_path / "cache" / "files").iterdir()) == []


def test_silent_sandboxes_do_not_shut_others_out(make: Make, site: Site) -> None:
    publish(site, "other", wheel("other"))
    made = make(connections=4, idle_seconds=1.0)
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            client = stack.enter_context(socket.socket(socket.AF_UNIX))
            client.connect(str(made.socket))
        assert made.get(TARGET.decode())[0] == 200


def test_refusals_are_recorded_up_to_a_bound(make: Make) -> None:
    made = make(refusals=3)
    for number in range(5):
        made.get(f"/nowhere/{number}\u00e9")
        made.get(f"/nowhere/{number}")
    assert len(made.refusals) == 3
    assert "not recorded" in made.refusals[-1].why
    made.get("/pypi/0/simple/re-cal/")
    assert made.refusals[-1].papers
    assert made.refusals[0].seconds >= 0
    assert Refusal.model_validate_json(made.refusals[0].model_dump_json()) == made.refusals[0]


def test_a_hundred_gateways_share_one_thread_and_end_without_a_trace(
    make: Make, site: Site, tmp_path: Path
) -> None:
    publish(site, "other", wheel("other"))
    threads, fds = threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))
    with contextlib.ExitStack() as stack:
        made = []
        for number in range(100):
            place = tmp_path / f"g{number}" / "socket"
            gateway = Gateway(
                place,
                (Index.at("pypi", f"{site.url}/simple"),),
                cache=tmp_path / "cache",
                refused=print,
            )
            made.append(Made(stack.enter_context(gateway), place, []))
        assert [each.get(TARGET.decode())[0] for each in made] == [200] * 100
        assert threading.active_count() - threads < 60
        assert len(list(Path("/proc/self/fd").iterdir())) - fds < 100 * 4
    assert not any(each.socket.exists() for each in made)
    assert len(list(Path("/proc/self/fd").iterdir())) <= fds + 2


def test_a_gateway_that_ends_cuts_what_is_open(site: Site, tmp_path: Path) -> None:
    with echoing() as port, socket.socket(socket.AF_UNIX) as client:
        place = tmp_path / "gateway" / "socket"
        allow = (f"127.0.0.1:{port}",)
        with Gateway(place, (), allow, cache=tmp_path / "cache", refused=print):
            client.settimeout(20)
            client.connect(str(place))
            client.sendall(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            assert client.recv(1000).startswith(b"HTTP/1.1 200")
        with contextlib.suppress(ConnectionResetError):
            while client.recv(1000):
                pass


def test_a_socket_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    gateway = Gateway(tmp_path / "file" / "socket", (), cache=tmp_path / "c", refused=print)
    with pytest.raises(SandboxError, match="No gateway at"), gateway:
        pass


# --- the forwarder -----------------------------------------------------------------------------------

TALK = """\
import socket, sys, threading
def one(n):
    with socket.create_connection(("127.0.0.1", 3128), timeout=60) as s:
        s.sendall(f"CONNECT 127.0.0.1:{sys.argv[1]} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n".encode())
        head = b""
        while not head.endswith(b"\\r\\n\\r\\n"):
            head += s.recv(1)
        sent = bytes([n % 251]) * 2_000_000
        threading.Thread(target=s.sendall, args=(sent,)).start()
        got = 0
        while got < len(sent):
            piece = s.recv(65536)
            assert piece and set(piece) == {n % 251}
            got += len(piece)
        done.append(n)
done = []
threads = [threading.Thread(target=one, args=(n,)) for n in range(100)]
for t in threads: t.start()
for t in threads: t.join()
assert len(done) == 100, len(done)
"""


def test_the_forwarder_relays_many_connections(make: Make, inside: Inside) -> None:
    """More than it takes at once: the others wait."""
    with parallel_echo() as port:
        made = make(allow=(f"127.0.0.1:{port}",))
        done = inside(made, sys.executable, "-c", TALK, str(port))
        assert done.returncode == 0, done.stderr[-2000:]


@contextlib.contextmanager
def parallel_echo() -> Iterator[int]:
    listener = socket.create_server(("127.0.0.1", 0), backlog=200)

    def answer(client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            while data := client.recv(65536):
                client.sendall(data)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=answer, args=(client,), daemon=True).start()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def test_the_forwarder_holds_little_and_says_when_its_port_is_taken(
    make: Make, site: Site, tmp_path: Path
) -> None:
    size = 200_000_000
    piece = b"x" * 1_000_000
    site.answers["/big"] = lambda: (
        200,
        {"Content-Length": str(size)},
        (piece for _ in range(size // len(piece))),
    )
    made = make((), allow=(f"127.0.0.1:{site.port}",))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-I", forwarder.__file__, str(made.socket), port]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
        assert done.returncode == 1 and done.stderr.startswith(f"Port {port} cannot")
    running = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        assert running.stdout is not None and running.stdout.readline() == b"ready\n"
        proxy = urllib.request.ProxyHandler({"http": f"http://127.0.0.1:{port}"})
        with urllib.request.build_opener(proxy).open(f"{site.url}/big", timeout=60) as answer:
            got = 0
            while chunk := answer.read(1_000_000):
                got += len(chunk)
        assert got == size
        status = Path(f"/proc/{running.pid}/status").read_text()
        (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
        assert int(peak) < 60_000
    finally:
        running.kill()
        running.wait()
        running.stdout.close() if running.stdout else None


# --- the real index --------------------------------------------------------------------------------


def test_a_package_of_this_machines_own_index_is_installed(
    make: Make, inside: Inside, tmp_path: Path
) -> None:
    """R14, for real, where this machine's own settings lead to an index that answers."""
    settings = from_settings(host_runner(os.environ), os.environ)
    indexes = tuple(each for each in settings if each.kind == "pypi")
    if not indexes:
        pytest.skip("this machine's settings name no package index")
    made = make(indexes)
    if made.get("/pypi/0/simple/iniconfig/")[0] != 200:
        pytest.skip("the package index of this machine's settings does not answer")
    target = str(tmp_path / "out")
    done = inside(made, *pip("install", "--no-deps", "--target", target, "iniconfig"))
    assert done.returncode == 0, (done.stderr, made.refusals)
    assert (tmp_path / "out" / "iniconfig").is_dir()
