// Short messages at the foot of the page. They leave by themselves, refusals later than successes.

import {signal} from "./ui.js";

const MOST = 5;
const STAY_MILLISECONDS = {done: 4_000, act: 10_000, refused: 12_000};

export const toasts = signal([]);

let count = 0;

/** `tone` is "done" or "refused"; `act` is `{words, run}` for one button. */
export function toast({words, hint = "", tone = "done", act = null}) {
  const id = ++count;
  toasts.value = [...toasts.value, {id, words, hint, tone, act}].slice(-MOST);
  setTimeout(() => dismiss(id), act ? STAY_MILLISECONDS.act : STAY_MILLISECONDS[tone]);
  return id;
}

export function toastRefusal(error, subject = "") {
  const words = subject ? `${subject}: ${error.message}` : error.message;
  toast({words, hint: error.hint ?? "", tone: "refused"});
}

export function dismiss(id) {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}
