// How the review of a change went: what must hold, what checks and reviewers said, and of which version.

import {Fragment, html} from "../../lib/ui.js";
import {duration, plural} from "../../lib/format.js";
import {Icon, Mark} from "../badge.js";
import {versionOf} from "./findings.js";

const SHOWN = 6;

export function Review({page, changes}) {
  changes.forEach((one) => one.value);
  const verdicts = rowsOf(page.verdicts);
  const checks = rowsOf(page.checks);
  const isUnder = page.task.phase === "reviewing";
  if (page.task.role !== "work" || (!verdicts.length && !checks.length && !isUnder)) return null;
  return html`<section class="panel" aria-label="Review"><header><h2>Review</h2>
    <span class="end">round ${page.round} of ${page.rounds}</span></header>
    <div class="in">
      ${!verdicts.length && !checks.length && html`<p class="dim">Nobody has looked at it yet.</p>`}
      <ul class="ci">
        ${verdicts.slice(0, SHOWN).map((one) => html`<${Verdict} key=${one.seq} verdict=${one} page=${page} />`)}
        ${checks.slice(0, SHOWN).map((one) => html`<${Check} key=${one.seq} check=${one} page=${page} />`)}</ul>
      ${verdicts.length + checks.length > 2 * SHOWN && html`<p class="dim">Earlier ones are in all events.</p>`}
    </div></section>`;
}

function Verdict({verdict, page}) {
  const {by, objects, summary, round, head, findings} = verdict;
  const what = objects ? "objects to" : "lets pass";
  return html`<li class="verdict"><${Mark} of=${objects ? "failed" : "landed"} words=${what} />
    <span class="isolate"><b class="strong">${by}</b> ${what} <span class="mono" title=${head}>
      ${versionOf(page.versions, head)}</span>${findings > 0 && `, ${plural(findings, "finding")}`}
      ${summary && html`<${Fragment}><br /><span class="soft words">${summary}</span></${Fragment}>`}</span>
    <span class="dim">round ${round}</span></li>`;
}

function Check({check, page}) {
  const {name, head, passed, seconds, exit, output} = check;
  const words = passed ? "passed" : exit == null ? "failed" : `failed, exit ${exit}`;
  const about = html`<span class="isolate"><b class="strong">${name === "accept" ? "acceptance" : name}</b> ${words}
    <span class="dim"> on ${versionOf(page.versions, head)}</span></span>`;
  const took = html`<span class="dim">${seconds >= 1 ? duration(seconds) : "<1s"}</span>`;
  const mark = html`<${Mark} of=${passed ? "landed" : "failed"} words=${words} />`;
  if (!output) return html`<li class="verdict">${mark}${about}${took}</li>`;
  return html`<li class="verdict">${mark}<details class="grounds"><summary>${about}<${Icon} name="chev" /></summary>
    <pre class="raw small" tabindex="0" aria-label=${`Output of ${name}`}>${output}</pre></details>${took}</li>`;
}

/** What must hold before the change is accepted; its agent has not seen it. */
export function Acceptance({accept}) {
  if (!accept) return null;
  return html`<section class="panel" aria-label="Acceptance"><header><h2>Acceptance</h2>
    <span class="end">run before its review</span></header>
    <div class="in"><ul class="accept">
      ${accept.commands.map((words) => html`<li key=${words}><code>${words}</code></li>`)}
      ${accept.files.map(({path, lines}) => html`<li key=${path} class="dim isolate">with ${path},
        ${` ${plural(lines, "line")}`}</li>`)}</ul></div></section>`;
}

/** The newest first. */
function rowsOf(table) {
  return [...table.values()].map((row) => row.value).sort((one, other) => other.seq - one.seq);
}
