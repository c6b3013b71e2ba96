"""A hook of MkDocs: the site has all that its pages link to, and fetches nothing from elsewhere.

Pages link to files of the repository as GitHub shows them, such as `../examples/gsm8k.yaml`. Each
of these files becomes a page too, and the README the first one.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
DOCS = PurePosixPath("docs")
README = PurePosixPath("README.md")
PROJECT = tuple(map(PurePosixPath, ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")))
LANGUAGES = {".py": "python", ".yaml": "yaml", ".json": "json", ".toml": "toml"}

# The target of a link or image: `[text](../examples/gsm8k.yaml#top)`; not of another site.
LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)\s#]+)(#[^)\s]*)?(?=\))")
# What a browser would fetch from another site: `<script src="https://...`, `<link href="//...`.
FETCHED = re.compile(
    r"<(?:script|img|iframe|source)[^>]+src=[\"']?(?:https?:)?//[^\s>]+"
    r"|<link[^>]+href=[\"']?(?:https?:)?//[^\s>]+"
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the README, the project's pages, and a page for each file that pages link to."""
    for path in (README, *PROJECT):
        files.append(File.generated(config, str(page_of(path)), content=text_of(path)))
    sources = {DOCS / file.src_uri for file in files.documentation_pages() if file.abs_src_path}
    linked = {target for page in (*sources, README, *PROJECT) for target in outside(page)}
    for path in sorted(linked - {README, *PROJECT}):
        files.append(File.generated(config, str(page_of(path)), content=shown(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links between files of the repository become links between pages."""
    path = repository_path(PurePosixPath(page.file.src_uri))
    if path is None:
        return markdown
    folder = PurePosixPath(page.file.src_uri).parent
    return LINK.sub(lambda link: rewritten(link, path.parent, folder), markdown)


def on_post_build(config: MkDocsConfig) -> None:
    """Raise PluginError if a page fetches something from elsewhere."""
    site = Path(config.site_dir)
    for file in sorted(site.rglob("*.html")):
        if found := FETCHED.search(file.read_text()):
            raise PluginError(f"{file.relative_to(site)} fetches from elsewhere: {found[0]}")


def rewritten(link: re.Match[str], base: PurePosixPath, folder: PurePosixPath) -> str:
    """A link of a file in `base` as that of a page in `folder`."""
    target = page_of(joined(base, link[1]))
    return os.path.relpath(target, folder) + (link[2] or "")


def outside(path: PurePosixPath) -> set[PurePosixPath]:
    """The files outside docs/ to which a file links; PluginError for one that is not there."""
    targets = {joined(path.parent, link[1]) for link in LINK.finditer(text_of(path))}
    for target in targets:
        if not (ROOT / target).is_file():
            raise PluginError(f"{path}: a link to {target}, which is no file of the repository")
    return {target for target in targets if DOCS not in target.parents}


def joined(folder: PurePosixPath, link: str) -> PurePosixPath:
    """The file in the repository to which a link leads."""
    return PurePosixPath(os.path.normpath(folder / link))


def page_of(path: PurePosixPath) -> PurePosixPath:
    """The place in the site of a file in the repository."""
    if path == README:
        return PurePosixPath("index.md")
    if path in PROJECT:
        return PurePosixPath("project") / path
    if DOCS in path.parents:
        return path.relative_to(DOCS)
    return PurePosixPath("source") / f"{path}.md"


def repository_path(page: PurePosixPath) -> PurePosixPath | None:
    """The file of which a page is made; None for one that shows a source."""
    if page.parts[0] == "source":
        return None
    known = {page_of(path): path for path in (README, *PROJECT)}
    return known.get(page, DOCS / page)


def text_of(path: PurePosixPath) -> str:
    """The text of a file in the repository."""
    return (ROOT / path).read_text()


def shown(path: PurePosixPath) -> str:
    """A page with the text of a file."""
    fence = "`" * 6
    language = LANGUAGES.get(path.suffix, "text")
    return f"# {path}\n\n{fence}{language}\n{text_of(path)}\n{fence}\n"
