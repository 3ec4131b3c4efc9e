// Requests of a page whose answer is a toast: what was done, or why not.

import {post, postLong} from "./api.js";
import {session} from "./session.js";
import {toast, toastRefusal} from "./toasts.js";
import {askWhether} from "../parts/ask.js";

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

/** The same for what takes long and should be meant: `title`, `words` and `send` are of the question; `done` makes
 * the toast of the answer. */
export async function requestSurely(path, body, {title, words, send, done}) {
  if (session.peek()?.read_only || !await askWhether({title, words, send})) return;
  toast({words: `${title}: asked for`});
  try {
    toast(done(await postLong(path, body)));
  } catch (error) {
    toastRefusal(error, title);
  }
}
