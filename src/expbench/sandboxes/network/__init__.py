"""Network ``packages``: package indexes and allowed hosts through a gateway, and no other way out."""

from expbench.sandboxes.network.denied import Denied
from expbench.sandboxes.network.gateway import Gateway
from expbench.sandboxes.network.hosts import from_settings, host_runner
from expbench.sandboxes.network.index import Index
from expbench.sandboxes.network.upstream import Bounds

__all__ = ["Bounds", "Denied", "Gateway", "Index", "from_settings", "host_runner"]
