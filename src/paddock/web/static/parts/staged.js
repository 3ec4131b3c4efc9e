// A large page is drawn part by part, one in each frame, so that no single task keeps the browser busy for long.

import {useEffect, useState} from "../lib/ui.js";

/** How many parts to draw by now: one at first, all of them some frames later. */
export function useStages(count) {
  const [drawn, setDrawn] = useState(1);
  useEffect(() => {
    if (drawn >= count) return undefined;
    let timer = 0;
    const frame = requestAnimationFrame(() => { timer = setTimeout(() => setDrawn((old) => old + 1)); });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [drawn, count]);
  return drawn;
}
