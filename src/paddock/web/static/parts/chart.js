// Series over time with uPlot. Colours come from the stylesheet's tokens and follow the theme.

import uPlot from "../vendor/uplot.js";
import {html, useEffect, useRef, useSignal} from "../lib/ui.js";
import {theme} from "../lib/theme.js";
import {fitText} from "../lib/format.js";

const sheet = document.createElement("link");
Object.assign(sheet, {rel: "stylesheet", href: "/static/vendor/uplot.css"});
document.head.append(sheet);

const AXIS_WIDTH = 34;
const PAD_RIGHT = 8;

/**
 * `data` is `[times, ...columns]` in seconds, null where nothing is known. `series` are
 * `{label, of, dash, fill, stepped}`; `of` is the name of a colour token.
 */
export function Chart({data, series, height = 220, label}) {
  const box = useRef(null);
  const plot = useRef(null);
  useEffect(() => {
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(box.current, series, height), data, box.current);
    };
    draw();
    const observer = new ResizeObserver(() => {
      const width = box.current?.clientWidth;
      if (width && plot.current && width !== plot.current.width) plot.current.setSize({width, height});
    });
    observer.observe(box.current);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    const unsubscribe = theme.subscribe(() => requestAnimationFrame(() => { if (plot.current) draw(); }));
    return () => {
      observer.disconnect();
      dark.removeEventListener("change", draw);
      unsubscribe();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [series, height]);
  useEffect(() => { plot.current?.setData(data); }, [data]);
  return html`<div class="plot" ref=${box} role="img" aria-label=${label}></div>`;
}

function optionsOf(element, series, height) {
  const colour = colours(element);
  return {
    width: Math.max(200, element.clientWidth),
    height,
    padding: [10, PAD_RIGHT, 0, 0],
    legend: {show: false},
    cursor: {y: false, points: {size: 7}, drag: {x: false, y: false}},
    scales: {x: {time: true}, y: {range: (_, __, most) => [0, Math.max(4, Math.ceil((most ?? 0) * 1.12))]}},
    axes: [axis(colour, {size: 24, grid: {show: false}, values: (_, times) => times.map(clockOf(times))}),
      axis(colour, {size: AXIS_WIDTH, grid: {stroke: colour("line"), width: 1},
      incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]})],
    series: [{}, ...series.map(({label, of, dash, fill, stepped}) => ({
      label,
      stroke: colour(of),
      width: dash ? 1.25 : 1.5,
      dash: dash ? [4, 3] : undefined,
      fill: fill ? mix(colour(of), 0.14) : undefined,
      paths: stepped ? uPlot.paths.stepped({align: -1}) : undefined,
      points: {show: false},
      spanGaps: false,
    }))],
  };
}

function axis(colour, more) {
  return {stroke: colour("ink3"), font: "11px sans-serif", ticks: {show: false}, gap: 6, ...more};
}

/** A canvas knows no `light-dark()`: the computed colour of an element does. */
function colours(element) {
  const probe = document.createElement("span");
  element.append(probe);
  const found = new Map();
  const read = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  return (name) => {
    if (!found.has(name)) {
      if (!probe.isConnected) element.append(probe);
      found.set(name, read(name));
      probe.remove();
    }
    return found.get(name);
  };
}

function mix(colour, alpha) {
  const numbers = colour.match(/[\d.]+/g) ?? [0, 0, 0];
  return `rgba(${numbers[0]}, ${numbers[1]}, ${numbers[2]}, ${alpha})`;
}

function clockOf(times) {
  const isLong = times.length > 1 && times.at(-1) - times[0] > 40 * 3600;
  return (seconds) => {
    const at = new Date(seconds * 1000);
    if (isLong) return `${at.getDate()}.${at.getMonth() + 1}.`;
    return `${String(at.getHours()).padStart(2, "0")}:${String(at.getMinutes()).padStart(2, "0")}`;
  };
}

/** Under the plot, in its time: what it was that held the fleet back, each as long as it did. */
export function Bands({times, values, words, classes, label}) {
  const box = useRef(null);
  const width = useSignal(800);
  useEffect(() => {
    const observer = new ResizeObserver(() => { if (box.current?.clientWidth) width.value = box.current.clientWidth; });
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const first = times[0];
  const whole = times.at(-1) - first || 1;
  const x = (at) => AXIS_WIDTH + ((at - first) / whole) * (width.value - AXIS_WIDTH - PAD_RIGHT);
  return html`<div ref=${box}><svg class="bands" viewBox=${`0 0 ${width.value} 20`} role="img" aria-label=${label}>
    ${spansOf(times, values).map(({from, to, value}) => html`
      <${Span} key=${from} left=${x(from)} right=${x(to)} words=${words(value)} of=${classes(value)} />`)}
  </svg></div>`;
}

function Span({left, right, words, of}) {
  const width = Math.max(3, right - left - 1);
  return html`<g class=${of}><title>${words}</title>
    <rect x=${left} y="0" width=${width} height="20" rx="3" class="washc" />
    <rect x=${left} y="0" width="3" height="20" rx="1" class="fillc" />
    <text x=${left + 8} y="14" class="ct i2">${fitText(words, width - 12)}</text></g>`;
}

function spansOf(times, values) {
  const spans = [];
  for (let index = 0; index < times.length; index += 1) {
    const value = values[index];
    const last = spans.at(-1);
    if (last && last.value === value && last.index === index - 1) Object.assign(last,
      {to: times[index + 1] ?? times[index], index});
    else if (value) spans.push({value, from: times[index], to: times[index + 1] ?? times[index], index});
  }
  return spans;
}

/** A small line without an axis; gaps stay gaps. `most` is what a full height means. */
export function Trace({values, most, of = "ready", label}) {
  const known = values.filter((value) => value != null);
  const top = most ?? Math.max(...known, 1e-9);
  const step = 160 / Math.max(1, values.length - 1);
  const parts = [];
  let part = [];
  values.forEach((value, index) => {
    if (value == null) {
      if (part.length) parts.push(part);
      part = [];
    } else part.push([(index * step).toFixed(1), (26 - Math.min(1, value / top) * 22).toFixed(1)]);
  });
  if (part.length) parts.push(part);
  return html`<svg class=${`spark ${of}`} viewBox="0 0 160 28" preserveAspectRatio="none" role="img"
    aria-label=${label}>
    ${most != null && html`<path class="axis dash" d="M0 4H160" vector-effect="non-scaling-stroke" />`}
    ${parts.map((points) => html`<polygon class="washc" points=${areaUnder(points)} />
      <polyline class="linec" points=${points.join(" ")} vector-effect="non-scaling-stroke" />`)}</svg>`;
}

function areaUnder(points) {
  return `${points[0][0]},28 ${points.join(" ")} ${points.at(-1)[0]},28`;
}
