"""``python -m expbench``."""

from expbench.cli.main import main

main()
