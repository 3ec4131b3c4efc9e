// The first page of a server that shows several repositories: who needs you anywhere, and how each one is.

import {Fragment, html, render, useEffect} from "./lib/ui.js";
import {grouped, money, plural, startClock} from "./lib/format.js";
import {startKeys, useKeys} from "./lib/keys.js";
import {documentOf} from "./lib/state.js";
import {isStale, startStream, watch} from "./lib/stream.js";
import {startTheme} from "./lib/theme.js";
import {Age} from "./parts/age.js";
import {Need, State} from "./parts/badge.js";
import {Dialogs, openDialog} from "./parts/dialog.js";
import {KeyHelp} from "./parts/key-help.js";
import {Standing} from "./parts/repositories.js";
import {Toasts} from "./parts/toast.js";
import {Brand, LogTrouble, Truth} from "./parts/top-bar.js";
import {Words} from "./parts/words.js";

const VIEW = "repositories";
const LINKS = "main a.strong";

function App() {
  useEffect(() => { document.title = "Repositories · Paddock"; }, []);
  useKeys({
    "?": ["all keys", () => openDialog(KeyHelp)],
    j: ["next", () => move(1)],
    k: ["previous", () => move(-1)],
  });
  return html`<${Fragment}>
    <header class="top"><${Brand} /><${Truth} /></header><${LogTrouble} />
    <${Page} /><${Dialogs} /><${Toasts} />
  </${Fragment}>`;
}

function move(step) {
  const links = [...document.querySelectorAll(LINKS)];
  const here = links.indexOf(document.activeElement);
  const next = here < 0 ? (step > 0 ? 0 : links.length - 1) : here + step;
  links[Math.max(0, Math.min(links.length - 1, next))]?.focus();
}

function Page() {
  const told = documentOf(VIEW);
  const rows = told.field("repositories").value;
  if (!rows) return html`<main class="page"><div class="head"><div><h1>Repositories</h1>
    <p class="lede">Asking the repositories…</p></div></div></main>`;
  const inOrder = told.field("order").value.map((name) => rows.get(name)?.value).filter(Boolean);
  return html`<main class="page">
    <div class="head"><div><h1>Repositories</h1><p class="lede"><${Words} text=${told.field("words").value} /></p></div>
    </div>
    <${Needs} rows=${inOrder} />
    <${Table} rows=${inOrder} totals=${told.field("totals").value} />
    <p class="hint">${[["j k", "move"], ["enter", "open"], ["?", "all keys"]].map(([keys, words]) => html`<span>${
      keys.split(" ").map((key) => html`<kbd>${key}</kbd>`)}${words}</span>`)}</p>
  </main>`;
}

/** Of every repository the first few; who has waited longest comes first. */
function Needs({rows}) {
  const needs = rows.flatMap((row) => row.needs.map((need) => ({row, need})));
  needs.sort((one, other) => (one.need.since < other.need.since ? -1 : 1));
  const count = rows.reduce((sum, row) => sum + row.needing, 0);
  if (!needs.length) return null;
  const more = rows.filter((row) => row.needing > row.needs.length);
  return html`<section class="panel needs over" aria-label="Needs you">
    <header><h2>Needs you</h2><span class="dim">${grouped(count)}</span></header>
    ${needs.map(({row, need}) => html`<${NeedRow} key=${`${row.name} ${need.id}`} row=${row} need=${need} />`)}
    ${more.length > 0 && html`<p class="more">${more.map((row, index) => html`${index > 0 && " · "}
      <a class="link" href=${`${row.root}/`}>${row.needing - row.needs.length} more in ${row.name}</a>`)}</p>`}
  </section>`;
}

function NeedRow({row, need}) {
  return html`<div class="n"><${Need} of=${need.need} />
    <div class="body cut">
      <div class="tt"><span class="id">${row.name}</span><a class="cut strong"
        href=${`${row.root}/tasks/${need.id}`}>${need.title}</a></div>
      <div class="why cut"><span class="id">${need.id}</span>${need.reason && html` · <${Words} text=${need.reason} />`}
        </div></div>
    <span class="age"><${Age} at=${need.since} /></span></div>`;
}

function Table({rows, totals}) {
  return html`<section class="panel"><header><h2>All repositories</h2><span class="end">${grouped(rows.length)}</span>
    </header><div class="in tw" tabindex="0" role="group" aria-label="All repositories"><table class="mid">
    <thead><tr><th>repository</th><th>now</th><th class="num">agents</th><th class="num">ready</th>
      <th class="num">spent today</th><th>merge queue</th><th class="num">landed today</th><th>main</th></tr></thead>
    <tbody>${rows.map((row) => html`<${Row} key=${row.name} row=${row} />`)}
      ${totals && html`<tr class="sum"><td>all of them</td><td>${totals.troubles
        ? `${totals.troubles} cannot be read` : totals.needing ? `${totals.needing} need you` : ""}</td>
        <td class="num">${totals.running}</td><td class="num">${totals.ready}</td>
        <td class="num">${money(totals.cost_usd)}</td><td>${totals.queued} queued</td>
        <td class="num">${totals.landed_today}</td><td></td></tr>`}</tbody></table></div></section>`;
}

function Row({row}) {
  const {name, root, folder, trouble, hint, group} = row;
  const title = html`<a class="strong" href=${`${root}/`} title=${folder}>${name}</a>${group
    && html` <span class="dim">group ${group}</span>`}`;
  if (trouble) {
    return html`<tr><td>${title}</td><td colspan="7"><${Standing} row=${row} /> <span><${Words} text=${trouble} />.${
      hint && html` <span class="dim"><${Words} text=${hint} /></span>`}</span></td></tr>`;
  }
  return html`<tr><td>${title}</td><td><a href=${`${root}/`}><${Standing} row=${row} /></a></td>
    <td class="num"><a href=${`${root}/fleet`} title=${row.held_up}>${agentsWords(row)}</a></td>
    <td class="num"><a href=${`${root}/?phase=ready`}>${row.ready}</a></td>
    <td class="num"><a href=${`${root}/fleet`}>${spentWords(row)}</a></td>
    <td><a href=${`${root}/queue`} title=${row.queue_reason}><${Queue} row=${row} /></a></td>
    <td class="num"><a href=${`${root}/queue`}>${row.landed_today}</a></td>
    <td><${Main} row=${row} /></td></tr>`;
}

/** Without a daemon nobody knows what has become of them. */
function agentsWords({daemon, running, cap}) {
  return daemon === "running" ? `${running} of ${cap}` : running ? `${running} when last seen` : "0";
}

function spentWords({cost_usd: cost, budget_usd: budget}) {
  if (cost == null) return budget == null ? "nothing" : `nothing of ${money(budget)}`;
  return budget == null ? money(cost) : `${money(cost)} of ${money(budget)}`;
}

function Queue({row}) {
  if (row.queue === "open") return html`${row.queued} queued`;
  return html`<${State} of="blocked" words=${`${row.queue}, ${plural(row.queued, "change")}`} icon=${
    row.queue === "frozen" ? "freeze" : "pause"} />`;
}

const MAIN = {green: ["landed", "green"], untested: ["waiting", "untested"], red: ["failed", "red"]};

function Main({row}) {
  const [of, words] = MAIN[row.main] ?? ["waiting", "not tested yet"];
  return html`<${State} of=${of} words=${words} />`;
}

function start() {
  startTheme();
  startKeys();
  startClock(isStale);
  watch(null, VIEW);
  render(html`<${App} />`, document.getElementById("app"));
  startStream({hasLog: false});
}

start();
