// The merge queue: a picture that explains itself, what lands next, where every change stands, and what was decided.

import {Fragment, html, signal, useEffect, useMemo, useSignal} from "../lib/ui.js";
import {get, post} from "../lib/api.js";
import {countdown, clock, duration, grouped, plural, timeOfDay} from "../lib/format.js";
import {useKeys} from "../lib/keys.js";
import {go, route} from "../lib/route.js";
import {session} from "../lib/session.js";
import {documentOf} from "../lib/state.js";
import {toast, toastRefusal} from "../lib/toasts.js";
import {Age} from "../parts/age.js";
import {askForText} from "../parts/ask.js";
import {Icon, State} from "../parts/badge.js";
import {Halves, searchNote} from "../parts/queue/halves.js";
import {Left, Picture, describe} from "../parts/queue/picture.js";
import {windowName, windowsFor} from "../parts/queue/plan.js";
import {openRunLog} from "../parts/queue/run-log.js";
import {useStages} from "../parts/staged.js";
import {Words} from "../parts/words.js";

const REFRESH_MILLISECONDS = 60_000;
const PLACES = [["waiting", "waiting", "waiting", "for a slot"], ["screening", "running", "sieve", "in the sieve"],
  ["passed", "landed", "landed", "passed alone"],
  ["riding", "queued", "train", "on a train"], ["suspects", "blocked", "split", "suspects"]];
const COLOURS = Object.fromEntries(PLACES.map(([place, of]) => [place, of]));
const OUTCOMES = {landed: ["landed", "landed"], failed: ["failed", "failed"], rejected: ["failed", "failed"],
  flake: ["noop", "noop"], conflict: ["blocked", "blocked"],
  noop: ["noop", "noop"], cancelled: ["cancelled", "cancelled"], lost: ["noop", "noop"], moved: ["blocked", "blocked"]};
const SWITCHES = {
  pause: {key: "p", icon: "pause", words: "Pause starting", title: "Start no CI run; what has passed may still land",
    on: "paused", undo: "resume",
    asks: "Why? Everyone sees it. CI runs that are under way go on, no other starts"},
  freeze: {key: "f", icon: "freeze", words: "Freeze landing", title: "Go on testing, land nothing", on: "frozen",
    undo: "unfreeze",
    asks: "Why? Everyone sees it. Testing goes on, nothing lands"},
  drain: {key: "d", icon: "drain", words: "Drain", title: "Finish what is queued now; what comes later waits",
    on: "draining", undo: "resume"},
};

const chosenWindow = signal(null);
const sent = signal("");

function Page({query}) {
  const live = documentOf("queue");
  const queue = live.value;
  useEffect(() => {
    // A link from elsewhere: its address is this page's again once the log is closed.
    if (query.run) openRunLog(query.run).then(() => { if (route.peek().query.run) go("/queue", {replace: true}); });
  }, [query.run]);
  useKeys({
    p: ["pause or resume starting", () => flip("pause")],
    f: ["freeze or unfreeze landing", () => flip("freeze")],
    d: ["drain or resume", () => flip("drain")],
  }, {scope: "Merge queue"});
  if (!queue) return html`<main class="page"><div class="head"><div><h1>Merge queue</h1><p class="lede">
    Asking for the queue…</p></div></div></main>`;
  return html`<main class="page">
    <${Head} queue=${queue} />
    <${PicturePanel} queue=${queue} live=${live} />
    <${Below} queue=${queue} />
    <p class="hint">${[["p", "pause"], ["f", "freeze"],
      ["d", "drain"]].map(([key, words]) => html`<span><kbd>${key}</kbd>${words}</span>`)}<span><kbd>←</kbd><kbd>→</kbd>
      walk runs</span><span><kbd>enter</kbd>CI log</span><span><kbd>?</kbd>all keys</span></p>
  </main>`;
}

function Below({queue}) {
  const drawn = useStages(3);
  return html`<${Fragment}>
    ${drawn > 1 && html`<div class="q3"><${LandsNext} queue=${queue} /><${Search} search=${queue.search} />
      <${Standing} queue=${queue} /></div>`}
    ${drawn > 1 && html`<${Waiting} queue=${queue} />`}
    ${drawn > 2 && html`<div class="f2 gap-top"><${Verdicts} queue=${queue} /><${Learnt} queue=${queue} /></div>`}
  </${Fragment}>`;
}

function Head({queue}) {
  const halted = queue.state === "halted";
  return html`<div class="head"><div><h1>Merge queue</h1><p class="lede"><${Words} text=${queue.words} /></p></div>
    <div class="acts">${Object.keys(SWITCHES).map((name) => html`<${Switch} name=${name} queue=${queue} />`)}
      ${halted && html`<button type="button" class="b main" onClick=${() => send("resume")}>Resume</button>`}</div>
        </div>`;
}

function Switch({name, queue}) {
  const {key, icon, words, title, on} = SWITCHES[name];
  const isOn = Boolean(queue[on]);
  const isSent = sent.value === name;
  const off = session.value?.read_only ? "true" : null;
  const told = isOn && queue.state === on && queue.since
    ? `${on} ${queue.by ? `by ${queue.by} ` : ""}since ${timeOfDay(queue.since)}` : title;
  return html`<button type="button" class=${`b${isSent ? " sent" : ""}`}
    aria-pressed=${isOn !== isSent ? "true" : "false"} aria-disabled=${off} title=${told} onClick=${() => flip(name)}>
    <${Icon} name=${icon} />${isOn && queue.state === on && queue.since
      ? html`${on[0].toUpperCase() + on.slice(1)} <span class="for"><${Age} at=${queue.since} /></span>` : words} <kbd>
      ${key}</kbd></button>`;
}

async function flip(name) {
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
    setTimeout(() => { sent.value = ""; }, 1_500);
  } catch (error) {
    sent.value = "";
    toastRefusal(error, `Merge queue: ${what}`);
  }
}

function PicturePanel({queue, live}) {
  const changes = live.changesOf("runs").value;
  const runs = useMemo(() => [...queue.runs.values()].map((row) => row.peek()), [queue.runs, changes]);
  const chosen = useSignal(null);
  const hovered = useSignal(null);
  const windows = windowsFor(queue.typical_seconds);
  const seconds = windows.includes(chosenWindow.value) ? chosenWindow.value : windows[0];
  const {shownRuns, shownTips} = useWindow(queue, runs, seconds);
  useEffect(() => { if (sent.peek()) sent.value = ""; }, [queue.paused, queue.frozen, queue.draining]);
  const walk = (step) => {
    const order = shownRuns.map((run) => run.run);
    if (!order.length) return;
    const at = order.indexOf(chosen.peek());
    const next = order[at < 0 ? order.length - 1 : Math.min(order.length - 1, Math.max(0, at + step))];
    chosen.value = next;
    hovered.value = next;
    requestAnimationFrame(() => document.querySelector(`.pic [data-run="${CSS.escape(next)}"]`)?.focus());
  };
  const isInText = (event) => event.target.closest?.("pre, table");
  useKeys({
    left: ["walk back through the runs", (event) => (isInText(event) ? false : walk(-1))],
    right: ["walk on through the runs", (event) => (isInText(event) ? false : walk(1))],
    enter: ["CI log of the run", () => (chosen.peek() ? openRunLog(chosen.peek()) : false)],
  }, {scope: "Picture"});
  const isEmpty = !shownRuns.length && !queue.planned.length && !queue.tips.length;
  return html`<section class="panel"><header><${Legend} />
      <span class="end"><span class="seg" role="group" aria-label="Time shown">${windows.map((one) =>
        html`<button type="button" aria-pressed=${one === seconds ? "true" : "false"}
          onClick=${() => { chosenWindow.value = one; }}>${windowName(one)}</button>`)}</span></span></header>
    ${isEmpty ? html`<${Nothing} queue=${queue} />`
      : html`<${Picture} queue=${queue} runs=${shownRuns} tips=${shownTips} seconds=${seconds} chosen=${chosen}
      hovered=${hovered} open=${openRunLog} />
      <${About} runs=${shownRuns} shown=${hovered.value ?? chosen.value} />`}
  </section>`;
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
  return html`<span class="legend"><${State} of="queued" icon="train" words="train" /><span class="dim">
    several changes, main becomes its tree</span><span class="sep"></span>
    <${State} of="running" icon="sieve" words="screen" /><span class="dim">one change alone, or a pool</span>
      <span class="sep"></span>
    <${State} of="landed" words="passed" /><${State} of="failed" words="failed" />
      <${State} of="blocked" icon="split" words="searched by halves" />
    <span class="st plain"><svg width="18" height="12" aria-hidden="true">
      <rect x=".5" y=".5" width="17" height="11" rx="3" fill="none" stroke="currentColor" stroke-dasharray="3 2" />
      </svg>planned</span></span>`;
}

/** What the run under the pointer or the keyboard is; how to read the picture otherwise. */
function About({runs, shown}) {
  const run = shown && runs.find((one) => one.run === shown);
  if (!run) {
    return html`<p class="about dim">Each box is a CI run. A <b>screen
      </b> asks whether a change is good by itself; a <b>train
      </b> asks whether this exact tree is, and if it passes, main becomes it. A train that fails is taken apart by halves until the culprit is alone.</p>`;
  }
  const took = run.ended ? `, ${duration((Date.parse(run.ended) - Date.parse(run.started)) / 1000)}` : "";
  return html`<p class="about">${describe(run)}${took}. <span class="dim">Click, or press enter, for its CI log.</span>
    </p>`;
}

function Nothing({queue}) {
  return html`<div class="in blank"><h2>No CI run yet</h2><p class="soft">
    ${queue.daemon === "running" ? "What is approved is tested here and lands by itself."
    : "A daemon tests and lands what is approved."}</p>
    <p><code>${queue.daemon === "running" ? "paddock land t1" : "paddock up"}</code></p></div>`;
}

function Car({id, queue}) {
  const row = queue.changes.get(id)?.value;
  const of = COLOURS[row?.place] ?? "waiting";
  const words = row ? `${row.title}: ${row.words}` : id;
  return row?.task ? html`<a class=${`car ${of}`} href=${`/tasks/${encodeURIComponent(row.task)}`} title=${words}>${id}
    </a>` : html`<span class=${`car ${of}`} title=${words}>${id}</span>`;
}

function Cars({ids, queue, most = 40}) {
  return html`<div class="cars">${ids.slice(0, most).map((id) => html`<${Car} key=${id} id=${id} queue=${queue} />`)}
    ${ids.length > most && html`<span class="dim">and ${ids.length - most} more</span>`}</div>`;
}

function LandsNext({queue}) {
  const count = queue.changes.size;
  const end = queue.all_at && count > 0 ? html`all ${count} decided in about <${Left} at=${queue.all_at} />` : "";
  return html`<section class="panel"><header><h2>Lands next</h2><span class="end">${end}</span></header><div class="in">
    ${queue.next.length ? html`<ol class="next">
      ${queue.next.map((one, index) => html`
      <${NextLanding} key=${`${one.title} ${index}`} one=${one} queue=${queue} />`)}</ol>`
      : html`<p class="dim">Nothing is queued. <code>paddock land t3
        </code> queues a task's change; approving does it too.</p>`}</div></section>`;
}

function NextLanding({one, queue}) {
  const isAhead = one.late && Date.parse(one.late) > clock.value;
  const late = one.late ? isAhead && html`9 in 10 by <${Left} at=${one.late} />` : one.odds != null && one.at
    ? `if it passes, ${Math.round(one.odds * 10)} in 10 do` : "";
  return html`<li><span class="when">${one.at ? html`<${When} at=${one.at} isSure=${Boolean(one.run)} />` : "no time"}
    <small>${one.at ? late : queue.typical_seconds == null ? "before a run has passed" : "while nothing moves"}</small>
    </span>
    <div><span class="strong">${one.title}</span> <span class="dim">${one.words}</span>
      <${Cars} ids=${one.members} queue=${queue} /></div></li>`;
}

function When({at, isSure}) {
  const left = (Date.parse(at) - clock.value) / 1000;
  if (left <= 0) return "any moment";
  return isSure ? countdown(left) : `about ${left < 90 ? countdown(left) : duration(left)}`;
}

function Search({search}) {
  if (!search) {
    return html`<section class="panel"><header><h2>No culprit to find</h2></header><div class="in"><p class="dim">
      When a train or a pool fails, half of it is tried again, then half of that, until the change at fault is alone. Nobody else waits for it. The halves are drawn here.</p></div></section>`;
  }
  return html`<section class="panel"><header><h2>${search.title}</h2><span class="end">${searchNote(search)}</span>
    </header><div class="in"><${Halves} search=${search} open=${openRunLog} /></div></section>`;
}

function Standing({queue}) {
  const count = queue.changes.size;
  const shown = PLACES.filter(([place]) => queue.standing[place].length);
  return html`<section class="panel"><header><h2>
    ${count ? `Where the ${count} stand${count === 1 ? "s" : ""}` : "Where changes stand"}</h2></header>
    <div class="in stages">
    ${shown.length ? shown.map(([place, of, icon, words]) => html`<div key=${place} data-place=${place}>
      <span class="acts"><${State} of=${of} icon=${icon} words=${words} /><span class="dim">
      ${queue.standing[place].length}</span></span>
      <${Cars} ids=${queue.standing[place]} queue=${queue} /></div>`) : html`<p class="dim">Nothing is queued.</p>`}
        </div></section>`;
}

/** What is queued, by name, in its order. */
function Waiting({queue}) {
  const isWhole = useSignal(false);
  const ids = queue.order.filter((id) => queue.changes.has(id));
  if (!ids.length) return null;
  const shown = isWhole.value ? ids : ids.slice(0, 10);
  return html`<section class="panel gap-top" aria-label="In the queue"><header><h2>In the queue</h2><span class="end">
    ${plural(ids.length, "change")}</span></header><div class="in tw">
    <table class="flat listed">${shown.map((id) => html`<${Queued} key=${id} id=${id} queue=${queue} />`)}</table>
    ${ids.length > shown.length
      && html`<button type="button" class="more" onClick=${() => { isWhole.value = true; }}>
      ${ids.length - shown.length} more</button>`}</div></section>`;
}

function Queued({id, queue}) {
  const row = queue.changes.get(id).value;
  const [, of, icon, words] = PLACES.find(([place]) => place === row.place) ?? PLACES[0];
  const off = session.value?.read_only ? "true" : null;
  const steer = (what, done) => async () => {
    if (off) return;
    try {
      await post(`queue/changes/${encodeURIComponent(id)}/${what}`, {});
      toast({words: `${id} ${done}`});
    } catch (error) {
      toastRefusal(error, id);
    }
  };
  return html`<tr data-change=${id}><td class="nowrap"><${State} of=${of} icon=${icon} words=${words} /></td>
    <td>${row.task ? html`<a class="id" href=${`/tasks/${encodeURIComponent(row.task)}`}>${id}</a>`
      : html`<span class="id">${id}</span>`}</td>
    <td class="words isolate">${row.title}</td><td class="num dim nowrap"><${Age} at=${row.since} /></td>
    <td class="num nowrap"><button type="button" class="b bare" aria-disabled=${off}
      aria-label=${`Move ${id} to the front`} onClick=${steer("move", "moved to the front")}>to the front</button>
      <button type="button" class="b bare" aria-disabled=${off} aria-label=${`Take ${id} out of the queue`}
        onClick=${steer("cancel", "taken out of the queue")}>remove</button></td></tr>`;
}

function Verdicts({queue}) {
  const {landed, rejected, flakes} = queue.today;
  const isWhole = useSignal(false);
  const shown = isWhole.value ? queue.verdicts : queue.verdicts.slice(0, 10);
  return html`<section class="panel"><header><h2>Verdicts</h2><span class="end">
    ${landed} landed, ${rejected} rejected, ${plural(flakes, "flake")} today</span></header><div class="in tw">
    ${shown.length ? html`<table class="flat verdicts">
      ${shown.map((row) => html`<${Verdict} key=${row.seq} row=${row} />`)}</table>`
      : html`<p class="dim">Nothing was decided in the last day.</p>`}
    ${queue.verdicts.length > shown.length
      && html`<button type="button" class="more" onClick=${() => { isWhole.value = true; }}>
      ${queue.verdicts.length - shown.length} more</button>`}</div></section>`;
}

function Verdict({row}) {
  const [of, icon] = OUTCOMES[row.outcome] ?? ["plain", "noop"];
  const name = row.change ?? row.run ?? "main";
  return html`<tr><td class="nowrap dim">${timeOfDay(row.at)}</td><td>
    <${State} of=${of} icon=${icon} words=${row.outcome === "noop" ? "no-op" : row.outcome} /></td>
    <td>${/^t\d+$/.test(name) ? html`<a class="id" href=${`/tasks/${name}`}>${name}</a>`
      : html`<span class="id">${name}</span>`}</td>
    <td class="soft words"><${Words} text=${row.words} /></td>
    <td class="num">${row.run
      && html`<button type="button" class="b bare" aria-label=${`CI log of ${row.run}`}
      onClick=${() => openRunLog(row.run)}>log</button>`}</td></tr>`;
}

function Learnt({queue}) {
  const {run_seconds, samples, slots_real, bad_share, clash_share, flake_share, runs_per_landed,
    failures_to_reject} = queue.learnt;
  const figures = [
    [run_seconds == null ? "unknown" : run_seconds < 10 ? `${run_seconds.toFixed(1)}s` : countdown(run_seconds),
      "one CI run, T"],
    [`${slots_real} of ${queue.slots}`, "slots are real ones"],
    [percent(bad_share), "of changes bad alone, p̂"],
    [percent(clash_share), "clash with another, q̂"],
    [percent(flake_share), "of runs fail for nothing, f̂"],
    runs_per_landed == null ? [grouped(failures_to_reject), "failures reject a change"]
      : [runs_per_landed.toFixed(2), "runs per landed change"],
  ];
  return html`<section class="panel"><header><h2>What it has learnt</h2><span class="end">
    ${samples ? `last ${plural(samples, "run")} that passed` : "no run yet: only what is usual"}</span></header>
    <div class="est">${figures.map(([figure, words]) => html`<div><b>${figure}</b>${words}</div>`)}</div></section>`;
}

function percent(share) {
  const value = share * 100;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} %`;
}

export default {title: () => "Merge queue", view: () => "queue", Page};
