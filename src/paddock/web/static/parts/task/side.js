// Beside the change: what can be done now, CI runs, what it cost, and the facts.

import {Fragment, html} from "../../lib/ui.js";
import {ACTIONS, pendingOf} from "../../lib/actions.js";
import {duration, grouped, money} from "../../lib/format.js";
import {session} from "../../lib/session.js";
import {isCutOff} from "../../lib/stream.js";
import {taskPath} from "../../lib/route.js";
import {Age} from "../age.js";
import {Icon, Mark} from "../badge.js";
import {CopyButton} from "../copy.js";
import {Words} from "../words.js";

const SIGNS = {approve: "approval", reject: "failed", retry: "retry", stop: "stop", cancel: "cancelled", message: "msg",
  edit: "edit", resolve: "split"};
const KEYS = {approve: "a", reject: "r", retry: "t", stop: "s", message: "m", edit: "e"};
const WORDS = {edit: "Edit", cancel: "Cancel", resolve: "Resolve"};
const ORDER = ["approve", "reject", "message", "stop", "retry", "resolve", "edit", "cancel"];
const IN_A_TERMINAL = ["connect", "handback"];
const RESULTS = {pass: "landed", fail: "failed", timeout: "failed", infra: "blocked", cancelled: "cancelled",
  running: "running"};

/** Legal actions with what they do, the others dashed with why not. */
export function YouCan({id, choices, act, main}) {
  const offAll = session.value?.read_only ? "this page may only read" : isCutOff() ? "the server does not answer" : "";
  const isSent = pendingOf(id).value !== "";
  const those = (order) => order.flatMap((action) => choices.filter((choice) => choice.action === action));
  const known = those(ORDER);
  const inTerminal = those(IN_A_TERMINAL).filter((choice) => choice.allowed);
  const legal = known.filter((choice) => choice.allowed && !offAll);
  const not = known.filter((choice) => !choice.allowed || offAll);
  const item = (choice, isOff) => html`<li key=${choice.action}>
    <button type="button" class=${`b${choice.action === main && !isOff ? " main" : ""}`}
    aria-disabled=${isOff ? "true" : null}
      onClick=${() => { if (!isOff) act(choice.action); }} aria-describedby=${`why-${choice.action}`}>
        <${Icon} name=${SIGNS[choice.action]} />${wordsOf(choice.action)}
        ${KEYS[choice.action] && html`<kbd>${KEYS[choice.action]}</kbd>`}</button>
    <span id=${`why-${choice.action}`} class="isolate">
      <${Words} text=${offAll || choice.why} /></span></li>`;
  return html`<section class="panel" aria-label="You can"><header><h2>You can</h2>
    ${isSent && html`<span class="end">sent, not seen in the log yet</span>`}</header>
    <div class="in"><ul class=${`legal${isSent ? " sent" : ""}`}>
      ${legal.map((choice) => item(choice, isSent))}
      ${inTerminal.length > 0 && html`<li class="sub">In a terminal</li>`}
      ${inTerminal.map((choice) => html`<${TerminalCommand} key=${choice.action} id=${id} choice=${choice} />`)}
      ${not.length > 0 && html`<li class="sub">Not now</li>`}
      ${not.map((choice) => item(choice, true))}
    </ul></div></section>`;
}

/** What needs more than a page: the command that does it. */
function TerminalCommand({id, choice}) {
  const command = `paddock ${choice.action} ${id}`;
  return html`<li><${CopyButton} command=${command} />
    <span class="isolate"><code>${command}</code> <${Words} text=${choice.why} /></span></li>`;
}

export function wordsOf(action) {
  return WORDS[action] ?? ACTIONS[action].words;
}

export function CiRuns({page, changes, openRun}) {
  changes.value;
  const runs = [...page.runs.values()].map((row) => row.value).reverse();
  if (!runs.length && !page.failed_ci) return null;
  return html`<section class="panel" aria-label="CI runs"><header><h2>CI runs</h2><span class="end">${runs.length}
    </span></header>
    <div class="in"><ul class="ci">
      ${runs.map((run) => html`<li key=${run.run}><${Mark} of=${RESULTS[run.state] ?? "plain"} words=${run.state} />
      <button type="button" class="id link" onClick=${() => openRun(run.run)} aria-label=${`Log of ${run.run}`}>
        ${run.run}</button>
      <span class="isolate">${run.purpose}${run.members.length > 1 ? ` of ${run.members.length}` : ""}
        ${run.note && html`: <${Words} text=${run.note} />`}</span>
      <span class="dim">${run.seconds == null ? html`<${Age} at=${run.since} />` : duration(run.seconds)}</span></li>`)}
        </ul>
      ${page.failed_ci && html`<${Fragment}><p class="dim gap-top">the end of ${page.failed_ci.run}</p>
        <pre class="raw small" tabindex="0" ref=${toItsEnd}>${page.failed_ci.output.join("\n")}</pre></${Fragment}>`}
    </div></section>`;
}

/** Where it says what failed. */
function toItsEnd(box) {
  if (box) box.scrollTop = box.scrollHeight;
}

export function Cost({cost}) {
  if (cost.usd === null && !cost.input_tokens) return null;
  const total = Math.max(cost.usd ?? 0, cost.limit_usd, 0.000001);
  let at = 0;
  const bars = cost.parts.filter((part) => part.usd).map((part) => {
    const x = at;
    at += part.usd;
    return html`<rect key=${part.attempt} class=${part.state} x=${x} width=${part.usd} height="1" />`;
  });
  return html`<section class="panel" aria-label="Cost"><header><h2>Cost</h2><span class="end"><b class="strong soft">
    ${money(cost.usd) || "unknown"}</b>${cost.limit_usd > 0 && ` of ${money(cost.limit_usd)} an attempt`}</span>
    </header>
    <div class="in">${cost.usd !== null
      && html`<svg class="bar fat" viewBox=${`0 0 ${total} 1`} preserveAspectRatio="none" role="img"
      aria-label=${`${money(cost.usd)} spent`}>${bars}</svg>`}
      <dl class="fact">${cost.parts.map((part) => html`<${Fragment} key=${part.attempt}><dt>${part.attempt}
        , ${part.words}</dt><dd>${money(part.usd) || "unknown"}</dd></${Fragment}>`)}
        ${cost.assumed_usd > 0 && html`<dt>assumed where no price is known</dt><dd>${money(cost.assumed_usd)}</dd>`}
        <dt>tokens read, from a cache</dt><dd>${grouped(cost.input_tokens)}, ${grouped(cost.cached_tokens)}</dd><dt>
          tokens written</dt><dd>${grouped(cost.output_tokens)}</dd></dl></div></section>`;
}

export function Facts({page}) {
  const {task} = page;
  const links = (ids) => ids.map((one, index) => html`${index ? ", " : ""}<a key=${one} href=${taskPath(one)}>${one}
    </a>`);
  const rows = [
    ["added", html`<${Age} at=${task.created} /> ago`],
    ["agent", task.agent],
    ["engine", [...new Set([task.engine, task.model])].filter(Boolean).join(", ")],
    ["attempts", task.attempts > task.attempts_allowed
      ? `${task.attempts}` : `${task.attempts} of ${task.attempts_allowed}`],
    ["branch", page.branch && html`<span class="mono">${page.branch}</span>`],
    ["worktree", page.worktree && html`<span class="mono">${page.worktree.split("/").at(-1)}</span>`],
    ["base", page.base && html`<span class="mono">${page.base.slice(0, 10)}</span>`],
    ["head", task.head && html`<span class="mono">${task.head.slice(0, 10)}</span>`],
    ["kind", task.kind],
    ["role", task.role === "work" ? "" : task.role],
    ["priority", task.priority || ""],
    ["paths", page.paths.join(", ")],
    ["labels", page.labels.join(", ")],
    ["needs", page.needs.join(", ")],
    ["node", page.attempts.at(-1)?.node],
    ["waits for", task.after.length ? links(task.after) : ""],
    ["waits for it", page.dependents.length ? links(page.dependents) : ""],
    ["approved", page.approval && `by ${page.approval.by}${page.approval.message ? `: ${page.approval.message}` : ""}`],
  ];
  return html`<section class="panel" aria-label="Facts"><header><h2>Facts</h2></header><div class="in"><dl class="fact">
    ${rows.filter(([, value]) => value).map(([name, value]) => html`<${Fragment} key=${name}><dt>${name}</dt>
      <dd class="isolate">${value}</dd></${Fragment}>`)}</dl></div></section>`;
}
