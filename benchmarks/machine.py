"""What figures depend on: the machine and the versions, without naming either."""

import os
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Return the installed versions, leaving out what is not installed."""
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def available() -> int:
    """Return the bytes of memory that can be had without swapping; where Linux does not tell, all that there are."""
    table = Path("/proc/meminfo")
    lines = table.read_text(encoding="ascii").splitlines() if table.exists() else []
    told = [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    return told[0] if told else memory()


def memory() -> int:
    """Return the bytes of memory that this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def environment(packages: Iterable[str]) -> dict[str, Any]:
    """Return cores, memory, what NumPy can use of the processor, the load before this run, and versions."""
    facts = {
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "memory": memory(),
        "simd": np.show_config(mode="dicts")["SIMD Extensions"].get("found", []),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
    }
    return facts | versions(packages)
