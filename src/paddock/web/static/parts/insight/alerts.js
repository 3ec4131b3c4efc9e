// Alerts: what waits for somebody, what somebody knows of, and what was lately over.

import {computed, html, useEffect, useState} from "../../lib/ui.js";
import {get} from "../../lib/api.js";
import {plural} from "../../lib/format.js";
import {records} from "../../lib/state.js";
import {Acknowledge, AlertRow, Severity} from "../alerts/alert.js";
import {Age} from "../age.js";
import {Words} from "../words.js";
import {Panel} from "./told.js";

const SHOWN_ENDED = 5;

/** The newest record about an alert: each tells something new of them. */
const newest = computed(() => records.value.findLast(({kind}) => kind.startsWith("alert."))?.seq ?? 0);

export function Alerts() {
  const [told, setTold] = useState({data: null, problem: null});
  const seq = newest.value;
  useEffect(() => {
    let isOver = false;
    get("alerts", {all: true}).then(
      (data) => { if (!isOver) setTold({data, problem: null}); },
      (problem) => { if (!isOver) setTold((before) => ({data: before.data, problem})); },
    );
    return () => { isOver = true; };
  }, [seq]);
  return html`<${Panel} title="Alerts" told=${told} end=${told.data ? sum(told.data) : ""}
    draw=${({alerts}) => html`<${List} alerts=${alerts} />`} />`;
}

function sum({open, alerts}) {
  const known = alerts.filter(({state}) => state === "acknowledged").length;
  const waiting = open ? `${plural(open, "alert")} ${open === 1 ? "waits" : "wait"} for somebody` : "none open";
  return known ? `${waiting}, ${known} acknowledged` : waiting;
}

function List({alerts}) {
  const of = (state) => alerts.filter((alert) => alert.state === state);
  const open = of("open");
  const ended = [...of("expired"), ...of("resolved")].slice(0, SHOWN_ENDED);
  return html`<div class="needs">${open.map((alert) => html`<${AlertRow} key=${alert.id} alert=${alert} />`)}</div>
    ${open.length > 1 && html`<div class="in"><${Acknowledge} names=${open.map(({id}) => id)}
      words="Acknowledge all" /></div>`}
    ${of("acknowledged").map((alert) => html`<${Quiet} key=${alert.id} alert=${alert} at=${alert.acknowledged}
      words=${`${alert.acknowledged_by}${alert.note ? `: ${alert.note}` : ""}`} />`)}
    ${ended.map((alert) => html`<${Quiet} key=${alert.id} alert=${alert} at=${alert.ended}
      words=${`${alert.state}: ${alert.why}`} />`)}
    ${!alerts.length && html`<div class="in"><p class="dim">Nothing is wrong, as far as the rules see:
      ${" "}<code>paddock alerts rules</code></p></div>`}`;
}

function Quiet({alert, at, words}) {
  return html`<p class="fyi quiet"><${Severity} of=${alert.severity} /> <span class="id">${alert.id}</span>
    ${" "}<${Words} text=${alert.title} /> <span class="dim">${words}, <${Age} at=${at} /> ago</span></p>`;
}
