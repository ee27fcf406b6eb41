"""The page's tuning constants are Python's."""

import runpy
from pathlib import Path

CLIENT = Path(__file__).parents[2] / "client"


def test_the_generated_file_is_current():
    made = runpy.run_path(str(CLIENT / "constants.py"))["source"]()
    assert (CLIENT / "src" / "constants.json").read_text(encoding="utf-8") == made, "run `make client`"
