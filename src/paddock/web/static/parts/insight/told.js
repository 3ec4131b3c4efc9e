// What a panel of the Insight page is told: asked for when it is opened, and again every minute while somebody looks.

import {html, useEffect, useState} from "../../lib/ui.js";
import {getLong} from "../../lib/api.js";
import {taskPath} from "../../lib/route.js";

const REFRESH_MILLISECONDS = 60_000;
const ATTEMPT = /^(t\d+)\.\d+$/;

/** `{data, problem}`. What was told before stays until there is something newer. */
export function useTold(path, query = {}) {
  const [told, setTold] = useState({data: null, problem: null});
  const key = JSON.stringify(query);
  useEffect(() => {
    let isOver = false;
    const load = async () => {
      try {
        const data = await getLong(path, query);
        if (!isOver) setTold({data, problem: null});
      } catch (problem) {
        if (!isOver) setTold((before) => ({data: before.data, problem}));
      }
    };
    load();
    const timer = setInterval(() => { if (!document.hidden) load(); }, REFRESH_MILLISECONDS);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [path, key]);
  return told;
}

/** A panel of what was told. `draw` gets it; `end` stands at the right of its header. */
export function Panel({title, told: {data, problem}, end = "", draw}) {
  return html`<section class="panel">
    <header><h2>${title}</h2>${end && html`<span class="end">${end}</span>`}</header>
    ${data?.behind && html`<p class="fyi">The newest attempts are missing: ${data.behind}</p>`}
    ${problem && html`<p class="fyi bad" role="alert">${problem.message} <span class="dim">${problem.hint}</span></p>`}
    ${data ? draw(data) : !problem && html`<div class="in"><p class="dim">Counting…</p></div>`}</section>`;
}

/** Attempts by name, each a link to its task. `count` is how many there are. */
export function Attempts({names, count = names.length, most = 24}) {
  const shown = names.slice(0, most);
  return html`<div class="ev attempts">${shown.map((name) => html`<${Attempt} key=${name} name=${name} />`)}
    ${count > shown.length && html`<span class="dim">and ${count - shown.length} more</span>`}</div>`;
}

export function Attempt({name}) {
  const task = ATTEMPT.exec(name)?.[1];
  if (!task) return html`<span class="chip mono">${name}</span>`;
  return html`<a class="chip mono" href=${taskPath(task)}>${name}</a>`;
}
