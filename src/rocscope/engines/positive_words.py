"""Which of two classes is the positive one, as far as names and sizes tell: the twin of the open page's `guess.ts`."""

import re
from collections.abc import Sequence


def _words(text: str) -> list[str]:
    return text.split()


POSITIVE_WORDS = _words(
    """
    true t yes y ja j oui o si sí sì da tak pos positive positiv + event events case cases present disease
    diseased ill sick krank abnormal malignant cancer tumor tumour recurrence relapse dead died death
    deceased fraud fraudulent spam churn churned default defaulted delinquent bought buyer buy purchase
    purchased convert converted conversion responder responded response click clicked subscribed attack
    anomaly defect defective
    """
)
ADVERSE_WORDS = _words(
    """
    bad poor schlecht mauvais failed failure
    """
)
"""Words for what a model of risk looks for; they count only where no class is named by a word above."""
NEGATIVE_WORDS = _words(
    """
    0 -1 0.0 -1.0 false f no not non none n nein kein keine nej neg negative negativ - absent without free
    control controls healthy gesund normal benign alive survived genuine legitimate legit ham
    """
)
AMBIGUOUS_WORDS = _words(
    """
    good won win winner lost high low pass passed male female left right top
    """
)
"""Words that name the class looked for in one study and the other class in the next."""


def likely_positive(classes: Sequence[str]) -> str | None:
    """Return the class that is likely positive, or None if that must be asked.

    Parameters
    ----------
    classes : sequence of str
        The most frequent first.

    Examples
    --------
    >>> likely_positive(["ja", "nein"]), likely_positive(["Good", "Poor"]), likely_positive(["2-Good", "1-Bad"])
    ('ja', 'Poor', '1-Bad')
    >>> likely_positive(["no disease", "disease"]), likely_positive(["won", "lost"]), likely_positive(["a", "b"])
    ('disease', None, 'b')
    """
    negative = [each for each in classes if _names(each, NEGATIVE_WORDS)]
    for words in (POSITIVE_WORDS, ADVERSE_WORDS):
        found = [each for each in classes if each not in negative and _names(each, words)]
        if len(found) == 1:
            return found[0]
    others = [each for each in classes if each not in negative]
    if len(others) == 1 and negative:
        return others[0]
    return None if any(_names(each, AMBIGUOUS_WORDS) for each in classes) or not classes else classes[-1]


def _names(text: str, words: Sequence[str]) -> bool:
    """Whether a class is named by one of some words: as a whole, or by a word of two letters or more in it."""
    whole = text.strip().lower()
    return whole in words or any(len(part) > 1 and part in words for part in re.findall(r"[^\W\d_]+", whole))
