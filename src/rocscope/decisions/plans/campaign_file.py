"""The campaign plan file: campaigns, offers, and the rule of the best offer."""

from dataclasses import fields as fields_of
from typing import Any

from rocscope._base.json_format import Fields, Format
from rocscope.curves.profit_curve import Campaign, CampaignRow
from rocscope.decisions.decision_file import read_fraction, read_vertex
from rocscope.decisions.randomized.randomized_rule import RandomizedRule

FORMAT = Format("rocscope.campaign_plan", 1, "a campaign plan", "plan anew with rocscope.plan_campaign and save that")


def arguments(fields: Fields) -> dict[str, Any]:
    """Return the arguments of a CampaignPlan, checked for type."""
    campaigns = fields.inner("campaigns", "campaigns by name")
    rule = fields.inner("rule", "two thresholds and what the second weighs")
    first, second = (read_vertex(rule.inner(end, "a threshold of a model")) for end in ("first", "second"))
    weight = read_fraction(rule.inner("exact", "fractions"), "weight", zero=True)
    level = fields.number("level", 0, 1)
    return {
        "campaigns": {
            name: campaigns.make(name, Campaign, **campaigns.take(name, dict, "a campaign"))
            for name in campaigns.content
        },
        "rule": RandomizedRule.between(first, second, weight),
        "depth": read_fraction(fields, "depth", zero=True),
        "level": level,
        "steps": tuple(map(_row, fields.objects("table"))),
    }


def offer_arguments(fields: Fields) -> dict[str, Any]:
    """Return the arguments of one Offer."""
    return {
        "model": fields.text("model"),
        "campaign": fields.text("campaign"),
        "best": _row(fields.inner("best", "a row of the table")),
        "break_even_depths": _depths(fields),
        "random_profit": fields.number("random_profit"),
        "perfect_profit": fields.number("perfect_profit"),
    }


def _depths(fields: Fields) -> tuple[float, ...]:
    values = fields.take("break_even_depths", list, "depths")
    if not all(type(each) in (int, float) and 0 <= each <= 1 for each in values):
        fields.refuse("break_even_depths", "shares of the population from 0 to 1")
    return tuple(map(float, values))


def _row(fields: Fields) -> CampaignRow:
    names = [field.name for field in fields_of(CampaignRow) if field.name != "threshold"]
    numbers = {name: fields.number(name) for name in names}
    threshold = fields.optional_number("threshold")
    if threshold is None:  # nobody at depth 0, everybody else
        threshold = float("inf") if numbers["depth"] == 0 else -float("inf")
    return CampaignRow(**numbers, threshold=threshold)
