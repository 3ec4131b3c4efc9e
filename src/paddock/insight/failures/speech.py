"""What a model says, or is told, beside what programs print: words about a trouble are not yet a trouble."""

from collections.abc import Iterable

from paddock.insight.failures.phrases import listed, words_in

_AT_WORK = tuple(
    words_in(phrase)
    for phrase in listed(
        """
        thought; thinking; let me; now let; i need to; i have; i ve; i should; next i; the task has been;
        waiting for the lm; waiting for the model; waiting for llm; assistant; tool call; tool use
        """
    )
)
ENOUGH = 2
"""One may stand in the task that was given to it. Chosen on three trials of terminal-bench whose only steps were
thoughts, and checked on the 162 beside them that never ran, of which none has two."""

_OPENINGS = (
    *("i ", "i'll ", "i'm ", "i've ", "i'd ", "let me ", "let's ", "now i", "now let", "now the ", "next:", "next, "),
    *("next i", "first, i", "good,", "good.", "good:", "great,", "great!", "great.", "perfect", "okay", "ok, ", "ok. "),
    *("alright", "hmm", "thinking", "thought", "reasoning:", "plan:", "summary", "so the ", "so i", "the user "),
    *("looking at ", "wait,", "actually,", "it looks like ", "it seems ", "this means ", "my "),
    *("you are a", "you are in", "your task", "we need ", "we should ", "we have to "),
)
_ASIDES = tuple(
    f" {words} "
    for words in (
        *("i will", "i'll", "i need", "i should", "i can see", "i see", "i have", "i've", "i am", "i'm", "i think"),
        *("let me", "let's", "we should", "we need to", "we can", "so i", "which i", "that i"),
    )
)
AGENT_VOICES = ("●", "⏺", "✦", "✻", "✽", "✢", "✶")
"""What agents put before their own words, and before what they do."""
_FAULTS = ("api error", "error", "fatal", "failed", "request ", "unable", "could not")
_BULLETS = "●⏺✦•∙✻✽✢✶✳⎿└│┃>*-# \t"


def is_speech(line: str) -> bool:
    """Whether a line is an agent's own, in the first person, or opens as people who think aloud do."""
    low = line[:400].lower().replace("’", "'").lstrip(_BULLETS)
    if line.startswith(AGENT_VOICES) and not low.startswith(_FAULTS):
        return True
    return low.startswith(_OPENINGS) or any(map(f" {low} ".__contains__, _ASIDES))


def shows_speech(texts: Iterable[str]) -> bool:
    """Whether what a run printed, or what stands for its error, is a model at work."""
    heard: set[bytes] = set()
    for text in texts:
        words = words_in(text)
        heard.update(phrase for phrase in _AT_WORK if phrase in words)
        if len(heard) >= ENOUGH:
            return True
    return False
