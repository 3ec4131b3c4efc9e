// A board without tasks: what to run.

import {html} from "../../lib/ui.js";
import {grouped} from "../../lib/format.js";
import {documentOf} from "../../lib/state.js";
import {pulse} from "../../lib/stream.js";
import {Icon, State} from "../badge.js";
import {openNewTask} from "../new-task.js";
import {Notices} from "./notices.js";

export function EmptyBoard() {
  const notices = documentOf("board").field("notices").value;
  const alerts = documentOf("board").field("alerts").value;
  const {daemon} = pulse.value;
  return html`<section class="panel blank"><h2>Nothing to do yet</h2>
      <p>A task is one piece of work with a brief. It gets a worktree of its own and comes back as one change.</p>
      <pre class="sh" tabindex="0"><i>$</i> paddock add "Type api/customers"${"\n"}<i>$</i> paddock up${
        " ".repeat(24)}<i># starts agents, lands what you approve</i></pre>
      <div class="acts">
        <button type="button" class="b main" onClick=${() => openNewTask()}><${Icon} name="plus" />New task <kbd>n</kbd>
          </button>
        <button type="button" class="b" onClick=${() => openNewTask({isConvoy: true})}>New convoy</button></div>
          </section>
    <div class="two gap-top">
      <section class="panel blank"><h2>Needs you</h2>
        <p>Nobody waits for you. What asks for a person comes here first: approvals, questions, what is stuck.</p>
          </section>
      ${daemon === "running" ? html`<${DaemonUp} />` : html`<${DaemonDown} />`}
    </div>
    ${notices.length > 0 && html`<section class="panel needs gap-top" aria-label="Needs you">
      <${Notices} notices=${notices} alerts=${alerts} /></section>`}`;
}

function DaemonUp() {
  const agents = documentOf("board").field("agents").value;
  return html`<section class="panel blank"><${State} of="landed" words="daemon is running" />
    <p>The first task that is ready starts at once${agents?.cap != null ? `, up to ${agents.cap} agents at a time` : ""}
      .</p></section>`;
}

function DaemonDown() {
  return html`<section class="panel blank"><${State} of="blocked" words="daemon is down" />
    <p>The page shows the log up to event ${grouped(pulse.value.seq)} and you can still add tasks and approve.
      ${" "}Nothing starts or lands until it is up.</p>
    <pre class="sh" tabindex="0"><i>$</i> paddock up</pre></section>`;
}
