"""What must stay quick to import does not pull in slow packages, nor the core those of extras."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
IMPORTED_AS = {"pillow": "PIL", "scikit-learn": "sklearn"}

SLOW = ("numpy", "pandas", "sklearn", "torch")
EXTRAS = ("h5py", "PIL", "pooch", "ray", "submitit")  # pandas itself imports pyarrow


@pytest.mark.parametrize(
    ("modules", "absent"),
    [
        ("hyperdfs", SLOW + EXTRAS),
        ("hyperdfs.cli.app", SLOW + EXTRAS),
        # Everything a model and a benchmark need runs without any extra.
        ("hyperdfs.estimator, hyperdfs.bundle, hyperdfs.datasets, hyperdfs.bench.work", EXTRAS),
    ],
)
def test_import_leaves_packages_alone(modules: str, absent: tuple[str, ...]) -> None:
    code = f"import sys, {modules}; print([m for m in {absent} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_is_imported_is_declared() -> None:
    """Also what another package happens to bring along."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    names = {re.split(r"[<>=]", line)[0] for line in wanted}
    declared = {IMPORTED_AS.get(name, name) for name in names}
    imported: dict[str, Path] = {}
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0]: path for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported[str(node.module).split(".")[0]] = path
    others = imported.keys() - declared - sys.stdlib_module_names - {"hyperdfs"}
    assert {name: imported[name] for name in others} == {}
