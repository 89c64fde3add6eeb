"""The built site: links are valid, search works, pages fit a phone. ``make docs`` builds it and runs this."""

import os
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

if "LHTREE_SITE" not in os.environ:
    pytest.skip("make docs tests the site that it builds", allow_module_level=True)

SITE = Path(os.environ["LHTREE_SITE"])
KINDS = (
    "index",
    "getting_started",
    "guide",
    "explaining",
    "report",
    "coming_from",
    "gallery/index",
    "gallery/models/plot_all_models",
    "api",
    "generated/lhtree.LHBoostClassifier",
    "generated/lhtree.plot_tree",
    "benchmarks/accuracy",
    "changelog",
)


class Page(HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.links += [found[name] for name in ("href", "src") if found.get(name)]
        self.places |= {found[name] for name in ("id", "name") if found.get(name)}


PAGES = {
    path: Page(path)
    for path in sorted(SITE.rglob("*.html"))
    if path.name != "live_report.html" and "_static" not in path.parts
}


def is_valid(path, link):
    """Whether a link of a page is to another site, or to a file that has the place it names."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    return target.exists() and (target not in PAGES or unquote(parts.fragment) in PAGES[target].places)


def test_links_are_valid():
    assert len(PAGES) > 100
    assert not [
        f"{path.relative_to(SITE)}: {link}"
        for path, page in PAGES.items()
        for link in page.links
        if not is_valid(path, link)
    ]


def test_pages_load_nothing_from_other_sites():
    for path, page in PAGES.items():
        text = path.read_text(encoding="utf-8")
        assert 'src="http' not in text, path
        assert not [link for link in page.links if link.endswith((".js", ".css")) and "://" in link], path


@pytest.fixture
def visit(browser):
    """A function that opens a page of the site from disk, without a network."""
    problems, contexts = [], []

    def open_(name, *, width=1300, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(180_000)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("requestfailed", lambda request: problems.append(request.url))
        page.goto((SITE / f"{name}.html").as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()
    assert problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1300])
def test_pages_fit(visit, scheme, width):
    page = visit("index", width=width, color_scheme=scheme)
    for name in KINDS:
        page.goto((SITE / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
        assert page.locator("h1").first.is_visible()


def test_navigation(visit):
    page = visit("index")
    page.get_by_role("navigation").get_by_role("link", name="User guide").first.click()
    assert page.locator("h1").inner_text().startswith("User guide")
    page.locator(".bd-sidebar-primary").get_by_role("link", name="Choosing a model").click()
    assert page.locator("h1").inner_text().startswith("Choosing a model")
    page.locator(".prev-next-area .right-next").click()
    assert page.locator("h1").inner_text().startswith("Boosted trees")


def test_navigation_on_a_phone(visit):
    page = visit("index", width=390)
    assert not page.get_by_role("link", name="User guide").first.is_visible()
    page.locator("button.primary-toggle").first.click()
    page.get_by_role("dialog").get_by_role("link", name="User guide").click()
    assert page.locator("h1").inner_text().startswith("User guide")


def test_themes_can_be_switched(visit):
    page = visit("index", color_scheme="light")
    for theme in ("dark", "light"):
        page.get_by_role("button", name="Color mode").first.click()
        page.get_by_role("button", name=theme.title(), exact=True).first.click()
        assert page.evaluate("document.documentElement.dataset.theme") == theme


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("counterfactual", "explaining.html"),
        ("monotonic_cst", "boosting.html"),
        ("plot_tree", "lhtree.plot_tree.html"),
    ],
)
def test_search(visit, words, found):
    page = visit("index")
    page.keyboard.press("Control+k")
    page.keyboard.type(words)
    page.keyboard.press("Enter")
    page.locator(f"#search-results a[href*='{found}']").first.wait_for()


def test_the_report_is_live(visit):
    page = visit("report")
    frame = page.frame_locator(".live-report")
    frame.get_by_role("heading", name="Breast cancer: benign or malignant").wait_for()
    largest = frame.locator("#agreement").get_attribute("data-largest")
    assert float(largest) <= 1e-12
