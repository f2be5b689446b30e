"""Results of a model with several copies of each operation."""

from __future__ import annotations

from typing import Any

from pyqref.nn import Module

from .loggers import OutputLogger
from .results import Results, collect

__all__ = ["extract_results_n_shadows_model", "print_comparisons_n_shadows_model"]


def extract_results_n_shadows_model(model: Module) -> Results:
    """Return the records of the loggers in a model of :func:`prepare_n_shadows_model`.

    Returns
    -------
    dict
        ``{"model": {"node_output": {"subgraph_0_0": [...], "subgraph_0_1": [...]}}}``: for the
        n-th operation ``subgraph_n_0`` is the float one, ``subgraph_n_m`` its m-th copy.

    Examples
    --------
    >>> from pyqref import nn
    >>> extract_results_n_shadows_model(nn.Sequential())  # a model without loggers
    {}
    """
    return collect((model,), OutputLogger)


def print_comparisons_n_shadows_model(results: Results) -> None:
    """Print a table: one line an operation, one column for each of its copies, in dB.

    Parameters
    ----------
    results
        Of :func:`extract_results_n_shadows_model`.

    Examples
    --------
    >>> print_comparisons_n_shadows_model({})
    node_name    node_type    fqn
    -----------  -----------  -----
    """
    rows: dict[str, list[str]] = {}
    for of_pair in results.values():
        for name, entries in of_pair.get("node_output", {}).items():
            number = name.split("_")[1]
            for each in entries:
                row = rows.setdefault(number, [])
                if not row:
                    kind = str(each["ref_node_target_type"]).rpartition(".")[2]
                    row += [each["ref_node_name"], kind, str(each["fqn"])]
                if each["comparisons"]:
                    row.append(_mean(each["comparisons"]))
    ways = max((len(row) for row in rows.values()), default=3) - 3
    heading = ["node_name", "node_type", "fqn", *map(str, range(ways))]
    for line in _table([heading, *rows.values()]):
        print(line)  # noqa: T201


def _mean(comparisons: list[Any]) -> str:
    return f"{sum(map(float, comparisons)) / len(comparisons):.6g}"


def _table(rows: list[list[str]]) -> list[str]:
    """Lines with columns of one width, and a rule below the first."""
    columns = len(rows[0])
    full = [[*row, *[""] * (columns - len(row))] for row in rows]
    widths = [max(map(len, column)) for column in zip(*full, strict=True)]
    widths = [max(width, len(rows[0][number]) + 2) for number, width in enumerate(widths)]
    full.insert(1, ["-" * width for width in widths])
    return [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in full
    ]
