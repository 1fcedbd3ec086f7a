"""How package managers in the sandbox are told about the gateway: variables, and files where they must."""

from __future__ import annotations

from collections.abc import Sequence

from expbench.sandboxes.network.index import Index, Kind

CONDARC = "/opt/expbench/condarc"
APT_SOURCES = "/etc/apt/sources.list.d/expbench.sources"
APT_SETTINGS = "/etc/apt/apt.conf.d/99expbench"

_LOCAL = "127.0.0.1,localhost"


def environment(indexes: Sequence[Index], port: int) -> dict[str, str]:
    """The variables of every command in the sandbox."""
    here = f"http://127.0.0.1:{port}"
    said = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), here)
    said |= {"NO_PROXY": _LOCAL, "no_proxy": _LOCAL}
    if simple := [f"{where}/simple/" for where in _places(indexes, "pypi", here)]:
        first, others = simple[0], " ".join(simple[1:])
        said |= {
            "PIP_INDEX_URL": first,
            "PIP_TRUSTED_HOST": f"127.0.0.1:{port}",
            "UV_DEFAULT_INDEX": first,
            "UV_INDEX_URL": first,
        }
        if others:
            said |= {"PIP_EXTRA_INDEX_URL": others, "UV_INDEX": others}
    if registries := _places(indexes, "npm", here):
        said |= {
            "npm_config_registry": f"{registries[0]}/",
            "npm_config_audit": "false",
            "npm_config_fund": "false",
            "npm_config_update_notifier": "false",
        }
    if _places(indexes, "conda", here):
        said |= {"CONDARC": CONDARC}
    return said


def files(indexes: Sequence[Index], port: int) -> dict[str, str]:
    """Small files by their path in the sandbox."""
    here = f"http://127.0.0.1:{port}"
    found = {}
    if channels := _places(indexes, "conda", here):
        rows = "".join(f"  - {each}\n" for each in channels)
        found[CONDARC] = (
            f"channels:\n{rows}default_channels:\n{rows}channel_alias: {here}/conda\n"
            "show_channel_urls: true\n"
        )
    if sources := _places(indexes, "apt", here):
        apt = [each for each in indexes if each.kind == "apt"]
        stanzas = [
            "".join(f"{name}: {value}\n" for name, value in _stanza(index, where))
            for index, where in zip(apt, sources, strict=True)
        ]
        found[APT_SOURCES] = "\n".join(stanzas)
        found[APT_SETTINGS] = 'Acquire::http::Proxy::127.0.0.1 "DIRECT";\n'
    return found


def _places(indexes: Sequence[Index], kind: Kind, here: str) -> list[str]:
    return [f"{here}/{kind}/{n}" for n, index in enumerate(indexes) if index.kind == kind]


def _stanza(index: Index, where: str) -> list[tuple[str, str]]:
    return [("Types", "deb"), ("URIs", f"{where}/"), *index.fields]
