// Did an agent change? The fleet's last batches of attempts, each against those before it.

import {html, useState} from "../../lib/ui.js";
import {dayAndTime, plural} from "../../lib/format.js";
import {State} from "../badge.js";
import {Compare} from "./compare.js";
import {Attempt, Attempts, Panel} from "./told.js";
import {Cases, Edges, verdictOf} from "./verdict.js";

/** `told` is what `useTold` gives of `insight/drift`. */
export function Drift({told}) {
  const drifted = told.data?.drift.drifted;
  const end = drifted ? html`<span class="chip c failed">${plural(drifted, "batch", "batches")}</span>` : "";
  return html`<${Panel} title="Did an agent change?" told=${told} end=${end}
    draw=${({drift}) => html`<div class="in"><${Body} drift=${drift} /><${Compare} /></div>`} />`;
}

function Body({drift: {batches, problem, self_test: selfTest}}) {
  if (problem) return html`<p class="dim">${problem}</p>`;
  if (!batches.length) {
    return html`<p class="dim">Too little data: no batch of attempts was completed in this time. A batch is twenty
      attempts, or those of a day.</p>`;
  }
  return html`${batches.map((batch, index) => html`<${Batch} key=${batch.name} batch=${batch} open=${!index} />`)}
    <p class="dim top-gap">${selfTest ? selfTestWords(selfTest)
      : "Self-test: too few attempts before these to divide."}</p>`;
}

function selfTestWords({splits, alarms, high, sound}) {
  const verdict = sound ? `as it should be: up to ${Math.round(high * 100)} % is chance` : "more than chance explains";
  return `Self-test, one setting split at random: ${plural(alarms, "alarm")} in ${splits}, ${verdict}.`;
}

/** It stays open while newer batches come before it. */
function Batch({batch, open}) {
  const [isOpen] = useState(open && batch.verdict === "drift");
  const [state, icon, words] = verdictOf(batch.verdict);
  return html`<details class="grounds batch" open=${isOpen}>
    <summary><svg class="i" aria-hidden="true"><use href="#chev" /></svg>
      <${State} of=${state} icon=${icon} words=${words} /><span>${batch.name}</span>
      <span class="dim">${[shortWords(batch), batch.ended && dayAndTime(batch.ended).slice(0, 16)].filter(Boolean)
        .join(" · ")}</span></summary>
    <p class="dim">${batch.count} attempts against ${batch.baseline} before them make ${plural(batch.pairs, "pair")}${
      batch.missing_pairs ? `; ${batch.missing_pairs} more would be needed` : ""}</p>
    ${batch.tests.map((test) => html`<p key=${test.name}>${testWords(test)}</p>`)}
    ${batch.edges.length > 0 && html`<${Edges} edges=${batch.edges} />`}
    ${batch.typical && html`<p class="dim">Typical of it <${Attempt} name=${batch.typical} />, farthest from those
      before <${Attempt} name=${batch.odd} /></p>`}
    <${Cases} cases=${batch.hard_cases} />
    <${Attempts} names=${batch.runs} count=${batch.count} />
    ${batch.warnings.map((warning) => html`<p class="dim" key=${warning}>${warning}</p>`)}</details>`;
}

/** What differs, or what is missing. */
function shortWords({verdict, tests, missing_pairs: missing}) {
  if (verdict === "drift") return tests.map(({words}) => words).join(", ");
  return missing ? `${plural(missing, "more pair")} needed` : "";
}

function testWords({words, batch, baseline, difference, q}) {
  const sides = batch == null || baseline == null ? "" : `${figure(baseline)} before, ${figure(batch)} now, `;
  return `${words}: ${sides}${difference}, q = ${figure(q)}`;
}

function figure(number) {
  return Number(number.toPrecision(2)).toString();
}
