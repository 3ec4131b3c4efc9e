// Named things that somebody has a claim on, since when and until when, and who waits for them.

import {html} from "../../lib/ui.js";
import {clock, countdown} from "../../lib/format.js";
import {request} from "../../lib/requests.js";
import {session} from "../../lib/session.js";
import {Age} from "../age.js";
import {ChangeId} from "../change-id.js";

export function Leases({fleet}) {
  const rows = [...fleet.leases.values()].map((row) => row.value);
  return html`<section class="panel">
    <header><h2>Leases</h2><span class="end">${rows.length} held, ${fleet.waiting} waiting</span></header>
    <div class="in tw">${rows.length
      ? html`<table class="mid"><tr><th>what</th><th>held by</th><th class="num">for</th><th class="num">ends in</th>
          <th class="num">generation</th><th>waiting</th><th><span class="hide">release</span></th></tr>
          ${rows.map((row) => html`<${Lease} key=${row.name} row=${row} />`)}</table>`
      : html`<p class="dim">Nothing is leased. <code>paddock lease acquire port:5432</code> takes one.</p>`}</div>
  </section>`;
}

function Lease({row}) {
  const {name, generation} = row;
  const off = session.value?.read_only ? "true" : null;
  const release = () => request("leases/release", {name, generation}, {done: `${name} released`, about: name});
  return html`<tr>
    <td class="mono">${name === "daemon" ? "daemon of this log" : name}</td>
    <td><${HeldBy} row=${row} /></td>
    <td class="num"><${Age} at=${row.since} /></td>
    <td class="num"><${EndsIn} at=${row.expires} /></td>
    <td class="num dim">${generation}</td>
    <td class="dim">${row.waits.join(", ")}</td>
    <td class="num">${!isOffice(name) && html`<button type="button" class="b bare" aria-disabled=${off}
      aria-label=${`release ${name}`} onClick=${release}>release</button>`}</td>
  </tr>`;
}

/** Of the daemon, or of a node's deputy: whoever takes one away ends their work. */
function isOffice(name) {
  return name === "daemon" || name.startsWith("node:");
}

function HeldBy({row}) {
  return html`<${ChangeId} id=${row.attempt ?? row.holder} task=${row.attempt?.split(".")[0]} />`;
}

function EndsIn({at}) {
  const left = (Date.parse(at) - clock.value) / 1000;
  return html`${left > 0 ? countdown(left) : "ended"}`;
}
