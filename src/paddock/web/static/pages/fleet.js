// The fleet: how many agents, which limit is full and until when, and whether today's money lasts.

import {html, signal, useEffect, useMemo} from "../lib/ui.js";
import {get, post} from "../lib/api.js";
import {bytes, clock, countdown, money, plural, timeOfDay} from "../lib/format.js";
import {session} from "../lib/session.js";
import {documentOf} from "../lib/state.js";
import {toast, toastRefusal} from "../lib/toasts.js";
import {Age} from "../parts/age.js";
import {Icon, State} from "../parts/badge.js";
import {Bar} from "../parts/bar.js";
import {Bands, Chart, Trace} from "../parts/chart.js";
import {SpendChart} from "../parts/fleet/spend.js";
import {Words} from "../parts/words.js";

const HOURS = [[6, "6h"], [24, "24h"], [168, "7d"]];
const REFRESH_MILLISECONDS = 60_000;
const SERIES = [{label: "running", of: "running", fill: true}, {label: "limit", of: "ink", dash: true, stepped: true}];
const LIMITS = {cap: "cap", load: "machine: load", memory: "machine: memory", disk: "disk", merge_queue: "merge queue",
  breaker: "engine stopped", auth: "credentials",
  window: "quota window", overload: "provider overloaded", per_minute: "throttled", quota: "quota",
    pacing: "starts spaced out", budget: "budget"};
const COLOURS = {cap: "plain", load: "ready", memory: "ready", disk: "ready", merge_queue: "queued"};
const NODES = {well: ["landed", "well"], silent: ["blocked", "silent"], gone: ["failed", "gone"],
  idle: ["cancelled", "no daemon"], away: ["blocked", "out of reach"]};

const hours = signal(6);
const past = signal(null);

function Page() {
  const fleet = documentOf("fleet").value;
  usePast();
  if (!fleet) return html`<main class="page"><div class="head"><div><h1>Fleet</h1><p class="lede">Asking for the fleet…
    </p></div></div></main>`;
  return html`<main class="page">
    <div class="head"><div><h1>Fleet</h1><p class="lede"><${Words} text=${fleet.words} /></p></div><div class="acts">
      <${Daemon} fleet=${fleet} /></div></div>
    <div class="f2"><${Agents} fleet=${fleet} /><${Limits} fleet=${fleet} /></div>
    <div class="f3"><${Accounts} fleet=${fleet} /><${Spend} spend=${fleet.spend} /><${Machine} fleet=${fleet} /></div>
    <div class="f2 even"><${Leases} fleet=${fleet} /><${Nodes} fleet=${fleet} /></div>
    <p class="hint"><span><kbd>?</kbd>all keys</span></p>
  </main>`;
}

/** The hours so far come when asked for, and again every minute; the last figure is always the live one. */
function usePast() {
  useEffect(() => {
    let isOver = false;
    const load = async () => {
      try {
        const told = await get("fleet", {hours: hours.value});
        if (!isOver) past.value = told.series;
      } catch (error) {
        if (!isOver && error.status) toastRefusal(error, "The hours so far");
      }
    };
    load();
    const timer = setInterval(load, REFRESH_MILLISECONDS);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [hours.value]);
}

async function ask(path, body, done) {
  if (session.peek()?.read_only) return;
  try {
    await post(path, body);
    toast({words: done});
  } catch (error) {
    toastRefusal(error);
  }
}

function Daemon({fleet}) {
  const off = session.value?.read_only ? "true" : null;
  if (fleet.daemon === "running") {
    return html`<button type="button" class="b" aria-disabled=${off}
      title="Ends the daemon; agents at work go on, and nothing new starts or lands"
      onClick=${() => ask("fleet/down", {}, "the daemon is ending")}><${Icon} name="pause" />Stop the daemon</button>`;
  }
  return html`<button type="button" class="b main" aria-disabled=${off}
    onClick=${() => ask("fleet/up", {}, "the daemon is starting")}><${Icon} name="fleet" />Start the daemon</button>`;
}

function Agents({fleet}) {
  const data = useMemo(() => columnsOf(past.value), [past.value]);
  const {running, most, cap} = fleet.agents;
  const set = (value) => {
    past.value = null;
    hours.value = value;
  };
  return html`<section class="panel"><header><h2>Agents, and what held them</h2><span class="dim">
    ${running} running${most != null && most !== cap ? `, ${most} could` : ""}</span>
      <span class="end"><span class="seg" role="group" aria-label="Time shown">
        ${HOURS.map(([value, words]) => html`
        <button type="button" aria-pressed=${hours.value === value ? "true" : "false"} onClick=${() => set(value)}>
        ${words}</button>`)}</span></span></header>
    <div class="in">${data ? html`<${Chart} data=${data.plot} series=${SERIES} height=${230} label=${data.label} />
        <${Bands} times=${data.times} values=${data.bound} words=${(value) => LIMITS[value] ?? value}
          classes=${(value) => COLOURS[value] ?? "blocked"} label=${data.held} />
        <p class="keys dim"><span class="st running"><svg width="18" height="10" aria-hidden="true">
          <path d="M0 5H18" class="linec" /></svg>running</span>
          <span class="st"><svg width="18" height="10" aria-hidden="true">
            <path d="M0 5H18" stroke="currentColor" class="dash" /></svg>what the fleet could bear</span>
          ${data.kinds.map((kind) => html`<span class=${`st ${COLOURS[kind] ?? "blocked"}`}>
            <svg width="10" height="10" aria-hidden="true"><rect width="10" height="10" rx="2" class="fillc" /></svg>
            ${LIMITS[kind] ?? kind}</span>`)}</p>`
      : html`<p class="blank dim">
        ${past.value ? "No daemon has looked in these hours. The picture begins when one runs."
        : "Asking for the hours so far…"}</p>`}</div></section>`;
}

function columnsOf(series) {
  if (!series || !series.running.some((value) => value != null)) return null;
  const {at, running, most, bound} = series;
  const kinds = [...new Set(bound.filter(Boolean))];
  const highest = Math.max(...running.filter((value) => value != null));
  const held = kinds.length ? `held back by ${kinds.map((kind) => LIMITS[kind] ?? kind).join(", ")}`
    : "nothing held tasks back";
  return {plot: [at, running, most], times: at, bound, kinds, held,
    label: `Agents over time, ${highest} at most; ${held}`};
}

function Limits({fleet}) {
  return html`<section class="panel"><header><h2>How full each limit is</h2><span class="end">
    ${fleet.limits.some((limit) => limit.binds) ? "the full one binds" : "nothing binds"}</span></header>
    <div class="in"><ol class="ladder">
      ${fleet.limits.map((limit) => html`<${Limit} key=${limit.name + limit.unit} limit=${limit} />`)}</ol></div>
      </section>`;
}

function Limit({limit}) {
  const {name, used, most, amount, words, binds, until, run} = limit;
  const isFull = most != null && used >= most;
  const of = binds ? "blocked" : isFull && most === 0 ? "failed" : "plain";
  const parts = [{of, value: most === 0 ? 1 : Math.min(used, most ?? 0)}];
  return html`<li class=${binds ? "bind" : ""} title=${words}><span class="cut">${name}</span>
    ${most == null ? html`<span class="dim cut">${words}</span>`
    : html`<${Bar} parts=${parts} most=${most || 1} label=${`${name}: ${amount}`} />`}<span class="num">${amount}</span>
    </li>
    ${(binds || (isFull && most === 0))
      && html`<li class="why">${words}${until && html`, until ${timeOfDay(until)}`}${run && html`. <code>${run}</code>`}
      </li>`}`;
}

const ACCOUNTS = {binds: ["blocked", "blocked", "binds"], room: ["landed", "landed", "has room"],
  paused: ["blocked", "pause", "paused"], refused: ["failed", "failed", "refused"]};

function Accounts({fleet}) {
  const names = [...fleet.accounts.keys()];
  return html`<section class="panel"><header><h2>Provider clocks</h2><span class="end">
    ${plural(names.length, "account")}</span></header><div class="in">
    ${names.length ? names.map((name) => html`<${Account} key=${name} row=${fleet.accounts.get(name).value} />`)
      : html`<p class="dim">No engine was used yet. <code>paddock engines check</code> tells which are ready.</p>`}
      </div></section>`;
}

function Account({row}) {
  const [of, icon, words] = ACCOUNTS[row.state] ?? ACCOUNTS.room;
  const bears = row.bears != null && row.state !== "refused" ? `, bears ${row.bears}` : "";
  const needsPerson = row.state === "refused" || row.run;
  return html`<div class="clock"><div class="l"><b class="strong">${row.name}</b><span class="dim">
    ${plural(row.agents, "agent")}${bears}</span><span class="end"><${State} of=${of} icon=${icon} words=${words} />
    </span></div>
    ${row.windows.map((window) => html`<div class="m"><span>${window.name}</span>
      ${window.used ? html`<${Bar} parts=${[{of: window.used >= 0.8 ? "blocked" : "ready", value: window.used}]}
      most=${1} label=${`${window.name}: ${percent(window.used)}`} />` : html`<span></span>`}<span>
      ${window.used ? percent(window.used) : ""}
      ${window.resets ? `, resets ${resets(window.resets)}` : window.words ? ` ${window.words}` : ""}</span></div>`)}
    ${(!row.windows.length || row.state !== "room")
      && html`<span class="dim">${row.words}
      ${row.until && row.state === "paused" ? html`, until ${timeOfDay(row.until)}` : ""}
      ${row.run && html`. <code>${row.run}</code>`}</span>`}
    ${needsPerson && html`<span>
      <button type="button" class="b" onClick=${() => ask("limits/reset", {name: row.name}, `${row.name}: re-enabled`)}>
      Use it again</button></span>`}</div>`;
}

function percent(share) {
  return `${Math.round(share * 100)} %`;
}

function resets(iso) {
  const far = Date.parse(iso) - clock.peek() > 20 * 3600 * 1000;
  const day = new Date(iso).toLocaleDateString("en-GB", {weekday: "short"});
  return far ? `${day} ${timeOfDay(iso)}` : timeOfDay(iso);
}

function Spend({spend}) {
  const total = spend.cost_usd == null ? "nothing" : money(spend.cost_usd);
  return html`<section class="panel"><header><h2>Spent today</h2><span class="end"><b class="strong soft">${total}</b>
    ${spend.per_hour_usd != null && `· ${money(spend.per_hour_usd)} an hour`}
    ${spend.assumed_usd > 0 && ` · ${money(spend.assumed_usd)} assumed`}</span></header><div class="in">
    ${spend.cost_usd == null ? html`<p class="dim">Nothing was spent today.</p>`
      : html`<${SpendChart} spend=${spend} />`}
    ${spend.budget_usd == null
      && html`<p class="dim top-line">No budget of the day: <code>paddock budget set day --usd 20</code></p>`}
    ${spend.convoys.length > 0
      && html`<table class="bud">
      ${spend.convoys.map((row) => html`<tr><td><a href=${`/convoys/${encodeURIComponent(row.name)}`}>${row.name}</a>
      </td>
      <td>${row.budget_usd != null
        && html`<${Bar} parts=${[{of: row.cost_usd > 0.9 * row.budget_usd ? "blocked" : "ready",
        value: Math.min(row.cost_usd, row.budget_usd)}]} most=${row.budget_usd || 1} label=${row.name} />`}</td>
      <td class="num">${money(row.cost_usd)}${row.budget_usd != null && ` of ${money(row.budget_usd)}`}</td></tr>`)}
        </table>`}</div></section>`;
}

function Machine({fleet}) {
  const {machine, worktrees} = fleet;
  const series = past.value;
  return html`<section class="panel"><header><h2>Machine</h2><span class="end">${machine?.host}</span></header>
    <div class="in">
    ${machine ? html`<div class="host">
        <div><span>load</span><${Trace} values=${series?.busy ?? []} most=${1.25} label="load over time" /><span>
          ${(machine.busy * machine.cores).toFixed(1)} of ${plural(machine.cores, "core")}</span></div>
        <div><span>memory</span><${Trace} values=${series?.free_memory_bytes ?? []} label="free memory over time" />
          <span>${bytes(machine.free_memory_bytes)} free</span></div>
        <div><span>disk</span><${Trace} values=${series?.free_disk_bytes ?? []} label="free disk over time" /><span>
          ${bytes(machine.free_disk_bytes)} free</span></div></div>`
      : html`<p class="dim">A daemon looks at the machine; none has run yet.</p>`}
    <dl class="fact top-gap"><dt>worktrees</dt><dd>
      ${worktrees ? `${worktrees.total}, of them ${worktrees.warm} warm and free` : "none"}</dd>
      <dt>in use</dt><dd>${worktrees?.in_use ?? 0}${worktrees?.kept ? `, and ${worktrees.kept} kept for you` : ""}</dd>
      ${machine && html`<dt>looked</dt><dd><${Age} at=${machine.at} /> ago</dd>`}</dl></div></section>`;
}

function Leases({fleet}) {
  const rows = [...fleet.leases.values()].map((row) => row.value);
  const off = session.value?.read_only ? "true" : null;
  return html`<section class="panel"><header><h2>Leases</h2><span class="end">${rows.length} held, ${fleet.waiting} wait
    </span></header><div class="in tw">
    ${rows.length ? html`<table class="mid"><tr><th>what</th><th>held by</th><th class="num">generation</th>
      <th class="num">ends in</th><th>waits</th><th><span class="hide">release</span></th></tr>
      ${rows.map((row) => html`<tr key=${row.name}><td class="mono">
        ${row.name === "daemon" ? "daemon of this log" : row.name}</td><td><${HeldBy} row=${row} /></td>
        <td class="num dim">${row.generation}</td><td class="num"><${EndsIn} at=${row.expires} /></td><td class="dim">
        ${row.waits.join(", ")}</td>
        <td class="num">${row.name !== "daemon"
          && html`<button type="button" class="b bare" aria-disabled=${off} aria-label=${`release ${row.name}`}
          onClick=${() => ask("leases/release", {name: row.name}, `${row.name} released`)}>release</button>`}</td>
          </tr>`)}</table>`
      : html`<p class="dim">Nothing is leased. <code>paddock lease acquire port:5432</code> takes one.</p>`}</div>
        </section>`;
}

function HeldBy({row}) {
  const task = row.attempt?.split(".")[0];
  return task ? html`<a class="id" href=${`/tasks/${encodeURIComponent(task)}`}>${row.attempt}</a>`
    : html`<span class="id">${row.holder}</span>`;
}

function EndsIn({at}) {
  const left = (Date.parse(at) - clock.value) / 1000;
  return html`${left > 0 ? countdown(left) : "ended"}`;
}

function Nodes({fleet}) {
  const rows = [...fleet.nodes.values()].map((row) => row.value);
  return html`<section class="panel"><header><h2>Nodes</h2><span class="end">${rows.length}</span></header>
    <div class="in tw">
    ${rows.length ? html`<table class="mid"><tr><th>node</th><th>state</th><th>agents</th><th class="num">CI runs</th>
      </tr>${rows.map((row) => html`<${Node} key=${row.name} row=${row} cap=${fleet.agents.cap} />`)}</table>`
      : html`<p class="dim">No daemon, no agent and no CI run on any machine. <code>paddock up</code></p>`}</div>
        </section>`;
}

function Node({row, cap}) {
  const [of, words] = NODES[row.state] ?? ["plain", row.state];
  return html`<tr><td>${row.name}${row.here && ", here"}</td><td><${State} of=${of} words=${words} /></td>
    <td><span class="meter"><${Bar} parts=${[{of: "running", value: row.agents}]} most=${cap}
      label=${`${row.agents} agents`} /><span class="num">${row.agents} of ${cap}</span></span></td><td class="num">
      ${row.runs}</td></tr>`;
}

export default {title: () => "Fleet", view: () => "fleet", Page};
