// Where the tasks of a convoy stand in its picture: what they wait for to their left.

import {FINISHED} from "./phases.js";

/**
 * `nodes` are `{id, after, phase}`; at most `columns` × `rows` of them are placed: those with lines, below them
 * unfinished ones that wait for nothing and that nothing waits for. Returns `{placed, edges, hidden}`: `placed` are
 * `{node, column, row}`, `edges` are `[from, to]` of placed ids, `hidden` are the nodes that have no place.
 */
export function placeNodes(nodes, {columns, rows, longest = []}) {
  const linked = lined(nodes);
  const chosen = choose(linked.length ? linked : nodes, columns * rows, new Set(longest));
  const layers = layersOf(chosen);
  const placed = [];
  const rowOf = new Map();
  const awaited = new Set(chosen.flatMap((node) => node.after));
  for (const [column, members] of byLayer(layers, columns).entries()) {
    const ordered = orderByParents(members, rowOf, longest, awaited);
    for (const [row, node] of ordered.slice(0, rows).entries()) {
      rowOf.set(node.id, row);
      placed.push({node, column, row});
    }
  }
  placed.push(...placeLoose(nodes, placed, columns, rows));
  const edges = placed.flatMap(({node}) => node.after.filter((id) => rowOf.has(id)).map((id) => [id, node.id]));
  const shown = new Set(placed.map(({node}) => node));
  return {placed, edges, hidden: nodes.filter((node) => !shown.has(node))};
}

/** In the rows that are left; what is finished and has no lines tells nothing. */
function placeLoose(nodes, placed, columns, rows) {
  const shown = new Set(placed.map(({node}) => node));
  const lines = new Set(lined(nodes));
  const top = Math.max(0, ...placed.map(({row}) => row + 1));
  const loose = nodes.filter((node) => !shown.has(node) && !lines.has(node) && !FINISHED.has(node.phase));
  return loose.slice(0, Math.max(0, rows - top) * columns)
    .map((node, index) => ({node, column: index % columns, row: top + Math.floor(index / columns)}));
}

/** Where not all fit, the longest way stays, what is finished goes first; what has no line then is not drawn. */
function choose(nodes, most, longest) {
  if (nodes.length <= most) return nodes;
  const unfinished = nodes.filter((node) => !FINISHED.has(node.phase));
  const awaited = new Set(unfinished.flatMap((node) => node.after));
  const weight = (node) => {
    if (longest.has(node.id)) return 0;
    if (!FINISHED.has(node.phase)) return 1;
    return awaited.has(node.id) ? 2 : 3;
  };
  const withLines = lined(nodes.filter((node) => weight(node) < 3));
  const kept = new Set([...withLines].sort((one, other) => weight(one) - weight(other)).slice(0, most));
  return lined(nodes.filter((node) => kept.has(node)));
}

function lined(nodes) {
  const ids = new Set(nodes.map((node) => node.id));
  const awaited = new Set(nodes.flatMap((node) => node.after));
  return nodes.filter((node) => awaited.has(node.id) || node.after.some((id) => ids.has(id)));
}

/** The layer of each node: one more than the deepest it waits for. */
function layersOf(nodes) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const depths = new Map();
  const depthOf = (id, above) => {
    if (depths.has(id)) return depths.get(id);
    if (above.has(id)) return 0;
    above.add(id);
    const depth = Math.max(-1,
      ...byId.get(id).after.filter((one) => byId.has(one)).map((one) => depthOf(one, above))) + 1;
    above.delete(id);
    depths.set(id, depth);
    return depth;
  };
  return new Map(nodes.map((node) => [node, depthOf(node.id, new Set())]));
}

function byLayer(layers, most) {
  const columns = [];
  for (const [node, depth] of layers) {
    (columns[depth] ??= []).push(node);
  }
  return columns.filter(Boolean).slice(0, most);
}

/** Beside what it waits for, so that lines cross little; the longest way stays on top. */
function orderByParents(members, rowOf, longest, awaited) {
  const middle = (node) => {
    if (longest.includes(node.id)) return -1;
    const parents = node.after.filter((id) => rowOf.has(id)).map((id) => rowOf.get(id));
    return parents.length ? parents.reduce((sum, row) => sum + row, 0) / parents.length : awaited.has(node.id) ? 1e6
      : Infinity;
  };
  const keyed = members.map((node, index) => ({node, index, at: middle(node)}));
  return keyed.sort((one, other) => (one.at === other.at ? one.index - other.index
    : one.at - other.at)).map(({node}) => node);
}
