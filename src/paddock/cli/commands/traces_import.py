"""`paddock traces import`: runs that Paddock did not start."""

import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from paddock.cli.options import prints_json
from paddock.cli.pages.imports import import_lines
from paddock.cli.terminal.text import plural, print_json
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse, NotFound, PaddockError
from paddock.core.ids import printable
from paddock.fleet.workspace import Workspace
from paddock.insight.dataset.headers import FLEET
from paddock.insight.dataset.location import dataset_folder, dataset_path
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.formats.detection import AUTO, FORMATS
from paddock.insight.formats.import_tally import ImportTally
from paddock.insight.formats.importing import STDIN, Importer, origin_of
from paddock.insight.formats.kept_input import KeptInput, kept_folder
from paddock.insight.formats.sources import EMPTY
from paddock.insight.trace import NAME_CHARS
from paddock.views.insight.imports import view_import

_HEARD_SECONDS = 0.2


@click.command("import")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--format",
    "form",
    type=click.Choice([AUTO, *FORMATS]),
    default=AUTO,
    show_default=True,
    metavar="NAME",
    help=f"What they are: {', '.join(FORMATS)}. {AUTO} looks.",
)
@click.option("--label", metavar="NAME", help="Name of the batch.  [default: what runs say, else the name of PATH]")
@click.option("--dry-run", is_flag=True, help="Only read, and say what would be imported.")
@prints_json
@click.pass_context
def import_command(
    ctx: click.Context, paths: tuple[str, ...], form: str, label: str | None, dry_run: bool, as_json: bool
) -> None:
    """Import runs of agents that Paddock did not start.

    PATH is a file, a folder, or - for standard input, also compressed with gzip. Taken are what claude, codex,
    opencode, gemini, qwen, copilot and SWE-agent leave behind, OpenTelemetry spans, and neutral JSON lines, to which
    anything can be converted: docs/reference/traces.md. Importing the same PATH again replaces what it gave before.
    """
    wanted = _label(label)
    places = [_place(path) for path in dict.fromkeys(paths)]
    workspace = open_workspace(ctx)
    workspace.board()
    progress = _Progress()
    with ExitStack() as held:
        folder = Path(held.enter_context(TemporaryDirectory(prefix="paddock-"))) if dry_run else workspace.state_dir
        writer = held.enter_context(DatasetWriter.open(dataset_path(folder)))
        importer = Importer(writer, workspace.site.prices, progress.hear if progress.is_shown else None)
        try:
            for place in places:
                _take(importer, place, form, wanted, workspace, dry_run=dry_run)
        except KeyboardInterrupt:
            _tell_interrupted(importer.tally, dry_run=dry_run)
            raise
        finally:
            progress.clear()
    tally = importer.tally
    view = view_import(tally, dry_run=dry_run)
    print_json(view) if as_json else click.echo("\n".join(import_lines(view)))
    if not tally.runs and not tally.doubled:
        raise _nothing_read(tally, paths, form)


def _take(importer: Importer, path: Path | None, form: str, label: str, workspace: Workspace, *, dry_run: bool) -> None:
    origin = origin_of(path, form, label)
    if path is not None or dry_run:
        importer.take(origin)
        return
    with KeptInput(kept_folder(dataset_folder(workspace.state_dir))) as kept:
        if importer.take(origin, kept):
            kept.keep()


def _label(label: str | None) -> str:
    if label is None:
        return ""
    if not label.strip() or len(label) > NAME_CHARS or not label.isprintable():
        raise Misuse("--label must be a printable name", f"of at most {NAME_CHARS} characters, such as `baseline`")
    if label.strip() == FLEET:
        raise Misuse(f"--label: `{FLEET}` is the label of the fleet's own attempts", "choose another name")
    return label.strip()


def _place(path: str) -> Path | None:
    """None is standard input."""
    if path == STDIN:
        if sys.stdin.isatty():
            raise Misuse("nothing comes through standard input", "pipe something into it: `zcat runs.gz | …`")
        return None
    place = Path(path).expanduser()
    try:
        exists = bool(path) and place.exists()
    except (OSError, ValueError):
        exists = False
    if not exists:
        raise NotFound(f"there is no file or folder `{printable(path)}`", "name what an agent or a script has written")
    return place


def _nothing_read(tally: ImportTally, paths: tuple[str, ...], form: str) -> PaddockError:
    where = "standard input" if paths[0] == STDIN else f"`{printable(paths[0])}`"
    where += f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    if not tally.files and not tally.skipped:
        hint = "in a folder, files that end in .json or .jsonl are read"
        return PaddockError(f"there is nothing to import in {where}", hint)
    return PaddockError(f"no run could be read from {where}", _hint(tally, form))


def _hint(tally: ImportTally, form: str) -> str:
    if set(tally.skipped) == {EMPTY}:
        return "nothing is in it: look at what was to write it"
    if form != AUTO:
        return f"omit `--format {form}` to have the format recognized, or try another with --dry-run"
    return "convert it to JSON lines: docs/reference/traces.md says how"


def _tell_interrupted(tally: ImportTally, *, dry_run: bool) -> None:
    if tally.runs and not dry_run:
        words = f"{plural(tally.runs, 'run')} read; those of the last moments are not in the dataset"
        sys.stderr.write(f"\ninterrupted: {words}. Run the same again: it replaces them.\n")


class _Progress:
    """A line on a terminal, written over itself."""

    def __init__(self) -> None:
        self.is_shown = sys.stderr.isatty()
        self._began = time.monotonic()
        self._told = self._began
        self._is_there = False

    def hear(self, tally: ImportTally) -> None:
        now = time.monotonic()
        if now - self._told < _HEARD_SECONDS:
            return
        self._told, self._is_there = now, True
        rate = tally.steps / max(0.001, now - self._began)
        words = f"{tally.runs:,} runs, {tally.steps:,} steps, {rate:,.0f} steps/s"
        skipped = f", {tally.skipped_count:,} skipped" if tally.skipped else ""
        sys.stderr.write(f"\r\x1b[K{words}{skipped}")
        sys.stderr.flush()

    def clear(self) -> None:
        if self._is_there:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
