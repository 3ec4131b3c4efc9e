// How many tasks are in each phase. A click shows one phase alone.

import {html} from "../../lib/ui.js";
import {documentOf} from "../../lib/state.js";
import {PHASES} from "../../lib/phases.js";
import {Mark} from "../badge.js";

const GAP_AFTER = "done";

/** Of all tasks, or of one convoy's. */
export function Flow({chosen, base, convoy}) {
  const board = documentOf("board");
  const counts = convoy ? board.field("convoys").value.get(convoy)?.value.counts ?? {} : board.field("counts").value;
  const pathOf = (phase) => (phase ? `${base}?phase=${phase}` : base);
  return html`<nav class="flow panel" aria-label="Phases">${PHASES.map((phase) => html`
    <a href=${pathOf(phase === chosen ? "" : phase)} aria-current=${phase === chosen ? "true" : null}
      data-phase=${phase}>
      <${Mark} of=${phase} words="" /><b>${counts[phase] ?? 0}</b>${phase}</a>
    ${phase === GAP_AFTER && html`<span class="gap" aria-hidden="true"></span>`}`)}</nav>`;
}
