// Asks for a text: a message to an agent, or why a change is rejected.

import {html, useState} from "../lib/ui.js";
import {Dialog, openDialog} from "./dialog.js";

export function askForText(props) {
  return openDialog(TextDialog, props);
}

/** With `isLine` a line is enough, and enter sends it. */
function TextDialog({title, label, send, isRequired = false, isLine = false, close}) {
  const [text, setText] = useState("");
  const submit = (event) => {
    event.preventDefault();
    if (text.trim() || !isRequired) close(text.trim());
  };
  const onInput = (event) => setText(event.currentTarget.value);
  const onKeyDown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
  };
  return html`<${Dialog} title=${title} close=${close}>
    <form onSubmit=${submit}>
      <header><h2>${title}</h2></header>
      <div class="in form">
        <label class="wide"><span>${label}</span>
          ${isLine
            ? html`<input class="field" data-first autocomplete="off" required=${isRequired} value=${text}
              onInput=${onInput} />`
            : html`<textarea class="field" rows="5" data-first required=${isRequired} value=${text}
              onKeyDown=${onKeyDown}
              onInput=${onInput}></textarea>`}</label>
        <div class="acts">
          <button type="submit" class="b main">${send} <kbd>${isLine ? "↵" : "Ctrl ↵"}</kbd></button>
          <button type="button" class="b" onClick=${() => close(null)}>Cancel</button>
        </div>
      </div>
    </form>
  </${Dialog}>`;
}
