// Asks for a text: a message to an agent, or why a change is rejected.

import {html, useState} from "../lib/ui.js";
import {Dialog, openDialog} from "./dialog.js";

export function askForText(props) {
  return openDialog(TextDialog, props);
}

function TextDialog({title, label, send, isRequired, close}) {
  const [text, setText] = useState("");
  const submit = (event) => {
    event.preventDefault();
    if (text.trim() || !isRequired) close(text.trim());
  };
  const onKeyDown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
  };
  return html`<${Dialog} title=${title} close=${close}>
    <form onSubmit=${submit}>
      <header><h2>${title}</h2></header>
      <div class="in form">
        <label class="wide"><span>${label}</span>
          <textarea class="field" rows="5" data-first required=${isRequired} value=${text} onKeyDown=${onKeyDown}
            onInput=${(event) => setText(event.currentTarget.value)}></textarea></label>
        <div class="acts">
          <button type="submit" class="b main">${send} <kbd>Ctrl ↵</kbd></button>
          <button type="button" class="b" onClick=${() => close(null)}>Leave it</button>
        </div>
      </div>
    </form>
  </${Dialog}>`;
}
