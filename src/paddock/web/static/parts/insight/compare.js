// Two batches side by side: does one behave differently from the other? For batches that were imported.

import {html, useEffect, useState} from "../../lib/ui.js";
import {getLong} from "../../lib/api.js";
import {plural} from "../../lib/format.js";
import {State} from "../badge.js";
import {Problem} from "../words.js";
import {Batches} from "./paths.js";
import {Cases, Edges, Habits, verdictOf} from "./verdict.js";
import {Attempt, useTold} from "./told.js";

const FLEET = "fleet";

/** Nothing where there is only the fleet. */
export function Compare() {
  const {data} = useTold("traces/labels");
  const labels = data?.labels.map(({label}) => label) ?? [];
  const [picked, setPicked] = useState({});
  const others = labels.filter((label) => label !== FLEET);
  const batch = picked.batch ?? others[0];
  const baseline = picked.baseline ?? others[1] ?? FLEET;
  if (!others.length) return null;
  return html`<div class="top-gap"><div class="compare"><span>Compare</span>
      <${Batches} labels=${labels} label=${batch} words="Batch"
        choose=${(label) => setPicked({batch: label, baseline})} /><span>with</span>
      <${Batches} labels=${labels} label=${baseline} words="Baseline"
        choose=${(label) => setPicked({batch, baseline: label})} /></div>
    ${batch === baseline ? html`<p class="dim">A batch cannot be compared with itself.</p>`
      : html`<${Verdict} key=${`${batch}\n${baseline}`} batch=${batch} baseline=${baseline} />`}</div>`;
}

function Verdict({batch, baseline}) {
  const [{found, problem}, setTold] = useState({});
  useEffect(() => {
    let isOver = false;
    const take = (told) => { if (!isOver) setTold(told); };
    getLong("drift", {batch, baseline}).then((data) => take({found: data}), (error) => take({problem: error}));
    return () => { isOver = true; };
  }, [batch, baseline]);
  if (problem) return html`<p class="bad" role="alert"><${Problem} of=${problem} /></p>`;
  if (!found) return html`<p class="dim">Counting…</p>`;
  const [state, icon, words] = verdictOf(found.verdict);
  return html`<div aria-live="polite"><p><${State} of=${state} icon=${icon} words=${words} /></p>
    <p class="words">${found.sentence.slice(words.length + 2)}</p>
    ${found.tests.length > 0 && html`<${Tests} tests=${found.tests} />`}
    ${found.explanation.habits.length > 0 && html`<${Habits} habits=${found.explanation.habits} />`}
    ${found.explanation.edges.length > 0 && html`<${Edges} edges=${shares(found.explanation.edges)} />`}
    <${Typical} explanation=${found.explanation} batch=${batch} />
    <${Cases} cases=${found.hard_cases} label=${batch} />
    ${found.warnings.map((warning) => html`<p class="dim" key=${warning}>${warning}</p>`)}
    ${found.self_test && html`<p class="dim">Self-test, the baseline split at random: ${
      plural(found.self_test.alarms, "alarm")} in ${found.self_test.splits}, ${found.self_test.sound
      ? "as it should be" : "more than chance explains"}.</p>`}</div>`;
}

function Tests({tests}) {
  return html`<div class="tw"><table class="mid">
    <thead><tr><th>what is compared</th><th class="num">difference</th><th class="num">q</th></tr></thead>
    <tbody>${tests.map((test) => html`<tr key=${test.name}><td class=${test.significant ? "strong" : ""}>${test.words}
      ${test.significant && html`<span class="hide">, significant</span>`}</td>
      <td class="num">${test.difference}</td><td class="num">${figure(test.q)}</td></tr>`)}</tbody></table></div>`;
}

function Typical({explanation: {medoid, outlier}, batch}) {
  const named = (run) => (batch === FLEET ? run : `${batch}/${run}`);
  if (!medoid) return null;
  return html`<p class="dim">Typical of it <${Attempt} name=${named(medoid.run)} />${outlier && html`, farthest from
    the baseline <${Attempt} name=${named(outlier.run)} />`}</p>`;
}

function shares(edges) {
  const bits = edges.reduce((sum, edge) => sum + edge.bits, 0) || 1;
  return edges.slice(0, 5).map((edge) => ({...edge, share: edge.bits / bits}));
}

function figure(number) {
  return number < 0.001 ? "<0.001" : Number(number.toPrecision(2)).toString();
}
