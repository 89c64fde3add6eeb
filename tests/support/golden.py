"""Golden files of error messages: lines of code, each followed by its expected message in an indented line."""


def read_cases(path):
    """Return the messages by line of code."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return dict(zip(lines[::2], [line.removeprefix("    ") for line in lines[1::2]], strict=True))


def write_cases(path, find_message):
    """Write the messages that ``find_message`` returns for the lines of code in the file."""
    found = [f"{code}\n    {find_message(code)}\n" for code in read_cases(path)]
    path.write_text("".join(found), encoding="utf-8")


def read_texts(path):
    """Return the texts of a golden file by their titles, the lines that start with "##"."""
    sections = path.read_text(encoding="utf-8").removeprefix("## ").split("\n\n## ")
    titles_and_texts = (section.partition("\n") for section in sections)
    return {title: text.removesuffix("\n") for title, _, text in titles_and_texts}


def write_texts(path, texts):
    """Write a golden file from functions that return texts, by their titles."""
    written = "\n\n".join(f"## {title}\n{find_text()}" for title, find_text in texts.items())
    path.write_text(f"{written}\n", encoding="utf-8")
