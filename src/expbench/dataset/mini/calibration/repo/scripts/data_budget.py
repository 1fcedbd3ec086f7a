"""Study 1: test loss of every recalibrator against the size of the calibration set."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from recal.io import format_table, load_config, save_json, study_parser
from recal.studies.data_budget import (
    BudgetConfig,
    first_size_below,
    run_study,
    winners,
)


def main() -> None:
    parser = study_parser(__doc__, str(ROOT / "configs" / "data_budget.json"))
    args = parser.parse_args()
    cfg = BudgetConfig(**load_config(args.config))
    if args.repeats:
        cfg.repeats = args.repeats

    result = run_study(cfg)
    for metric, table in result.items():
        best = winners(table, cfg.methods)
        rows = [[n, *map(float, row), b] for n, row, b in zip(cfg.sizes, table, best)]
        print(f"\n{metric} (mean over {cfg.repeats} repetitions, lower is better)")
        print(format_table(["n_cal", *cfg.methods, "best"], rows))

    print("\nSmallest calibration set from which a method stays ahead of temperature scaling:")
    for metric in ("brier", "log_loss"):
        for name in ("platt", "beta", "histogram", "isotonic"):
            size = first_size_below(result[metric], cfg.sizes, cfg.methods, name, "temperature")
            print(f"  {metric:8s} {name:9s} {size if size is not None else 'never'}")

    save_json(
        args.out,
        {m: dict(zip(map(str, cfg.sizes), t.tolist())) for m, t in result.items()},
    )


if __name__ == "__main__":
    main()
