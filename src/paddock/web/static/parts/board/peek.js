// Space: what a task is about and what its agent said last, with a line to reply, without leaving the board.

import {html, useEffect, useRef, useState} from "../../lib/ui.js";
import {perform} from "../../lib/actions.js";
import {get} from "../../lib/api.js";
import {taskPath} from "../../lib/route.js";
import {ActionButton} from "../action.js";
import {Age} from "../age.js";
import {Icon, State} from "../badge.js";
import {Words} from "../words.js";

const ENTRIES = 12;
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
      ${task.unblock && html`<p class="soft isolate"><${Words} text=${asCode(task.unblock)} /></p>`}
      ${told.id === task.id && html`<p class="brief isolate">${told.brief}</p>
        <ul class="said">${told.entries.map((entry) => html`<${Said} key=${entry.n} entry=${entry} />`)}</ul>`}
    </div>
    ${task.may.includes("message") && html`<${Reply} id=${task.id} />`}
    <div class="acts foot">
      ${offered.map((action) => html`<${ActionButton} key=${action} action=${action} id=${task.id} showKey />`)}
      <a class="b" href=${taskPath(task.id)}>Open <kbd>enter</kbd></a></div>
  </aside>`;
}

function asCode(text) {
  return text.startsWith("paddock ") ? `\`${text}\`` : text;
}

async function load({id, attempt, attempts}) {
  const [page, said] = await Promise.all([
    get(`tasks/${id}`).catch(() => null),
    attempt || attempts ? get(`tasks/${id}/transcript`, {limit: ENTRIES}).catch(() => null) : null,
  ]);
  return {id, brief: page?.task?.brief ?? "", entries: (said?.entries ?? []).slice(-ENTRIES)};
}

function Said({entry}) {
  const words = entry.text ?? entry.summary ?? entry.title ?? entry.words ?? entry.tool ?? entry.name ?? "";
  return html`<li class="cut"><span class="dim">${entry.type}</span> ${String(words).split("\n", 1)[0].slice(0, 300)}
    </li>`;
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
