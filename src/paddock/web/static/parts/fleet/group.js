// The repositories that share accounts with this one: what each has running and has spent.

import {html, signal, useEffect} from "../../lib/ui.js";
import {getLong} from "../../lib/api.js";
import {money, plural} from "../../lib/format.js";
import {request} from "../../lib/requests.js";
import {session} from "../../lib/session.js";
import {Age} from "../age.js";
import {State} from "../badge.js";
import {Words} from "../words.js";

const REFRESH_MILLISECONDS = 10_000;
const group = signal(null);

function useGroup() {
  useEffect(() => {
    let isOver = false;
    let timer = 0;
    const load = async () => {
      try {
        const told = await getLong("group");
        if (!isOver) group.value = told;
      } catch {
        // What was told last stays: the bar on top tells what is wrong.
      }
      if (!isOver && group.peek()?.group) timer = setTimeout(load, REFRESH_MILLISECONDS);
    };
    load();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, []);
}

export function Group() {
  useGroup();
  const told = group.value;
  if (!told?.group) return null;
  const {repositories: rows, pauses, trouble, hint} = told;
  const isTwice = ({name}) => rows.filter((row) => row.name === name).length > 1;
  return html`<section class="panel group">
    <header><h2>Group ${told.group}</h2><span class="end">${plural(rows.length, "repository", "repositories")} with the
      same accounts</span></header>
    ${trouble && html`<p class="trouble" role="alert"><${State} of="failed" words="Out of reach" />
      <span><${Words} text=${trouble} />. Nothing starts until it is back. ${hint && html`<${Words} text=${hint} />`}
        </span></p>`}
    <div class="in tw">${rows.length
      ? html`<table class="mid"><tr><th>repository</th><th class="num">agents</th><th class="num">waiting</th>
          <th class="num">spent today</th><th class="num">reserved</th><th class="num">told</th>
          <th><span class="hide">forget</span></th></tr>
          ${rows.map((row) => html`<${Member} key=${row.host + row.place} row=${row} isTwice=${isTwice(row)} />`)}
          </table>`
      : !trouble && html`<p class="dim">No daemon of the group has told anything yet.</p>`}
      ${pauses.map((one) => html`<p class="hints" key=${one.account}>Account ${one.account} is paused: ${one.words},
        told by ${one.by}. ${one.run && html`<code>${one.run}</code>`}</p>`)}</div>
  </section>`;
}

/** `isTwice`: another one has the same name. */
function Member({row, isTwice}) {
  const {name, place, host, is_here: isHere, is_own: isOwn} = row;
  const off = session.value?.read_only ? "true" : null;
  const forget = async () => {
    await request("group/forget", {repository: place}, {done: `${name}: forgotten`, about: name});
    group.value = await getLong("group");
  };
  return html`<tr>
    <td title=${place}>${isOwn ? html`<b class="strong">${name}</b>` : name}${!isHere && html` <span class="dim">on ${
      host}</span>`}${isTwice && html` <span class="dim">${place}</span>`}</td>
    <td class="num">${row.agents}</td><td class="num">${row.waiting}</td>
    <td class="num">${money(row.spent_usd)}</td><td class="num">${money(row.reserved_usd)}</td>
    <td class="num"><${Age} at=${row.told} /></td>
    <td class="num">${!isOwn && html`<button type="button" class="b bare" aria-disabled=${off}
      title="For one that is gone for good: its agents and what it has spent no longer count"
      aria-label=${`forget ${name}`} onClick=${forget}>forget</button>`}</td>
  </tr>`;
}
