// Ages as text nodes of their own: a tick of the clock changes the text and redraws nothing else.

import {computed, html, useMemo} from "../lib/ui.js";
import {age} from "../lib/format.js";

export function Age({at}) {
  const text = useMemo(() => computed(() => age(at)), [at]);
  return html`${text}`;
}
