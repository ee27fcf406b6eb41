"""Samples whose true costs are known, and what the intervals of decisions and plans say of them.

As a script it prints the figures of `Decision.interval` and `CampaignPlan.profit`:
``python tests/decisions/generalization/interval_cases.py [SAMPLES [SEED]]``.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

import rocscope as rs


@dataclass(frozen=True)
class Cases:
    """Rows of which some are positive by chance, with scores of models that share a part of their error.

    Negatives are standard normal, positives normal around the shift of each model; perhaps rounded up to steps. Where
    amounts `spread`, what a miss costs or a response brings is log-normal, of that standard deviation of its logarithm
    and the mean `cost_fn`; where they have a `tail`, it is Pareto of that shape and the same mean. Where they have
    both, a tenth of them are Pareto, of three times the mean of the others. With a `gamma` they have that shape.
    """

    n: int
    shifts: tuple[float, ...] = (1.0,)
    prevalence: float = 0.3
    cost_fn: float = 2
    step: float = 0.0
    shared: float = 0.5
    target: bool = False
    spread: float = 0.0
    tail: float = 0.0
    gamma: float = 0.0

    @property
    def _amount(self):
        return "amount" if self.spread or self.tail or self.gamma else self.cost_fn

    @property
    def alike(self):
        """The same cases with equal amounts, whose expected costs are the same."""
        return replace(self, spread=0.0, tail=0.0, gamma=0.0)

    @property
    def context(self):
        return rs.Context(self.prevalence if self.target else None, cost_fn=self._amount)

    @property
    def campaign(self):
        """A mailing to 10,000, of which each contact costs 1 and each response brings `cost_fn`."""
        return rs.Campaign(10_000, 1, self._amount, fixed_cost=100)

    def cost(self, threshold, shift, context=None):
        """What a threshold truly costs per case."""
        cut = threshold - self.step
        context = self.alike.context if context is None else context
        return context.expected_cost(ndtr(shift - cut), ndtr(-cut), self.prevalence)

    def least(self):
        """What the best threshold of the best model costs."""
        every = np.arange(-8, 12, self.step or 0.002)
        return min(self.cost(np.append(every, [-np.inf, np.inf]), shift).min() for shift in self.shifts)

    def sample(self, rng):
        positive = np.zeros(self.n, bool)
        while not 0 < positive.sum() < self.n:
            positive = rng.random(self.n) < self.prevalence
        common = np.sqrt(self.shared) * rng.standard_normal(self.n)
        scores = {}
        for number, shift in enumerate(self.shifts):
            score = common + np.sqrt(1 - self.shared) * rng.standard_normal(self.n) + shift * positive
            scores[f"m{number}"] = self.step * np.ceil(score / self.step) if self.step else score
        if self._amount == self.cost_fn:
            return rs.Predictions(positive, scores)
        return rs.Predictions(positive, scores, columns={"amount": self.cost_fn * self._amounts(rng)})

    def _amounts(self, rng):
        """Return amounts of mean 1."""
        if self.gamma:
            return rng.gamma(self.gamma, 1 / self.gamma, self.n)
        body = np.exp(self.spread * rng.standard_normal(self.n) - self.spread**2 / 2)
        if not self.tail:
            return body
        tail = (1 - 1 / self.tail) * (1 + rng.pareto(self.tail, self.n))
        return np.where(rng.random(self.n) < 0.1, 3 * tail, body) / 1.2 if self.spread else tail


SINGLE = {
    "1.0, all different, 100 rows": Cases(100),
    "1.0, all different, 400 rows": Cases(400),
    "2.0, all different, 400 rows": Cases(400, (2.0,)),
    "2.0, multiples of 1/2, 400 rows": Cases(400, (2.0,), step=0.5),
    "2.0, class mix known, 400 rows": Cases(400, (2.0,), target=True),
}
RARE = {
    "2% of 1,000 positive": Cases(1000, (1.5,), 0.02, 30),
    "1% of 2,000 positive": Cases(2000, (1.5,), 0.01, 60),
}
SEVERAL = {
    "five equal models, 100 rows": Cases(100, (1.0,) * 5),
    "five equal models, 400 rows": Cases(400, (1.0,) * 5),
    "five equal models, multiples of 1/2, 400 rows": Cases(400, (1.0,) * 5, step=0.5),
    "five unequal models, 400 rows": Cases(400, (1.0, 1.1, 1.2, 1.3, 1.4)),
    "one better by far, 400 rows": Cases(400, (1.0, 1.0, 1.0, 1.0, 1.6)),
    "five equal models, 2% of 1,000 positive": Cases(1000, (1.5,) * 5, 0.02, 30),
}
MAILING = {
    "profit, 30% of 100 respond": Cases(100, (1.0,), 0.3, 3),
    "profit, 10% of 200 respond": Cases(200, (1.0,), 0.1, 10),
    "profit, 10% of 400 respond": Cases(400, (1.5,), 0.1, 10),
    "profit, 10% of 400 respond, multiples of 1/2": Cases(400, (1.5,), 0.1, 10, step=0.5),
    "profit, 10% of 400 respond, five equal models": Cases(400, (1.0,) * 5, 0.1, 10),
    "profit, 2% of 1,000 respond": Cases(1000, (1.5,), 0.02, 50),
    "profit, 3% of 2,000 respond": Cases(2000, (1.0,), 0.03, 40),
    "profit, 1% of 2,000 respond": Cases(2000, (1.5,), 0.01, 100),
}

AMOUNTS = {
    "amounts of .5, 100 rows": Cases(100, spread=0.5),
    "amounts of .5, 400 rows": Cases(400, spread=0.5),
    "amounts of 1, 400 rows": Cases(400, spread=1.0),
    "amounts of 1, 4,000 rows": Cases(4000, spread=1.0),
    "amounts of .5, class mix known, 400 rows": Cases(400, target=True, spread=0.5),
    "amounts of .5, 2% of 1,000 positive": Cases(1000, (1.5,), 0.02, 30, spread=0.5),
    "amounts of 1, five equal models, 400 rows": Cases(400, (1.0,) * 5, spread=1.0),
}
MAILING_OF_AMOUNTS = {
    "profit in amounts of .5, 10% of 400 respond": Cases(400, (1.5,), 0.1, 10, spread=0.5),
    "profit in amounts of 1, 10% of 400 respond": Cases(400, (1.5,), 0.1, 10, spread=1.0),
    "profit in amounts of 1, 3% of 2,000 respond": Cases(2000, (1.0,), 0.03, 40, spread=1.0),
}
PARETO = {
    f"Pareto amounts of shape {tail}, {n:,} rows": Cases(n, (1.5,), 0.2, 3, tail=tail)
    for tail in (2.2, 3.0)
    for n in (300, 2000, 10_000)
}
MAILING_OF_PARETO = {
    f"profit in Pareto amounts of shape {tail}, 10% of {n:,} respond": Cases(n, (1.5,), 0.1, 10, tail=tail)
    for tail in (2.2, 3.0)
    for n in (400, 2000, 10_000)
}


def drawn(rng):
    """Draw a design with amounts of any distribution, and what its name is."""
    kind = str(rng.choice(["Pareto", "log-normal", "gamma", "mixed"]))
    tail, spread = round(rng.uniform(1.8, 4), 1), round(rng.uniform(0.3, 1.2), 1)
    law = {
        "Pareto": {"tail": tail},
        "log-normal": {"spread": spread},
        "gamma": {"gamma": round(rng.uniform(0.5, 3), 1)},
        "mixed": {"tail": tail, "spread": 0.5},
    }[kind]
    n, prevalence = int(rng.integers(200, 5000)), round(rng.uniform(0.1, 0.4), 2)
    cases = Cases(n, (round(rng.uniform(0.8, 2), 1),), prevalence, round(0.7 / prevalence, 1), **law)
    return f"{kind} {', '.join(map(str, law.values()))}", cases


OF_COST = SINGLE | RARE | SEVERAL | AMOUNTS
OF_PROFIT = MAILING | MAILING_OF_AMOUNTS
HEAVY = PARETO | MAILING_OF_PARETO


def study(cases, samples, *, seed=0, replicates=200, profit=False):
    """Return, for each sample, by how much the intervals of cost (or profit) and of regret miss the truth, 0 if not."""
    rng = np.random.default_rng([seed, cases.n, len(cases.shifts)])
    least, found = cases.least(), []
    of_campaign = cases.alike.campaign.context
    for number in range(samples):
        rows = cases.sample(rng)
        options = {"replicates": replicates, "random_state": number, "progress": False}
        if profit:
            plan = rs.plan_campaign(rows, cases.campaign)
            interval, model = plan.interval(**options), plan.best.model
            truth = -cases.cost(plan.best.best.threshold, cases.shifts[int(model[1:])], of_campaign)
            truth = cases.campaign.population * truth - cases.campaign.fixed_cost
            regret = 0.0
        else:
            decision = rs.choose(rows, cases.context)
            interval, model = decision.interval(**options), decision.model
            truth = cases.cost(decision.threshold, cases.shifts[int(model[1:])])
            regret = max(truth - least - interval.regret.high, 0) - max(interval.regret.low - (truth - least) - 1e-6, 0)
        missed = max(truth - interval.high, 0) - max(interval.low - truth, 0)
        apparent = interval.apparent - truth
        found.append((missed, regret, interval.value - truth, apparent, interval.reliable, interval.acting))
    names = ("missed", "regret", "error", "apparent", "reliable", "acting")
    return {name: np.array(column, dtype=float) for name, column in zip(names, zip(*found, strict=True), strict=True)}


def covered(name, samples, **options):
    """Print how often the intervals of a line hold the truth, cost or profit and regret, and return that."""
    profit = name in OF_PROFIT | MAILING_OF_PARETO
    result = study((OF_COST | OF_PROFIT | HEAVY)[name], samples, profit=profit, **options)
    missed, held = result["missed"], np.mean(result["regret"] == 0)
    of_regret = "" if profit else f", regret {held:.1%}"
    print(
        f"{name}: {samples} samples, covers {np.mean(missed == 0):.1%} (too low {np.mean(missed > 0):.1%}, too high "
        f"{np.mean(missed < 0):.1%}){of_regret}, bias {result['error'].mean():.4g}, "
        f"apparent {result['apparent'].mean():.4g}, reliable {result['reliable'].mean():.1%}, "
        f"acting {result['acting'].mean():.2f}",
        flush=True,
    )
    return np.mean(missed == 0), held


if __name__ == "__main__":
    import sys

    given = [int(text) for text in sys.argv[1:]]
    for line in OF_COST | OF_PROFIT:
        covered(line, *given[:1] or [1000], seed=given[1] if len(given) > 1 else 0)
