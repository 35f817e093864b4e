# SPDX-License-Identifier: MIT
"""Further small models of many kinds, and optimiser steps."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from zoo_science import Module, drawn, spread


class Parts(nn.Module):
    """A module with submodules by name, and a function of them and the inputs."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            self.add_module(name, part)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def whole(high, *shape, low=0):
    return torch.randint(low, high, shape)


# -- text --


def retention(m, x):
    """Retention: decaying attention without softmax, group-normalized and gated (RetNet)."""
    batch, length, width = x.shape
    query, key, value = (part.unflatten(-1, (4, -1)).transpose(1, 2) for part in m.project(x).split(width, -1))
    decay = 1 - torch.exp2(-5 - torch.arange(4.0, dtype=x.dtype))
    apart = (torch.arange(length)[:, None] - torch.arange(length)).to(x.dtype)
    mask = torch.where(apart >= 0, decay[:, None, None] ** apart.clamp(min=0), 0)
    heads = (query @ key.mT / math.sqrt(key.shape[-1]) * mask) @ value
    normed = m.norm(heads.transpose(1, 2).reshape(batch * length, width)).view_as(x)
    return m.out(F.silu(m.gate(x)) * normed)


def linear_attention(m, tokens):
    x = m.words(tokens) + m.places.weight[: tokens.shape[1]]
    query, key, value = m.project(x).chunk(3, -1)
    query, key = F.elu(query) + 1, F.elu(key) + 1
    sums = torch.einsum("btd,bte->btde", key, value).cumsum(1)
    y = torch.einsum("btd,btde->bte", query, sums) / (query * key.cumsum(1)).sum(-1, keepdim=True).clamp_min(1e-6)
    return F.cross_entropy(m.out(m.drop(y))[:, :-1].reshape(-1, 40), tokens[:, 1:].reshape(-1), reduction="sum")


def characters(m, letters):
    """Character convolutions and highway layers over words (CharCNN)."""
    padding = letters.eq(0).all(-1)
    x = m.letters(letters).flatten(0, 1).transpose(1, 2)
    x = torch.cat([conv(x).tanh().amax(-1) for conv in m.convolutions], -1)
    for gate, change in zip(m.gates, m.changes):
        open_ = torch.sigmoid(gate(x))
        x = open_ * F.relu(change(x)) + (1 - open_) * x
    x = x.unflatten(0, letters.shape[:2]).masked_fill(padding[..., None], 0)
    return x.sum(1) / (~padding).sum(1, keepdim=True).clamp(min=1), F.one_hot(letters[:, 0, 0], 12).to(x.dtype) @ m.letters.weight


# -- pictures --


def shuffled(m, x):
    """Depthwise convolutions, channel shuffle, channel dropout, channel attention."""
    x = F.hardswish(m.stem(x))
    left, right = x.chunk(2, 1)
    x = torch.cat([left, m.depth(right)], 1).unflatten(1, (2, -1)).transpose(1, 2).flatten(1, 2)
    x = x * F.hardsigmoid(m.squeeze(F.adaptive_avg_pool2d(x, 1)))
    return m.out(F.dropout2d(F.relu6(x), 0.3, m.training).mean((-2, -1)))


def windows(m, x):
    """Attention in shifted windows, extracted and merged by unfold and fold."""
    x = F.pixel_unshuffle(x, 2)
    x = torch.roll(x, (-2, -2), (2, 3))
    cut = F.unfold(x, 4, stride=4).unflatten(1, (x.shape[1], 16)).permute(0, 3, 2, 1)
    query, key, value = m.project(m.norm(cut)).chunk(3, -1)
    cut = cut + F.scaled_dot_product_attention(query, key, value)
    x = F.fold(cut.permute(0, 3, 2, 1).flatten(1, 2), x.shape[-2:], 4, stride=4)
    return m.out(F.layer_norm(torch.roll(x, (2, 2), (2, 3)), x.shape[-2:]))


def correlation(m, first, second):
    """A cost volume between two pictures, and one warped to the other (optical flow)."""
    a, b = m.encoder(first), m.encoder(second)
    padded = F.pad(b, (2, 2, 2, 2))
    rows = [(a * padded[..., i : i + a.shape[2], j : j + a.shape[3]]).mean(1) for i in range(0, 5, 2) for j in range(0, 5, 2)]
    flow = F.interpolate(m.flow(torch.stack(rows, 1)), size=first.shape[-2:], mode="bilinear", align_corners=True)
    axes = [torch.linspace(-1, 1, n, dtype=first.dtype) for n in first.shape[-2:]]
    base = torch.stack(torch.meshgrid(*axes, indexing="ij")[::-1], -1)
    warped = F.grid_sample(second, base + flow.permute(0, 2, 3, 1), padding_mode="border", align_corners=True)
    return F.huber_loss(warped, first, delta=0.5), (flow.diff(dim=-1).abs().mean() + flow.diff(dim=-2).abs().mean())


# -- sound --


def vocoder(m, x):
    """Audio from frames: transposed convolutions and periodic activations."""
    for up, rate in zip(m.ups, m.rates.parameters()):
        x = up(x)
        x = x + torch.sin(rate[:, None] * x).square() / (rate[:, None] + 1e-6)
    return torch.tanh(m.out(F.leaky_relu(x, 0.1)))


def codes(m, x):
    """Vector quantization with a straight-through gradient (VQ-VAE), on mu-law audio."""
    x = torch.sign(x) * torch.log1p(255 * x.abs().clamp(max=1)) / math.log1p(255)
    y = m.encoder(x[:, None]).transpose(1, 2)
    nearest = torch.cdist(y.float(), m.codes.weight.float()[None]).argmin(-1)
    chosen = m.codes(nearest)
    passed = y + (chosen - y).detach()
    counts = torch.bincount(nearest.flatten(), minlength=8).to(y.dtype)
    return m.decoder(passed.transpose(1, 2)), F.mse_loss(chosen, y.detach()) + 0.25 * F.mse_loss(y, chosen.detach()), counts / counts.sum()


# -- graphs --


def equivariant(m, x, places, edges):
    """Rotation-equivariant messages on molecules (EGNN)."""
    source, target = edges
    apart = places[source] - places[target]
    message = m.message(torch.cat([x[source], x[target], apart.square().sum(-1, keepdim=True)], -1))
    moved = places + torch.zeros_like(places).index_add(0, target, apart * m.weight(message)) / len(x)
    gathered = x.new_zeros(x.shape[0], message.shape[1]).scatter_add(0, target[:, None].expand_as(message), message)
    return m.update(torch.cat([x, gathered], -1)) + x, moved


def pooled_graph(m, x, adjacency):
    """Chebyshev polynomials of the Laplacian, then pooling of the highest-scoring nodes."""
    degree = adjacency.sum(-1).clamp_min(1).rsqrt()
    laplacian = torch.eye(len(x), dtype=x.dtype) - degree[:, None] * adjacency * degree
    terms = [x, laplacian @ x]
    for _ in range(2):
        terms.append(2 * laplacian @ terms[-1] - terms[-2])
    y = torch.einsum("tnd,tde->ne", torch.stack(terms), m.weight).relu()
    scores, chosen = torch.topk((y @ m.score) / m.score.norm(), 4)
    small = adjacency.index_select(0, chosen)[:, chosen]
    return (y[chosen] * scores.tanh()[:, None]).mean(0), small.sum(), torch.std_mean(y, 0)[0]


# -- science --


def density(m, state):
    """An open quantum system: a unitary step, then a channel by Kraus operators."""
    energy = torch.view_as_complex(m.energy)
    step = torch.linalg.matrix_exp(-0.3j * (energy + energy.mH))
    joint = torch.kron(state, torch.eye(2, dtype=state.dtype) / 2)
    joint = torch.linalg.multi_dot([step, joint, step.mH])
    reduced = joint.reshape(2, 2, 2, 2).diagonal(dim1=1, dim2=3).sum(-1)
    damped = torch.sigmoid(m.damping)
    kept = torch.stack([torch.ones(()), (1 - damped).sqrt()]).to(state.dtype)
    reduced = kept[:, None] * reduced * kept + damped * reduced[1, 1] * torch.eye(2, dtype=state.dtype)
    return torch.linalg.eigvalsh(reduced), torch.trace(reduced @ reduced.conj()).real, reduced.imag


def burgers(m, x):
    """A pseudo-spectral Runge-Kutta step of Burgers' equation."""
    frequency = 2j * math.pi * torch.fft.rfftfreq(x.shape[-1], 1 / x.shape[-1])

    def slope(at):
        spectrum = torch.fft.rfft(at)
        return torch.fft.irfft(m.viscosity * frequency**2 * spectrum - frequency * torch.fft.rfft(at * at) / 2, n=at.shape[-1])

    h = 1e-3
    k1 = slope(x)
    k2 = slope(x + h / 2 * k1)
    return x + h * slope(x + h / 2 * k2) + m.forcing * torch.hann_window(x.shape[-1])


def cubic(m, x, y):
    """A smoothing spline: a banded system solved by Cholesky factors; its eigenvalues and determinant."""
    size = len(y)
    second = torch.diag(torch.full((size,), -2.0)) + torch.diag(torch.ones(size - 1), 1) + torch.diag(torch.ones(size - 1), -1)
    system = torch.eye(size) + m.stiffness.exp() * second @ second.T
    factor = torch.linalg.cholesky(system)
    smooth = torch.cholesky_solve((y * m.weight)[:, None], factor)[:, 0]
    place = torch.bucketize(x, torch.linspace(0, 1, size)).clamp(1, size - 1)
    lower, pivots = torch.linalg.lu_factor(system)
    return smooth[place] * x, torch.linalg.svdvals(system), torch.linalg.lu_solve(lower, pivots, y[:, None]), 2 * factor.diagonal().log().sum()


# -- low precision --


def eight_bits(m, x):
    """8-bit weights with a scale per row, sums in float32."""
    scale = m.weight.detach().abs().amax(1, keepdim=True) / 127
    stored = (m.weight.detach() / scale).round().clamp(-127, 127).to(torch.int8)
    y = (x.float() @ (stored.float() * scale.float()).T).to(x.dtype)
    low = F.linear(F.rms_norm(y.to(torch.bfloat16), (y.shape[-1],), m.norm.to(torch.bfloat16)), m.second.to(torch.bfloat16))
    return y, torch.softmax(low.float(), -1).to(torch.float16), (m.weight * y.mean(0)[:, None]).half().sum(dtype=torch.float32)


def half_block(m, x):
    x = x.to(torch.float16)
    y = F.layer_norm(x, (8,), m.norm.half())
    y = F.conv1d(y.mT, m.kernel.half(), padding=1, groups=2).mT
    return F.glu(torch.cat([x, y], -1)).float().logsumexp(-1), torch.cumsum(y, 1), F.softplus(y).amax(1)


# -- functions of functions --


def curvature(m, x, direction):
    """Hessian-vector products, and the Laplacian of a network."""

    def energy(at):
        return torch.tanh(at @ m.first).square() @ m.second

    product = torch.func.jvp(torch.func.grad(lambda at: energy(at).sum()), (x,), (direction,))[1]
    laplacian = torch.func.vmap(lambda at: torch.func.hessian(energy)(at).diagonal().sum())(x)
    return product, laplacian


def committee(m, x):
    """Many small networks at once (vmap), each with a forward-mode derivative."""

    def member(first, second, at):
        return torch.sigmoid(F.linear(at, first)) @ second

    values = torch.func.vmap(member, in_dims=(0, 0, None))(m.first, m.second, x)
    slopes = torch.func.vmap(torch.func.jacfwd(member, argnums=2), in_dims=(0, 0, None))(m.first, m.second, x[0])
    return values.std(0), slopes.norm(dim=-1)


# -- series of any length --


def long_or_short(m, x):
    """A network over a sequence of dynamic length, with a loss over the valid part."""
    y = F.gelu(m.first(x))
    y = F.max_pool1d(F.pad(y, (1, 1), mode="reflect"), 3, 1) + y
    return m.second(y).flip(-1).cumsum(-1), y.var(-1, unbiased=False), F.interpolate(y, scale_factor=2.0)


def many_tokens(m, tokens, mask):
    x = m.words(tokens)
    places = torch.arange(tokens.shape[1]).to(x.dtype)[:, None] / torch.arange(1, 9)
    query, key, value = m.project(x + places.sin()).view(*tokens.shape, 3, 2, 4).permute(2, 0, 3, 1, 4)
    y = F.scaled_dot_product_attention(query, key, value, attn_mask=mask[:, None, None])
    y = m.norm(y.transpose(1, 2).flatten(-2) + x)
    return (y * mask[..., None]).sum(1) / mask.sum(1, keepdim=True), y[:, ::2].split(1)[0]


MODELS = {
    "retention": lambda: (Parts(retention, project=nn.Linear(16, 48), norm=nn.GroupNorm(4, 16), gate=nn.Linear(16, 16), out=nn.Linear(16, 16)),
                          drawn((2, 6, 16))),
    "linear-attention": lambda: (Parts(linear_attention, words=nn.Embedding(40, 16), places=nn.Embedding(12, 16), project=nn.Linear(16, 48),
                                       drop=nn.Dropout(0.1), out=nn.Linear(16, 40)), (whole(40, 2, 9),)),
    "characters": lambda: (Parts(characters, letters=nn.Embedding(12, 8, padding_idx=0), convolutions=nn.ModuleList(nn.Conv1d(8, 6, n) for n in (2, 3)),
                                 gates=nn.ModuleList(nn.Linear(12, 12) for _ in range(2)), changes=nn.ModuleList(nn.Linear(12, 12) for _ in range(2))),
                           (whole(12, 3, 5, 6),)),
    "shuffled": lambda: (Parts(shuffled, stem=nn.Conv2d(3, 16, 3, 2, 1), squeeze=nn.Conv2d(16, 16, 1), out=nn.Linear(16, 4),
                               depth=nn.Sequential(nn.Conv2d(8, 8, 3, padding=1, groups=8, bias=False), nn.BatchNorm2d(8))), drawn((2, 3, 16, 16))),
    "windows": lambda: (Parts(windows, norm=nn.LayerNorm(12), project=nn.Linear(12, 36), out=nn.Conv2d(12, 4, 1)), drawn((2, 3, 16, 16))),
    "correlation": lambda: (Parts(correlation, encoder=nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.CELU()), flow=nn.Conv2d(9, 2, 3, padding=1)),
                            drawn((2, 3, 12, 16), (2, 3, 12, 16))),
    "vocoder": lambda: (Parts(vocoder, ups=nn.ModuleList([nn.ConvTranspose1d(8, 6, 4, 2, 1), nn.ConvTranspose1d(6, 4, 5, 3, 1, output_padding=1)]),
                              rates=nn.ParameterList([torch.rand(6) + 0.5, torch.rand(4) + 0.5]), out=nn.Conv1d(4, 1, 7, padding=3)), drawn((2, 8, 10))),
    "codes": lambda: (Parts(codes, encoder=nn.Conv1d(1, 4, 4, 2, 1), codes=nn.Embedding(8, 4), decoder=nn.ConvTranspose1d(4, 1, 4, 2, 1)),
                      drawn((2, 32), scale=0.4)),
    "equivariant": lambda: (Parts(equivariant, message=nn.Sequential(nn.Linear(17, 12), nn.SiLU()), weight=nn.Linear(12, 1, bias=False),
                                  update=nn.Sequential(nn.Linear(20, 8), nn.Softsign())), (*drawn((7, 8), (7, 3)), whole(7, 2, 18))),
    "pooled-graph": lambda: (Module(pooled_graph, weight=torch.randn(4, 5, 6) / 2, score=torch.randn(6)),
                             (*drawn((9, 5)), whole(2, 9, 9).float())),
    "density": lambda: (Module(density, energy=torch.randn(4, 4, 2), damping=torch.randn(())),
                        (torch.tensor([[0.7, 0.2 + 0.1j], [0.2 - 0.1j, 0.3]]),)),
    "burgers": lambda: (Module(burgers, viscosity=torch.tensor(0.01), forcing=torch.randn(())), drawn((3, 18))),
    "cubic": lambda: (Module(cubic, stiffness=torch.zeros(()), weight=torch.rand(7)), (torch.rand(5), torch.randn(7))),
    "eight-bits": lambda: (Module(eight_bits, weight=torch.randn(8, 8), norm=torch.rand(8), second=torch.randn(4, 8)), drawn((5, 8))),
    "half-block": lambda: (Module(half_block, norm=torch.rand(8), kernel=torch.randn(8, 4, 3) / 3), drawn((2, 6, 8))),
    "curvature": lambda: (Module(curvature, first=torch.randn(4, 6), second=torch.randn(6)), drawn((3, 4), (3, 4))),
    "committee": lambda: (Module(committee, first=torch.randn(5, 6, 4), second=torch.randn(5, 6)), drawn((7, 4))),
    "long-or-short": lambda: (Parts(long_or_short, first=nn.Conv1d(3, 6, 3, padding=1), second=nn.Conv1d(6, 2, 1)), drawn((2, 3, 14))),
    "many-tokens": lambda: (Parts(many_tokens, words=nn.Embedding(20, 8), project=nn.Linear(8, 24), norm=nn.LayerNorm(8)),
                            (whole(20, 3, 6), torch.ones(3, 6, dtype=torch.bool))),
}  # fmt: skip


# -- optimiser steps: called with the parameters --


class Lamb(torch.optim.Optimizer):
    """Adam's direction, scaled to the norm of the parameter."""

    def __init__(self, params, lr=0.01):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state.update(first=torch.zeros_like(p), second=torch.zeros_like(p))
                state["first"].lerp_(p.grad, 0.1)
                state["second"].mul_(0.99).addcmul_(p.grad, p.grad, value=0.01)
                update = state["first"] / (state["second"].sqrt() + 1e-6) + 0.01 * p
                long, short = p.norm(), update.norm()
                p.add_(update * torch.where(long > 0, torch.where(short > 0, long / short, 1.0), 1.0), alpha=-group["lr"])


class Shampoo(torch.optim.Optimizer):
    """Preconditions by inverse roots of second-moment matrices on both sides."""

    def __init__(self, params, lr=0.01):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                matrix = p.grad.reshape(p.shape[0], -1)
                left, right = matrix @ matrix.T, matrix.T @ matrix
                p.sub_(group["lr"] * (self.root(left) @ matrix @ self.root(right)).view_as(p))

    @staticmethod
    def root(matrix):
        values, vectors = torch.linalg.eigh(matrix + 1e-2 * torch.eye(len(matrix)))
        return vectors @ (values.clamp_min(1e-4) ** -0.25).diag() @ vectors.T


OPTIMISERS = {
    "sgd-nesterov": lambda params: torch.optim.SGD(params, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "adamw-amsgrad": lambda params: torch.optim.AdamW(params, lr=torch.tensor(0.01), amsgrad=True, capturable=False, foreach=False),
    "adam-clipped": lambda params: torch.optim.Adam(params, lr=0.01, weight_decay=0.1, maximize=True),
    "lamb": Lamb,
    "shampoo": Shampoo,
}  # fmt: skip
