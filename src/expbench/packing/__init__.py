"""A run as one file: packed with everything that its records name, unpacked as a hostile thing."""

from expbench.packing.layout import Folder, folders_of
from expbench.packing.pack import Packed, pack
from expbench.packing.unpack import Unpacked, peek, unpack

__all__ = ["Folder", "Packed", "Unpacked", "folders_of", "pack", "peek", "unpack"]
