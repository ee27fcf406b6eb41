"""Build wheel and sdist, and try them as a user would: in a fresh environment, without the checkout.

    python .ci/release.py [FOLDER]

Version and CHANGELOG have to agree, the metadata to be what an index takes, and the notices to travel with the wheel.
From the sdist the wheel is built once more, and is the same; its tests of the core run against what was installed.
"""

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = ("tests/core", "tests/curves", "tests/house/test_import.py")
TRY = """
import rocscope as rs
preds = rs.Predictions([0, 0, 1, 1], {"a": [0.1, 0.4, 0.35, 0.8]})
assert rs.auc(preds) == 0.75
assert rs.__version__ == "VERSION", rs.__version__
assert rs.Report(preds).html.startswith("<!doctype html>")
assert "site-packages" in rs.__file__, rs.__file__
"""


def run(*command: object, cwd: Path = ROOT) -> str:
    """Run a program, quietly unless it fails; return what it printed."""
    done = subprocess.run([str(each) for each in command], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_version() -> str:
    """Return the version, which pyproject, the package and the first heading of the CHANGELOG say alike."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    package = re.search(r'^__version__ = "(.+)"$', (ROOT / "src/rocscope/__init__.py").read_text("utf-8"), re.MULTILINE)
    heading = re.search(r"^## (\S+) \((.+)\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if package is None or package[1] != version:
        sys.exit(f"pyproject.toml says {version}, src/rocscope/__init__.py {package and package[1]}")
    if heading is None or heading[1] != version or not re.fullmatch(r"\d{4}-\d\d-\d\d", heading[2]):
        sys.exit(f"CHANGELOG.md begins with {heading and heading[0]!r}; a release needs '## {version} (its date)'")
    return version


def built(folder: Path, source: Path) -> tuple[Path, Path]:
    """Build both from a folder of sources; return wheel and sdist."""
    run(sys.executable, "-m", "build", "--outdir", folder, source)
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def check_contents(wheel: Path, version: str) -> None:
    """Check that types, bundles, licence and notices travel."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    info = f"rocscope-{version}.dist-info"
    needed = {
        "rocscope/py.typed",
        "rocscope/report/bundles/THIRD_PARTY.txt",
        f"{info}/licenses/LICENSE",
        f"{info}/licenses/src/rocscope/report/bundles/THIRD_PARTY.txt",
    }
    if missing := sorted(needed - names):
        sys.exit(f"{wheel.name} lacks {', '.join(missing)}")


def check_sources(sdist: Path, wheel: Path, folder: Path) -> Path:
    """Build the wheel from the sdist; it has the same files, byte for byte. Return the sources."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    source = next(folder.iterdir())
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder / "again", source)
    contents = []
    for each in (wheel, next((folder / "again").glob("*.whl"))):
        with zipfile.ZipFile(each) as archive:
            contents.append({name: archive.read(name) for name in archive.namelist()})
    if contents[0] != contents[1]:
        sys.exit("the wheel that the sdist builds is another one")
    return source


def check_installed(wheel: Path, source: Path, version: str, folder: Path) -> None:
    """Install the wheel alone, use it, and run tests of the sdist against it."""
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / "bin"
    run(programs / "python", "-m", "pip", "install", "-q", wheel)
    (folder / "empty").mkdir()
    run(programs / "python", "-c", TRY.replace("VERSION", version), cwd=folder / "empty")
    run(programs / "rocscope", "page", "-o", "open.html", cwd=folder / "empty")
    run(programs / "rocscope", "demo", cwd=folder / "empty")
    run(programs / "python", "-m", "pip", "install", "-q", "pytest", "hypothesis", "pandas", "polars")
    shutil.rmtree(source / "src")
    options = ("-q", "-o", "pythonpath=tests/support tests", "-p", "no:cacheprovider", "--ignore-glob=*dask*")
    run(programs / "python", "-m", "pytest", *options, *TESTS, cwd=source)


def main() -> None:
    """Do all of it; what is to be uploaded lies in dist/ afterwards."""
    version = check_version()
    out = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve()
    shutil.rmtree(out, ignore_errors=True)
    wheel, sdist = built(out, ROOT)
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    check_contents(wheel, version)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sources").mkdir()
        source = check_sources(sdist, wheel, folder / "sources")
        check_installed(wheel, source, version, folder)
    print(f"rocscope {version}: {wheel.name} and {sdist.name} are ready in {out}")


if __name__ == "__main__":
    main()
