"""rocscope verify: whether what a decision says of itself is so in the rows it was chosen on."""

from rocscope.cli import options as opt
from rocscope.cli.console import note, print_json, print_rows

FAILED = 1


def verify(
    decision: opt.SavedDecision,
    file: opt.File,
    /,
    *,
    rows: opt.CountOptions = opt.COUNTS,
    json: opt.Json = False,
) -> int:
    """Count the rows anew, and say whether all that a decision says of itself is so.

    Name all the models that it was chosen among. Exits with code 1 where a claim is refuted.

    Example: rocscope verify decision.json scores.csv --label y --score a --score b
    """
    rows.require(file, "label", "scores")
    import rocscope as rs

    claimed = rs.Decision.load(decision)
    columns = claimed.context.columns
    found = claimed.verify(rows.predictions(file, columns=columns) if columns else rows.sample(file))
    if json:
        print_json("verify", found.to_dict())
    else:
        claims = [("holds", each) for each in found.proved] + [("refuted", each) for each in found.refuted]
        claims += [("left open", each) for each in found.left_open]
        title = f"{found.n:,.10g} rows, {found.thresholds:,} thresholds"
        print_rows(title, ("", "claim"), claims, left=("", "claim"))
    if found.holds:
        return 0
    note(f"Refuted: {'; '.join(found.refuted)}")
    return FAILED
