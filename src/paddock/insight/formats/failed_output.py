"""Whether what a command printed says that it has failed, where nobody tells its exit status."""

import re

_HEAD, _END = 300, 1500
_COMPLAINTS = re.compile(
    r"^(?:/?(?:bin/)?(?:ba)?sh(?:: line \d+)?: .{1,200}: (?:command )?not found"
    r"|bash: .{1,200}: (?:command not found|No such file or directory|Permission denied|syntax error.*)"
    r"|.{0,80}: command not found"
    r"|Your proposed edit has introduced new syntax error"
    r"|Your edit was not applied"
    r"|No replacement was performed"
    r"|EXECUTION TIMED OUT|COMMAND TIMED OUT|Error: |ERROR: |error: |fatal: |usage: )",
    re.MULTILINE,
)
_LAST = re.compile(
    r"^(?:[\w.]+(?:Error|Exception|Exit|Interrupt)(?:: .*)?"
    r"|FAILED \((?:failures|errors)=.*|=+ .*\b[1-9]\d* (?:failed|errors?)\b.*=+"
    r"|make(?:\[\d+\])?: \*\*\* .*|npm ERR! .*|error: aborting due to .*|error\[E\d+\].*)\s*\Z"
)


def says_failed(output: str) -> bool:
    """By its beginning and its last line."""
    if _COMPLAINTS.match(output[:_HEAD].lstrip()):
        return True
    lines = [line for line in output[-_END:].splitlines() if line.strip()]
    while lines and lines[-1].startswith(("(Open file:", "(Current directory:", "bash-$")):
        lines.pop()
    return bool(lines) and _LAST.match(lines[-1]) is not None
