// Main's line above the slots: the values it took, and those it is expected to take.

import {html} from "../../lib/ui.js";
import {plural} from "../../lib/format.js";
import {TimeLeft} from "../age.js";
import {LEFT, MAIN_Y, boxOf} from "./geometry.js";

/** Marks that are closer than this are one. */
const TOGETHER = 17;
/** How main's last value is drawn: what nobody has tested is not green. */
export const RAILS = {green: "", red: "red"};

/** What lands together is one mark. */
export function MainLine({queue, tips, runs, scale, rows, now}) {
  const byId = new Map(runs.map((run) => [run.run, run]));
  const shown = tips.map((tip) => ({...tip, x: scale.x(Date.parse(tip.at))}))
    .filter((tip) => tip.x >= LEFT && tip.x <= scale.right);
  const foreseen = queue.next.filter((one) => one.at && one.odds != null);
  const next = foreseen.map((one) => ({...one, x: scale.x(Math.max(Date.parse(one.at), now))}));
  const ahead = clustersOf(next.filter((one) => one.x <= scale.right - 4));
  const past = clustersOf(shown, (one, other) => Boolean(one.run) === Boolean(other.run));
  const last = ahead.at(-1)?.x ?? scale.x(now);
  const begin = shown.length && !shown[0].run && !shown[0].by ? shown[0].x : LEFT + 8;
  const since = Math.max(begin, shown.at(-1)?.x ?? begin);
  let labelled = -Infinity;
  const isRoomy = (x, room) => {
    if (x - labelled <= room) return false;
    labelled = x;
    return true;
  };
  return html`<g>
    <text class="ct k" x="0" y=${MAIN_Y + 4}>main</text>
    <path class="rail" d=${`M${begin} ${MAIN_Y}H${since}`} />
    <path class=${`rail ${RAILS[queue.main.state] ?? "unsure"}`}
      d=${`M${since} ${MAIN_Y}H${Math.max(since, scale.x(now))}`} />
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
      ${isFirst ? html`+${count} in <${TimeLeft} at=${one.at} />` : `about +${count}`}</text>`}
  </g>`;
}
