// The merge queue as a picture: slots over time, trains with their members, what is searched, and main's line above.

import {html, useEffect, useMemo, useRef, useSignal} from "../../lib/ui.js";
import {clock, plural, timeOfDay, timeWithSeconds} from "../../lib/format.js";
import {LEFT, MAIN_Y, ROWS_Y, anchor, densityOf, heightOf, rowsOf, scaleOf, ticksOf} from "./geometry.js";
import {MainLine, RAILS} from "./main-line.js";
import {PlannedBox, RunBox, placePlanned} from "./run-box.js";

const LEAST_WIDTH = 880;
const NOW_ROOM = 62;

/** `runs` are plain rows in the order they began. `chosen` is a signal with the run that the keyboard is on. */
export function Picture({queue, runs, tips, seconds, chosen, hovered, open}) {
  const box = useRef(null);
  const width = useWidth(box);
  const now = useAnchor(seconds);
  const scale = useMemo(() => scaleOf(now, seconds, width), [now, seconds, width]);
  const rows = useMemo(() => rowsOf(queue.rows, runs, queue.planned), [queue.rows, runs, queue.planned]);
  const height = heightOf(rows);
  const moves = queue.planned.some((run) => run.starts);
  // The same elements as before are not compared again: a countdown redraws no run.
  const drawn = useMemo(() => runs.filter(rows.isShown).map((run) => html`<${RunBox} key=${run.run} run=${run}
    scale=${scale} rows=${rows} chosen=${chosen} hovered=${hovered} open=${open} />`), [runs, scale, rows]);
  return html`<div class="in pic late" ref=${box} tabindex="-1">
    <svg viewBox=${`0 0 ${width} ${height}`} role="group" aria-label=${labelOf(queue, runs)}>
    <${Grid} scale=${scale} rows=${rows} now=${now} moves=${moves} />
    <${MainLine} queue=${queue} tips=${tips} runs=${runs} scale=${scale} rows=${rows} now=${now} />
    ${rows.band && html`<${Band} scale=${scale} rows=${rows} runs=${runs} now=${now} />`}
    ${drawn}
    ${placePlanned(queue, runs, clock.peek(), scale).map((run, index) => rows.isShown(run)
      && html`<${PlannedBox} key=${index} run=${run} scale=${scale} rows=${rows} />`)}
    <${Arcs} runs=${runs} scale=${scale} rows=${rows} hovered=${hovered} />
    <${NowLine} scale=${scale} bottom=${rows.bottom} state=${queue.main.state} />
  </svg></div>`;
}

function labelOf(queue, runs) {
  const running = runs.filter((run) => !run.ended).length;
  return `${plural(queue.rows, "CI slot")} over time: ${plural(running, "run")} now, ${plural(runs.length - running,
    "run")} before, ${queue.planned.length} planned`;
}

function useWidth(box) {
  const width = useSignal(1392);
  useEffect(() => {
    const measure = () => {
      const style = getComputedStyle(box.current);
      const inner = box.current.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      if (inner > 0) width.value = Math.max(LEAST_WIDTH, Math.round(inner));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(box.current);
    measure();
    return () => observer.disconnect();
  }, []);
  return width.value;
}

/** Changes when the window moves on, not with every second. */
function useAnchor(seconds) {
  const now = useSignal(anchor(clock.peek(), seconds));
  useEffect(() => clock.subscribe((at) => { now.value = anchor(at, seconds); }), [seconds]);
  return now.value;
}

function Grid({scale, rows, now, moves}) {
  const ahead = scale.x(now);
  const lines = Array.from({length: rows.count}, (_, row) => ROWS_Y + (row + 1) * rows.height + 0.5);
  return html`<g aria-hidden="true">
    ${ticksOf(scale).map(({at, x, withSeconds}) => html`<path class="axis" d=${`M${x} ${ROWS_Y}V${rows.bottom}`} />${
      (moves || at <= now) && !isUnderNow(x, ahead, scale)
        && html`<text class="ct c" x=${x} y=${rows.bottom + 16}>${withSeconds ? timeWithSeconds(at) : timeOfDay(at)}
        </text>`}`)}
    <rect x=${ahead} y=${ROWS_Y} width=${Math.max(0, scale.right - ahead)} height=${rows.bottom - ROWS_Y}
      class="ahead" />
    ${lines.map((y, row) => html`<text class="ct" x="0" y=${y - rows.height / 2 + 3.5}>${rows.name(row)}</text>
      <path class="axis" d=${`M${LEFT} ${y}H${scale.right}`} />`)}
  </g>`;
}

/** The plate of now moves over as much of the axis before the window does. */
function isUnderNow(x, ahead, scale) {
  return x > ahead - NOW_ROOM && x < ahead + scale.step + NOW_ROOM;
}

/** From a failed run to those that search it: always to a neighbour, to all others of the run that is looked at. */
function Arcs({runs, scale, rows, hovered}) {
  const byId = new Map(runs.map((run) => [run.run, run]));
  const below = (slot) => rows.y(slot) + rows.height - (rows.height - rows.box) / 2;
  return runs.filter((run) => run.kind === "search" && rows.isShown(run)).map((run) => {
    const failed = byId.get(run.searched_from);
    if (!failed?.ended || !rows.isShown(failed)) return null;
    const isLookedAt = hovered.value === run.run || hovered.value === failed.run;
    if (!isLookedAt && failed.slot !== run.slot) return null;
    const from = scale.x(Date.parse(failed.ended)) - 8;
    const to = scale.x(Date.parse(run.started)) + 8;
    if (from < LEFT || to < LEFT) return null;
    const low = Math.max(below(failed.slot), below(run.slot)) + 11;
    return html`<path class="search-arc"
      d=${`M${from} ${below(failed.slot)}C${from} ${low} ${to} ${low} ${to} ${below(run.slot)}`} />`;
  });
}

function Band({scale, rows, runs, now}) {
  const {all, bad} = densityOf(scale, runs, now);
  const most = Math.max(...all, 1);
  const {y, height} = rows.band;
  const step = (scale.right - LEFT) / all.length;
  const seen = Math.max(1, Math.ceil((scale.x(now) - LEFT) / step));
  const place = (count, index) => `${(LEFT + (index + 0.5) * step).toFixed(1)},${
    (y + height - (count / most) * (height - 8)).toFixed(1)}`;
  const points = (counts) => counts.slice(0, seen).map(place).join(" ");
  const area = (counts) => `${LEFT},${y + height} ${points(counts)} ${LEFT + (seen - 0.5) * step},${y + height}`;
  return html`<g class="running"><title>${`screens at once, ${most} at most`}</title>
    <text class="ct" x="0" y=${y + 16}>screens</text><text class="ct" x="0" y=${y + 32}>0 to ${most}</text>
    <polygon class="washc" points=${area(all)} /><polyline class="linec" points=${points(all)} />
      <polygon points=${area(bad)} fill="url(#hatch)" /></g>`;
}

function NowLine({scale, bottom, state}) {
  const at = clock.value;
  const since = scale.x(anchor(at, scale.seconds));
  return html`<path class=${`rail ${RAILS[state] ?? "unsure"}`} d=${`M${since} ${MAIN_Y}H${scale.x(at).toFixed(1)}`}
    aria-hidden="true" />
    <g transform=${`translate(${scale.x(at).toFixed(1)} 0)`} aria-hidden="true" class="now-line">
      <path class="axis now" d=${`M0 32V${bottom}`} />
    <rect x="-29" y=${bottom + 3} width="58" height="18" rx="9" class="now-plate" />
      <text class="ct c now-text" x="0" y=${bottom + 16}>now ${timeOfDay(at)}</text></g>`;
}
