"""What panels of a report are made of."""

from collections.abc import Sequence

from paddock.cli.pages.report.markup import Child, Markup, element


def panel(title: str, end: str, *body: Child) -> Markup:
    header = element("header", element("h2", title), element("span", end, class_="end") if end else None)
    return element("section", header, element("div", body, class_="in"), class_="panel")


def table(head: Sequence[Child], rows: Sequence[Sequence[Child]], numbers: Sequence[int] = ()) -> Markup:
    def cell(kind: str, place: int, child: Child) -> Markup:
        return element(kind, child, class_="num" if place in numbers else None)

    top = element("tr", [cell("th", place, child) for place, child in enumerate(head)])
    body = [element("tr", [cell("td", place, child) for place, child in enumerate(row)]) for row in rows]
    return element("div", element("table", element("thead", top), element("tbody", body), class_="mid"), class_="tw")


def key(state: str, words: str) -> Markup:
    return element("span", element("span", class_=f"key {state}"), words, class_="nowrap")


def dim(words: str) -> Markup:
    return element("p", words, class_="dim")
