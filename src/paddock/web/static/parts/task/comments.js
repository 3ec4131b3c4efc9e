// Comments on lines of a change: written where the line is, sent together.

import {html, useLayoutEffect, useRef, useState} from "../../lib/ui.js";
import {post} from "../../lib/api.js";
import {plural} from "../../lib/format.js";
import {toast, toastRefusal} from "../../lib/toasts.js";

/** A draft under its line: open for writing, or folded to its words. */
export function CommentNote({draft, drafts, writing, target, version, write, send}) {
  const words = draft.side === "old" ? `on line ${draft.line} before the change` : `on ${version}, line ${draft.line}`;
  if (!writing) {
    return html`<div class="note" data-comment><div class="by"><span class="strong soft">You</span><span>${words}</span>
      <span class="end">draft, kept in this browser</span></div>
      <p class="words">${draft.text}</p>
      <div class="foot"><span class="acts"><button type="button" class="b bare" onClick=${() => drafts.remove(draft)}>
        Discard</button>
        <button type="button" class="b" onClick=${write}>Edit</button></span></div></div>`;
  }
  return html`<${Writing} ...${{draft, drafts, words, target, write, send}} />`;
}

function Writing({draft, drafts, words, target, write, send}) {
  const [text, setText] = useState(draft.text);
  const field = useRef(null);
  useLayoutEffect(() => field.current.focus(), []);
  const others = drafts.list.value.filter((one) => one.path !== draft.path || one.line !== draft.line
    || one.side !== draft.side);
  const keep = (value) => {
    setText(value);
    drafts.put({...draft, text: value});
  };
  const discard = () => {
    drafts.remove(draft);
    write(null);
  };
  const onKeyDown = (event) => {
    if (event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      event.stopPropagation();
      write(null);
    }
  };
  const count = others.length + (text.trim() ? 1 : 0);
  return html`<div class="note" data-comment>
    <div class="by"><span class="strong soft">You</span><span>${words}</span><span class="end">
      draft, kept in this browser</span></div>
    <textarea class="write" ref=${field} aria-label=${`Comment ${words}`} value=${text} onKeyDown=${onKeyDown}
      onInput=${(event) => keep(event.currentTarget.value)}></textarea>
    <div class="foot"><span>${count > 0
      && `${plural(count, "comment")} ${count === 1 ? "goes" : "go"} to ${target} as one message`}</span>
      <span class="acts"><button type="button" class="b bare" onClick=${discard}>Discard</button>
        <button type="button" class="b" disabled=${!text.trim()} onClick=${() => write(null)}>Add <kbd>Ctrl ↵</kbd>
          </button>
        <button type="button" class="b main" disabled=${!count} onClick=${() => send("message")}>
          ${count > 1 ? `Send ${count === 2 ? "both" : `all ${count}`}` : "Send"}</button></span></div>
  </div>`;
}

/** What is written so far, at the head of the change: where it goes, and how. */
export function DraftBar({drafts, target, may, send, show}) {
  const {length} = drafts.list.value;
  if (!length) return null;
  return html`<div class="drafts" role="status">
    <span>${plural(length, "comment")} not sent yet</span>
    <span class="acts"><button type="button" class="b bare" onClick=${show}>Show <kbd>n</kbd></button>
      <button type="button" class="b" aria-disabled=${may.includes("message") ? null : "true"}
        onClick=${() => send("message")}
        title=${may.includes("message") ? `to ${target}, as one message` : `${target} cannot be told anything now`}>
          Send as one message</button>
      ${may.includes("reject") && html`<button type="button" class="b main" onClick=${() => send("reject")}>
        Reject with ${length === 1 ? "it" : "them"}</button>`}</span>
  </div>`;
}

/**
 * Sends all drafts of a task as one message, or with a rejection. Resolves to null when that was done, else to the
 * refusal; drafts stay where they are then.
 */
export async function sendDrafts({id, drafts, head, then, message = ""}) {
  const comments = drafts.list.peek().map(({path, line, side, text, quote}) => ({path, line, side, text,
    quote: (quote ?? "").slice(0, 400)}));
  const refusal = await refusalOf(post(`tasks/${id}/comments`, {head, comments, then, message}));
  if (refusal) {
    if (refusal.code !== "outdated") toastRefusal(refusal, `Comments on ${id}`);
    return refusal;
  }
  drafts.clear();
  toast({words: `${id} ${then === "reject" ? "rejected with" : "sent"} ${plural(comments.length, "comment")}`});
  return null;
}

async function refusalOf(asked) {
  try {
    const {refused} = await asked;
    return refused[0] ?? null;
  } catch (error) {
    return error;
  }
}
