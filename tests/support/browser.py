"""A real browser for tests of the report: the browser, its pages, and rows to try."""

import shutil

import numpy as np
import pytest

from lhtree import report

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-dev-shm-usage",
)
PATIENCE = 180_000  # milliseconds, on a very busy machine
PREDICT = """rows => rows.map(row => {
    const { z, clipped, values, walks, ...score } = lhtree.predict(row);
    return score;
})"""


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (group test)")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=list(ARGUMENTS), timeout=PATIENCE)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """A function that opens a file; afterwards nothing must have been complained about or asked for."""
    problems, contexts = [], []

    def open_(path, *, width=1200, height=900, **options):
        context = browser.new_context(
            viewport={"width": width, "height": height}, reduced_motion="reduce", **options
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
        url = path.as_uri()
        page.on("request", lambda request: request.url in (url, "data:,") or problems.append(request.url))
        page.goto(url)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def open_report(open_page, tmp_path):
    """A function that writes the report of a model and opens it."""

    def open_(model, X, y, *, report_options=None, **options):
        path = report(model, X, y, tmp_path / "report.html", **(report_options or {}))
        return open_page(path, **options)

    return open_


def as_json(rows):
    """Rows for the page: None is missing."""
    return [[None if np.isnan(value) else float(value) for value in row] for row in rows]


UNFOLD = """async () => {
    const closed = [...document.querySelectorAll("details:not([open])")];
    await Promise.all(closed.map(details => new Promise(done => {
        details.addEventListener("toggle", done, { once: true });
        details.open = true;
    })));
    for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
}"""


def unfold(page):
    """Open all details and wait until their contents are drawn."""
    page.evaluate(UNFOLD)


def plain(text):
    return text.replace("\u00a0", " ")


def make_rows(X, seed=0):
    """Rows of the data, rows with gaps, rows far out, and a row without any value."""
    generator = np.random.default_rng(seed)
    X = np.asarray(X, dtype=np.float64)
    gaps = np.where(generator.random(X[:50].shape) < 0.4, np.nan, X[:50])
    far = X[:50] * 10.0 ** generator.integers(-5, 40, size=X[:50].shape)
    return np.vstack([X[:100], gaps, far, np.full((1, X.shape[1]), np.nan)])


def shown_proba(page):
    """Probabilities as the page shows them, in the order of the classes."""
    names = page.locator("#answer .bars").first.locator(".short").all_text_contents()
    values = (
        page.locator("#answer .bars")
        .first.locator(".figure")
        .evaluate_all("figures => figures.map(figure => Number(figure.dataset.value))")
    )
    by_name = dict(zip(names, values, strict=True))
    return [by_name[name] for name in page.evaluate("lhtree.facts.classes")]
