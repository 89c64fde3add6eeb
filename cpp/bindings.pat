# How nanobind's stubgen writes what it cannot know.
lhtree._core.(DIRECTIONS|OFFSETS|MEMBERSHIPS|CONFIDENCES|LINKS):
    \1: tuple[str, ...]
