"""Runs mini-swe-agent in the sandbox: the prompt comes on standard input, the model by the environment.

Its own prompts and formats, its own loop; what differs from its command line is that nobody is asked and
that a command may take longer than half a minute. Exit code 1 says that it gave up.
"""

import os
import sys
from pathlib import Path

import litellm
from minisweagent.agents.default import DefaultAgent
from minisweagent.config import builtin_config_dir, get_config_from_spec
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_model import LitellmModel

COMMAND_SECONDS = 600
ANSWER_SECONDS = 3600
TRAJECTORY = Path("/tmp/mini-swe-agent.json")


def main() -> int:
    litellm.suppress_debug_info = True
    config = get_config_from_spec(str(builtin_config_dir / "mini.yaml"))
    settings = {
        name: config["agent"][name]
        for name in ("system_template", "instance_template")
        if name in config["agent"]
    }
    model = config["model"] | {"model_name": f"openai/{os.environ['EXPBENCH_MODEL']}"}
    model["model_kwargs"] = {**model.get("model_kwargs", {}), "timeout": ANSWER_SECONDS}
    environment = config["environment"] | {"timeout": COMMAND_SECONDS}
    agent = DefaultAgent(
        LitellmModel(**model, cost_tracking="ignore_errors"),
        LocalEnvironment(**environment),
        **settings,
        step_limit=0,
        cost_limit=0.0,
        output_path=TRAJECTORY,
    )
    ended = agent.run(sys.stdin.read()).get("exit_status", "")
    print(f"mini-swe-agent ended: {ended}")
    return 0 if ended == "Submitted" else 1


sys.exit(main())
