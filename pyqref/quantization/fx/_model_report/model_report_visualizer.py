"""``ModelReportVisualizer``: the numbers of a model report as tables and figures."""

from __future__ import annotations

import sys
from collections import OrderedDict
from typing import Any

from pyqref.tensor import Tensor

__all__ = ["ModelReportVisualizer"]

MISSING = "Not Applicable"


class ModelReportVisualizer:
    """Show what detectors found, module by module.

    Parameters
    ----------
    generated_reports
        For the path of each module, in the order of the model, its features by name.

    Notes
    -----
    Differs from torch: modules may have different numbers of channels, and tables need no other
    package.

    Source: ``torch.ao.quantization.fx._model_report``.

    Examples
    --------
    >>> from collections import OrderedDict
    >>> shown = ModelReportVisualizer(OrderedDict(fc={"outlier_detection_channel_axis": 1}))
    >>> shown.generate_filtered_tables()["tensor_level_info"]
    (['idx', 'layer_fqn', 'outlier_detection_channel_axis'], [[0, 'fc', 1]])
    """

    TABLE_TENSOR_KEY = "tensor_level_info"
    TABLE_CHANNEL_KEY = "channel_level_info"
    NUM_NON_FEATURE_TENSOR_HEADERS = 2
    NUM_NON_FEATURE_CHANNEL_HEADERS = 3
    CHANNEL_NUM_INDEX = 2

    def __init__(self, generated_reports: OrderedDict[str, Any]) -> None:
        self.generated_reports = generated_reports

    def get_all_unique_module_fqns(self) -> set[str]:
        """The paths of the modules."""
        return set(self.generated_reports)

    def get_all_unique_feature_names(self, plottable_features_only: bool = True) -> set[str]:
        """The names of the features; of those that are tensors only, if asked for."""
        return {
            name
            for features in self.generated_reports.values()
            for name, value in features.items()
            if not plottable_features_only or isinstance(value, Tensor)
        }

    def _get_filtered_data(
        self, feature_filter: str, module_fqn_filter: str
    ) -> OrderedDict[str, dict[str, Any]]:
        found: OrderedDict[str, dict[str, Any]] = OrderedDict()
        for path, features in self.generated_reports.items():
            if module_fqn_filter in path:
                found[path] = {n: v for n, v in features.items() if feature_filter in n}
        return found

    def generate_filtered_tables(
        self, feature_filter: str = "", module_fqn_filter: str = ""
    ) -> dict[str, tuple[list[Any], list[Any]]]:
        """Two tables, one of whole tensors and one of channels, each headers and rows.

        Parameters
        ----------
        feature_filter, module_fqn_filter
            What names of features, and paths of modules, must contain.
        """
        data = self._get_filtered_data(feature_filter, module_fqn_filter)
        return {
            self.TABLE_TENSOR_KEY: self._tensor_table(data),
            self.TABLE_CHANNEL_KEY: self._channel_table(data),
        }

    def _tensor_table(self, data: Any) -> tuple[list[Any], list[Any]]:
        names = sorted({n for each in data.values() for n, v in each.items() if not _channels(v)})
        if not names:
            return [], []
        rows = [
            [index, path, *[_plain(features.get(name, MISSING)) for name in names]]
            for index, (path, features) in enumerate(data.items())
        ]
        return ["idx", "layer_fqn", *names], rows

    def _channel_table(self, data: Any) -> tuple[list[Any], list[Any]]:
        names = sorted({n for each in data.values() for n, v in each.items() if _channels(v)})
        if not names:
            return [], []
        rows: list[list[Any]] = []
        for path, features in data.items():
            for channel in range(max((_channels(v) for v in features.values()), default=0)):
                cells = [_of_channel(features.get(name), channel) for name in names]
                rows.append([len(rows), path, channel, *cells])
        return ["idx", "layer_fqn", "channel", *names], rows

    def generate_table_visualization(
        self, feature_filter: str = "", module_fqn_filter: str = ""
    ) -> None:
        """Print the two tables."""
        tables = self.generate_filtered_tables(feature_filter, module_fqn_filter)
        titles = {
            self.TABLE_TENSOR_KEY: "Tensor Level Information",
            self.TABLE_CHANNEL_KEY: "Channel Level Information",
        }
        for key, (headers, rows) in tables.items():
            if headers:
                sys.stdout.write(f"{titles[key]} \n{_text(headers, rows)}\n\n\n")

    def _get_plottable_data(
        self, feature_filter: str, module_fqn_filter: str
    ) -> tuple[list[Any], list[Any], bool]:
        """Places on the x axis, values, and whether those are of channels, a list for each."""
        tables = self.generate_filtered_tables(feature_filter, module_fqn_filter)
        for key in (self.TABLE_TENSOR_KEY, self.TABLE_CHANNEL_KEY):
            headers, rows = tables[key]
            is_channel = key == self.TABLE_CHANNEL_KEY
            fixed = 3 if is_channel else 2
            if len(headers) <= fixed:
                continue
            if len(headers) > fixed + 1 or not all(_is_number(row[-1]) for row in rows):
                names = [n for n in headers[fixed:] if n in self.get_all_unique_feature_names()]
                raise ValueError(
                    f"feature_filter must select one feature of numbers, as one of "
                    f"{names or sorted(self.get_all_unique_feature_names())}, got "
                    f"{feature_filter!r}"
                )
            if not is_channel:
                return [row[0] for row in rows], [row[-1] for row in rows], False
            firsts = [row[0] for row in rows if row[2] == 0]
            count = max((row[2] for row in rows), default=-1) + 1
            values = [[row[-1] for row in rows if row[2] == channel] for channel in range(count)]
            return firsts, values, True
        raise ValueError(
            f"feature_filter must select one feature of numbers, as one of "
            f"{sorted(self.get_all_unique_feature_names())}, got {feature_filter!r}"
        )

    def generate_plot_visualization(self, feature_filter: str, module_fqn_filter: str = "") -> None:
        """Draw a feature over the modules; of channels, their mean."""
        from matplotlib import pyplot

        x, y, is_channel = self._get_plottable_data(feature_filter, module_fqn_filter)
        if is_channel:
            columns = [[line[k] for line in y if k < len(line)] for k in range(len(x))]
            y = [sum(each) / len(each) for each in columns]
        _, ax = pyplot.subplots(layout="constrained")
        ax.plot(x, y, marker="o")
        ax.set(title=f"{feature_filter} Plot", xlabel="idx", ylabel=feature_filter)
        pyplot.show()

    def generate_histogram_visualization(
        self, feature_filter: str, module_fqn_filter: str = "", num_bins: int = 10
    ) -> None:
        """Draw how the values of a feature are spread, over all channels and modules."""
        from matplotlib import pyplot

        _, y, is_channel = self._get_plottable_data(feature_filter, module_fqn_filter)
        values = [each for line in y for each in line] if is_channel else y
        _, ax = pyplot.subplots(layout="constrained")
        ax.hist(values, bins=num_bins)
        ax.set(title=f"{feature_filter} Histogram", xlabel=feature_filter, ylabel="Frequency")
        pyplot.show()


def _channels(value: Any) -> int:
    """Return how many channels a feature has; 0 for one of the whole tensor."""
    if isinstance(value, Tensor):
        return int(value.shape[0]) if value.ndim else 0
    return len(value) if isinstance(value, list) else 0


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) else value


def _of_channel(value: Any, channel: int) -> Any:
    if not _channels(value) > channel:
        return MISSING
    return _plain(value[channel])


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _text(headers: list[Any], rows: list[Any]) -> str:
    cells = [[str(each) for each in row] for row in [headers, *rows]]
    widths = [max(len(row[k]) for row in cells) for k in range(len(headers))]
    cells.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )
