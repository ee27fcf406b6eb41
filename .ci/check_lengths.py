"""Fail when a source or test file is longer than the 400 lines that one reader can hold."""

import subprocess
import sys
from pathlib import Path

LIMIT = 400
SUFFIXES = {".py", ".ts"}

listing = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True)
tracked = listing.stdout.splitlines()
lengths = {name: len(Path(name).read_text().splitlines()) for name in tracked if Path(name).suffix in SUFFIXES}
too_long = {name: length for name, length in lengths.items() if length > LIMIT}
for name, length in too_long.items():
    print(f"{name}: {length} lines, more than {LIMIT}; split it along the concepts that it holds")
print(f"{len(lengths)} files, the longest has {max(lengths.values())} lines")
sys.exit(bool(too_long))
