"""Bundled data sets, which are generated from published rules, hierarchies and counts.

There is one function for each data set. It returns the attributes and the classes in the order of the published file.
`TABLE` lists the data sets with their positive class, description and source.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocscope._base.arrays import Array
from rocscope._base.contract import held_to_contract
from rocscope._base.validation import frame_of

Columns = dict[str, Array]


@held_to_contract
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Dataset:
    """Data set with attributes and a class for each row.

    Parameters
    ----------
    name : str
        Name of the data set, for :func:`rocscope.datasets.load`.
    X : dict from str to ndarray of shape (n,)
        Values of each attribute: strings, integers or floats.
    y : ndarray of shape (n,)
        Class of each row, as in the published file.
    target : str
        Name of the class column.
    positive : str, int or None
        Positive class; None if there are more than two classes.
    description : str
        Meaning of a row and of the classes.
    source : str
        Publication and authors of the data.

    Examples
    --------
    >>> from rocscope.datasets import load
    >>> titanic = load("titanic")
    >>> titanic
    Dataset('titanic', n=2201, attributes=3, class={'no': 1490, 'yes': 711}, positive='yes')
    >>> list(titanic.X)
    ['status', 'age', 'sex']
    >>> survived = titanic.y == titanic.positive
    >>> print(f"{survived[titanic.X['sex'] == 'female'].mean():.3f}")
    0.732
    """

    name: str
    X: Columns
    y: Array
    target: str = "class"
    positive: str | int | None = None
    description: str
    source: str

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y)

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return a data frame with the attributes and, as the last column, the class.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            One row for each row of the data set, in the same order.

        Raises
        ------
        InputError
            If `backend` is not one of these three names.
        MissingDependencyError
            If the library is not installed.

        Examples
        --------
        >>> from rocscope.datasets import load
        >>> load("car").to_frame().iloc[[0, -1]]
             buying  maint  doors persons lug_boot safety  class
        0     vhigh  vhigh      2       2    small    low  unacc
        1727    low    low  5more    more      big   high  vgood
        """
        return frame_of({**self.X, self.target: self.y}, backend)

    def __repr__(self) -> str:
        classes, counts = np.unique(self.y, return_counts=True)
        by_class = dict(zip(classes.tolist(), counts.tolist(), strict=True))
        return (
            f"Dataset({self.name!r}, n={self.n}, attributes={len(self.X)}, "
            f"{self.target}={by_class}, positive={self.positive!r})"
        )


LabelledColumns = tuple[Columns, Array]


def _combinations(levels: Mapping[str, Sequence[Any]]) -> tuple[Columns, Columns]:
    """Return all combinations of the values of several attributes; the last attribute varies fastest.

    Parameters
    ----------
    levels : dict from str to sequence
        Possible values of each attribute.

    Returns
    -------
    values, positions : dict from str to ndarray
        Value of each attribute in each combination, and the index of this value in `levels`.

    Examples
    --------
    >>> values, positions = _combinations({"size": ["small", "big"], "doors": [2, 4]})
    >>> values["size"], values["doors"]
    (array(['small', 'small', 'big', 'big'], dtype='<U5'), array([2, 4, 2, 4]))
    >>> positions["size"]
    array([0, 0, 1, 1])
    """
    indices = np.indices([len(values) for values in levels.values()]).reshape(len(levels), -1)
    positions = dict(zip(levels, indices, strict=True))
    return {name: np.asarray(levels[name])[positions[name]] for name in levels}, positions


def _table(*pages: str) -> NDArray[np.int64]:
    """Parse a table of one-digit numbers, in which blanks separate rows; with several tables, stack them.

    Examples
    --------
    >>> _table("001 112")
    array([[0, 0, 1],
           [1, 1, 2]])
    >>> _table("001 112", "222 333").shape
    (2, 2, 3)
    """
    digits = np.array([[[int(digit) for digit in row] for row in page.split()] for page in pages])
    return digits if len(pages) > 1 else digits[0]


def _car() -> LabelledColumns:
    """Return all combinations of six attributes of a car, and the class from a hierarchy of rules."""
    car, at = _combinations(
        {
            "buying": ["vhigh", "high", "med", "low"],
            "maint": ["vhigh", "high", "med", "low"],
            "doors": ["2", "3", "4", "5more"],
            "persons": ["2", "4", "more"],
            "lug_boot": ["small", "med", "big"],
            "safety": ["low", "med", "high"],
        }
    )
    price = _table("0011 0111 1123 1233")[at["buying"], at["maint"]]
    comfort_table = _table("000 000 000 000", "112 112 122 122", "012 122 122 122")
    comfort = comfort_table[at["persons"], at["doors"], at["lug_boot"]]
    unfit = (car["safety"] == "low") | (comfort == 0)
    technical = np.where(unfit, 0, comfort + (car["safety"] == "high"))
    acceptability = _table("0000 0011 0112 0133")[technical, price]
    return car, np.array(["unacc", "acc", "good", "vgood"])[acceptability]


def _nursery() -> LabelledColumns:
    """Return all combinations of eight attributes of an application, and the class from a hierarchy of rules."""
    family, at = _combinations(
        {
            "parents": ["usual", "pretentious", "great_pret"],
            "has_nurs": ["proper", "less_proper", "improper", "critical", "very_crit"],
            "form": ["complete", "completed", "incomplete", "foster"],
            "children": ["1", "2", "3", "more"],
            "housing": ["convenient", "less_conv", "critical"],
            "finance": ["convenient", "inconv"],
            "social": ["nonprob", "slightly_prob", "problematic"],
            "health": ["recommended", "priority", "not_recom"],
        }
    )
    employ = _table("01123 11233 22333")[at["parents"], at["has_nurs"]]
    structure = _table("0122 1122 1222 2222")[at["form"], at["children"]]
    home = _table("01 11 11", "11 11 22", "12 22 22")[structure, at["housing"], at["finance"]]
    carefree = (family["health"] == "recommended") & (family["social"] != "problematic")
    concern = _table("0122 1122 2223", "2222 2223 2233")[np.where(carefree, 0, 1), home, employ]
    priority = np.array(["recommend", "very_recom", "priority", "spec_prior"])[concern]
    return family, np.where(family["health"] == "not_recom", "not_recom", priority)


_MONKS_RULES: dict[int, Callable[[Columns], Array]] = {
    1: lambda robot: (robot["a"] == robot["b"]) | (robot["e"] == 1),
    2: lambda robot: np.sum([value == 1 for value in robot.values()], axis=0) == 2,
    3: lambda robot: ((robot["e"] == 3) & (robot["d"] == 1)) | ((robot["e"] != 4) & (robot["b"] != 3)),
}

# Positions, counted from 1 among all combinations, of the robots that the authors drew for training.
_MONKS_TRAINING = {
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

# Noise added by the authors: positions of the training robots of problem 3 with a wrong class.
_MISLABELLED = [5, 61, 203, 213, 214, 391]


def _monks(problem: int) -> LabelledColumns:
    """Return the training set of problem 1, 2 or 3, followed by the published test set, which contains all robots."""
    sizes = {"a": 3, "b": 3, "c": 2, "d": 3, "e": 4, "f": 2}
    robot, _ = _combinations({name: range(1, size + 1) for name, size in sizes.items()})
    truth = _MONKS_RULES[problem](robot)
    training = np.array(_MONKS_TRAINING[problem].split(), dtype=np.int64)
    seen = truth[training - 1]
    if problem == 3:
        seen = seen ^ np.isin(training, _MISLABELLED)
    rows = np.concatenate([training - 1, np.arange(len(truth))])
    return {name: values[rows] for name, values in robot.items()}, np.concatenate([seen, truth]).astype(np.int64)


# The class, then one digit for each attribute; * is any value. No two rules contradict each other.
_LANDING_RULES = """
    2*****2 12****1 112***1 111***1 11322*1 1****41 214**11 214**21 214**31 2131111 2131121 2131211 2131221 1131131
    2131231"""


def _shuttle() -> LabelledColumns:
    """Return the 253 situations to which a rule applies, with the class from the rule."""
    sizes = {"stability": 2, "serr": 4, "sign": 2, "wind": 2, "magnitude": 4, "visibility": 2}
    situation, _ = _combinations({name: range(1, size + 1) for name, size in sizes.items()})
    attributes = np.column_stack(list(situation.values()))
    advice = np.zeros(len(attributes), dtype=np.int64)
    for decision, *conditions in _LANDING_RULES.split():
        met = np.ones(len(attributes), dtype=np.bool_)
        for place, digit in enumerate(conditions):
            if digit != "*":
                met &= attributes[:, place] == int(digit)
        advice[met] = int(decision)
    return {name: values[advice > 0] for name, values in situation.items()}, advice[advice > 0]


_CELLS = ["tl", "tm", "tr", "ml", "mm", "mr", "bl", "bm", "br"]
_LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def _tic_tac_toe() -> LabelledColumns:
    """Return the final boards of tic-tac-toe: boards won by x, boards won by o, and draws, each part sorted."""
    x_won, o_won, draws = _final_boards()
    boards: list[str] = []
    for ended in (x_won, o_won, draws):
        boards += sorted(ended, key=lambda board: ["xob".index(cell) for cell in board])
    cells = np.array([list(board) for board in boards])
    won = np.repeat(["p", "n"], [len(x_won), len(o_won) + len(draws)])
    return dict(zip(_CELLS, cells.T.copy(), strict=True)), won


def _final_boards() -> tuple[set[str], set[str], set[str]]:
    """Return three sets of final boards: boards won by x, boards won by o, and draws."""
    won: dict[str, set[str]] = {"x": set(), "o": set()}
    open_boards = {"b" * len(_CELLS)}
    for move in range(len(_CELLS)):
        player = "xo"[move % 2]
        boards: set[str] = set()
        for board in open_boards:
            blank = [place for place, cell in enumerate(board) if cell == "b"]
            boards |= {board[:place] + player + board[place + 1 :] for place in blank}
        ended = {board for board in boards if (any(all(board[place] == player for place in line) for line in _LINES))}
        won[player] |= ended
        open_boards = boards - ended
    return won["x"], won["o"], open_boards


# Status, age, sex; number of survivors, number of deaths.
_ABOARD = """
    first adult male 57 118    first adult female 140 4     first child male 5 0      first child female 1 0
    second adult male 14 154   second adult female 80 13    second child male 11 0    second child female 13 0
    third adult male 75 387    third adult female 76 89     third child male 13 35    third child female 14 17
    crew adult male 192 670    crew adult female 20 3"""


def _titanic() -> LabelledColumns:
    """Return one row per person; persons with equal attributes are adjacent, survivors first."""
    counts = np.array(_ABOARD.split()).reshape(-1, 5)
    groups, persons = np.repeat(counts[:, :3], 2, axis=0), counts[:, 3:].astype(int).ravel()
    status, age, sex = np.repeat(groups, persons, axis=0).T.copy()
    survived = np.repeat(np.tile(["yes", "no"], len(counts)), persons)
    return {"status": status, "age": age, "sex": sex}, survived


def _wdbc() -> LabelledColumns:
    """Return the breast cancer data of scikit-learn, with the names and classes of the published file."""
    from sklearn.datasets import load_breast_cancer

    bunch: Any = load_breast_cancer()
    column = dict(zip(bunch.feature_names.tolist(), bunch.data.T.copy(), strict=True))
    measures = [name.removeprefix("mean ") for name in column if name.startswith("mean ")]
    # Replace scikit-learn's names of columns and classes by the published ones.
    columns = {measure: column[f"mean {measure}"] for measure in measures}
    columns |= {f"se_{measure}": column[f"{measure} error"] for measure in measures}
    columns |= {f"worst_{measure}": column[f"worst {measure}"] for measure in measures}
    labels = np.where(bunch.target_names == "malignant", "M", "B")
    return columns, labels[bunch.target]


class Definition(NamedTuple):
    """Function that generates a data set, with the positive class, the description and the source."""

    make: Callable[[], LabelledColumns]
    positive: str | int | None
    description: str
    source: str


TABLE: dict[str, Definition] = {
    "car": Definition(
        _car,
        None,
        "Every combination of six attributes of a car; class: how acceptable it is to a buyer.",
        "M. Bohanec and V. Rajkovic, Expert system for decision making, Sistemica 1(1), 1990, "
        "145-157; UCI Machine Learning Repository (CC BY 4.0), donors M. Bohanec and B. Zupan, 1997.",
    ),
    **{
        f"monks-{problem}": Definition(
            partial(_monks, problem),
            1,
            f"Robots of six attributes; class: whether a logical rule holds. The first {rows} rows are for training, "
            "the other 432 for testing.",
            "S. B. Thrun et al., The MONK's problems: a performance comparison of different learning "
            "algorithms, CMU-CS-91-197, Carnegie Mellon University, 1991; "
            "UCI Machine Learning Repository (CC BY 4.0), donor S. Thrun, 1992.",
        )
        for problem, rows in ((1, 124), (2, 169), (3, 122))
    },
    "nursery": Definition(
        _nursery,
        None,
        "Every combination of eight attributes of a family that applies to a nursery school in "
        "Ljubljana; class: the priority of the application.",
        "M. Olave, V. Rajkovic and M. Bohanec, An application for admission in public school systems, "
        "in Expert Systems in Public Administration, Elsevier, 1989, 145-160; "
        "UCI Machine Learning Repository (CC BY 4.0), donors M. Bohanec and B. Zupan, 1997.",
    ),
    "shuttle-landing-control": Definition(
        _shuttle,
        2,
        "Situations of a space shuttle that is to land (serr: how large the error is); "
        "class: 1 advises against automatic control, 2 advises it.",
        "D. Michie, The fifth generation's unbridged gap, in R. Herken (ed.), The Universal Turing "
        "Machine, Oxford University Press, 1988, 466-489; "
        "UCI Machine Learning Repository (CC BY 4.0), donor B. Cestnik, 1988.",
    ),
    "tic_tac_toe": Definition(
        _tic_tac_toe,
        "p",
        "Every board at the end of a game of tic-tac-toe that x began: the nine cells from top "
        "left to bottom right are x, o or b (blank); class: p where x has won, n elsewhere.",
        "C. J. Matheus and L. A. Rendell, Constructive induction on decision trees, IJCAI 1989, "
        "645-650; UCI Machine Learning Repository (CC BY 4.0), donor D. W. Aha, 1991.",
    ),
    "titanic": Definition(
        _titanic,
        "yes",
        "Everyone aboard the Titanic; class: whether the person survived.",
        'R. J. MacG. Dawson, The "unusual episode" data revisited, Journal of Statistics Education '
        "3(3), 1995, from the report of the British Board of Trade, 1912.",
    ),
    "wdbc": Definition(
        _wdbc,
        "M",
        "Breast masses by the cell nuclei in an image of a fine needle aspirate: mean, standard "
        "error (se) and worst value of ten measures; class: M is malignant, B benign.",
        "W. N. Street, W. H. Wolberg and O. L. Mangasarian, Nuclear feature extraction for breast "
        "tumor diagnosis, SPIE 1905, 1993, 861-870; UCI Machine Learning Repository (CC BY 4.0), "
        "donors W. H. Wolberg, W. N. Street and O. L. Mangasarian, 1995.",
    ),
}
