"""Imports point inward (what each part may know), read from the source with `ast`."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "a2a_fn"

# Parts that others may build on, and the parts of a2a_fn that each may import besides itself.
# A part that is not in the table may import anything but the command line.
VALUES = {"ports", "errors", "clock"}
ALLOWED = {
    "errors": set(),
    "ports": {"errors"},
    "clock": {"ports"},
    "iac": set(),
    "journal": VALUES,
    "turns": VALUES | {"journal"},
    "agents": VALUES | {"journal", "turns", "iac", "profile", "media", "workspace", "snapshots"},
    "protocol": VALUES | {"journal", "settings", "profile", "logs", "media", "workspace"},
    "engines": VALUES | {"push"},
    "push": VALUES | {"journal"},
    "receiver": set(),
    "settings": {"errors"},
    "profile": {"errors"},
    "card_file": {"errors", "profile", "protocol"},
    "logs": set(),
    "media": set(),
    "workspace": {"errors"},
    "snapshots": {"errors", "ports"},
}
OUTSIDE = {  # what only hosts, engines and the command line may import
    "boto3", "botocore", "tablestore", "redis", "mangum", "uvicorn", "pydantic_ai", "httpx",
    "httpcore", "typer", "rich",
}  # fmt: skip
CORE = set(ALLOWED) - {"engines"}


def modules(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def imports(path: Path) -> set[str]:
    """The absolute names of all modules that a file imports, wherever in it."""
    found: set[str] = set()
    package = ["a2a_fn", *path.relative_to(PACKAGE).parts[:-1]] if PACKAGE in path.parents else []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            found.add(module)
            found |= {f"{module}.{alias.name}" for alias in node.names}
    return found


def part_of(name: str) -> str | None:
    """The part of a2a_fn that a module's name belongs to: `journal` for a2a_fn.journal.fold."""
    steps = name.split(".")
    if steps[0] != "a2a_fn" or len(steps) < 2:
        return None
    here = PACKAGE / steps[1]
    return steps[1] if here.is_dir() or here.with_suffix(".py").is_file() else None


def files_of(part: str) -> list[Path]:
    folder = PACKAGE / part
    return modules(folder) if folder.is_dir() else [folder.with_suffix(".py")]


def test_the_reader_of_imports_sees_relative_nested_and_lazy_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    (tmp_path / "journal" / "deep").mkdir(parents=True)
    path = tmp_path / "journal" / "deep" / "x.py"
    path.write_text(
        "from ... import wiring\nfrom ..fold import y\nfrom . import z\n"
        "def f():\n    import boto3.session\n"
    )
    assert imports(path) == {
        "a2a_fn", "a2a_fn.wiring", "a2a_fn.journal.fold", "a2a_fn.journal.fold.y",
        "a2a_fn.journal.deep", "a2a_fn.journal.deep.z", "boto3.session",
    }  # fmt: skip


@pytest.mark.parametrize("part", sorted(ALLOWED))
def test_a_part_knows_only_what_lies_further_in(part):
    files = files_of(part)
    assert files
    for path in files:
        known = {part_of(name) for name in imports(path)} - {None, part}
        assert known <= ALLOWED[part], f"{path.relative_to(ROOT)} knows {known - ALLOWED[part]}"


@pytest.mark.parametrize("part", sorted(CORE))
def test_the_core_imports_no_cloud_no_host_and_no_terminal(part):
    for path in files_of(part):
        roots = {name.partition(".")[0] for name in imports(path)}
        assert not roots & OUTSIDE, f"{path.relative_to(ROOT)} imports {roots & OUTSIDE}"


def test_only_the_command_line_knows_itself():
    for path in [*modules(PACKAGE), *modules(ROOT / "functions")]:
        if PACKAGE / "cli" in path.parents or path == PACKAGE / "__main__.py":
            continue
        assert "cli" not in {part_of(name) for name in imports(path)}, path.relative_to(ROOT)


def test_only_hosts_functions_and_the_command_line_know_the_wiring():
    for path in modules(PACKAGE):
        if path.relative_to(PACKAGE).parts[0] in ("hosts", "cli", "wiring.py"):
            continue
        assert "wiring" not in {part_of(name) for name in imports(path)}, path.relative_to(ROOT)


def loaded_by(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after the code."""
    code += "\nimport sys\nprint(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_the_offline_commands_load_no_protocol_and_no_server(tmp_path):
    template = tmp_path / "small.yml"
    template.write_text("ROSTemplateFormatVersion: '2015-09-01'\nResources: {}\n")
    code = f"from a2a_fn.cli.app import run\nrun(['review', {str(template)!r}])"
    assert not loaded_by(code) & {"a2a", "google", "httpx", "uvicorn", "starlette", "mangum"}


def test_importing_the_package_loads_nothing_else():
    assert not loaded_by("import a2a_fn") & {"a2a", "yaml", "httpx", "starlette", "typer"}
