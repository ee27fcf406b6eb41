"""Nursery: occupation of the parents, their home, and health decide the priority of an application."""

import numpy as np

from rocscope.datasets.dataset import Dataset
from rocscope.datasets.grid import combinations, table

_LEVELS = {
    "parents": ["usual", "pretentious", "great_pret"],
    "has_nurs": ["proper", "less_proper", "improper", "critical", "very_crit"],
    "form": ["complete", "completed", "incomplete", "foster"],
    "children": ["1", "2", "3", "more"],
    "housing": ["convenient", "less_conv", "critical"],
    "finance": ["convenient", "inconv"],
    "social": ["nonprob", "slightly_prob", "problematic"],
    "health": ["recommended", "priority", "not_recom"],
}
_CLASSES = np.array(["recommend", "very_recom", "priority", "spec_prior"])

_EMPLOY_BY_PARENTS_NURSERY = table("01123 11233 22333")
_STRUCTURE_BY_FORM_CHILDREN = table("0122 1122 1222 2222")
_HOME_BY_STRUCTURE_HOUSING_FINANCE = table("01 11 11", "11 11 22", "12 22 22")
_CLASS_BY_CONCERN_HOME_EMPLOY = table("0122 1122 2223", "2222 2223 2233")


def make() -> Dataset:
    """All applications of the hierarchy, with the class that its tables give them."""
    family, at = combinations(_LEVELS)
    employ = _EMPLOY_BY_PARENTS_NURSERY[at["parents"], at["has_nurs"]]
    structure = _STRUCTURE_BY_FORM_CHILDREN[at["form"], at["children"]]
    home = _HOME_BY_STRUCTURE_HOUSING_FINANCE[structure, at["housing"], at["finance"]]
    carefree = (family["health"] == "recommended") & (family["social"] != "problematic")
    priority = _CLASSES[_CLASS_BY_CONCERN_HOME_EMPLOY[np.where(carefree, 0, 1), home, employ]]
    return Dataset(
        name="nursery",
        X=family,
        y=np.where(family["health"] == "not_recom", "not_recom", priority),
        description="Every combination of eight attributes of a family that applies to a nursery school in "
        "Ljubljana; class: the priority of the application.",
        source="M. Olave, V. Rajkovic and M. Bohanec, An application for admission in public school systems, "
        "in Expert Systems in Public Administration, Elsevier, 1989, 145-160; "
        "UCI Machine Learning Repository (CC BY 4.0), donors M. Bohanec and B. Zupan, 1997.",
    )
