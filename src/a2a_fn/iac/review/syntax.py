"""Rules about what the parsers object to; they hold for every format."""

from __future__ import annotations

from collections.abc import Iterator

from a2a_fn.iac.documents.reading import Document
from a2a_fn.iac.findings import Finding, Rule, Severity
from a2a_fn.iac.review.words import show

SYNTAX = Rule(
    id="syntax-error",
    severity=Severity.ERROR,
    title="The text is not valid YAML, JSON or HCL",
    why="Nothing in a file can be deployed until it can be parsed.",
    bad="Resources:\n  Net:\n    Type: ALIYUN::ECS::VPC\n     Properties: {}\n",
    good="Resources:\n  Net:\n    Type: ALIYUN::ECS::VPC\n    Properties: {}\n",
)
DUPLICATE = Rule(
    id="duplicate-key",
    severity=Severity.ERROR,
    title="A key occurs twice in one map",
    why="Parsers keep the last one without a word: what stands under the first is lost.",
    bad="Resources:\n  Net:\n    Type: ALIYUN::ECS::VPC\n  Net:\n    Type: ALIYUN::ECS::VPC\n",
    good="Resources:\n  Net:\n    Type: ALIYUN::ECS::VPC\n  Net2:\n    Type: ALIYUN::ECS::VPC\n",
)
LIMIT = Rule(
    id="too-large",
    severity=Severity.MEDIUM,
    title="The file is too large or too deep to be reviewed",
    why="A review takes bounded time and memory: nothing in this file was looked at.",
    bad="Description: " + "[" * 120 + "]" * 120 + "\n"
    "Resources:\n  Net:\n    Type: ALIYUN::ECS::VPC\n",
    good="Description: a network\nResources:\n  Net:\n    Type: ALIYUN::ECS::VPC\n",
)
RULES = (SYNTAX, DUPLICATE, LIMIT)


def problems(document: Document) -> Iterator[Finding]:
    """Turn what the parser said into findings."""
    for problem in document.problems:
        match problem.kind:
            case "syntax":
                yield SYNTAX.at(document.source, problem.index, problem.message, fix=problem.fix)
            case "limit":
                yield LIMIT.at(
                    document.source,
                    problem.index,
                    f"not reviewed: {problem.message}",
                    fix="split the template",
                )
            case "duplicate-key":
                yield DUPLICATE.at(
                    document.source,
                    problem.index,
                    f"the key {show(problem.message)} occurs twice in this map; only the last "
                    "one counts",
                    fix="rename one of them, or merge the two",
                )
