// Of a task that nobody has worked on: what it waits for, and what its agent will be told.

import {html, useEffect, useState} from "../../lib/ui.js";
import {get} from "../../lib/api.js";
import {FINISHED} from "../../lib/phases.js";
import {taskPath} from "../../lib/route.js";
import {documentOf} from "../../lib/state.js";
import {Age} from "../age.js";
import {Mark} from "../badge.js";
import {Words} from "../words.js";

export function BeforeItStarts({task}) {
  const awaited = task.after.map((id) => html`<${Awaited} key=${id} id=${id} />`);
  return html`<section class="panel" aria-label="Before it starts"><header><h2>Before it starts</h2></header>
    <div class="in">
      ${awaited.length > 0 && html`<ul class="before">${awaited}</ul>`}
      <p class="dim"><${Words} text=${whatIsMissing(task)} /></p></div></section>`;
}

function whatIsMissing({phase, reason}) {
  if (phase === "waiting") return "It starts once all of these are finished and an agent is free.";
  if (phase === "ready") return reason || "It starts as soon as an agent is free.";
  return "No agent has worked on this yet.";
}

function Awaited({id}) {
  const row = documentOf("board").field("tasks").value?.get(id)?.value;
  const link = html`<a class="id" href=${taskPath(id)}>${id}</a>`;
  if (!row) return html`<li><span></span>${link}<span class="dim">finished</span></li>`;
  return html`<li><${Mark} of=${row.phase} />${link}
    <span class="isolate"><a href=${taskPath(id)}>${row.title}</a>
      <span class="dim"> ${row.phase}${!FINISHED.has(row.phase) && html` for <${Age} at=${row.since} />`}
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
