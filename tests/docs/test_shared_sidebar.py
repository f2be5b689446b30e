"""The contents in the sidebar are made once for pages that do not stand in them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from docs.extensions import extension


def test_pages_of_a_folder_share_the_contents_unless_they_stand_in_them() -> None:
    """Links are relative to the folder; only an entry of the contents can be the present one."""
    includes = {"index": ["api/index", "faq"], "api/index": ["api/a"]}
    app = SimpleNamespace(env=SimpleNamespace(toctree_includes=includes))
    share = extension("shared_sidebar").share
    kept: dict[Any, str] = {}
    made: list[Any] = []

    def contents_of(name: str, **options: object) -> str:
        def toctree(**options: object) -> str:
            made.append((name, options))
            return f"{name} {options}"

        context = {"toctree": toctree}
        share(kept, app, name, "page.html", context, None)
        return context["toctree"](**options)

    first = contents_of("classes/B", collapse=False)
    assert first == contents_of("classes/C", collapse=False)
    assert first != contents_of("classes/C", collapse=True)
    assert first != contents_of("sources/B", collapse=False)
    assert 3 == len(made)
    for name in ("index", "api/a", "faq", "api/index"):
        assert contents_of(name, collapse=False).startswith(name)
