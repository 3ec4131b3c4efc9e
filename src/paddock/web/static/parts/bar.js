// Bars, sparks and slots. Geometry is SVG attributes, so that the page needs no inline style.

import {html} from "../lib/ui.js";

/** Parts of a whole, each `{of, value}`, in their states' colours. */
export function Bar({parts, most, label, size = ""}) {
  const total = Math.max(most ?? 0, parts.reduce((sum, part) => sum + part.value, 0)) || 1;
  let x = 0;
  const rects = parts.filter((part) => part.value > 0).map(({of, value}) => {
    const rect = html`<rect class=${of} x=${x} width=${value} height="1" />`;
    x += value;
    return rect;
  });
  return html`<svg class=${`bar ${size}`} viewBox=${`0 0 ${total} 1`} preserveAspectRatio="none" role="img"
    aria-label=${label}>
    ${rects}</svg>`;
}

/** One box for each CI slot; what is filled is the share of its run that is over. */
export function Slots({runs, slots, label}) {
  const count = Math.max(1, slots, runs.length);
  const step = 200 / count;
  const gap = count > 12 ? 1 : 2;
  const width = Math.max(1, step - gap);
  const round = count > 12 ? 1 : 3;
  const boxes = Array.from({length: count}, (_, index) => {
    const run = runs[index];
    const x = index * step;
    return html`<g class=${run ? run.of : "plain"}>
      <rect x=${x} y="0" width=${width} height="14" rx=${round} class="washc" />
      ${run && html`<rect x=${x} y="0" width=${Math.max(1, width * run.share)} height="14" rx=${round} class="fillc"
        opacity=".55" />`}</g>`;
  });
  return html`<svg class="slots" viewBox="0 0 200 14" preserveAspectRatio="none" role="img" aria-label=${label}>${boxes}
    </svg>`;
}

export function Spark({values, of}) {
  const most = Math.max(...values, 1);
  const step = 160 / Math.max(1, values.length - 1);
  const points = values.map((value,
    index) => `${(index * step).toFixed(1)},${(13 - (value / most) * 11).toFixed(1)}`).join(" ");
  return html`<svg class=${`spark ${of}`} viewBox="0 0 160 14" preserveAspectRatio="none" aria-hidden="true">
    <polygon class="washc" points=${`0,14 ${points} 160,14`} />
    <polyline class="linec" points=${points} vector-effect="non-scaling-stroke" /></svg>`;
}
