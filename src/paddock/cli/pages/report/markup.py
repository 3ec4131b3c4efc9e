"""Elements of a page. What is not an element is text, and is escaped: nothing that an agent wrote becomes markup."""

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

from paddock.core.ids import harmless


class Markup(str):
    """What `element` has made, or what a person has written in this program."""

    __slots__ = ()


Child: TypeAlias = "str | int | Iterable[Child] | None"
_VOID = frozenset({"meta", "path", "rect"})


def element(tag: str, /, *children: "Child", **attributes: str | float | None) -> Markup:
    """`class_` is the class; underscores in names are hyphens. Attributes that are None are left out."""
    told = "".join(f' {_named(key)}="{escape(_text(value))}"' for key, value in attributes.items() if value is not None)
    inside = _inside(children)
    return Markup(
        f"<{tag}{told}>" if tag == "meta" else f"<{tag}{told}{'/>' if tag in _VOID else f'>{inside}</{tag}>'}"
    )


def join(*children: "Child") -> Markup:
    return Markup(_inside(children))


def _inside(children: "Child") -> str:
    if children is None:
        return ""
    if isinstance(children, Markup):
        return children
    if isinstance(children, str | int):
        return escape(harmless(str(children)))
    return "".join(_inside(child) for child in children)


def _named(key: str) -> str:
    return {"view_box": "viewBox", "preserve_aspect_ratio": "preserveAspectRatio"}.get(
        key, key.rstrip("_").replace("_", "-")
    )


def _text(value: str | float) -> str:
    return f"{value:g}" if isinstance(value, float) else harmless(str(value))
