// The tree explorer: a map of the rows, the blocks as a list that folds, and one block in detail.

import { bars, capital, choose, colour, count, cut, draw, el, evidence, exact, find, FIRST_CLASSES, format, MANY_CLASSES, named, onScreen, renew, responsive, signed, unfold } from "./draw.js";
import { nameOf } from "./model.js";

const MOST_LEVELS = 24;
const FIRST_SHOWN = 31;

export class TreeExplorer {
  constructor(facts, model, onselect) {
    Object.assign(this, { facts, model, onselect, tree: 0, block: 0, way: new Set() });
    find("trees-hint").append(...model.head.hint(onScreen("Select a block to see its hyperplane. ")));
    this.places = { controls: find("tree-controls"), map: find("map"), outline: find("outline") };
    this.mapPlace = el("div", { class: "map" });
    this.mapNote = el("p", { class: "note" });
    this.places.map.append(el("figcaption", {}, "Map of the tree"), this.mapPlace, this.mapNote);
    this.list = el("div", { role: "tree", "aria-label": "Blocks of the tree" });
    this.list.addEventListener("keydown", (event) => this.press(event));
    this.places.outline.append(this.list);
    this.show(0, 0);
    responsive(this.mapPlace, () => this.paintMap());
  }

  // Largest size of a value in the tree.
  get most() {
    let most = 1e-300;
    for (let block = 0; block < this.size; block++) most = Math.max(most, Math.abs(this.model.share(this.tree, block)));
    return most;
  }

  // Controls to choose the class and the tree; the path of a row has them, too.
  makeControls() {
    const { model, facts } = this;
    const controls = [];
    if (model.nTargets > 1)
      controls.push(choose("Class", facts.classes, this.tree % model.nTargets, (cls) => this.show(Math.floor(this.tree / model.nTargets) * model.nTargets + cls, 0)));
    const shown = facts.trees.n_shown;
    if (shown > 1) {
      const noun = capital(facts.head.estimator);
      const names = Array.from({ length: shown }, (_, i) => `${noun} ${i + 1} of ${facts.model.n_estimators}`);
      controls.push(choose(noun, names, Math.floor(this.tree / model.nTargets), (i) => this.show(i * model.nTargets + (this.tree % model.nTargets), 0)));
    }
    return controls;
  }

  // Opens a block from elsewhere in the page.
  visit(block) {
    this.show(this.tree, block);
    this.select(block, { focus: true });
  }

  get start() { return this.model.blockStart[this.tree]; }
  get size() { return this.model.n_blocks[this.tree]; }
  left(block) { return this.model.left[this.start + block]; }

  // Shows a tree with one of its blocks chosen, unfolded as far as is needed to see it.
  show(tree, block) {
    if (tree !== this.tree || !this.open) {
      this.tree = tree;
      this.open = new Set();
      this.parent = new Int32Array(this.size).fill(-1);
      this.depth = new Uint32Array(this.size);
      for (let b = 0; b < this.size; b++)
        if (this.left(b))
          for (const child of [this.left(b), this.left(b) + 1]) [this.parent[child], this.depth[child]] = [b, this.depth[b] + 1];
      for (let b = 0, n = 1; b < this.size && n + 2 <= FIRST_SHOWN; b++)
        if (this.left(b) && (b === 0 || this.open.has(this.parent[b]))) {
          this.open.add(b);
          n += 2;
        }
    }
    if (this.controlsOf !== tree) renew(this.places.controls, this.makeControls());
    this.controlsOf = tree;
    for (let b = this.parent[block]; b >= 0; b = this.parent[b]) this.open.add(b);
    this.select(block);
  }

  select(block, { focus = false } = {}) {
    this.block = block;
    this.paintList(focus);
    this.paintMap();
    this.onselect(this.tree, block);
  }

  // Marks the path of the present row.
  markWay(score) {
    const walk = score && score.walks[this.tree];
    this.way = new Set(walk ? [...walk.steps.map((step) => step.block), walk.leaf] : []);
    this.paintList(false);
    this.paintMap();
  }

  visible() {
    const blocks = [];
    const work = [0];
    while (work.length) {
      const block = work.pop();
      blocks.push(block);
      if (this.open.has(block)) work.push(this.left(block) + 1, this.left(block));
    }
    return blocks;
  }

  paintList(focus) {
    const hadFocus = focus || this.list.contains(document.activeElement);
    const items = this.visible().map((block) => this.makeItem(block));
    this.list.replaceChildren(...items);
    const chosen = this.list.querySelector("[aria-selected=true]");
    if (chosen && hadFocus) chosen.focus({ preventScroll: !focus });
  }

  makeItem(block) {
    const { model, facts } = this;
    const isLeaf = !this.left(block);
    const up = this.parent[block];
    const isOpen = this.open.has(block);
    const side = up < 0 || block === this.left(up) ? "left" : "right";
    const above = up < 0 ? null : conditionsOf(facts, model, this.tree, up);
    const way = up < 0 ? "" : above ? `${cut(above.subject, 30)} ${above[side]}` : `${side === "left" ? "<" : "≥"} ${format(model.offset[this.start + up], 3)}`;
    const names = isLeaf ? [] : model.terms("hyperplane", this.tree, block).slice(0, 3).map((term) => facts.features.names[term.feature]);
    const depth = this.depth[block];
    return el("div", {
      class: this.way.has(block) ? "item way" : "item", role: "treeitem", "aria-level": depth + 1, "data-block": block,
      "aria-setsize": up < 0 ? 1 : 2, "aria-posinset": up < 0 ? 1 : block - this.left(up) + 1,
      "aria-expanded": isLeaf ? null : String(isOpen), "aria-selected": String(block === this.block), tabindex: block === this.block ? 0 : -1,
      "aria-label": `${isLeaf ? "leaf" : "block"} ${block}, depth ${depth}, ${model.head.tell(this.tree, block)}${isLeaf ? "" : `, features ${names.join(", ")}`}${this.way.has(block) ? ", on the path of the row" : ""}`,
      own: Math.min(depth, 8),
      onclick: (event) => {
        if (event.target.closest(".twist") && !isLeaf) this.toggle(block);
        this.select(block, { focus: true });
      },
    },
    el("span", { class: "twist", "aria-hidden": "true" }, isLeaf ? "·" : isOpen ? "▾" : "▸"),
    el("span", { class: "what", title: names.join(", ") || null }, el("span", { class: "label" }, `${isLeaf ? "leaf" : "block"} ${block}`),
      el("small", {}, ` ${[depth > 8 ? `depth ${depth}` : "", way].filter(Boolean).join(" · ")}`, names.map((name, i) => [i ? ", " : " · ", named(name)]))),
    this.makeBar(block),
    el("span", { class: "count" }, model.head.figure(this.tree, block)));
  }

  // Values of both signs have their own colours, shares the colour of the class.
  colourOf(block) {
    const { model, tree } = this;
    return model.head.isSigned ? evidence(model.share(tree, block)) : colour(model.target[tree]);
  }

  // The outcome of a block as a bar: from the middle if it has both signs, otherwise from the left.
  makeBar(block) {
    const { model, tree } = this;
    const level = model.head.level(tree, block, this.most);
    const length = Math.abs(level) * (model.head.isSigned ? 50 : 100);
    const left = !model.head.isSigned ? 0 : level < 0 ? 50 - length : 50;
    return el("span", { class: model.head.isSigned ? "track both" : "track", own: this.colourOf(block) },
      model.share(tree, block) ? el("i", { class: level < 0 ? "less" : null, style: { left: `${left}%`, width: `${length}%` } }) : null);
  }

  toggle(block) {
    if (this.open.has(block)) this.open.delete(block);
    else this.open.add(block);
  }

  press(event) {
    const visible = this.visible();
    const place = visible.indexOf(this.block);
    const isLeaf = !this.left(this.block);
    let next = null;
    if (event.key === "ArrowDown") next = visible[place + 1];
    else if (event.key === "ArrowUp") next = visible[place - 1];
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = visible[visible.length - 1];
    else if (event.key === "ArrowRight" && !isLeaf) {
      if (this.open.has(this.block)) next = this.left(this.block);
      else this.toggle((next = this.block));
    } else if (event.key === "ArrowLeft") {
      if (this.open.has(this.block)) this.toggle((next = this.block));
      else next = this.parent[this.block];
    } else if ((event.key === "Enter" || event.key === " ") && !isLeaf) this.toggle((next = this.block));
    else return;
    event.preventDefault();
    if (next !== undefined && next !== null && next >= 0) this.select(next, { focus: true });
  }

  paintMap() {
    const width = Math.round(this.mapPlace.clientWidth);
    if (!width) return;
    const { model, facts } = this;
    const deepest = this.depth.reduce((most, depth) => Math.max(most, depth), 0);
    const levels = Math.min(deepest + 1, MOST_LEVELS);
    const height = levels > 10 ? 18 : 34;
    const target = model.target[this.tree];
    const svg = draw("svg", { viewBox: `0 0 ${width} ${levels * height}`, role: "img", "aria-label": `Map of the tree for ${facts.classes[target]}: ${count(this.size, "block")}, depth ${deepest}. The list below contains the same blocks and works with the keyboard.` });
    const from = new Float64Array(this.size);
    const wide = new Float64Array(this.size);
    wide[0] = width;
    const late = [];
    const { most } = this;
    for (let block = 0; block < this.size; block++) {
      if (this.depth[block] >= levels) continue;
      const left = this.left(block);
      if (left) {
        // Blocks of a symmetric tree may be empty.
        const whole = model.weight[this.start + block];
        const share = whole > 0 ? model.weight[this.start + left] / whole : 0.5;
        [from[left], wide[left]] = [from[block], wide[block] * share];
        [from[left + 1], wide[left + 1]] = [from[block] + wide[left], wide[block] * (1 - share)];
      }
      if (wide[block] < 0.5 && block !== this.block && !this.way.has(block)) continue;
      const y = this.depth[block] * height;
      const rect = draw("rect", {
        class: [this.way.has(block) ? "way" : "", block === this.block ? "chosen" : ""].join(" ").trim(), "data-block": block,
        x: from[block], y, width: Math.max(1, wide[block]), height, rx: 3, onclick: () => this.show(this.tree, block),
        style: { fill: `color-mix(in srgb, ${this.colourOf(block)} ${Math.round(6 + 52 * Math.abs(model.head.level(this.tree, block, most)))}%, var(--wash))` },
      }, draw("title", {}, `${left ? "block" : "leaf"} ${block}: ${model.head.tell(this.tree, block)}`));
      if (this.way.has(block) || block === this.block) late.push(rect);
      else svg.append(rect);
      if (wide[block] > 56 && height > 20)
        late.push(draw("text", { x: from[block] + wide[block] / 2, y: y + height / 2 + 4, "text-anchor": "middle" }, model.head.mark(model.share(this.tree, block))));
    }
    svg.append(...late);
    this.mapPlace.replaceChildren(svg);
    this.mapNote.replaceChildren(...model.head.noteMap(target),
      deepest + 1 > levels ? `The map shows the upper ${levels} of ${deepest + 1} levels; the list shows all. ` : "",
      this.way.size ? "Outlined: the path of the row in “Try a row”." : "");
  }
}

// One block in the user's units: its rows, hyperplane and membership function.

export function showBlock(facts, model, tree, block) {
  const at = model.blockStart[tree] + block;
  const isLeaf = !model.left[at];
  const target = facts.classes[model.target[tree]];
  const names = facts.features.names;
  const parts = [
    el("h3", {}, `${isLeaf ? "Leaf" : "Block"} ${block}`),
    el("p", {}, ...model.head.describeBlock(tree, block, isLeaf), model.isCounted ? "" : ` Total weight: ${format(model.weight[at])}.`),
    showMix(facts, model, at),
  ];
  if (!isLeaf) parts.push(el("h3", {}, model.single(tree, block) === null ? "Hyperplane" : "Condition"), ...showHyperplane(facts, model, names, tree, block));
  // Only leaves estimate: rows do not use the membership functions of other blocks.
  const estimates = () => showMembership(model, names, target, tree, block);
  if (isLeaf && model.head.leafTitle) parts.push(el("h3", {}, model.head.leafTitle), ...estimates());
  else if (model.n_target && model.hasBranchingMembership) parts.push(unfold("Membership function of this block", () => el("div", {}, estimates())));
  else if (model.slopeStart[at] < model.slopeStart[at + 1]) parts.push(el("h3", {}, "Slopes"), ...showSlopes(model, names, target, tree, block));
  find("block").replaceChildren(...parts);
}

function showMix(facts, model, at) {
  const mix = Array.from(model.mix.slice(at * model.nClasses, (at + 1) * model.nClasses));
  const total = mix.reduce((sum, n) => sum + n, 0);
  if (!total) return el("p", { class: "note" }, "None of the supplied rows reaches this block.");
  const reach = el("p", { class: "note" }, `${count(total, "supplied row reaches", "supplied rows reach")} this block.`);
  if (facts.response) return reach;
  const order = mix.map((_, c) => c).filter((c) => mix[c]);
  const isLong = order.length > MANY_CLASSES;
  if (isLong) order.sort((a, b) => mix[b] - mix[a]);
  const list = (some) => el("ul", { class: "legend" }, some.map((c) => el("li", {}, el("span", { class: "key", own: colour(c) }), named(facts.classes[c]), ` ${mix[c]}`)));
  return el("div", {},
    el("div", { class: "stack", role: "img", "aria-label": mix.map((n, c) => `${facts.classes[c]}: ${n}`).join(", ") },
      mix.map((n, c) => el("i", { own: colour(c), style: { width: `${(100 * n) / total}%` } }))),
    list(isLong ? order.slice(0, FIRST_CLASSES) : order),
    isLong ? unfold(`${order.length - FIRST_CLASSES} more classes`, () => list(order.slice(FIRST_CLASSES)), "more") : null,
    reach);
}

// A sum in the user's units: "0.003 × proline − 0.2 × hue".
function sumOf(terms, names) {
  return terms.flatMap((term, i) => [
    i === 0 ? (term.unitWeight < 0 ? "−" : "") : term.unitWeight < 0 ? " − " : " + ",
    `${format(Math.abs(term.unitWeight), 3)} × `, named(names[term.feature]),
  ]);
}

function rowsOfWeights(terms, names, turn = 1) {
  return terms.map((term) => ({ name: names[term.feature], value: term.weight, figure: signed(term.weight), note: `${signed(term.unitWeight)} per unit`, own: evidence(term.weight * turn) }));
}

function showHyperplane(facts, model, names, tree, block) {
  const at = model.blockStart[tree] + block;
  const terms = model.terms("hyperplane", tree, block);
  const offset = model.unit_offset ? model.unit_offset[at] : terms.reduce((sum, term) => sum + term.unitWeight * model.centre[term.feature], model.offset[at]);
  const [left, right] = [model.left[at], model.left[at] + 1];
  const child = (block) => [`block ${block} (`, ...model.head.tellChild(tree, block), ")"];
  const single = conditionsOf(facts, model, tree, block);
  if (single)
    return [el("p", {}, "If ", named(single.subject), ` ${single.left}, the row goes left to `, ...child(left), "; otherwise right to ", ...child(right), ".")];
  return [
    el("p", {}, `If the feature sum is below the offset, the row goes left to `, ...child(left), "; otherwise right to ", ...child(right), `. The hyperplane uses ${count(terms.length, "feature")}:`),
    bars(rowsOfWeights(terms, names, model.lift(tree, block)), { most: 1 }),
    el("p", { class: "note" }, `Bars: weights of the normalised features, comparable with each other; below them, weights per unit of the feature. Offset: ${format(model.offset[at])}.${model.missing ? ` Normalised values are clipped to ±${model.most}; a missing value counts as 0.` : ""}`),
    unfold("Formula in original units", () => el("p", { class: "formula" }, "Right if ", ...sumOf(terms, names), ` ≥ ${format(offset)}`)),
  ];
}

// The slopes of a linear leaf of a boosted tree.
function showSlopes(model, names, target, tree, block) {
  const at = model.blockStart[tree] + block;
  const terms = model.terms("membership", tree, block);
  return [
    bars(rowsOfWeights(terms, names)),
    el("p", { class: "note" }, `Bars: slopes of the normalised features; below them, slopes per unit of the feature. What the leaf adds is clipped to ${signed(model.low[at])} … ${signed(model.high[at])}. Normalised values are clipped to ±${model.most}; a missing value counts as 0.`),
    unfold("Formula in original units", () => formulaOf(model, names, tree, block, terms, `Addition to ${model.head.sum} of `, named(target))),
  ];
}

function formulaOf(model, names, tree, block, terms, ...what) {
  const constant = model.intercept[model.blockStart[tree] + block];
  const base = terms.reduce((sum, term) => sum - term.unitWeight * model.centre[term.feature], constant);
  return el("p", { class: "formula" }, ...what, ` = ${format(base)} + `, ...sumOf(terms, names));
}

function showMembership(model, names, target, tree, block) {
  const at = model.blockStart[tree] + block;
  const terms = model.terms("membership", tree, block);
  if (!terms.length) return [el("p", {}, `Constant for all rows of this block: ${format(model.clip(tree, block, model.intercept[at]), 3)}.`)];
  return [
    el("p", {}, `${model.head.tellIntercept(tree, block)}, plus, by feature:`),
    bars(rowsOfWeights(terms, names)),
    el("p", { class: "note" }, "Bars: slopes of the normalised features; below them, slopes per unit of the feature. The result is clipped to " + `${model.head.tellRange(at)}.`),
    unfold("Formula in original units", () => formulaOf(model, names, tree, block, terms, `${model.head.leafNoun} of `, named(target))),
  ];
}

// Absence and presence of a category. With two categories, the absence of one is the presence of the other.
function sidesOf({ categories }, own) {
  return [categories.length === 2 ? `= ${categories[1 - own]}` : `≠ ${categories[own]}`, `= ${categories[own]}`];
}

// Conditions of the two sides of a block with a single feature, in the user's units, as in TreeView.conditions. Null for
// hyperplanes of several features.
function conditionsOf(facts, model, tree, block) {
  const feature = model.single(tree, block);
  if (feature === null) return null;
  const at = model.blockStart[tree] + block;
  const column = facts.columns.find(({ features }) => features.includes(feature));
  const bound = format(model.centre[feature] + model.scale[feature] * model.offset[at], 6);
  const isOneHot = column.categories && !column.statistics;
  const sides = isOneHot ? sidesOf(column, feature - column.features[0]) : ["<", "≥"].map((sign) => `${sign} ${bound}`);
  const gaps = facts.features.has_gaps;
  if (model.missing[at] !== 1 && (!gaps || gaps[feature])) sides[model.missing[at] / 2] += " or missing";
  const name = facts.features.names[feature];
  const subject = isOneHot ? column.name : column.statistics ? `mean target of ${name}` : name;
  return { column, feature, isOneHot, subject, left: sides[0], right: sides[1] };
}

// The reason for the side of a row in such a block: "age 33 < 41.5", "colour ≠ red" or "age is missing".
export function reasonOf(facts, model, values, tree, step) {
  const { column, feature, isOneHot, subject, ...sides } = conditionsOf(facts, model, tree, step.block);
  if (Number.isNaN(values[feature])) return [named(column.name), " is missing"];
  const bound = sides[step.side].replace(/ or missing$/, "");
  if (isOneHot) return [named(subject), ` ${bound}`];
  const value = `${exact(values[feature])} ${bound}`;
  return column.categories ? [named(nameOf(column, values)), ` (${value})`] : [named(subject), ` ${value}`];
}
