// The repositories of a server that shows several: the list to switch by, and the words for how each one is.

import {html, useEffect, useSignal} from "../lib/ui.js";
import {getShared} from "../lib/api.js";
import {plural} from "../lib/format.js";
import {ownName} from "../lib/place.js";
import {Dialog, hasDialog, openDialog} from "./dialog.js";
import {State} from "./badge.js";
import {Problem} from "./words.js";

export function openRepositories() {
  if (!hasDialog()) openDialog(Repositories);
}

function Repositories({close}) {
  const told = useSignal(null);
  const refused = useSignal(null);
  useEffect(() => {
    getShared("repositories").then((found) => { told.value = found; }, (error) => { refused.value = error; });
  }, []);
  return html`<${Dialog} title="Repositories" close=${close}>
    <header><h2>Repositories</h2><span class="end"><a class="link" href="/">all on one page</a></span></header>
    <div class="in">
      ${refused.value && html`<p role="alert"><${Problem} of=${refused.value} /></p>`}
      ${!told.value && !refused.value && html`<p class="dim">Asking…</p>`}
      ${told.value && html`<ul class="places">${told.value.order.map((name) => html`
        <${Place} key=${name} row=${told.value.repositories[name]} />`)}</ul>`}
    </div></${Dialog}>`;
}

function Place({row}) {
  const isHere = row.name === ownName;
  return html`<li><a href=${`${row.root}/`} aria-current=${isHere ? "true" : null} data-first=${isHere || null}>
    <b class="strong cut">${row.name}</b><span class="dim">${workWords(row)}</span><${Standing} row=${row} /></a></li>`;
}

function workWords({trouble, running, ready}) {
  if (trouble) return "";
  return `${plural(running, "agent")} at work${ready ? `, ${ready} ready` : ""}`;
}

/** The worst that is true of it. */
export function Standing({row}) {
  const {trouble, needing, daemon} = row;
  if (trouble) return html`<${State} of="failed" words="cannot be read" />`;
  if (needing) return html`<${State} of="approval" words=${`${needing} ${needing === 1 ? "needs" : "need"} you`} />`;
  if (daemon !== "running") {
    return html`<${State} of="blocked" words=${daemon === "silent" ? "daemon silent" : "daemon down"} />`;
  }
  return html`<${State} of="landed" words="at work" icon="landed" />`;
}
