"""Recurrent layers: one direction of one layer is one operation, with the loop inside.

The steps of all sequences lie below each other in one matrix ``x`` of ``(total, I)``: first
the first step of every sequence, then the second of those that have one, and so on;
``batch_sizes`` says how many there are of each. A plain batch is the special case of
equal sizes. The input projection of all steps is a single matrix product, and so are
the gradients of input and weights; only the product with the hidden state is left
to the loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref.numerics.recurrent import steps

from .operation import Array, Operation
from .products import matmul
from .sums import total
from .unary import sigmoid

__all__ = ["GruLayer", "LstmLayer", "RnnLayer"]


def project(x: Array, weight: Array, *biases: Array | None) -> Array:
    """``x @ weight^T`` plus those biases that are not None."""
    y = matmul(x, weight.T)
    for bias in biases:
        if bias is not None:
            y += bias
    return y


def column_sum(grad: Array, wanted: bool) -> Array | None:
    """Gradient of a bias."""
    return total(grad, (0,)) if wanted else None


def tanh(x: Array) -> Array:
    """The function of the kernels' steps, where they cover ``x``."""
    found = _kernels.activation("tanh", x)
    return np.tanh(x) if found is None else found


def activated(sums: Array, hidden: int, index: int) -> Array:
    """Sigmoids of sums ``(total, gates * hidden)``, but the tanh of the gate of this index."""
    part = slice(index * hidden, (index + 1) * hidden)
    gates = sigmoid(sums)
    gates[:, part] = tanh(sums[:, part])
    return gates


def before(first: Array, after: Array, batch_sizes: tuple[int, ...], reverse: bool) -> Array:
    """States before each step, of what they are before the first and after each."""
    result, state = np.empty_like(after), first.copy()
    for rows, n in steps(batch_sizes, reverse):
        result[rows] = state[:n]
        state[:n] = after[rows]
    return result


def lstm_step(from_input: Array, from_hidden: Array, cell: Array) -> tuple[Array, Array]:
    """Hidden state and cell state after a step: in kernels, where these are of float32."""
    if from_input.dtype == from_hidden.dtype == cell.dtype == np.float32:
        return _kernels.lstm_step(from_input, from_hidden, cell)
    i, f, g, o = np.split(activated(from_input + from_hidden, cell.shape[1], 2), 4, axis=1)
    cell = f * cell + i * g
    return o * tanh(cell), cell


def gru_step(from_input: Array, from_hidden: Array, hidden: Array) -> Array:
    """Hidden state after a step: in kernels, where it is of float32."""
    if from_input.dtype == from_hidden.dtype == hidden.dtype == np.float32:
        return _kernels.gru_step(from_input, from_hidden, hidden)
    of_input, of_hidden = np.split(from_input, 3, axis=1), np.split(from_hidden, 3, axis=1)
    r, z = (sigmoid(a + b) for a, b in zip(of_input[:2], of_hidden[:2], strict=True))
    new = tanh(of_input[2] + r * of_hidden[2])
    return new + z * (hidden - new)


class RnnLayer(Operation):
    """``RnnLayer(x, h0, w_ih, w_hh, b_ih, b_hh, nonlinearity, batch_sizes, reverse)``.

    ``h = tanh(W_ih x + b_ih + W_hh h + b_hh)``, or relu in place of tanh. Results: the
    hidden state after each step ``(total, H)`` and after the last ``(N, H)``.
    """

    def forward(
        self,
        x: Array,
        h0: Array,
        w_ih: Array,
        w_hh: Array,
        b_ih: Array | None,
        b_hh: Array | None,
        nonlinearity: str,
        batch_sizes: tuple[int, ...],
        reverse: bool,
    ) -> tuple[Array, Array]:
        self.nonlinearity, self.batch_sizes, self.reverse = nonlinearity, batch_sizes, reverse
        output = project(x, w_ih, b_ih, b_hh)
        before = np.empty_like(output)
        h = h0.copy()
        for rows, n in steps(batch_sizes, reverse):
            before[rows] = h[:n]
            z = output[rows]
            z += matmul(h[:n], w_hh.T)
            h[:n] = np.tanh(z, out=z) if nonlinearity == "tanh" else np.maximum(z, 0, out=z)
        self.save(x, w_ih, w_hh, output, before)
        return output, h

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        x, w_ih, w_hh, output, before = self.saved
        grad_h = grads[1].copy()
        grad_z = np.empty_like(output)
        slope = 1 - output * output if self.nonlinearity == "tanh" else output > 0
        for rows, n in steps(self.batch_sizes, not self.reverse):
            np.multiply(grad_h[:n] + grads[0][rows], slope[rows], out=grad_z[rows])
            grad_h[:n] = matmul(grad_z[rows], w_hh)
        return (
            matmul(grad_z, w_ih) if self.needs[0] else None,
            grad_h,
            matmul(grad_z.T, x) if self.needs[2] else None,
            matmul(grad_z.T, before) if self.needs[3] else None,
            column_sum(grad_z, self.needs[4]),
            column_sum(grad_z, self.needs[5]),
        )


class LstmLayer(Operation):
    """``LstmLayer(x, h0, c0, w_ih, w_hh, b_ih, b_hh, w_hr, batch_sizes, reverse)``.

    With gates ``i, f, g, o`` from ``W_ih x + b_ih + W_hh h + b_hh`` (sigmoid; tanh for
    ``g``): ``c = f * c + i * g`` and ``h = o * tanh(c)``, then ``W_hr h`` if ``w_hr`` is not
    None. Results: the hidden state after each step ``(total, P)``, the hidden state and the
    cell state after the last, ``(N, P)`` and ``(N, H)``.
    """

    def forward(
        self,
        x: Array,
        h0: Array,
        c0: Array,
        w_ih: Array,
        w_hh: Array,
        b_ih: Array | None,
        b_hh: Array | None,
        w_hr: Array | None,
        batch_sizes: tuple[int, ...],
        reverse: bool,
    ) -> tuple[Array, Array, Array]:
        self.batch_sizes, self.reverse = batch_sizes, reverse
        gates, keeps = project(x, w_ih, b_ih, b_hh), any(self.needs)
        found = w_hr is None and _kernels.recurrent_floats(
            "LSTM", gates, w_hh, None, (h0, c0), batch_sizes, reverse, keeps
        )
        if found:
            output, (h, c), from_hidden, c_after = found
            raw = output
            if keeps:
                gates += from_hidden
                h_before = before(h0, output, batch_sizes, reverse)
                c_before = before(c0, c_after, batch_sizes, reverse)
        else:
            output = np.empty((len(x), h0.shape[1]), dtype=gates.dtype)
            h_before, c_before, c_after, raw = (
                np.empty((len(x) if keeps else 0, each.shape[1]), gates.dtype)
                for each in (h0, c0, c0, c0)
            )
            h, c = h0.copy(), c0.copy()
            for rows, n in steps(batch_sizes, reverse):
                z, from_hidden = gates[rows], matmul(h[:n], w_hh.T)
                shown, new = lstm_step(z, from_hidden, c[:n])
                if keeps:
                    z += from_hidden
                    h_before[rows], c_before[rows] = h[:n], c[:n]
                    c_after[rows], raw[rows] = new, shown
                output[rows] = shown if w_hr is None else matmul(shown, w_hr.T)
                h[:n], c[:n] = output[rows], new
        if keeps:
            gates, tanh_c = activated(gates, c0.shape[1], 2), tanh(c_after)
            self.save(x, w_ih, w_hh, w_hr, gates, h_before, c_before, tanh_c, raw)
        return output, h, c

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        x, w_ih, w_hh, w_hr, gates, h_before, c_before, tanh_c, raw = self.saved
        i, f, g, o = np.split(gates, 4, axis=1)
        grad_h, grad_c = grads[1].copy(), grads[2].copy()
        grad_z = np.empty_like(gates)
        grad_output = np.empty_like(h_before)
        through_c = o * (1 - tanh_c * tanh_c)
        slopes = np.concatenate(
            [g * i * (1 - i), c_before * f * (1 - f), i * (1 - g * g), tanh_c * o * (1 - o)], axis=1
        )
        hidden = grad_c.shape[1]
        for rows, n in steps(self.batch_sizes, not self.reverse):
            grad = np.add(grad_h[:n], grads[0][rows], out=grad_output[rows])
            if w_hr is not None:
                grad = matmul(grad, w_hr)
            total_c = grad_c[:n] + grad * through_c[rows]
            z, slope = grad_z[rows], slopes[rows]
            for gate in range(3):
                part = slice(gate * hidden, (gate + 1) * hidden)
                np.multiply(total_c, slope[:, part], out=z[:, part])
            np.multiply(grad, slope[:, 3 * hidden :], out=z[:, 3 * hidden :])
            grad_h[:n] = matmul(z, w_hh)
            grad_c[:n] = total_c * f[rows]
        return (
            matmul(grad_z, w_ih) if self.needs[0] else None,
            grad_h,
            grad_c,
            matmul(grad_z.T, x) if self.needs[3] else None,
            matmul(grad_z.T, h_before) if self.needs[4] else None,
            column_sum(grad_z, self.needs[5]),
            column_sum(grad_z, self.needs[6]),
            matmul(grad_output.T, raw) if self.needs[7] else None,
        )


class GruLayer(Operation):
    """``GruLayer(x, h0, w_ih, w_hh, b_ih, b_hh, batch_sizes, reverse)``.

    With ``r`` and ``z`` the sigmoids of ``W_ih x + b_ih + W_hh h + b_hh`` (their rows) and
    ``n = tanh(W_in x + b_in + r * (W_hn h + b_hn))``: ``h = (1 - z) * n + z * h``. Results:
    the hidden state after each step ``(total, H)`` and after the last ``(N, H)``.
    """

    def forward(
        self,
        x: Array,
        h0: Array,
        w_ih: Array,
        w_hh: Array,
        b_ih: Array | None,
        b_hh: Array | None,
        batch_sizes: tuple[int, ...],
        reverse: bool,
    ) -> tuple[Array, Array]:
        self.batch_sizes, self.reverse = batch_sizes, reverse
        hidden = h0.shape[1]
        gates, keeps = project(x, w_ih, b_ih), any(self.needs)
        found = _kernels.recurrent_floats(
            "GRU", gates, w_hh, b_hh, (h0,), batch_sizes, reverse, keeps
        )
        if found is not None:
            output, (h,), from_hidden, _ = found
            if keeps:
                gates[:, : 2 * hidden] += from_hidden[:, : 2 * hidden]
                candidate = from_hidden[:, 2 * hidden :]
                h_before = before(h0, output, batch_sizes, reverse)
        else:
            output = np.empty((len(x), hidden), dtype=gates.dtype)
            h_before, candidate = np.empty((2, len(x) if keeps else 0, hidden), gates.dtype)
            h = h0.copy()
            for rows, n in steps(batch_sizes, reverse):
                gate, from_h = gates[rows], project(h[:n], w_hh, b_hh)
                new = gru_step(gate, from_h, h[:n])
                if keeps:
                    gate[:, : 2 * hidden] += from_h[:, : 2 * hidden]
                    h_before[rows], candidate[rows] = h[:n], from_h[:, 2 * hidden :]
                output[rows] = h[:n] = new
        if keeps:
            reset = sigmoid(gates[:, :hidden])
            gates[:, 2 * hidden :] += reset * candidate
            self.save(x, w_ih, w_hh, activated(gates, hidden, 2), h_before, candidate)
        return output, h

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        x, w_ih, w_hh, gates, before, candidate = self.saved
        r, z, new = np.split(gates, 3, axis=1)
        hidden = r.shape[1]
        grad_h = grads[1].copy()
        from_x = np.empty_like(gates)
        from_h = np.empty_like(gates)
        new_slope = (1 - z) * (1 - new * new)
        z_slope = (before - new) * z * (1 - z)
        r_slope = candidate * r * (1 - r)
        for rows, n in steps(self.batch_sizes, not self.reverse):
            grad = grad_h[:n] + grads[0][rows]
            grad_new = grad * new_slope[rows]
            gate: Any = from_x[rows]
            gate[:, :hidden] = grad_new * r_slope[rows]
            gate[:, hidden : 2 * hidden] = grad * z_slope[rows]
            gate[:, 2 * hidden :] = grad_new
            from_h[rows] = gate
            from_h[rows, 2 * hidden :] *= r[rows]
            grad_h[:n] = grad * z[rows] + matmul(from_h[rows], w_hh)
        return (
            matmul(from_x, w_ih) if self.needs[0] else None,
            grad_h,
            matmul(from_x.T, x) if self.needs[2] else None,
            matmul(from_h.T, before) if self.needs[3] else None,
            column_sum(from_x, self.needs[4]),
            column_sum(from_h, self.needs[5]),
        )
