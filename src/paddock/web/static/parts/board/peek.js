// Space: what a task is about and what its agent said last, with a line to reply, without leaving the board.

import {html, useEffect, useRef, useState} from "../../lib/ui.js";
import {perform} from "../../lib/actions.js";
import {get} from "../../lib/api.js";
import {taskPath} from "../../lib/route.js";
import {joined} from "../../lib/talk.js";
import {ActionButton} from "../action.js";
import {Age} from "../age.js";
import {Icon, State} from "../badge.js";
import {Entry} from "../task/entry.js";
import {Unblock, Words} from "../words.js";

const ENTRIES = 6;
const ASKED = 24;
const TOLD = new Set(["text", "call", "error", "limited"]);
const OFFERED = ["approve", "reject", "retry", "stop"];

export function Peek({row, close}) {
  const task = row.value;
  const [told, setTold] = useState({id: "", brief: "", entries: []});
  useEffect(() => {
    let isGone = false;
    load(task).then((found) => { if (!isGone) setTold(found); });
    return () => { isGone = true; };
  }, [task.id, task.step, task.phase]);
  const offered = OFFERED.filter((action) => task.may.includes(action));
  return html`<aside class="peek panel" aria-label=${`Peek at ${task.id}`}>
    <header><${State} of=${task.phase} /><span class="id">${task.id}</span><h2 class="cut">${task.title}</h2>
      <span class="end"><${Age} at=${task.since} />
        <button type="button" class="b bare" aria-label="Close" onClick=${close}><${Icon} name="close" /></button>
          </span></header>
    <div class="in">
      ${task.reason && html`<p class="soft isolate"><${Words} text=${task.reason} /></p>`}
      ${task.unblock && html`<p class="soft isolate"><${Unblock} text=${task.unblock} /></p>`}
      ${told.id === task.id && html`<p class="brief isolate dim">${told.brief}</p>
        <div class="said">${told.entries.map((entry) => html`<${Entry} key=${entry.n} entry=${entry} />`)}</div>`}
    </div>
    ${task.may.includes("message") && html`<${Reply} id=${task.id} />`}
    <div class="acts foot">
      ${offered.map((action) => html`<${ActionButton} key=${action} action=${action} id=${task.id} showKey />`)}
      <a class="b" href=${taskPath(task.id)}>Open <kbd>enter</kbd></a></div>
  </aside>`;
}

async function load({id, attempt, attempts}) {
  const [page, said] = await Promise.all([
    get(`tasks/${id}`).catch(() => null),
    attempt || attempts ? get(`tasks/${id}/transcript`, {limit: ASKED}).catch(() => null) : null,
  ]);
  const shown = said ? joined([said]).flatMap((part) => part.shown) : [];
  return {id, brief: page?.brief ?? "", entries: shown.filter((entry) => TOLD.has(entry.type)).slice(-ENTRIES)};
}

function Reply({id}) {
  const field = useRef(null);
  const send = async (event) => {
    event.preventDefault();
    const text = field.current.value.trim();
    if (text && (await perform("message", [id], {message: text}))) field.current.value = "";
  };
  return html`<form class="reply" onSubmit=${send}>
    <input class="field" ref=${field} aria-label=${`Message to the agent of ${id}`} placeholder="Reply to the agent"
      autocomplete="off" />
    <button type="submit" class="b">Send</button></form>`;
}
