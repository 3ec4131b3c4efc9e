"""A scriptable agent for the demo and the tests: it does what a play-list in its prompt says.

    <<SCRIPT [{"write": "a.txt", "text": "hi"}, {"commit": "Add a"}, {"say": "done"}] SCRIPT>>

It prints claude's stream-json and keeps a conversation: the place in the play-list is saved before each step,
so a resumed turn goes on after the step during which the last one ended, or plays the list its new prompt
brings. Any step may carry `"attempt": N` or `"turn": N` (or lists of numbers): it is played then only, and a
step for a later turn ends this one. `docs/engines.md` lists the steps.

With `--plays FOLDER` a prompt without a play-list gets that of the file named like the task's first line. With
`--mailbox FOLDER` it takes letters while it works: in steps that listen, in all of them with `--listens yes`, and
anywhere those that say to drop what it does.

Run by path with `python -I -S`, by the hundred: it may import nothing but light parts of the standard library.
"""

import json
import os
import select
import signal
import sys
import time

if __name__ == "__main__":
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from paddock.engines.letters import LetterBox, ReceivedLetter, receipt, said
from paddock.engines.scripted_conversation import Conversation, new_session
from paddock.engines.scripted_plays import (
    Step,
    as_list,
    as_script,
    earliest,
    find_script,
    matches,
    number,
    own_words,
    script_for,
)

MODEL = "scripted"
ERRORS = {429: "rate_limit", 529: "overloaded", 500: "server_error", 401: "authentication_failed"}


class TurnOver(Exception):
    """The turn ends here, with a final event and an exit code."""

    def __init__(self, text: str, *, error: bool = False, code: int | None = None, **extra: object) -> None:
        super().__init__(text)
        self.text = text
        self.error = error
        self.code = code if code is not None else int(error)
        self.extra = extra
        self.linger = 0.0


class ScriptPlayer:
    """Plays the steps; each method named `do_…` is one kind of step and takes the step itself."""

    def __init__(self, talk: Conversation, attempt: int, mail: LetterBox | None = None, model: str = MODEL) -> None:
        self.talk = talk
        self.model = model
        self.attempt = attempt
        self.mail = mail
        self.all_steps_listen = False
        self.calls = 0
        self.heard = 0
        self.denials: list[dict[str, object]] = []
        self.usage = {"input_tokens": 1000, "output_tokens": 0}
        self.cost = 0.0
        self.last_text = ""

    # -- what it prints -------------------------------------------------------------------------------------

    def emit(self, **event: object) -> None:
        event["session_id"] = self.talk.session
        write_all(json.dumps(event).encode() + b"\n")

    def message(self, block: dict[str, object]) -> None:
        self.calls += 1
        usage = {"input_tokens": 1000, "output_tokens": 1}
        content = {"id": f"msg_{self.talk.turn}_{self.calls}", "model": self.model, "content": [block], "usage": usage}
        self.emit(type="assistant", message=content)

    def say(self, text: str) -> None:
        self.last_text = text
        self.message({"type": "text", "text": text})

    def use(self, tool: str, arguments: dict[str, object]) -> str:
        call = f"toolu_{self.talk.turn}_{self.calls + 1}"
        self.message({"type": "tool_use", "id": call, "name": tool, "input": arguments})
        return call

    def answer(self, call: str, output: str, *, error: bool = False) -> None:
        block = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": error}
        self.emit(type="user", message={"role": "user", "content": [block]})

    def finish(self, over: TurnOver) -> int:
        self.usage["output_tokens"] = self.usage["output_tokens"] or 50 * self.calls
        reason = over.extra.pop("terminal_reason", "completed")
        self.emit(
            type="result",
            subtype="success",
            is_error=over.error,
            result=over.text,
            terminal_reason=reason,
            usage=self.usage,
            total_cost_usd=self.cost,
            permission_denials=self.denials,
            **over.extra,
        )
        time.sleep(over.linger)
        return over.code

    # -- the turn -------------------------------------------------------------------------------------------

    def play(self) -> TurnOver:
        talk = self.talk
        while talk.next < len(talk.script):
            step = talk.script[talk.next]
            if earliest(step.get("turn")) > talk.turn:
                break
            if step.get("always") is not True:
                talk.next += 1
            talk.save()
            if not (matches(step.get("turn"), talk.turn) and matches(step.get("attempt"), self.attempt)):
                talk.next += step.get("always") is True
                continue
            if self.all_steps_listen:
                self.read_letters(step)
            try:
                self.perform(step)
            except TurnOver as over:
                return over
            except OSError as error:
                return TurnOver(f"step {step} failed: {error}", error=True)
        return TurnOver(self.last_text or "nothing left to do")

    def perform(self, step: Step) -> None:
        for name in step:
            action = getattr(self, f"do_{name}", None)
            if action is not None:
                action(step)
                return
        raise TurnOver(f"no such step: {json.dumps(step)[:200]}", error=True, code=2)

    # -- letters --------------------------------------------------------------------------------------------

    def pause(self, seconds: float, step: Step) -> bool:
        """True if a letter has said to drop the step."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if self.mail is None:
                time.sleep(left)
                return False
            if self.read_letters(step):
                return True
            select.select([self.mail], [], [], left)
        return False

    def read_letters(self, step: Step) -> bool:
        listens = self.all_steps_listen or step.get("listens") is True or "listen" in step
        letters = self.mail.waiting() if self.mail is not None else []
        wanted = [letter for letter in letters if (listens or letter.now) and not letter.request]
        for letter in wanted:
            self.take(letter)
            self.react(letter, step)
        return any(letter.now for letter in wanted)

    def take(self, letter: ReceivedLetter) -> None:
        if self.mail is not None:
            self.mail.take(letter)
        self.heard += 1
        write_all(receipt([letter.number], "the agent's own word"))

    def react(self, letter: ReceivedLetter, step: Step) -> None:
        """Plays the letter's play-list next, and says what it has read."""
        if "to" in step:
            with open(str(step["to"]), "a", encoding="utf-8") as file:
                file.write(json.dumps([letter.number, letter.text]) + "\n")
        try:
            steps = find_script(letter.text) or []
        except ValueError as error:
            self.say(f"cannot read the play-list: {error}")
            return
        self.play_next(steps)
        self.say(f"read: {letter.text[:2000]}")

    def play_next(self, steps: list[Step]) -> None:
        place = self.talk.next
        self.talk.script[place:place] = steps
        self.talk.save()

    def do_listen(self, step: Step) -> None:
        """For so many seconds, or until it has read as many `messages`."""
        deadline = time.monotonic() + number(step["listen"], 600)
        enough = self.heard + number(step.get("messages"), 1_000_000)
        while self.mail is not None and not self.read_letters(step) and self.heard < enough:
            left = deadline - time.monotonic()
            if left <= 0:
                return
            select.select([self.mail], [], [], left)

    def do_dialog(self, step: Step) -> None:
        """Asks, waits for the answer, and plays what `then` has for it."""
        given = step["dialog"] if isinstance(step["dialog"], dict) else {}
        request = f"dialog-{self.talk.turn}-{self.talk.next}"
        text, choices = str(given.get("text", "May I?")), [str(name) for name in given.get("options", ("yes", "no"))]
        write_all(said({"type": "dialog", "request": request, "text": text, "options": choices}))
        deadline = time.monotonic() + number(step.get("seconds"), 3600)
        answer = self.await_answer(request, deadline)
        write_all(said({"type": "dialog_closed", "request": request}))
        then = given.get("then")
        self.play_next(as_script(json.dumps(then.get(answer, []))) if isinstance(then, dict) else [])
        self.say(f"answered: {answer}" if answer else "nobody answers")

    def await_answer(self, request: str, deadline: float) -> str:
        while self.mail is not None and (left := deadline - time.monotonic()) > 0:
            for letter in self.mail.waiting():
                if letter.request == request:
                    self.take(letter)
                    return letter.text
            select.select([self.mail], [], [], left)
        return ""

    # -- honest work ----------------------------------------------------------------------------------------

    def do_say(self, step: Step) -> None:
        self.say(str(step["say"]))

    def do_think(self, step: Step) -> None:
        self.pause(number(step["think"], 0.1), step)

    def do_write(self, step: Step) -> None:
        text = str(step.get("text", ""))
        self.edit("Write", str(step["write"]), text, "w", {"content": text})

    def do_append(self, step: Step) -> None:
        text = str(step.get("text", ""))
        self.edit("Edit", str(step["append"]), text, "a", {"old_string": "", "new_string": text})

    def do_replace(self, step: Step) -> None:
        path, old, new = str(step["replace"]), str(step.get("old", "")), str(step.get("new", ""))
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if old not in text:
            self.answer(self.use("Edit", {"file_path": path}), f"{old!r} is not in {path}", error=True)
            return
        self.edit("Edit", path, text.replace(old, new, 1), "w", {"old_string": old, "new_string": new})

    def edit(self, tool: str, path: str, text: str, mode: str, told: dict[str, object]) -> None:
        call = self.use(tool, {"file_path": path, **told})
        if os.path.dirname(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, mode, encoding="utf-8") as file:
            file.write(text)
        self.answer(call, "ok")

    def do_delete(self, step: Step) -> None:
        self.do_run({"run": ["rm", "-rf", "--", str(step["delete"])]})

    def do_commit(self, step: Step) -> None:
        message = str(step["commit"])
        call = self.use("Bash", {"command": f"git add -A && git commit -m {message!r}"})
        code, output = run(["git", "add", "-A"])
        if code == 0:
            code, output = run(["git", "commit", "-q", "-m", message])
        self.answer(call, output, error=code != 0)

    def do_run(self, step: Step) -> None:
        argv = [str(word) for word in as_list(step["run"])]
        call = self.use("Bash", {"command": " ".join(argv)})
        code, output = run(argv)
        self.answer(call, output, error=code != 0)
        if code != 0 and step.get("must_pass") is True:
            self.talk.next -= 1
            self.talk.save()
            last = next((line for line in reversed(output.splitlines()) if line.strip()), f"exit {code}")
            raise TurnOver(f"cannot go on: {last}"[:500], error=True)

    def do_wait_for(self, step: Step) -> None:
        path, deadline = str(step["wait_for"]), time.monotonic() + number(step.get("seconds"), 600)
        while not os.path.exists(path):
            if time.monotonic() > deadline:
                raise TurnOver(f"{path} never came", error=True)
            if self.pause(0.01, step):
                return

    def do_usage(self, step: Step) -> None:
        given = step["usage"]
        if isinstance(given, dict):
            self.cost = float(given.pop("cost", self.cost))
            self.usage.update(given)

    def do_done(self, step: Step) -> None:
        over = TurnOver(str(step["done"]), code=int(number(step.get("exit"), 0)))
        over.linger = number(step.get("linger"), 0)
        raise over

    def do_answer(self, step: Step) -> None:
        """For an attempt that only reads: to the file it is told, or in words where it is told none. `${HEAD}` in it is
        the commit it looks at."""
        given = step["answer"]
        text = given if isinstance(given, str) else json.dumps(given)
        text = text.replace("${HEAD}", run(["git", "rev-parse", "HEAD"])[1].strip()) if "${HEAD}" in text else text
        place = os.environ.get("PADDOCK_ANSWER", "")
        if not place or step.get("aloud") is True:
            self.say(text)
            return
        call = self.use("Write", {"file_path": place, "content": text})
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)
        self.answer(call, "ok")

    def do_noop(self, step: Step) -> None:
        self.say(f"PADDOCK-NOOP: {step['noop']}")
        raise TurnOver(self.last_text)

    # -- misbehaviour ---------------------------------------------------------------------------------------

    def do_fail(self, step: Step) -> None:
        raise TurnOver(str(step["fail"]), error=True)

    def do_refuse(self, step: Step) -> None:
        self.say(str(step["refuse"]))
        raise TurnOver(self.last_text, stop_reason="refusal")

    def do_hang(self, step: Step) -> None:
        self.pause(number(step["hang"], 3600), step)

    def do_chatter(self, step: Step) -> None:
        deadline = time.monotonic() + number(step["chatter"], 3600)
        while time.monotonic() < deadline:
            self.say("still at it")
            if self.pause(number(step.get("every"), 0.2), step):
                return

    def do_crash(self, step: Step) -> None:
        if not self.calls:
            # A crash before the first word of the model would be `never_start`.
            self.say("on it")
        how = step["crash"]
        if isinstance(how, str):
            if how not in ("SIGKILL", "SIGSTOP"):
                signal.signal(signal.Signals[how], signal.SIG_DFL)
            os.kill(os.getpid(), signal.Signals[how])
        os._exit(int(number(how, 1)))

    def do_flood(self, step: Step) -> None:
        left, shape = int(number(step["flood"], 1_000_000)), step.get("as", "text")
        line = {"garbage": b"\xff\x00\xfe{" * 2048, "line": b"x" * 8192}.get(str(shape))
        filler = json.dumps({"type": "system", "subtype": "flood", "filler": "x" * 1000}).encode() + b"\n"
        chunk = line or filler * 8
        while left > 0:
            write_all(chunk)
            left -= len(chunk)
        write_all(b"\n")

    def do_ignore_sigterm(self, step: Step) -> None:
        del step
        # A handler rather than SIG_IGN, which children would inherit.
        for number_ in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number_, lambda *_: None)

    def do_orphan(self, step: Step) -> None:
        stubborn = step.get("ignore_sigterm") is True
        before = signal.signal(signal.SIGTERM, signal.SIG_IGN) if stubborn else None
        seconds = str(int(number(step["orphan"], 600)))
        os.posix_spawnp("sleep", ["sleep", seconds], os.environ, setsid=step.get("own_session") is True)
        if stubborn:
            signal.signal(signal.SIGTERM, before)

    def do_deny(self, step: Step) -> None:
        tool = str(step["deny"])
        call = self.use(tool, {"command": "true"})
        self.answer(call, f"Claude requested permissions to use {tool}, but you haven't granted it yet.", error=True)
        self.denials.append({"tool_name": tool, "tool_use_id": call})

    def do_rate_limited(self, step: Step) -> None:
        self.provider_refuses(step, 429, number(step["rate_limited"], 1))

    def do_overloaded(self, step: Step) -> None:
        self.provider_refuses(step, 529, number(step["overloaded"], 1))

    def do_server_error(self, step: Step) -> None:
        self.provider_refuses(step, 500, number(step["server_error"], 1))

    def do_auth_failed(self, step: Step) -> None:
        self.provider_refuses(step, 401, number(step["auth_failed"], 1))

    def do_window_limited(self, step: Step) -> None:
        resets_at = time.time() + number(step["window_limited"], 3600)
        info = {"status": "rejected", "resetsAt": int(resets_at), "rateLimitType": "five_hour"}
        self.emit(type="rate_limit_event", rate_limit_info=info)
        raise TurnOver(f"Claude AI usage limit reached|{int(resets_at)}", error=True, api_error_status=429)

    def do_window_used(self, step: Step) -> None:
        info = {"status": "allowed_warning", "rateLimitType": "five_hour", "resetsAt": int(time.time()) + 3600}
        self.emit(
            type="rate_limit_event", rate_limit_info={**info, "utilization": number(step["window_used"], 100) / 100}
        )

    def provider_refuses(self, step: Step, status: int, delay: float) -> None:
        word = ERRORS[status]
        delay_ms = delay * 1000
        self.emit(type="system", subtype="api_retry", error_status=status, error=word, retry_delay_ms=delay_ms)
        if step.get("recovers") is True:
            return
        text = f"API Error: {status} {word}, retry after {delay:g} s"
        raise TurnOver(text, error=True, api_error_status=status, terminal_reason="api_error")


def write_all(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def run(argv: list[str]) -> tuple[int, str]:
    """Exit code and the end of the output. Not subprocess: importing it costs as much as all the rest."""
    reader, writer = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, writer, 1), (os.POSIX_SPAWN_DUP2, writer, 2), (os.POSIX_SPAWN_CLOSE, reader)]
    try:
        child = os.posix_spawnp(argv[0], argv, git_environment(), file_actions=actions)
    except OSError as error:
        os.close(reader)
        return 127, str(error)
    finally:
        os.close(writer)
    output = b""
    while chunk := os.read(reader, 65536):
        output = (output + chunk)[-4096:]
    os.close(reader)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), output.decode("utf-8", "replace")


def git_environment() -> dict[str, str]:
    who = {"NAME": "Scripted ScriptPlayer", "EMAIL": "scripted@localhost"}
    fallback = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    return {**fallback, **os.environ}


def open_mailbox(folder: str) -> LetterBox | None:
    try:
        return LetterBox(folder) if folder else None
    except OSError:
        return None


def options(argv: list[str]) -> dict[str, str]:
    """`--name value` pairs; nothing here is typed by people, so nothing is explained."""
    return {name.removeprefix("--"): value for name, value in zip(argv[::2], argv[1::2], strict=True)}


def main(argv: list[str]) -> int:
    given = options(argv)
    prompt = given.get("prompt", "")
    if "prompt-file" in given:
        with open(given["prompt-file"], encoding="utf-8") as file:
            prompt = file.read()
    resumed = given.get("resume")
    copied = resumed if given.get("fork") else None
    name = given.get("session") if copied else resumed or given.get("session")
    talk = Conversation(given.get("state", "."), name or new_session())
    mail, model = open_mailbox(given.get("mailbox", "")), given.get("model", MODEL)
    agent = ScriptPlayer(talk, int(given.get("attempt", "1")), mail, model)
    agent.all_steps_listen = given.get("listens") == "yes"
    known = talk.load(copied) if resumed else True
    talk.turn += 1
    try:
        own = own_words(prompt)
        script = find_script(own)
        if script is None and not resumed:
            plays = given.get("plays") if own == prompt else None
            script = script_for(given.get("task") or prompt, prompt, plays)
    except (OSError, ValueError) as error:
        return agent.finish(TurnOver(f"cannot read the play-list: {error}", error=True))
    if script is not None:
        talk.script, talk.next = script, 0
    first = talk.script[0] if talk.script else {}
    if "never_start" in first and matches(first.get("attempt"), agent.attempt):
        os.write(2, b"scripted: command not found\n")
        return int(number(first["never_start"], 127))
    agent.emit(type="system", subtype="init", model=agent.model, cwd=os.getcwd())
    if not known:
        lost = f"No conversation found with session ID: {resumed}"
        os.write(2, f"{lost}\n".encode())
        return agent.finish(TurnOver(lost, error=True))
    return agent.finish(agent.play())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
