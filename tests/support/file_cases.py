"""The table of files that Python and the open page treat alike, or refuse for the same reason."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

_TABLE = json.loads((Path(__file__).parents[1] / "reference" / "file_cases.json").read_text(encoding="utf-8"))
CLASSES = [(case["most frequent first"], case["positive"]) for case in _TABLE["classes"]]


@dataclass(frozen=True)
class FileCase:
    """A file, what is asked of it, and the counts or the reason of a refusal."""

    facts: dict[str, Any]

    def write(self, folder: Path) -> Path:
        """Write the file into a folder."""
        path = folder / self.facts["file"]
        if "columns" in self.facts:
            pa.parquet.write_table(pa.table(self.facts["columns"]), path)
        else:
            path.write_bytes(self.facts["bytes"].encode("latin-1"))
        return path

    @property
    def asked(self) -> dict[str, Any]:
        """What Python is asked."""
        decimal = {"decimal": self.facts["decimal"]} if "decimal" in self.facts else {}
        return {"label": "y", "scores": ["p"], "pos_label": self.facts.get("positive"), "missing": "drop"} | decimal

    @property
    def roles(self) -> dict[str, Any]:
        """What the page is told of columns."""
        others = {"weight": None, "segment": None, "fold": None}
        return {"label": "y", "scores": ["p"], "positive": self.facts.get("positive")} | others

    @property
    def layout(self) -> dict[str, Any]:
        """What the page is told of the file."""
        return {"decimal": self.facts.get("decimal"), "delimiter": None, "encoding": None}


FILES = {f"{case['why']} ({case['file']})": FileCase(case) for case in _TABLE["files"]}
