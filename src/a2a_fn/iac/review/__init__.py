"""Review ROS templates and Terraform without a cloud: `review(files)` gives a `Report`.

Rules live in families, one module each: `ros/` for ROS, `terraform/` for Terraform, `syntax` and
`secrets` for every text. Each states only what is certain from the files at hand; what depends
on values that only a deployment knows is not a finding.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

from a2a_fn.iac.documents.embedding import embedded
from a2a_fn.iac.documents.hcltext import read_hcl
from a2a_fn.iac.documents.reading import Document, read
from a2a_fn.iac.documents.tree import Map, Scalar
from a2a_fn.iac.findings import Finding, Report, ReviewedFile, Rule, Severity
from a2a_fn.iac.review import ros, secrets, syntax, terraform
from a2a_fn.iac.review.ros.scan import scan
from a2a_fn.iac.review.ros.template import Template
from a2a_fn.iac.review.terraform.module import Module
from a2a_fn.iac.review.words import printable

__all__ = ["Finding", "Report", "ReviewedFile", "Rule", "Severity", "review", "rules"]

MAX_FINDINGS = 500  # per file; a file with more has one cause, not so many


def rules() -> tuple[Rule, ...]:
    """Return every rule that a review knows, with what it looks for, why, and examples."""
    return (*syntax.RULES, *secrets.RULES, *ros.RULES, *terraform.RULES)


def review(files: Mapping[str, str]) -> Report:
    """Review files, given as relative path and text; a name may be empty for pasted text.

    What a file is, its content says first and its name second. The Terraform files of one folder
    are one module. Never raises for any text; time and memory are bounded.
    """
    documents = [read(name, text) for name, text in files.items()]
    found: list[Finding] = []
    reviewed: list[ReviewedFile] = []
    for document in documents:
        found += syntax.problems(document)
        if document.kind != "unknown":
            found += secrets.credentials(document.source)
        if document.kind.startswith("ros-"):
            resources, findings, note = _ros(document)
            found += findings
        else:
            resources = sum(1 for _ in document.body.all("resource")) if document.body else 0
            note = ""
        note = document.note or note or _unread(document)
        reviewed.append(ReviewedFile(document.source.name, document.kind, resources, note))
    for module in _modules(documents):
        found += _terraform(module)
    return _report(found, reviewed)


def _unread(document: Document) -> str:
    if document.tree is not None or document.body is not None:
        return ""
    return "not reviewed further: it could not be read"


def _ros(document: Document) -> tuple[int, list[Finding], str]:
    """Return the number of resources, the findings, and what was not looked at."""
    if document.tree is None:
        return 0, [], ""
    found: list[Finding] = []
    resources = 0
    stack = [scan(document.source, document.tree)]
    note = f"names were not checked: {stack[0].opaque}" if stack[0].opaque else ""
    while stack:
        template = stack.pop()
        stack += template.nested
        resources += len(template.resources)
        for check in ros.CHECKS:
            found += islice(check(template), MAX_FINDINGS + 1)
        if template.is_terraform:
            inner = _workspace(template)
            found += [finding for file in inner for finding in syntax.problems(file)]
            for module in _modules(inner):
                resources += module.size
                found += _terraform(module)
    return resources, found, note


def _workspace(template: Template) -> list[Document]:
    """Return the Terraform files that a template carries, with positions in its own file."""
    files = []
    node = template.root.get("Workspace")
    for name, _, value in node.entries() if isinstance(node, Map) else ():
        if not isinstance(value, Scalar) or not name.endswith(".tf"):
            continue
        source = embedded(template.source, value, name)
        if source is not None:
            body, problems = read_hcl(source)
            folder = posixpath.dirname(name)
            files.append(Document("terraform", source, None, body, problems, "", folder))
    return files


def _modules(documents: Iterable[Document]) -> Iterator[Module]:
    """Group Terraform files by folder."""
    folders: dict[str, list[Document]] = {}
    for document in documents:
        if document.kind.startswith("terraform"):
            folders.setdefault(document.folder, []).append(document)
    for members in folders.values():
        yield Module(members)


def _terraform(module: Module) -> Iterator[Finding]:
    for check in terraform.CHECKS:
        yield from islice(check(module), MAX_FINDINGS + 1)


def _report(found: list[Finding], reviewed: list[ReviewedFile]) -> Report:
    """Sort, drop repeats, keep a bounded number per file, and let no credential through."""
    kept: list[Finding] = []
    count: dict[str, int] = {}
    order = sorted(
        dict.fromkeys(found), key=lambda f: (f.file, f.line, f.column, -f.severity, f.rule)
    )
    for finding in order:
        count[finding.file] = count.get(finding.file, 0) + 1
        if count[finding.file] <= MAX_FINDINGS:
            kept.append(_redacted(finding))
    cut = f"there are more findings than the {MAX_FINDINGS} that are kept"
    files = [
        replace(file, note=cut) if count.get(file.name, 0) > MAX_FINDINGS else file
        for file in reviewed
    ]
    return Report(tuple(kept), tuple(files), rules())


def _redacted(finding: Finding) -> Finding:
    return replace(
        finding,
        message=secrets.redact(finding.message),
        fix=secrets.redact(finding.fix) if finding.fix else finding.fix,
        path=printable(secrets.redact(finding.path), 500),
    )
