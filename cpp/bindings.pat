# How nanobind's stubgen writes what it cannot know. The submodule exists for the tests only.
lhtree._core.pieces:
    \from types import ModuleType
    pieces: ModuleType

lhtree._core.(DIRECTIONS|OFFSETS|MEMBERSHIPS|CONFIDENCES|LINKS):
    \1: tuple[str, ...]
