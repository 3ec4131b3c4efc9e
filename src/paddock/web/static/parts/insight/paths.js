// The paths of runs, step by step: of the fleet's own attempts, or of a batch that was imported.

import {html, useState} from "../../lib/ui.js";
import {harmless, plural} from "../../lib/format.js";
import {Chosen, FlowPicture} from "./flow-picture.js";
import {Panel, useTold} from "./told.js";

const FLEET = "fleet";

export function Paths({since}) {
  const [picked, setPicked] = useState(null);
  const batches = useTold("traces/labels").data?.labels.map(({label: name}) => name) ?? [];
  const label = picked ?? (batches.length && !batches.includes(FLEET) ? batches[0] : FLEET);
  const told = useTold("insight/paths", {since, label});
  const [chosen, setChosen] = useState(null);
  const labels = told.data?.labels ?? batches;
  const end = html`${told.data && sum(told.data)}
    ${labels.some((one) => one !== FLEET) && html`<${Batches} labels=${labels} label=${label} choose=${setPicked} />`}`;
  return html`<${Panel} title="Steps that runs take" told=${told} end=${end}
    draw=${({picture}) => (picture.attempts
      ? html`<div class="in pic"><${FlowPicture} picture=${picture} chosen=${chosen} choose=${setChosen}
          label=${`Steps of ${plural(picture.attempts, "run")}`} /></div>
        <${Chosen} picture=${picture} chosen=${chosen} what="runs" />`
      : html`<div class="in"><p class="dim">No run has ended in this time.</p></div>`)} />`;
}

function sum({picture, cut}) {
  return `a column is a sixth of each run, ${cut ? "the latest " : ""}${plural(picture.attempts, "run")}`;
}

export function Batches({labels, label, choose, words = "Batch of runs"}) {
  return html`<select class="field small" aria-label=${words} value=${label}
    onChange=${(event) => choose(event.currentTarget.value)}>
    ${[...new Set([FLEET, ...labels])].map((one) => html`<option key=${one} value=${one}>${harmless(one)}
      </option>`)}</select>`;
}
