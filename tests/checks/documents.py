# SPDX-License-Identifier: Apache-2.0
"""Every relative link of the tree's Markdown files leads to a file, and to a heading where it names one.

Usage: documents.py TREE
"""

import pathlib
import re
import subprocess
import sys

FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\[[^\]\n]*\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)


def anchors(text):
    """The names that a forge gives to headings."""
    seen = {}
    for heading in HEADING.findall(FENCE.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")
        count = seen.get(name, 0)
        seen[name] = count + 1
        yield f"{name}-{count}" if count else name


def dead_links(tree, path):
    text = path.read_text(encoding="utf-8")
    for first, second in LINK.findall(CODE.sub("", FENCE.sub("", text))):
        link = first or second
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        if not target.exists():
            yield f"{path.relative_to(tree)}: {link} leads nowhere"
        elif anchor and target.suffix == ".md":
            if anchor not in set(anchors(target.read_text(encoding="utf-8"))):
                yield f"{path.relative_to(tree)}: {link}: no such heading"


def main():
    tree = pathlib.Path(sys.argv[1]).resolve()
    listed = subprocess.run(
        ["git", "-C", tree, "ls-files", "-z", "--", "*.md"], check=True, capture_output=True, text=True
    ).stdout
    pages = [tree / name for name in listed.split("\0") if name and (tree / name).is_file()]
    faults = [fault for page in pages for fault in dead_links(tree, page)]
    if not pages:
        faults.append("no Markdown file found")
    print("\n".join(faults) or f"{len(pages)} documents, no dead link")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
