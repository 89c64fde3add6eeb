"""The generated parts of the page, one or more per part that was measured."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..common.draw import COLOURS, PEER_COLOURS, make_axes, plot_line, save
from ..common.pages import Docs, markdown_table
from ..common.results import Result
from . import boosting, categories, classes
from .batch import SIZES
from .fit import FORESTS, TREES
from .models import TITLES
from .targets import key_table, target_table

# Offsets of the numbers at points; lines take turns, because their ends are often close.
_OFFSETS = ((5, 5), (5, -11), (-15, 5), (-15, -11))


def _say(value: float, scale: float = 1.0) -> str:
    """Three digits that count."""
    value *= scale
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _spread(timing: Result, scale: float) -> str:
    """Median with its quartiles."""
    return f"{_say(timing['cpu'], scale)} ({_say(timing['low'], scale)} – {_say(timing['high'], scale)})"


def _bound(part: Result, _: Docs) -> str:
    rows = [
        ["reading 1M × 50 float32 once (a dot product with itself)", f"{part['pass_seconds'] * 1e3:.1f} ms"],
        ["the same as a rate", f"{part['read_gb_s']:.1f} GB/s"],
        ["copying it, bytes read and written", f"{part['copy_gb_s']:.1f} GB/s"],
        ["one feature sum per row (`X @ w`)", f"{part['feature_sum_seconds'] * 1e3:.1f} ms"],
        ["float32 matrix product", f"{part['gflops']:.0f} GFLOP/s"],
        ["an empty Python call", f"{part['call_seconds'] * 1e6:.3f} µs"],
        ["a new array of shape (1, 2)", f"{part['array_seconds'] * 1e6:.3f} µs"],
    ]
    return markdown_table("what | measured", rows)


def _one_row(part: Result, _: Docs) -> str:
    text = []
    if "onnx_error" in part:
        text.append(f"LightGBM's model could not be converted for onnxruntime: {part['onnx_error']}.")
    for name, found in part["data"].items():
        rows = []
        for key, timing in found["times"].items():
            model, method = key.split("|")
            cells = [TITLES.get(model, model), method, _spread(timing, 1e6), _say(timing["wall"], 1e6)]
            rows.append(cells)
        depths = ", ".join(f"{TITLES[key]} {depth}" for key, depth in found["depths"].items())
        text += [
            f"**{name}, {found['n_features']} features**",
            markdown_table("model | call | µs | wall µs", rows),
            f"Depth of our models: {depths}.",
        ]
    return "\n\n".join(text)


def _batch(part: Result, docs: Docs) -> str:
    text: list[str] = []
    panels = []
    for name, found in part.items():
        equal, times = found["equal"], found["times"]
        sizes = [str(size) for size in SIZES if str(size) in times]
        rows = []
        for key in times[sizes[-1]]:
            last = times[sizes[-1]][key]
            rates = [_say(int(size) / times[size][key]["cpu"], 1e-6) for size in sizes]
            spread = [_say(int(sizes[-1]) / last[end], 1e-6) for end in ("high", "low")]
            rows.append([_title_equal(key, equal), *rates, " – ".join(spread)])
        head = ["model", *(f"{int(size):,} rows" for size in sizes), "quartiles"]
        n_trees = equal["n_trees"]
        reached = f"{n_trees} trees of the mixed forest reach" if n_trees else "100 trees do not reach"
        steps = ", ".join(f"{count}: {value:.4f}" for count, value in equal["steps"].items())
        text += [
            f"**{name}, {found['n_features']} features**",
            markdown_table(head, rows),
            f"{reached} XGBoost's accuracy of {equal['xgboost']:.4f} on held-out rows ({equal['n_splits']} splits); "
            f"accuracy by number of trees: {steps}.",
        ]
        lines = {}
        for key in times[sizes[-1]]:
            per_row = [times[size][key]["cpu"] / int(size) * 1e6 for size in sizes]
            lines[TITLES[key].removesuffix(" (100)")] = [int(size) for size in sizes], per_row
        panels.append(Panel(name, "rows in the batch", "µs of CPU time per row", lines))
    draw_panels("speed-batch", panels, docs)
    return "\n\n".join(text)


def _title_equal(key: str, equal: Result) -> str:
    if key == "mixed_equal":
        return f"mixed forest ({equal['n_trees'] or 100} trees)"
    return TITLES[key]


def _fit(part: Result, _: Docs) -> str:
    text = []
    for models in (TREES, FORESTS):
        rows = []
        for name, found in part["nine"].items():
            data = f"{name}, {found['shape'][0]} × {found['shape'][1]}"
            rows.append([data, *(_spread(found["times"][key], 1e3) for key in models)])
        text.append(markdown_table(["data", *(TITLES[key] for key in models)], rows))
    rows = []
    for n_rows, found in part["large"].items():
        cart = _say(found["cart"]["seconds"])
        if not found["cart"]["is_done"]:
            cart = f"stopped after {cart}"
        cells = [f"{int(n_rows):,} × 50", _spread(found["times"]["paper_tree"], 1.0), cart]
        rows.append([*cells, f"{found['mean_depth']:.1f}"])
    head = "synthetic | paper tree, s | CART, s | mean depth of a row's leaf"
    forest = part["forest"]
    more = [
        [TITLES[key], _say(timing["cpu"]), _say(timing["wall"]), f"{forest['accuracy'][key]:.4f}"]
        for key, timing in forest["times"].items()
    ]
    return "\n\n".join(
        [
            *text,
            "Normally distributed float32 rows, classes separated by an oblique plane, 5 % of the labels random:",
            markdown_table(head, rows),
            f"{forest['n_rows']:,} × 50, 100 trees; each tree of the mixed forest sees "
            f"{forest['max_samples']:,} rows; accuracy on 100,000 new rows:",
            markdown_table("model | CPU s | wall s | accuracy", more),
        ]
    )


def _memory(part: Result, _: Docs) -> str:
    rows = []
    for key in part["peak"]:
        large = part["peak_large"].get(key)
        sizes = [f"{part['pickled'][name][key] / 1e6:.2f}" for name in part["pickled"]]
        peak = f"{part['peak'][key] / 1e6:.1f}"
        rows.append([TITLES[key], peak, f"{large / 1e6:.1f}" if large else "–", *sizes])
    head = f"model | peak of fit, {part['small']} | peak of fit, {part['n_rows']:,} × 50 float32"
    head += "".join(f" | pickled, {name}" for name in part["pickled"])
    trees = [
        f"{n_bytes / 1e6:.0f} MB ({n_rows:,} × 50 {dtype}, {n_classes} classes)"
        for n_rows, dtype, n_classes, n_bytes in part["peak_tree"]
    ]
    return f"{markdown_table(head, rows)}\n\nPeaks of one paper tree: {', '.join(trees)}."


def _import(part: Result, _: Docs) -> str:
    rows = [[name, _spread(timing, 1e3), f"{timing['wall'] * 1e3:.0f}"] for name, timing in part.items()]
    return markdown_table("module | CPU ms | wall ms", rows)


def _scaling(part: Result, docs: Docs) -> dict[str, str]:
    parts = {}
    for kind, title in (("fit", "Fit"), ("batch", "Batch")):
        panels, rows = [], []
        for axis, measured in part["axes"].items():
            lines = {}
            for name, line in measured[kind].items():
                seconds = [timing["cpu"] for timing in line["times"]]
                lines[name] = line["values"], seconds
                said = "–" if line["exponent"] is None else f"{line['exponent']:.2f}"
                reach = f"{line['values'][0]:,} … {line['values'][-1]:,}"
                rows.append([axis, name, reach, said, _say(seconds[-1])])
            panels.append(Panel(f"{title} against {axis}", axis, "CPU seconds", lines))
        draw_panels(f"speed-scaling-{kind}", panels, docs)
        head = "axis | model | values | exponent | seconds at the largest"
        parts[f"scaling_{kind}"] = markdown_table(head, rows)
    return parts | {"threads": _threads(part["threads"])}


def _threads(part: Result) -> str:
    rows = []
    for what, states in part["work"].items():
        cells = []
        for state in ("quiet", "busy"):
            one, two = (states[state][count]["wall"] for count in ("1", "2"))
            cells += [_say(one, 1e3), _say(two, 1e3), f"{one / two:.2f}×"]
        rows.append([what, *cells])
    head = "task | 1 thread | 2 threads | speed-up | 1 thread, busy | 2 threads, busy | speed-up, busy"
    note = "" if part["load"] is None else f"System load before the run: {part['load']:.1f}.\n\n"
    return note + markdown_table(head, rows)


def _frontier(part: Result, docs: Docs) -> str:
    panels, rows = [], []
    for name, points in part["data"].items():
        lines: dict[str, tuple[list[float], list[float]]] = {}
        marks: dict[str, list[str]] = {}
        for point, found in points.items():
            key, count = point.split("|")
            title = TITLES[key].removesuffix(" (100)")
            x, y = lines.setdefault(title, ([], []))
            per_row = found["cpu"] / part["n_rows"] * 1e6
            x.append(per_row)
            y.append(100 * found["accuracy"])
            marks.setdefault(title, []).append(count)
            rows.append([name, title, count, f"{found['accuracy']:.4f}", _say(per_row)])
        panels.append(Panel(name, "µs of CPU time per row", "test accuracy, %", lines, marks))
    draw_panels("speed-frontier", panels, docs)
    head = "data | model | trees | accuracy | µs per row"
    size = f"A batch of {part['n_rows']:,} rows; mean over {part['n_splits']} splits."
    return f"{size}\n\n{markdown_table(head, rows)}"


_TABLES: dict[str, Callable[[Result, Docs], str]] = {
    "bound": _bound,
    "one_row": _one_row,
    "batch": _batch,
    "frontier": _frontier,
    "fit": _fit,
    "memory": _memory,
    "boosting": lambda part, _: boosting.render(part),
    "categories": lambda part, _: categories.render(part),
    "classes": lambda part, _: classes.render(part),
    "import": _import,
}


def render(results: dict[str, Any], docs: Docs) -> dict[str, str]:
    """Draw the pictures and return the parts of the page by their marks."""
    parts = {name: table(results[name], docs) for name, table in _TABLES.items() if name in results}
    if "scaling" in results:
        parts |= _scaling(results["scaling"], docs)
    return {"key": key_table(results), "targets": target_table(results)} | parts


class Panel(NamedTuple):
    """One set of axes: lines of x and y by name, x logarithmic; with marks at the points y is not."""

    title: str
    x_label: str
    y_label: str
    lines: dict[str, tuple[list[float], list[float]]]
    marks: dict[str, list[str]] | None = None


def draw_panels(name: str, panels: Sequence[Panel], docs: Docs) -> None:
    """Draw panels two by two."""
    n_columns = min(2, len(panels))
    n_rows = -(-len(panels) // n_columns)
    figure, grid = make_axes(n_rows, n_columns, 5.5 * n_columns, 4 * n_rows + 0.8)
    handles: dict[str, Any] = {}
    for ax, panel in zip(grid.flat, panels, strict=True):
        for number, (title, (x, y)) in enumerate(panel.lines.items()):
            handles[title] = plot_line(ax, title, x, y)
            marks = (panel.marks or {}).get(title, [])
            text = {
                "fontsize": 7,
                "color": handles[title].get_color(),
                "xytext": _OFFSETS[number % len(_OFFSETS)],
            }
            for i in sorted({0, len(marks) - 1}) if len(marks) > 1 else ():
                ax.annotate(marks[i], (x[i], y[i]), textcoords="offset points", **text)
        ax.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label, xscale="log")
        ax.margins(x=0.08)
        _mark_plainly(ax.xaxis)
        if panel.marks is None:
            ax.set_yscale("log")
            _mark_plainly(ax.yaxis)
        ax.grid(visible=True, which="major", alpha=0.3)
    order = [title for title in (*COLOURS, *PEER_COLOURS) if title in handles]
    style = {"loc": "outside lower center", "ncols": 2 * n_columns, "frameon": False, "fontsize": 9}
    figure.legend([handles[title] for title in order], order, **style)
    save(figure, docs.pages, name)


def _mark_plainly(axis: Any) -> None:
    """Mark a logarithmic axis with plain numbers, as many as there is room for."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 200 else (1,), numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _say_short(value)))
    axis.set_minor_formatter(NullFormatter())


def _say_short(value: float) -> str:
    for unit, scale in (("M", 1e6), ("k", 1e3)):
        if value >= scale:
            return f"{value / scale:g} {unit}"
    return f"{value:g}"
