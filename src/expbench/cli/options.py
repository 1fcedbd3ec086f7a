"""Options that several commands share, and how a command's body is run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.boundary import boundary

SuiteOption = Annotated[
    str,
    typer.Option(help="mini, expbench, maskable, clean, lite, paper:ID, … (`expbench suites`)."),
]
AgentOption = Annotated[
    list[str] | None,
    typer.Option(
        "--agent",
        help="An agent, with its argument after a colon (`expbench agents list`) [default: react]; with "
        "several, or several models, one run is made for each pair.",
    ),
]
ModelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        help="Any Inspect model, provider/name, for agents that need one; several possible.",
    ),
]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        help="Folder of the released data set [default: $EXPBENCH_DATA, else the fetched one].",
    ),
]
TaskOption = Annotated[
    list[str] | None, typer.Option("--task", help="Only this task; may be given several times.")
]
ReposOption = Annotated[
    Path | None,
    typer.Option("--repos", help="Folder of clones of the papers' repositories, OWNER/NAME."),
]
SamplesOption = Annotated[
    int | None,
    typer.Option("--max-samples", min=1, help="Tasks at the same time [default: processors]."),
]
PackagesOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--packages",
        help="Folder of Python packages for the sandbox (pip install --target); several possible.",
    ),
]
ErrataOption = Annotated[
    str,
    typer.Option("--errata", help="package: corrected tasks; none: the release as it is."),
]
MaskOption = Annotated[
    str,
    typer.Option(
        "--mask", help="paper: the task's files and README; strict: also what is left of them."
    ),
]
SandboxOption = Annotated[
    str, typer.Option(help="bwrap, docker, podman, k8s, or local with --unsafe (never scored).")
]
CpusOption = Annotated[
    float | None, typer.Option("--cpus", help="Processors' worth of time for a task.")
]
MemoryOption = Annotated[
    int | None,
    typer.Option("--memory", help="MiB of memory for all processes of a task; 0: no limit."),
]
ProcessesOption = Annotated[
    int | None, typer.Option("--processes", help="Processes and threads of a task; 0: no limit.")
]
DiskOption = Annotated[
    int | None,
    typer.Option("--disk", help="MiB that a task's workspace may grow by; 0: no limit."),
]
RequestCpusOption = Annotated[
    float | None, typer.Option("--request-cpus", help="Processors that a task is promised.")
]
RequestMemoryOption = Annotated[
    int | None, typer.Option("--request-memory", help="MiB of memory that a task is promised.")
]
NetworkOption = Annotated[
    str,
    typer.Option(
        help="none; packages: package indexes and --allow-host only; open: everything (recorded)."
    ),
]
AllowHostOption = Annotated[
    list[str] | None,
    typer.Option("--allow-host", help="With network packages also this host; several possible."),
]
GpusOption = Annotated[int, typer.Option("--gpus", min=0, help="GPUs for each task.")]
RootfsOption = Annotated[
    Path | None,
    typer.Option("--rootfs", help="Folder of a system to use instead of this machine's (bwrap)."),
]
ImageOption = Annotated[
    str, typer.Option("--image", help="Image for docker, podman and k8s [default: images/agent].")
]
UnenforcedOption = Annotated[
    bool,
    typer.Option("--allow-unenforced", help="Run though a demanded limit is not held; recorded."),
]
UnsafeOption = Annotated[
    bool, typer.Option("--unsafe", help="Allow sandbox local, where agents can do what you can.")
]
WallMinutesOption = Annotated[
    float | None,
    typer.Option(
        "--limit-wall-minutes",
        help="Minutes by the clock for the agent, waiting and all [default: 3 times --limit-minutes].",
    ),
]
TurnsOption = Annotated[
    int | None, typer.Option("--limit-turns", help="Answers of the agent's model to one task.")
]
TokensOption = Annotated[
    int | None,
    typer.Option("--limit-tokens", help="Tokens that the agent's model may use for one task."),
]
DollarsOption = Annotated[
    float | None,
    typer.Option("--limit-dollars", help="What the agent's model may cost for one task."),
]
RunDollarsOption = Annotated[
    float | None,
    typer.Option(
        "--run-dollars", help="What all models of the run may cost together, judges included."
    ),
]
CallDeadlineOption = Annotated[
    float,
    typer.Option(
        "--call-deadline",
        metavar="SECONDS",
        help="Seconds until a request of the agent without an answer is given up and repeated.",
    ),
]
StartsOption = Annotated[
    int | None,
    typer.Option("--max-starts", min=1, help="Sandboxes starting at the same time."),
]
JudgeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        help="baseline or baseline+embedding (no model, not a published score) or an Inspect model; "
        "several are a panel.",
    ),
]
ProtocolOption = Annotated[
    str,
    typer.Option(
        help="itemised: a verdict for each item; paper: the publication's one mark for each phase."
    ),
]
JudgeSamplesOption = Annotated[
    int, typer.Option("--judge-samples", min=1, help="Answers of each judge; the majority decides.")
]
ItemsOption = Annotated[
    int,
    typer.Option("--items-per-call", min=1, help="Items in one question: cheaper, less exact."),
]
JudgeConcurrencyOption = Annotated[
    int,
    typer.Option(
        "--judge-concurrency", min=1, help="Calls of a judge about one submission at the same time."
    ),
]
JudgeDeadlineOption = Annotated[
    float,
    typer.Option(
        "--judge-deadline",
        min=1,
        max=86_400,
        metavar="SECONDS",
        help="Seconds until a judge's call without an answer is given up (unscored).",
    ),
]
MonitorModelOption = Annotated[
    str,
    typer.Option(
        "--monitor-model", help="Model that reads trajectories beside the monitor's rules."
    ),
]
ClaimsModelOption = Annotated[
    str,
    typer.Option("--claims-model", help="Model that finds a conclusion's claims beside the rules."),
]
HintsOption = Annotated[
    str,
    typer.Option(
        "--hints",
        help="How far the prompt helps. none: the deliverables' form; instructions: also how to go "
        "about it, limits and expbench-check; full: also worked examples.",
    ),
]
RevealOption = Annotated[
    str,
    typer.Option(
        "--reveal",
        help="What of the task is told: question; also its method; also its instructions.",
    ),
]
PricesOption = Annotated[
    Path | None,
    typer.Option(
        "--prices", help="JSON file with prices of models that the package does not know."
    ),
]
EstimateOption = Annotated[
    bool, typer.Option("--estimate", help="Only print what it will use and cost; nothing is asked.")
]
ThresholdOption = Annotated[
    float,
    typer.Option(
        "--threshold",
        help='From which score on something is "fully right": a share such as 0.8; 1 is everything.',
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object to stdout.")]

RunArgument = Annotated[Path, typer.Argument(help="The run's folder, runs/NAME.")]

TaskArgument = Annotated[str, typer.Argument(help="A task's id, venue/paper/index.")]


def do(body: Callable[[], int | None]) -> None:
    """Run a command's body; its errors become a sentence and the process's exit code."""
    raise typer.Exit(boundary(body))
