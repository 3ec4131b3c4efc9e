// The merge queue as a picture: slots over time, trains with their members, what is searched, and main's line above.

import {html, useEffect, useMemo, useRef, useSignal} from "../../lib/ui.js";
import {clock, countdown, plural, timeOfDay, timeWithSeconds} from "../../lib/format.js";
import {MAIN_Y, ROWS_Y, LEFT, anchor, boxOf, carsOf, densityOf, fit, heightOf, rowsOf, scaleOf,
  ticksOf} from "./plan.js";

const LEAST_WIDTH = 1040;
const TOGETHER = 17;
const NOW_ROOM = 62;
const NAMES = {screen: "screen", train: "train", search: "search", main: "run of main"};
const ENDS = {pass: "passed", fail: "failed", timeout: "did not end in time", infra: "was lost",
  cancelled: "was cancelled"};
const ICONS = {pass: "landed", fail: "failed", timeout: "failed", infra: "noop", cancelled: "cancelled"};
const RUNNING = {train: "queued", screen: "running", search: "blocked", main: "ready"};

/** `runs` are plain rows in the order they began. `chosen` is a signal with the run that the keyboard is on. */
export function Picture({queue, runs, tips, seconds, chosen, hovered, open}) {
  const box = useRef(null);
  const width = useWidth(box);
  const now = useAnchor(seconds);
  const scale = useMemo(() => scaleOf(now, seconds, width), [now, seconds, width]);
  const rows = useMemo(() => rowsOf(queue.rows, runs), [queue.rows, runs]);
  const height = heightOf(rows);
  const moves = queue.planned.some((run) => run.starts);
  // The same elements as before are not compared again: a countdown redraws no run.
  const drawn = useMemo(() => runs.filter(rows.isShown).map((run) => html`
    <${Run} key=${run.run} run=${run} scale=${scale} rows=${rows} chosen=${chosen} hovered=${hovered} open=${open} />`),
    [runs, scale, rows]);
  return html`<div class="in pic late" ref=${box} tabindex="-1">
    <svg viewBox=${`0 0 ${width} ${height}`} role="group" aria-label=${labelOf(queue, runs)}>
    <${Grid} scale=${scale} rows=${rows} now=${now} moves=${moves} />
    <${MainLine} queue=${queue} tips=${tips} runs=${runs} scale=${scale} rows=${rows} now=${now} />
    ${rows.band && html`<${Band} scale=${scale} rows=${rows} runs=${runs} now=${now} />`}
    ${drawn}
    ${placed(queue, runs, clock.peek(), scale).map((run, index) => rows.isShown(run)
      && html`<${Planned} key=${index} run=${run} scale=${scale} rows=${rows} />`)}
    <${Arcs} runs=${runs} scale=${scale} rows=${rows} hovered=${hovered} />
    <${NowLine} scale=${scale} bottom=${rows.bottom} isRed=${queue.main.state === "red"} />
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

/** Main's line, the values it took, and those it is expected to take. What lands together is one mark. */
function MainLine({queue, tips, runs, scale, rows, now}) {
  const byId = new Map(runs.map((run) => [run.run, run]));
  const shown = tips.map((tip) => ({...tip, x: scale.x(Date.parse(tip.at))})).filter((tip) => tip.x >= LEFT
    && tip.x <= scale.right);
  const next = queue.next.filter((one) => one.at
    && one.title !== "The rest").map((one) => ({...one, x: scale.x(Math.max(Date.parse(one.at), now))}));
  const ahead = clustersOf(next.filter((one) => one.x <= scale.right - 4));
  const past = clustersOf(shown, (one, other) => Boolean(one.run) === Boolean(other.run));
  const last = ahead.at(-1)?.x ?? scale.x(now);
  const begin = shown.length && !shown[0].run && !shown[0].by ? shown[0].x : LEFT + 8;
  let labelled = -Infinity;
  const isRoomy = (x, room) => {
    if (x - labelled <= room) return false;
    labelled = x;
    return true;
  };
  return html`<g>
    <text class="ct k" x="0" y=${MAIN_Y + 4}>main</text>
    <path class=${`rail ${queue.main.state === "red" ? "red" : ""}`}
      d=${`M${begin} ${MAIN_Y}H${Math.max(begin, scale.x(now))}`} />
    ${ahead.length > 0 && html`<path class="rail next" d=${`M${scale.x(now) + 6} ${MAIN_Y}H${last}`} />`}
    ${shown.map((tip) => html`
      <${Lift} key=${tip.commit} tip=${tip} run=${byId.get(tip.run)} scale=${scale} rows=${rows} />`)}
    ${past.map((cluster) => html`
      <${Tips} key=${cluster.all[0].commit} cluster=${cluster} isRoomy=${isRoomy(cluster.x, 64)} />`)}
    ${ahead.map((cluster, index) => html`
      <${NextTips} key=${`next-${index}`} cluster=${cluster} isFirst=${index === 0}
      isRoomy=${isRoomy(cluster.x, index ? 64 : 84)} scale=${scale} />`)}
  </g>`;
}

function clustersOf(marks, belong = () => true) {
  const clusters = [];
  for (const mark of marks) {
    const last = clusters.at(-1);
    if (last && mark.x - last.all[0].x < TOGETHER && belong(last.all[0], mark)) {
      last.all.push(mark);
      last.x = mark.x;
    } else clusters.push({x: mark.x, all: [mark]});
  }
  return clusters;
}

function countOf(marks) {
  return marks.reduce((sum, mark) => sum + mark.members.length, 0);
}

function Lift({tip, run, scale, rows}) {
  if (!run || !rows.isShown(run)) return null;
  const box = boxOf(scale, rows, {slot: run.slot, from: Date.parse(run.started), to: Date.parse(run.ended ?? tip.at)});
  return box && html`<path class=${`lift${run.slot > 1 ? " far" : ""}`}
    d=${`M${box.x + box.width} ${box.y}C${tip.x} ${box.y - 16} ${tip.x} ${MAIN_Y + 22} ${tip.x} ${MAIN_Y + 8}`} />`;
}

function Tips({cluster, isRoomy}) {
  const tip = cluster.all.at(-1);
  const {x} = cluster;
  const commit = tip.commit.slice(0, 7);
  const runs = cluster.all.map((one) => one.run).join(", ");
  const words = tip.run ? `${runs}: ${plural(countOf(cluster.all), "change")} landed, main ${commit}`
    : `main ${commit}${tip.by ? `, moved by ${tip.by}` : ", as it was first seen"}`;
  return html`<g class="tip"><title>${words}</title>
    ${tip.run ? html`<circle cx=${x} cy=${MAIN_Y} r="7" />
      <path d=${`m${x - 3.2} ${MAIN_Y + 0.2} 2.2 2.3 4-4.4`} class="tk" />`
      : html`<rect x=${x - 5} y=${MAIN_Y - 5} width="10" height="10" class=${tip.by ? "foreign" : "foreign seen"} />`}
    ${isRoomy && html`<text class="ct c k" x=${x} y=${MAIN_Y - 14}>
      ${tip.run ? `+${countOf(cluster.all)}` : tip.by ? "moved" : "seen"}</text>
      <text class="ct m" x=${x + (tip.run ? 13 : 24)} y=${MAIN_Y - 10}>${tip.commit.slice(0, 5)}</text>`}
  </g>`;
}

function NextTips({cluster, isFirst, isRoomy, scale}) {
  const one = cluster.all.at(-1);
  const count = countOf(cluster.all);
  const x = Math.min(cluster.x, scale.right - 40);
  return html`<g><title>${`${cluster.all.map((each) => each.title).join(", ")}: ${plural(count, "change")}`}</title>
    <circle cx=${cluster.x} cy=${MAIN_Y} r="6" class="tip-next" />
    ${isRoomy && html`<text class="ct c i2" x=${x} y=${MAIN_Y - 14}>
      ${isFirst ? html`+${count} in <${Left} at=${one.at} />` : `about +${count}`}</text>`}
  </g>`;
}

export function Left({at}) {
  return html`${countdown(Math.max(0, (Date.parse(at) - clock.value) / 1000)) || "0s"}`;
}

function classOf(run) {
  if (!run.ended) return `${RUNNING[run.kind]} go`;
  if (run.result === "fail" || run.result === "timeout") return "failed bad";
  if (run.result === "infra") return "noop old";
  if (run.result === "cancelled") return "cancelled old";
  if (run.kind === "train") return run.landed ? "landed" : "landed old";
  return run.kind === "search" ? "blocked" : "landed old";
}

function membersOf(run) {
  if (!run.members.length) return "main";
  const tries = Math.max(...run.members.map((member) => member.again));
  const again = tries ? `${["", "2nd", "3rd"][tries] ?? `${tries + 1}th`} ` : "";
  return again + run.members.map((member) => member.id).join(" ");
}

function Run({run, scale, rows, chosen, hovered, open}) {
  const started = Date.parse(run.started);
  const until = run.ended ? Date.parse(run.ended)
    : Math.max(Date.parse(run.ends ?? run.started), anchor(clock.peek(), 40));
  const box = boxOf(scale, rows,
    {slot: run.slot, from: started, to: run.ended ? until : Math.max(until, clock.peek())});
  if (!box) return null;
  const isChosen = chosen.value === run.run;
  return html`<g class=${`run ${classOf(run)} ${run.kind}${isChosen ? " chosen" : ""}`} data-run=${run.run}
    role="button" tabindex=${isChosen ? 0 : -1}
    aria-label=${describe(run)} onClick=${() => open(run.run)} onMouseEnter=${() => { hovered.value = run.run; }}
      onMouseLeave=${() => { hovered.value = null; }}
    onFocus=${() => { chosen.value = run.run; hovered.value = run.run; }} onBlur=${() => { hovered.value = null; }}>
    <rect class="box" ...${box} rx=${run.kind === "train" || run.kind === "search" ? 5 : 3} />
    ${!run.ended && html`<${Done} started=${started} box=${box} scale=${scale} />`}
    <${Inside} run=${run} box=${box} />
  </g>`;
}

/** What is over of a run that goes on, one step a second. */
function Done({started, box, scale}) {
  const width = Math.min(box.width, Math.max(0, scale.x(clock.value) - Math.max(scale.x(started), box.x)));
  return html`<rect class="done" x=${box.x + 0.5} y=${box.y + 0.5} width=${Math.max(0, width - 1)}
    height=${box.height - 1} rx="3" />`;
}

function Inside({run, box}) {
  const middle = box.y + box.height / 2 + 4;
  const isTold = run.kind !== "train" || (!run.landed && run.result !== "fail" && run.result !== "timeout");
  const icon = run.ended && isTold && box.width > 26 && box.height > 14 ? ICONS[run.result] : null;
  const split = run.kind === "search" && box.width > 44 && box.height > 14;
  const indent = split ? 20 : 7;
  const room = box.width - indent - 5 - (icon ? 16 : 0);
  if (run.kind === "train" || run.kind === "search") {
    const name = fit(run.run, Math.min(room, 40));
    const start = box.x + indent + (name ? 39 : 0);
    const cars = run.members.length > 1 ? carsOf(run.members.length, start, room - (name ? 39 : 0)) : [];
    const told = run.members.length > 1 ? `×${run.members.length}` : membersOf(run);
    const alone = !cars.length && room > 58 ? fit(told, room - 39) : "";
    return html`${split && html`
      <svg x=${box.x + 5} y=${box.y + box.height / 2 - 6} width="12" height="12" viewBox="0 0 16 16" class="i ico">
      <use href="#split" /></svg>`}
      ${name && html`<text x=${box.x + indent} y=${middle}>${name}</text>`}
      ${cars.map((car, index) => html`
        ${index > 0 && html`<path class="coup" d=${`M${car.x - car.gap} ${box.y + box.height / 2}h${car.gap}`} />`}
        <rect class="car" x=${car.x} y=${box.y + box.height / 2 - 5} width=${car.width} height="10" rx="2" />`)}
      ${alone && html`<text x=${start} y=${middle}>${alone}</text>`}
      ${icon && html`<${EndIcon} name=${icon} box=${box} />`}`;
  }
  const text = fit(membersOf(run), room);
  return html`${text && html`<text x=${box.x + indent} y=${middle}>${text}</text>`}
    ${icon && html`<${EndIcon} name=${icon} box=${box} />`}`;
}

function EndIcon({name, box}) {
  return html`<svg x=${box.x + box.width - 17} y=${box.y + box.height / 2 - 6} width="12" height="12"
    viewBox="0 0 16 16" class="i ico"><use href=${`#${name}`} /></svg>`;
}

/** While nothing moves planned runs have no times: they stand behind now, in their order. */
function placed(queue, runs, now, scale) {
  const usual = (queue.typical_seconds ?? (scale.end - scale.start) / 9000) * 1000;
  const busy = runs.filter((run) => !run.ended).map((run) => [run.slot,
    Math.max(now, Date.parse(run.ends ?? run.started) || now) + usual * 0.05]);
  const free = new Map(busy);
  return queue.planned.map((run) => {
    if (run.starts) return {...run, from: Math.max(Date.parse(run.starts), now),
      to: Math.max(Date.parse(run.ends), now + usual / 2)};
    const from = free.get(run.slot) ?? now + usual * 0.1;
    free.set(run.slot, from + usual * 1.05);
    return {...run, from, to: from + usual};
  });
}

function Planned({run, scale, rows}) {
  const box = boxOf(scale, rows, run);
  if (!box || box.width < 4) return null;
  const what = run.kind === "train" && run.members.length > 1
    ? `train of ${run.starts ? "about " : ""}${run.members.length}` : run.members.join(" ") || "main";
  return html`<g class=${`run plan ${RUNNING[run.kind]}`}><title>
    ${`planned ${NAMES[run.kind]}: ${run.members.join(", ") || "main"}`}</title>
    <rect class="box" ...${box} rx=${run.kind === "train" ? 5 : 3} />
      <text x=${box.x + 7} y=${box.y + box.height / 2 + 4}>${fit(what, box.width - 12)}</text></g>`;
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
  const points = (counts) => counts.slice(0,
    seen).map((count, index) => `${(LEFT + (index + 0.5) * step).toFixed(1)},${(y + height - (count / most) * (height - 8)).toFixed(1)}`).join(" ");
  const area = (counts) => `${LEFT},${y + height} ${points(counts)} ${LEFT + (seen - 0.5) * step},${y + height}`;
  return html`<g class="running"><title>${`screens at once, ${most} at most`}</title>
    <text class="ct" x="0" y=${y + 16}>screens</text><text class="ct" x="0" y=${y + 32}>0 to ${most}</text>
    <polygon class="washc" points=${area(all)} /><polyline class="linec" points=${points(all)} />
      <polygon points=${area(bad)} fill="url(#hatch)" /></g>`;
}

function NowLine({scale, bottom, isRed}) {
  const at = clock.value;
  const since = scale.x(anchor(at, scale.seconds));
  return html`<path class=${`rail ${isRed ? "red" : ""}`} d=${`M${since} ${MAIN_Y}H${scale.x(at).toFixed(1)}`}
    aria-hidden="true" />
    <g transform=${`translate(${scale.x(at).toFixed(1)} 0)`} aria-hidden="true" class="now-line">
      <path class="axis now" d=${`M0 32V${bottom}`} />
    <rect x="-29" y=${bottom + 3} width="58" height="18" rx="9" class="now-plate" />
      <text class="ct c now-text" x="0" y=${bottom + 16}>now ${timeOfDay(at)}</text></g>`;
}

/** What a run is and why it is there, in a sentence. */
export function describe(run) {
  const count = run.members.length;
  const names = run.members.map((member) => member.id);
  const who = count > 6 ? `${names.slice(0, 6).join(", ")} and ${count - 6} more` : names.join(", ");
  const what = {
    train: count === 1 ? `train of ${who} alone` : `train of ${count}: ${who}`,
    screen: count === 1 ? `${run.members[0].again ? "another try of" : "screen of"} ${who} alone`
      : `pool of ${count}: ${who}`,
    search: `${who}, looking for the culprit of ${run.searched_from}`,
    main: "main itself, without any change",
  }[run.kind];
  const end = run.ended ? `${ENDS[run.result] ?? "ended"}${run.landed ? " and landed" : ""}` : run.cancelling
    ? "is being stopped" : "is running";
  return `${run.run}, ${what}; ${end}${run.note && run.ended && run.result !== "pass" ? `: ${run.note}` : ""}`;
}
