"""Codex CLI, Claude Code, Gemini CLI and opencode: command-line agents from npm, asked once.

Each is told not to ask a person, not to look at the web and not to look for updates; it works in the
repository as in any other folder. Its own sandbox is off, for it is in one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from expbench.agents.bridged.running import Start, Starting, runner
from expbench.agents.bridging import MODEL_NAME, NO_KEY, Bridge
from expbench.agents.kinds import AgentKind, AgentRunner, no_argument
from expbench.programs import MOUNT
from expbench.sandboxes.mounts import HOME
from expbench.schema import ResearchTask

_ANSWER_SECONDS = 3600
_GEMINI = "gemini-2.5-pro"
"""Gemini CLI takes only names that it knows; the bridge answers to all."""


def codex(way: Bridge, task: ResearchTask) -> Start:
    settings = f"""\
model = "{MODEL_NAME}"
model_provider = "expbench"
approval_policy = "never"
sandbox_mode = "danger-full-access"
web_search = "disabled"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.expbench]
name = "expbench"
base_url = "{way.url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
stream_idle_timeout_ms = {_ANSWER_SECONDS * 1000}
"""
    argv = [f"{MOUNT}/bin/codex", "exec", "--skip-git-repo-check", "--color", "never", "-"]
    return Start(argv, {}, {f"{HOME}/.codex/config.toml": settings})


def claude(way: Bridge, task: ResearchTask) -> Start:
    argv = [f"{MOUNT}/bin/claude", "--print", "--dangerously-skip-permissions"]
    argv += ["--disallowed-tools", "WebSearch,WebFetch", "--model", MODEL_NAME]
    variables = {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": MODEL_NAME,
        "IS_SANDBOX": "1",
        "API_TIMEOUT_MS": str(_ANSWER_SECONDS * 1000),
    }
    return Start(argv, variables)


def gemini(way: Bridge, task: ResearchTask) -> Start:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "tools": {"exclude": ["google_web_search", "web_fetch"]},
    }
    argv = [
        "node",
        f"{MOUNT}/bin/gemini",
        "--yolo",
        "--skip-trust",
        "--model",
        _GEMINI,
        "--prompt",
        "",
    ]
    variables = {"GEMINI_CLI_TRUST_WORKSPACE": "true", "NO_COLOR": "1", "GOOGLE_API_KEY": ""}
    return Start(argv, variables, {f"{HOME}/.gemini/settings.json": json.dumps(settings)})


def opencode(way: Bridge, task: ResearchTask) -> Start:
    name = f"expbench/{MODEL_NAME}"
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "expbench",
        "options": {"baseURL": f"{way.url}/v1", "apiKey": NO_KEY, "timeout": False},
        "models": {MODEL_NAME: {"name": MODEL_NAME}},
    }
    settings = {
        "model": name,
        "small_model": name,
        "autoupdate": False,
        "share": "disabled",
        "permission": {"webfetch": "deny", "websearch": "deny"},
        "tools": {"webfetch": False, "websearch": False},
        "provider": {"expbench": provider},
    }
    variables = {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}
    place = f"{HOME}/.config/opencode/opencode.json"
    return Start([f"{MOUNT}/bin/opencode", "run"], variables, {place: json.dumps(settings)})


def _maker(name: str, start: Starting, client: str) -> Callable[[str, Path], AgentRunner]:
    def make(argument: str, base: Path) -> AgentRunner:
        no_argument(name, argument)
        return runner(name, name, start, client)

    return make


def _kind(name: str, what: str, start: Starting, client: str, tried: str) -> AgentKind:
    return AgentKind(
        name,
        f"{what}, asked once in its headless mode",
        _maker(name, start, client),
        needs=f"`expbench agents install {name}`, a model, the package {client}",
        example=f"expbench run --agent {name} --model openai/gpt-5 --task mini/stochopt/2",
        tried=tried,
    )


_RUN = "run to scores in bwrap with a scripted model"

KINDS = (
    _kind("codex_cli", "OpenAI's Codex CLI", codex, "openai", _RUN),
    _kind("claude_code", "Anthropic's Claude Code", claude, "anthropic", _RUN),
    _kind("gemini_cli", "Google's Gemini CLI", gemini, "google.genai", _RUN),
    _kind("opencode", "opencode", opencode, "openai", _RUN),
)
