"""Exports of a marketer in two countries: a pilot, the next list, and its answers."""

import csv

import numpy as np

EXPORTS = {
    "German": {"columns": ("Kunde", "gekauft", "Wert"), "answers": ("ja", "nein"), "delimiter": ";", "decimal": ","},
    "American": {"columns": ("client", "bought", "score"), "answers": ("yes", "no"), "delimiter": ",", "decimal": "."},
}
CLIENTS = 400


def export(path, kind, seed, known=True):
    """Write an export as Excel does in a country; return the scores and answers of its clients."""
    rng = np.random.default_rng(seed)
    score = rng.random(CLIENTS).round(4)
    bought = rng.random(CLIENTS) < score / 2
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.writer(file, delimiter=kind["delimiter"])
        writer.writerow(kind["columns"])
        for client, (value, answer) in enumerate(zip(score, bought, strict=True)):
            number = f"{value:.4f}".replace(".", kind["decimal"])
            writer.writerow([f"C{client:03}", kind["answers"][not answer] if known else "", number])
    return score, bought
