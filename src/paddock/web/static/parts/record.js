// One event with its full body.

import {html, useEffect, useState} from "../lib/ui.js";
import {get} from "../lib/api.js";
import {dayAndTime} from "../lib/format.js";
import {at} from "../lib/place.js";
import {taskPath} from "../lib/route.js";
import {Dialog, openDialog} from "./dialog.js";

const MOST_CHARACTERS = 200_000;

export function openRecord(seq) {
  return openDialog(RecordDialog, {seq});
}

function RecordDialog({seq, close}) {
  const [record, setRecord] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => { get(`log/${seq}`).then(setRecord, setError); }, [seq]);
  const title = `Event ${seq}`;
  return html`<${Dialog} title=${title} close=${close} size="large">
    <header><h2>${title}</h2>${record && html`<span class="chip">${record.kind}</span>`}
      <span class="end">
        <button type="button" class="b" data-first onClick=${() => close(null)}>Close <kbd>esc</kbd></button></span>
          </header>
    <div class="in">
      ${error && html`<p class="bad">${error.message}</p>`}
      ${record && html`<${Facts} record=${record} close=${close} />
        <pre class="sh body" tabindex="0" aria-label="Body">
          ${JSON.stringify(record.body, null, 2).slice(0, MOST_CHARACTERS)}</pre>`}
    </div>
  </${Dialog}>`;
}

function Facts({record, close}) {
  const run = record.body?.run ?? record.body?.run_id;
  return html`${record.words && html`<p class="isolate">${record.words}</p>`}
    <p class="dim facts"><span>${dayAndTime(record.at)}</span><span>by ${record.actor}</span>
      ${record.task && html`<a class="link" href=${taskPath(record.task)} onClick=${() => close(null)}>${record.task}
        </a>`}
      ${record.attempt && html`<span>attempt ${record.attempt}</span>`}
      ${typeof run === "string" && html`<${RunLink} run=${run} close=${close} />`}</p>`;
}

function RunLink({run, close}) {
  const address = at(`/queue?run=${encodeURIComponent(run)}`);
  return html`<a class="link" href=${address} onClick=${() => close(null)}>${run}</a>`;
}
