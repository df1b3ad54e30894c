"""Review ROS templates and Terraform without a cloud: `review(files)` gives a `Report`."""

from __future__ import annotations
from collections.abc import Mapping
from a2a_fn.iac.documents.reading import read
from a2a_fn.iac.findings import Finding, Report, ReviewedFile, Rule, Severity

__all__ = ["Finding", "Report", "ReviewedFile", "Rule", "Severity", "review", "rules"]


def rules() -> tuple[Rule, ...]:
    """All rules."""
    return ()


def review(files: Mapping[str, str]) -> Report:
    """Thin first version."""
    S = Rule("syntax", Severity.ERROR, "Syntax error", "", "", "")
    docs = [read(n, t) for n, t in files.items()]
    findings = [S.at(d.source, p.index, p.message, fix=p.fix) for d in docs for p in d.problems]
    return Report(tuple(findings), tuple(ReviewedFile(d.source.name, d.kind, 0, d.note) for d in docs))
