"""Find the references and the nested templates in a ROS template."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from a2a_fn.iac.documents.embedding import embedded
from a2a_fn.iac.documents.reading import looks_like_ros
from a2a_fn.iac.documents.source import Source
from a2a_fn.iac.documents.tree import Map, Node, Scalar, Sequence, step, string
from a2a_fn.iac.documents.yamltext import read_yaml
from a2a_fn.iac.review.ros.template import PSEUDO, Kind, Reference, Template

MAX_NESTED = 5
MAX_TEMPLATES = 50
_SUB = re.compile(r"\$\{([^!{}][^{}]*)\}")
_NAME = re.compile(r"[\w:-]+(?:\[[^\]]*\])?")
_MENTION = re.compile(r"\$\{\s*([\w:-]+)")
_WALKED = ("Conditions", "Locals", "Rules", "Resources", "Outputs")
_KNOWN_TRANSFORMS = ("Aliyun::Terraform", "Aliyun::OpenTofu")

Owner = tuple[str, str]


def scan(source: Source, root: Map, outer: Template | None = None, path: str = "") -> Template:
    """Return the template with its references found and its nested templates scanned."""
    template = Template(source, root, outer, path, opaque=_opaque(root))
    _Scanner(template).run()
    return template


def _opaque(root: Map) -> str:
    transform = root.get("Transform")
    if transform is not None:
        name = string(transform)
        if name is None or not name.startswith(_KNOWN_TRANSFORMS):
            return "a transform rewrites this template before it is deployed"
    for section in (root, *root.values.values()):
        if isinstance(section, Map) and "Fn::Transform" in section.values:
            return "a macro rewrites this template before it is deployed"
    return ""


class _Scanner:
    def __init__(self, template: Template) -> None:
        self.template = template
        self.owner: Owner = ("", "")

    def run(self) -> None:
        for section in _WALKED:
            for name, entry in self.template.section(section).items():
                self.owner = (section, name)
                path = step(section, name)
                self._entry(section, entry.node, path)
        for section in ("Parameters", "Metadata", "Workspace"):
            self._mentions(self.template.root.get(section))

    def _entry(self, section: str, node: Node, path: str) -> None:
        """Look at what only the top of an entry may hold, then at all of it."""
        if isinstance(node, Map) and section in ("Resources", "Outputs"):
            self._condition(node.get("Condition"), f"{path}.Condition")
            if section == "Resources":
                self._depends_on(node.get("DependsOn"), f"{path}.DependsOn")
        elif section == "Conditions":
            self._condition(node, path)
        elif section == "Rules" and isinstance(node, Map):
            self._condition(node.get("RuleCondition"), f"{path}.RuleCondition")
        self._walk(node, path, False)

    def _add(self, kind: Kind, node: Node | None, path: str, **more: Any) -> None:
        """Note a reference to what a node names; if the name is computed, note that."""
        name = string(node)
        if name is not None and node is not None:
            self._named(kind, name, node.start, path, **more)
        elif isinstance(node, Map | Sequence):
            self.template.dynamic.add(kind)

    def _named(self, kind: Kind, name: str, index: int, path: str, **more: Any) -> None:
        if kind not in (Kind.MAP, Kind.CONDITION):
            name = name.partition("[")[0]
        place = self.template.place(path)
        self.template.references.append(Reference(kind, name, index, self.owner, place, **more))

    def _walk(self, node: Node, path: str, guarded: bool) -> None:
        if isinstance(node, Sequence):
            for n, item in enumerate(node.items):
                if not isinstance(item, Scalar):
                    self._walk(item, step(path, n), guarded)
        elif isinstance(node, Map):
            only = node.only()
            if only is not None and (only[0] == "Ref" or only[0].startswith("Fn::")):
                self._function(only[0], only[1], path, guarded)
                guarded = guarded or only[0] == "Fn::If"
            for key, value in node.values.items():
                inner = step(path, key)
                if key == "TemplateBody" and self._nested(value, inner):
                    continue
                if not isinstance(value, Scalar):
                    self._walk(value, inner, guarded)

    def _function(self, name: str, value: Node, path: str, guarded: bool) -> None:
        items = value.items if isinstance(value, Sequence) else []
        match name:
            case "Ref":
                self._add(Kind.REF, value, path, guarded=guarded)
            case "Fn::GetAtt":
                self._get_att(value, items, path, guarded)
            case "Fn::Sub":
                self._sub(value, path, guarded)
            case "Fn::FindInMap" if items:
                keys = tuple(string(item) for item in items[1:])
                self._add(Kind.MAP, items[0], path, keys=keys)
            case "Fn::If" if items:
                self._condition(items[0], path)
            case "Fn::And" | "Fn::Or" | "Fn::Not":
                for item in items or [value]:
                    self._condition(item, path)

    def _get_att(self, value: Node, items: list[Node], path: str, guarded: bool) -> None:
        if items:
            attribute = string(items[1]) if len(items) == 2 else None
            at = items[1].start if len(items) == 2 else 0
            self._add(
                Kind.GETATT,
                items[0],
                path,
                guarded=guarded,
                attribute=attribute,
                attribute_index=at,
            )
        elif (text := string(value)) is not None:
            name, _, attribute = text.partition(".")
            self._named(
                Kind.GETATT,
                name,
                value.start,
                path,
                guarded=guarded,
                attribute=attribute or None,
                attribute_index=value.start,
            )

    def _sub(self, value: Node, path: str, guarded: bool) -> None:
        items = value.items if isinstance(value, Sequence) else [value]
        text = items[0] if items else None
        if not isinstance(text, Scalar) or not isinstance(text.value, str):
            return
        variables = {name for item in items[1:] for name in _variables(item)}
        for name, at in self._placeholders(text, text.value):
            if name in variables or name.partition(".")[0] in variables:
                continue
            if name in self.template.parameters:
                self._named(Kind.SUB, name, at, path, guarded=guarded)
                continue
            owner, _, attribute = name.partition(".")
            if _NAME.fullmatch(owner):
                self._named(
                    Kind.SUB,
                    owner,
                    at,
                    path,
                    guarded=guarded,
                    attribute=attribute or None,
                    attribute_index=at,
                )

    def _placeholders(self, scalar: Scalar, text: str) -> Iterator[tuple[str, int]]:
        """Yield the names in a text's `${...}`, and where each stands in the source.

        Once one cannot be found there (the source has it escaped), the rest are placed at the
        text's beginning: to search on would take quadratic time.
        """
        at = scalar.start
        for match in _SUB.finditer(text):
            found = self.template.source.text.find(match[0], at, scalar.end) if at >= 0 else -1
            yield match[1].strip(), found if found >= 0 else scalar.start
            at = found + 1 if found >= 0 else -1

    def _condition(self, node: Node | None, path: str) -> None:
        """Take a condition's name where a condition is expected; functions are walked later."""
        if isinstance(node, Scalar):
            if str(node.value).lower() not in ("true", "false"):
                self._add(Kind.CONDITION, node, path)
        elif isinstance(node, Map):
            only = node.only()
            if only is not None and only[0] == "Condition":
                self._add(Kind.CONDITION, only[1], path)

    def _depends_on(self, node: Node | None, path: str) -> None:
        for item in node.items if isinstance(node, Sequence) else [node]:
            self._add(Kind.DEPENDS_ON, item, path)

    def _nested(self, node: Node, path: str) -> bool:
        """Scan a template inside a resource; False if there is none here."""
        template = self.template
        outermost = [*template.scopes()]
        if len(outermost) > MAX_NESTED or outermost[-1].inner >= MAX_TEMPLATES:
            return isinstance(node, Map)
        source, root = template.source, node
        if isinstance(node, Scalar):
            inner = embedded(template.source, node, path)
            if inner is None or "ROSTemplateFormatVersion" not in inner.text:
                return False
            source = inner
            found, _ = read_yaml(inner)
            if found is None:
                return False
            root = found
        if not isinstance(root, Map) or not looks_like_ros(root):
            return False
        outermost[-1].inner += 1
        template.nested.append(scan(source, root, template, template.place(path)))
        return True

    def _mentions(self, node: Node | None) -> None:
        """Note the `${Name}`s in texts that are no functions but may use a parameter."""
        for text in _texts(node):
            self.template.mentions.update(_MENTION.findall(text))


def _variables(node: Node) -> Iterator[str]:
    for item in node.items if isinstance(node, Sequence) else [node]:
        if isinstance(item, Map):
            yield from item.values


def _texts(node: Node | None) -> Iterator[str]:
    stack = [node]
    while stack:
        match stack.pop():
            case Scalar(value=str(text)):
                yield text
            case Sequence(items=items):
                stack += items
            case Map(values=values):
                stack += values.values()


def is_pseudo(name: str) -> bool:
    """Say if a name is one that ROS provides, such as `ALIYUN::Region`."""
    return name.startswith(PSEUDO)
