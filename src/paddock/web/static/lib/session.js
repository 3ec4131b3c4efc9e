// Whose repository this is, and what this page may do.

import {signal} from "./ui.js";
import {get} from "./api.js";

/** `{repo, branch, version, author, read_only, daemon}`, null until it came. */
export const session = signal(null);

export async function startSession() {
  try {
    session.value = await get("session");
  } catch {
    // The stream tells what is wrong, and the page works without.
  }
}
