# SPDX-License-Identifier: MIT
"""Small models of science: complex numbers, factorizations, transforms, function transforms."""

import torch
import torch.nn.functional as F
from torch import nn


class Module(nn.Module):
    """A module with parameters by name and a function of them and the inputs."""

    def __init__(self, function, **parameters):
        super().__init__()
        self.function = function
        for name, value in parameters.items():
            self.register_parameter(name, nn.Parameter(value))

    def forward(self, *inputs):
        return self.function(self, *inputs)


def drawn(*shapes, dtype=torch.float32, scale=1.0):
    return tuple(torch.randn(shape, dtype=dtype) * scale for shape in shapes)


def spread(size):
    return torch.eye(size) + 0.1 * torch.randn(size, size)


# -- complex numbers --


def circuit(m, state):
    """Rotations of two qubits and the energy of the resulting state."""
    half = m.angles / 2
    cosine, sine = torch.cos(half), torch.sin(half)
    row = torch.stack([torch.complex(cosine, torch.zeros_like(cosine)), torch.complex(torch.zeros_like(sine), -sine)], -1)
    gates = torch.stack([row, row.flip(-1)], -2)
    for gate in gates:
        state = torch.einsum("ab,nbc->nac", gate, state)
        state = state * torch.exp(1j * m.phases)
    return (state.abs() ** 2 * m.levels).sum((-2, -1)), state.angle().cos()


def filter_of_waves(m, x):
    """A Fourier neural operator: products with complex weights of the lowest frequencies."""
    modes = torch.fft.rfft2(x)
    low = torch.einsum("bixy,ioxy->boxy", modes[:, :, :4, :4], torch.view_as_complex(m.weight))
    out = torch.zeros(x.shape[0], low.shape[1], x.shape[2], x.shape[3] // 2 + 1, dtype=modes.dtype)
    out[:, :, :4, :4] = low
    return F.gelu(torch.fft.irfft2(out, s=x.shape[-2:]) + m.bias)


def rotary(m, x):
    """Rotary positions as complex numbers."""
    q = torch.view_as_complex((x @ m.query).reshape(*x.shape[:-1], -1, 2))
    turn = torch.polar(torch.ones(x.shape[1], q.shape[-1]), torch.outer(torch.arange(x.shape[1]).float(), m.frequencies))
    q = torch.view_as_real(q * turn).flatten(-2)
    return torch.softmax(q @ q.transpose(-1, -2) / 4, -1) @ x


def impedance(m, frequency):
    """The reflection coefficient of a chain of resonators."""
    s = 1j * frequency[:, None]
    z = m.resistance + s * m.inductance + 1 / (s * m.capacity)
    total = z.prod(-1) / z.sum(-1)
    gain = (total - 1) / (total + 1)
    return gain.abs(), torch.view_as_real(gain.log())


def complex_layers(m, x):
    z = torch.complex(x, x.flip(-1))
    z = F.conv1d(z, torch.view_as_complex(m.kernel), padding=1)
    z = torch.addmv(z.mean((0, 2)), z[0].mean(-1)[None] * z[0].mean(-1)[:, None], z[1].mean(-1), beta=0.5 + 1j, alpha=2j)
    return z.real.sigmoid(), torch.logsumexp(z, 0).abs()


def response(m, x):
    """A frequency response from poles and zeros, by cumulative products."""
    z = torch.exp(1j * x)[:, None] - torch.view_as_complex(m.zeros)
    return torch.cumprod(z, -1).abs().log1p(), torch.linalg.vector_norm(z, dim=-1)


# -- factorizations --


def riccati(m, x):
    """A Kalman filter over a short series."""
    mean, covariance = torch.zeros(3), torch.eye(3)
    losses = []
    for observed in x:
        mean, covariance = m.step @ mean, m.step @ covariance @ m.step.mT + 0.1 * torch.eye(3)
        inner = m.view @ covariance @ m.view.mT + 0.5 * torch.eye(2)
        gain = torch.linalg.solve(inner, m.view @ covariance).mT
        losses.append(torch.logdet(inner) + (observed - m.view @ mean) @ torch.linalg.inv(inner) @ (observed - m.view @ mean))
        mean, covariance = mean + gain @ (observed - m.view @ mean), covariance - gain @ m.view @ covariance
    return torch.stack(losses)


def whitening(m, x):
    centred = x - x.mean(0)
    values, vectors = torch.linalg.eigh(centred.mT @ centred / len(x) + 0.1 * torch.eye(x.shape[1]))
    return centred @ (vectors * values.rsqrt()) @ m.weight, values.log()


def least_squares(m, x, y):
    q, r = torch.linalg.qr(torch.tanh(x @ m.weight))
    return torch.linalg.solve_triangular(r, q.mT @ y, upper=True)


def low_rank(m, x):
    u, s, vh = torch.linalg.svd(x @ m.weight, full_matrices=False)
    return (u[:, :3] * s[:3]) @ vh[:3], torch.linalg.matrix_norm(x @ m.weight, "nuc")


def exponential(m, x):
    """A rotation by the exponential of a skew matrix, and its log determinant."""
    turn = torch.linalg.matrix_exp(m.weight - m.weight.mT)
    return x @ turn, torch.linalg.slogdet(turn + 2 * torch.eye(4))[1]


def mixture(m, x):
    """A mixture of Gaussians by Cholesky factors."""
    factor = torch.tril(m.factor, -1) + torch.diag_embed(F.softplus(m.factor.diagonal(dim1=-2, dim2=-1)) + 0.1)
    y = torch.linalg.solve_triangular(factor, (x[:, None] - m.mean)[..., None], upper=False)[..., 0]
    size = factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    return torch.logsumexp(m.share.log_softmax(0) - size - y.square().sum(-1) / 2, -1)


def tensors(m, x):
    return torch.linalg.tensorsolve(m.weight + 3 * torch.eye(6).reshape(2, 3, 6), x), torch.linalg.det(x[:, :2] + m.corner)


def pseudo(m, x):
    return torch.linalg.pinv(x) @ m.weight, torch.linalg.cond(x.mT @ x + torch.eye(x.shape[1]))


# -- fields, particles, series --


def heat(m, x):
    for _ in range(4):
        x = x + 0.1 * F.conv2d(F.pad(x, (1, 1, 1, 1), mode="circular"), m.stencil) - m.decay * x.pow(3)
    return x


def bodies(m, x):
    apart = x[:, None] - x[None]
    square = apart.square().sum(-1) + torch.eye(len(x))
    energy = (m.charge[:, None] * m.charge / square.sqrt() - torch.eye(len(x)) * m.charge.square()).triu(1)
    force = (m.charge[:, None] * m.charge / square.pow(1.5))[..., None] * apart
    return energy.sum(), force.sum(1), torch.cdist(x, x + 1, p=1).amin(-1)


def waves_in_time(m, x):
    window = torch.hann_window(16)
    spectrum = torch.stft(x, 16, 4, window=window, return_complex=True)
    mask = torch.sigmoid(m.mask)[None, :, None]
    return (spectrum * mask).abs().clamp_min(1e-5).log(), torch.view_as_real(spectrum.mean(-1))


def splines(m, x):
    where = torch.searchsorted(torch.linspace(-2, 2, 9), x.detach().contiguous()).clamp(1, 8)
    left, right = m.knots[where - 1], m.knots[where]
    share = (x + 2) * 2 - (where - 1)
    return torch.lerp(left, right, share), torch.trapezoid(m.knots, dx=0.5), torch.diff(m.knots, n=2)


def scans(m, x):
    return torch.logcumsumexp(x * m.weight, 1), torch.cummax(x, 1).values, torch.cumsum(x.sigmoid(), 1).log1p()


def special(m, x):
    y = x.abs() + 0.5
    return (torch.lgamma(y * m.weight), torch.special.i0e(y), torch.erfinv(x.tanh() * 0.9), torch.special.logit(x.sigmoid()),
            torch.digamma(y), torch.special.entr(x.sigmoid()), torch.sinc(x), torch.xlogy(y, y))  # fmt: skip


# -- functions of functions --


def hessian(m, x):
    def energy(at):
        return (torch.tanh(at @ m.weight) ** 2).sum()

    return torch.func.hessian(energy)(x[0]), torch.func.vmap(torch.func.grad(energy))(x)


def score(m, x):
    """Score matching: the divergence of a network in forward mode."""

    def network(at):
        return torch.tanh(at @ m.first) @ m.second

    slopes = torch.func.vmap(torch.func.jacrev(network))(x)
    return slopes.diagonal(dim1=-2, dim2=-1).sum(-1) + network(x).square().sum(-1) / 2


def inner_steps(m, x, y):
    """Two steps of gradient descent inside a loss (MAML)."""

    def loss(weight):
        return (x @ weight - y).square().mean()

    weight = m.weight
    for _ in range(2):
        weight = weight - m.rate * torch.func.grad(loss)(weight)
    return loss(weight), weight


def ensemble(m, x):
    return torch.vmap(lambda w, b: torch.relu(x @ w) + b)(m.weights, m.biases).var(0), torch.vmap(torch.outer)(x, x).mean(0)


def tangent(m, x):
    value, slope = torch.func.jvp(lambda at: torch.sin(at @ m.weight).sum(-1), (x,), (torch.ones_like(x),))
    return value + slope.square()


# -- steps of optimisers and of training --


def newton(m, x):
    """Newton iterations for the inverse square root of a matrix."""
    a = x.mT @ x / len(x) + torch.eye(x.shape[1])
    y, z = a / a.trace(), torch.eye(a.shape[0])
    for _ in range(4):
        t = 1.5 * torch.eye(a.shape[0]) - 0.5 * z @ y
        y, z = y @ t, t @ z
    return x @ z @ m.weight


def lion(m, gradient, moment):
    update = torch.sign(0.9 * moment + 0.1 * gradient * m.weight)
    return m.weight - 0.01 * (update + 0.1 * m.weight), torch.lerp(moment, gradient, 0.01) * m.weight


def straight_through(m, x):
    codes = (x @ m.weight).round()
    quantised = (x @ m.weight) + (codes - x @ m.weight).detach()
    fake = torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -8, 7)
    return quantised, fake, F.gumbel_softmax(x * m.scale, hard=True)


def ragged(m, x, index):
    """Segment sums of rows, with data-dependent sizes."""
    sums = torch.zeros(4, x.shape[1]).index_add(0, index, x @ m.weight)
    most = torch.full((4, x.shape[1]), -1e9).scatter_reduce(0, index[:, None].expand_as(x), x @ m.weight, "amax")
    return sums / torch.bincount(index, minlength=4).clamp_min(1)[:, None], most


MODELS = {
    "circuit": lambda: (Module(circuit, angles=torch.randn(3), phases=torch.randn(2), levels=torch.randn(2, 2)),
                        drawn((4, 2, 2), dtype=torch.complex64)),
    "wave-filter": lambda: (Module(filter_of_waves, weight=torch.randn(2, 3, 4, 4, 2), bias=torch.randn(3, 1, 1)), drawn((2, 2, 12, 12))),
    "rotary": lambda: (Module(rotary, query=torch.randn(8, 8), frequencies=torch.rand(4)), drawn((2, 5, 8))),
    "impedance": lambda: (Module(impedance, resistance=torch.rand(3) + 1, inductance=torch.rand(3), capacity=torch.rand(3) + 0.5),
                          (torch.rand(6) + 0.5,)),
    "complex-layers": lambda: (Module(complex_layers, kernel=torch.randn(4, 3, 3, 2)), drawn((2, 3, 8))),
    "response": lambda: (Module(response, zeros=torch.randn(5, 2)), drawn((7,))),
    "riccati": lambda: (Module(riccati, step=spread(3), view=torch.randn(2, 3)), drawn((3, 2))),
    "whitening": lambda: (Module(whitening, weight=torch.randn(4, 4)), drawn((12, 4))),
    "least-squares": lambda: (Module(least_squares, weight=torch.randn(5, 3)), drawn((9, 5), (9, 2))),
    "low-rank": lambda: (Module(low_rank, weight=torch.randn(6, 5)), drawn((7, 6))),
    "exponential": lambda: (Module(exponential, weight=torch.randn(4, 4) / 2), drawn((3, 4))),
    "mixture": lambda: (Module(mixture, factor=torch.randn(3, 2, 2), mean=torch.randn(3, 2), share=torch.randn(3)), drawn((6, 2))),
    "tensor-systems": lambda: (Module(tensors, weight=torch.randn(2, 3, 6) / 4, corner=torch.eye(2)), drawn((2, 3))),
    "pseudo-inverse": lambda: (Module(pseudo, weight=torch.randn(5, 2)), drawn((5, 3))),
    "heat": lambda: (Module(heat, stencil=torch.randn(1, 1, 3, 3) / 3, decay=torch.rand(())), drawn((2, 1, 6, 6))),
    "bodies": lambda: (Module(bodies, charge=torch.rand(5) + 0.5), drawn((5, 3))),
    "waves-in-time": lambda: (Module(waves_in_time, mask=torch.randn(9)), drawn((2, 64))),
    "interpolation": lambda: (Module(splines, knots=torch.randn(9)), (torch.rand(4, 5) * 3.8 - 1.9,)),
    "scans": lambda: (Module(scans, weight=torch.rand(6)), drawn((3, 6))),
    "special": lambda: (Module(special, weight=torch.rand(4) + 0.5), drawn((3, 4))),
    "hessian": lambda: (Module(hessian, weight=torch.randn(4, 3)), drawn((5, 4))),
    "score": lambda: (Module(score, first=torch.randn(3, 8), second=torch.randn(8, 3)), drawn((6, 3))),
    "inner-steps": lambda: (Module(inner_steps, weight=torch.randn(4, 1), rate=torch.tensor(0.1)), drawn((8, 4), (8, 1))),
    "ensemble": lambda: (Module(ensemble, weights=torch.randn(3, 4, 5), biases=torch.randn(3, 5)), drawn((6, 4))),
    "tangent": lambda: (Module(tangent, weight=torch.randn(4, 3)), drawn((5, 4))),
    "newton": lambda: (Module(newton, weight=torch.randn(4, 2)), drawn((10, 4))),
    "lion": lambda: (Module(lion, weight=torch.randn(6, 3)), drawn((6, 3), (6, 3))),
    "straight-through": lambda: (Module(straight_through, weight=torch.randn(4, 3), scale=torch.rand(4)), drawn((5, 4))),
    "ragged": lambda: (Module(ragged, weight=torch.randn(3, 3)), (*drawn((9, 3)), torch.randint(0, 4, (9,)))),
}  # fmt: skip
