# SPDX-License-Identifier: MIT
"""Small models of many kinds: each builder returns a module and its inputs."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Recommender(nn.Module):
    """Embeddings of categories and dense features, all pairs of dot products (DLRM)."""

    def __init__(self, tables=4, rows=50, width=16):
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(rows, width, mode="sum") for _ in range(tables))
        self.bottom = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, width), nn.ReLU())
        pairs = tables * (tables + 1) // 2
        self.top = nn.Sequential(nn.Linear(pairs + width, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1))

    def forward(self, dense, indices, offsets):
        x = self.bottom(dense)
        all_of = torch.stack([x] + [bag(indices, offsets) for bag in self.bags], 1)
        products = all_of @ all_of.transpose(1, 2)
        row, column = torch.tril_indices(all_of.shape[1], all_of.shape[1], -1)
        return torch.sigmoid(self.top(torch.cat([x, products[:, row, column]], 1)))


class Experts(nn.Module):
    """A mixture of experts with two of four chosen for each token, and the loss that balances them."""

    def __init__(self, width=32, experts=4):
        super().__init__()
        self.gate = nn.Linear(width, experts, bias=False)
        self.first = nn.Parameter(torch.randn(experts, width, 2 * width) / 6)
        self.second = nn.Parameter(torch.randn(experts, 2 * width, width) / 8)

    def forward(self, x):
        shares = self.gate(x).softmax(-1)
        top, index = shares.topk(2, -1)
        weight = torch.zeros_like(shares).scatter(-1, index, top / top.sum(-1, keepdim=True))
        hidden = F.silu(torch.einsum("btc,ech->bteh", x, self.first))
        out = torch.einsum("bteh,ehc,bte->btc", hidden, self.second, weight)
        return out, (shares.mean((0, 1)) * (weight > 0).to(shares.dtype).mean((0, 1))).sum()


class Adversaries(nn.Module):
    """Generator and critic with spectral norm, and both losses."""

    def __init__(self):
        super().__init__()
        norm = nn.utils.parametrizations.spectral_norm
        self.generator = nn.Sequential(
            nn.ConvTranspose2d(16, 32, 4), nn.BatchNorm2d(32), nn.ReLU(),
            nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.ConvTranspose2d(16, 3, 4, 2, 1), nn.Tanh(),
        )  # fmt: skip
        self.critic = nn.Sequential(
            norm(nn.Conv2d(3, 16, 4, 2, 1)), nn.LeakyReLU(0.2), norm(nn.Conv2d(16, 32, 4, 2, 1)), nn.LeakyReLU(0.2),
            nn.Dropout2d(0.2), nn.Flatten(), nn.Linear(32 * 16, 1),
        )  # fmt: skip

    def forward(self, noise, real):
        fake = self.generator(noise)
        good, bad = self.critic(real), self.critic(fake.detach())
        return F.softplus(-good).mean() + F.softplus(bad).mean(), F.softplus(-self.critic(fake)).mean()


class Radiance(nn.Module):
    """NeRF: a network over encoded positions, and rays composed from its densities."""

    def __init__(self, octaves=4, width=32):
        super().__init__()
        self.octaves = octaves
        self.body = nn.Sequential(nn.Linear(6 * octaves, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.density, self.colour = nn.Linear(width, 1), nn.Linear(width, 3)

    def forward(self, points, depths):
        scaled = points[..., None] * (2.0 ** torch.arange(self.octaves, dtype=points.dtype))
        x = self.body(torch.cat([scaled.sin(), scaled.cos()], -1).flatten(-2))
        step = depths.diff(dim=-1, append=depths[..., -1:] + 1)
        alpha = 1 - torch.exp(-F.softplus(self.density(x)).squeeze(-1) * step)
        clear = torch.cumprod(torch.cat([torch.ones_like(alpha[..., :1]), 1 - alpha[..., :-1]], -1), -1)
        return (clear * alpha).unsqueeze(-1).mul(self.colour(x).sigmoid()).sum(-2)


class Variational(nn.Module):
    """A variational autoencoder with its loss."""

    def __init__(self):
        super().__init__()
        self.inward = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ELU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ELU(), nn.Flatten())
        self.mean, self.log_variance = nn.Linear(16 * 16, 8), nn.Linear(16 * 16, 8)
        self.outward = nn.Sequential(nn.Linear(8, 16 * 16), nn.ELU(), nn.Unflatten(1, (16, 4, 4)), nn.Upsample(scale_factor=2),
                                     nn.Conv2d(16, 8, 3, 1, 1), nn.ELU(), nn.Upsample(scale_factor=2), nn.Conv2d(8, 1, 3, 1, 1))  # fmt: skip

    def forward(self, x):
        h = self.inward(x)
        mean, spread = self.mean(h), self.log_variance(h)
        drawn = mean + torch.randn_like(mean) * (0.5 * spread).exp()
        divergence = -0.5 * (1 + spread - mean**2 - spread.exp()).sum(1).mean()
        return F.binary_cross_entropy_with_logits(self.outward(drawn), x.sigmoid()) + 1e-3 * divergence


class Flow(nn.Module):
    """RealNVP: coupling layers with their log determinants."""

    def __init__(self, width=8, layers=4):
        super().__init__()
        half = width // 2
        self.nets = nn.ModuleList(nn.Sequential(nn.Linear(half, 32), nn.Tanh(), nn.Linear(32, width)) for _ in range(layers))
        self.mixes = nn.ParameterList(torch.linalg.qr(torch.randn(width, width))[0] for _ in range(layers))

    def forward(self, x):
        total = x.new_zeros(x.shape[0])
        for net, mix in zip(self.nets, self.mixes):
            a, b = (x @ mix).chunk(2, -1)
            scale, shift = net(a).chunk(2, -1)
            scale = scale.tanh()
            x, total = torch.cat([a, b * scale.exp() + shift], -1), total + scale.sum(-1)
        return (0.5 * (x**2).sum(-1) + 0.5 * x.shape[-1] * math.log(2 * math.pi) - total).mean()


class Differential(nn.Module):
    """A neural ordinary differential equation, four Runge-Kutta steps."""

    def __init__(self, width=16):
        super().__init__()
        self.rate = nn.Sequential(nn.Linear(width, 32), nn.Tanh(), nn.Linear(32, width))

    def forward(self, x):
        h = 0.25
        for _ in range(4):
            a = self.rate(x)
            b = self.rate(x + h / 2 * a)
            c = self.rate(x + h / 2 * b)
            x = x + h / 6 * (a + 2 * b + 2 * c + self.rate(x + h * c))
        return x


class LongFilter(nn.Module):
    """A state-space layer as a convolution by Fourier transforms (S4D, Hyena)."""

    def __init__(self, width=16, states=8):
        super().__init__()
        self.decay = nn.Parameter(torch.rand(width, states))
        self.rate = nn.Parameter(math.pi * torch.arange(states).repeat(width, 1).float())
        self.read = nn.Parameter(torch.randn(width, states))
        self.norm, self.mix = nn.LayerNorm(width), nn.Linear(width, 2 * width)

    def forward(self, x):
        length = x.shape[1]
        time = torch.arange(length, device=x.device)
        phase = self.rate.float()[..., None] * time / length
        kernel = (self.read.float()[..., None] * torch.exp(-self.decay.float()[..., None] * time) * phase.cos()).sum(1)
        signal = self.norm(x).float().transpose(1, 2)
        spectrum = torch.fft.rfft(signal, n=2 * length) * torch.fft.rfft(kernel, n=2 * length)
        y = torch.fft.irfft(spectrum, n=2 * length)[..., :length].transpose(1, 2).to(x.dtype)
        return x + F.glu(self.mix(F.gelu(y)), -1)


class SelectiveScan(nn.Module):
    """A selective state space as a loop over time (Mamba)."""

    def __init__(self, width=16, states=4):
        super().__init__()
        self.into, self.out = nn.Linear(width, 4 * width), nn.Linear(2 * width, width)
        self.filter = nn.Conv1d(2 * width, 2 * width, 3, padding=2, groups=2 * width)
        self.choose = nn.Linear(2 * width, 2 * states + 1)
        self.log_rate = nn.Parameter(torch.log(torch.arange(1, states + 1).float()).repeat(2 * width, 1))
        self.states = states

    def forward(self, x):
        u, gate = self.into(x).chunk(2, -1)
        u = F.silu(self.filter(u.transpose(1, 2))[..., : x.shape[1]].transpose(1, 2))
        step, b, c = self.choose(u).split([1, self.states, self.states], -1)
        step, state, outs = F.softplus(step), 0, []
        for t in range(x.shape[1]):
            decay = torch.exp(-step[:, t, :, None] * self.log_rate.exp())
            state = decay * state + step[:, t, :, None] * b[:, t, None] * u[:, t, :, None]
            outs.append((state * c[:, t, None]).sum(-1))
        return x + self.out(torch.stack(outs, 1) * F.silu(gate))


class Capsules(nn.Module):
    """Routing by agreement."""

    def __init__(self, count=24, classes=5):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(count, classes, 4, 8) / 4)

    def forward(self, x):
        votes = torch.einsum("kcij,bki->bkcj", self.weight, x)
        logits = x.new_zeros(x.shape[0], votes.shape[1], votes.shape[2])
        for _ in range(3):
            total = (logits.softmax(-1)[..., None] * votes).sum(1)
            square = (total**2).sum(-1, keepdim=True)
            capsule = square / (1 + square) * total / (square + 1e-6).sqrt()
            logits = logits + (votes * capsule[:, None]).sum(-1)
        return capsule.norm(dim=-1)


class Process(nn.Module):
    """A Gaussian process: the marginal likelihood by a Cholesky factor."""

    def __init__(self):
        super().__init__()
        self.log_scale, self.log_noise = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.tensor(-1.0))

    def forward(self, x, y):
        scaled = x / self.log_scale.exp()
        kernel = torch.exp(-0.5 * torch.cdist(scaled, scaled) ** 2) + self.log_noise.exp() * torch.eye(len(x))
        factor = torch.linalg.cholesky(kernel)
        alpha = torch.cholesky_solve(y[:, None], factor)
        return 0.5 * (y @ alpha).squeeze() + factor.diagonal().log().sum()


class Tagger(nn.Module):
    """A bidirectional GRU under a conditional random field."""

    def __init__(self, words=40, tags=5, width=16):
        super().__init__()
        self.words, self.reader = nn.Embedding(words, width), nn.GRU(width, width, bidirectional=True, batch_first=True)
        self.score, self.moves = nn.Linear(2 * width, tags), nn.Parameter(torch.randn(tags, tags) / 3)

    def forward(self, words, tags):
        scores = self.score(self.reader(self.words(words))[0])
        alpha = scores[:, 0]
        for t in range(1, words.shape[1]):
            alpha = torch.logsumexp(alpha[:, :, None] + self.moves, 1) + scores[:, t]
        gold = scores.gather(2, tags[..., None]).sum((1, 2)) + self.moves[tags[:, :-1], tags[:, 1:]].sum(1)
        return (torch.logsumexp(alpha, 1) - gold).mean()


class Listener(nn.Module):
    """Speech to letters: convolutions, an LSTM, the CTC loss."""

    def __init__(self, letters=10):
        super().__init__()
        self.front = nn.Sequential(nn.Conv1d(20, 32, 5, 2, 2), nn.GELU(), nn.Dropout(0.1))
        self.memory, self.out = nn.LSTM(32, 24, batch_first=True), nn.Linear(24, letters)

    def forward(self, sound, letters):
        h = self.memory(self.front(sound).transpose(1, 2))[0]
        logs = self.out(h).float().log_softmax(-1).transpose(0, 1)
        lengths = torch.full((len(letters),), logs.shape[0]), torch.full((len(letters),), letters.shape[1])
        return F.ctc_loss(logs, letters, *lengths)


class Translator(nn.Module):
    """Two recurrent networks and additive attention between them."""

    def __init__(self, words=30, width=16):
        super().__init__()
        self.words, self.reader = nn.Embedding(words, width, padding_idx=0), nn.GRU(width, width, batch_first=True)
        self.writer, self.query, self.key = nn.LSTMCell(2 * width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.weigh, self.out, self.drop = nn.Linear(width, 1), nn.Linear(2 * width, words), nn.Dropout(0.2)

    def forward(self, source, target):
        read, last = self.reader(self.drop(self.words(source)))
        h, c, loss = last[0], torch.zeros_like(last[0]), 0
        for t in range(target.shape[1] - 1):
            share = self.weigh(torch.tanh(self.query(h)[:, None] + self.key(read))).masked_fill(
                (source == 0)[..., None], -1e4).softmax(1)  # fmt: skip
            seen = (share * read).sum(1)
            h, c = self.writer(torch.cat([self.drop(self.words(target[:, t])), seen], -1), (h, c))
            loss = loss + F.cross_entropy(self.out(torch.cat([h, seen], -1)), target[:, t + 1], ignore_index=0)
        return loss


class Warp(nn.Module):
    """A spatial transformer before a small classifier."""

    def __init__(self):
        super().__init__()
        self.where = nn.Sequential(nn.Conv2d(1, 4, 5, 2), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 9, 6))
        self.what = nn.Sequential(nn.Conv2d(1, 8, 3), nn.AvgPool2d(2), nn.Hardswish(), nn.Flatten(), nn.Linear(8 * 49, 5))

    def forward(self, x):
        theta = self.where(x).view(-1, 2, 3) * 0.1 + torch.eye(2, 3, dtype=x.dtype)
        return self.what(F.grid_sample(x, F.affine_grid(theta, list(x.shape), align_corners=False), align_corners=False))


class Sharpener(nn.Module):
    """Super-resolution with weight norm and pixel shuffle, beside the bicubic picture."""

    def __init__(self):
        super().__init__()
        norm = nn.utils.parametrizations.weight_norm
        self.body = nn.Sequential(norm(nn.Conv2d(3, 16, 5, padding=2)), nn.Tanh(), norm(nn.Conv2d(16, 12, 3, padding=1)))

    def forward(self, x):
        return F.pixel_shuffle(self.body(x), 2) + F.interpolate(x, scale_factor=2, mode="bicubic")


class Volumes(nn.Module):
    """A small U-Net over volumes, with the Dice loss."""

    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv3d(1, 8, 3, padding=1), nn.InstanceNorm3d(8, affine=True), nn.LeakyReLU())
        self.deep = nn.Sequential(nn.MaxPool3d(2), nn.Conv3d(8, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.SiLU())
        self.up, self.out = nn.ConvTranspose3d(16, 8, 2, 2), nn.Conv3d(16, 1, 1)

    def forward(self, x, mask):
        high = self.down(x)
        shares = self.out(torch.cat([high, self.up(self.deep(high))], 1)).sigmoid()
        return 1 - 2 * (shares * mask).sum() / (shares.sum() + mask.sum() + 1)


class Splines(nn.Module):
    """A Kolmogorov-Arnold layer: a learned curve on every edge."""

    def __init__(self, inward=4, outward=6, knots=8):
        super().__init__()
        self.register_buffer("knots", torch.linspace(-2, 2, knots))
        self.base, self.curves = nn.Linear(inward, outward), nn.Parameter(torch.randn(outward, inward, knots) / 5)

    def forward(self, x):
        bumps = (1 - (x[..., None] - self.knots).abs() * 1.75).clamp(min=0)
        return self.base(F.silu(x)) + torch.einsum("bik,oik->bo", bumps, self.curves)


class Contrast(nn.Module):
    """Two encoders and a contrastive loss between their outputs (CLIP, SimCLR)."""

    def __init__(self):
        super().__init__()
        self.left = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.Mish(), nn.Linear(32, 16))
        self.right = nn.Sequential(nn.Linear(20, 32), nn.LayerNorm(32), nn.PReLU(), nn.Dropout(0.2), nn.Linear(32, 16))
        self.log_scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, a, b):
        logits = self.log_scale.exp() * F.normalize(self.left(a), dim=-1) @ F.normalize(self.right(b), dim=-1).T
        index = torch.arange(len(a))
        return (F.cross_entropy(logits, index) + F.cross_entropy(logits.T, index, label_smoothing=0.1)) / 2


class Dilated(nn.Module):
    """A temporal convolutional network with causal padding."""

    def __init__(self, width=16):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(width if i else 4, width, 3, dilation=2**i) for i in range(4))
        self.out = nn.Linear(width, 2)

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            y = F.dropout(F.relu(layer(F.pad(x, (2 * 2**i, 0)))), 0.1, self.training)
            x = y + x if x.shape == y.shape else y
        return self.out(x[..., -1])


class Points(nn.Module):
    """PointNet: shared layers over points, the maximum of each feature, and a learned rotation."""

    def __init__(self):
        super().__init__()
        self.turn = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 9))
        self.each = nn.Sequential(nn.Conv1d(3, 32, 1), nn.BatchNorm1d(32), nn.ReLU(), nn.Conv1d(32, 64, 1))
        self.out = nn.Linear(64, 4)

    def forward(self, x):
        turned = torch.bmm(x, self.turn(x).amax(1).view(-1, 3, 3) + torch.eye(3, dtype=x.dtype))
        return self.out(self.each(turned.transpose(1, 2)).max(-1)[0]).log_softmax(-1)


class Waves(nn.Module):
    """SIREN: a network with sine activations of its own frequencies."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(2 if i == 0 else 32, 32) for i in range(3))
        self.out = nn.Linear(32, 1)

    def forward(self, x):
        for layer in self.layers:
            x = torch.sin(5 * layer(x))
        return self.out(x)


class Critic(nn.Module):
    """Proximal policy optimisation: clipped ratios, values, entropy."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.policy, self.value = nn.Linear(32, 4), nn.Linear(32, 1)

    def forward(self, state, action, old, gain):
        h = self.body(state)
        logs = self.policy(h).log_softmax(-1)
        ratio = (logs.gather(1, action[:, None]).squeeze(1) - old).exp()
        policy = -torch.minimum(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
        return policy + F.smooth_l1_loss(self.value(h).squeeze(1), gain) + 0.01 * (logs.exp() * logs).sum(-1).mean()


def drawn(*shapes):
    return tuple(torch.randn(shape) for shape in shapes)


def whole(high, *shape, low=0):
    return torch.randint(low, high, shape)


MODELS = {
    "recommender": lambda: (Recommender(), (*drawn((8, 13)), whole(50, 24), torch.arange(0, 24, 3))),
    "experts": lambda: (Experts(), drawn((2, 8, 32))),
    "adversaries": lambda: (Adversaries(), drawn((4, 16, 1, 1), (4, 3, 16, 16))),
    "radiance": lambda: (Radiance(), (*drawn((8, 12, 3)), torch.rand(8, 12).sort(-1)[0])),
    "variational": lambda: (Variational(), drawn((4, 1, 16, 16))),
    "flow": lambda: (Flow(), drawn((16, 8))),
    "differential": lambda: (Differential(), drawn((8, 16))),
    "long-filter": lambda: (nn.Sequential(LongFilter(), LongFilter()), drawn((2, 32, 16))),
    "selective-scan": lambda: (SelectiveScan(), drawn((2, 8, 16))),
    "capsules": lambda: (Capsules(), drawn((4, 24, 4))),
    "process": lambda: (Process(), drawn((12, 3), (12,))),
    "tagger": lambda: (Tagger(), (whole(40, 3, 7), whole(5, 3, 7))),
    "listener": lambda: (Listener(), (*drawn((3, 20, 40)), whole(10, 3, 6, low=1))),
    "translator": lambda: (Translator(), (whole(30, 3, 6), whole(30, 3, 6))),
    "warp": lambda: (Warp(), drawn((4, 1, 16, 16))),
    "sharpener": lambda: (Sharpener(), drawn((2, 3, 12, 12))),
    "volumes": lambda: (Volumes(), (*drawn((2, 1, 8, 8, 8)), whole(2, 2, 1, 8, 8, 8).float())),
    "splines": lambda: (nn.Sequential(Splines(), Splines(6, 2)), drawn((16, 4))),
    "contrast": lambda: (Contrast(), drawn((8, 12), (8, 20))),
    "dilated": lambda: (Dilated(), drawn((4, 4, 24))),
    "points": lambda: (Points(), drawn((4, 20, 3))),
    "waves": lambda: (Waves(), drawn((32, 2))),
    "critic": lambda: (Critic(), (*drawn((16, 8)), whole(4, 16), *drawn((16,), (16,)))),
}
