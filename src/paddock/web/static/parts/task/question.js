// What an agent asks a person, with room for the answer: it goes to the agent as a message.

import {html, useState} from "../../lib/ui.js";
import {perform} from "../../lib/actions.js";
import {session} from "../../lib/session.js";
import {Age} from "../age.js";
import {Icon} from "../badge.js";

export function Question({id, question, mayAnswer}) {
  if (!question) return null;
  const options = question.options ?? [];
  const answerable = mayAnswer && !session.value?.read_only;
  return html`<section class="panel question" aria-label="Question"><header>
    <span class="st approval"><${Icon} name="ask" /></span><h2>${question.attempt ?? id} asks you</h2>
    <span class="end"><${Age} at=${question.at} /> ago</span></header>
    <div class="in"><p class="words">${question.text}</p>
      ${answerable && (options.length ? html`<${Options} id=${id} options=${options} />` : html`<${Words} id=${id} />`)}
    </div></section>`;
}

// An engine's dialog: it takes nothing but one of these.
function Options({id, options}) {
  return html`<div class="options">${options.map((option, place) => html`<button type="button" class="b" key=${place}
    onClick=${() => perform("message", [id], {message: String(place + 1)})}>${option}</button>`)}</div>`;
}

function Words({id}) {
  const [text, setText] = useState("");
  const send = async (event) => {
    event.preventDefault();
    if (text.trim() && await perform("message", [id], {message: text.trim()})) setText("");
  };
  const onKeyDown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event);
  };
  return html`<form class="answer" onSubmit=${send}>
    <textarea class="field" rows="2" aria-label="Your answer" placeholder="Your answer, as a message to the agent"
      value=${text} onKeyDown=${onKeyDown} onInput=${(event) => setText(event.currentTarget.value)}></textarea>
    <button type="submit" class="b main" disabled=${!text.trim()}>Answer <kbd>Ctrl ↵</kbd></button></form>`;
}
