"""What is delivered: the wheel, the sdist, and the bundle with what others have written of it."""

import base64
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

import rocscope as rs

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "client"
BUNDLES = ROOT / "src" / "rocscope" / "report" / "bundles"
BILL = json.loads((BUNDLES / "bom.cdx.json").read_text(encoding="utf-8"))
NOTICES = (BUNDLES / "THIRD_PARTY.txt").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The contents of wheel and sdist by name."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        in_wheel = {name: wheel.read(name) for name in wheel.namelist()}
    with tarfile.open(next(folder.glob("*.tar.gz"))) as sdist:
        in_sdist = {member.name.partition("/")[2] for member in sdist.getmembers()}
    return in_wheel, in_sdist


@pytest.mark.slow(reason="what starts other programs")
def test_the_wheel_holds_the_package_its_types_and_all_licences(built):
    wheel, _ = built
    package = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*") if path.is_file()}
    package = {name for name in package if "__pycache__" not in name}
    inside = {name for name in wheel if ".dist-info/" not in name}
    assert inside == package
    assert "rocscope/py.typed" in package
    licences = {name.partition(".dist-info/licenses/")[2] for name in wheel}
    assert {"LICENSE", "src/rocscope/report/bundles/THIRD_PARTY.txt"} <= licences


def test_the_sdist_holds_what_all_of_it_is_built_from(built):
    _, sdist = built
    for name in ("SECURITY.md", "CHANGELOG.md", "LICENSE", "Makefile", "client/package-lock.json", "client/build.mjs"):
        assert name in sdist
    assert {f"client/src/{path.name}" for path in (CLIENT / "src").glob("*.ts")} <= sdist
    assert "tests/house/test_supply.py" in sdist
    assert not [name for name in sdist if "node_modules" in name or "__pycache__" in name]


def test_the_metadata_say_terms_versions_and_command(built):
    wheel, _ = built
    name = next(name for name in wheel if name.endswith("/METADATA"))
    metadata = message_from_string(wheel[name].decode())
    assert metadata["License-Expression"] == "BSD-3-Clause AND MIT"
    classifiers = metadata.get_all("Classifier") or []
    assert {"Typing :: Typed", "Programming Language :: Python :: 3.13"} <= set(classifiers)
    oldest = metadata["Requires-Python"].removeprefix(">=")
    minor = [
        line.rpartition(" :: ")[2] for line in classifiers if line.startswith("Programming Language :: Python :: 3.")
    ]
    assert min(minor) == oldest
    assert b"rocscope = rocscope.cli:main" in wheel[name.replace("METADATA", "entry_points.txt")].splitlines()


def test_every_licence_of_the_bill_is_in_the_expression_and_its_notice_in_every_report():
    page = rs.Report(rs.Predictions([1, 0], [0.9, 0.1])).html
    assert NOTICES.strip() in page
    expression = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["license"]
    assert len(BILL["components"]) >= 2
    for part in BILL["components"]:
        named = f"{part['name']} {part['version']}, "
        assert f"{named}Copyright" in NOTICES or f"{named}by " in NOTICES
        assert part["licenses"][0]["license"]["id"] in expression.split(" AND ")
    assert "THE SOFTWARE IS PROVIDED" in NOTICES


def test_the_bill_names_what_the_lock_file_pins_and_the_files_as_they_are():
    lock = json.loads((CLIENT / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    for part in BILL["components"]:
        pinned = lock[f"node_modules/{part['name']}"]
        digest = base64.b64decode(pinned["integrity"].removeprefix("sha512-")).hex()
        assert (part["version"], part["hashes"][0]["content"]) == (pinned["version"], digest)
    files = BILL["metadata"]["component"]["components"]
    assert {file["name"] for file in files} == {path.name for path in BUNDLES.iterdir()} - {"bom.cdx.json"}
    for file in files:
        assert file["hashes"][0]["content"] == hashlib.sha256((BUNDLES / file["name"]).read_bytes()).hexdigest()


@pytest.mark.slow(reason="what starts other programs")
def test_the_client_is_built_to_the_same_bytes_in_any_folder(tmp_path):
    if not (CLIENT / "node_modules").is_dir():
        pytest.skip("the packages of the client are not installed; make client-check builds and compares too")
    for name in ("first", "second/deeper"):
        copy, out = tmp_path / name, tmp_path / name / "out"
        shutil.copytree(CLIENT, copy, ignore=shutil.ignore_patterns("node_modules"))
        (copy / "node_modules").symlink_to(CLIENT / "node_modules")
        out.mkdir()
        subprocess.run(["node", "build.mjs", out], cwd=copy, check=True, capture_output=True)
        assert {path.name: path.read_bytes() for path in out.iterdir()} == {
            path.name: path.read_bytes() for path in BUNDLES.iterdir()
        }
