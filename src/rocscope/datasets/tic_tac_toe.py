"""Tic-tac-toe endgames: the boards on which a game can end."""

import numpy as np

from rocscope.datasets.dataset import Dataset

_CELLS = ["tl", "tm", "tr", "ml", "mm", "mr", "bl", "bm", "br"]
_LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def make() -> Dataset:
    """The boards that x has won, those that o has won, the draws; each sorted, x before o before blank."""
    x_won, o_won, draws = (
        sorted(boards, key=lambda board: ["xob".index(cell) for cell in board]) for boards in _final_boards()
    )
    cells = np.array([list(board) for board in x_won + o_won + draws])
    return Dataset(
        name="tic_tac_toe",
        X=dict(zip(_CELLS, cells.T.copy(), strict=True)),
        y=np.repeat(["p", "n"], [len(x_won), len(o_won) + len(draws)]),
        positive="p",
        description="Every board at the end of a game of tic-tac-toe that x began: the nine cells from top "
        "left to bottom right are x, o or b (blank); class: p where x has won, n elsewhere.",
        source="C. J. Matheus and L. A. Rendell, Constructive induction on decision trees, IJCAI 1989, "
        "645-650; UCI Machine Learning Repository (CC BY 4.0), donor D. W. Aha, 1991.",
    )


def _final_boards() -> tuple[set[str], set[str], set[str]]:
    """Boards on which a game can end: x has won, o has won, it is a draw."""
    won: dict[str, set[str]] = {"x": set(), "o": set()}
    open_boards = {"b" * len(_CELLS)}
    for move in range(len(_CELLS)):
        player = "xo"[move % 2]
        boards = {
            board[:place] + player + board[place + 1 :]
            for board in open_boards
            for place, cell in enumerate(board)
            if cell == "b"
        }
        ended = {board for board in boards if _has_line(board, player)}
        won[player] |= ended
        open_boards = boards - ended
    return won["x"], won["o"], open_boards


def _has_line(board: str, player: str) -> bool:
    return any(all(board[place] == player for place in line) for line in _LINES)
