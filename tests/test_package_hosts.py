"""The indexes that a machine's own tools are set to, and how a sandbox is told about the gateway."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from expbench.errors import UserError
from expbench.sandboxes.network import Denied, Gateway, Index, from_settings, host_runner
from expbench.schema import Repository, ResearchTask


def urls(indexes: tuple[Index, ...], kind: str) -> list[str]:
    return [each.url for each in indexes if each.kind == kind]


DEFAULT = {"PyPI": "https://default.example/simple\n"}


def settings(
    answers: dict[str, str], environment: dict[str, str] | None = None, etc: Path = Path("/nowhere")
) -> tuple[Index, ...]:
    def run(command: Sequence[str]) -> str:
        asked = " ".join(command)
        return next((text for word, text in answers.items() if word in asked), "")

    return from_settings(run, environment or {}, "python", etc)


def test_without_a_setting_pip_names_its_default() -> None:
    assert urls(settings(DEFAULT), "pypi") == ["https://default.example/simple/"]


def test_pips_settings_count_in_its_own_order() -> None:
    listed = (
        "global.index-url='https://global.example/simple'\n"
        ":env:.index-url='https://u:p%40s@env.example/simple'\n"
        "install.index-url='https://install.example/simple'\n"
        "global.extra-index-url='https://more.example/simple\\nfile:///opt/x /opt/y http://last.example'\n"
        "global.cert='/etc/own.pem'\nfreeze.timeout='10'\n"
    )
    found = settings({"config list": listed, **DEFAULT})
    assert urls(found, "pypi") == [
        "https://env.example/simple/", "https://more.example/simple/", "http://last.example/",
    ]  # fmt: skip
    assert {each.ca for each in found} == {"/etc/own.pem"}
    assert found[0].credentials == "u:p@s"
    assert "p@s" not in repr(found) and "p%40s" not in repr(found)


def test_pip_that_may_use_no_index_has_none() -> None:
    assert settings({"config list": "global.no-index='true'\n", **DEFAULT}) == ()


def test_real_pip_is_asked(tmp_path: Path) -> None:
    config = tmp_path / "pip.conf"
    config.write_text(
        "[global]\nindex-url = https://a.example/simple\nextra-index-url =\n  https://b.example/x\n"
    )
    variables = {"PIP_CONFIG_FILE": str(config), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    found = from_settings(host_runner(variables), variables, sys.executable, tmp_path)
    if not found:
        pytest.skip("this Python has no pip, neither beside it nor bundled")
    assert {"https://a.example/simple/", "https://b.example/x/"} <= set(urls(found, "pypi"))


def test_real_pip_names_its_own_default(tmp_path: Path) -> None:
    variables = {"PIP_CONFIG_FILE": "/dev/null", "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    found = from_settings(host_runner(variables), variables, sys.executable, tmp_path)
    named = host_runner(variables)([sys.executable, "-m", "pip", "download", "--help"])
    if not urls(found, "pypi"):
        pytest.skip("this Python has no pip, neither beside it nor bundled")
    assert urls(found, "pypi")[0].rstrip("/") in "".join(named.split())


def test_uvs_settings_count_where_pip_has_none(tmp_path: Path) -> None:
    (tmp_path / "home" / ".config" / "uv").mkdir(parents=True)
    (tmp_path / "home" / ".config" / "uv" / "uv.toml").write_text(
        '[[index]]\nurl = "https://a.example/simple"\ndefault = true\n'
        '[[index]]\nname = "b"\nurl = "https://b.example/simple"\n'
        '[pip]\nextra-index-url = ["https://c.example/simple"]\n'
    )
    home = {"HOME": str(tmp_path / "home")}
    assert urls(settings(DEFAULT, home, tmp_path), "pypi") == [
        "https://a.example/simple/", "https://c.example/simple/", "https://b.example/simple/",
    ]  # fmt: skip
    env = {
        **home,
        "UV_DEFAULT_INDEX": "https://d.example/simple",
        "UV_INDEX": "e=https://e.example",
    }
    assert urls(settings(DEFAULT, env, tmp_path), "pypi")[:2] == [
        "https://d.example/simple/", "https://e.example/",
    ]  # fmt: skip
    (tmp_path / "home" / ".config" / "uv" / "uv.toml").write_text("[[broken")
    assert urls(settings(DEFAULT, home, tmp_path), "pypi") == ["https://default.example/simple/"]


def test_npms_registry() -> None:
    said = {"get registry": "https://npm.example/\n", "get cafile": "/etc/ca.pem\n"}
    (index,) = settings(said)
    assert (index.kind, index.url, index.ca) == ("npm", "https://npm.example/", "/etc/ca.pem")
    (index,) = settings({**said, "get cafile": "null\n"})
    assert index.ca == ""


@pytest.mark.parametrize(
    "alias",
    [
        "https://c.example/",
        {"scheme": "https", "location": "c.example", "auth": None, "token": None, "name": None},
    ],
)
def test_condas_channels(alias: object) -> None:
    """As older versions print them and as newer ones do."""
    said = {
        "channel_alias": alias,
        "channels": ["conda-forge", "defaults", "https://u:p@own.example/x"],
        "default_channels": ["https://d.example/main", "https://d.example/r"],
    }
    found = settings({"conda config": json.dumps(said)})
    assert urls(found, "conda") == [
        "https://c.example/conda-forge/", "https://d.example/main/", "https://d.example/r/",
        "https://own.example/x/",
    ]  # fmt: skip
    assert found[-1].credentials == "u:p"
    assert settings({"conda config": "no json"}) == ()


def test_apts_sources_in_both_forms(tmp_path: Path) -> None:
    parts = tmp_path / "apt" / "sources.list.d"
    parts.mkdir(parents=True)
    (tmp_path / "apt" / "sources.list").write_text(
        "# deb http://off.example/x a b\n"
        "deb [arch=amd64,arm64 signed-by=/k.gpg] http://a.example/debian stable main contrib # c\n"
        "deb-src http://src.example/debian stable main\ndeb cdrom:[x]/ stable main\n"
    )
    (parts / "b.sources").write_text(
        "Types: deb deb-src\nURIs: https://b.example/x https://c.example/y\nSuites: s t\n"
        "Components: main\nSigned-By:\n -----BEGIN-----\n .\n abc\n\n"
        "Types: deb\nEnabled: no\nURIs: https://off.example\nSuites: s\n"
    )
    found = settings({}, etc=tmp_path)
    assert urls(found, "apt") == [
        "http://a.example/debian/", "https://b.example/x/", "https://c.example/y/",
    ]  # fmt: skip
    assert dict(found[0].fields) == {
        "Suites": "stable",
        "Components": "main contrib",
        "Architectures": "amd64 arm64",
        "Signed-By": "/k.gpg",
    }
    assert dict(found[1].fields)["Signed-By"] == "\n -----BEGIN-----\n .\n abc"


def test_the_way_out_of_the_host_is_used_but_where_it_is_excepted() -> None:
    variables = {
        "https_proxy": "http://u:p@proxy.example:8080",
        "no_proxy": "a.example, .b.example",
    }
    said = {
        "config list": "global.index-url='https://a.example'\n"
        "global.extra-index-url='https://x.b.example https://ab.example'\n"
    }
    assert [each.proxy for each in settings(said, variables)] == ["", "", variables["https_proxy"]]


@pytest.mark.parametrize(
    "address", ["/opt/wheels", "file:///x", "ftp://x", "https://", "http://x:y/"]
)
def test_what_is_no_web_address_is_left_out_and_refused(address: str) -> None:
    listed = f"global.index-url='{address}'\n"
    assert settings({"config list": listed}) == ()
    with pytest.raises(UserError, match="http or https"):
        Index.at("pypi", address)


def test_a_missing_tool_and_a_failing_one_say_nothing() -> None:
    run = host_runner({"PATH": "/usr/bin:/bin"})
    assert run(["no-such-program-here"]) == run(["false"]) == ""
    assert run(["echo", "x"]) == "x\n"


# --- inside ----------------------------------------------------------------------------------------


@pytest.fixture
def gateway(tmp_path: Path) -> Gateway:
    indexes = (
        Index.at("pypi", "https://u:secret@a.example/simple"),
        Index.at("npm", "https://b.example"),
        Index.at("pypi", "https://c.example/simple"),
        Index.at("conda", "https://d.example/main"),
        Index.at("apt", "http://e.example/debian", fields=(("Suites", "stable"),)),
        Index.at("conda", "https://f.example/extra"),
    )
    return Gateway(tmp_path / "socket", indexes, cache=tmp_path / "cache", refused=print)


def test_variables_point_at_the_gateway_and_name_no_index(gateway: Gateway) -> None:
    said = gateway.environment(3128)
    here = "http://127.0.0.1:3128"
    assert said["PIP_INDEX_URL"] == said["UV_DEFAULT_INDEX"] == f"{here}/pypi/0/simple/"
    assert said["PIP_EXTRA_INDEX_URL"] == said["UV_INDEX"] == f"{here}/pypi/2/simple/"
    assert said["npm_config_registry"] == f"{here}/npm/1/"
    assert said["HTTPS_PROXY"] == said["http_proxy"] == here
    assert "127.0.0.1" in said["NO_PROXY"]
    assert "example" not in str(said) + str(gateway.files(3128))


def test_files_say_what_no_variable_can(gateway: Gateway) -> None:
    said = gateway.files(3128)
    condarc = said[gateway.environment(3128)["CONDARC"]]
    assert condarc.count("http://127.0.0.1:3128/conda/3\n") == 2
    assert condarc.count("http://127.0.0.1:3128/conda/5\n") == 2
    (sources,) = [text for path, text in said.items() if path.endswith(".sources")]
    assert sources == "Types: deb\nURIs: http://127.0.0.1:3128/apt/4/\nSuites: stable\n"


def test_without_indexes_only_the_proxy_is_named(tmp_path: Path) -> None:
    gateway = Gateway(tmp_path / "socket", (), cache=tmp_path / "cache", refused=print)
    assert not any(name.startswith(("PIP", "UV", "npm")) for name in gateway.environment(3128))
    assert gateway.files(3128) == {}


# --- what a task denies ------------------------------------------------------------------------------


def task(url: str, title: str = "") -> ResearchTask:
    return ResearchTask(
        id="v/p/0", paper="p", venue="v", title=title, type=1, question="", method="",
        repository=Repository(url=url),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("title", "named", "free"),
    [
        ("BERTScore: Evaluating Text", "bert-score", "bert"),
        ("Attention: All You Need", "attention-is-all", "attention"),
        ("Smooth ECE: Reliability Diagrams", "smooth_ece", "smooth"),
        ("Fast Nets of Great Depth (FaNet-2)", "fanet2", "nets"),
        ("", "", "anything"),
    ],
)
def test_names_that_a_title_makes_up_are_denied(title: str, named: str, free: str) -> None:
    denied = Denied.of_task(task("https://github.com/lab/code-of-paper", title))
    assert denied.package("Code.of_paper")
    assert not named or bool(denied.package(named)) == (named != "attention-is-all")
    assert denied.package(free) == ""


def test_a_tree_that_ships_with_a_suite_denies_its_own_distributions() -> None:
    denied = Denied.of_task(task("shipped:bandits"), ("bandit_lab",))
    assert denied.package("banditlab") and denied.package("Bandit-Lab")
    assert denied.package("numpy") == denied.url("https://example.com/numpy-1.0.tar.gz") == ""
