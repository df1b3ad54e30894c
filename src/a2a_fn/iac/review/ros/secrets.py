"""Do secrets stand in the template, or show up where it is used."""

from __future__ import annotations

from collections.abc import Iterator

from a2a_fn.iac.documents.tree import Map, Node, Scalar, Sequence, step, string, text_of
from a2a_fn.iac.findings import Finding, Rule, Severity
from a2a_fn.iac.review.ros.template import Entry, Template
from a2a_fn.iac.review.secrets import is_clear, is_secret_name
from a2a_fn.iac.review.words import show

_WEB = "Resources:\n  Web:\n    Type: ALIYUN::ECS::Instance\n    Properties:\n      Password: "
_PARAMETER = "Parameters:\n  Password:\n    Type: String\n"
_HIDDEN = _PARAMETER + "    NoEcho: true\n"

LITERAL = Rule(
    id="ros-secret-literal",
    severity=Severity.HIGH,
    title="A password written into a resource",
    why="Whoever can read the template, or a copy of it, can use the password.",
    bad=_WEB + "Tr0ub4dor-3\n",
    good=_HIDDEN + _WEB + "{Ref: Password}\n",
)
DEFAULT = Rule(
    id="ros-secret-default",
    severity=Severity.HIGH,
    title="A secret parameter with a default",
    why="The default can be read in the template, and every stack that keeps it shares it.",
    bad=_HIDDEN + "    Default: Tr0ub4dor-3\n" + _WEB + "{Ref: Password}\n",
    good=_HIDDEN + _WEB + "{Ref: Password}\n",
)
NO_ECHO = Rule(
    id="ros-no-echo",
    severity=Severity.HIGH,
    title="A secret parameter without NoEcho",
    why="Without NoEcho the console and the API show the value to whoever may look at the stack.",
    bad=_PARAMETER + _WEB + "{Ref: Password}\n",
    good=_HIDDEN + _WEB + "{Ref: Password}\n",
)
RULES = (LITERAL, DEFAULT, NO_ECHO)


def literals(template: Template) -> Iterator[Finding]:
    """No property that holds a password has one written out."""
    for name, entry in template.resources.items():
        stack: list[tuple[Node, str]] = []
        if entry.properties is not None:
            stack.append((entry.properties, f"{step('Resources', name)}.Properties"))
        while stack:
            node, path = stack.pop()
            if isinstance(node, Sequence):
                stack += [(item, step(path, n)) for n, item in enumerate(node.items)]
            elif isinstance(node, Map):
                for key, value in node.values.items():
                    where = step(path, key)
                    if isinstance(value, Scalar):
                        if is_secret_name(key) and is_clear(value.value):
                            yield _literal(template, key, value, where)
                    elif key != "TemplateBody":
                        stack.append((value, where))


def _literal(template: Template, key: str, value: Scalar, path: str) -> Finding:
    return LITERAL.at(
        template.source,
        value.start,
        f"{show(key)} is written out in clear",
        fix="take it from a parameter with NoEcho: true, and change the secret",
        path=template.place(path),
    )


def defaults(template: Template) -> Iterator[Finding]:
    """Secret parameters have no default. One that is only NoEcho is milder."""
    for name, entry in template.parameters.items():
        default = entry.get("Default")
        if not isinstance(default, Scalar) or not is_clear(default.value):
            continue
        secret = _is_secret(name, entry)
        if secret or _no_echo(entry):
            yield DEFAULT.at(
                template.source,
                default.start,
                f"the default of {'the secret' if secret else 'the NoEcho'} parameter "
                f"{show(name)} can be read here",
                fix="delete the default, so that each stack gets its own value",
                path=template.place("Parameters", name, "Default"),
                severity=Severity.HIGH if secret else Severity.MEDIUM,
            )


def echoes(template: Template) -> Iterator[Finding]:
    """Secret parameters are NoEcho."""
    for name, entry in template.parameters.items():
        if _is_secret(name, entry) and not _no_echo(entry):
            yield NO_ECHO.at(
                template.source,
                (entry.get("NoEcho") or entry.key).start,
                f"the parameter {show(name)} holds a secret and is not NoEcho",
                fix="write NoEcho: true",
                path=template.place("Parameters", name),
            )


def _is_secret(name: str, entry: Entry) -> bool:
    """Say if a parameter takes a secret: free text, and named or presented as one."""
    if string(entry.get("Type")) != "String" or "AllowedValues" in _keys(entry):
        return False
    presented = (string(entry.get("AssociationProperty")) or "").endswith("::Password")
    return presented or is_secret_name(name)


def _keys(entry: Entry) -> set[str]:
    return set(entry.node.values) if isinstance(entry.node, Map) else set()


def _no_echo(entry: Entry) -> bool:
    node = entry.get("NoEcho")
    return isinstance(node, Scalar) and text_of(node).lower() == "true"


CHECKS = (literals, defaults, echoes)
