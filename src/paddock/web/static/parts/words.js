// A sentence from the server: what stands between backticks is code. Always text nodes, never markup.

import {html} from "../lib/ui.js";

/** A command, or a sentence with commands in it. */
export function Unblock({text}) {
  return text.startsWith("paddock ") ? html`<code>${text}</code>` : html`<${Words} text=${text} />`;
}

export function Words({text}) {
  if (!text?.includes("`")) return text ?? null;
  return text.split("`").map((part, index) => (index % 2 ? html`<code>${part}</code>` : part));
}

/** What the server refused, with what to do. */
export function Problem({of: {message, hint}}) {
  return html`<${Words} text=${message} /> <span class="dim"><${Words} text=${hint} /></span>`;
}
