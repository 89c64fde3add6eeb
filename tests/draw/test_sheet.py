"""Decision sheets: complete, on one page, without overlaps, and with the decisions of the model."""

import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lhtree
from lhtree.describe.outline import CATEGORY, read_outline
from lhtree.draw.scene import POINT, Group, Text, find_bottom, find_width, fit_text
from lhtree.draw.sheet import SheetFacts, _write_html, compose, find_facts, follow
from lhtree.model.numbers import ALL_DIGITS, write_value
from lhtree.scorer import Scorer
from support.compact import LONG, make_customers, make_model, make_outline, turn_over


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(2, 4), n_leaves=st.integers(1, 9))
def test_example_follows_the_path_of_the_model(seed, n_classes, n_leaves):
    model, frame = make_model(seed, "text", n_classes, n_leaves)
    leaves = np.ravel(Scorer(model).apply(frame)).tolist()
    outline = read_outline(model)
    rows = model.encode(frame)
    for row, leaf in zip(rows[:20], leaves[:20], strict=True):
        example = follow(outline, model.name_values(row), "a row")
        assert example.leaf.number == leaf
        for decision in example.decisions:
            assert decision.is_left == (decision.total < decision.block.bound)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_example_with_target_statistics_follows_the_model(n_classes):
    random = np.random.default_rng(0)
    code = random.integers(0, 40, 400)
    frame = pd.DataFrame({"carrier": [f"C{n}" for n in code], "size": random.normal(size=400)})
    y = np.digitize(random.normal(size=40)[code] + frame["size"], [0.0, 1.0][: n_classes - 1])
    model = lhtree.CompactLHTClassifier(max_leaf_nodes=6).fit(frame, y)
    frame.loc[:2, "carrier"] = ["never seen", None, "C5"]
    leaves = np.ravel(model.apply(frame)).tolist()
    for row in range(20):
        assert find_facts(model, frame, y, row=row).example.leaf.number == leaves[row]


def write(path, **options):
    model, frame = make_model(1)
    scorer = Scorer(model)
    y = scorer.predict(frame)
    y[::5] = model.labels[0]
    return lhtree.sheet(scorer, path, frame, y, **options), model, frame, y


def test_html_has_title_accuracy_and_example(tmp_path):
    path, model, frame, y = write(tmp_path / "s.html", title="What <sells> & why", row=2)
    text = path.read_text(encoding="utf-8")
    assert "<title>What &lt;sells&gt; &amp; why</title>" in text
    assert "<script" not in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    measured = lhtree.evaluate(Scorer(model), frame, y)
    assert f"accuracy {100 * measured.accuracy:.2f} %" in text
    facts = find_facts(Scorer(model), frame, y, row=2)
    assert f"Leaf {facts.example.leaf.number}: " in text
    assert "Row 2 of the table." in text
    assert f"Results on {len(frame)} given rows" in text


def test_sheet_without_rows_has_no_example(tmp_path):
    model, _ = make_model(1)
    text = lhtree.sheet(Scorer(model), tmp_path / "s.html").read_text(encoding="utf-8")
    assert "Not measured" in text
    assert "None: pass a table with rows." in text


def test_sheet_without_classes_has_no_evaluation():
    model, frame = make_model(1)
    facts = find_facts(Scorer(model), frame)
    assert facts.evaluation is None
    assert facts.example.actual is None


def test_pdf_is_one_page_of_a4(tmp_path):
    path, *_ = write(tmp_path / "s.pdf")
    data = path.read_bytes()
    assert data.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", data)) == 1
    box = [float(n) for n in re.search(rb"/MediaBox\s*\[([^\]]*)\]", data)[1].split()]
    assert box == pytest.approx([0.0, 0.0, 595.28, 841.89], abs=0.5)


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "s.txt"},
        {"path": "nowhere/s.html"},
        {"path": "s.html", "title": 3},
        {"path": "s.html", "row": 80},
        {"path": "s.html", "row": -1},
    ],
)
def test_invalid_arguments_are_rejected(arguments, rejects, tmp_path):
    model, frame = make_model(0)
    path = tmp_path / arguments.pop("path")
    rejects(lhtree.sheet, Scorer(model), path, frame, **arguments)


def test_classes_without_rows_are_rejected(tmp_path, rejects):
    model, _ = make_model(0)
    rejects(lhtree.sheet, Scorer(model), tmp_path / "s.html", y=[1])


def test_other_models_are_rejected(tmp_path, rejects):
    X = np.arange(40.0).reshape(20, 2)
    rejects(lhtree.sheet, lhtree.LHTClassifier().fit(X, X[:, 0] > 20), tmp_path / "s.html")


FLAWS = """() => {
    const page = document.querySelector("svg").getBoundingClientRect();
    const texts = [...document.querySelectorAll("text")].filter(text => text.textContent.trim());
    const boxes = texts.map(text => text.getBoundingClientRect());
    const flaws = [];
    boxes.forEach((a, i) => {
        const name = texts[i].textContent;
        if (a.left < page.left || a.right > page.right || a.top < page.top || a.bottom > page.bottom) flaws.push(name);
        boxes.slice(i + 1).forEach((b, j) => {
            const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (wide > 1 && high > 0.35 * Math.min(a.height, b.height))
                flaws.push(name + " | " + texts[i + 1 + j].textContent);
        });
    });
    return flaws;
}"""


@pytest.mark.parametrize(
    ("n_classes", "names", "is_chain"),
    [(2, LONG, False), (3, LONG, True), (10, LONG, False), (10, None, True)],
)
def test_large_tree_prints_on_one_page(n_classes, names, is_chain, open_page, tmp_path):
    outline = make_outline(16, 8, n_classes, names, is_chain=is_chain)
    model, frame = make_model(0, n_classes=3)
    measured = lhtree.evaluate(Scorer(model), frame, Scorer(model).predict(frame))
    # Scores of as many classes as the outline has.
    scores = (measured.classes * 4)[:n_classes]
    object.__setattr__(measured, "classes", scores)
    example = follow(outline, dict.fromkeys(outline.columns, 1234.5678), "Row 17 of the table.", "class_1")
    scene = compose(SheetFacts("Which cells are malignant " * 3, outline, measured, example))
    assert scene.factor == 1.0
    path = tmp_path / "sheet.html"
    path.write_bytes(_write_html(scene, "A sheet"))
    page = open_page(path)
    assert page.evaluate(FLAWS) == []
    printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1


def make_numbers(n_rows=300, **options):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "area": random.normal(90.0, 30.0, n_rows).round(1),
            "town": random.choice(["Bern", "Rome", "Oslo"], n_rows),
            "street": [f"street {n}" for n in random.integers(0, 40, n_rows)],
        }
    )
    y = 2000.0 * frame["area"] + 50000.0 * (frame["town"] == "Bern") + random.normal(0.0, 5000.0, n_rows)
    frame.loc[::17, "area"] = np.nan
    return lhtree.CompactLHTRegressor(**options).fit(frame, y), frame, y


@pytest.mark.parametrize("membership", ["constant", "linear"])
def test_sheet_of_regression(membership, tmp_path):
    model, frame, y = make_numbers(membership=membership, penalty=0.3)
    leaves, predicted = np.ravel(model.apply(frame)).tolist(), model.predict(frame)
    for row in range(20):
        example = find_facts(model, frame, y, row=row).example
        assert example.leaf.number == leaves[row]
        assert example.probability is None
        assert float(example.name.replace(",", "")) == pytest.approx(predicted[row], rel=1e-3)
    text = lhtree.sheet(model, tmp_path / "s.html", frame, y, row=2).read_text(encoding="utf-8")
    measured = lhtree.evaluate(model, frame, y)
    assert f"R² {measured.r2:.4f}<" in text
    assert "Results on 300 given rows" in text
    assert "mean actual number" in text
    assert "class" not in text.split("</style>")[1]
    plain = lhtree.sheet(Scorer(model._model), tmp_path / "t.html").read_text(encoding="utf-8")
    assert "Not measured" in plain
    assert "None: pass a table with rows." in plain


def test_sheet_of_constant_regression(tmp_path):
    model = lhtree.CompactLHTRegressor().fit(np.arange(20.0)[:, None], np.full(20, 7.5))
    text = lhtree.sheet(model, tmp_path / "s.html", [[1.0]], [7.5]).read_text(encoding="utf-8")
    assert "Leaf 0: 7.5. The actual number is 7.5." in text


def test_regression_prints_on_one_page(open_page, tmp_path):
    model, frame, y = make_numbers(penalty=0.0, max_leaf_nodes=16)
    lhtree.sheet(model, tmp_path / "s.html", frame, y * 1000.0, title="What a house costs " * 5)
    page = open_page(tmp_path / "s.html")
    assert page.evaluate(FLAWS) == []
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) == 1


def list_texts(shapes):
    """Return the texts of a scene as they are written, with their boxes (left, top, right, bottom)."""
    found = []
    for shape in shapes:
        if isinstance(shape, Group):
            found += list_texts(shape.shapes)
        elif isinstance(shape, Text) and shape.text.strip():
            room = float("inf") if shape.room is None else shape.room
            text = fit_text(shape.text, room, shape.size, shape.weight)
            width, height = find_width(text, shape.size, shape.weight), 0.7 * shape.size * POINT
            left = shape.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[shape.anchor] * width
            found.append((text, (left, shape.y - height / 2, left + width, shape.y + height / 2)))
    return found


def is_over(p, q):
    """Return whether two boxes overlap by more than 0.2 millimetres."""
    return all(min(p[at + 2], q[at + 2]) - max(p[at], q[at]) > 0.2 for at in (0, 1))


def find_flaws(scene):
    """Return texts outside the margins of a page, and pairs of texts that overlap."""
    texts = list_texts(scene.shapes)
    room = [(size - 2 * scene.margin) / scene.factor + 0.1 for size in (scene.width, scene.height)]
    outside = [text for text, box in texts if min(box[:2]) < -0.1 or box[2] > room[0] or box[3] > room[1]]
    pairs = combinations(texts, 2)
    return outside, [(a, b) for (a, p), (b, q) in pairs if is_over(p, q)]


def measure_classes(n_classes):
    """Return an evaluation with ``n_classes`` classes."""
    random = np.random.default_rng(0)
    frame, y = pd.DataFrame({"x": random.normal(size=20 * n_classes)}), np.arange(20 * n_classes) % n_classes
    model = lhtree.CompactLHTClassifier(max_leaf_nodes=3).fit(frame, y)
    return lhtree.evaluate(model, frame, y)


@pytest.mark.parametrize(
    ("n_leaves", "n_terms", "n_classes", "names"),
    [
        (1, 1, 2, None),
        (2, 1, 2, None),
        (16, 8, 3, LONG),
        (6, 3, 14, None),
        (6, 3, 40, LONG),
        (16, 2, 24, None),
    ],
)
@pytest.mark.parametrize("has_rows", [False, True])
def test_page_is_complete_without_overlaps(n_leaves, n_terms, n_classes, names, has_rows):
    outline = make_outline(n_leaves, n_terms, n_classes, names)
    example = follow(outline, dict.fromkeys(outline.columns, 0.25), "Row 3 of the table.", outline.classes[0])
    facts = SheetFacts("A title", outline, *([measure_classes(n_classes), example] if has_rows else []))
    scene = compose(facts)
    assert find_flaws(scene) == ([], [])
    written = [text for text, _ in list_texts(scene.shapes)]
    for block in outline.blocks:
        assert (f"leaf {block.number}" if block.is_leaf else str(block.number)) in written
        for term in block.terms if len(block.terms) > 1 else ():
            assert f"{'−' if term.weight < 0 else '+'}{write_value(abs(term.weight), ALL_DIGITS)}" in written
    begin = written.index("Classes")
    listed = [text for text in written[begin:] if text in outline.classes]
    assert {outline.classes[code] for code in outline.predicted} <= set(listed)
    n_more = n_classes - len(set(listed))
    assert (f"and {n_more} more classes, which no leaf predicts" in written) == (n_more > 0)
    assert n_more == 0 or len(listed) >= 14
    results = f"Results on {facts.evaluation.n_rows:,} given rows" if has_rows else "Results"
    assert {"Classes", results, "Example"} <= set(written)
    assert ("Row 3 of the table." in written) == has_rows
    assert any(text.startswith("Not measured") for text in written) != has_rows


def test_very_large_trees_shrink_to_the_page():
    scene = compose(SheetFacts("A title", make_outline(40, 12, 3, LONG)))
    assert 0.2 < scene.factor < 1.0
    assert find_bottom(scene.shapes) * scene.factor <= scene.height - 2 * scene.margin + 1e-6
    assert find_flaws(scene)[0] == []


@pytest.mark.parametrize("max_leaf_nodes", [2, 16])
def test_categories_that_look_alike_are_written_in_full(max_leaf_nodes):
    frame, y = make_customers()
    model = lhtree.CompactLHTClassifier(max_leaf_nodes=max_leaf_nodes, penalty=0.1).fit(frame, y)
    scene = compose(find_facts(model, frame, y, row=3))
    assert find_flaws(scene) == ([], [])
    written = " ".join(text for text, _ in list_texts(scene.shapes))
    used = {term.name for block in read_outline(model._model).blocks for term in block.terms}
    assert "PaymentMethod = Credit card (automatic)" in used
    assert all(name in written for name in used)  # the tree of 16 leaves has room for most of them only
    assert ("…" in written) == (max_leaf_nodes == 16)
    assert not re.search(r"PaymentM[^ ]*… ?\(automatic\)", written)


def test_only_category_on_the_page_differs_from_the_others_of_its_column():
    outline = make_outline(16, 8, 2, [f"{'long name of a column ' * 9}{n}" for n in range(30)])
    others = tuple(f"{pay} of the customer, every month (automatic)" for pay in ("Bank", "Card"))
    term = replace(outline.blocks[0].terms[0], column="PaymentMethod " * 5, kind=CATEGORY, category=others[0])
    blocks = list(outline.blocks)
    blocks[0] = replace(blocks[0], terms=(replace(term, others=others[1:]), *blocks[0].terms[1:]))
    scene = compose(SheetFacts("A title", replace(outline, blocks=tuple(blocks))))
    written = " ".join(text for text, _ in list_texts(scene.shapes))
    assert "Bank" in written
    assert "Card" not in written


@pytest.mark.parametrize("long", ["", " of a class with a name that is longer than any room for it" * 3])
def test_all_predicted_classes_are_listed(long):
    random = np.random.default_rng(0)
    level = random.integers(0, 15, 600)
    names = np.array([f"{'kind ' * bool(long)}{n}{long}" for n in range(15)])
    frame = pd.DataFrame({"x": level + random.normal(0.0, 0.1, 600)})
    model = lhtree.CompactLHTClassifier(penalty=0.1).fit(frame, names[level])
    assert len(set(model.predict(frame))) == 15
    scene = compose(find_facts(model, frame, names[level], row=5))
    assert find_flaws(scene) == ([], [])
    written = [text for text, _ in list_texts(scene.shapes)]
    assert not any("more class" in text for text in written)
    shares = [text for text in written if re.fullmatch(r"0\.\d{3}", text)]
    assert len(shares) == 15
    text = " ".join(written[written.index("Classes") :])
    assert all(f"kind {n}" in text if long else f" {n} " in text for n in range(15))


def test_negated_category_of_two_is_written_as_the_other_one():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"paperless": random.choice(["no", "yes"], 200, p=[0.6, 0.4])})
    y = np.where(frame["paperless"] == "no", "stays", "leaves")
    model = lhtree.CompactLHTClassifier(penalty=1.0).fit(frame, y)
    flipped = turn_over(model._model)
    scenes = [compose(find_facts(Scorer(one), frame, row=0)) for one in (model._model, flipped)]
    for scene in scenes:
        written = [text for text, _ in list_texts(scene.shapes)]
        assert not any(text.startswith("not: ") for text in written)
        assert {"paperless = yes", "paperless = no"} & set(written)
        value = frame["paperless"][0]
        assert any(text.startswith(f"Block 0: paperless is {value}: ") for text in written)


def test_large_numbers_and_shares_are_written_in_full():
    income = np.random.default_rng(0).permutation(1_230_000 + 10.0 * np.arange(1000))
    y = np.where(income < 1_234_567, "low", "high")
    model = lhtree.CompactLHTClassifier().fit(pd.DataFrame({"income": income}), y)
    facts = find_facts(
        model, pd.DataFrame({"income": income}), y, row=int(np.flatnonzero(income == 1_234_560)[0])
    )
    written = [text for text, _ in list_texts(compose(facts).shapes)]
    assert any(text.startswith("Block 0: income 1,234,560 is below 1,234,56") for text in written)
    assert ">0.99" in written
    assert any(text.startswith("income < 1,234,56") for text in written)
    assert not any("e+0" in text or text.endswith("probability 1.00.") for text in written)


def test_long_categories_are_written_on_several_lines():
    random = np.random.default_rng(0)
    towns = [f"a town on the {'very ' * 20}long river number {n} in the north" for n in range(4)]
    frame = pd.DataFrame({"where it is": random.choice(towns, 400), "size": random.normal(size=400)})
    y = frame["where it is"].isin(towns[:2]) & (frame["size"] < 1.0)
    model = lhtree.CompactLHTClassifier(max_leaf_nodes=8).fit(frame, np.where(y, "sold " * 20, "kept " * 20))
    scene = compose(find_facts(model, frame, np.where(y, "sold " * 20, "kept " * 20), row=5))
    assert find_flaws(scene) == ([], [])
    written = [text for text, _ in list_texts(scene.shapes)]
    assert all(f"number {n} in the north" in " ".join(written) for n in range(2))
    assert any(text.startswith("Block 0: ") for text in written)


@pytest.mark.parametrize("membership", ["constant", "linear"])
def test_regression_is_complete_without_overlaps(membership):
    model, frame, y = make_numbers(membership=membership, max_leaf_nodes=16, penalty=0.0)
    scene = compose(find_facts(model, frame, y * 1e6, row=1))
    assert find_flaws(scene) == ([], [])
    written = [text for text, _ in list_texts(scene.shapes)]
    outline = read_outline(model._model)
    assert {f"leaf {block.number}" for block in outline.blocks if block.is_leaf} <= set(written)
    listed = written[written.index("Predictions") : written.index(f"Results on {len(y)} given rows")]
    assert {str(block.number) for block in outline.blocks if block.is_leaf} <= set(listed)
    assert {"Predictions", "share of rows", "mean prediction", "mean actual number"} <= set(written)
    assert ("linear" in written) == (membership == "linear")
