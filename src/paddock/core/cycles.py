"""Things that wait for each other, among what names what it comes after."""

from collections.abc import Mapping, Sequence


def find_cycle(after: Mapping[str, Sequence[str]]) -> list[str]:
    """One cycle, its first name again at its end; empty if there is none. What is named but not there waits for
    nothing."""
    done: set[str] = set()
    for start in after:
        path, stack = [start], [iter(after[start])]
        while stack and start not in done:
            name = next(stack[-1], None)
            if name is None:
                stack.pop()
                done.add(path.pop())
            elif name in path:
                return [*path[path.index(name) :], name]
            elif name not in done and name in after:
                path.append(name)
                stack.append(iter(after[name]))
    return []
