// Changes what a task asks for, as far as that can still be changed.

import {html, useState} from "../../lib/ui.js";
import {post} from "../../lib/api.js";
import {toast, toastRefusal} from "../../lib/toasts.js";
import {Dialog, openDialog} from "../dialog.js";

export function openEdit(page) {
  openDialog(EditTask, {page});
}

function EditTask({page, close}) {
  const {task, brief, transcript} = page;
  const [form, setForm] = useState({title: task.title, brief, priority: task.priority});
  const isFixed = Boolean(transcript?.live);
  const set = (name) => (event) => setForm({...form, [name]: event.currentTarget.value});
  const send = async (event) => {
    event.preventDefault();
    const body = {};
    if (form.title !== task.title) body.title = form.title;
    if (!isFixed && form.brief !== brief) body.brief = form.brief;
    if (Number(form.priority) !== task.priority) body.priority = Number(form.priority);
    if (!Object.keys(body).length) return close(null);
    try {
      await post(`tasks/${task.id}/edit`, body);
      toast({words: `${task.id} edited`});
      return close(true);
    } catch (error) {
      return toastRefusal(error, `Edit ${task.id}`);
    }
  };
  return html`<${Dialog} title=${`Edit ${task.id}`} close=${close}>
    <form onSubmit=${send}><header><h2>Edit ${task.id}</h2></header><div class="in form">
      <label class="wide"><span>Title</span>
        <input class="field" value=${form.title} maxlength="200" required autofocus onInput=${set("title")} /></label>
      <label class="wide"><span>Brief${isFixed ? ", fixed while its agent works" : ""}</span>
        <textarea class="field" rows="8" disabled=${isFixed} value=${form.brief} onInput=${set("brief")}></textarea>
        </label>
      <label><span>Priority, higher goes first</span>
        <input class="field" type="number" min="-1000" max="1000" value=${form.priority} onInput=${set("priority")} />
        </label>
      <div class="acts"><button type="submit" class="b main">Save</button>
        <button type="button" class="b" onClick=${() => close(null)}>Cancel</button></div>
    </div></form>
  </${Dialog}>`;
}
