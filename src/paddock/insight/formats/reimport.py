"""Imported runs made again from where they came from."""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from paddock.core.money.prices import PriceBook
from paddock.insight.dataset.dataset import Source
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.formats.import_tally import ImportTally
from paddock.insight.formats.importing import Hear, Importer, Origin, label_of

NO_PRICES = PriceBook({})


@dataclass(frozen=True, slots=True)
class Reimported:
    """`problem` is empty, or says why nothing could be read: then the runs are as they were before."""

    source: Source
    tally: ImportTally
    problem: str = ""


def reimport_source(writer: DatasetWriter, source: Source, hear: Hear | None = None) -> Reimported:
    """Reads it again, apart from what was forgotten. What is not at its place any more takes nothing with it."""
    origin = _origin(source)
    importer = Importer(writer, NO_PRICES, hear, source.told.forgotten)
    if not Path(origin.path).exists():
        return Reimported(source, importer.tally, f"`{origin.path}` is not there any more")
    runs = importer.take(origin)
    problem = "" if runs else f"nothing could be read from `{origin.path}`"
    return Reimported(source, importer.tally, problem)


def _origin(source: Source) -> Origin:
    told = source.told
    try:
        return msgspec.json.decode(told.batch, type=Origin)
    except msgspec.MsgspecError:
        return Origin(told.path, label=told.label, named=told.label or label_of(Path(told.path)))
