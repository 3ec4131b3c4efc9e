// Requests of a page whose answer is a toast: what was done, or why not.

import {post} from "./api.js";
import {session} from "./session.js";
import {toast, toastRefusal} from "./toasts.js";

/** `done` is said if it is granted, `about` precedes the reason if not. A page that may only read asks for nothing. */
export async function request(path, body, {done, about = ""}) {
  if (session.peek()?.read_only) return;
  try {
    await post(path, body);
    toast({words: done});
  } catch (error) {
    toastRefusal(error, about);
  }
}
