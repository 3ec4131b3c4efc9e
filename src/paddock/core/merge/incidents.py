"""Runs that are lost to the machine. Those that were under way at the same time were lost to one incident.

A machine that is switched off takes every run with it: that is one thing that went wrong, and nobody's fault.
"""

from msgspec.structs import replace

from paddock.core.merge.model import Entry, Incident, Queue, Run

INFRA_RETRIES = 3
# A change that takes other runs down with it looks like a victim, so losses in company have a bound, too.
LOSSES_IN_COMPANY = 12


def lost_too_often(entry: Entry) -> bool:
    """Trying the change again is of no use: its runs alone get lost time and again."""
    alone = entry.infra_failures - entry.lost_in_company
    return alone > INFRA_RETRIES or entry.infra_failures > LOSSES_IN_COMPANY


def joins_incident(queue: Queue, run: Run) -> bool:
    """Whether the lost `run` was under way when the last incident struck, and nothing has ended well since."""
    incident = queue.incident
    return incident is not None and queue.infra_streak > 0 and run.started_at <= incident.at


def incident_after(queue: Queue, run: Run) -> Incident:
    if queue.incident is not None and joins_incident(queue, run):
        return replace(queue.incident, runs=queue.incident.runs + 1)
    return Incident(run.id, run.ended_at or run.started_at)


def entries_after_loss(queue: Queue, run: Run) -> dict[str, Entry]:
    """The second run of an incident shows that the first was lost in company as well."""
    entries = dict(queue.entries)
    joins = joins_incident(queue, run)
    _count(entries, run, failures=1, company=int(joins))
    if joins and queue.incident is not None and queue.incident.runs == 1:
        first = queue.ended.get(queue.incident.run)
        if first is not None:
            _count(entries, first, failures=0, company=1)
    return entries


def _count(entries: dict[str, Entry], run: Run, *, failures: int, company: int) -> None:
    for member in run.members:
        entry = entries.get(member.id)
        if entry is None or entry.change.version != member.version:
            continue
        lost = entry.infra_failures + failures
        together = min(lost, entry.lost_in_company + company)
        entries[member.id] = replace(entry, infra_failures=lost, lost_in_company=together)
