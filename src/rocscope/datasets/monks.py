"""MONK's problems: robots of six attributes, and a logical rule that some of them satisfy."""

from collections.abc import Callable

import numpy as np

from rocscope._base.arrays import Array
from rocscope.datasets.dataset import Columns, Dataset
from rocscope.datasets.grid import combinations

_SIZES = {"a": 3, "b": 3, "c": 2, "d": 3, "e": 4, "f": 2}

_RULES: dict[int, Callable[[Columns], Array]] = {
    1: lambda robot: (robot["a"] == robot["b"]) | (robot["e"] == 1),
    2: lambda robot: np.sum([value == 1 for value in robot.values()], axis=0) == 2,
    3: lambda robot: ((robot["e"] == 3) & (robot["d"] == 1)) | ((robot["e"] != 4) & (robot["b"] != 3)),
}

# Positions in the grid, counted from 1, of the robots that the authors drew for training.
_TRAINING = {
    1: """
        5 6 19 22 27 28 37 39 42 50 51 53 56 57 61 62 64 67 72 76 86 87 88 92 93 94 99 103 107 111 114 116
        117 119 120 124 130 132 134 135 136 137 139 143 144 149 150 153 154 156 157 159 160 167 172 173 176
        181 184 188 191 195 196 197 206 209 210 212 214 216 217 222 223 224 227 239 241 249 253 258 261 264
        270 273 274 275 286 289 290 297 300 308 313 316 324 326 332 337 344 346 352 361 362 366 377 379 383
        385 387 392 398 400 402 403 404 408 409 414 415 416 426 428 430 432""",
    2: """
        4 7 9 10 11 13 15 19 23 25 26 37 39 40 42 44 50 58 60 61 62 63 65 66 68 69 70 71 72 75 79 85 87 89
        90 93 94 95 96 98 100 101 102 107 108 110 111 116 117 120 125 126 127 130 134 136 139 145 148 149
        156 162 164 166 167 169 172 175 179 184 185 186 188 190 192 197 200 201 205 213 214 215 217 220 222
        223 224 225 228 229 233 235 236 240 241 242 246 249 253 254 256 258 259 263 266 267 269 272 273 275
        278 285 286 288 295 298 300 302 303 304 305 306 308 310 313 316 317 318 319 320 323 330 331 332 336
        338 340 341 342 346 347 353 355 357 358 361 364 365 366 369 371 372 374 377 382 384 385 387 389 390
        398 409 417 419 421 422 425 427 432""",
    3: """
        2 3 4 5 7 9 12 16 28 32 36 39 40 41 42 45 46 53 59 60 61 65 66 67 68 70 71 77 80 81 83 84 89 91 92
        99 103 110 111 113 117 121 122 123 128 134 136 143 145 146 151 152 153 154 164 166 167 172 183 186
        198 200 202 203 209 212 213 214 216 220 226 229 230 239 245 249 251 252 254 261 266 268 271 277 280
        281 283 288 289 291 293 304 306 312 315 326 328 329 340 343 349 354 364 366 370 377 382 383 390 391
        400 401 403 404 407 409 410 420 422 425 430 432""",
}

# The noise that the authors added: positions of the training robots of problem 3 whose class is wrong.
_MISLABELLED = [5, 61, 203, 213, 214, 391]


def make(problem: int) -> Dataset:
    """The training robots of problem 1, 2 or 3, then all robots, which are the published test set."""
    robot, _ = combinations({name: range(1, size + 1) for name, size in _SIZES.items()})
    truth = _RULES[problem](robot)
    training = np.array(_TRAINING[problem].split(), dtype=np.int64)
    seen = truth[training - 1]
    if problem == 3:
        seen = seen ^ np.isin(training, _MISLABELLED)
    rows = np.concatenate([training - 1, np.arange(len(truth))])
    return Dataset(
        name=f"monks-{problem}",
        X={name: values[rows] for name, values in robot.items()},
        y=np.concatenate([seen, truth]).astype(np.int64),
        positive=1,
        description="Robots of six attributes; class: whether a logical rule holds. "
        f"The first {len(training)} rows are for training, the other {len(truth)} for testing.",
        source="S. B. Thrun et al., The MONK's problems: a performance comparison of different learning "
        "algorithms, CMU-CS-91-197, Carnegie Mellon University, 1991; "
        "UCI Machine Learning Repository (CC BY 4.0), donor S. Thrun, 1992.",
    )
