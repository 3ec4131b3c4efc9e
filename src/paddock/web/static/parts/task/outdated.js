// A decision about a version that is no longer the latest: shows what came since, and asks again.

import {html, useEffect, useState} from "../../lib/ui.js";
import {get} from "../../lib/api.js";
import {ACTIONS, perform} from "../../lib/actions.js";
import {plural} from "../../lib/format.js";
import {taskPath} from "../../lib/route.js";
import {Change} from "../badge.js";
import {Dialog, openDialog} from "../dialog.js";

const LINES_SHOWN = 200;

export function showOutdated(action, refused, text) {
  for (const one of refused.slice(0, 3)) openDialog(OutdatedDialog, {action, refused: one, text});
}

function OutdatedDialog({action, refused, text, close}) {
  const {id, seen, now} = refused;
  const [diff, setDiff] = useState(null);
  const [error, setError] = useState("");
  useEffect(() => {
    get(`tasks/${id}/diff`, {from: seen, to: now}).then(setDiff, (problem) => setError(problem.message));
  }, [id, seen, now]);
  const again = () => {
    close(true);
    perform(action, [id], {message: text, heads: {[id]: now}});
  };
  const title = `${id} has changed since this page showed it`;
  return html`<${Dialog} title=${title} close=${close} size="large">
    <header><h2>${title}</h2><span class="end">${short(seen)} → ${short(now)}</span></header>
    <div class="in">
      <p class="soft">${refused.message}</p>
      ${error && html`<p class="warn">${error}</p>`}
      ${diff && html`<${ShortDiff} diff=${diff} />`}
      <div class="acts gap-top">
        <button type="button" class="b main" onClick=${again}>${ACTIONS[action].words} the new version</button>
        <a class="b" href=${taskPath(id)} onClick=${() => close(null)}>Open ${id}</a>
        <button type="button" class="b" onClick=${() => close(null)}>Cancel</button>
      </div>
    </div>
  </${Dialog}>`;
}

function ShortDiff({diff}) {
  const lines = diff.files.flatMap((file) => [
    {k: "h", t: file.path},
    ...file.hunks.flatMap((hunk) => hunk.lines.filter((line) => line.k !== " ")),
  ]);
  const more = lines.length - LINES_SHOWN;
  const classes = {"+": "d a", "-": "d x", h: "d h"};
  return html`<p class="dim">${plural(diff.files.length, "file")} differ <${Change} ...${diff} /></p>
    <div class="diff short" tabindex="0" role="region" aria-label="What changed">
      ${lines.slice(0, LINES_SHOWN).map((line) => html`<div class=${classes[line.k]}>
        <span>${line.old}</span><span>${line.new}</span><span>${line.k === "h" ? "" : line.k}</span><span>${line.t}
          </span></div>`)}
    </div>
    ${more > 0 && html`<p class="dim">${plural(more, "more line")} on the task’s page</p>`}`;
}

function short(commit) {
  return commit ? commit.slice(0, 10) : "nothing";
}
