// Functions of the page that need no browser. Predictions are compared with the library in test_model.py.

import assert from "node:assert/strict";
import test from "node:test";

import { amount, capital, change, count, cut, cutAll, decimalsBetween, digitsBetween, exact, format, roundParts, signed, tally, whole } from "../../src/lhtree/reports/assets/draw.js";
import { roundTicks } from "../../src/lhtree/reports/assets/effects.js";
import { makeHead } from "../../src/lhtree/reports/assets/heads.js";
import { categoryOf, clip, decodeArray, divideDay, findColumns, nameOf } from "../../src/lhtree/reports/assets/model.js";
import { roundRange } from "../../src/lhtree/reports/assets/overview.js";
import { between, parseValue } from "../../src/lhtree/reports/assets/row.js";

const encode = (values) => ({ dtype: "float64", base64: Buffer.from(Float64Array.from(values).buffer).toString("base64") });

test("numbers have few digits and a true minus sign", () => {
  assert.deepEqual([1.23456, -0.5, 12345678, 0, 1e-5].map((value) => format(value)), ["1.235", "−0.5", "12,350,000", "0", "1e−5"]);
  assert.equal(format(NaN), "missing");
  assert.deepEqual([0.5, -0.5, 0].map((value) => signed(value)), ["+0.5", "−0.5", "0"]);
  assert.deepEqual([9999, 12345, 2.5e6].map(tally), ["9999", "12.3k", "2.5M"]);
  assert.deepEqual([0, 0.001, 0.5, 0.999, 1].map(whole), ["0\u00a0%", "<1\u00a0%", "50\u00a0%", ">99\u00a0%", "100\u00a0%"]);
  assert.deepEqual([count(1, "row"), count(2, "row"), count(2, "is", "are")], ["1 row", "2 rows", "2 are"]);
  assert.equal(capital("round"), "Round");
});

test("values of a row are shown as they are", () => {
  assert.deepEqual([66008, 66008.25, -1234567.5, 2014, 0.1, 2e-7, 1e300, NaN].map(exact), ["66,008", "66,008.25", "−1,234,567.5", "2014", "0.1", "2e−7", "1e+300", "missing"]);
  assert.deepEqual([1 / 3, 100000 + 1 / 3, Math.fround(0.1)].map(exact), ["0.333333", "100,000.333", "0.1"]);
});

test("amounts add up as printed", () => {
  assert.deepEqual([decimalsBetween(0, 50000), decimalsBetween(0, 5), decimalsBetween(2, 2)], [-1, 3, 4]);
  assert.deepEqual([amount(3934.5, -1), amount(-0.125, 2), amount(0.375, 2), change(1234.5, 0), change(-0.001, 2)], ["3,930", "−0.12", "0.38", "+1,234", "0.00"]);
  for (const [start, parts, end] of [[0.26, [0.26, 0.26, 0.26], 1.04], [3933, [-3018, -7], 908], [0.4, [0.4], 0.8], [1, [], 1], [0, [1e300], 1e300]]) {
    const rounded = roundParts(start, parts, end, 0);
    if (end < 1e15) assert.equal(rounded.reduce((sum, part) => sum + part, Math.round(start)), Math.round(end));
    assert.ok(rounded.every((part, i) => Math.abs(part - parts[i]) <= 1));
  }
});

test("digits tell values apart that are far from 0", () => {
  assert.equal(digitsBetween(0, 1), 4);
  assert.equal(digitsBetween(1e6, 1e6 + 1), 10);
  assert.equal(digitsBetween(1, 1), 4);
});

test("long names lose their middle, and lists of them stay distinct", () => {
  assert.equal(cut("short"), "short");
  const long = cut(`begin ${"x".repeat(80)} end`);
  assert.equal(Array.from(long).length, 60);
  assert.match(long, /^begin .*… ?.*end$/);
  const names = ["A", "B"].map((letter) => `the same beginning of the name ${letter} and the same end of the name`);
  assert.equal(new Set(cutAll(names, 20)).size, 2);
});

test("typed values are numbers, missing or rejected", () => {
  assert.deepEqual([" 2.5e1 ", "-.5", "−3", "+4.", "66,008", "1,234,567.5"].map(parseValue), [25, -0.5, -3, 4, 66008, 1234567.5]);
  assert.ok(Number.isNaN(parseValue("  ")));
  for (const text of ["abc", "1,5", "12,34", "1e999", "Infinity", "0x10", "--1"]) assert.equal(parseValue(text), undefined);
});

test("a slider stays in its range and moves with every step", () => {
  for (const [low, high] of [[0, 1e-3], [1e5, 1e5 + 1], [-1e9, -1e9 + 4000]]) {
    const values = Array.from({ length: 1001 }, (_, i) => between(low, high, i / 1000));
    assert.ok(values.every((value, i) => value >= low && value <= high && (i === 0 || value > values[i - 1])));
  }
});

test("ranges and ticks are round and include their numbers", () => {
  assert.deepEqual(roundRange(0.3, 7.9), [0, 8]);
  assert.deepEqual(roundRange(5, 5), [5, 9]);
  const ticks = roundTicks(-0.3, 1.7);
  assert.ok(ticks[0] <= -0.3 && ticks.at(-1) >= 1.7 && ticks.includes(0));
  assert.deepEqual(roundTicks(0, 0), [-1, 0, 1]);
});

test("arrays keep every bit", () => {
  assert.deepEqual([...decodeArray(encode([0.1, -1e300]))], [0.1, -1e300]);
  assert.deepEqual([-1, 0.5, 2].map((value) => clip(value)), [0, 0.5, 1]);
});

test("days have a year, a month and a weekday", () => {
  assert.deepEqual([0, 19757, 18321, -1].map(divideDay), [[1970, 1, 4], [2024, 2, 7], [2020, 2, 6], [1969, 12, 3]]);
  assert.ok(divideDay(NaN).every(Number.isNaN));
  const groups = [{ name: "day", first: 0, n_features: 4, categories: null, statistics: null, newest: 9 }];
  const [column] = findColumns({ names: ["a", "b", "c", "d"], groups });
  assert.deepEqual([column.hasIndicator, column.newest, column.features], [false, 9, [0, 1, 2, 3]]);
});

test("columns have one feature, one per category, or statistics", () => {
  const groups = [
    { name: "colour", first: 1, n_features: 2, categories: ["red", "blue"], statistics: null },
    { name: "shop", first: 3, n_features: 1, categories: ["a", "b"], statistics: [encode([0.25, 0.75])] },
    { name: "age", first: 4, n_features: 2, categories: null, statistics: null },
  ];
  const names = ["size", "colour = red", "colour = blue", "shop", "age", "age is missing"];
  const columns = findColumns({ names, groups });
  assert.deepEqual(columns.map(({ name, features }) => [name, features]), [["size", [0]], ["colour", [1, 2]], ["shop", [3]], ["age", [4, 5]]]);
  assert.equal(columns[3].hasIndicator, true);
  const row = [1, 0, 1, 0.25, NaN, 1];
  assert.deepEqual([1, 2].map((i) => categoryOf(columns[i], row)), [1, 0]);
  assert.deepEqual(columns.map((column) => nameOf(column, row)), ["size", "colour = blue", "shop = a", "age"]);
  assert.equal(nameOf(columns[1], [1, NaN, NaN]), "colour");
});

test("every head of the library has words", () => {
  const facts = { classes: ["a", "b"], labels: ["a", "b"], response: { low: 0, high: 4 }, trees: { arrays: {}, n_shown: 1 }, model: { n_estimators: 3, confidence: null } };
  const words = { WolfHead: ["trees per class", "forest"], MeanHead: ["trees", "forest"], RawScoreHead: ["rounds", "model"], NumberScoreHead: ["rounds", "model"] };
  for (const [kind, [estimators, whole]] of Object.entries(words)) {
    const head = makeHead({ ...facts, head: { kinds: [kind, "Head"], total: "total", is_log: false } }, { share: () => 1 });
    assert.equal(head.tellPartial().includes(`first 1 of 3 ${estimators}, because the whole ${whole} would`), true, kind);
    assert.ok(Math.abs(head.level(0, 0, 2)) <= 1, kind);
    assert.ok(head.writeParts(0, [0.5], 0.5)[0].startsWith("+"), kind);
    assert.ok(head.glossary().every(([term, text]) => term && text), kind);
  }
});

test("logarithms have a unit of their own", () => {
  const facts = { labels: ["price"], response: { low: 0, high: 4 }, head: { kinds: ["NumberScoreHead"], total: "logarithm of the prediction", is_log: true } };
  assert.equal(makeHead(facts, {}).unit.name, "the logarithm of the prediction");
  assert.equal(makeHead({ ...facts, head: { ...facts.head, is_log: false } }, {}).unit.name, "units of price");
});
