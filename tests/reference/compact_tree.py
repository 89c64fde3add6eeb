"""The compact tree in plain loops: passes over a tree, splitting leaves, growth. See ``reference_compact.py``."""

import copy

import numpy as np

from .compact import TIE, Problem, solve


class Block:
    """A leaf, until it has a line and two blocks below."""

    def __init__(self, rows):
        self.rows = rows
        self.line = self.left = self.right = self.leaf = self.asked = self.split = None

    @property
    def is_leaf(self):
        """Whether it has nothing below."""
        return self.line is None

    @property
    def leaves(self):
        """All leaves, from left to right."""
        return [self] if self.is_leaf else self.left.leaves + self.right.leaves

    @property
    def branching(self):
        """All branching blocks, parents first, left before right."""
        return [] if self.is_leaf else [self, *self.left.branching, *self.right.branching]

    @property
    def size(self):
        """Terms + leaves."""
        return len(self.leaves) + sum(len(block.line.features) for block in self.branching)

    @property
    def depth(self):
        """Levels below."""
        return 0 if self.is_leaf else 1 + max(self.left.depth, self.right.depth)


def route(block, rows, data):
    """Send rows down the tree and recompute the estimates of its leaves."""
    if block.rows is None or not np.array_equal(block.rows, rows):
        block.split = None
    block.rows = rows
    if block.is_leaf:
        block.leaf = data.estimate(rows)
        return
    is_right = block.line.is_right(data.z[rows])
    route(block.left, rows[~is_right], data)
    route(block.right, rows[is_right], data)


def walk(block, data, row):
    """The leaf that a row ends in."""
    while not block.is_leaf:
        block = block.right if block.line.is_right(data.z[[row]])[0] else block.left
    return block


def costs_through(block, data, rows):
    """Cost of every row through a block, times its weight."""
    return np.array([data.weight[row] * data.costs(walk(block, data, row).leaf)[row] for row in rows])


def objective(block, data):
    """Σ costs + λ · (terms + leaves)."""
    return sum(data.cost_of(leaf.rows) for leaf in block.leaves) + data.lam * block.size


def become(block, other):
    """Put another block in the place of this one."""
    block.line, block.left, block.right = other.line, other.left, other.right
    block.leaf, block.asked, block.split = other.leaf, other.asked, None


def visit(block, data, searches):
    """Solve the problem of a block with fixed children."""
    left, right = (costs_through(below, data, block.rows) for below in (block.left, block.right))
    gain = left - right
    question = block.rows.tolist(), gain.tolist()
    if block.asked == question:
        return
    best = solve(Problem(data, block.rows, gain), block.line, searches=searches)
    margin = TIE * data.weight[block.rows].sum()
    least = np.minimum(left, right).sum()
    value, choice = data.cost_of(block.rows) + data.lam, "leaf"
    if best.line is not None:
        with_line = (
            least + best.wrong + data.lam * (len(best.line.features) + block.left.size + block.right.size)
        )
        if with_line <= value + margin:
            value, choice = with_line, "line"
    for side, costs, below in (("left", left, block.left), ("right", right, block.right)):
        if costs.sum() + data.lam * below.size < value - margin:
            value, choice = costs.sum() + data.lam * below.size, side
    if choice == "line":
        block.line, block.asked = best.line, question
    else:
        become(block, Block(block.rows) if choice == "leaf" else getattr(block, choice))
    route(block, block.rows, data)


def make_pass(root, data, searches=True):
    """Visit every branching block once, children first; then drop sides that are too light."""
    for depth in range(root.depth, -1, -1):
        level = [root]
        for _ in range(depth):
            level = [below for block in level if not block.is_leaf for below in (block.left, block.right)]
        for block in level:
            if not block.is_leaf:
                visit(block, data, searches)
    tidy(root, data)


def tidy(block, data):
    """Replace blocks with a side below min_samples_leaf by the other side, root first."""
    while not block.is_leaf:
        weights = [data.weight[below.rows].sum() for below in (block.left, block.right)]
        if min(weights) >= data.min_samples_leaf:
            break
        become(block, block.right if weights[0] < data.min_samples_leaf else block.left)
        route(block, block.rows, data)
    if not block.is_leaf:
        tidy(block.left, data)
        tidy(block.right, data)


def find_split(rows, data):
    """Return the best line for a leaf and the decrease of the objective; None without a decrease."""
    best, gain = None, 0.0
    weight = data.weight[rows].sum()
    if weight < 2.0 * data.min_samples_leaf:
        return best, gain
    before = data.cost_of(rows) + data.lam
    for sides in find_starts(rows, data):
        last, line = np.inf, None
        for _ in range(5):
            left, right = (data.costs(side)[rows] for side in sides)
            found = solve(Problem(data, rows, data.weight[rows] * (left - right)), line, is_quick=True)
            if found.line is None:
                break
            is_right = found.line.is_right(data.z[rows])
            parts = rows[~is_right], rows[is_right]
            sides = [data.estimate(part) for part in parts]
            value = sum(data.cost_of(part) for part in parts) + data.lam * (len(found.line.features) + 2)
            if not value < last - TIE * weight:
                break
            last, line = value, found.line
            if before - value > gain + TIE * weight:
                best, gain = line, before - value
    return best, gain


def find_starts(rows, data):
    """Pairs of what two sides of a leaf say: of the purest cut, and of each large class against the rest."""
    own, total = data.weight[rows], data.weight[rows].sum()

    def explained(part):
        return (np.square(data.count(part)).sum()) / data.weight[part].sum()

    best, sides = -np.inf, None
    for codes in data.codes:
        for code in np.unique(codes[rows])[:-1]:
            parts = rows[codes[rows] <= code], rows[codes[rows] > code]
            if min(data.weight[part].sum() for part in parts) < data.min_samples_leaf:
                continue
            value = sum(explained(part) for part in parts)
            if value > best + TIE * total:
                best, sides = value, [data.estimate(part) for part in parts]
    if sides is not None:
        yield sides
    if data.classes is None or len(data.prior) <= 2:
        return
    counts = data.count(rows)
    for cls in np.argsort(-counts, kind="stable")[:4]:
        is_own = data.classes[rows] == cls
        if 0.0 < counts[cls] < own.sum():
            yield [data.estimate(rows[~is_own]), data.estimate(rows[is_own])]


def improve(root, data):
    """Passes until they bring little; returns the best tree seen."""
    margin = TIE * len(root.rows)
    best, least = copy.deepcopy(root), objective(root, data)
    last = least
    for number in range(data.max_passes):
        make_pass(root, data, searches=number < 2)
        value = objective(root, data)
        if value < least - margin:
            best, least = copy.deepcopy(root), value
        if value > last - 1e-3 * last:
            break
        last = value
    return best


def grow_to(root, data, n_leaves):
    """Split the leaf with the largest gain until the tree has ``n_leaves`` leaves or no split gains."""
    while len(root.leaves) < n_leaves:
        for leaf in root.leaves:
            if leaf.split is None:  # of its present rows
                leaf.split = find_split(leaf.rows, data)
        found = [leaf.split for leaf in root.leaves]
        most = int(np.argmax([gain for _, gain in found]))
        line, gain = found[most]
        if not gain > 0.0:
            return
        leaf = root.leaves[most]
        leaf.line, leaf.left, leaf.right = line, Block(None), Block(None)
        route(leaf, leaf.rows, data)


def shrink_to(root, data, n_leaves):
    """Collapse the pair of leaves with the smallest cost until ``n_leaves`` are left."""
    while len(root.leaves) > n_leaves:
        pairs = [block for block in root.branching if block.left.is_leaf and block.right.is_leaf]
        rises = [data.cost_of(block.rows) - objective(block, data) for block in pairs]
        pair = pairs[int(np.argmin(rises))]
        become(pair, Block(pair.rows))
        route(pair, pair.rows, data)


def grow(data):
    """The tree of all rows, and the objective of every tree that was kept."""
    root = Block(np.arange(len(data.z)))
    route(root, root.rows, data)
    objectives, n_leaves = [objective(root, data)], 1
    while n_leaves < data.max_leaf_nodes:
        n_leaves = min(2 * n_leaves, data.max_leaf_nodes)
        grow_to(root, data, n_leaves)
        root = improve(root, data)
        objectives.append(objective(root, data))
    is_small = data.weight.sum() * data.z.shape[1] <= 300_000
    n_vain = 0
    for _ in range(8 if is_small else 3):
        if len(root.leaves) < data.max_leaf_nodes or n_vain == (2 if is_small else 1):
            break
        other = copy.deepcopy(root)
        grow_to(other, data, data.max_leaf_nodes + (8 if n_vain else 4))
        other = improve(other, data)
        shrink_to(other, data, data.max_leaf_nodes)
        other = improve(other, data)
        if objective(other, data) < objectives[-1] - TIE * len(root.rows):
            root, n_vain = other, 0
            objectives.append(objective(root, data))
        else:
            n_vain += 1
    return root, objectives
