"""What is said to the person who asked, in their language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from a2a_fn.iac.generate.kinds import kinds
from a2a_fn.iac.generate.languages import languages
from a2a_fn.iac.generate.model import Message, Plan, Resource
from a2a_fn.iac.generate.naming import snake


def say(
    language: str, code: str, values: Mapping[str, object] | None = None, format: str = "ros"
) -> str:
    """Return the sentence of a code; kinds among its values are said by their names."""
    said: dict[str, object] = {"admin": parameter_name("AdminCidr", format), **(values or {})}
    for key in ("kind", "by"):
        if key in said:
            kind = str(said[key])
            said[key] = _padded(called(kind, 1, language), language)
            if key == "kind":
                said["kinds"] = _padded(called(kind, 2, language), language)
    sentence = languages()[language].says[code].format(**said)
    return sentence.replace("  ", " ").strip(" ") if code != "and" else sentence


def sentences(language: str, messages: Iterable[Message], format: str = "ros") -> tuple[str, ...]:
    """Return the sentences of messages."""
    return tuple(say(language, message.code, message.values, format) for message in messages)


def parameter_name(identifier: str, format: str) -> str:
    """Return what a parameter is called in the format's files."""
    return snake(identifier) if format == "terraform" else identifier


def called(kind: str, count: int, language: str) -> str:
    """Return what a kind is called for this count."""
    names = kinds()[kind].called
    one, many = names.get(language, names["en"])
    return one if count == 1 else many or one


def _padded(name: str, language: str) -> str:
    """Return a name with spaces to Chinese text where it begins or ends in Latin letters."""
    if languages()[language].script is None:
        return name
    left = " " if name[0].isascii() else ""
    return f"{left}{name}{' ' if name[-1].isascii() else ''}"


def listing(resources: Iterable[Resource], language: str) -> str:
    """Return the resources counted by kind: "1 VPC and 2 vSwitches"; companions are left out."""
    counts = Counter(each.kind for each in resources if kinds()[each.kind].words)
    found = languages()[language]
    parts = [
        f"{count} {called(kind, count, language)}"
        if found.script is None
        else f"{count} 个{_padded(called(kind, count, language), language).rstrip()}"
        for kind, count in counts.items()
    ]
    if len(parts) < 2:
        return "".join(parts)
    # Chinese sets Latin letters off by a space: 1 个 VPC 和 2 个交换机.
    gap = " " if found.script and parts[-2][-1].isascii() else ""
    return found.comma.join(parts[:-1]) + gap + say(language, "and") + parts[-1]


def summarise(
    language: str, format: str, plan: Plan, notes: Iterable[str], not_understood: Iterable[str]
) -> str:
    """Return the whole answer: what was made, what was assumed, what was not understood."""
    words = languages()[language]
    lines = []
    if plan.resources:
        things = listing(plan.resources, language)
        made = say(language, "made", {"format": say(language, f"made-{format}"), "things": things})
        lines.append(made)
        open_choices = [parameter_name(p.id, format) for p in plan.parameters if p.default is None]
        if open_choices:
            lines.append(say(language, "choose", {"parameters": words.comma.join(open_choices)}))
        if notes:
            lines += [say(language, "assumptions"), *(f"- {note}" for note in notes)]
    else:
        questions = sentences(language, plan.questions)
        lines += [say(language, "blocked"), *(f"- {question}" for question in questions)]
    unread = [f"“{word}”" if words.script else word for word in not_understood]
    if unread:
        lines.append(say(language, "unread", {"words": words.comma.join(unread)}))
    return "\n".join(lines)
