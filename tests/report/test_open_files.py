"""The open page treats the files of the table that it shares with Python as the table says."""

import pytest

from file_cases import FILES
from report_open import count_in, write_page


@pytest.fixture(scope="module")
def page(chromium, tmp_path_factory):
    path = write_page(tmp_path_factory.mktemp("open"))
    page = chromium.new_page()
    page.goto(path.as_uri())
    yield page
    page.close()


@pytest.mark.every(3)
@pytest.mark.parametrize("name", FILES)
def test_a_file_is_counted_or_refused_as_the_table_says(page, tmp_path, name):
    case = FILES[name]
    found = count_in(page, case.write(tmp_path), case.roles, case.layout)
    if (refused := case.facts.get("refused")) is not None:
        assert refused in found.get("error", "counted")
        return
    assert "error" not in found, found
    (model,) = found["levels"]
    assert {name: model[name] for name in ("threshold", "tp", "fp")} == case.facts["counts"]
