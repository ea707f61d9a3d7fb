"""Each field, option and number that serve has stands on the page that lists them."""
import re

# what, where it is written, how, on which page
LISTS = (
    ("field", "level2-operator/api/api_fields.c", r'^    \{?"(\w+)",', "docs/api.md"),
    ("option", "level2-operator/server/serve_options.c", r'^        \{("[a-z-]+"),', "docs/serving.md"),
    ("number", "level2-operator/server/http_metrics.c", r'"((?:vllm:|ladder_|process_)\w+)"', "docs/level2/metrics.md"),
)
FAMILIES = ("guided_",)  # named once for all


def words_of(what, name):
    """How a page may name it."""
    if what == "option":
        return [f"--{name[1:-1]}"]
    return [f"`{name}", *(f"`{family}*`" for family in FAMILIES if name.startswith(family))]


def faults_of(root):
    for what, source, pattern, page in LISTS:
        names = re.findall(pattern, (root / source).read_text(), re.M)
        text = (root / page).read_text()
        if not names:
            yield f"{source}: no {what} is found in it"
        for name in dict.fromkeys(names):
            if not any(words in text for words in words_of(what, name)):
                yield f"{page}: says nothing of the {what} {name} of {source}"
