// Asks for a text, such as a message to an agent, or whether something is really meant.

import {html, useState} from "../lib/ui.js";
import {Dialog, openDialog} from "./dialog.js";
import {Words} from "./words.js";

export function askForText(props) {
  return openDialog(TextDialog, props);
}

/** Resolves to true if it is meant, else to null. */
export function askWhether(props) {
  return openDialog(QuestionDialog, props);
}

function QuestionDialog({title, words, send, close}) {
  return html`<${Dialog} title=${title} close=${close}>
    <header><h2>${title}</h2></header>
    <div class="in form"><p class="wide"><${Words} text=${words} /></p>
      <div class="acts">
        <button type="button" class="b main" onClick=${() => close(true)}>${send}</button>
        <button type="button" class="b" data-first onClick=${() => close(null)}>Cancel</button>
      </div></div>
  </${Dialog}>`;
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
