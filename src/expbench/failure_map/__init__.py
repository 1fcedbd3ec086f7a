"""The failure map as a page, a checklist and JSON."""

from expbench.failure_map.write import MapFiles, write_map

__all__ = ["MapFiles", "write_map"]
