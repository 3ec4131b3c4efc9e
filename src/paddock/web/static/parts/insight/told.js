// What a panel of the Insight page is told: asked for when it is opened, and again while somebody looks: soon after an
// attempt has ended or something has landed, and every minute.

import {computed, html, useEffect, useState} from "../../lib/ui.js";
import {getLong} from "../../lib/api.js";
import {harmless} from "../../lib/format.js";
import {runPath} from "../../lib/route.js";
import {records} from "../../lib/state.js";
import {Problem, Words} from "../words.js";

const IDLE_MILLISECONDS = 60_000;
const SOONEST_MILLISECONDS = 5_000;
/** What took long to compute is asked for so much more rarely. */
const PATIENCE = 20;
const TELLING = /^(attempt\.ended|queue\.|task\.(approved|rejected|cancelled))/;

/** The newest record that changes what is told here. */
const newest = computed(() => records.value.findLast(({kind}) => TELLING.test(kind))?.seq ?? 0);

/** `{data, problem}`. What was told before stays until there is something newer. */
export function useTold(path, query = {}) {
  const [told, setTold] = useState({data: null, problem: null});
  const key = JSON.stringify(query);
  useEffect(() => follow(() => getLong(path, query), setTold), [path, key]);
  return told;
}

/** One request at a time. Returns what ends it. */
function follow(ask, setTold) {
  let isOver = false;
  let timer = 0;
  let asked = 0;
  let took = 0;
  let seen = 0;
  const load = async () => {
    clearTimeout(timer);
    timer = 0;
    seen = newest.peek();
    asked = performance.now();
    try {
      const data = await ask();
      if (!isOver) setTold({data, problem: null});
    } catch (problem) {
      if (!isOver) setTold((before) => ({data: before.data, problem}));
    }
    took = performance.now() - asked;
    if (!isOver) wait();
  };
  const wait = () => {
    const isNew = newest.peek() !== seen;
    const pause = isNew ? Math.max(SOONEST_MILLISECONDS, PATIENCE * took) : IDLE_MILLISECONDS;
    clearTimeout(timer);
    timer = setTimeout(goOn, Math.max(0, asked + pause - performance.now()));
  };
  const goOn = () => {
    if (document.hidden) timer = setTimeout(goOn, SOONEST_MILLISECONDS);
    else load();
  };
  const forget = newest.subscribe(() => { if (timer && newest.peek() !== seen) wait(); });
  load();
  return () => {
    isOver = true;
    forget();
    clearTimeout(timer);
  };
}

/** A panel of what was told. `draw` gets it; `end` stands at the right of its header. */
export function Panel({title, told: {data, problem}, end = "", draw}) {
  return html`<section class="panel">
    <header><h2>${title}</h2>${end && html`<span class="end">${end}</span>`}</header>
    ${data?.behind && html`<p class="fyi">The newest attempts are missing: <${Words} text=${data.behind} />
      </p>`}
    ${problem && html`<p class="fyi bad" role="alert"><${Problem} of=${problem} /></p>`}
    ${data ? draw(data) : !problem && html`<div class="in"><p class="dim">Counting…</p></div>`}</section>`;
}

/** Attempts by name, each a link to what it did. `count` is how many there are. */
export function Attempts({names, count = names.length, most = 24}) {
  const shown = names.slice(0, most);
  return html`<div class="ev attempts">${shown.map((name) => html`<${Attempt} key=${name} name=${name} />`)}
    ${count > shown.length && html`<span class="dim">and ${count - shown.length} more</span>`}</div>`;
}

export function Attempt({name}) {
  return html`<a class="chip mono" href=${runPath(name)}>${harmless(name)}</a>`;
}
