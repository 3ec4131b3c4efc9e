// A sentence from the server: what stands between backticks is code. Always text nodes, never markup.

import {html} from "../lib/ui.js";

export function Words({text}) {
  if (!text?.includes("`")) return text ?? null;
  return text.split("`").map((part, index) => (index % 2 ? html`<code>${part}</code>` : part));
}
