"""Commands that need no server: review and generate."""

from __future__ import annotations

import enum
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from .failures import Exit, Failure


class ReportFormat(enum.StrEnum):
    """How a review is written."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


class TemplateFormat(enum.StrEnum):
    """What is generated."""

    ROS = "ros"
    TERRAFORM = "terraform"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (review, generate):
        app.command(rich_help_panel="Without a server")(command)


def review(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE|DIR...", help='ROS or Terraform; "-" is stdin.'),
    ] = None,
    format: Annotated[ReportFormat, typer.Option(help="How to write it.")] = ReportFormat.TEXT,
    rules: Annotated[bool, typer.Option("--rules", help="List the rules instead.")] = False,
) -> int:
    """Review ROS templates and Terraform: what is wrong, where, and what to do.

    Exits with 1 if a finding is an error, or if no file could be reviewed. Directories are
    searched for templates; hidden ones and .terraform are left out.
    """
    from a2a_fn.iac.findings import Severity, to_json, to_sarif, to_text

    from .sources import is_reviewed, review_paths

    if rules:
        return _list_rules()
    if not paths:
        raise Failure("name what to review: a2a-fn review FILE|DIR... (- for stdin)")
    report = review_paths(paths)
    write = {"text": to_text, "json": to_json, "sarif": to_sarif}[format]
    typer.echo(write(report), nl=False)
    failed = report.worst == Severity.ERROR or not is_reviewed(report)
    return Exit.FAILED if failed else Exit.OK


def _list_rules() -> int:
    from a2a_fn.iac.review import rules

    known = sorted(rules(), key=lambda rule: (-rule.severity, rule.id))
    width = max((len(rule.id) for rule in known), default=0)
    for rule in known:
        typer.echo(f"{rule.id:<{width}}  {rule.severity.word:<6}  {rule.title}")
    return Exit.OK


def generate(
    text: Annotated[str, typer.Argument(help='What you want, in words; "-" reads stdin.')],
    format: Annotated[
        TemplateFormat | None, typer.Option(help="ROS unless the words say otherwise.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Save the files below this directory; none there is overwritten."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="JSON on stdout, nothing else.")] = False,
) -> int:
    """Generate a template from words in English, Chinese or French.

    The template goes to stdout, remarks and questions to stderr. Exits with 1 if the words did
    not say enough for a template.
    """
    from a2a_fn.iac.generate import generate as generate_template

    from .sources import read_stdin, write_files

    words = read_stdin() if text == "-" else text
    if not words.strip():
        raise Failure('say what you want: a2a-fn generate "a VPC with two vSwitches"')
    made = generate_template(words, format=format.value if format else None)
    written = write_files(out, made.files) if out else []
    if json:
        typer.echo(
            dumps(
                {
                    "files": dict(made.files),
                    "summary": made.summary,
                    "notes": list(made.notes),
                    "questions": list(made.questions),
                    "notUnderstood": list(made.not_understood),
                    "saved": [str(place) for place in written],
                },
                ensure_ascii=False,
                indent=2,
            )
        )
    else:
        if not out:
            for name, content in made.files.items():
                if len(made.files) > 1:
                    typer.echo(f"# ---- {name}")
                typer.echo(content, nl=not content.endswith("\n"))
        typer.echo(made.summary, err=True)  # it holds the notes and the questions
        for place in written:
            typer.echo(f"saved {place}", err=True)
    return Exit.OK if made.files else Exit.FAILED
