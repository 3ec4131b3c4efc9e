// The nodes of a cluster: slots, what is at work there, what is wrong, and which tools differ among them.

import {html} from "../../lib/ui.js";
import {bytes, plural, someOf} from "../../lib/format.js";
import {request} from "../../lib/requests.js";
import {session} from "../../lib/session.js";
import {Age} from "../age.js";
import {State} from "../badge.js";
import {Bar} from "../bar.js";
import {ChangeId} from "../change-id.js";

const STATES = {
  up: {of: "landed", words: "up"},
  draining: {of: "approval", words: "draining"},
  drained: {of: "cancelled", words: "drained"},
  problem: {of: "failed", words: "problem"},
  away: {of: "blocked", words: "out of reach"},
};
const RAYS_OWN = ["ray.io/node-id", "paddock-node"];

export function Cluster({fleet}) {
  const rows = [...fleet.cluster_nodes.values()].map((row) => row.value)
    .sort((one, other) => one.name.localeCompare(other.name));
  return html`<section class="panel">
    <header><h2>Nodes</h2><span class="end">${fleet.cluster.words}</span></header>
    <div class="in tw">${!fleet.cluster.is_current && html`<p class="dim">${seenWhere(fleet)}</p>`}
      ${rows.length ? html`<table class="mid"><tr><th>node</th><th>state</th><th>slots</th><th>at work</th>
        <th class="num">load</th><th class="num">memory free</th><th class="num">disk free</th>
        <th class="num">worktrees</th><th><span class="hide">drain</span></th></tr>
        ${rows.map((row) => html`<${ClusterNode} key=${row.name} row=${row} />`)}</table>`
    : html`<p class="dim">Ray at <code>${fleet.cluster.address}</code> offers no agent slots.
        <code>paddock nodes</code> says how a node joins.</p>`}
      <${Drift} drift=${fleet.cluster.drift} /></div>
  </section>`;
}

function seenWhere({daemon, cluster}) {
  return daemon === "running" && cluster.machine
    ? `Slots, labels and tools are known on ${cluster.machine}, where the daemon runs.`
    : "No daemon looks at the nodes: this is what was seen last.";
}

function ClusterNode({row}) {
  const warm = row.worktrees.idle ?? 0;
  const trees = Object.values(row.worktrees).reduce((sum, count) => sum + count, 0);
  return html`<tr><td><b>${row.name}</b><${Labels} labels=${row.labels} /></td>
    <td><${State} ...${STATES[row.state] ?? {of: "plain", words: row.state}} /><${Why} row=${row} /></td>
    <td>${row.slots != null && html`<span class="meter"><${Bar} parts=${[{of: "running", value: row.used}]}
      most=${row.slots} label=${`${row.used} of ${plural(row.slots, "slot")} in use`} />
      <span class="num">${row.used} of ${row.slots}</span></span>`}</td>
    <td><${AtWork} row=${row} /></td>
    <td class="num">${row.load != null && `${row.load.toFixed(1)} of ${row.cores}`}</td>
    <td class="num">${row.free_memory_bytes != null && bytes(row.free_memory_bytes)}</td>
    <td class="num">${row.free_disk_bytes != null && bytes(row.free_disk_bytes)}</td>
    <td class="num">${trees > 0 && `${trees}${warm ? `, ${warm} warm` : ""}`}</td>
    <td class="num"><${DrainButton} row=${row} /></td></tr>`;
}

function Labels({labels}) {
  const shown = Object.entries(labels).filter(([key]) => !RAYS_OWN.includes(key)).sort()
    .map(([key, value]) => value === "true" ? key : `${key}=${value}`);
  return shown.length > 0 && html`<div class="dim">${shown.join(", ")}</div>`;
}

function Why({row}) {
  const {drain, words, away_since: away} = row;
  return html`${words && html`<div class="dim">${words}${away && html`, for <${Age} at=${away} />`}</div>`}
    ${drain && html`<div class="dim">for <${Age} at=${drain.since} />, by ${drain.by}${drain.reason
      && `: ${drain.reason}`}</div>`}`;
}

function AtWork({row}) {
  const some = row.agents.slice(0, 6);
  const left = row.agents.length - some.length;
  return html`${some.map((name) => html`<${ChangeId} key=${name} id=${name} task=${name.split(".")[0]} /> `)}
    ${left > 0 && `and ${left} more `}${row.runs.length > 0 && `CI: ${someOf(row.runs)}`}`;
}

function DrainButton({row}) {
  const {name, drain} = row;
  const off = session.value?.read_only ? "true" : null;
  const nodes = [name];
  const ask = drain
    ? () => request("nodes/reopen", {nodes}, {done: `${name} is used again`, about: name})
    : () => request("nodes/drain", {nodes}, {done: `nothing new starts on ${name}`, about: name});
  return html`<button type="button" class="b bare" aria-disabled=${off} onClick=${ask}
    aria-label=${drain ? `use ${name} again` : `drain ${name}`}
    title=${drain ? "Agents may start there again" : "Nothing new starts there; what is at work goes on"}>
    ${drain ? "use again" : "drain"}</button>`;
}

function Drift({drift}) {
  return drift.length > 0 && html`<div class="top-gap"><h3>Tools differ</h3>${drift.map(({tool, versions}) => html`
    <p key=${tool}>${tool} <span class="dim">${Object.entries(versions).map(([version, nodes]) =>
      `${version || "none"} on ${nodes.join(", ")}`).join("; ")}</span></p>`)}</div>`;
}
