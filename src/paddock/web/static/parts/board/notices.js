// What needs a person and is no task: the sentence, and the command that helps.

import {html} from "../../lib/ui.js";
import {AlertRow} from "../alerts/alert.js";
import {State} from "../badge.js";
import {CopyButton} from "../copy.js";
import {Words} from "../words.js";

/** `alerts` are told one by one, in place of the notice that counts them, as far as they are shown here. */
export function Notices({notices, alerts, isShown = () => true}) {
  const others = notices.filter(({kind}) => kind !== "alerts" || !alerts.length);
  return html`${alerts.filter(isShown).map((alert) => html`<${AlertRow} key=${alert.id} alert=${alert} />`)}
    ${others.map((notice) => html`<${NoticeRow} key=${`${notice.kind} ${notice.text}`} notice=${notice} />`)}`;
}

/** How many rows that makes. */
export function countNotices(notices, alerts) {
  return notices.filter(({kind}) => kind !== "alerts" || !alerts.length).length + alerts.length;
}

function NoticeRow({notice}) {
  return html`<div class="n notice">
    <${State} of="blocked" words="look" />
    <div class="body"><div class="isolate"><${Words} text=${notice.text} /></div>
      <div class="why"><code>${notice.run}</code></div></div>
    <span></span>
    <div class="acts"><${CopyButton} command=${notice.run} /></div>
  </div>`;
}
