// A conflict is resolved by hand: the server opens a worktree for it, this says where and what to do there.

import {html} from "../../lib/ui.js";
import {postLong} from "../../lib/api.js";
import {someOf} from "../../lib/format.js";
import {toast, toastRefusal} from "../../lib/toasts.js";
import {Dialog, openDialog} from "../dialog.js";

export async function openResolve(id) {
  toast({words: `${id}: opening a worktree`});
  try {
    const opened = await postLong(`queue/changes/${encodeURIComponent(id)}/resolve`);
    await openDialog(ResolveDialog, {opened});
  } catch (error) {
    toastRefusal(error, `Resolve ${id}`);
  }
}

function quoted(path) {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function ResolveDialog({opened, close}) {
  const {id, branch, worktree, conflicts, then} = opened;
  const title = `Resolve ${id}`;
  return html`<${Dialog} title=${title} close=${close}>
    <header><h2>${title}</h2></header>
    <div class="in form">
      <p class="wide isolate">This worktree merges main into ${branch}. ${conflicts.length
        ? `It conflicts in ${someOf(conflicts)}.` : "Nothing conflicts any more."}</p>
      <pre class="raw small wide" tabindex="0" aria-label="What to run">${[`cd ${quoted(worktree)}`,
        conflicts.length ? "git add -A && git commit   # once resolved" : "git commit", then].join("\n")}</pre>
      <div class="acts">
        <button type="button" class="b main" data-first onClick=${() => close(null)}>Close</button>
      </div>
    </div>
  </${Dialog}>`;
}
