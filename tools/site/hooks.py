"""The hooks of mkdocs.yml: pages of the site that are no files of docs/, and links between all of them."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import catalogue  # noqa: E402
import names  # noqa: E402
import navigation  # noqa: E402
import pages  # noqa: E402
import reference  # noqa: E402
import sources  # noqa: E402
from mkdocs.structure.files import File  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
ASSETS = Path(__file__).resolve().parent / "assets"


def on_config(config):
    config.mdx_configs["toc"]["slugify"] = pages.anchor
    config.mdx_configs["toc"]["permalink_title"] = "Link to this section"
    return config


def on_files(files, config):
    for file in [file for file in files if file.is_documentation_page() and file.name.startswith(".")]:
        files.remove(file)
    texts = {f"docs/{file.src_uri}": file.content_string for file in files.documentation_pages()}
    texts |= {name: (ROOT / name).read_text() for name in pages.OUTSIDE}
    texts["docs/decisions/README.md"] = pages.list_of_decisions(ROOT / "docs/decisions")
    for name, text in texts.items():
        if files.get_file_from_path(pages.page_of(name)) is None:
            files.append(File.generated(config, pages.page_of(name), content=text))
    config._catalogue = catalogue.Catalogue()
    for name, text in reference.pages_of(config._catalogue).items():
        files.append(File.generated(config, name, content=text))
    for name in pages.linked_images(texts):
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    for asset in ASSETS.iterdir():
        files.append(File.generated(config, f"assets/{asset.name}", abs_src_path=str(asset)))
    files.append(File.generated(config, "LICENSE", abs_src_path=str(ROOT / "LICENSE")))
    config.nav = navigation.expanded(config.nav, reference.navigation(config._catalogue),
                                     {file.src_uri for file in files.documentation_pages()})
    config._sources = sources.linked_from(texts)
    files.append(File.generated(config, "source/README.md", content=sources.TEMPLATE))
    for name in config._sources:  # on_post_build fills them
        files.append(File.generated(config, sources.page_of(name), content=""))
    return files


def on_page_markdown(markdown, page, config, files):
    if page.file.src_uri.startswith("reference/"):
        return markdown
    if page.file.src_uri.startswith("guide/"):
        page.meta["search"] = {"boost": 6}  # a chapter comes before the pages of the names that it explains
    elif page.file.src_uri.startswith("cookbook/"):
        page.meta["search"] = {"boost": 2}  # the reference has 3
    markdown = pages.without_comments(markdown)
    return pages.with_links_of_site(markdown, page.file.src_uri)


def on_page_content(content, page, config, files):
    content = re.sub(r"<th[^>]*></th>", "<td></td>", content)  # a heading without words is none
    return names.linked(content, page, config._catalogue, files)


def on_post_build(config):
    sources.write(Path(config.site_dir), config._sources)
