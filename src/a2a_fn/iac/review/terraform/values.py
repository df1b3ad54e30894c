"""What can be told of a Terraform expression without running it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from a2a_fn.iac.documents.hcl import Access, Array, Call, Expr, Literal, Template
from a2a_fn.iac.review import cidr
from a2a_fn.iac.review.terraform.module import Module

Value = str | int | float | bool

_DEEPEST = 8
_LONGEST = 10_000


@dataclass(frozen=True, slots=True)
class Known:
    """A value that follows from the files alone.

    `default` is the address of the variable whose default it rests on, empty if on none.
    """

    value: Value
    default: str = ""

    @property
    def text(self) -> str | None:
        """The value, if it is text."""
        return self.value if isinstance(self.value, str) else None


def known(module: Module, expr: Expr | None, depth: int = 0) -> Known | None:
    """Return what a single value is, following variables' defaults and locals; None if open."""
    if depth > _DEEPEST:
        return None
    match expr:
        case Literal(value=value):
            return None if value is None else Known(value)
        case Access(steps=[_]):
            return _named(module, expr, depth)
        case Template(parts=parts):
            return _joined(module, parts, depth)
        case Call(name="cidrsubnet", args=[block, bits, number]):
            return _subnet(
                known(module, block, depth + 1),
                known(module, bits, depth + 1),
                known(module, number, depth + 1),
            )
    return None


def each(module: Module, expr: Expr | None) -> list[tuple[Known, Expr]]:
    """Return the known items of a list, or the one value, with the place of each.

    The list may be written out, or be a variable's default or a local.
    """
    found = []
    target, default = _list(module, expr)
    for item in target.items if isinstance(target, Array) else [expr]:
        value = known(module, item)
        if value is not None and item is not None:
            place = item if target is expr or not isinstance(target, Array) else expr
            found.append((Known(value.value, default or value.default), place or item))
    return found


def _list(module: Module, expr: Expr | None) -> tuple[Expr | None, str]:
    """Follow a name to the list that it stands for, and note the variable on the way."""
    default = ""
    for _ in range(_DEEPEST):
        names = expr.names() if isinstance(expr, Access) and len(expr.steps) == 1 else []
        if names[:1] == ["local"] and names[1] in module.all("local"):
            expr = module.all("local")[names[1]].expr
        elif names[:1] == ["var"] and names[1] in module.all("variable"):
            default = f"var.{names[1]}"
            expr = module.all("variable")[names[1]].get("default")
        else:
            break
    return expr, default


def _named(module: Module, expr: Access, depth: int) -> Known | None:
    match expr.names():
        case ["var", name] if name in module.all("variable"):
            found = known(module, module.all("variable")[name].get("default"), depth + 1)
            return Known(found.value, f"var.{name}") if found else None
        case ["local", name] if name in module.all("local"):
            return known(module, module.all("local")[name].expr, depth + 1)
    return None


def _joined(module: Module, parts: list[str | Expr], depth: int) -> Known | None:
    text, default = "", ""
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        found = known(module, part, depth + 1)
        if found is None or isinstance(found.value, bool):
            return None
        text += str(found.value)
        default = default or found.default
        if len(text) > _LONGEST:
            return None
    return Known(text, default)


def _subnet(block: Known | None, bits: Known | None, number: Known | None) -> Known | None:
    """Compute `cidrsubnet(block, bits, number)`."""
    if block is None or bits is None or number is None:
        return None
    network = cidr.parse(block.text or "")
    if network is None or type(bits.value) is not int or type(number.value) is not int:
        return None
    length = network.prefixlen + bits.value
    if not 0 <= bits.value <= 64 or length > network.max_prefixlen:
        return None
    if not 0 <= number.value < 2**bits.value:
        return None
    first = int(network.network_address) + (number.value << (network.max_prefixlen - length))
    address = ipaddress.ip_address(first) if network.version == 4 else ipaddress.IPv6Address(first)
    return Known(f"{address}/{length}", block.default or bits.default or number.default)
