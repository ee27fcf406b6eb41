"""The rules of style for texts that reach a reader."""

import importlib.util
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("check_prose", Path(__file__).parents[2] / ".ci/check_prose.py")
check_prose = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(check_prose)

SENTENCES = {
    "a clause as a label": "What a look costs.",
    "'those that', 'that of'": "The variance is that of a mean.",
    "'anew', 'beside', 'alike', 'beyond', 'apart'": "Folds are drawn anew.",
    "a fragment that begins with 'Of'": "Of the band.",
    "'left out', 'where there is none'": "Incomplete rows are left out.",
    "'says so', 'knows', 'calls itself'": "The result says so.",
    "'is no …'": "A weight is no number of rows.",
    "'so many', 'as many as'": "A row counts for so many.",
    "'as it is'": "The score is used as it is.",
}


@pytest.mark.parametrize("construction", check_prose.CONSTRUCTIONS)
def test_each_construction_is_counted(construction):
    sentences, counts = check_prose.constructions([f"Return the area. {SENTENCES[construction]}"])
    assert sentences == 2
    assert counts == dict.fromkeys(check_prose.CONSTRUCTIONS, 0) | {construction: 1}


def test_plain_sentences_have_none():
    plain = "Return whether all values are finite. Cost of a review. The interval ignores model selection."
    sentences, counts = check_prose.constructions([plain])
    assert (sentences, sum(counts.values())) == (3, 0)


def test_texts_in_code_are_literals_with_words_and_no_docstrings():
    code = '''"""Of the module."""\nx = "key"\nraise ValueError("pass the labels and scores")\n'''
    assert [*check_prose.texts_in_code(code)] == ["pass the labels and scores"]
    assert [*check_prose.texts_of_page("say(`the ${n} best of all models`, 'short')")] == ["the C best of all models"]


def test_too_many_constructions_are_a_complaint(monkeypatch):
    monkeypatch.setattr(check_prose, "LIMITS", dict.fromkeys(check_prose.LIMITS, 0))
    monkeypatch.setattr(check_prose, "prose_by_kind", lambda: {"pages": ["Of the band."], "docstrings": ["The band."]})
    assert [complaint.split(":")[0] for complaint in check_prose.too_many_constructions()] == ["pages"]
