"""The wheel that carries compiled samplers is for one Python and one platform; without them it is
for all.

`thali cache build --out src/thali/kernels` puts them where the wheel finds them.
"""

import platform
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# the code itself calls nothing of the system: the tag only says for which one it was made
_PLATFORMS = {
    ("linux", "x86_64"): "manylinux_2_17_x86_64.manylinux2014_x86_64",
    ("linux", "aarch64"): "manylinux_2_17_aarch64.manylinux2014_aarch64",
    ("darwin", "arm64"): "macosx_11_0_arm64",
    ("darwin", "x86_64"): "macosx_10_12_x86_64",
    ("win32", "AMD64"): "win_amd64",
    ("win32", "ARM64"): "win_arm64",
}


class WheelWithKernels(BuildHookInterface):
    """Names the wheel by what is in it."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is built; an editable one is for whoever makes it."""
        kernels = Path(self.root) / "src" / "thali" / "kernels"
        if version == "editable" or not any(kernels.glob("*/*.kernel")):
            return
        python = f"cp{sys.version_info.major}{sys.version_info.minor}"
        build_data["pure_python"] = False
        build_data["tag"] = f"{python}-{python}-{_PLATFORMS[sys.platform, platform.machine()]}"
