// One alert: how grave it is, what it says, what it rests on, and that somebody knows.

import {html, useState} from "../../lib/ui.js";
import {plural} from "../../lib/format.js";
import {runPath} from "../../lib/route.js";
import {request} from "../../lib/requests.js";
import {session} from "../../lib/session.js";
import {isCutOff} from "../../lib/stream.js";
import {Age} from "../age.js";
import {State} from "../badge.js";
import {Words} from "../words.js";

const SEVERITIES = {page: ["failed", "stop"], ticket: ["blocked", "blocked"], notice: ["queued", "log"]};
const ATTEMPT = /\b(t\d+\.\d+)\b/;

export function Severity({of}) {
  const [state, icon] = SEVERITIES[of] ?? SEVERITIES.notice;
  return html`<${State} of=${state} icon=${icon} words=${of} />`;
}

/** A row of the list of what needs somebody. */
export function AlertRow({alert}) {
  return html`<div class="n notice alert" key=${alert.id} data-alert=${alert.id}>
    <${Severity} of=${alert.severity} />
    <div class="body"><div class="isolate"><span class="id">${alert.id}</span> <${Words} text=${alert.title} /></div>
      <${Grounds} alert=${alert} /></div>
    <span class="age"><${Age} at=${alert.raised} /></span>
    <div class="acts">${alert.state === "open" && html`<${Acknowledge} names=${[alert.id]} />`}</div>
  </div>`;
}

/** `onDone` is called when the server has granted it. */
export function Acknowledge({names, words = "Acknowledge", onDone = () => {}}) {
  const [isSent, setSent] = useState(false);
  const why = session.value?.read_only ? "this page may only read" : isCutOff() ? "the server does not answer" : null;
  const off = why || isSent ? "true" : null;
  const run = async () => {
    if (off) return;
    setSent(true);
    await request("alerts/ack", {alerts: names}, {done: `${names.join(", ")}: acknowledged`, about: names[0]});
    setSent(false);
    onDone();
  };
  return html`<button type="button" class="b" aria-disabled=${off} title=${why} onClick=${run}
    aria-label=${`${words} ${names.length > 1 ? plural(names.length, "alert") : names[0]}`}>${words}</button>`;
}

function Grounds({alert: {evidence, run, episode}}) {
  const back = episode > 1 ? [`came back ${plural(episode - 1, "time")} within a day`] : [];
  const lines = [...evidence, ...back];
  return html`<div class="why">${run && html`<code>${run}</code>`}
    ${lines.length > 0 && html`<details class="grounds"><summary><svg class="i" aria-hidden="true">
      <use href="#chev" /></svg> what says so</summary>
      <ul class="said-so">${lines.map((line, index) => html`<li key=${index}><${Line} text=${line} /></li>`)}</ul>
      </details>`}</div>`;
}

/** Attempts in it lead to what they did. */
function Line({text}) {
  return text.split(ATTEMPT).map((part, index) => (index % 2
    ? html`<a class="link mono" href=${runPath(part)}>${part}</a>` : part));
}
