// Icons and states: the same shape, word and colour wherever a state is shown.

import {html} from "../lib/ui.js";

/** The colour and the icon of what a task needs a person for. */
const NEEDS = {
  approve: ["approval", "approval"],
  answer: ["approval", "ask"],
  blocked: ["blocked", "blocked"],
  failed: ["failed", "failed"],
};

export function Icon({name}) {
  return html`<svg class="i" aria-hidden="true"><use href=${`#${name}`} /></svg>`;
}

/** Icon and word. `of` sets the colour; `icon` is another shape. */
export function State({of, words = of, icon = of}) {
  return html`<span class=${`st ${of}`}><${Icon} name=${icon} />${words}</span>`;
}

/** The icon alone, with its word for those who cannot see it. */
export function Mark({of, words = of}) {
  return html`<span class=${`ico ${of}`} title=${words}><${Icon} name=${of} /><span class="hide">${words}</span>
    </span>`;
}

export function Need({of}) {
  const [state, icon] = NEEDS[of] ?? ["plain", "blocked"];
  return html`<${State} of=${state} icon=${icon} words=${of} />`;
}

/** `+48 −17`, or a dot where nothing changed. */
export function Change({insertions, deletions}) {
  if (insertions == null && deletions == null) return null;
  if (!insertions && !deletions) return html`<span aria-hidden="true">·</span>`;
  return html`<span class="plus">+${insertions ?? 0}</span> <span class="minus">−${deletions ?? 0}</span>`;
}
