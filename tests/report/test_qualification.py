"""rocscope qualify: what it checks passes here, is found where it fails, and is the same for the same seed."""

import json

import pytest

from rocscope.report import qualification
from rocscope.report.qualification import qualify


@pytest.fixture(scope="module")
def found():
    return qualify(10, random_state=4)


def test_all_checks_pass_and_digests_depend_on_the_seed_alone(found):
    assert found.passed and repr(found) == "Qualification(26 cases, failed=[])"
    again, other = qualify(10, random_state=4), qualify(10, random_state=5)
    digests = [[check.digest for check in each.checks] for each in (found, again, other)]
    assert digests[0] == digests[1]
    assert [a == b for a, b in zip(digests[0], digests[2], strict=True)] == [False, False, True, False]


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("name", "broken", "check"),
    [
        ("auc", lambda *_, **__: 0.51, "figures"),
        ("fingerprint", lambda counts: str(id(counts)), "readers"),
        ("proportion_interval", lambda *_, **__: (0.1, 0.2), "published"),
        ("_accepts", lambda *_: True, "proofs"),
    ],
)
def test_what_is_wrong_is_found(monkeypatch, name, broken, check):
    monkeypatch.setattr(qualification, name, broken)
    found = qualify(10)
    assert check in [each.name for each in found.checks if not each.passed]
    assert "Checks failed." in found.to_html()


def test_the_dossier_has_counts_versions_and_no_scripts(found, tmp_path):
    page = found.save(tmp_path / "dossier.html").read_text(encoding="utf-8")
    assert "All checks passed." in page and "<script" not in page and "numpy" in page
    assert all(each.digest in page and f"<td>{each.cases}</td>" in page for each in found.checks)


def test_the_command_exits_with_1_where_a_check_fails(run, tmp_path, monkeypatch):
    code, out, err = run("qualify", "--cases", "10", "-o", "dossier.html")
    assert (code, err) == (0, "Dossier: dossier.html\n")
    assert "published" in out and (tmp_path / "dossier.html").is_file()
    monkeypatch.setattr(qualification, "auc", lambda *_, **__: 0.51)
    code, out, err = run("qualify", "--cases", "10", "--json")
    assert code == 1 and json.loads(out)["passed"] is False and "exactly" in err
