"""`paddock traces export`: traces for other tools, as files or pushed to a collector."""

import sys
from collections.abc import Iterable
from pathlib import Path

import click

from paddock.cli.options import prints_json
from paddock.cli.pages.traces import warn_lacks
from paddock.cli.run_selection import selects_runs
from paddock.cli.terminal.text import plural, print_document
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import printable
from paddock.fleet.notify.recipients import known_secrets
from paddock.insight.dataset.current import open_current
from paddock.insight.dataset.names import require_label
from paddock.insight.exports.batches import ExportTally, span_batches
from paddock.insight.exports.files import export_file
from paddock.insight.exports.reading import read_runs, redactor
from paddock.insight.formats.neutral_lines import to_neutral
from paddock.insight.selection import Selection
from paddock.insight.trace import Trace

FORMATS = ("jsonl", "parquet", "otlp")
ENCODINGS = ("json", "protobuf")


@click.command("export", short_help="Export runs for other tools.")
@click.option("--format", "form", type=click.Choice(FORMATS), required=True, help="What is written.")
@selects_runs
@click.option("--failed", is_flag=True, help="Only runs that failed.")
@click.option("-o", "--output", metavar="PATH", help="Where to; for parquet a folder.  [default: standard output]")
@click.option("--push", metavar="URL", help="With otlp: push to this collector, such as http://localhost:4318.")
@click.option("--encoding", type=click.Choice(ENCODINGS), default="json", help="With --push: how.  [default: json]")
@click.option("--no-redact", is_flag=True, help="Also what looks like a secret.")
@prints_json
@click.pass_context
def export_command(
    ctx: click.Context,
    form: str,
    chosen: Selection,
    failed: bool,
    output: str | None,
    push: str | None,
    encoding: str,
    no_redact: bool,
    as_json: bool,
) -> None:
    """Export runs with all their steps: the fleet's own and imported ones.

    jsonl is the neutral format of docs/reference/traces.md, which `paddock traces import` reads again. parquet writes a
    folder with a table of runs, one of steps and one of calls. otlp are OpenTelemetry spans with the names of its
    conventions for generative AI, a request of OTLP/JSON a line; --push sends them to a collector instead. What looks
    like a secret is replaced.
    """
    _require(form, output, push, encoding)
    tally = ExportTally()
    hide = None if no_redact else redactor(known_secrets())
    with open_current(open_workspace(ctx)) as dataset:
        warn_lacks(dataset)
        require_label(dataset, chosen.label)
        runs = read_runs(dataset, chosen, failed=True if failed else None, hide=hide)
        rejected = _export(form, runs, tally, None if output is None else Path(output).expanduser(), push, encoding)
    _tell(tally, rejected, push or output, as_json=as_json)


def _require(form: str, output: str | None, push: str | None, encoding: str) -> None:
    if push is not None and form != "otlp":
        raise Misuse(f"--push takes spans, not {form}", "use `--format otlp --push URL`")
    if push is not None and output is not None:
        raise Misuse("--push and -o cannot be used together", "run it once for each")
    if encoding != "json" and push is None:
        raise Misuse(f"--encoding {encoding} is for --push", "files are OTLP/JSON")
    if form == "parquet" and output is None:
        raise Misuse(
            "parquet is written to a folder", "name it with -o: `paddock traces export --format parquet -o traces`"
        )


def _export(
    form: str, runs: Iterable[Trace], tally: ExportTally, output: Path | None, push: str | None, encoding: str
) -> int:
    """How many spans a collector did not take."""
    if push is not None:
        return _push(runs, tally, push, encoding)
    if form == "parquet":
        _write_parquet(runs, tally, output)
    elif form == "otlp":
        from paddock.insight.exports.otlp_json import encode_spans

        with export_file(output) as file:
            for batch in span_batches(runs, tally):
                file.write(encode_spans(batch.groups) + b"\n")
    else:
        with export_file(output) as file:
            for trace in runs:
                tally.count(trace)
                file.write(to_neutral(trace) + b"\n")
    return 0


def _write_parquet(runs: Iterable[Trace], tally: ExportTally, output: Path | None) -> None:
    from paddock.insight.exports.parquet import write_parquet

    assert output is not None
    try:
        write_parquet(output, runs, tally)
    except OSError as error:
        reason = error.strerror or str(error)
        raise PaddockError(
            f"cannot write to `{printable(str(output))}`: {reason}", "name another folder with -o"
        ) from None


def _push(runs: Iterable[Trace], tally: ExportTally, url: str, encoding: str) -> int:
    from paddock.insight.exports import otlp_json, otlp_protobuf
    from paddock.insight.exports.collector import Collector, headers_from

    form = otlp_json if encoding == "json" else otlp_protobuf
    collector = Collector(url, form.CONTENT_TYPE, headers_from())
    try:
        for batch in span_batches(runs, tally):
            collector.push(form.encode_spans(batch.groups))
    finally:
        collector.close()
    if collector.rejected:
        why = f": {printable(collector.complaint, 200)}" if collector.complaint else ""
        click.echo(f"warning: the collector did not take {plural(collector.rejected, 'span')}{why}", err=True)
    return collector.rejected


def _tell(tally: ExportTally, rejected: int, where: str | None, *, as_json: bool) -> None:
    if tally.timeless:
        click.echo(f"warning: left out {plural(tally.timeless, 'run')} of which no time is known", err=True)
    if as_json and where is not None:
        counts = {"runs": tally.runs, "steps": tally.steps, "calls": tally.calls, "spans": tally.spans}
        print_document(**counts, left_out=tally.timeless, rejected=rejected)
        return
    words = f"exported {plural(tally.runs, 'run')} with {plural(tally.steps, 'step')}"
    if where is not None:
        click.echo(words)
    elif sys.stderr.isatty():
        click.echo(words, err=True)
