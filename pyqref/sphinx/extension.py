"""The directives and what they add to a project; :mod:`pyqref.sphinx` says what they are for."""

from __future__ import annotations

import base64
import html
import io
import os
import re
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from ..version import __version__
from .code import value_of
from .equations import known
from .interactive import CLOSING, INTERACTIVE, STATIC, opening, script_names
from .links import equation_line, link_labels, resolve_function

__all__ = ["connect"]


def _marked(text: str, needs: str) -> nodes.raw:
    """HTML whose page needs the scripts of a figure, or ``"picture"``."""
    node = nodes.raw("", text, format="html")
    node["pyqref"] = needs
    return node


class _Directive(SphinxDirective):
    def _code(self) -> Any:
        """The value of the body's last line; an error names the page and the line."""
        here = Path(self.env.doc2path(self.env.docname)).parent
        try:
            return value_of("\n".join(self.content), here)
        except Exception as error:
            kind = type(error).__name__
            raise self.error(f"{self.name}: the code failed with {kind}: {error}") from error


class EquationDirective(_Directive):
    """``pyqref-equation:: eq-affine-quantize``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        label = self.arguments[0]
        equation = known().get(label)
        if equation is None:
            import difflib

            near = ", ".join(difflib.get_close_matches(label, known(), 3, 0.4))
            raise self.error(f"pyqref has no equation {label!r}; near it are {near or 'none'}")
        block = nodes.math_block("", equation.formula, nowrap=False)
        block["docname"], block["number"], block["label"] = self.env.docname, None, None
        self.set_source_info(block)
        line = equation_line(self.env.app, self.env.docname, label, equation)
        domain: Any = self.env.get_domain("math")
        if label in domain.data["objects"]:  # another page has it: that one is led to
            return [block, line]
        domain.note_equation(self.env.docname, label, location=block)
        block["label"] = label
        block["number"] = domain.get_equation_number_for(label)
        target = nodes.target("", "", ids=[nodes.make_id(f"equation-{label}")])
        self.state.document.note_explicit_target(target)
        return [target, block, line]


class DerivationDirective(_Directive):
    """``pyqref-derivation::``, with code whose last line is a derivation."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        from ..explaining import Derivation
        from ..explaining.show.links import ENVIRONMENT_VARIABLE

        derivation = self._code()
        if not isinstance(derivation, Derivation):
            kind = type(derivation).__name__
            raise self.error(f"{self.name}: the last line must be a Derivation, got {kind}")
        before = os.environ.get(ENVIRONMENT_VARIABLE)
        if self.config.pyqref_docs:
            os.environ[ENVIRONMENT_VARIABLE] = self.config.pyqref_docs
        try:
            shown = derivation._repr_html_()
        finally:
            os.environ.pop(ENVIRONMENT_VARIABLE, None)
            if before is not None:
                os.environ[ENVIRONMENT_VARIABLE] = before
        return [
            nodes.raw("", f'<div class="pyqref-derivation">{shown}</div>', format="html"),
            nodes.raw("", str(derivation), format="text"),
            nodes.raw("", derivation.to_latex(), format="latex"),
        ]


class FigureDirective(_Directive):
    """``pyqref-figure:: range``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if name not in INTERACTIVE:
            raise self.error(f"{self.name}: name must be one of {', '.join(INTERACTIVE)}")
        text = INTERACTIVE[name].source()
        inlines, messages = self.parse_inline(text)
        caption = nodes.paragraph(text, "", *inlines)  # the source is what translators see
        self.set_source_info(caption)
        closing = nodes.raw("", CLOSING, format="html")
        return [_marked(opening(name, self.config.language), name), caption, closing, *messages]


class PlotDirective(_Directive):
    """``pyqref-plot::``, with code whose last line is what :mod:`pyqref.plot` returns."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "alt": directives.unchanged_required,
        "caption": directives.unchanged_required,
        "data": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        if "data" in self.options:
            _, path = self.env.relfn2path(self.options["data"])
            self.env.note_dependency(path)
        images = []
        for theme in ("light", "dark"):
            image, described = self._drawn(theme)
            alt = html.escape(self.options.get("alt", described), quote=True)
            data = base64.b64encode(image).decode()
            images.append(
                f'<img class="pq-{theme}" alt="{alt}" src="data:image/svg+xml;base64,{data}"/>'
            )
        shown = _marked(f'<div class="pyqref-picture">{"".join(images)}</div>', "picture")
        text = self.options.get("caption", "")
        return [shown, *([nodes.paragraph("", text)] if text else [])]

    def _drawn(self, theme: str) -> tuple[bytes, str]:
        """The picture in the colours of a theme, and what its axes say."""
        from matplotlib import pyplot, rc_context
        from matplotlib.axes import Axes
        from matplotlib.backends.backend_svg import FigureCanvasSVG

        from ..plot import theme as coloured

        written = io.BytesIO()
        with coloured(theme), rc_context({"svg.hashsalt": "pyqref"}):
            ax = self._code()
            if not isinstance(ax, Axes):
                kind = type(ax).__name__
                raise self.error(f"{self.name}: the last line must be the axes, got {kind}")
            figure: Any = ax.figure
            FigureCanvasSVG(figure).print_svg(written, metadata={"Date": None})
            pyplot.close("all")
        parts = (ax.get_title(loc="left") or ax.get_title(), ax.get_ylabel(), ax.get_xlabel())
        return written.getvalue(), ", ".join(each for each in parts if each)


class ExerciseDirective(_Directive):
    """``pyqref-exercise:: quantize``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        from .. import course

        try:
            exercise = course.get(self.arguments[0])
        except ValueError as error:
            raise self.error(f"{self.name}: {error}") from error
        is_class = exercise.signature.startswith("class ")
        called = re.split(r"[(:]", exercise.signature.removeprefix("class "))[0]
        block = nodes.admonition(classes=["pyqref-exercise"])
        block += nodes.title(text=f"Exercise: {exercise.name}")
        block += self._shown(exercise.signature, "none" if is_class else "python")
        block += nodes.paragraph(text=" ".join(exercise.task.split()))
        about = nodes.paragraph()
        about += nodes.Text("It is about equation ")
        about += nodes.literal(text=exercise.label)
        about += nodes.Text(". This says what is wrong with an answer, and why:")
        block += about
        block += self._shown(
            f'from pyqref import course\n\ncourse.check("{exercise.name}", {called})', "python"
        )
        return [block]

    def _shown(self, code: str, language: str) -> nodes.literal_block:
        return nodes.literal_block(code, code, language=language)


def add_scripts(app: Any, name: str, template: str, context: Any, doctree: Any) -> None:
    """Let a page with figures load what they need, and no other page."""
    if doctree is None:
        return
    needs = [node["pyqref"] for node in doctree.findall(nodes.raw) if "pyqref" in node]
    if needs:
        names = tuple(dict.fromkeys(each for each in needs if each in INTERACTIVE))
        app.add_css_file("pyqref/figures.css")
        for file in script_names(names, app.config.language):
            app.add_js_file(f"pyqref/{file}", loading_method="defer")


def connect(app: Any) -> dict[str, Any]:
    """Add the directives, the setting and the scripts to a project."""
    app.add_config_value("pyqref_docs", "", "env", str)
    for name, directive in (
        ("pyqref-equation", EquationDirective),
        ("pyqref-derivation", DerivationDirective),
        ("pyqref-figure", FigureDirective),
        ("pyqref-plot", PlotDirective),
        ("pyqref-exercise", ExerciseDirective),
    ):
        app.add_directive(name, directive)
    app.connect("config-inited", lambda _, config: config.html_static_path.append(str(STATIC)))
    app.connect("html-page-context", add_scripts)
    app.connect("missing-reference", resolve_function)
    app.connect("doctree-resolved", link_labels)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
