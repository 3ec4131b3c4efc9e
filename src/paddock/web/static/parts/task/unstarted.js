// Of a task that nobody has worked on: what it waits for, and what its agent will be told.

import {html, useEffect, useState} from "../../lib/ui.js";
import {get} from "../../lib/api.js";
import {taskPath} from "../../lib/route.js";
import {documentOf} from "../../lib/state.js";
import {Age} from "../age.js";
import {Mark} from "../badge.js";
import {Words} from "../words.js";

const OVER = new Set(["landed", "noop", "cancelled"]);

export function BeforeItStarts({task}) {
  return html`<section class="panel" aria-label="Before it starts"><header><h2>Before it starts</h2></header>
    <div class="in">
      ${task.after.length > 0 && html`<ul class="before">${task.after.map((id) => html`<${Awaited} key=${id} id=${id} />`)}
        </ul>`}
      <p class="dim">${task.after.length && task.phase === "waiting" ? "It starts once all of these have landed and an agent is free."
        : task.phase === "ready" ? html`<${Words} text=${task.reason || "It starts as soon as an agent is free."} />`
          : "No agent has worked on this yet."}</p></div></section>`;
}

function Awaited({id}) {
  const row = documentOf("board").field("tasks").value?.get(id)?.value;
  if (!row) return html`<li><span></span><a class="id" href=${taskPath(id)}>${id}</a><span class="dim">finished</span></li>`;
  return html`<li><${Mark} of=${row.phase} /><a class="id" href=${taskPath(id)}>${id}</a>
    <span class="isolate"><a href=${taskPath(id)}>${row.title}</a>
      <span class="dim"> ${row.phase}${!OVER.has(row.phase) && html` for <${Age} at=${row.since} />`}
        ${row.step && `: ${row.step}`}</span></span></li>`;
}

export function FirstPrompt({id}) {
  const [told, setTold] = useState("Reading …");
  useEffect(() => {
    get(`tasks/${id}/prompt`).then(({text}) => setTold(text), (error) => setTold(error.message));
  }, [id]);
  return html`<section class="panel" aria-label="What its agent will be told">
    <header><h2>What its agent will be told</h2></header><pre class="raw">${told}</pre></section>`;
}
