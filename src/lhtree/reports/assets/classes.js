// Where classes are predicted: confusions, and of two classes what every threshold would do.

const known = (share) => (share === null ? "–" : percent(share));

// Counts of rows, the true classes down and the predicted ones across; the shade is the share of the true class.
function tabulateConfusion(facts, classes, counts) {
  const cell = (n, row, isRight) => {
    const share = n / Math.max(1, row.reduce((sum, each) => sum + each, 0));
    const shade = `color-mix(in srgb, var(${isRight ? "--accent" : "--warn"}) ${Math.round(n ? 12 + 48 * share : 0)}%, var(--card))`;
    return el("td", { style: { background: shade } }, format(n, 7));
  };
  return table([el("small", {}, "true \\ predicted"), ...classes.map((cls) => tag(facts, cls))], counts.map((row, i) => [
    tag(facts, classes[i]), ...row.map((n, j) => cell(n, row, i === j))]), { class: classes.length > 4 ? "confusion" : "confusion few", own: classes.length });
}

function showConfusion(facts, figures, where) {
  if (facts.confusions) return showConfusions(facts, figures, where);
  const letters = facts.tags.reduce((sum, name) => sum + Math.min(12, name.length + 2), 0);
  const all = facts.labels.map((_, i) => i);
  const isWide = letters > 22;
  return el("figure", { class: isWide ? "card full" : "card" }, el("figcaption", {}, "Confusion matrix"),
    el("div", { class: isWide && letters <= 80 ? "beside" : "stacked" },
      el("div", {}, tabulateConfusion(facts, all, figures.confusion), el("p", { class: "note" }, `Counts of the ${where}.`)),
      el("div", {}, tabulateClasses(facts, figures, all), el("p", { class: "note" }, TELL_RECALL))));
}

const TELL_RECALL = "Recall: the share of a class that is predicted as such. Precision: the share of predictions of a class that are correct.";

function tabulateClasses(facts, figures, order) {
  return table(["class", "recall", "precision"], order.map((i) => [tag(facts, i), known(figures.classes[i].recall), known(figures.classes[i].precision)]));
}

// Of many classes, the pairs that are confused most and the classes that are found least.
function showConfusions(facts, figures, where) {
  const { n_wrong: wrong, n_pairs: pairs, pairs: top } = facts.confusions;
  const list = (some) => table(["true class", "predicted as", "rows", "of the class"], some.map((one) => [
    tag(facts, one.true), el("td", { class: "text" }, tag(facts, one.predicted)), format(one.n_rows, 7), percent(one.n_rows / figures.classes[one.true].n_rows)]), { class: "confusions" });
  const order = figures.classes.map((_, i) => i).filter((i) => figures.classes[i].recall !== null).sort((a, b) => figures.classes[a].recall - figures.classes[b].recall);
  return el("figure", { class: "card full" }, el("figcaption", {}, "Most frequent confusions"),
    el("div", { class: "pair" },
      el("div", {},
        top.length ? list(top.slice(0, FIRST_CLASSES)) : el("p", {}, "None: every row is predicted correctly."),
        top.length > FIRST_CLASSES ? unfold(`${top.length - FIRST_CLASSES} more`, () => list(top.slice(FIRST_CLASSES)), "more") : null,
        el("p", { class: "note" }, `${format(wrong, 7)} of the ${format(figures.n_rows, 7)} ${where} ${wrong === 1 ? "is" : "are"} confused, in ${count(pairs, "pair")} of classes.`)),
      el("div", {},
        tabulateClasses(facts, figures, order.slice(0, FIRST_CLASSES)),
        order.length > FIRST_CLASSES ? unfold(`${order.length - FIRST_CLASSES} more classes`, () => tabulateClasses(facts, figures, order.slice(FIRST_CLASSES)), "more") : null,
        el("p", { class: "note" }, `Classes with the lowest recall first. ${TELL_RECALL}`))));
}

// ROC and precision-recall curves of two classes, and a threshold to move.
function showThresholds(facts, where) {
  if (!facts.thresholds) return null;
  const { classes, first } = facts.thresholds;
  const [title, place] = [el("figcaption", {}), el("div", {})];
  const slider = el("input", { type: "range", min: 0, id: "threshold", oninput: () => move(curve.threshold.length - 1 - Number(slider.value)) });
  const told = el("div", { id: "at-threshold" });
  let cls, curve, charts;
  const precision = (i) => (curve.right[i] + curve.wrong[i] ? curve.right[i] / (curve.right[i] + curve.wrong[i]) : null);

  function show(chosen) {
    [cls, curve] = [chosen, classes[chosen]];
    const roc = [[0, 0], ...curve.right.map((n, i) => [curve.wrong[i] / curve.n_others, n / curve.n_own]), [1, 1]];
    const pr = curve.right.map((n, i) => [n / curve.n_own, precision(i)]).filter(([, share]) => share !== null);
    charts = [
      chart({ isPlain: true, title: `ROC curve: AUC ${format(curve.roc_auc, 4)}`, x: "false positive rate", y: "recall", even: [[0, 0], [1, 1]], series: [{ points: roc, dot: null }] }),
      chart({ isPlain: true, title: `Precision and recall: average precision ${format(curve.average_precision, 4)}`, x: "recall", y: "precision", even: [[0, curve.n_own / (curve.n_own + curve.n_others)], [1, curve.n_own / (curve.n_own + curve.n_others)]], series: [{ points: pr, dot: null }] }),
    ];
    title.replaceChildren("Threshold for ", named(facts.classes[cls]));
    place.replaceChildren(el("div", { class: "pair" }, charts));
    slider.max = curve.threshold.length - 1;
    move(curve.half);
  }

  // Thresholds are stored from the largest to the least; the slider has the least on its left.
  function move(i) {
    const [right, wrong] = [curve.right[i], curve.wrong[i]];
    const [missed, left] = [curve.n_own - right, curve.n_others - wrong];
    const recall = right / curve.n_own;
    const share = precision(i);
    const accuracy = (right + left) / (curve.n_own + curve.n_others);
    charts[0].mark([wrong / curve.n_others, recall]);
    charts[1].mark(share === null ? null : [recall, share]);
    slider.setAttribute("aria-valuetext", format(curve.threshold[i]));
    renew(told,
      el("p", {}, "Predict ", named(facts.classes[cls]), " if its probability is at least ", el("b", { id: "threshold-value", "data-value": curve.threshold[i] }, format(curve.threshold[i])), "."),
      el("div", { class: "pair" },
        tabulateConfusion(facts, [cls, 1 - cls], [[right, missed], [wrong, left]]),
        el("ul", { class: "legend" }, [["recall", percent(recall)], ["precision", known(share)], ["F1", percent((2 * right) / (2 * right + wrong + missed))], ["accuracy", percent(accuracy)], ["balanced accuracy", percent((recall + left / curve.n_others) / 2)]]
          .map(([name, text]) => el("li", {}, `${name} `, el("b", {}, text))))));
    slider.value = curve.threshold.length - 1 - i;
  }

  const jump = (text, key) => el("button", { type: "button", onclick: () => move(curve[key]) }, text);
  const figure = el("figure", { class: "card full", id: "thresholds" }, title,
    el("div", { class: "controls" }, choose("Class", facts.classes, first, show)), place,
    el("div", { class: "controls" }, el("div", { class: "slide" }, el("label", { for: "threshold" }, "Threshold: higher to the right"), slider), jump("0.5", "half"), jump("Best balanced accuracy", "balanced"), jump("Best F1", "f1")),
    told,
    el("p", { class: "note" }, `On the ${where}. The model itself predicts the class with the larger probability. A threshold chosen here should be checked on other rows; lhtree.choose_threshold finds one.`));
  show(first);
  return figure;
}
