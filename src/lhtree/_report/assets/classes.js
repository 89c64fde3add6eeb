// Where classes are predicted: confusions, and of two classes what every threshold would do.

const known = (share) => (share === null ? "–" : percent(share));

function showConfusion(facts, figures, where) {
  if (facts.confusions) return showConfusions(facts, figures, where);
  const cell = (n, row, isRight) => {
    const share = n / Math.max(1, row.reduce((sum, each) => sum + each, 0));
    const shade = `color-mix(in srgb, var(${isRight ? "--accent" : "--warn"}) ${Math.round(n ? 12 + 48 * share : 0)}%, var(--card))`;
    return el("td", { style: { background: shade } }, format(n, 7));
  };
  const isWide = facts.classes.length > 4 || facts.labels.some((name) => name.length > 12);
  return el("figure", { class: isWide ? "card full" : "card" }, el("figcaption", {}, "Confusion matrix"),
    table(["", ...facts.labels.map((name) => short(name, 40))], figures.confusion.map((row, i) => [
      short(facts.labels[i], 40), ...row.map((n, j) => cell(n, row, i === j))]), { class: "confusion" }),
    el("p", { class: "note" }, `Rows: true class; columns: predicted class. Counts of the ${where}.`),
    tabulateClasses(facts, figures, facts.labels.map((_, i) => i)),
    el("p", { class: "note" }, TELL_RECALL));
}

const TELL_RECALL = "Recall: the share of a class that is predicted as such. Precision: the share of predictions of a class that are correct.";

function tabulateClasses(facts, figures, order) {
  return table(["class", "recall", "precision"], order.map((i) => [short(facts.labels[i], 40), known(figures.classes[i].recall), known(figures.classes[i].precision)]));
}

// Of many classes, the pairs that are confused most and the classes that are found least.
function showConfusions(facts, figures, where) {
  const { n_wrong: wrong, n_pairs: pairs, pairs: top } = facts.confusions;
  const list = (some) => table(["true class", "predicted as", "rows", "of the class"], some.map((one) => [
    short(facts.labels[one.true], 40), el("td", { class: "text" }, short(facts.labels[one.predicted], 40)), format(one.n_rows, 7), percent(one.n_rows / figures.classes[one.true].n_rows)]), { class: "confusions" });
  const order = figures.classes.map((_, i) => i).filter((i) => figures.classes[i].recall !== null).sort((a, b) => figures.classes[a].recall - figures.classes[b].recall);
  return el("figure", { class: "card full" }, el("figcaption", {}, "Most frequent confusions"),
    el("div", { class: "pair" },
      el("div", {},
        top.length ? list(top.slice(0, FIRST_CLASSES)) : el("p", {}, "None: every row is predicted correctly."),
        top.length > FIRST_CLASSES ? unfold(`${top.length - FIRST_CLASSES} more`, () => list(top.slice(FIRST_CLASSES))) : null,
        el("p", { class: "note" }, `${format(wrong, 7)} of the ${format(figures.n_rows, 7)} ${where} ${wrong === 1 ? "is" : "are"} confused, in ${count(pairs, "pair")} of classes.`)),
      el("div", {},
        tabulateClasses(facts, figures, order.slice(0, FIRST_CLASSES)),
        order.length > FIRST_CLASSES ? unfold(`${order.length - FIRST_CLASSES} more classes`, () => tabulateClasses(facts, figures, order.slice(FIRST_CLASSES))) : null,
        el("p", { class: "note" }, `Classes with the lowest recall first. ${TELL_RECALL}`))));
}

// ROC and precision-recall curves of two classes, and a threshold to move.
function showThresholds(facts, where) {
  if (!facts.thresholds) return null;
  const { classes, first } = facts.thresholds;
  const place = el("div", {});
  const slider = el("input", { type: "range", min: 0, id: "threshold", "aria-label": "Threshold", oninput: () => move(Number(slider.value)) });
  const told = el("div", { id: "at-threshold" });
  let cls, curve, charts;
  const precision = (i) => (curve.right[i] + curve.wrong[i] ? curve.right[i] / (curve.right[i] + curve.wrong[i]) : null);

  function show(chosen) {
    [cls, curve] = [chosen, classes[chosen]];
    const roc = [[0, 0], ...curve.right.map((n, i) => [curve.wrong[i] / curve.n_others, n / curve.n_own]), [1, 1]];
    const pr = curve.right.map((n, i) => [n / curve.n_own, precision(i)]).filter(([, share]) => share !== null);
    charts = [
      chart({ isPlain: true, title: `ROC curve: AUC ${format(curve.roc_auc, 4)}`, x: "false positive rate (vertical: recall)", y: "recall", even: [[0, 0], [1, 1]], series: [{ points: roc, dot: null }] }),
      chart({ isPlain: true, title: `Precision and recall: average precision ${format(curve.average_precision, 4)}`, x: "recall (vertical: precision)", y: "precision", even: [[0, curve.n_own / (curve.n_own + curve.n_others)], [1, curve.n_own / (curve.n_own + curve.n_others)]], series: [{ points: pr, dot: null }] }),
    ];
    place.replaceChildren(el("div", { class: "pair" }, charts));
    slider.max = curve.threshold.length - 1;
    slider.value = curve.half;
    move(curve.half);
  }

  // The threshold falls from left to right, so that more rows are predicted as the class.
  function move(i) {
    const [right, wrong] = [curve.right[i], curve.wrong[i]];
    const [missed, left] = [curve.n_own - right, curve.n_others - wrong];
    const recall = right / curve.n_own;
    const share = precision(i);
    const accuracy = (right + left) / (curve.n_own + curve.n_others);
    charts[0].mark([wrong / curve.n_others, recall]);
    charts[1].mark(share === null ? null : [recall, share]);
    slider.setAttribute("aria-valuetext", format(curve.threshold[i]));
    const [own, other] = [facts.labels[cls], facts.labels[1 - cls]];
    renew(told,
      el("p", {}, "Predict ", named(facts.classes[cls]), " if its probability is at least ", el("b", { id: "threshold-value", "data-value": curve.threshold[i] }, format(curve.threshold[i])), "."),
      el("div", { class: "pair" },
        table(["", short(own, 40), short(other, 40)], [[short(own, 40), format(right, 7), format(missed, 7)], [short(other, 40), format(wrong, 7), format(left, 7)]], { class: "confusion" }),
        el("ul", { class: "legend" }, [["recall", percent(recall)], ["precision", known(share)], ["F1", percent((2 * right) / (2 * right + wrong + missed))], ["accuracy", percent(accuracy)], ["balanced accuracy", percent((recall + left / curve.n_others) / 2)]]
          .map(([name, text]) => el("li", {}, `${name} `, el("b", {}, text))))));
    slider.value = i;
  }

  const jump = (text, key) => el("button", { type: "button", onclick: () => move(curve[key]) }, text);
  const figure = el("figure", { class: "card full", id: "thresholds" }, el("figcaption", {}, "Threshold"),
    el("div", { class: "controls" }, choose("Class", facts.classes, first, show)), place,
    el("div", { class: "controls" }, el("div", { class: "slide" }, slider), jump("0.5", "half"), jump("Best balanced accuracy", "balanced"), jump("Best F1", "f1")),
    told,
    el("p", { class: "note" }, `On the ${where}; rows of the small matrix are true classes. The model itself predicts the class with the larger probability. A threshold chosen here should be checked on other rows; lhtree.choose_threshold finds one.`));
  show(first);
  return figure;
}
