// The picture of the queue with its legend, the window of time it shows, and the run that is looked at, in words.

import {html, signal, useEffect, useMemo, useSignal} from "../../lib/ui.js";
import {get} from "../../lib/api.js";
import {clock, duration} from "../../lib/format.js";
import {useKeys} from "../../lib/keys.js";
import {toastRefusal} from "../../lib/toasts.js";
import {State} from "../badge.js";
import {windowName, windowsFor} from "./geometry.js";
import {Picture} from "./picture.js";
import {openRunLog} from "./run-log.js";
import {describeRun} from "./run-words.js";

const REFRESH_MILLISECONDS = 60_000;
const chosenWindow = signal(null);

export function PicturePanel({queue, live}) {
  const changes = live.changesOf("runs").value;
  const runs = useMemo(() => [...queue.runs.values()].map((row) => row.peek()), [queue.runs, changes]);
  const chosen = useSignal(null);
  const hovered = useSignal(null);
  const windows = windowsFor(queue.typical_seconds);
  const seconds = windows.includes(chosenWindow.value) ? chosenWindow.value : windows[0];
  const {shownRuns, shownTips} = useWindow(queue, runs, seconds);
  useWalk(shownRuns.map((run) => run.run), chosen, hovered);
  const isEmpty = !shownRuns.length && !queue.planned.length && !queue.tips.length;
  return html`<section class="panel">
    <header><${Legend} /><span class="end"><${WindowChoice} windows=${windows} seconds=${seconds} /></span></header>
    ${isEmpty
      ? html`<${Nothing} queue=${queue} />`
      : html`<${Picture} queue=${queue} runs=${shownRuns} tips=${shownTips} seconds=${seconds} chosen=${chosen}
          hovered=${hovered} open=${openRunLog} />
        <${About} runs=${shownRuns} shown=${hovered.value ?? chosen.value} />`}
  </section>`;
}

function WindowChoice({windows, seconds}) {
  return html`<span class="seg" role="group" aria-label="Time shown">${windows.map((one) =>
    html`<button type="button" aria-pressed=${one === seconds ? "true" : "false"}
      onClick=${() => { chosenWindow.value = one; }}>${windowName(one)}</button>`)}</span>`;
}

/** The arrow keys go through the runs in their order. */
function useWalk(order, chosen, hovered) {
  const walk = (step) => (event) => {
    if (event.target.closest?.("pre, table")) return false;  // there they scroll
    if (!order.length) return undefined;
    const at = order.indexOf(chosen.peek());
    const next = order[at < 0 ? order.length - 1 : Math.min(order.length - 1, Math.max(0, at + step))];
    chosen.value = next;
    hovered.value = next;
    requestAnimationFrame(() => document.querySelector(`.pic [data-run="${CSS.escape(next)}"]`)?.focus());
    return undefined;
  };
  useKeys({
    left: ["walk back through the runs", walk(-1)],
    right: ["walk on through the runs", walk(1)],
    enter: ["CI log of the run", () => (chosen.peek() ? openRunLog(chosen.peek()) : false)],
  }, {scope: "Picture"});
}

/** A longer window than the stream tells of is asked for, and what is live goes on top of it. */
function useWindow(queue, runs, seconds) {
  const older = useSignal(null);
  const minutes = Math.ceil(seconds / 60);
  useEffect(() => {
    older.value = null;
    if (minutes <= queue.minutes) return undefined;
    let isOver = false;
    const load = async () => {
      try {
        const told = await get("queue/picture", {minutes});
        if (!isOver) older.value = told;
      } catch (error) {
        if (!isOver) toastRefusal(error, "Older runs");
      }
    };
    load();
    const timer = setInterval(load, REFRESH_MILLISECONDS);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [minutes, queue.minutes]);
  return useMemo(() => {
    const since = clock.peek() - seconds * 1000;
    const all = new Map(Object.entries(older.value?.runs ?? {}));
    for (const run of runs) all.set(run.run, run);
    const shownRuns = [...all.values()].filter((run) => !run.ended
      || Date.parse(run.ended) > since).sort((one, other) => (one.started < other.started ? -1 : 1));
    const tips = new Map([...(older.value?.tips ?? []), ...queue.tips].map((tip) => [`${tip.at} ${tip.commit}`, tip]));
    return {shownRuns, shownTips: [...tips.values()]};
  }, [older.value, runs, queue.tips, seconds]);
}

function Legend() {
  return html`<span class="legend">
    <${State} of="queued" icon="train" words="train" /><span class="dim">several changes, main becomes its tree</span>
    <span class="sep"></span>
    <${State} of="running" icon="sieve" words="screen" /><span class="dim">one change alone, or a pool</span>
    <span class="sep"></span>
    <${State} of="landed" words="passed" /><${State} of="failed" words="failed" />
    <${State} of="blocked" icon="split" words="searched by halves" />
    <span class="st plain"><svg width="18" height="12" aria-hidden="true">
      <rect x=".5" y=".5" width="17" height="11" rx="3" fill="none" stroke="currentColor" stroke-dasharray="3 2" />
    </svg>planned</span>
  </span>`;
}

/** What the run under the pointer or the keyboard is; how to read the picture otherwise. */
function About({runs, shown}) {
  const run = shown && runs.find((one) => one.run === shown);
  if (!run) {
    return html`<p class="about dim">Each box is a CI run. A <b>screen</b> asks whether a change is good by itself.
      ${" "}A <b>train</b> asks whether several changes are good together: if it passes, main becomes exactly the tree
      ${" "}it tested. A train that fails is searched by halves until the culprit is alone.</p>`;
  }
  const took = run.ended ? `, ${duration((Date.parse(run.ended) - Date.parse(run.started)) / 1000)}` : "";
  return html`<p class="about">${describeRun(run)}${took}.
    ${" "}<span class="dim">Click, or press enter, for its CI log.</span></p>`;
}

function Nothing({queue}) {
  const isUp = queue.daemon === "running";
  return html`<div class="in blank"><h2>No CI run yet</h2>
    <p class="soft">${isUp ? "What is approved is tested here and lands by itself."
      : "A daemon tests and lands what is approved."}</p>
    <p><code>${isUp ? "paddock land t1" : "paddock up"}</code></p></div>`;
}
