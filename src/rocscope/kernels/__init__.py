"""The compiled loops, and nothing else."""

from rocscope.kernels.kernel import SMALL, Kernel
from rocscope.kernels.ranks import (
    count_pairs,
    count_right,
    ordered,
    pack,
    pack_rows,
    part,
    push_hull,
    scan,
    scan_rows,
    sort_digits,
    sum_rows,
    tally,
    unpack_rows,
    venn_abers,
)

__all__ = [
    "SMALL",
    "Kernel",
    "count_pairs",
    "count_right",
    "ordered",
    "pack",
    "pack_rows",
    "part",
    "push_hull",
    "scan",
    "scan_rows",
    "sort_digits",
    "sum_rows",
    "tally",
    "unpack_rows",
    "venn_abers",
]
