import {html} from "../lib/ui.js";
import {Dialog, hasDialog, openDialog} from "./dialog.js";

export function openNewTask() {
  if (!hasDialog()) openDialog(NewTask);
}

function NewTask({close}) {
  return html`<${Dialog} title="New task" close=${close}><header><h2>New task</h2></header></${Dialog}>`;
}
