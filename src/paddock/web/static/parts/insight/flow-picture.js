// A picture of what goes where: a column for each step, a bar for each place, a band for each move, each to be clicked.
// It is one stop of the tab key; arrows walk through it.

import {html, useState} from "../../lib/ui.js";
import {grouped, plural} from "../../lib/format.js";
import {Attempts} from "./told.js";

const BAR = 8;
const AGAIN_ROOM = 18;
const STEPS = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1};

/** `chosen` is the name of a band or a place, or null. */
export function FlowPicture({picture, chosen, choose, label}) {
  const {width, height, columns, places, bands} = picture;
  const [last, setLast] = useState(null);
  const names = [...bands.map(nameOfBand), ...places.map(nameOfPlace)];
  const here = names.includes(last) ? last : names[0];
  const foot = picture.again ? AGAIN_ROOM : 0;
  const shared = {chosen, choose, here, visit: setLast};
  return html`<svg class="sank" viewBox=${`0 0 ${width} ${height + foot}`} role="group" aria-label=${label}
    onKeyDown=${walk}>
    ${columns.map(({name, x}) => html`<text class="ct" key=${x} x=${x} y="12">${name}</text>`)}
    ${bands.map((band) => html`<${Pickable} key=${nameOfBand(band)} name=${nameOfBand(band)} words=${band.title}
      ...${shared}><path class=${`f ${band.state}`} d=${band.path} /></${Pickable}>`)}
    ${places.map((place) => html`<${Pickable} key=${nameOfPlace(place)} name=${nameOfPlace(place)}
      words=${placeWords(place)} ...${shared}>
      <${Place} place=${place} /></${Pickable}>`)}
    ${picture.again > 0 && html`<${Again} picture=${picture} />`}
  </svg>`;
}

function walk(event) {
  const by = STEPS[event.key];
  const all = [...event.currentTarget.querySelectorAll(".pick")];
  const at = all.indexOf(document.activeElement);
  if (!by || at < 0) return;
  event.preventDefault();
  all[(at + by + all.length) % all.length].focus();
}

/** What was chosen, with its attempts. It stays chosen while its number changes. */
export function Chosen({picture, chosen, what}) {
  const band = picture.bands.find((one) => nameOfBand(one) === chosen);
  const place = picture.places.find((one) => nameOfPlace(one) === chosen);
  const one = band ?? place;
  if (!one) return html`<p class="about dim">Click a band or a bar to see its ${what}.</p>`;
  return html`<div class="about" aria-live="polite"><b>${band ? band.title : placeWords(place)}</b>
    <${Attempts} names=${one.attempts} count=${one.count} most=${50} /></div>`;
}

/** Not by its place in the list, and without its number: both change while somebody looks. */
function nameOfBand({title, path}) {
  return `band ${title.replace(/: [\d,]+$/, "")} ${path.slice(1, path.indexOf(" "))}`;
}

function nameOfPlace({name, x}) {
  return `place ${name} ${x}`;
}

function placeWords({name, count}) {
  return `${name}: ${grouped(count)}`;
}

/** What can be clicked, and reached with the keyboard. */
function Pickable({name, words, chosen, choose, here, visit, children}) {
  const pick = () => choose(chosen === name ? null : name);
  const press = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    pick();
  };
  return html`<g class="pick" role="button" tabindex=${here === name ? "0" : "-1"} aria-label=${words}
    aria-pressed=${chosen === name ? "true" : "false"} onClick=${pick} onKeyDown=${press}
    onFocus=${() => visit(name)}><title>${words}</title>${children}</g>`;
}

function Place({place: {name, state, count, x, y, height}}) {
  return html`<g class=${state}><rect x=${x} y=${y} width=${BAR} height=${height} rx="2" /></g>
    <text class="ct" x=${x + BAR + 6} y=${y + height / 2 + 4}><tspan class="k">${grouped(count)}</tspan>
      <tspan class="i2" dx="6">${name}</tspan></text>`;
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
