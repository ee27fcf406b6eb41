"""Seconds of the exact AUC of tensors: on a device beside torchmetrics there, and on the host beside arrays.

``python benchmarks/device/bench_device.py`` ranks 10⁸ float32 scores where CUDA is at hand, and says so where it is
not; on the host 10⁶ as tensors and as arrays, in turns. ``--check``: on a device at most 0.15 s when warm, torchmetrics
takes at least 1.3 times as long, the area equals that of arrays to the last bit, and tensors on the host take at most
1.1 times as long as arrays.
"""

import argparse
import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time
from typing import Any

import torch

import rocscope as rs

SECONDS, TIMES_FASTER, OF_ARRAYS = 0.15, 1.3, 1.1
TURNS = 9


def took(function: Callable[[], Any], clock: Callable[[], float]) -> float:
    """Return how long a call takes by a clock, with what it leaves to do on the device."""
    started = clock()
    function()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return clock() - started


def rows(n: int, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return labels and scores that tell something of them."""
    generator = torch.Generator(device).manual_seed(0)
    label = torch.rand(n, generator=generator, device=device) < 0.3
    return label.to(torch.int8), torch.sigmoid(torch.randn(n, generator=generator, device=device) + label)


def on_host() -> bool:
    """Print and judge how long tensors take beside arrays."""
    label, score = rows(10**6, "cpu")
    arrays = label.numpy(), score.numpy()
    same = rs.auc(label, score) == rs.auc(*arrays)
    pairs = [
        (took(lambda: rs.auc(label, score), process_time), took(lambda: rs.auc(*arrays), process_time))
        for _ in range(TURNS)
    ]
    ratio = median(ours / theirs for ours, theirs in pairs)
    print(f"host, 10⁶ float32: tensors take {ratio:.2f} times as long as arrays; areas equal: {same}")
    return same and ratio <= OF_ARRAYS


def on_device(n: int) -> bool:
    """Print and judge how long a device takes, if there is one."""
    if not torch.cuda.is_available():
        print("no CUDA device is at hand: nothing was measured on one")
        return True
    from torchmetrics.functional.classification import binary_auroc

    label, score = rows(n, "cuda")
    area = rs.auc(label, score)
    ours = median(took(lambda: rs.auc(label, score), perf_counter) for _ in range(TURNS))
    theirs = median(took(lambda: binary_auroc(score, label), perf_counter) for _ in range(3))
    same = area == rs.auc(label.cpu().numpy(), score.cpu().numpy())
    print(
        f"{torch.cuda.get_device_name()}, {n:,} float32: {1e3 * ours:.1f} ms, "
        f"torchmetrics {1e3 * theirs:.1f} ms; areas equal: {same}"
    )
    return same and ours <= SECONDS and theirs >= TIMES_FASTER * ours


def main() -> int:
    """Run, print the figures, and say whether promises were kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10**8)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    kept = [on_host(), on_device(options.rows)]
    return int(options.check and not all(kept))


if __name__ == "__main__":
    sys.exit(main())
