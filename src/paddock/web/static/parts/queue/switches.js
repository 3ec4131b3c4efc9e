// What stops the queue and lets it go on. Each switch shows whether it is on, for how long, and by whom.

import {html, signal, useEffect} from "../../lib/ui.js";
import {post} from "../../lib/api.js";
import {timeOfDay} from "../../lib/format.js";
import {requestSurely} from "../../lib/requests.js";
import {session} from "../../lib/session.js";
import {documentOf} from "../../lib/state.js";
import {toastRefusal} from "../../lib/toasts.js";
import {Age} from "../age.js";
import {askForText} from "../ask.js";
import {Icon} from "../badge.js";

const SENT_MILLISECONDS = 1_500;
const SWITCHES = {
  pause: {
    key: "p", icon: "pause", words: "Pause starting", on: "paused", undo: "resume",
    title: "Start no CI run; what has passed may still land",
    asks: "Why? Everyone sees it. CI runs that are under way go on, no other starts",
  },
  freeze: {
    key: "f", icon: "freeze", words: "Freeze landing", on: "frozen", undo: "unfreeze",
    title: "Go on testing, land nothing",
    asks: "Why? Everyone sees it. Testing goes on, nothing lands",
  },
  drain: {
    key: "d", icon: "drain", words: "Drain", on: "draining", undo: "resume",
    title: "Finish what is queued now; what comes later waits",
  },
};

/** The switch that was flipped and does not show it yet. */
const sent = signal("");

export function Switches({queue}) {
  useEffect(() => { sent.value = ""; }, [queue.paused, queue.frozen, queue.draining]);
  return html`<div class="acts">
    ${Object.keys(SWITCHES).map((name) => html`<${Switch} name=${name} queue=${queue} />`)}
    ${queue.restore && html`<button type="button" class="b" title=${queue.restore}
      aria-disabled=${session.value?.read_only ? "true" : null} onClick=${() => restore(queue.restore)}>
      <${Icon} name="retry" />Restore main</button>`}
    ${queue.state === "halted"
      && html`<button type="button" class="b main" onClick=${() => send("resume")}>Resume</button>`}
  </div>`;
}

function restore(words) {
  const done = ({main, kept}) => ({
    words: `main is back at ${main.slice(0, 10)}`, hint: kept ? `what it had since is kept at ${kept}` : "",
  });
  requestSurely("queue/restore", {}, {title: "Restore main", words: `This ${words}.`, send: "Restore main", done});
}

function Switch({name, queue}) {
  const {key, icon, words, title, on} = SWITCHES[name];
  const isOn = Boolean(queue[on]);
  const isSent = sent.value === name;
  const isTold = isOn && queue.state === on && queue.since;
  return html`<button type="button" class=${`b${isSent ? " sent" : ""}`}
    aria-pressed=${isOn !== isSent ? "true" : "false"} aria-disabled=${session.value?.read_only ? "true" : null}
    title=${isTold ? `${on} ${queue.by ? `by ${queue.by} ` : ""}since ${timeOfDay(queue.since)}` : title}
    onClick=${() => flip(name)}>
    <${Icon} name=${icon} />${isTold
      ? html`${on[0].toUpperCase() + on.slice(1)} <span class="for"><${Age} at=${queue.since} /></span>`
      : words} <kbd>${key}</kbd></button>`;
}

export async function flip(name) {
  const queue = documentOf("queue").peek();
  if (!queue || session.peek()?.read_only || sent.peek()) return;
  const {on, undo, words, asks} = SWITCHES[name];
  const reason = queue[on] || !asks ? "" : await askForText({title: words, label: asks, send: words, isLine: true});
  if (reason === null || sent.peek()) return;
  sent.value = name;
  send(queue[on] ? undo : name, reason);
}

/** Shown as sent until the queue says so, or refuses. */
async function send(what, reason = "") {
  try {
    await post(`queue/${what}`, {reason});
    setTimeout(() => { sent.value = ""; }, SENT_MILLISECONDS);
  } catch (error) {
    sent.value = "";
    toastRefusal(error, `Merge queue: ${what}`);
  }
}
