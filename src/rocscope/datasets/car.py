"""Car evaluation: price and technical quality decide how acceptable a car is."""

import numpy as np

from rocscope.datasets.dataset import Dataset
from rocscope.datasets.grid import combinations, table

_LEVELS = {
    "buying": ["vhigh", "high", "med", "low"],
    "maint": ["vhigh", "high", "med", "low"],
    "doors": ["2", "3", "4", "5more"],
    "persons": ["2", "4", "more"],
    "lug_boot": ["small", "med", "big"],
    "safety": ["low", "med", "high"],
}
_CLASSES = np.array(["unacc", "acc", "good", "vgood"])

_PRICE_BY_BUYING_MAINT = table("0011 0111 1123 1233")
_COMFORT_BY_PERSONS_DOORS_BOOT = table("000 000 000 000", "112 112 122 122", "012 122 122 122")
_CLASS_BY_TECH_PRICE = table("0000 0011 0112 0133")


def make() -> Dataset:
    """All cars of the hierarchy, with the class that its tables give them."""
    car, at = combinations(_LEVELS)
    price = _PRICE_BY_BUYING_MAINT[at["buying"], at["maint"]]
    comfort = _COMFORT_BY_PERSONS_DOORS_BOOT[at["persons"], at["doors"], at["lug_boot"]]
    unfit = (car["safety"] == "low") | (comfort == 0)
    tech = np.where(unfit, 0, comfort + (car["safety"] == "high"))
    return Dataset(
        name="car",
        X=car,
        y=_CLASSES[_CLASS_BY_TECH_PRICE[tech, price]],
        description="Every combination of six attributes of a car; class: how acceptable it is to a buyer.",
        source="M. Bohanec and V. Rajkovic, Expert system for decision making, Sistemica 1(1), 1990, "
        "145-157; UCI Machine Learning Repository (CC BY 4.0), donors M. Bohanec and B. Zupan, 1997.",
    )
