// One run, as the dataset has it: how it ended, what it used, its path, and each of its steps.

import {Fragment, html, useEffect, useState} from "../lib/ui.js";
import {getLong} from "../lib/api.js";
import {dayAndTime, duration, grouped, harmless, money, plural} from "../lib/format.js";
import {at} from "../lib/place.js";
import {taskPath} from "../lib/route.js";
import {Icon, State} from "../parts/badge.js";
import {Words} from "../parts/words.js";

const ATTEMPT = /^(t\d+)\.\d+$/;
const MOST_STEPS = 400;
const MOST_SYMBOLS = 200;
const FLEET = "fleet";
const OUTCOMES = {success: ["landed", "landed", "went well"], failure: ["failed", "failed", "failed"]};
const UNDECIDED = ["waiting", "waiting", "not decided"];
const FACTS = {
  verified_last_edit: "tests run after the last edit",
  tests_run: "tests run",
  insertions: "lines added",
  deletions: "lines removed",
  tests_added: "tests added",
  tests_deleted: "tests deleted",
  tests_skipped: "tests skipped",
  asserts_removed: "assertions removed",
  no_verify: "--no-verify used",
  new_dependency: "dependency added",
  gate: "gate",
};

function Page({params: {run}}) {
  const [{trace, problem}, setTold] = useState({});
  useEffect(() => {
    let isOver = false;
    const take = (told) => { if (!isOver) setTold(told); };
    setTold({});
    getLong(`traces/${encodeURIComponent(run)}`, {limit: MOST_STEPS})
      .then((data) => take({trace: data}), (error) => take({problem: error}));
    return () => { isOver = true; };
  }, [run]);
  if (problem) {
    return html`<main class="page"><section class="panel blank">
      <h1 class="isolate"><${Words} text=${problem.message[0].toUpperCase() + problem.message.slice(1)} /></h1>
      <p class="isolate"><${Words} text=${problem.hint} /></p>
      <a class="b main" href=${at("/insight")}>To Insight</a></section></main>`;
  }
  if (!trace) return html`<main class="page" aria-busy="true"><p class="dim">Reading…</p></main>`;
  return html`<${Trace} trace=${trace} />`;
}

function Trace({trace}) {
  const {row} = trace;
  const [state, icon, words] = OUTCOMES[row.outcome] ?? UNDECIDED;
  const task = ATTEMPT.exec(row.run)?.[1];
  const isOwn = row.label === FLEET && task;
  return html`<main class="page">
    <div class="crumb"><a href=${at("/insight")}>Insight</a><span>/</span>
      <span class="mono isolate">${harmless(row.name)}</span></div>
    <div class="head"><div><h1 class="isolate words">${harmless(row.run)}</h1>
        <p class="lede"><${State} of=${state} icon=${icon} words=${words} /> ${lede(row)}</p></div>
      ${isOwn && html`<div class="acts"><a class="b main" href=${taskPath(task)}>Task ${task}</a></div>`}</div>
    ${trace.behind && html`<p class="fyi">The newest attempts are missing: ${trace.behind}</p>`}
    <div class="stack">
      ${(trace.error || trace.tail.length > 0) && html`<${Complaint} trace=${trace} />`}
      <section class="panel"><header><h2>Path</h2><span class="end">${plural(row.steps, "step")}, repeats told
        once</span></header><div class="in"><${Path} path=${trace.path} /></div></section>
      <div class="f2 even">
        <section class="panel"><header><h2>Steps</h2><span class="end">${trace.steps.length < row.steps
          ? `the first ${grouped(trace.steps.length)} of ${grouped(row.steps)}` : ""}</span></header>
          <div class="in"><${Steps} steps=${trace.steps} /></div></section>
        <section class="panel"><header><h2>Facts</h2></header><div class="in"><${Facts} trace=${trace} /></div>
          </section>
      </div></div></main>`;
}

function lede({end_state: end, seconds, usage}) {
  return [end.replaceAll("_", " "), seconds != null && `after ${duration(seconds)}`,
    usage?.cost_usd != null && money(usage.cost_usd)].filter(Boolean).join(" · ");
}

function Complaint({trace: {error, tail}}) {
  return html`<section class="panel"><header><h2>What it ended with</h2></header><div class="in">
    ${error && html`<pre class="raw small" tabindex="0">${harmless(error)}</pre>`}
    ${tail.length > 0 && html`<details class="grounds"><summary><${Icon} name="chev" />
      ${`the last ${plural(tail.length, "line")}`}</summary>
      <pre class="raw small" tabindex="0">${harmless(tail.join("\n"))}</pre></details>`}
    </div></section>`;
}

function Path({path}) {
  if (!path.length) return html`<p class="dim">It took no step.</p>`;
  return html`<ol class="ev flush symbols">${path.slice(0, MOST_SYMBOLS).map((symbol, index) => html`<li key=${index}
    class=${`chip mono${symbol.endsWith("!") ? " c failed" : ""}`}>${harmless(symbol)}</li>`)}
    ${path.length > MOST_SYMBOLS && html`<li class="dim">and ${grouped(path.length - MOST_SYMBOLS)} more</li>`}</ol>`;
}

function Steps({steps}) {
  if (!steps.length) return html`<p class="dim">It took no step.</p>`;
  return html`<div class="tw"><table class="mid flat"><thead><tr><th class="num">at</th><th>step</th>
      <th>on what</th><th class="num">took</th></tr></thead>
    <tbody>${steps.map((step) => html`<${Fragment} key=${step.number}><tr>
      <td class="num">${step.offset == null ? step.number : exact(step.offset)}</td>
      <td class=${`mono nowrap${step.symbol.endsWith("!") ? " bad" : ""}`}>${harmless(step.symbol)}</td>
      <td class="words isolate">${harmless(step.target || step.tool)}
        ${step.error && html`<div class="bad mono">${harmless(step.error)}</div>`}</td>
      <td class="num">${step.seconds == null ? "" : exact(step.seconds)}</td></tr></${Fragment}>`)}</tbody></table>
    </div>`;
}

function Facts({trace}) {
  const {row, facts} = trace;
  const {usage} = row;
  const rows = [
    ["batch", row.label],
    ["task", row.task],
    ["kind", row.kind],
    ["agent", row.agent],
    ["engine", [row.engine, trace.engine_version].filter(Boolean).join(" ")],
    ["model", row.model],
    ["host", trace.host],
    ["account", trace.account],
    ["started", row.started && dayAndTime(row.started)],
    ["ended", row.ended && dayAndTime(row.ended)],
    ["cost", usage && (usage.cost_usd == null ? "unknown" : `${money(usage.cost_usd)}, ${usage.source}`)],
    ["tokens read, from a cache", usage && `${grouped(usage.input)}, ${grouped(usage.cache_read)}`],
    ["tokens written", usage && grouped(usage.output)],
    ["start-up context", trace.startup_tokens != null && `${plural(trace.startup_tokens, "token")}`],
    ["calls of the model", row.model_calls != null && grouped(row.model_calls)],
    ["waited for the provider", trace.waited_seconds > 0 && duration(trace.waited_seconds)],
    ...Object.entries(FACTS).map(([name, words]) => [words, factWords(facts[name])]),
    ["from", trace.source],
  ];
  return html`<dl class="fact">${rows.filter(([, value]) => value).map(([name, value]) => html`<${Fragment} key=${name}>
    <dt>${name}</dt><dd class="isolate">${harmless(value)}</dd></${Fragment}>`)}</dl>`;
}

/** Empty for what nobody knows. */
function factWords(value) {
  if (value == null) return "";
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
}

function exact(seconds) {
  return Math.abs(seconds) < 10 ? `${seconds.toFixed(1)}s` : duration(seconds);
}

export default {title: ({run}) => harmless(run), view: () => null, Page};
