# SPDX-License-Identifier: MIT
"""Models that draw random numbers in training: masks, noise, dropped layers and experts."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from zoo_further import Parts, whole
from zoo_science import drawn


def dropped_path(x, chance, training):
    """Stochastic depth: drops a branch for whole samples and rescales the others."""
    if not training:
        return x
    mask = torch.rand(x.shape[0], *(1,) * (x.dim() - 1)) >= chance
    return x * mask.to(x.dtype) / (1 - chance)


# -- text --


class Turned(nn.Module):
    """Attention with rotary positions and dropout, followed by a gated step."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.scale = nn.Parameter(torch.ones(width))
        self.project, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(2 * width, width, bias=False)

    def normed(self, x):
        return x * torch.rsqrt(x.float().square().mean(-1, keepdim=True) + 1e-6).to(x.dtype) * self.scale

    def turn(self, x):
        length, half = x.shape[-2], x.shape[-1] // 2
        angles = torch.arange(length)[:, None] * 10000 ** (-torch.arange(half) / half)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        first, second = x.chunk(2, -1)
        return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)

    def forward(self, x):
        query, key, value = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in self.project(self.normed(x)).chunk(3, -1))
        scores = self.turn(query) @ self.turn(key).mT / math.sqrt(query.shape[-1])
        later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        weights = F.dropout(scores.masked_fill(later, float("-inf")).softmax(-1), 0.2, self.training)
        x = x + F.dropout(self.out((weights @ value).transpose(1, 2).flatten(2)), 0.1, self.training)
        gate, step = self.up(self.normed(x)).chunk(2, -1)
        return x + F.dropout(self.down(F.silu(gate) * step), 0.1, self.training)


def turned(m, tokens):
    x = F.dropout(m.words(tokens), 0.1, m.training)
    for layer in m.layers:
        x = layer(x)
    return F.cross_entropy((x @ m.words.weight.T)[:, :-1].flatten(0, 1).float(), tokens[:, 1:].flatten(), label_smoothing=0.1)


def encoders(m, x):
    """The library's own encoder layers with dropout; the loss without autocast."""
    for layer in m.layers:
        x = layer(x)
    with torch.autocast("cpu", enabled=False):
        return F.smooth_l1_loss(m.out(x.to(m.out.weight.dtype)).float(), torch.ones(()).expand(3, 10, 4))


def variational(m, x):
    """An LSTM with one dropout mask for all time steps, and zoneout of its state."""
    h = c = x.new_zeros(x.shape[0], 8)
    mask = F.dropout(torch.ones_like(h), 0.3, m.training)
    results = []
    for step in x.unbind(1):
        i, f, o, g = (m.into(step) + m.round(h * mask)).chunk(4, -1)
        fresh = f.sigmoid() * c + i.sigmoid() * g.tanh()
        stay = torch.rand_like(c) < 0.1
        c = torch.where(stay, c, fresh)
        h = o.sigmoid() * c.tanh()
        results.append(h)
    return m.out(torch.stack(results, 1)).log_softmax(-1)


def two_views(m, x):
    """Contrastive loss of two runs of one encoder that differ only by dropout masks (SimCSE)."""
    first, second = (F.normalize(m.project(F.dropout(m.encode(x), 0.4, m.training)), dim=-1) for _ in range(2))
    alike = first @ second.T / 0.05
    return F.cross_entropy(alike.float(), torch.arange(len(x))), first.T @ first / len(x)


# -- pictures --


def noisy_unet(m, x):
    """A small U-Net with spatial dropout between down and up."""
    high = F.silu(m.first_norm(m.first(x)))
    low = F.silu(m.second_norm(m.second(F.avg_pool2d(high, 2))))
    low = F.dropout2d(low, 0.25, m.training)
    up = F.interpolate(m.middle(low), scale_factor=2, mode="bilinear", align_corners=False)
    return m.out(torch.cat([up, high], 1)), up.pow(2).mean((1, 2, 3))


class Residual(nn.Module):
    def __init__(self, channels, chance):
        super().__init__()
        self.chance = chance
        self.depth = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)
        self.norm = nn.BatchNorm2d(channels)
        self.mix = nn.Conv2d(channels, channels, 1)
        self.scale = nn.Parameter(torch.full((channels, 1, 1), 0.1))

    def forward(self, x):
        return x + dropped_path(self.scale * self.mix(F.gelu(self.norm(self.depth(x)))), self.chance, self.training)


def shallow_at_random(m, x):
    x = F.hardswish(m.stem(x))
    for block in m.blocks:
        x = block(x)
    return m.out(F.adaptive_max_pool2d(x, 2).flatten(1))


def masked_pixels(m, x):
    """A masked autoencoder: reconstructs randomly hidden patches from the visible ones."""
    patches = F.unfold(x, 4, stride=4).mT
    hidden = torch.rand(patches.shape[:2]) < 0.5
    seen = torch.where(hidden[..., None], m.empty.to(patches.dtype), m.embed(patches))
    for layer in m.layers:
        seen = seen + layer(seen)
    error = (m.back(seen) - patches).square().mean(-1)
    return (error * hidden).sum() / hidden.sum().clamp(min=1)


# -- other --


def variational_coder(m, x):
    """A variational autoencoder: means and variances, reparameterized samples, the evidence lower bound."""
    mean, spread = m.encode(x).chunk(2, -1)
    code = mean + torch.randn_like(mean) * F.softplus(spread)
    again = m.decode(F.dropout(code, 0.1, m.training))
    apart = 0.5 * (mean.square() + F.softplus(spread).square() - 1 - 2 * F.softplus(spread).log()).sum(-1)
    return F.binary_cross_entropy_with_logits(again, x.sigmoid(), reduction="none").sum(-1) + apart


def attentive_graph(m, x, edges):
    """Graph attention: a softmax over the edges that end at a node, with dropout of edges (GAT)."""
    source, target = edges
    h = m.project(F.dropout(x, 0.3, m.training)).unflatten(-1, (2, -1))
    score = F.leaky_relu((h * m.of_source).sum(-1)[source] + (h * m.of_target).sum(-1)[target], 0.2)
    weight = (score - score.detach().amax()).exp()
    total = torch.zeros_like(h[..., 0]).index_add(0, target, weight)
    weight = F.dropout(weight / (total[target] + 1e-6), 0.3, m.training)
    h = torch.zeros_like(h).index_add(0, target, weight[..., None] * h[source])
    return F.elu(h.flatten(1)) @ m.out.weight.T


def experts(m, x):
    """Two of four experts chosen by noisy gates, and a load balancing loss."""
    gates = m.gate(x) + torch.randn(x.shape[0], 4).to(x.dtype) * F.softplus(m.noise(x))
    best, which = gates.topk(2, -1)
    share = torch.zeros_like(gates).scatter(-1, which, best.softmax(-1))
    given = torch.stack([expert(x) for expert in m.experts], 1)
    load = share.sum(0)
    return (share[..., None] * given).sum(1), load.var() / (load.mean().square() + 1e-6)


def scaled(m, x):
    """Self-normalizing networks: SELU with alpha dropout."""
    x = F.alpha_dropout(F.selu(m.first(x)), 0.1, m.training)
    x = F.alpha_dropout(F.selu(m.second(x)), 0.1, m.training)
    return F.kl_div(m.out(x).log_softmax(-1), torch.full((), 0.2, dtype=x.dtype).expand(12, 5), reduction="batchmean")


def waves(m, x):
    """Gated dilated convolutions over audio, channel dropout, weight normalization."""
    skipped = 0
    for depth, weight in enumerate(m.weights):
        unit = weight / weight.flatten(1).norm(dim=1)[:, None, None] * m.lengths[depth][:, None, None]
        y = F.conv1d(F.pad(x, (2**depth, 0)), unit, dilation=2**depth)
        value, gate = y.chunk(2, 1)
        y = F.dropout1d(value.tanh() * gate.sigmoid(), 0.2, m.training)
        x, skipped = x + y, skipped + y
    return F.log_softmax(m.out(F.relu(skipped)), 1)


def rows(count, *shape):
    return nn.ParameterList([nn.Parameter(torch.randn(shape) / math.sqrt(shape[-1])) for _ in range(count)])


def mlp(*sizes):
    return nn.Sequential(nn.Linear(sizes[0], sizes[1]), nn.Tanh(), nn.Dropout(0.2), nn.Linear(sizes[1], sizes[2]))


def many(count, make):
    return nn.ModuleList([make() for _ in range(count)])


def with_parameters(module, **parameters):
    for name, value in parameters.items():
        setattr(module, name, nn.Parameter(value))
    return module


MODELS = {
    "turned": lambda: (Parts(turned, words=nn.Embedding(30, 16), layers=many(2, lambda: Turned(16, 2))), (whole(30, 3, 9),)),
    "encoders": lambda: (Parts(encoders, layers=many(2, lambda: nn.TransformerEncoderLayer(12, 3, 24, 0.2, batch_first=True)),
                               out=nn.Linear(12, 4)), drawn((3, 10, 12))),
    "variational": lambda: (Parts(variational, into=nn.Linear(5, 32), round=nn.Linear(8, 32), out=nn.Linear(8, 4)),
                            drawn((4, 6, 5))),
    "two-views": lambda: (Parts(two_views, encode=mlp(10, 20, 16), project=nn.Linear(16, 8)), drawn((9, 10))),
    "noisy-unet": lambda: (Parts(noisy_unet, first=nn.Conv2d(3, 8, 3, padding=1), first_norm=nn.GroupNorm(2, 8),
                                 second=nn.Conv2d(8, 12, 3, padding=1), second_norm=nn.GroupNorm(3, 12),
                                 middle=nn.Conv2d(12, 8, 1), out=nn.Conv2d(16, 2, 3, padding=1)), drawn((2, 3, 12, 16))),
    "shallow-at-random": lambda: (Parts(shallow_at_random, stem=nn.Conv2d(3, 8, 4, stride=4), out=nn.Linear(32, 5),
                                        blocks=nn.ModuleList([Residual(8, 0.1 * k) for k in range(1, 4)])), drawn((4, 3, 20, 20))),
    "masked-pixels": lambda: (with_parameters(Parts(masked_pixels, embed=nn.Linear(48, 16), back=nn.Linear(16, 48),
                                                    layers=many(2, lambda: mlp(16, 32, 16))), empty=torch.randn(16)),
                              drawn((2, 3, 16, 16))),
    "variational-coder": lambda: (Parts(variational_coder, encode=mlp(14, 20, 12), decode=mlp(6, 20, 14)), drawn((5, 14))),
    "attentive-graph": lambda: (with_parameters(Parts(attentive_graph, project=nn.Linear(6, 10), out=nn.Linear(10, 3)),
                                                of_source=torch.randn(2, 5), of_target=torch.randn(2, 5)),
                                (*drawn((11, 6)), whole(11, 2, 40))),
    "experts": lambda: (Parts(experts, gate=nn.Linear(8, 4), noise=nn.Linear(8, 4), experts=many(4, lambda: mlp(8, 12, 6))),
                        drawn((10, 8))),
    "scaled": lambda: (Parts(scaled, first=nn.Linear(9, 24), second=nn.Linear(24, 16), out=nn.Linear(16, 5)), drawn((12, 9))),
    "waves": lambda: (Parts(waves, weights=rows(3, 12, 6, 2), lengths=rows(3, 12), out=nn.Conv1d(6, 7, 1)), drawn((2, 6, 24))),
}  # fmt: skip
