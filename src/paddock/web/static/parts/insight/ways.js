// The ways that work takes, from a task to main: how many attempts go where, and where they are lost.

import {html, useState} from "../../lib/ui.js";
import {grouped, plural} from "../../lib/format.js";
import {Attempts, Panel, useTold} from "./told.js";

const BAR = 8;
const AGAIN_ROOM = 18;
const DIGIT = 7;

export function Ways({since}) {
  const told = useTold("insight/ways", {since});
  const [chosen, setChosen] = useState(null);
  return html`<${Panel} title="Ways the work takes" told=${told} end="width is how many"
    draw=${({picture}) => (picture.attempts
      ? html`<div class="in pic"><${Picture} picture=${picture} chosen=${chosen} choose=${setChosen} /></div>
        <${Chosen} picture=${picture} chosen=${chosen} />`
      : html`<div class="in"><p class="dim">No attempt was begun in this time.</p></div>`)} />`;
}

function Picture({picture, chosen, choose}) {
  const {width, height, columns, places, bands} = picture;
  const foot = picture.again ? AGAIN_ROOM : 0;
  const label = `Ways of ${plural(picture.tasks, "task")} in ${plural(picture.attempts, "attempt")}`;
  return html`<svg class="sank" viewBox=${`0 0 ${width} ${height + foot}`} role="group" aria-label=${label}>
    ${columns.map(({name, x}) => html`<text class="ct" x=${x} y="12">${name}</text>`)}
    ${bands.map((band, index) => html`<${Pickable} key=${`band ${index}`} name=${`band ${index}`} words=${band.title}
      chosen=${chosen} choose=${choose}><path class=${`f ${band.state}`} d=${band.path} /></${Pickable}>`)}
    ${places.map((place, index) => html`<${Pickable} key=${`place ${index}`} name=${`place ${index}`}
      words=${`${place.name}: ${grouped(place.count)}`} chosen=${chosen} choose=${choose}>
      <${Place} place=${place} /></${Pickable}>`)}
    ${picture.again > 0 && html`<${Again} picture=${picture} />`}
  </svg>`;
}

/** What can be clicked, and reached with the keyboard. */
function Pickable({name, words, chosen, choose, children}) {
  const pick = () => choose(chosen === name ? null : name);
  const press = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    pick();
  };
  return html`<g class="pick" role="button" tabindex="0" aria-label=${words} aria-pressed=${chosen === name ? "true"
    : "false"} onClick=${pick} onKeyDown=${press}><title>${words}</title>${children}</g>`;
}

function Place({place: {name, state, count, x, y, height}}) {
  const figure = grouped(count);
  const middle = y + height / 2 + 4;
  return html`<g class=${state}><rect x=${x} y=${y} width=${BAR} height=${height} rx="2" /></g>
    <text class="ct k" x=${x + BAR + 6} y=${middle}>${figure}</text>
    <text class="ct i2" x=${x + BAR + 12 + figure.length * DIGIT} y=${middle}>${name}</text>`;
}

/** Back from what was tried again to the next attempt. */
function Again({picture: {again, columns, height}}) {
  const from = columns.find(({name}) => name === "review") ?? columns.at(-1);
  const to = columns.find(({name}) => name === "attempt");
  const low = height + 10;
  const right = from.x + BAR / 2;
  const left = to.x + BAR / 2;
  const bend = "a10 10 0 0 1-10";
  return html`<path class="dash again"
      d=${`M${right} ${height - 12}V${low - 10}${bend} 10H${left + 10}${bend}-10V${height - 12}`} />
    <text class="ct" x=${left + 16} y=${low - 6}>${plural(again, "further attempt")} at a task that had one</text>`;
}

function Chosen({picture, chosen}) {
  const [kind, index] = (chosen ?? "").split(" ");
  const one = kind === "band" ? picture.bands[index] : picture.places[index];
  if (!one) return html`<p class="about dim">Click a band or a bar to see its attempts.</p>`;
  const words = kind === "band" ? one.title : `${one.name}: ${grouped(one.count)}`;
  return html`<div class="about" aria-live="polite"><b>${words}</b>
    <${Attempts} names=${one.attempts} count=${one.count} /></div>`;
}
