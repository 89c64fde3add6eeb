"""Models and trees as HTML, which notebooks show: no matplotlib, in the colours of the page around them."""

from ._model import draw_model
from ._tree import draw_tree, draw_trees

__all__ = ["draw_model", "draw_tree", "draw_trees"]
