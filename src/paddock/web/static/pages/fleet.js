// The fleet: how many agents, which limit is full and until when, and whether today's money lasts.

import {html} from "../lib/ui.js";
import {plural} from "../lib/format.js";
import {request, requestSurely} from "../lib/requests.js";
import {session} from "../lib/session.js";
import {documentOf} from "../lib/state.js";
import {Age} from "../parts/age.js";
import {Icon, State} from "../parts/badge.js";
import {Accounts} from "../parts/fleet/accounts.js";
import {Agents} from "../parts/fleet/agents.js";
import {Cluster} from "../parts/fleet/cluster.js";
import {Group} from "../parts/fleet/group.js";
import {Leases} from "../parts/fleet/leases.js";
import {Limits} from "../parts/fleet/limits.js";
import {Machine, Nodes} from "../parts/fleet/machines.js";
import {usePast} from "../parts/fleet/past.js";
import {Spend} from "../parts/fleet/spend.js";
import {Words} from "../parts/words.js";

function Page() {
  const fleet = documentOf("fleet").value;
  usePast();
  if (!fleet) {
    return html`<main class="page"><div class="head"><div><h1>Fleet</h1>
      <p class="lede">Asking for the fleet…</p></div></div></main>`;
  }
  return html`<main class="page">
    <div class="head"><div><h1>Fleet</h1><p class="lede"><${Words} text=${fleet.words} /></p></div>
      <div class="acts"><${Daemon} fleet=${fleet} /></div></div>
    <div class="f2"><${Agents} fleet=${fleet} /><${Limits} fleet=${fleet} /></div>
    <div class="f3"><${Accounts} fleet=${fleet} /><${Spend} spend=${spendOf(fleet)} />
      <${Machine} fleet=${fleet} /></div>
    <${Group} />
    ${fleet.cluster ? html`<div class="stack"><${Cluster} fleet=${fleet} /><${Leases} fleet=${fleet} /></div>`
      : html`<div class="f2 even"><${Leases} fleet=${fleet} /><${Nodes} fleet=${fleet} /></div>`}
    <p class="hint"><span><kbd>?</kbd>all keys</span></p>
  </main>`;
}

/** What is not at work has no forecast. */
function spendOf({daemon, spend}) {
  return daemon === "running" ? spend : {...spend, forecast_usd: null, per_hour_usd: null};
}

function Daemon({fleet}) {
  const off = session.value?.read_only ? "true" : null;
  if (fleet.daemon === "running") {
    return html`<${State} of="landed" words=${html`daemon up for <${Age} at=${fleet.since} />`} />
      <button type="button" class="b" aria-disabled=${off}
        title="Ends the daemon; agents at work go on, and nothing new starts or lands"
        onClick=${() => request("fleet/down", {}, {done: "the daemon is ending"})}>
        <${Icon} name="pause" />Stop the daemon</button><${StopAll} fleet=${fleet} off=${off} />`;
  }
  return html`${fleet.agents.running > 0 && html`<${StopAll} fleet=${fleet} off=${off} />`}
    <button type="button" class="b main" aria-disabled=${off}
    onClick=${() => request("fleet/up", {}, {done: "the daemon is starting"})}>
    <${Icon} name="fleet" />Start the daemon</button>`;
}

/** The emergency stop: agents work on without a daemon, too. */
function StopAll({fleet, off}) {
  const {running} = fleet.agents;
  const agents = running ? `${plural(running, "agent")} at once` : "";
  const ends = [fleet.daemon === "running" ? "the daemon" : "", agents].filter(Boolean).join(" and ");
  const ask = () => requestSurely("fleet/down", {now: true}, {
    title: "Stop the fleet",
    words: `This ends ${ends}, so that spending stops. Commits and worktrees are kept; the next daemon goes on with `
      + "the tasks.",
    send: "Stop everything now",
    done: ({was_up: wasUp, ended_processes: ended}) => ({
      words: wasUp || ended ? "the fleet is stopped" : "nothing was running",
      hint: ended ? `${plural(ended, "process", "processes")} had no daemon` : "",
    }),
  });
  return html`<button type="button" class="b" aria-disabled=${off} onClick=${ask}
    title="Ends the daemon and every agent process, so that spending stops"><${Icon} name="stop" />Stop the fleet…
    </button>`;
}

export default {title: () => "Fleet", view: () => "fleet", Page};
