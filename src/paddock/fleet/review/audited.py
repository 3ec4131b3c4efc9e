"""The code that an audit looks at."""

from paddock.core.errors import PaddockError
from paddock.core.ids import printable
from paddock.core.intent.audits import Audited
from paddock.fleet.site import Site


def find_audited(site: Site, branch: str | None) -> Audited:
    """Raises PaddockError for a branch that is not there."""
    main = site.main_tip()
    if branch is None:
        return Audited(main)
    head = site.repo.resolve(f"refs/heads/{branch}") if "\0" not in branch else None
    if head is None:
        raise PaddockError(f"there is no branch `{printable(branch, 80)}`", "`git branch` lists them")
    base = site.repo.merge_base(main, head)
    if base is None or base == head:
        raise PaddockError(f"branch `{printable(branch, 80)}` changes nothing that main does not have")
    return Audited(head, printable(branch, 80), base)
