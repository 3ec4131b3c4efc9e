// The hours so far: they come when asked for, and again every minute; the last figure is always the live one.

import {signal, useEffect} from "../../lib/ui.js";
import {get} from "../../lib/api.js";
import {toastRefusal} from "../../lib/toasts.js";

const REFRESH_MILLISECONDS = 60_000;

/** How many are shown. */
export const hours = signal(6);

/** The fleet's series of these hours, null until it came. */
export const past = signal(null);

export function showHours(value) {
  past.value = null;
  hours.value = value;
}

export function usePast() {
  useEffect(() => {
    let isOver = false;
    const load = async () => {
      try {
        const told = await get("fleet", {hours: hours.value});
        if (!isOver) past.value = told.series;
      } catch (error) {
        if (!isOver && error.status) toastRefusal(error, "The hours so far");
      }
    };
    load();
    const timer = setInterval(load, REFRESH_MILLISECONDS);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [hours.value]);
}
