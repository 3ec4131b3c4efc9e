// Long lists: only the rows near the window are there. All rows have the same height, so positions are arithmetic.

import {html, useLayoutEffect, useRef, useState} from "../lib/ui.js";

const SPARE_ROWS = 16;
const STEP_ROWS = 8;
const FIRST_ROWS = 8;

/**
 * `keys` in order; `draw(key)` gives one row, which must carry that key. Below `threshold` rows all are drawn.
 * `pinned` is a key that is scrolled to when it changes. `scroller` is a ref to the box that scrolls, else the window.
 */
export function VirtualRows({keys, draw, threshold = 24, pinned = null, scroller = null}) {
  const box = useRef(null);
  const [range, setRange] = useState({first: 0, last: FIRST_ROWS, height: 32});
  const isLong = keys.length > threshold;
  const count = useRef(0);
  count.current = keys.length;
  useLayoutEffect(() => {
    if (!isLong) return undefined;
    const measure = () => setRange((old) => rangeOf(box.current, scroller?.current, count.current, old));
    const target = scroller?.current ?? window;
    let frame = 0;
    const later = () => { frame ||= requestAnimationFrame(() => { frame = 0; measure(); }); };
    later();
    const observer = new ResizeObserver(later);
    observer.observe(scroller ? box.current : document.body);
    target.addEventListener("scroll", later, {passive: true});
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      target.removeEventListener("scroll", later);
    };
  }, [isLong, scroller]);
  const isMounted = useRef(false);
  useLayoutEffect(() => {
    if (isMounted.current && isLong && pinned !== null) reveal(box.current, scroller?.current, keys.indexOf(pinned),
      range.height);
    isMounted.current = true;
  }, [pinned]);
  if (!isLong) return keys.map(draw);
  const {first, height} = range;
  const last = Math.min(keys.length, range.last);
  return html`<div class="virtual" ref=${box}>
    <div class="space" style=${{height: `${first * height}px`}}></div>
    ${keys.slice(first, last).map(draw)}
    <div class="space" style=${{height: `${Math.max(0, keys.length - last) * height}px`}}></div>
  </div>`;
}

function rangeOf(box, scroller, count, old) {
  if (!box) return old;
  const height = box.children[1]?.offsetHeight > 4 && box.children.length > 2 ? box.children[1].offsetHeight
    : old.height;
  const top = box.getBoundingClientRect().top - (scroller ? scroller.getBoundingClientRect().top : 0);
  const seen = scroller ? scroller.clientHeight : innerHeight;
  const first = stepped(Math.floor(-top / height) - SPARE_ROWS, count);
  const last = Math.max(first + STEP_ROWS,
    stepped(Math.ceil((seen - top) / height) + SPARE_ROWS + STEP_ROWS, count + STEP_ROWS));
  return first === old.first && last === old.last && height === old.height ? old : {first, last, height};
}

function stepped(row, most) {
  return Math.max(0, Math.min(most, Math.floor(row / STEP_ROWS) * STEP_ROWS));
}

function reveal(box, scroller, index, height) {
  if (!box || index < 0) return;
  const top = box.getBoundingClientRect().top - (scroller ? scroller.getBoundingClientRect().top : 0) + index * height;
  const seen = scroller ? scroller.clientHeight : innerHeight;
  if (top >= 56 && top + height <= seen - 56) return;
  (scroller ?? window).scrollBy({top: top - seen / 2});
}
