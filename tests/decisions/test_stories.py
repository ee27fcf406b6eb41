"""Five decisions from end to end, each with a solution that does not use rocscope: credit, fraud, screening, mailing,
triage.

Each story reads rows, makes a plan, states it in a sentence, saves and reads it, and compares it with a brute-force or
closed-form solution on the same rows. The value on new cases is compared with the true one of the population.
"""

import math
import re

import numpy as np
import pytest

import rocscope as rs
from rocscope import Campaign, Context, Predictions, Review


def drawn(seed, n, share, distance):
    """Return labels and the probabilities of a calibrated model of equal-variance normal scores, in hundredths."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    x = rng.normal(y * distance)
    odds = share / (1 - share) * np.exp(distance * x - distance**2 / 2)
    return y.astype(int), (odds / (1 + odds)).round(2), rng


def said(plan, what, value, apparent, currency=""):
    """Check the parts of a plan's sentence, and that its file says the same; return the value on new cases."""
    sentence = plan.sentence(currency)
    assert sentence.startswith(f"{what}. Expect "), sentence
    assert f"{value} of {currency}" in sentence and "95% CI [" in sentence
    shown = re.search(r"apparent ([^);]*)", sentence).group(1).replace(currency or " ", "").replace(",", "")
    half_width = (plan.on_new_cases.high - plan.on_new_cases.low) / 2
    assert float(shown) == pytest.approx(apparent, abs=half_width / 10)
    assert plan.verdict == plan.sentence()
    return plan.on_new_cases


def as_read(plan, folder):
    """Return a plan after it was saved and read, which says the same."""
    read = rs.load_plan(plan.save(folder / "plan.json"))
    assert (read.verdict, read.to_json()) == (plan.verdict, plan.to_json())
    return read


def cheapest(costs):
    """Return the threshold of lowest cost; the highest of several."""
    return min(costs, key=lambda threshold: (round(costs[threshold], 12), -threshold))


def test_credit_is_granted_where_a_default_costs_ten_times_a_refusal(tmp_path):
    y, p, _ = drawn(1, 1500, 0.1, 1.3)
    context = Context(cost_fp=1, cost_fn=10)
    decision = rs.choose(y, p, context)

    # Brute force over all thresholds; for calibrated probabilities Bayes' rule is 1/(1 + 10).
    costs = {t: np.where(p >= t, y == 0, 10 * y).mean() for t in [0.0, *np.unique(p), math.inf]}
    best = cheapest(costs)
    assert (decision.threshold, decision.expected_cost) == (best, pytest.approx(costs[best], abs=1e-12))
    assert costs[0.09] < 1.05 * costs[best]
    what = f"Act on the {(p >= best).mean():.2%} of cases whose score is {best:g} or more"
    estimate = said(decision, what, "a cost per case", costs[best], "€")

    # The true cost of this threshold, from the normal distributions of both classes; 0.005 is rounded up to 0.01.
    odds = (best - 0.005) / (1.005 - best)
    cut = (math.log(9 * odds) + 1.3**2 / 2) / 1.3
    truth = 0.9 * 0.5 * math.erfc(cut / 2**0.5) + 0.1 * 10 * 0.5 * math.erfc((1.3 - cut) / 2**0.5)
    assert truth in estimate and estimate.value >= decision.expected_cost
    assert f"against €{costs[0.0]:.4g} for acting on everybody" in decision.sentence("€")
    assert as_read(decision, tmp_path).predict(p).tolist() == (p >= best).tolist()


def test_fraud_is_stopped_where_the_amount_is_worth_the_call(tmp_path):
    y, p, rng = drawn(2, 1500, 0.08, 2)
    amount = rng.gamma(2, 40, y.size).round(2)
    rows = Predictions(y, p, columns={"amount": amount})
    decision = rs.choose(rows, Context(cost_fp=5, cost_fn="amount", cost_tp=5))
    costs = {t: np.where(p >= t, 5, amount * y).mean() for t in [0.0, *np.unique(p), math.inf]}
    best = cheapest(costs)
    assert (decision.threshold, decision.expected_cost) == (best, pytest.approx(costs[best], abs=1e-9))
    what = f"Act on the {(p >= best).mean():.2%} of cases whose score is {best:g} or more"
    estimate = said(decision, what, "a cost per case", costs[best], "$")

    # The same rule among 400,000 payments of the same bank.
    y, p, rng = drawn(12, 400_000, 0.08, 2)
    truth = np.where(p >= best, 5, rng.gamma(2, 40, y.size) * y).mean()
    assert truth in estimate
    assert (amount * rows.y_true).mean() > 5
    assert "against $5 for acting on everybody" in decision.sentence("$")
    assert as_read(decision, tmp_path).threshold == best


def test_screening_finds_nine_in_ten_with_fewest_recalls(tmp_path):
    y, p, _ = drawn(3, 2000, 0.05, 2)
    decision = rs.choose(y, p, Context(cost_fn=20, target_prevalence=0.01), subject_to="tpr >= .9", population=100_000)

    def cost(t):
        tpr, fpr = (p >= t)[y == 1].mean(), (p >= t)[y == 0].mean()
        return 0.01 * 20 * (1 - tpr) + 0.99 * fpr if tpr >= 0.9 else math.inf

    best = min(np.unique(p), key=cost)
    assert (decision.threshold, decision.expected_cost) == (best, pytest.approx(cost(best), abs=1e-12))
    recalled = 100_000 * (0.01 * (p >= best)[y == 1].mean() + 0.99 * (p >= best)[y == 0].mean())
    what = f"Subject to tpr >= 0.9, act on the {recalled:,.0f} of 100,000 cases whose score is {best:g} or more"
    estimate = said(decision, what, "a cost per case", cost(best))
    y, p, _ = drawn(13, 400_000, 0.05, 2)
    tpr, fpr = (p >= best)[y == 1].mean(), (p >= best)[y == 0].mean()
    assert 0.01 * 20 * (1 - tpr) + 0.99 * fpr in estimate
    assert "against 0.2 for acting on nobody" in decision.verdict
    assert as_read(decision, tmp_path).subject_to == ("tpr >= 0.9",)


def test_a_mailing_fills_its_letters_and_promises_what_they_bring(tmp_path):
    y, p, _ = drawn(4, 2000, 0.1, 1)
    plan = rs.plan_campaign(y, p, Campaign(50_000, unit_cost=1.2, unit_benefit=18, fixed_cost=900, capacity=6000))

    # The pilot's best 12% by rank: 240 of 2,000 customers, some of them drawn among equal scores.
    last = np.sort(p)[-240]
    above, tied = p > last, p == last
    responders = y[above].sum() + y[tied].mean() * (240 - above.sum())
    profit = 25 * (18 * responders - 1.2 * 240) - 900
    assert (plan.best.best.size, plan.best.best.profit) == (6000, pytest.approx(profit, rel=1e-9))
    what = f"Contact the 6,000 customers with the highest score, down to {last:g}, ties at random (12.00% of 50,000)"
    estimate = said(plan, what, "a profit", profit, "£")

    # Next month's list of 50,000: as many are contacted, and the promise is kept.
    y, p, _ = drawn(14, 50_000, 0.1, 1)
    read = as_read(plan, tmp_path)
    outcomes = read.outcomes({"score": p, "bought": y}, label="bought")
    truth = 18 * y[read.select(p)].sum() - 1.2 * 6000 - 900
    assert (outcomes.acted, outcomes.gain.value) == (6000, pytest.approx(truth))
    assert truth in estimate and outcomes.kept
    assert outcomes.promised_gain == pytest.approx(estimate.value)
    assert outcomes.promise.low < truth < outcomes.promise.high


def test_triage_acts_reviews_and_leaves(tmp_path):
    y, p, _ = drawn(5, 1200, 0.2, 1.5)
    context, review = Context(cost_fp=4, cost_fn=10), Review(cost=1)
    decision = rs.choose(y, p, context, review=review)

    # Every pair of thresholds: act from `high` on, review from `low` on, at 1 a case and then the right action.
    levels = [*np.unique(p), math.inf]
    acting = {t: ((p >= t) * (4.0 * (y == 0) - 1)).sum() for t in levels}
    looking = {t: np.where(p >= t, 1, 10 * y).sum() for t in levels}
    high, low = cheapest(acting), cheapest(looking)
    assert low <= high
    cost = (acting[high] + looking[low]) / y.size
    assert decision.expected_cost == pytest.approx(cost, abs=1e-12)
    assert (decision.threshold, decision.review.threshold) == (high, low)
    acted, looked = (p >= high).mean(), ((p >= low) & (p < high)).mean()
    what = (
        f"Act on the {acted:.2%} of cases whose score is {high:g} or more, and review the next {looked:.2%} of cases, "
    )
    said(decision, f"{what}down to {low:g}", "a cost per case", cost)
    assert "The interval is not reliable: the interval ignores how the reviews were chosen." in decision.verdict
    assert sorted(set(as_read(decision, tmp_path).predict(p))) == ["act", "leave", "review"]
