# SPDX-License-Identifier: MIT
"""Networks with their training losses: dropout, batch statistics, padding, negative samples, inner steps."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from zoo_chance import many, mlp, rows, with_parameters
from zoo_further import Parts, whole
from zoo_science import drawn

# -- text --


def translated(m, source, target):
    """Encoder and decoder of the library, with padding and causal masks."""
    pad, later = source.eq(0), torch.ones(7, 7, dtype=torch.bool).triu(1)
    memory = m.encoder(F.dropout(m.words(source), 0.1, m.training), src_key_padding_mask=pad)
    y = m.decoder(m.words(target[:, :-1]), memory, tgt_mask=later, memory_key_padding_mask=pad)
    return F.cross_entropy((y @ m.words.weight.T).float().flatten(0, 1), target[:, 1:].flatten(), ignore_index=0)


class Grouped(nn.Module):
    """Grouped queries, normalized per head, with soft-capped scores (Gemma 2, Qwen 3)."""

    def __init__(self, width, heads, groups):
        super().__init__()
        self.heads, self.groups, size = heads, groups, width // heads
        self.queries, self.keys = nn.Linear(width, width, bias=False), nn.Linear(width, 2 * groups * size, bias=False)
        self.norm, self.out = nn.RMSNorm(size), nn.Linear(width, width, bias=False)
        self.before, self.after = nn.RMSNorm(width), nn.RMSNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(2 * width, width, bias=False)

    def forward(self, x):
        y, length = self.before(x), x.shape[1]
        query = self.norm(self.queries(y).unflatten(-1, (self.heads, -1))).transpose(1, 2)
        key, value = (p.unflatten(-1, (self.groups, -1)).transpose(1, 2) for p in self.keys(y).chunk(2, -1))
        key, value = (p.repeat_interleave(self.heads // self.groups, 1) for p in (self.norm(key), value))
        apart = torch.arange(length)[:, None] - torch.arange(length)
        scores = 30 * torch.tanh(query @ key.mT / (30 * math.sqrt(query.shape[-1])))
        weights = scores.masked_fill((apart < 0) | (apart > 5), float("-inf")).softmax(-1)
        x = x + self.out((F.dropout(weights, 0.1, self.training) @ value).transpose(1, 2).flatten(2))
        gate, step = self.up(self.after(x)).chunk(2, -1)
        return x + self.down(F.gelu(gate, approximate="tanh") * step)


def grouped(m, tokens):
    x = m.words(tokens) * math.sqrt(m.words.weight.shape[1])
    for layer in m.layers:
        x = layer(x)
    scores = 20 * torch.tanh((x @ m.words.weight.T)[:, :-1].float() / 20)
    loss = F.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten(), label_smoothing=0.05)
    return loss + 1e-3 * scores.logsumexp(-1).square().mean()


def leaning(m, x):
    """Attention with linear biases per head, through the library's attention with dropout (ALiBi)."""
    query, key, value = (p.unflatten(-1, (4, -1)).transpose(1, 2) for p in m.project(m.norm(x)).chunk(3, -1))
    apart = (torch.arange(x.shape[1]) - torch.arange(x.shape[1])[:, None]).clamp(max=0)
    bias = (2.0 ** -torch.arange(1, 5))[:, None, None] * apart
    mask = bias.masked_fill(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1), float("-inf"))
    y = F.scaled_dot_product_attention(query, key, value, mask.to(query.dtype), 0.1 if m.training else 0.0)
    return m.out(y.transpose(1, 2).flatten(2)), y.square().mean((1, 3))


def gated_memory(m, tokens, lengths):
    """Two bidirectional layers of GRU cells with dropout, and a mean over positions that are not padding."""
    x = m.words(tokens)
    for forth, back in zip(m.forth, m.back):
        h, g = (x.new_zeros(x.shape[0], 8) for _ in range(2))
        one, other = [], []
        for step, late in zip(x.unbind(1), x.flip(1).unbind(1)):
            h, g = forth(step, h), back(late, g)
            one.append(h)
            other.append(g)
        x = F.dropout(torch.cat([torch.stack(one, 1), torch.stack(other, 1).flip(1)], -1), 0.2, m.training)
    inside = (torch.arange(tokens.shape[1]) < lengths[:, None])[..., None].to(x.dtype)
    return F.binary_cross_entropy_with_logits(m.out((x * inside).sum(1) / lengths[:, None]).squeeze(-1), (lengths % 2).to(x.dtype))


def temporal(m, x):
    """Dilated causal convolutions with weight norm and channel dropout (TCN)."""
    for k, (filters, scale) in enumerate(zip(m.filters, m.scales)):
        weight = scale[:, None, None] * filters / filters.flatten(1).norm(dim=1)[:, None, None]
        y = F.conv1d(F.pad(x, (2 * 2**k, 0)), weight, dilation=2**k)
        x = F.relu(x[:, : y.shape[1]] + F.dropout1d(F.elu(y), 0.2, m.training))
    return F.huber_loss(m.out(x[..., -1]).float(), torch.zeros(3, 2), delta=0.5)


# -- pictures --


class Bottleneck(nn.Module):
    """Batch norm, grouped convolutions, channel attention, average pooling in the shortcut (ResNet-D, SE)."""

    def __init__(self, channels, out, stride):
        super().__init__()
        self.stride = stride
        self.down, self.up = nn.Conv2d(channels, out // 2, 1, bias=False), nn.Conv2d(out // 2, out, 1, bias=False)
        self.middle = nn.Conv2d(out // 2, out // 2, 3, stride, 1, groups=2, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(n) for n in (out // 2, out // 2, out)])
        self.around, self.squeeze, self.excite = nn.Conv2d(channels, out, 1), nn.Conv2d(out, 4, 1), nn.Conv2d(4, out, 1)

    def forward(self, x):
        y = F.relu(self.norms[1](self.middle(F.relu(self.norms[0](self.down(x))))))
        y = self.norms[2](self.up(y))
        y = y * self.excite(F.relu(self.squeeze(y.mean((2, 3), keepdim=True)))).sigmoid()
        return F.relu(y + self.around(F.avg_pool2d(x, self.stride, ceil_mode=True) if self.stride > 1 else x))


def bottlenecks(m, x):
    """Two pictures mixed, with the loss of both labels (mixup)."""
    x = 0.7 * x + 0.3 * x.flip(0)
    for block in m.blocks:
        x = block(x)
    scores = m.out(F.dropout2d(x, 0.1, m.training).amax((2, 3))).float()
    labels = torch.arange(x.shape[0]) % 5
    return 0.7 * F.cross_entropy(scores, labels) + 0.3 * F.cross_entropy(scores, labels.flip(0))


def pyramid(m, x):
    """A feature pyramid of three sizes with focal and box losses (FPN, focal, GIoU)."""
    sizes = []
    for down in m.downs:
        x = F.leaky_relu(down(x), 0.1)
        sizes.append(x)
    x = m.sides[2](sizes[2])
    for k in (1, 0):
        x = m.sides[k](sizes[k]) + F.interpolate(x, size=sizes[k].shape[-2:], mode="bilinear", align_corners=True)
    scores, boxes = m.head(x).float().flatten(2).split([3, 4], 1)
    chance, wanted = scores.sigmoid(), (torch.arange(scores.shape[-1]) % 11 == 0).float().expand_as(scores)
    focal = F.binary_cross_entropy_with_logits(scores, wanted, reduction="none") * (chance - wanted).abs() ** 2
    low, high = torch.minimum(boxes[:, :2], boxes[:, 2:]), torch.maximum(boxes[:, :2], boxes[:, 2:])
    inside = (torch.minimum(high, torch.ones(())) - torch.maximum(low, -torch.ones(()))).clamp(min=0).prod(1)
    union = (high - low).prod(1) + 4 - inside
    return focal.sum() / wanted.sum() + (1 - inside / (union + 1e-6)).mean()


def pooled_context(m, x):
    """Parallel dilated convolutions, upsampled, with the Dice loss (ASPP, Dice)."""
    views = [F.silu(conv(x)) for conv in m.views]
    views.append(F.adaptive_avg_pool2d(x, 1).expand(-1, -1, *x.shape[-2:]))
    x = F.interpolate(m.out(F.instance_norm(torch.cat(views, 1))), scale_factor=(2.5, 2), mode="bicubic")
    shares = x.float().softmax(1)
    return 1 - (2 * shares[:, 0].sum() + 1) / (shares.square().sum() + 1), F.pixel_shuffle(x, 2).std((2, 3))


def denoised(m, x, step):
    """A U-Net with attention and sinusoidal time embedding, trained on velocity (DDPM)."""
    angle = step[:, None] * torch.exp(-math.log(1000.0) * torch.arange(8) / 8)
    time = m.time(torch.cat([angle.sin(), angle.cos()], -1).to(x.dtype))
    keep = torch.cos(step / 100 * math.pi / 2).to(x.dtype)[:, None, None, None]
    noise = torch.randn_like(x)
    noisy = keep * x + (1 - keep**2).sqrt() * noise
    high = m.first(noisy)
    low = m.second(F.silu(m.norm(high) * (1 + time[:, :8, None, None]) + time[:, 8:, None, None]))
    query, key, value = m.project(m.middle(low)).flatten(2).chunk(3, 1)
    low = low + ((query.mT @ key / math.sqrt(12)).softmax(-1) @ value.mT).mT.unflatten(2, low.shape[2:])
    y = m.out(torch.cat([high, F.interpolate(low, scale_factor=2, mode="nearest")], 1))
    velocity, weight = keep * noise - (1 - keep**2).sqrt() * x, (keep**2 / (1 - keep**2 + 1e-3)).clamp(max=5)
    return (weight * (y - velocity) ** 2).float().mean()


def mirrored(m, x):
    """Transposed convolutions from a code, and a critic with spectral norm."""
    code = m.encode(x)
    y = torch.tanh(m.second(F.leaky_relu(F.instance_norm(m.first(code)), 0.2)))
    weight = m.critic.weight.flatten(1)
    with torch.no_grad():
        v = F.normalize(weight.T @ m.sight, dim=0)
        u = F.normalize(weight @ v, dim=0)
    real, fake = (F.conv2d(p, m.critic.weight / (u @ weight @ v), stride=2).mean((1, 2, 3)) for p in (x, y))
    return F.relu(1 - real).mean() + F.relu(1 + fake).mean() + F.l1_loss(y, x), F.softplus(-fake)


# -- graphs, sets, tables --


def scattered(m, x, edges):
    """Messages aggregated by sum, mean and maximum, attention by scattered sums, batch norm (PNA, GAT)."""
    source, target = edges
    message = F.elu(m.edge(torch.cat([x[source], x[target]], -1)))
    place = target[:, None].expand_as(message)
    empty = message.new_zeros(x.shape[0], message.shape[1])
    most = empty.scatter_reduce(0, place, message, "amax", include_self=False)
    mean = empty.scatter_reduce(0, place, message, "mean", include_self=False)
    score = m.score(message).squeeze(-1)
    share = (score - score.max().detach()).exp()
    total = share.new_zeros(x.shape[0]).index_add(0, target, share)
    attended = empty.index_add(0, target, message * (share / total[target].clamp(min=1e-6))[:, None])
    h = m.norm(m.node(torch.cat([x, most, mean, attended], -1)))
    return m.out(F.dropout(F.relu(h), 0.3, m.training)).log_softmax(-1)


def factors(m, ids, counts):
    """Embedded fields, products of pairs, cross layers, a deep part (DeepFM, DCN)."""
    fields = torch.stack([table(ids[:, k]) for k, table in enumerate(m.tables)], 1)
    history = m.bag(ids, per_sample_weights=counts)
    pairs = (fields.sum(1).square() - fields.square().sum(1)).sum(-1) / 2
    x = first = torch.cat([fields.flatten(1), history], -1)
    for layer in m.crosses:
        x = first * layer(x) + x
    logits = pairs + m.deep(F.dropout(first, 0.2, m.training)).squeeze(-1) + m.out(x).squeeze(-1)
    return F.binary_cross_entropy_with_logits(logits, (ids[:, 0] % 2).to(logits.dtype), pos_weight=torch.tensor(2.0))


def towers(m, users, things):
    """Two normalized towers, in-batch negatives, frequency correction (sampled softmax)."""
    user, thing = F.normalize(m.user(users), dim=-1), F.normalize(m.thing(m.things(things)), dim=-1)
    scores = user @ thing.T * m.heat.exp().clamp(max=100)
    often = torch.bincount(things, minlength=20)[things].to(scores.dtype)
    same = (things[:, None] == things) & ~torch.eye(len(things), dtype=torch.bool)
    return F.cross_entropy((scores - often.log()).masked_fill(same, -1e4).float(), torch.arange(len(things))), user.T @ thing


def sets(m, x):
    """Inducing points attend to all points and back (Set Transformer), with library attention."""
    seeds = m.seeds.expand(x.shape[0], -1, -1).to(x.dtype)
    h, _ = m.gather(seeds, x, x, need_weights=False)
    y, weights = m.spread(x, m.first(h + seeds), h)
    y = m.second(x + y)
    return F.gaussian_nll_loss(y[..., 0].float(), x[..., 0].float(), F.softplus(y[..., 1]).float() + 1e-3), weights


def tuned(m, x, y):
    """One gradient step on a loss, and the loss after it (MAML)."""
    first, second = m.first.weight, m.second.weight

    def loss(first, second, chosen):
        return F.mse_loss(F.mish(x[chosen] @ first.T) @ second.T, y[chosen])

    grads = torch.func.grad(loss, (0, 1))(first, second, slice(0, None, 2))
    return loss(first - 0.1 * grads[0], second - 0.1 * grads[1], slice(1, None, 2))


def pointed(m, x):
    """Points transformed by a learned matrix, batch norm, maximum of each feature, an orthogonality penalty."""
    turn = m.turn(F.relu(m.norm(x.flatten(0, 1))).unflatten(0, x.shape[:2]).amax(1)).unflatten(-1, (3, 3))
    turn = turn + torch.eye(3, dtype=x.dtype)
    h = F.relu(m.norms(m.wide((x @ turn).mT)))
    apart = torch.cdist((x @ turn).float(), x.float()).min(-1).values.mean()
    return m.out(F.alpha_dropout(F.selu(h.amax(-1)), 0.1, m.training)), (turn @ turn.mT - torch.eye(3)).square().sum() + apart


def convolution(channels, out):
    return nn.Sequential(nn.Conv2d(channels, out, 3, 2, 1, bias=False), nn.BatchNorm2d(out))


def attention():
    return nn.MultiheadAttention(8, 2, 0.1, batch_first=True)


MODELS = {
    "translated": lambda: (Parts(translated, words=nn.Embedding(20, 12, padding_idx=0),
                                 encoder=nn.TransformerEncoder(nn.TransformerEncoderLayer(12, 3, 20, 0.1, batch_first=True), 2,
                                                               enable_nested_tensor=False),
                                 decoder=nn.TransformerDecoder(nn.TransformerDecoderLayer(12, 3, 20, 0.1, "gelu", batch_first=True,
                                                                                          norm_first=True), 1)),
                           (torch.tensor([[3, 5, 7, 2, 9, 0], [4, 4, 8, 0, 0, 0], [1, 2, 3, 4, 5, 6]]), whole(20, 3, 8, low=1))),
    "grouped": lambda: (Parts(grouped, words=nn.Embedding(24, 16), layers=many(2, lambda: Grouped(16, 4, 2))), (whole(24, 2, 11),)),
    "leaning": lambda: (Parts(leaning, norm=nn.LayerNorm(16), project=nn.Linear(16, 48), out=nn.Linear(16, 6)), drawn((2, 13, 16))),
    "gated-memory": lambda: (Parts(gated_memory, words=nn.Embedding(15, 16), forth=many(2, lambda: nn.GRUCell(16, 8)),
                                   back=many(2, lambda: nn.GRUCell(16, 8)), out=nn.Linear(16, 1)),
                             (whole(15, 4, 6), torch.tensor([6, 3, 5, 1]))),
    "temporal": lambda: (Parts(temporal, filters=rows(3, 6, 6, 3), scales=rows(3, 6), out=nn.Linear(6, 2)), drawn((3, 6, 20))),
    "bottlenecks": lambda: (Parts(bottlenecks, out=nn.Linear(16, 5),
                                  blocks=nn.ModuleList([Bottleneck(3, 8, 1), Bottleneck(8, 16, 2)])), drawn((4, 3, 15, 15))),
    "pyramid": lambda: (Parts(pyramid, downs=nn.ModuleList([convolution(3, 6), convolution(6, 8), convolution(8, 10)]),
                              sides=nn.ModuleList([nn.Conv2d(n, 8, 1) for n in (6, 8, 10)]), head=nn.Conv2d(8, 7, 3, padding=1)),
                        drawn((2, 3, 26, 34))),
    "pooled-context": lambda: (Parts(pooled_context, out=nn.Conv2d(16, 4, 1),
                                     views=nn.ModuleList([nn.Conv2d(4, 4, 3, padding=k, dilation=k) for k in (1, 2, 4)])),
                               drawn((2, 4, 12, 10))),
    "denoised": lambda: (Parts(denoised, time=mlp(16, 20, 16), first=nn.Conv2d(3, 8, 3, padding=1), norm=nn.GroupNorm(2, 8),
                               second=nn.Conv2d(8, 12, 3, 2, 1), middle=nn.GroupNorm(3, 12), project=nn.Conv2d(12, 36, 1),
                               out=nn.Conv2d(20, 3, 3, padding=1)), (*drawn((3, 3, 12, 12)), torch.tensor([3.0, 41.0, 90.0]))),
    "mirrored": lambda: (with_parameters(Parts(mirrored, encode=nn.Conv2d(3, 8, 4, 2, 1),
                                               first=nn.ConvTranspose2d(8, 6, 3, 1, 1), second=nn.ConvTranspose2d(6, 3, 4, 2, 1),
                                               critic=nn.Conv2d(3, 7, 3)), sight=torch.randn(7)), drawn((2, 3, 14, 14))),
    "scattered": lambda: (Parts(scattered, edge=nn.Linear(12, 8), score=nn.Linear(8, 1), node=nn.Linear(30, 12),
                                norm=nn.BatchNorm1d(12), out=nn.Linear(12, 4)), (*drawn((14, 6)), whole(14, 2, 50))),
    "factors": lambda: (Parts(factors, tables=many(3, lambda: nn.Embedding(12, 4)), bag=nn.EmbeddingBag(12, 5, mode="sum"),
                              crosses=many(2, lambda: nn.Linear(17, 17)), deep=mlp(17, 12, 1), out=nn.Linear(17, 1)),
                        (whole(12, 9, 3), *drawn((9, 3)))),
    "towers": lambda: (with_parameters(Parts(towers, user=mlp(7, 12, 8), thing=mlp(6, 12, 8), things=nn.Embedding(20, 6)),
                                       heat=torch.tensor(1.5)), (*drawn((10, 7)), whole(20, 10))),
    "sets": lambda: (with_parameters(Parts(sets, gather=attention(), spread=attention(), first=nn.LayerNorm(8),
                                           second=nn.LayerNorm(8)), seeds=torch.randn(3, 8)), drawn((4, 9, 8))),
    "tuned": lambda: (Parts(tuned, first=nn.Linear(5, 16, bias=False), second=nn.Linear(16, 3, bias=False)), drawn((8, 5), (8, 3))),
    "pointed": lambda: (Parts(pointed, norm=nn.BatchNorm1d(3), turn=nn.Linear(3, 9), wide=nn.Conv1d(3, 16, 1),
                              norms=nn.BatchNorm1d(16), out=nn.Linear(16, 4)), drawn((3, 20, 3))),
}  # fmt: skip
