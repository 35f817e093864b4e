# SPDX-License-Identifier: MIT
"""Models that bench-exported.py exports: exported_models.py FOLDER [NAME,...].

Writes FOLDER/NAME.pt2 and FOLDER/NAME.outputs.pt, a dict {"output_<position>": tensor} of what the exported graph
returned, mutated buffers and inputs included.  A model that this release does not export is said to be left out."""
import math
import multiprocessing
import pathlib
import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.export import Dim, export, save


class Denoiser(nn.Module):
    """A small U-Net that is told the time: sines, group norms, strides, two ways to upsample."""

    def __init__(self, width=8):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 2 * width))
        self.first, self.down = nn.Conv2d(3, width, 3, padding=1), nn.Conv2d(width, 2 * width, 3, 2, 1)
        self.norm, self.mid = nn.GroupNorm(4, 2 * width), nn.Conv2d(2 * width, 2 * width, 3, padding=1, groups=4)
        self.up = nn.Conv2d(2 * width, width, 1)
        self.last = nn.Conv2d(2 * width, 3, 3, padding=1, padding_mode="reflect")

    def forward(self, x, t):
        waves = t[:, None] * torch.exp(torch.arange(4) * (-math.log(10000.0) / 3))
        scale = self.time(torch.cat([waves.sin(), waves.cos()], -1))[:, :, None, None]
        a = F.silu(self.first(x))
        b = self.mid(F.silu(self.norm(self.down(a)) * (1 + scale)))
        c = F.interpolate(self.up(b), scale_factor=2, mode="nearest")
        d = F.interpolate(self.up(b), size=a.shape[-2:], mode="bilinear", align_corners=False)
        return self.last(torch.cat([a, c + d], 1)), F.adaptive_avg_pool2d(b, (3, 2))


class Speech(nn.Module):
    """Spectra of windows, a filter bank, strided convolutions, log probabilities."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(32), persistent=False)
        self.register_buffer("bank", torch.rand(17, 6))
        self.net = nn.Sequential(nn.Conv1d(6, 12, 5, stride=2), nn.BatchNorm1d(12), nn.GELU("tanh"),
                                 nn.Conv1d(12, 9, 1))

    def forward(self, wave):
        spectrum = torch.stft(wave, 32, 8, window=self.window, return_complex=True)
        power = torch.view_as_real(spectrum).square().sum(-1)
        mel = (power.transpose(1, 2) @ self.bank).clamp_min(1e-5).log10()
        mel = (mel - mel.amax((1, 2), keepdim=True)).clamp(min=-8).transpose(1, 2)
        return self.net(mel).log_softmax(1), spectrum.angle()


class Recommender(nn.Module):
    """Hashed identifiers, crossed features, pairs of embeddings; a batch of any size."""

    def __init__(self, n=11, width=4):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(n, width) for _ in range(3))
        self.cross, self.deep = nn.Parameter(torch.randn(2, 16, 16)), nn.Linear(16, 8)
        self.head, self.n = nn.Bilinear(8, 3, 1), n

    def forward(self, ids, dense):
        hashed = (ids * 2654435761 + 17) % self.n
        rows = torch.stack([table(hashed[:, i]) for i, table in enumerate(self.tables)], 1)
        x0 = x = torch.cat([rows.flatten(1), dense.log1p(), F.one_hot(ids[:, 0] % 2, 2).to(dense)], 1)
        for w in self.cross:
            x = x0 * (x @ w) + x
        upper = torch.triu_indices(3, 3, 1)
        pairs = torch.einsum("bid,bjd->bij", rows, rows)[:, upper[0], upper[1]]
        return torch.sigmoid(self.head(F.relu6(self.deep(x)), pairs)).squeeze(-1)


class Search(nn.Module):
    """One step of a beam search: sums of scores, the best of all, gathers."""

    def __init__(self, n=7):
        super().__init__()
        self.table, self.n = nn.Embedding(n, n), n

    def forward(self, tokens, scores):
        logits = self.table(tokens[..., -1]).log_softmax(-1)
        logits = logits.masked_fill(tokens[..., -1:] == 0, -1e4).index_fill(-1, torch.tensor([1]), float("-inf"))
        total = (scores[..., None] + logits).flatten(-2)
        best, at = total.topk(tokens.shape[1], dim=-1)
        parent = torch.div(at, self.n, rounding_mode="floor")
        before = tokens.gather(1, parent[..., None].expand(-1, -1, tokens.shape[-1]))
        grown = torch.cat([before, (at % self.n)[..., None]], -1)
        finished = (grown == 0).any(-1)
        order = torch.where(finished, best / 6**0.6, best).sort(-1, descending=True).indices
        return grown, best.gather(1, order), finished.to(torch.uint8).cumsum(-1)


class Filter(nn.Module):
    """A Kalman filter: factors, triangular systems, determinants, a loop over time."""

    def __init__(self, n=3, m=2):
        super().__init__()
        self.move, self.see = nn.Parameter(torch.eye(n) + 0.1 * torch.randn(n, n)), nn.Parameter(torch.randn(m, n))
        self.noise = nn.Parameter(torch.rand(n) + 0.5)

    def forward(self, seen):
        mean, cov = torch.zeros(3), torch.eye(3)
        evidence = []
        for y in seen.unbind():
            mean, cov = self.move @ mean, self.move @ cov @ self.move.mT + torch.diag(self.noise)
            inner = torch.addmm(torch.eye(2), self.see @ cov, self.see.mT)
            root = torch.linalg.cholesky(inner)
            gain = torch.cholesky_solve(self.see @ cov, root).mT
            white = torch.linalg.solve_triangular(root, (y - self.see @ mean)[:, None], upper=False)
            evidence.append(-0.5 * white.square().sum() - root.diagonal().log().sum())
            mean, cov = mean + gain @ (y - self.see @ mean), cov - gain @ self.see @ cov
        return mean, torch.linalg.inv(cov), torch.stack(evidence), *torch.linalg.slogdet(cov)


class Cached(nn.Module):
    """A decoder's attention: rotated halves, a cache in buffers that is written in place, another in an input."""

    def __init__(self, width=8, length=6):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width)
        self.register_buffer("keys", torch.zeros(1, 2, length, 4))
        self.register_buffer("values", torch.zeros(1, 2, length, 4))
        self.register_buffer("length", torch.tensor(0))

    def turn(self, x, at):
        angle = at[:, None] * torch.tensor([1.0, 0.1])
        a, b = x.chunk(2, -1)
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)

    def forward(self, x, *, at, options):
        q, k, v = (t.unflatten(-1, (2, 4)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        self.keys.index_copy_(2, at, self.turn(k, at))
        self.values[:, :, at] = v
        self.length.add_(at.numel())
        options["history"].mul_(0.5).add_(x.mean())
        mask = torch.arange(self.keys.shape[2])[None] <= at[:, None]
        y = F.scaled_dot_product_attention(self.turn(q, at), self.keys, self.values, attn_mask=mask, scale=0.3)
        return {"y": self.out(y.transpose(1, 2).flatten(2)) * options["scale"], "n": self.length + 0}


class Packed(nn.Module):
    """Weights of four and of eight bits: shifts, masks, groups with scales, integer products."""

    def __init__(self):
        super().__init__()
        self.register_buffer("nibbles", torch.randint(0, 256, (6, 8), dtype=torch.uint8))
        self.register_buffer("scales", torch.rand(6, 4).half())
        self.register_buffer("bytes", torch.randint(-127, 128, (5, 6), dtype=torch.int8))

    def forward(self, x):
        low, high = self.nibbles & 15, self.nibbles >> 4
        codes = torch.stack([low, high], -1).flatten(1).to(torch.int8) - 8
        weight = (codes.unflatten(1, (4, 4)) * self.scales.float()[..., None]).flatten(1)
        y = F.leaky_relu(F.linear(x, weight), 0.2)
        step = y.abs().amax(-1, keepdim=True).clamp(min=1e-8) / 127
        rounded = (y / step).round().clamp(-128, 127).to(torch.int8)
        sums = rounded.to(torch.int32) @ self.bytes.to(torch.int32).t()
        return sums * step, rounded ^ 3, sums.bitwise_right_shift(2), ~(sums > 0)


class Spline(nn.Module):
    """Curves by their knots: searches in sorted ones, the recursion of B-splines, masks."""

    def __init__(self, n=5):
        super().__init__()
        self.register_buffer("knots", torch.linspace(-2, 2, n + 4))
        self.weight = nn.Parameter(torch.randn(3, n + 1))

    def forward(self, x):
        knots, x = self.knots, x[..., None]
        basis = ((x >= knots[:-1]) & (x < knots[1:])).to(x.dtype)
        for k in range(1, 3):
            left = (x - knots[: -k - 1]) / (knots[k:-1] - knots[: -k - 1]) * basis[..., :-1]
            basis = left + (knots[k + 1:] - x) / (knots[k + 1:] - knots[1:-k]) * basis[..., 1:]
        curve = torch.tensordot(basis, self.weight, dims=([-1], [1]))
        place = torch.searchsorted(knots, x.squeeze(-1).contiguous(), right=True)
        kept = curve.masked_fill(curve < 0, 0).nan_to_num(0.0)
        return curve, place, torch.bucketize(x, knots[1:4]), kept.logcumsumexp(-1)


class Ensemble(nn.Module):
    """Members under vmap, their mean, their spread and quantiles."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(4, 3, 5)), nn.Parameter(torch.randn(4, 3))

    def forward(self, x):
        each = torch.vmap(lambda w, b: torch.tanh(x @ w.mT + b).softmax(-1))(self.weight, self.bias)
        std, mean = torch.std_mean(each, 0, correction=0)
        entropy = -torch.special.xlogy(mean, mean).sum(-1)
        return mean, std, entropy, each.median(0).values, each.kthvalue(2, 0).indices, each.permute(1, 2, 0).prod(-1)


class Routed(nn.Module):
    """Sizes that only the values tell: rows that are chosen, work on them, and back."""

    def __init__(self):
        super().__init__()
        self.gate, self.work = nn.Linear(4, 1), nn.Linear(4, 4)

    def forward(self, x):
        rows = (self.gate(x).squeeze(-1) > 0).nonzero().squeeze(-1)
        chosen = x.index_select(0, rows)
        out = torch.zeros_like(x).index_add(0, rows, self.work(chosen).relu())
        n = rows.shape[0]
        return out, rows.sum() + n, x.new_full((2,), 1.0) * n


class Branches(nn.Module):
    """Calls of other graphs, one within another, that read weights and sizes from outside."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x, deep):
        def inner(h):
            return torch.cond(h.mean() > 0, lambda h: self.a(h).cos(), lambda h: self.b(h) - h, (h,))

        h = torch.cond(deep, lambda x: inner(x * 2), lambda x: x.flip(0), (x,))
        return h, torch.cond(x.shape[0] > 4, lambda h: h.sum(0), lambda h: h.amax(0), (h,))


class Points(nn.Module):
    """A cloud of points: distances, nearest neighbours, what they say at most, rotations."""

    def __init__(self):
        super().__init__()
        self.edge, self.last = nn.Linear(6, 8), nn.Linear(8, 9)

    def forward(self, cloud):
        d = torch.cdist(cloud, cloud)
        near = d.topk(3, largest=False).indices
        rows = torch.arange(cloud.shape[0])[:, None, None]
        around = cloud[rows, near]
        edges = torch.cat([around - cloud[:, :, None], cloud[:, :, None].expand_as(around)], -1)
        feature = F.mish(self.edge(edges)).amax(2)
        m = self.last(feature.amax(1)).view(-1, 3, 3)
        cross = torch.linalg.cross(m[:, 0], m[:, 1])
        turned = F.normalize(cross, dim=-1) * torch.linalg.vector_norm(m[:, 2], dim=-1, keepdim=True)
        return torch.baddbmm(turned[:, None], cloud, m), torch.linalg.det(m), F.cosine_similarity(m[:, 0], m[:, 2])


class Generator(nn.Module):
    """Transposed convolutions, weights with norms of their own, shuffled pixels, statistics of each image."""

    def __init__(self):
        super().__init__()
        self.start = nn.utils.parametrizations.weight_norm(nn.Linear(5, 32))
        self.up = nn.ConvTranspose2d(8, 6, 4, stride=2, padding=1, output_padding=1)
        self.norm, self.wide = nn.InstanceNorm2d(6, affine=True), nn.Conv2d(6, 12, 3, padding=2, dilation=2)
        self.bend = nn.PReLU(6)

    def forward(self, z):
        x = self.start(z).view(-1, 8, 2, 2)
        x = self.bend(self.norm(self.up(x)))
        x = F.pixel_shuffle(self.wide(x), 2)
        y = F.avg_pool2d(F.pad(x, (1, 1, 0, 2), mode="replicate"), 3, 2, ceil_mode=True, count_include_pad=False)
        return torch.tanh(x), y, F.unfold(y, 2).transpose(1, 2), F.local_response_norm(x, 3)


class Temporal(nn.Module):
    """Causal convolutions with holes, gates, and a recurrent network over what is packed."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(4, 8, 2, dilation=2**i) for i in range(3))
        self.gru, self.head = nn.GRU(4, 5, num_layers=2, bidirectional=True), nn.Linear(10, 2)

    def forward(self, x):
        skip = torch.zeros_like(x)
        for i, layer in enumerate(self.layers):
            y = F.glu(layer(F.pad(x, (2**i, 0))), 1)
            skip, x = skip + y, x + y
        out, last = self.gru(skip.permute(2, 0, 1))
        return F.softplus(self.head(out), 2.0), last.roll(1, 0)


def bert():
    import transformers

    config = transformers.BertConfig(vocab_size=23, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                                     intermediate_size=24, max_position_embeddings=12, attn_implementation="eager")
    return transformers.BertModel(config).eval()


def mobile():
    import timm

    return timm.create_model("mobilenetv3_small_050", num_classes=5).eval()


def models():
    """name → function that gives (model, args, kwargs, dynamic shapes)"""
    f, batch = torch.randn, Dim("batch", min=2, max=64)
    ids = torch.randint
    return {
        "denoiser": lambda: (Denoiser(), (f(2, 3, 8, 8), torch.tensor([3.0, 700.0])), {}, ({0: batch}, {0: batch})),
        "speech": lambda: (Speech().eval(), (f(2, 160),), {}, None),
        "recommender": lambda: (Recommender(), (ids(1000, (5, 3)), torch.rand(5, 2)), {}, ({0: batch}, {0: batch})),
        "search": lambda: (Search(), (ids(7, (2, 3, 4)), f(2, 3)), {}, None),
        "filter": lambda: (Filter(), (f(4, 2),), {}, None),
        "cached": lambda: (Cached(), (f(1, 2, 8),),
                           {"at": torch.tensor([1, 2]), "options": {"history": f(3), "scale": 0.5}}, None),
        "packed": lambda: (Packed(), (f(3, 16),), {}, None),
        "spline": lambda: (Spline(), (f(4, 2),), {}, None),
        "ensemble": lambda: (Ensemble(), (f(6, 5),), {}, None),
        "routed": lambda: (Routed(), (f(7, 4),), {}, None),
        "branches": lambda: (Branches(), (f(5, 4), torch.tensor(True)), {}, None),
        "points": lambda: (Points(), (f(2, 6, 3),), {}, None),
        "generator": lambda: (Generator(), (f(2, 5),), {}, None),
        "temporal": lambda: (Temporal(), (f(2, 4, 9),), {}, None),
        "bert": lambda: (bert(), (ids(23, (2, 7)), torch.ones(2, 7, dtype=torch.int64)), {}, None),
        "mobile": lambda: (mobile(), (f(1, 3, 64, 64),), {}, None),
    }


def outputs_of(program, args, kwargs):
    flat = program._graph_module_flat_inputs(args, kwargs)
    flat = [t.clone() if isinstance(t, torch.Tensor) else t for t in flat]
    found = program.graph_module(*flat)
    return {f"output_{i}": t.detach() for i, t in enumerate(found) if isinstance(t, torch.Tensor)}


def write(folder, name, make):
    torch.manual_seed(0)
    try:
        model, args, kwargs, shapes = make()
        program = export(model, args, kwargs, dynamic_shapes=shapes)
        save(program, folder / f"{name}.pt2")
        torch.save(outputs_of(program, args, kwargs), folder / f"{name}.outputs.pt")
    except Exception as error:
        print(f"{name} is left out:", type(error).__name__, str(error).strip().splitlines()[:1], flush=True)


def main():
    folder = pathlib.Path(sys.argv[1])
    wanted = sys.argv[2].split(",") if len(sys.argv) > 2 else None
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in models().items():
        if (wanted is None or name in wanted) and not (folder / f"{name}.outputs.pt").exists():
            # What fails may leave PyTorch as it was within.
            process = multiprocessing.get_context("fork").Process(target=write, args=(folder, name, make))
            process.start()
            process.join()


if __name__ == "__main__":
    main()
