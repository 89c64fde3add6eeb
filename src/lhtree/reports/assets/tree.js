// The trees to explore: a map of where the rows go, and the blocks as a list that folds.

const MOST_LEVELS = 24;
const FIRST_SHOWN = 31;
const TELL_SELECT = "Select a block to see its hyperplane. ";

class TreeExplorer {
  constructor(facts, model, onselect) {
    Object.assign(this, { facts, model, onselect, tree: 0, block: 0, way: new Set() });
    if (model.isBoosted) find("trees-hint").append(...this.hintBoosted());
    else if (model.isRegression) find("trees-hint").append(
      "Every block splits the rows, and every leaf estimates ", named(facts.classes[0]), ". ", onScreen(TELL_SELECT), "In the map, the width of a block is ",
      model.isCounted ? "its number of training rows" : "the weight of its training rows", ", and its colour their mean: the stronger, the larger.");
    else find("trees-hint").append(facts.classes.length === 2
      ? "One tree for both classes: it separates "
      : "Each class has its own tree, which separates it from the other classes. ",
      ...(facts.classes.length === 2 ? [named(facts.classes[1]), " from ", named(facts.classes[0]), ". "] : []),
      onScreen(TELL_SELECT),
      model.isCounted
        ? "In the map, the width of a block is its number of training rows, and its colour the share of them that belongs to the tree’s class."
        : "The training rows were weighted, so map and list show weights: the width of a block is the weight of its rows, and its colour the share of that weight that belongs to the tree’s class.");
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

  hintBoosted() {
    const { facts } = this;
    const two = facts.classes.length === 2;
    const isOne = two || this.model.isRegression;
    return [
      `${isOne ? "Every round adds a tree" : "Every round adds a tree per class"}; the values of the leaves that a row reaches add up to ${this.model.sum} of `,
      isOne ? named(facts.classes.at(-1)) : "the class", ". ", onScreen(TELL_SELECT), "In the map, the width of a block is ",
      this.model.isCounted ? "its number of training rows" : "the weight of its training rows",
      `, and its colour the value: violet raises ${this.model.sum}, red lowers it.`];
  }

  // Largest size of a value in the tree.
  get most() {
    let most = 1e-300;
    for (let block = 0; block < this.size; block++) most = Math.max(most, Math.abs(this.model.share(this.tree, block)));
    return most;
  }

  // To choose the class and the tree; used beside the way of a row, too.
  makeControls() {
    const { model, facts } = this;
    const controls = [];
    if (model.nTargets > 1)
      controls.push(choose("Class", facts.classes, this.tree % model.nTargets, (cls) => this.show(Math.floor(this.tree / model.nTargets) * model.nTargets + cls, 0)));
    const shown = facts.trees.n_shown;
    if (shown > 1) {
      const names = Array.from({ length: shown }, (_, i) => `${model.isBoosted ? "Round" : "Tree"} ${i + 1} of ${facts.model.n_estimators}`);
      controls.push(choose(model.isBoosted ? "Round" : "Tree", names, Math.floor(this.tree / model.nTargets), (i) => this.show(i * model.nTargets + (this.tree % model.nTargets), 0)));
    }
    return controls;
  }

  // "12 of 30 are red"; where rows do not count alike, these are weights.
  tell(block) {
    const { model, facts } = this;
    const at = this.start + block;
    if (model.isBoosted) return `value ${signed(model.share(this.tree, block))}, ${count(model.n_samples[at], "row")}`;
    if (model.isRegression) return `mean ${format(model.share(this.tree, block))} of ${count(model.n_samples[at], "row")}`;
    const [own, all] = [model.isSmoothed(at) ? percent(model.share(this.tree, block)) : format(model.n_target[at], 7), format(model.weight[at], 7)];
    return (model.isCounted ? `${own} of ${all} are ` : `${own} of the weight ${all} is `) + facts.classes[model.target[this.tree]];
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

  // The way of the present row: its blocks stand out.
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
    const at = this.start + block;
    const isLeaf = !this.left(block);
    const up = this.parent[block];
    const isOpen = this.open.has(block);
    const share = model.share(this.tree, block);
    const side = up < 0 || block === this.left(up) ? "left" : "right";
    const above = up < 0 ? null : conditionsOf(facts, model, this.tree, up);
    const way = up < 0 ? "" : above ? `${cut(above.subject, 30)} ${above[side]}` : `${side === "left" ? "<" : "≥"} ${format(model.offset[this.start + up], 3)}`;
    const names = isLeaf ? [] : model.terms("hyperplane", this.tree, block).slice(0, 3).map((term) => facts.features.names[term.feature]);
    const depth = this.depth[block];
    const target = model.target[this.tree];
    return el("div", {
      class: this.way.has(block) ? "item way" : "item", role: "treeitem", "aria-level": depth + 1, "data-block": block,
      "aria-setsize": up < 0 ? 1 : 2, "aria-posinset": up < 0 ? 1 : block - this.left(up) + 1,
      "aria-expanded": isLeaf ? null : String(isOpen), "aria-selected": String(block === this.block), tabindex: block === this.block ? 0 : -1,
      "aria-label": `${isLeaf ? "leaf" : "block"} ${block}, depth ${depth}, ${this.tell(block)}${isLeaf ? "" : `, features ${names.join(", ")}`}${this.way.has(block) ? ", on the path of the row" : ""}`,
      own: Math.min(depth, 8),
      onclick: (event) => {
        if (event.target.closest(".twist") && !isLeaf) this.toggle(block);
        this.select(block, { focus: true });
      },
    },
    el("span", { class: "twist", "aria-hidden": "true" }, isLeaf ? "·" : isOpen ? "▾" : "▸"),
    el("span", { class: "what", title: names.join(", ") || null }, el("span", { class: "label" }, `${isLeaf ? "leaf" : "block"} ${block}`),
      el("small", {}, ` ${[depth > 8 ? `depth ${depth}` : "", way].filter(Boolean).join(" · ")}`, names.map((name, i) => [i ? ", " : " · ", named(name)]))),
    model.isBoosted ? this.makeValue(share) : el("span", { class: "track", own: colour(target) }, share ? el("i", { style: { left: 0, width: `${100 * this.level(block)}%` } }) : null),
    el("span", { class: "count" }, model.isBoosted ? signed(share) : model.isRegression ? format(share, 3) : `${model.isSmoothed(at) ? whole(share) : tally(model.n_target[at])} of ${tally(model.weight[at])}`));
  }

  // How far a block is from nothing to all: its share; of a mean response, where it is between the least and the largest.
  level(block) {
    const { low, high } = this.facts.response || { low: 0, high: 1 };
    return high > low ? clip((this.model.share(this.tree, block) - low) / (high - low)) : 1;
  }

  // The value of a boosted block as a bar from the middle.
  makeValue(value) {
    const length = (50 * Math.abs(value)) / this.most;
    return el("span", { class: "track both", own: evidence(value) }, el("i", { class: value < 0 ? "less" : null, style: { left: `${value < 0 ? 50 - length : 50}%`, width: `${length}%` } }));
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
    const most = model.isBoosted ? this.most : null;
    for (let block = 0; block < this.size; block++) {
      if (this.depth[block] >= levels) continue;
      const left = this.left(block);
      if (left) {
        const share = model.weight[this.start + left] / model.weight[this.start + block];
        [from[left], wide[left]] = [from[block], wide[block] * share];
        [from[left + 1], wide[left + 1]] = [from[block] + wide[left], wide[block] * (1 - share)];
      }
      if (wide[block] < 0.5 && block !== this.block && !this.way.has(block)) continue;
      const share = model.share(this.tree, block);
      const y = this.depth[block] * height;
      const rect = draw("rect", {
        class: [this.way.has(block) ? "way" : "", block === this.block ? "chosen" : ""].join(" ").trim(), "data-block": block,
        x: from[block], y, width: Math.max(1, wide[block]), height, rx: 3, onclick: () => this.show(this.tree, block),
        style: { fill: `color-mix(in srgb, ${model.isBoosted ? evidence(share) : colour(target)} ${Math.round(6 + 52 * (model.isBoosted ? Math.abs(share) / most : this.level(block)))}%, var(--wash))` },
      }, draw("title", {}, `${left ? "block" : "leaf"} ${block}: ${this.tell(block)}`));
      if (this.way.has(block) || block === this.block) late.push(rect);
      else svg.append(rect);
      if (wide[block] > 56 && height > 20)
        late.push(draw("text", { x: from[block] + wide[block] / 2, y: y + height / 2 + 4, "text-anchor": "middle" }, model.isBoosted ? signed(share, 2) : model.isRegression ? format(share, 3) : whole(share)));
    }
    svg.append(...late);
    this.mapPlace.replaceChildren(svg);
    this.mapNote.replaceChildren(...(model.isBoosted
      ? [`Colour: what the block adds to ${model.sum} of `, named(facts.classes[target]), ". "]
      : ["Colour: ", el("span", { class: "key", own: colour(target) }), named(facts.classes[target]), ". "]),
      deepest + 1 > levels ? `The map shows the upper ${levels} of ${deepest + 1} levels; the list shows all. ` : "",
      this.way.size ? "Outlined: the path of the row in “Try a row”." : "");
  }
}
