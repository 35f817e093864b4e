# SPDX-License-Identifier: MIT
"""Captures of small models by the newest release, or by another one, for test-release.c.

  PYTHONPATH=data/bridge python tests/session/data/make-newest.py FOLDER [NAME...]
"""

import os
import sys

import adjoint_capture
import torch
from torch import nn

# Where things stand on the machine that records says nothing.
RENAMED = {
    os.path.dirname(os.path.dirname(torch.__file__)): "/usr/lib/python3/dist-packages",
    os.path.dirname(os.path.abspath(__file__)): "/home/user",
}


class Waves(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = torch.sin(layer(x))
        return x


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(4, 8), nn.LayerNorm(8), nn.Linear(8, 2)

    def forward(self, x):
        return self.last(self.norm(torch.tanh(self.first(x)))).softmax(-1)


class Thin(nn.Module):
    """Dimensions of 1 whose strides are not those of a fresh tensor, beside numbers, norms, clamps and choices."""

    def __init__(self):
        super().__init__()
        self.linear, self.out = nn.Linear(1, 3), nn.Linear(3, 1)

    def forward(self, x):
        y = nn.functional.layer_norm(self.linear(x[:, :1])[1:2].t(), (3, 1))
        y = (y * 2 - y.relu().div(3)).t().clamp(-1, 1).t()
        z = torch.where(y > 0, y, 0.5).masked_fill(y < -0.5, 0.25) % 3
        u = nn.functional.layer_norm(self.linear(x.t()[..., :1]).t(), (4,)).t().sin()
        return self.out(nn.functional.hardtanh(z.t() + 1).flip(0)) / 2 + u


class Hooked(nn.Module):
    """Hooks that scale, that replace, that read a value, on what is read twice, on a view; two on one tensor."""

    def __init__(self):
        super().__init__()
        self.w, self.b = nn.Parameter(torch.ones(4) / 2), nn.Parameter(torch.ones(4) / 4)

    def forward(self, x):
        k, y = x[0].cos(), x[0] * self.w
        y.register_hook(lambda g: g * k + self.b.detach())
        y.register_hook(lambda g: g.clamp(-1, 1))
        z = torch.softmax(y.sin() + y, 0)
        z.register_hook(lambda g: g - (g * z.detach()).sum())
        u = (z.sigmoid() + self.b).view(1, 4)
        u.register_hook(lambda g: torch.ones_like(g).flip(1))
        v = u.t()
        v.register_hook(lambda g: g / 2)
        return (v @ u).sum()


class Dropped(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 8)

    def forward(self, x):
        y = nn.functional.dropout(self.linear(x), 0.3)
        y = y + nn.functional.dropout(y.t(), 0.5).t()
        waits = torch.empty_like(y.t()).exponential_(2.0).t()
        return y * waits + torch.empty_like(y).bernoulli_(0.25)


class Parted(nn.Module):
    """Parts of what was written, heads that share keys, a norm of an integer order, a loss behind a squeeze."""

    def __init__(self):
        super().__init__()
        self.first, self.key, self.last = nn.Linear(4, 8), nn.Linear(4, 2), nn.Linear(8, 1)

    def forward(self, x):
        y = nn.functional.relu(self.first(x), inplace=True)
        a, b, _ = y.split(3, 1)
        c, d = y.split_with_sizes([2, 6], 1)
        z = torch.cat([nn.functional.normalize(a, p=2), b * y.unbind(1)[4][:, None], c], 1) + y
        k = self.key(x).view(1, 1, 3, 2)
        h = nn.functional.scaled_dot_product_attention(z.view(1, 3, 4, 2).transpose(1, 2), k, k, enable_gqa=True)
        logits = self.last(h.transpose(1, 2).reshape(3, 8)).squeeze(-1)
        return nn.functional.binary_cross_entropy_with_logits(logits, x[:, 0].sigmoid()) + d.sum()


class Indexed(nn.Module):
    """Whole dimensions among indices, and numbers that are written."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 6)

    def forward(self, x):
        y = self.linear(x)[:, None, 1:]
        z = y.clone()
        z[:, :, 0] = 2.0
        z[z < 0] = 0.5
        z[:, 0, [1, 2]] = -1.0
        z[..., 3:] = y[..., 3:] * 2
        return z[:, 0] * y[:, -1]


class Written(nn.Module):
    """Writes through views, of which some are of others: slices, masks, a cache."""

    def __init__(self):
        super().__init__()
        self.linear, self.key = nn.Linear(4, 6), nn.Linear(4, 6)
        self.register_buffer("cache", torch.zeros(5, 6))

    def forward(self, x):
        y = self.linear(x).clone()
        y[:, 1:] += x[:, :1] * 2
        y[y < -1] = -1.0
        y.t()[1:3].add_(x.sum())
        y[:, ::2].relu_()
        cache = self.cache.clone()
        cache[1:4].copy_(self.key(x))
        cache.select(1, 2).mul_(y[0, 0])
        return y + cache[:3]


class Solved(nn.Module):
    """Systems and inverses, whose factors the backward takes."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.eye(4) + 0.1 * torch.randn(4, 4))

    def forward(self, x):
        return torch.linalg.solve(self.weight, x.mT).mT @ torch.linalg.inv(self.weight) + torch.det(self.weight)


class Ranked(nn.Module):
    """What 2.15 takes apart in another way, and merges only where backward needs both or neither."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 8), nn.Linear(4, 4)

    def forward(self, x):
        y, gate = self.first(x[None]).split(4, -1)
        y = nn.functional.dropout(nn.functional.silu(y) * nn.functional.mish(gate), 0.0)[0].clamp(max=2)
        places = nn.functional.one_hot(y.detach().argmax(1), 4)
        z = torch.take_along_dim(self.last(y), y.detach().argsort(1), 1).cumprod(1)
        near = nn.functional.cosine_similarity(z, y, dim=1) + nn.functional.hardshrink(z, -0.5).sum(1)
        return torch.quantile(z, 0.3, dim=1) * near + torch.nanquantile(places * y, 0.5)


class Counted(nn.Module):
    """Buffers that are written, one of them given back, one with what was detached."""

    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(4, 4), nn.BatchNorm1d(4)
        self.register_buffer("rows", torch.zeros((), dtype=torch.int64))
        self.register_buffer("seen", torch.zeros(5, 4))

    def forward(self, x):
        self.rows += x.shape[0]
        y = self.linear(x)
        self.seen[:3] = y.detach()
        return self.norm(y + (y.round() - y).detach().detach())


class Sized(nn.Module):
    """Slices, strides and tangents of sizes that are symbols, and what has other formulas beside them."""

    def __init__(self):
        super().__init__()
        self.linear, self.along = nn.Linear(4, 6), nn.Conv1d(6, 2, 3)

    def forward(self, x):
        y = self.linear(x)
        steps = y[1:, :] - y[:-1, :]
        along = self.along(y.t()[None])[0].tanh().t()
        spread = torch.trace(self.linear.weight @ self.linear.weight.t())
        normed = nn.functional.rms_norm(y.bfloat16(), (6,), self.linear.bias.bfloat16()).float()
        wrong = nn.functional.binary_cross_entropy_with_logits(y.t(), normed.t().sigmoid().contiguous(), reduction="none")
        return (steps * along.mean() * spread + wrong.sum(0)[1:, None])[::2]


class Bounded(nn.Module):
    """A symbol that a convolution bounds, whose whole slices go, and what 2.15 alone computes again."""

    def __init__(self):
        super().__init__()
        self.along, self.scale = nn.Conv1d(1, 2, 3), nn.Parameter(torch.rand(2, 1))

    def forward(self, x):
        y = nn.functional.leaky_relu(self.along(x[:, None]), 0.2)
        return (y * self.scale).softmax(-1)[:, 1] * y[:, 0]


class Transformed(nn.Module):
    """Gradients for each sample, a Jacobian in a batch, many models at once, a layer of vectors, a step of descent."""

    def __init__(self):
        super().__init__()
        self.weight, self.last = nn.Parameter(torch.randn(4, 5) / 2), nn.Parameter(torch.randn(5, 3) / 2)
        self.many = nn.Parameter(torch.randn(2, 3, 4) / 2)

    def forward(self, x):
        def score(weight, at):
            return torch.tanh(at @ weight) @ self.last

        def loss(weight, at):
            return nn.functional.cross_entropy(score(weight, at)[None], at.argmax()[None] % 3)

        slopes = torch.func.vmap(torch.func.grad(loss), (None, 0))(self.weight, x)
        jacobians = torch.func.vmap(torch.func.jacrev(score, argnums=1), (None, 0))(self.weight, x)
        heads = torch.func.vmap(lambda weight: torch.sin(nn.functional.linear(x, weight)).cumsum(0))(self.many)
        shifts = torch.func.vmap(lambda at: nn.functional.linear(at, self.many[0], self.many[0, :, 0]))(x)
        step = torch.func.grad(lambda weight: nn.functional.smooth_l1_loss(x @ weight, shifts, beta=0.5))(self.many[1].T)
        return slopes.square().sum((1, 2)) * jacobians.sum((1, 2)) + heads.mean((0, 2)) + shifts.sum(1) * step.sum()


class Randomized(nn.Module):
    """Random numbers of functions over a batch: others in each entry, or the same."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x):
        def noisy(row):
            y = torch.sin(row) * torch.bernoulli(torch.sigmoid(row))
            return y * torch.randn_like(row) + torch.rand(4) * torch.rand_like(self.scale)

        def shared(row):
            return row * torch.rand(4) * self.scale + torch.randn_like(row)

        other = torch.func.vmap(noisy, randomness="different")(x)
        return other + torch.func.vmap(shared, randomness="same")(self.linear(x))


class Attended(nn.Module):
    """Attention whose keys and values have widths of their own, normed by a sum of squares."""

    def __init__(self):
        super().__init__()
        self.heads = nn.MultiheadAttention(4, 2, kdim=3, vdim=5, batch_first=True)
        self.norm = nn.RMSNorm(4)
        self.keys, self.values = nn.Linear(4, 3), nn.Linear(4, 5)

    def forward(self, x):
        y, weights = self.heads(self.norm(x)[None], self.keys(x)[None], self.values(x)[None])
        return y[0] * weights.sum()


class Decoded(nn.Module):
    """Attention in one sequence, which has strides of dimensions of 1, with a mask made for it, and a
    step of a cell, whose gates are computed in place."""

    def __init__(self):
        super().__init__()
        self.heads, self.cell = nn.MultiheadAttention(4, 2, batch_first=True), nn.LSTMCell(4, 4)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(3)
        y, _ = self.heads(x[None], 2 * x[None], x[None], attn_mask=mask, need_weights=False)
        h, _ = self.cell(nn.functional.dropout(y, 0.25)[0])
        return h * y.new_tensor([0.5, 1, 2, 4])


class Compared(nn.Module):
    """Losses of each entry of a batch, and their gradients."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 3) / 2)

    def forward(self, x):
        def loss(weight, row):
            y = torch.tanh(row @ weight)
            near = nn.functional.mse_loss(y, row[1:], reduction="sum") + nn.functional.mse_loss(y, row[:3])
            return near + nn.functional.mse_loss(y, row[1:], reduction="none").sum()

        def closer(weight, row):
            y = nn.functional.smooth_l1_loss(row @ weight, row[1:], beta=0.5)
            return y + nn.functional.huber_loss(row @ weight, row[:3], reduction="sum", delta=0.5)

        slopes = torch.func.vmap(torch.func.grad(loss), (None, 0))(self.weight, x)
        return slopes.square().sum((1, 2)) * torch.func.vmap(closer, (None, 0))(self.weight, x)


class Padded(nn.Module):
    """Sequences as rows, a diagonal that is written, turned halves, a small number in 16 bits, and
    strides of dimensions of 1."""

    def __init__(self):
        super().__init__()
        self.linear, self.scale = nn.Linear(4, 4), nn.Parameter(torch.ones(4))

    def forward(self, x):
        y = self.linear(x)
        parts = [y[0, :2], y[1], y[2, :3]]
        rows = nn.utils.rnn.pad_sequence(parts, batch_first=True)
        columns = nn.utils.rnn.pad_sequence(parts, padding_value=0.5)
        square = (rows @ columns).clone().fill_diagonal_(0.25)
        waves = torch.fft.ifftshift(square, dim=-1) * torch.fft.fftshift(square, dim=(0,))
        normed = nn.functional.rms_norm(y.bfloat16(), (4,), self.scale.bfloat16(), 1e-6).float()
        column = y.new_zeros(3, 1, 1).diagonal(0, 1, 2)
        return waves @ normed * (torch.ones_like(column) + column.flip(0))


class Lowered(nn.Module):
    """A norm under autocast, products along the last dimension, what is copied to be reshaped."""

    def __init__(self):
        super().__init__()
        self.linear, self.norm, self.pairs = nn.Linear(4, 4), nn.LayerNorm(4), nn.Bilinear(4, 4, 1)

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            y = self.norm(self.linear(x)).float()
        z = (1.5 + torch.tanh(y)).cumprod(-1)
        wide = z[:, None].expand(3, 2, 4)
        return self.pairs(wide, wide).sum((1, 2)) + z.sum(1)


class Overwritten(nn.Module):
    """What came out of a graph before is written."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        x.t()[1].mul_(2)
        x.fill_diagonal_(0.5)
        return self.linear(x).sin()


class Contracted(nn.Module):
    """Products of einsum whose factors are in the order of the result, or in the other one."""

    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(4, 6), nn.Linear(4, 8)

    def forward(self, x):
        a, b = self.left(x).view(3, 2, 3), self.right(x).view(3, 4, 2)
        turned = torch.einsum("nkq,nck->ncq", a, b)
        between = torch.einsum("nkq,nck,cd->nqcd", a, b, self.right.weight[:4])
        return (
            turned * torch.einsum("nkq,nck->nqc", a, b).mT
            + between.sum(-1).mT
            + torch.einsum("kq,ck->cq", a[0], b[1])
            + torch.einsum("nkq,mck->mncq", a, b).sum((0, 1))
        )


def stepped(backend):
    """The step of an optimiser, which holds the lists that it writes."""
    layer = nn.Linear(4, 2)
    optimizer = torch.optim.AdamW(layer.parameters(), foreach=True)
    layer(torch.randn(3, 4)).sum().backward()
    optimizer.step()
    torch.compile(optimizer.step, backend=backend)()


class Cut(nn.Module):
    """Singular values beside whole bases, labels after the end, and a conversion to the same device."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 6)
        labels = [[1, 0, -1, 2, 2, 2], [3, -1, 0, 0, 0, 0], [0, 1, 2, 3, 4, 5]]
        self.register_buffer("labels", torch.tensor(labels))

    def forward(self, x):
        y = self.linear(x)
        singular = torch.linalg.svd(y.t(), full_matrices=True).S
        margins = nn.functional.multilabel_margin_loss(y, self.labels, reduction="none")
        return singular + margins + y.to(device=x.device, copy=True).sum(1)


class Spread(nn.Module):
    """Results without a batch: of one level, of both, in a list."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        y = self.linear(x)
        single = torch.func.vmap(lambda row: y.sin(), out_dims=0)(x)
        double = torch.func.vmap(lambda a: torch.func.vmap(lambda b: a.cos())(x))(y)
        stacked = torch.func.vmap(lambda row: torch.stack([row, y[0]]))(x)
        return single.sum((0, 2)) * double.sum((0, 2)) * stacked.sum((1, 2))


class Curved(nn.Module):
    """Second derivatives of layer norms, with and without weights, and of activations."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(4, 6), nn.LayerNorm(6), nn.Linear(6, 1)

    def forward(self, x):
        def energy(at):
            y = nn.functional.gelu(self.norm(nn.functional.silu(self.first(at))))
            return self.last(nn.functional.layer_norm(nn.functional.mish(y), (6,)).tanh()).sum()

        return torch.func.grad(energy)(x).square().sum(1)


class Scaled(nn.Module):
    """Floats that are inputs, read once or twice, an integer that is one, and a dimension of 1 beside symbols."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.scale, self.eps, self.least, self.width = 0.7, 1e-3, -0.3, 4

    def forward(self, x):
        y = self.linear(x.view(-1, self.width)).cos() * self.scale
        z = y[:, :, None, None].transpose(1, 2)
        z = (z - z.mean(1, keepdim=True)) / (z.square() + self.eps).sqrt()
        small = torch.where(y > self.least, y.bfloat16() * self.scale, y.bfloat16() / self.eps)
        return z.flatten(1).clamp_min(self.least) + small.float()


class ScaledAgain(nn.Module):
    """Floats that are inputs inside a checkpointed region."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.scale, self.shift = 0.7, 0.3

    def part(self, x):
        return (x.sin() * self.scale).cos() + self.shift

    def forward(self, x):
        return torch.utils.checkpoint.checkpoint(self.part, self.linear(x), use_reentrant=False)


class Smoothed(nn.Module):
    """Smoothed labels of weighed classes, some of them ignored: of rows, of images, of one row."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("weight", torch.tensor([0.5, 1.0, 2.0, 0.25]))
        self.register_buffer("labels", torch.tensor([1, -100, 3]))

    def forward(self, x):
        y = self.linear(x)
        image = y.view(1, 3, 4).transpose(1, 2).unsqueeze(3)
        smoothed = {"weight": self.weight, "label_smoothing": 0.1}
        rows = nn.functional.cross_entropy(y, self.labels, **smoothed)
        images = nn.functional.cross_entropy(image, self.labels.view(1, 3, 1), **smoothed)
        each = nn.functional.cross_entropy(y, self.labels, reduction="none", **smoothed)
        one = nn.functional.cross_entropy(y[0], self.labels[0], reduction="sum", **smoothed)
        return rows + images * each + one


class Told(nn.Module):
    """Prints: their token comes before the parameters, of which a row is cheaper to save than the whole."""

    def __init__(self):
        super().__init__()
        self.weight, self.rows = nn.Parameter(torch.randn(4, 6)), nn.Parameter(torch.randn(5, 6))

    def between(self, y):
        return y

    def forward(self, x):
        torch.ops.aten._print("first")
        y = self.between((x @ self.weight).cos())
        torch.ops.aten._print("second")
        return (y * self.rows[1].cos() * x[1, :1].cos()).tanh()


class HookedTold(Told):
    """A hook between the prints, which 2.6 does not compile."""

    def between(self, y):
        y.register_hook(lambda grad: grad * 2)
        return y


MODELS = {
    "waves": Waves, "normed": Normed, "dropped": Dropped, "indexed": Indexed, "solved": Solved, "ranked": Ranked,
    "counted": Counted, "written": Written, "sized": Sized, "transformed": Transformed,
    "randomized": Randomized,
    "bounded": Bounded, "attended": Attended, "decoded": Decoded, "compared": Compared,
    "padded": Padded, "lowered": Lowered, "overwritten": Overwritten,
    "contracted": Contracted, "cut": Cut, "spread": Spread, "curved": Curved,
    "thin": Thin, "parted": Parted, "hooked": Hooked, "scaled": Scaled, "scaled-again": ScaledAgain,
    "smoothed": Smoothed, "told": Told, "hooked-told": HookedTold,
}  # fmt: skip
DYNAMIC = ("sized", "bounded", "scaled", "scaled-again")


def main(folder, *names):
    for name in names or (*MODELS, "stepped"):
        torch._dynamo.reset()
        torch.manual_seed(0)
        release = ".".join(torch.__version__.split(".")[:2])
        path = os.path.join(folder, f"{'newest' if release == '2.15' else release}-{name}.adjoint")
        backend = adjoint_capture.backend(path, rename=RENAMED)
        if name == "stepped":
            stepped(backend)
            continue
        model, x = MODELS[name](), torch.randn(3, 4)
        if name == "overwritten":
            x = x.requires_grad_() * 2
        torch.compile(model, backend=backend, dynamic=name in DYNAMIC)(x).sum().backward()


main(*sys.argv[1:])
