"""The failure map as a page, a checklist and JSON."""

from expbench.failure_map.write import MapFiles, check_own, map_json, write_map

__all__ = ["MapFiles", "check_own", "map_json", "write_map"]
