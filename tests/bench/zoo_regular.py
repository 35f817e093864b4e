# SPDX-License-Identifier: MIT
"""Networks trained with every kind of regularisation: masks, noise, penalties, smoothed targets, mixed samples."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from zoo_chance import many, mlp, with_parameters
from zoo_further import Parts, whole
from zoo_science import drawn

# -- text --


def grouped_queries(m, tokens, bias):
    """Attention of few keys to many queries, a float bias as mask, a gated step (grouped-query attention)."""
    x = F.dropout(m.words(tokens), 0.1, m.training)
    query = m.query(x).unflatten(-1, (4, 4)).transpose(1, 2)
    key, value = (p.unflatten(-1, (2, 4)).transpose(1, 2).repeat_interleave(2, 1) for p in m.both(x).chunk(2, -1))
    x = x + m.out(F.scaled_dot_product_attention(query, key, value, attn_mask=bias).transpose(1, 2).flatten(2))
    return F.cross_entropy(m.read(F.layer_norm(x, (16,))).flatten(0, 1), tokens.flatten())


def sloped(m, tokens):
    """Attention with a slope of distance for each head, and scores capped by tanh (ALiBi, Gemma)."""
    x = m.words(tokens)
    query, key, value = (p.unflatten(-1, (2, -1)).transpose(1, 2) for p in m.project(x).chunk(3, -1))
    apart = torch.arange(x.shape[1])[:, None] - torch.arange(x.shape[1])
    scores = 5 * torch.tanh(query @ key.mT / (5 * math.sqrt(8))) - apart.abs() * torch.tensor([0.5, 0.25])[:, None, None]
    weights = F.dropout(scores.softmax(-1), 0.2, m.training)
    return m.out((weights.to(value.dtype) @ value).transpose(1, 2).flatten(2)).logsumexp(-1)


def two_way(m, tokens):
    """Tied embeddings, a GRU in each direction by cells, word dropout."""
    kept = torch.rand(tokens.shape) > 0.15
    words = m.words(torch.where(kept, tokens, 0))
    ahead = back = words.new_zeros(words.shape[0], 8)
    for k in range(words.shape[1]):
        ahead, back = m.ahead(words[:, k], ahead), m.back(words[:, -1 - k], back)
    return F.log_softmax(F.dropout(torch.cat([ahead, back], -1), 0.3, m.training) @ m.words.weight.T, -1)


def nested(m, tokens):
    """Recurrent attention over segments with memory from the one before (Transformer-XL)."""
    memory, results = m.start.expand(tokens.shape[0], 3, 16), []
    for part in m.words(tokens).split(3, 1):
        seen = torch.cat([memory.to(part.dtype), part], 1)
        own = m.attention(part, seen, seen, need_weights=False)[0]
        part = m.norm(part + F.dropout(own, 0.1, m.training))
        memory = part.detach() * 0.5 + memory.to(part.dtype) * 0.5
        results.append(part)
    return m.out(torch.cat(results, 1)).square().mean((1, 2))


def label_pairs(m, tokens, kinds):
    """Biaffine scores of all pairs of words, with margin loss over the best wrong one."""
    x = F.dropout(F.relu(m.first(m.words(tokens))), 0.2, m.training)
    scores = torch.einsum("bid,kde,bje->bijk", x, m.between, x) + m.bias
    right = scores.gather(-1, kinds[..., None])[..., 0]
    wrong = scores.scatter(-1, kinds[..., None], -1e4).amax(-1)
    return F.relu(1 - right + wrong).mean((1, 2))


def spans(m, tokens):
    """Differences of prefix sums as span representations, scored with a softmax over spans."""
    sums = F.pad(m.words(tokens).cumsum(1), (0, 0, 1, 0))
    starts, ends = torch.triu_indices(tokens.shape[1], tokens.shape[1])
    inner = (sums[:, ends + 1] - sums[:, starts]) / (ends - starts + 1)[:, None]
    return F.log_softmax(m.score(F.dropout(torch.tanh(inner), 0.2, m.training))[..., 0], -1)


def hashed(m, tokens):
    """Sums of embeddings by several hashes, weighed by learned importance (hash embeddings)."""
    rows = torch.stack([(tokens * a + b) % 11 for a, b in ((3, 1), (7, 5), (5, 2))], -1)
    x = (m.shared(rows) * m.weights(tokens)[..., None]).sum(-2)
    return m.out(F.alpha_dropout(F.selu(x), 0.1, m.training).flatten(1))


# -- pictures --


def squeezed(m, x):
    """Depthwise blocks with squeeze and excitation, hard activations and batch norm (MobileNet v3)."""
    x = F.hardswish(m.norm(m.stem(x)))
    for expand, depth, down, up, project in m.blocks:
        y = F.hardswish(depth(F.hardswish(expand(x))))
        gate = F.hardsigmoid(up(F.relu(down(y.mean((2, 3), keepdim=True)))))
        x = x + F.dropout2d(project(y * gate), 0.1, m.training)
    return m.out(F.dropout(x.mean((2, 3)), 0.2, m.training))


def mixed_samples(m, x):
    """Mixed pairs of pictures and of their labels (mixup), with label smoothing."""
    share = torch.rand(x.shape[0], 1, 1, 1).to(x.dtype)
    mixed = share * x + (1 - share) * x.flip(0)
    scores = m.net(mixed).log_softmax(-1)
    labels = F.one_hot(torch.arange(len(x)) % 4, 4).to(scores.dtype) * 0.9 + 0.025
    wanted = share[:, 0, 0] * labels + (1 - share[:, 0, 0]) * labels.flip(0)
    return -(wanted * scores).sum(-1)


def dropped_blocks(m, x):
    """Square holes cut out of the features (DropBlock), around a bottleneck of group norm."""
    holes = F.max_pool2d((torch.rand_like(x[:, :1]) < 0.05).to(x.dtype), 3, 1, 1)
    kept = 1 - holes
    x = x * kept * (kept.numel() / kept.sum().clamp(min=1)).to(x.dtype)
    return m.out(F.elu(m.norm(m.body(x)))).flatten(2).logsumexp(-1)


def shaken(m, x):
    """Two branches mixed at random (Shake-Shake), batch norm in each."""
    for first, second in zip(m.firsts, m.seconds):
        share = torch.rand(x.shape[0], 1, 1, 1).to(x.dtype)
        x = x + share * first(F.relu(x)) + (1 - share) * second(F.relu(x))
    return F.adaptive_avg_pool2d(x, (2, 3)).flatten(1)


def seen_by_patches(m, x):
    """A vision transformer: patches, a class token, positions, dropped paths."""
    patches = m.embed(x).flatten(2).mT
    x = torch.cat([m.token.expand(len(patches), 1, -1).to(patches.dtype), patches], 1) + m.places.weight
    for norm, project, out, after, step in m.layers:
        query, key, value = (p.unflatten(-1, (3, -1)).transpose(1, 2) for p in project(norm(x)).chunk(3, -1))
        own = out(F.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2))
        x = x + own * (torch.rand(len(x), 1, 1) > 0.1).to(x.dtype) / 0.9
        x = x + step(after(x))
    return m.head(m.norm(x)[:, 0])


def pyramid_of_maps(m, x):
    """A feature pyramid with lateral sums, and anchors scored by a focal loss."""
    low = F.silu(m.first(x))
    high = F.silu(m.second(low))
    low = m.side(low) + F.interpolate(high, scale_factor=2.0, mode="nearest")
    scores = torch.cat([m.score(low).flatten(1), m.score(high).flatten(1)], 1)
    chance = scores.sigmoid()
    wanted = (torch.arange(scores.shape[1]) % 7 == 0).to(scores.dtype)
    right = chance * wanted + (1 - chance) * (1 - wanted)
    return (F.binary_cross_entropy_with_logits(scores, wanted.expand_as(scores), reduction="none") * (1 - right) ** 2).mean(1)


def masks_of_points(m, x):
    """Dice and boundary losses over a decoder with transposed convolutions and instance norm."""
    y = m.up(F.leaky_relu(m.norm(m.down(x)), 0.2))
    mask = F.dropout2d(y, 0.1, m.training).softmax(1)
    wanted = (x[:, :1] > 0).to(mask.dtype)
    edges = (mask.diff(dim=-1).abs().mean((1, 2, 3)) + mask.diff(dim=-2).abs().mean((1, 2, 3)))
    inner = (mask[:, :1] * wanted).sum((1, 2, 3))
    return 1 - (2 * inner + 1) / (mask[:, :1].sum((1, 2, 3)) + wanted.sum((1, 2, 3)) + 1) + edges


def sharpened(m, x):
    """Residual dense blocks and pixel shuffle, Charbonnier loss, total variation (super-resolution)."""
    y = F.relu(m.first(x))
    y = torch.cat([y, F.relu(m.second(y))], 1)
    fine = F.pixel_shuffle(m.out(y), 2)
    rough = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
    error = ((fine - rough).square() + 1e-4).sqrt().mean((1, 2, 3))
    return error + 0.1 * (fine[..., 1:] - fine[..., :-1]).abs().mean((1, 2, 3))


def pooled_by_power(m, x):
    """Generalised mean pooling, an angular margin loss over normalised classes (ArcFace)."""
    y = F.softplus(m.body(x)).clamp(min=1e-4)
    pooled = y.pow(3).mean((2, 3)).pow(1 / 3)
    cosine = F.normalize(pooled, dim=-1) @ F.normalize(m.classes.weight, dim=-1).T
    wanted = F.one_hot(torch.arange(len(x)) % 5, 5).bool()
    turned = cosine * math.cos(0.3) - (1 - cosine.square()).clamp(min=1e-4).sqrt() * math.sin(0.3)
    return F.nll_loss((8 * torch.where(wanted, turned, cosine)).log_softmax(-1), torch.arange(len(x)) % 5, reduction="none")


def rows_and_columns(m, x):
    """Attention along rows, then along columns (axial attention), with dropout."""
    for attention in (m.rows, m.columns):
        lines = x.permute(0, 2, 3, 1).flatten(0, 1)
        own, _ = attention(lines, lines, lines, need_weights=False)
        x = x + F.dropout(own, 0.1, m.training).unflatten(0, (x.shape[0], -1)).permute(0, 3, 1, 2)
        x = x.mT
    return m.out(x).amax((2, 3))


# -- sound, series --


def convolved(m, x):
    """A convolution module with gated linear units between half steps (Conformer)."""
    x = x + 0.5 * m.before(x)
    y = F.glu(m.wide(m.norm(x)), -1).mT
    y = F.silu(m.batch(m.depth(y))).mT
    x = x + F.dropout(m.narrow(y), 0.1, m.training)
    return F.ctc_loss(m.out(x).float().log_softmax(-1).transpose(0, 1), whole(6, len(x), 3, low=1),
                      torch.full((len(x),), x.shape[1]), torch.full((len(x),), 3))


def far_ahead(m, x):
    """Trend and season of a series by moving averages, forecast by linear layers, reversible norm (DLinear)."""
    mean, spread = x.mean(1, keepdim=True), x.var(1, keepdim=True, unbiased=False).add(1e-5).sqrt()
    x = (x - mean) / spread
    trend = F.avg_pool1d(F.pad(x.mT, (2, 2), mode="replicate"), 5, 1)
    ahead = m.season(F.dropout(x.mT - trend, 0.1, m.training)) + m.trend(trend)
    return F.huber_loss(ahead.mT * spread + mean, x[:, :4].detach(), reduction="none").mean((1, 2))


def quantiles(m, x):
    """Stacked dilated convolutions and quantile losses of a forecast."""
    y = x.mT
    for depth, layer in enumerate(m.layers):
        y = y + F.dropout1d(F.gelu(layer(F.pad(y, (2 * 2**depth, 0)))), 0.1, m.training)
    guess = m.out(y)[..., -1].unflatten(-1, (3, -1))
    error = x[:, 0, :1, None].mT - guess
    levels = torch.tensor([0.1, 0.5, 0.9], dtype=error.dtype)[:, None]
    return torch.maximum(levels * error, (levels - 1) * error).mean((1, 2))


def selective(m, x):
    """A scan of states whose step depends on the input, gated (Mamba), with dropout of the result."""
    step, gate, write, read = m.project(x).split([6, 6, 3, 3], -1)
    step = F.softplus(step)
    state, results = x.new_zeros(x.shape[0], 6, 3), []
    for k in range(x.shape[1]):
        decay = torch.exp(-step[:, k, :, None] * m.rates.exp())
        state = decay * state + (step[:, k] * x[:, k])[..., None] * write[:, k, None]
        results.append((state * read[:, k, None]).sum(-1))
    return m.out(F.dropout(torch.stack(results, 1) * F.silu(gate), 0.1, m.training))


def filtered(m, x):
    """Filters in the frequency domain between layer norms (FNet, GFNet)."""
    spectrum = torch.fft.rfft(m.norm(x).float(), dim=1, norm="ortho")
    spectrum = spectrum * torch.view_as_complex(m.filter.float())
    y = torch.fft.irfft(spectrum, n=x.shape[1], dim=1, norm="ortho").to(x.dtype)
    return m.out(F.dropout(F.gelu(y + x), 0.1, m.training)).std(1)


# -- graphs, sets --


def pooled_neighbours(m, x, edges):
    """Maxima over neighbours, normalised rows, dropped edges (GraphSAGE)."""
    kept = torch.rand(edges.shape[1]) > 0.2
    source, target = edges
    for own, other in zip(m.own, m.other):
        message = torch.where(kept[:, None], F.relu(other(x))[source], 0)
        best = torch.zeros_like(message[: len(x)]).scatter_reduce(0, target[:, None].expand_as(message), message, "amax")
        x = F.normalize(F.relu(own(torch.cat([x.to(best.dtype), best], -1))), dim=-1)
    return F.nll_loss(m.out(x).log_softmax(-1), torch.arange(len(x)) % 3, reduction="none")


def laplacian(m, x, near):
    """Chebyshev polynomials of a graph's Laplacian, with dropout and weight penalties."""
    near = ((near + near.T) > 0).to(x.dtype)
    scale = near.sum(-1).clamp(min=1).rsqrt()
    near = -scale[:, None] * near * scale
    terms = [x, near @ x]
    for _ in range(2):
        terms.append(2 * near @ terms[-1] - terms[-2])
    y = m.out(F.dropout(torch.cat(terms, -1), 0.3, m.training))
    return F.multilabel_soft_margin_loss(y, (y > 0).to(y.dtype), reduction="none") + 1e-2 * m.out.weight.square().sum()


def close_points(m, x):
    """Shared layers over points, neighbours by distance, symmetric pooling (dynamic graph convolution)."""
    apart = torch.cdist(x.float(), x.float())
    nearest = apart.topk(3, -1, largest=False)[1]
    beside = torch.gather(x[:, None].expand(-1, x.shape[1], -1, -1), 2, nearest[..., None].expand(-1, -1, -1, x.shape[-1]))
    edges = torch.cat([x[:, :, None].expand_as(beside), beside - x[:, :, None]], -1)
    y = F.leaky_relu(m.layer(edges), 0.2).amax(2)
    return m.out(F.dropout(torch.cat([y.amax(1), y.mean(1)], -1), 0.4, m.training))


def matched(m, a, b):
    """Soft assignment of two sets by Sinkhorn iterations in logarithms."""
    score = F.normalize(m.embed(a), dim=-1) @ F.normalize(m.embed(b), dim=-1).mT / 0.2
    for _ in range(4):
        score = score - score.logsumexp(-1, keepdim=True)
        score = score - score.logsumexp(-2, keepdim=True)
    return -(score.diagonal(dim1=-2, dim2=-1)).mean(-1), F.dropout(score.exp(), 0.1, m.training).sum((1, 2))


def set_statistics(m, x, present):
    """Masked moments of sets, with an attention pooling of learned seeds (Set Transformer)."""
    weight = present[..., None].to(x.dtype)
    mean = (x * weight).sum(1) / weight.sum(1).clamp(min=1)
    spread = (((x - mean[:, None]) * weight).square().sum(1) / weight.sum(1).clamp(min=1) + 1e-5).sqrt()
    scores = (m.seeds @ m.keys(x).mT).masked_fill(~present[:, None], -1e4)
    pooled = F.dropout(scores.softmax(-1), 0.1, m.training) @ x
    return m.out(torch.cat([mean, spread, pooled.flatten(1)], -1))


# -- tables, choices --


def wide_and_deep(m, kinds, x):
    """Embeddings of categories, crossed features, and a deep part (DCN)."""
    first = torch.cat([m.kinds(kinds).flatten(1), m.norm(x)], -1)
    crossed = first
    for cross in m.crosses:
        crossed = first * cross(crossed) + crossed
    deep = m.deep(F.dropout(first, 0.2, m.training))
    return F.binary_cross_entropy_with_logits(m.out(torch.cat([crossed, deep], -1))[:, 0], (kinds[:, 0] % 2).to(x.dtype), reduction="none")


def factorised(m, kinds):
    """Sums of products of all pairs by the difference of squares (factorisation machine)."""
    rows = F.dropout(m.rows(kinds), 0.2, m.training)
    pairs = 0.5 * (rows.sum(1).square() - rows.square().sum(1)).sum(-1)
    return F.softplus(pairs + m.linear(kinds).sum((1, 2)))


def ranked(m, x):
    """Pairwise logistic loss over lists, and a smooth discounted gain."""
    score = m.net(x)[..., 0]
    apart = score[:, :, None] - score[:, None]
    better = (x[:, :, None, 0] > x[:, None, :, 0]).to(score.dtype)
    places = 1 + torch.sigmoid(-apart / 0.1).sum(-1)
    return (F.softplus(-apart) * better).sum((1, 2)) / better.sum((1, 2)).clamp(min=1) + (1 / torch.log2(1 + places)).mean(1)


def rules(m, x):
    """Soft decision trees: products of sigmoids along paths, distributions in leaves."""
    turns = torch.sigmoid(m.turns(F.dropout(x, 0.1, m.training)))
    paths = torch.ones_like(turns[:, :1])
    for depth in range(3):
        right = turns[:, 2**depth - 1 : 2 ** (depth + 1) - 1]
        paths = torch.stack([paths * (1 - right), paths * right], -1).flatten(1)
    return (paths @ m.leaves.weight.softmax(-1)).clamp(min=1e-4).log()


def sparse_codes(m, x):
    """Shrinkage steps of sparse coding with learned thresholds (LISTA) and a group penalty."""
    code = F.softshrink(m.into(x), 0.1)
    for _ in range(3):
        code = F.softshrink(m.into(x) + m.again(code), 0.1)
    back = F.dropout(code, 0.1, m.training) @ m.words
    return (back - x).square().sum(-1) + 0.1 * code.unflatten(-1, (3, -1)).norm(dim=-1).sum(-1)


def chances(m, x):
    """Mixture density outputs: log-sum of normal densities with bounded spreads."""
    share, mean, spread = m.net(x).unflatten(-1, (3, 4)).unbind(-2)
    spread = spread.tanh().exp()
    density = share.log_softmax(-1) - 0.5 * ((x[:, :1] - mean) / spread).square() - spread.log()
    return -density.logsumexp(-1), torch.special.entr(share.softmax(-1)).sum(-1)


def noisy_choices(m, x):
    """Gumbel noise over experts, straight-through choices, an entropy bonus."""
    gates = m.gate(x)
    noise = -(-(torch.rand_like(gates).clamp(1e-3, 0.999)).log()).log()
    soft = ((gates + noise) / 0.7).softmax(-1)
    hard = F.one_hot(soft.argmax(-1), soft.shape[-1]).to(soft.dtype) + soft - soft.detach()
    given = torch.stack([expert(x) for expert in m.experts], -1)
    return (given * hard[:, None]).sum(-1), -(soft * soft.clamp(min=1e-6).log()).sum(-1)


def proximal(m, x):
    """A clipped policy ratio, a value loss and entropies of a shared trunk (PPO)."""
    trunk = m.trunk(x)
    logs, value = m.policy(trunk).log_softmax(-1), m.value(trunk)[:, 0]
    chosen = logs.gather(-1, (torch.arange(len(x)) % 4)[:, None])[:, 0]
    ratio, gain = (chosen - chosen.detach() - 0.05).exp(), x[:, 0] - value.detach()
    kept = torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain)
    return -kept + F.smooth_l1_loss(value, x[:, 1], reduction="none") + 0.01 * (logs.exp() * logs).sum(-1)


def twin_critics(m, x, action):
    """Minimum of two critics with noise on the action, soft targets (TD3)."""
    near = (action + 0.1 * torch.randn_like(action)).clamp(-1, 1)
    first, second = m.first(torch.cat([x, near], -1)), m.second(torch.cat([x, near], -1))
    wanted = (0.9 * torch.minimum(first, second) + x[:, :1]).detach()
    return F.mse_loss(first, wanted, reduction="none") + F.mse_loss(second, wanted, reduction="none")


# -- fields, solvers --


def smooth_field(m, x):
    """A network of sines with a penalty on its gradient (SIREN)."""
    y = torch.sin(30 * m.first(x))
    y = torch.sin(m.second(F.dropout(y, 0.05, m.training)))
    return m.out(y).square().sum(-1) + (torch.cos(30 * m.first(x)) @ m.out.weight.T).square().sum(-1)


def steps_of_heat(m, x):
    """Implicit steps of diffusion with learned conductivity, solved by Jacobi iterations."""
    rate = F.softplus(m.rates.weight)[0]
    state = x
    for _ in range(2):
        guess = state
        for _ in range(3):
            around = F.pad(guess[:, 1:], (0, 1)) + F.pad(guess[:, :-1], (1, 0))
            guess = (state + rate * around) / (1 + 2 * rate)
        state = F.dropout(guess, 0.05, m.training)
    return m.out(state).square().mean(-1)


def coupled(m, x):
    """Alternating affine couplings with activation norm, and the log density (Glow)."""
    total = 0
    for scale, net in zip(m.scales, m.nets):
        x = x * scale.exp()
        kept, turned = x.chunk(2, -1)
        shift, grow = net(kept).chunk(2, -1)
        x = torch.cat([turned * torch.sigmoid(grow + 2) + shift, kept], -1)
        total = total + scale.sum() + F.logsigmoid(grow + 2).sum(-1)
    return total - 0.5 * x.square().sum(-1)


def noise_levels(m, x):
    """Denoising at random levels, with sinusoidal embeddings of the level and scale-shift norm (DDPM)."""
    level = torch.rand(len(x), 1).to(x.dtype)
    angles = level * torch.exp(torch.arange(4) * -1.5).to(x.dtype)
    around = m.level(torch.cat([angles.sin(), angles.cos()], -1))
    noise = torch.randn_like(x)
    mixed = (1 - level).sqrt() * x + level.sqrt() * noise
    scale, shift = around.chunk(2, -1)
    y = F.silu(F.layer_norm(m.into(mixed), (12,)) * (1 + scale) + shift)
    return (m.out(F.dropout(y, 0.1, m.training)) - noise).square().mean(-1)


def layers_of_attention():
    return nn.ModuleList([nn.LayerNorm(12), nn.Linear(12, 36), nn.Linear(12, 12), nn.LayerNorm(12), mlp(12, 24, 12)])


def inverted(width):
    return nn.ModuleList([nn.Conv2d(width, 12, 1, bias=False), nn.Conv2d(12, 12, 3, padding=1, groups=12), nn.Conv2d(12, 4, 1),
                          nn.Conv2d(4, 12, 1), nn.Conv2d(12, width, 1)])


def branch():
    return nn.Sequential(nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 4, 1))


MODELS = {
    "grouped-queries": lambda: (Parts(grouped_queries, words=nn.Embedding(20, 16), query=nn.Linear(16, 16), both=nn.Linear(16, 16),
                                      out=nn.Linear(16, 16), read=nn.Linear(16, 20)), (whole(20, 2, 6), *drawn((6, 6)))),
    "sloped": lambda: (Parts(sloped, words=nn.Embedding(20, 16), project=nn.Linear(16, 48), out=nn.Linear(16, 9)), (whole(20, 2, 7),)),
    "two-way": lambda: (Parts(two_way, words=nn.Embedding(14, 16), ahead=nn.GRUCell(16, 8), back=nn.GRUCell(16, 8)), (whole(14, 3, 4),)),
    "nested": lambda: (with_parameters(Parts(nested, words=nn.Embedding(14, 16), norm=nn.LayerNorm(16), out=nn.Linear(16, 5),
                                             attention=nn.MultiheadAttention(16, 4, 0.1, batch_first=True)), start=torch.randn(3, 16)),
                       (whole(14, 2, 6),)),
    "label-pairs": lambda: (with_parameters(Parts(label_pairs, words=nn.Embedding(14, 8), first=nn.Linear(8, 6)),
                                            between=torch.randn(4, 6, 6), bias=torch.randn(4)), (whole(14, 2, 5), whole(4, 2, 5, 5))),
    "spans": lambda: (Parts(spans, words=nn.Embedding(14, 8), score=nn.Linear(8, 1)), (whole(14, 2, 6),)),
    "hashed": lambda: (Parts(hashed, shared=nn.Embedding(11, 6), weights=nn.Embedding(30, 3), out=nn.Linear(30, 4)), (whole(30, 4, 5),)),
    "squeezed": lambda: (Parts(squeezed, stem=nn.Conv2d(3, 8, 3, 2, 1), norm=nn.BatchNorm2d(8), blocks=many(2, lambda: inverted(8)),
                               out=nn.Linear(8, 4)), drawn((2, 3, 12, 12), scale=2.0)),
    "mixed-samples": lambda: (Parts(mixed_samples, net=nn.Sequential(nn.Conv2d(2, 6, 3, 2), nn.BatchNorm2d(6), nn.GELU(), nn.Flatten(),
                                                                     nn.Dropout(0.2), nn.Linear(54, 4))), drawn((6, 2, 8, 8))),
    "dropped-blocks": lambda: (Parts(dropped_blocks, body=nn.Conv2d(4, 6, 3, padding=1), norm=nn.GroupNorm(3, 6), out=nn.Conv2d(6, 3, 1)),
                               drawn((2, 4, 8, 8))),
    "shaken": lambda: (Parts(shaken, firsts=many(2, branch), seconds=many(2, branch)), drawn((3, 4, 8, 9))),
    "seen-by-patches": lambda: (with_parameters(Parts(seen_by_patches, embed=nn.Conv2d(3, 12, 4, 4), places=nn.Embedding(10, 12),
                                                      layers=many(2, layers_of_attention), norm=nn.LayerNorm(12), head=nn.Linear(12, 5)),
                                                token=torch.randn(12)), drawn((3, 3, 12, 12))),
    "pyramid-of-maps": lambda: (Parts(pyramid_of_maps, first=nn.Conv2d(3, 6, 3, 2, 1), second=nn.Conv2d(6, 6, 3, 2, 1), side=nn.Conv2d(6, 6, 1),
                                      score=nn.Conv2d(6, 2, 3, padding=1)), drawn((2, 3, 16, 16))),
    "masks-of-points": lambda: (Parts(masks_of_points, down=nn.Conv2d(1, 6, 4, 2, 1), norm=nn.InstanceNorm2d(6, affine=True),
                                      up=nn.ConvTranspose2d(6, 3, 4, 2, 1)), drawn((2, 1, 10, 12))),
    "sharpened": lambda: (Parts(sharpened, first=nn.Conv2d(3, 6, 3, padding=1), second=nn.Conv2d(6, 6, 3, padding=1),
                                out=nn.Conv2d(12, 12, 1)), drawn((2, 3, 7, 9))),
    "pooled-by-power": lambda: (Parts(pooled_by_power, body=nn.Conv2d(3, 8, 3), classes=nn.Embedding(5, 8)), drawn((6, 3, 7, 7))),
    "rows-and-columns": lambda: (Parts(rows_and_columns, rows=nn.MultiheadAttention(8, 2, batch_first=True), out=nn.Conv2d(8, 3, 1),
                                       columns=nn.MultiheadAttention(8, 2, batch_first=True)), drawn((2, 8, 5, 6))),
    "convolved": lambda: (Parts(convolved, before=mlp(8, 16, 8), norm=nn.LayerNorm(8), wide=nn.Linear(8, 16), batch=nn.BatchNorm1d(8),
                                depth=nn.Conv1d(8, 8, 5, padding=2, groups=8), narrow=nn.Linear(8, 8), out=nn.Linear(8, 6)), drawn((2, 9, 8))),
    "far-ahead": lambda: (Parts(far_ahead, season=nn.Linear(12, 4), trend=nn.Linear(12, 4)), drawn((3, 12, 5))),
    "quantiles": lambda: (Parts(quantiles, layers=nn.ModuleList([nn.Conv1d(4, 4, 3, dilation=2**k) for k in range(3)]), out=nn.Conv1d(4, 12, 1)),
                          drawn((3, 16, 4))),
    "selective": lambda: (with_parameters(Parts(selective, project=nn.Linear(6, 18), out=nn.Linear(6, 4)), rates=torch.randn(6, 3)),
                          drawn((2, 6, 6))),
    "filtered": lambda: (with_parameters(Parts(filtered, norm=nn.LayerNorm(6), out=nn.Linear(6, 4)), filter=torch.randn(6, 6, 2)),
                         drawn((3, 10, 6))),
    "pooled-neighbours": lambda: (Parts(pooled_neighbours, own=nn.ModuleList([nn.Linear(12, 6), nn.Linear(12, 6)]), out=nn.Linear(6, 3),
                                        other=nn.ModuleList([nn.Linear(6, 6), nn.Linear(6, 6)])), (*drawn((10, 6)), whole(10, 2, 30))),
    "laplacian": lambda: (Parts(laplacian, out=nn.Linear(20, 4)), (*drawn((9, 5)), whole(2, 9, 9))),
    "close-points": lambda: (Parts(close_points, layer=nn.Linear(6, 8), out=nn.Linear(16, 4)), drawn((2, 12, 3))),
    "matched": lambda: (Parts(matched, embed=nn.Linear(5, 8)), drawn((2, 6, 5), (2, 6, 5))),
    "set-statistics": lambda: (with_parameters(Parts(set_statistics, keys=nn.Linear(5, 6), out=nn.Linear(20, 3)), seeds=torch.randn(2, 6)),
                               (*drawn((3, 7, 5)), whole(3, 3, 7).bool())),
    "wide-and-deep": lambda: (Parts(wide_and_deep, kinds=nn.Embedding(12, 3), norm=nn.BatchNorm1d(4), crosses=many(2, lambda: nn.Linear(13, 13)),
                                    deep=mlp(13, 16, 8), out=nn.Linear(21, 1)), (whole(12, 8, 3), *drawn((8, 4)))),
    "factorised": lambda: (Parts(factorised, rows=nn.Embedding(15, 5), linear=nn.Embedding(15, 1)), (whole(15, 8, 4),)),
    "ranked": lambda: (Parts(ranked, net=mlp(5, 12, 1)), drawn((3, 6, 5))),
    "rules": lambda: (Parts(rules, turns=nn.Linear(6, 7), leaves=nn.Embedding(8, 3)), drawn((9, 6))),
    "sparse-codes": lambda: (with_parameters(Parts(sparse_codes, into=nn.Linear(8, 12), again=nn.Linear(12, 12, bias=False)),
                                             words=torch.randn(12, 8) / 3), drawn((6, 8))),
    "chances": lambda: (Parts(chances, net=mlp(5, 16, 12)), drawn((7, 5))),
    "noisy-choices": lambda: (Parts(noisy_choices, gate=nn.Linear(6, 3), experts=many(3, lambda: mlp(6, 8, 4))), drawn((8, 6))),
    "proximal": lambda: (Parts(proximal, trunk=mlp(6, 16, 8), policy=nn.Linear(8, 4), value=nn.Linear(8, 1)), drawn((10, 6))),
    "twin-critics": lambda: (Parts(twin_critics, first=mlp(7, 12, 1), second=mlp(7, 12, 1)), drawn((8, 5), (8, 2))),
    "smooth-field": lambda: (Parts(smooth_field, first=nn.Linear(2, 12), second=nn.Linear(12, 12), out=nn.Linear(12, 1)), drawn((14, 2))),
    "steps-of-heat": lambda: (Parts(steps_of_heat, rates=nn.Embedding(1, 10), out=nn.Linear(10, 3)), drawn((4, 10))),
    "coupled": lambda: (Parts(coupled, scales=nn.ParameterList([torch.randn(6) / 5 for _ in range(3)]), nets=many(3, lambda: mlp(3, 12, 6))),
                        drawn((8, 6))),
    "noise-levels": lambda: (Parts(noise_levels, level=nn.Linear(8, 24), into=nn.Linear(6, 12), out=nn.Linear(12, 6)), drawn((7, 6))),
}  # fmt: skip
