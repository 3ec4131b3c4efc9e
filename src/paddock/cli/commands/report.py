"""`paddock report`: what the fleet did in a week, on one page."""

import time
from pathlib import Path

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import print_json, say
from paddock.cli.workspace import open_workspace
from paddock.core.durations import parse_moment
from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import printable
from paddock.insight.report.reading import read_report
from paddock.views.document import to_json
from paddock.views.insight.report import ReportView, view_report

FORMATS = ("md", "html", "json")
DEFAULT_SINCE = "7d"
_FORMS = {"": "md", ".md": "md", ".markdown": "md", ".txt": "md", ".htm": "html", ".html": "html", ".json": "json"}


@click.command("report")
@click.option(
    "--since",
    metavar="TIME",
    default=DEFAULT_SINCE,
    show_default=True,
    help="From then on: an age such as 30d, a time such as 2026-11-15T10:00, or `all`.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="A page for a browser, Markdown for a chat, or JSON.  [default: by the ending of FILE, or md]",
)
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Write it there.")
@prints_json
@click.pass_context
def report_command(ctx: click.Context, since: str, form: str | None, output: Path | None, as_json: bool) -> None:
    """Show on one page what the fleet did: what landed, what it cost, where time went and what went wrong.

    The page for a browser needs nothing else: no script, no other file, no network.
    """
    chosen = _format_of(form, output, as_json=as_json)
    now = time.time()
    began = None if since == "all" else parse_moment(since, now)
    if began is not None and began > now:
        raise Misuse(f"--since {since} is still to come", "give a time that has passed, or an age such as 7d")
    workspace = open_workspace(ctx)
    report = view_report(read_report(workspace, began, now))
    if output is not None:
        _write(output, _text(report, chosen))
        say(f"wrote {printable(str(output))}")
    elif chosen == "json":
        print_json(report)
    else:
        click.echo(_text(report, chosen), nl=False)


def _format_of(form: str | None, output: Path | None, *, as_json: bool) -> str:
    if as_json and form not in (None, "json"):
        raise Misuse(f"--json and --format {form} cannot be used together", "give one of them")
    if as_json:
        return "json"
    if form is not None:
        return form
    ending = output.suffix.lower() if output is not None else ""
    if ending not in _FORMS:
        raise Misuse(f"`{printable(ending)}` is not an ending of a report", "use .md, .html or .json, or give --format")
    return _FORMS[ending]


def _text(report: ReportView, form: str) -> str:
    if form == "json":
        return to_json(report).decode() + "\n"
    if form == "html":
        from paddock.cli.pages.report.html import report_page

        return report_page(report)
    from paddock.cli.pages.report.markdown import report_markdown

    return report_markdown(report)


def _write(output: Path, text: str) -> None:
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        problem = f"`{printable(str(output))}` cannot be written: {error.strerror}"
        raise PaddockError(problem, "name a file in a folder that you can write") from None
