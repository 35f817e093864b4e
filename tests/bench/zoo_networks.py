# SPDX-License-Identifier: MIT
"""Small networks of many kinds, most of them with dropout."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from zoo_further import Parts, whole
from zoo_science import drawn


def heads(x, count):
    return x.unflatten(-1, (count, -1)).transpose(1, 2)


# -- sequences --


def state_spaces(m, x):
    """A gated scan of a state with input-dependent steps (Mamba)."""
    inner, gate = m.into(m.norm(x)).chunk(2, -1)
    inner = F.silu(m.short(inner.mT)[..., : x.shape[1]].mT)
    step, into, out = m.choose(inner).split([1, 4, 4], -1)
    decay = torch.exp(-F.softplus(step)[..., None] * m.rates.weight.exp())
    change = (F.softplus(step) * inner)[..., None] * into[:, :, None]
    state, states = torch.zeros_like(change[:, 0]), []
    for t in range(x.shape[1]):
        state = decay[:, t] * state + change[:, t]
        states.append((state * out[:, t, None]).sum(-1))
    return x + m.drop(m.out(torch.stack(states, 1) * F.silu(gate)))


def gated_attention(m, x):
    """Linear attention with decay per key, as one state matrix for each head."""
    query, key, value = (heads(part, 2) for part in m.project(x).chunk(3, -1))
    decay = F.logsigmoid(heads(m.forget(x), 2)).cumsum(2)
    scores = (query * decay.exp()) @ (key * (-decay).exp()).mT
    mixed = scores.tril() @ value
    return m.out(m.drop(F.normalize(mixed, dim=-1).transpose(1, 2).flatten(2)) * torch.sigmoid(m.gate(x)))


def conformer(m, x):
    x = x + 0.5 * m.first(x)
    turned = m.norm(x)
    x = x + m.attention(turned, turned, turned, need_weights=False)[0]
    inner = F.glu(m.wide(x.mT), dim=1)
    x = x + m.drop(m.narrow(F.silu(m.batch(m.depth(inner)))).mT)
    return m.last(x + 0.5 * m.second(x))


def causal(m, x):
    """Dilated causal convolutions with weight norm (TCN)."""
    for conv, again, dilation in zip(m.convs, m.agains, (1, 2, 4)):
        y = m.drop(F.relu(conv(F.pad(x, (2 * dilation, 0)))))
        x = F.relu(x + m.drop(F.relu(again(F.pad(y, (2 * dilation, 0))))))
    return m.out(x[..., -1])


def crf(m, tokens, tags):
    """The likelihood of a tag sequence, by a sum over all sequences (CRF)."""
    scores = m.out(m.drop(m.words(tokens)))
    jumps = m.jumps.weight
    gold = scores.gather(2, tags[..., None]).squeeze(-1).sum(1) + jumps[tags[:, :-1], tags[:, 1:]].sum(1)
    total = scores[:, 0]
    for t in range(1, tokens.shape[1]):
        total = torch.logsumexp(total[:, :, None] + jumps, 1) + scores[:, t]
    return torch.logsumexp(total, -1) - gold


# -- pictures --


def registers(m, picture):
    """Patches with register tokens; layer scale and stochastic depth (ViT)."""
    x = m.patches(picture).flatten(2).mT
    x = torch.cat([m.extra.weight.expand(len(x), -1, -1), x + m.places.weight], 1)
    for norm, qkv, out, scale, mlp in zip(m.norms, m.qkvs, m.outs, m.scales, m.mlps):
        query, key, value = (heads(part, 2) for part in qkv(norm(x)).chunk(3, -1))
        y = out(F.scaled_dot_product_attention(query, key, value, dropout_p=0.1).transpose(1, 2).flatten(2))
        keep = torch.empty(len(x), 1, 1, dtype=x.dtype).bernoulli_(0.8)
        x = x + y * scale.weight * keep / 0.8
        x = x + mlp(norm(x))
    return m.head(x[:, 0])


def queries(m, picture):
    """A transformer with object queries (DETR); boxes are given, so there is no matching."""
    memory = m.encoder(m.patches(picture).flatten(2).mT)
    found = m.decoder(m.queries.weight.expand(len(picture), -1, -1), memory)
    boxes, classes = m.boxes(found).sigmoid(), m.classes(found)
    low, high = boxes[..., :2] - boxes[..., 2:] / 2, boxes[..., :2] + boxes[..., 2:] / 2
    shared = (torch.minimum(high, high.roll(1, 1)) - torch.maximum(low, low.roll(1, 1))).clamp(min=0).prod(-1)
    area = (high - low).prod(-1)
    return shared / (area + area.roll(1, 1) - shared + 1e-6), classes.log_softmax(-1)


def codebook(m, picture):
    """Vector quantization of a picture with a straight-through gradient (VQ-VAE)."""
    z = m.encode(picture)
    flat = z.movedim(1, -1).reshape(-1, z.shape[1])
    near = (flat.square().sum(1, keepdim=True) - 2 * flat @ m.codes.weight.T + m.codes.weight.square().sum(1)).argmin(1)
    chosen = m.codes(near).view(len(z), *z.shape[2:], -1).movedim(-1, 1)
    loss = F.mse_loss(chosen, z.detach()) + 0.25 * F.mse_loss(z, chosen.detach())
    return m.decode(z + (chosen - z).detach()), loss


def denoiser(m, picture, time):
    """A U-Net conditioned on the noise level."""
    angles = time[:, None] * torch.exp(-math.log(1e4) * torch.arange(4, dtype=picture.dtype) / 4)
    told = m.told(torch.cat([angles.sin(), angles.cos()], -1).to(picture.dtype))
    x = F.silu(m.norm_a(m.into(picture)))
    scale, shift = m.scale(told)[..., None, None].chunk(2, 1)
    low = m.drop(F.silu(m.norm_b(m.down(x)) * (1 + scale) + shift))
    query, key, value = m.qkv(low).flatten(2).chunk(3, 1)
    low = low + (value @ (key.mT @ query / 4).softmax(1)).view_as(low)
    high = F.interpolate(low, scale_factor=2.0, mode="nearest")
    return m.out(torch.cat([m.up(high), x], 1))


def mixer(m, picture):
    x = m.patches(picture).flatten(2).mT
    for over, along, norm_a, norm_b in zip(m.overs, m.alongs, m.norms_a, m.norms_b):
        x = x + m.drop(over(norm_a(x).mT).mT)
        x = x + m.drop(along(norm_b(x)))
    return m.head(x.mean(1))


def perceiver(m, x):
    """Latent vectors that attend to a long input, then to each other (Perceiver)."""
    seen = torch.cat([x, torch.sin(x * 3), torch.cos(x * 3)], -1)
    latent = m.latent.weight.expand(len(x), -1, -1)
    latent = latent + m.read(m.norm(latent), seen, seen)[0]
    return m.think(latent).mean(1)


def capsules(m, picture):
    """Capsules with routing by agreement, and a margin loss."""
    u = m.conv(picture).unflatten(1, (2, 4)).flatten(3).movedim(2, -1).flatten(1, 2)
    votes = torch.einsum("bid,ijde->bije", u, m.vote.weight.view(u.shape[1], 3, 4, 5))
    logits = torch.zeros_like(votes[..., 0])
    for _ in range(3):
        s = (logits.softmax(-1)[..., None] * votes).sum(1)
        size = s.square().sum(-1, keepdim=True)
        v = size / (1 + size) * s / (size + 1e-8).sqrt()
        logits = logits + (votes * v[:, None]).sum(-1)
    length = torch.linalg.vector_norm(v, dim=-1)
    return F.relu(0.9 - length).square() + 0.5 * F.relu(length - 0.1).square()


# -- fields and functions --


def physics(m, x):
    """The residual of a differential equation, by autograd inside the forward (PINN)."""
    at = x.detach().requires_grad_()
    u = m.net(at)
    slope = torch.autograd.grad(u.sum(), at, create_graph=True)[0]
    bend = torch.autograd.grad(slope[:, 1].sum(), at, create_graph=True)[0]
    return slope[:, 0] + u[:, 0] * slope[:, 1] - 0.01 * bend[:, 1]


def coupling(m, x):
    """Affine coupling layers with log determinants (RealNVP), and the density of samples."""
    volume = x.new_zeros(len(x))
    for net, order in zip(m.nets, ((0, 1), (1, 0))):
        parts = x.chunk(2, -1)
        still, moved = parts[order[0]], parts[order[1]]
        scale, shift = net(still).chunk(2, -1)
        scale = torch.tanh(scale)
        x, volume = torch.cat([still, moved * scale.exp() + shift], -1), volume + scale.sum(-1)
    return -0.5 * (x.square() + math.log(2 * math.pi)).sum(-1) + volume


def rays(m, origin, direction):
    """Colours along rays by volume rendering (NeRF)."""
    depth = torch.linspace(0.1, 2, 9, dtype=origin.dtype)
    at = origin[:, None] + direction[:, None] * depth[:, None]
    waves = at[..., None] * 2.0 ** torch.arange(3, dtype=origin.dtype) * math.pi
    field = m.net(torch.cat([at, waves.sin().flatten(-2), waves.cos().flatten(-2)], -1))
    density, colour = F.softplus(field[..., 0] - 1), field[..., 1:].sigmoid()
    through = torch.exp(-density * depth.diff(append=depth[-1:] + 1))
    weight = (1 - through) * torch.cumprod(torch.cat([torch.ones_like(through[:, :1]), through[:, :-1] + 1e-10], 1), 1)
    return (weight[..., None] * colour).sum(1), (weight * depth).sum(1)


def equilibrium(m, x):
    """A deep equilibrium layer: iterated to a fixed point, with the gradient of one more step."""
    z = torch.zeros_like(x)
    with torch.no_grad():
        for _ in range(12):
            z = torch.tanh(m.inner(z) * 0.3 + x)
    return m.out(torch.tanh(m.inner(z) * 0.3 + x))


def siamese(m, first, second):
    """Contrastive loss of two views with temperature (SimCLR), and a whitening term."""
    a, b = (F.normalize(m.head(m.drop(F.gelu(m.body(x)))), dim=-1) for x in (first, second))
    logits = torch.cat([a, b]) @ torch.cat([a, b]).T / 0.2
    logits = logits.masked_fill(torch.eye(len(logits), dtype=torch.bool), float("-inf"))
    target = torch.arange(len(logits)).roll(len(a))
    cross = a.T @ b / len(a)
    return F.cross_entropy(logits, target, label_smoothing=0.1), (cross - torch.eye(cross.shape[0])).square().sum()


def clicks(m, numbers, words):
    """Embedding bags that interact by products (DLRM)."""
    dense = m.bottom(numbers)
    bags = [bag(word) for bag, word in zip(m.bags, words.unbind(1))]
    parts = torch.stack([dense, *bags], 1)
    products = parts @ parts.mT
    rows, columns = torch.tril_indices(parts.shape[1], parts.shape[1], offset=-1)
    return m.top(m.drop(torch.cat([dense, products[:, rows, columns]], -1)))


def messages(m, x, edges):
    """Graph attention over edges, by segments (GAT)."""
    h = heads(m.project(x)[None], 2)[0].transpose(0, 1)
    source, target = edges
    score = F.leaky_relu((torch.cat([h[source], h[target]], -1) * m.score.weight).sum(-1), 0.2)
    most = torch.full((len(x), 2), -torch.inf, dtype=x.dtype).scatter_reduce(0, target[:, None].expand_as(score), score, "amax")
    weight = (score - most[target]).exp()
    total = torch.zeros_like(weight[: len(x)]).index_add(0, target, weight)
    mixed = torch.zeros_like(h).index_add(0, target, (m.drop(weight / total[target])[..., None] * h[source]).to(h.dtype))
    return F.elu(mixed.flatten(1))


def policy(m, state, action, advantage, before):
    """Clipped policy gradient with an entropy bonus (PPO)."""
    hidden = torch.tanh(m.body(state))
    logp = m.actor(hidden).log_softmax(-1)
    ratio = (logp.gather(1, action[:, None])[:, 0] - before).exp()
    gain = torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
    return -gain.mean() + 0.5 * F.huber_loss(m.critic(hidden)[:, 0], advantage) + 0.01 * (logp.exp() * logp).sum(-1).mean()


def layers(*sizes, last=None):
    parts = [part for a, b in zip(sizes, sizes[1:]) for part in (nn.Linear(a, b), nn.GELU())]
    return nn.Sequential(*parts[:-1], *([last] if last else []))


def many(count, make):
    return nn.ModuleList(make() for _ in range(count))


def weighted(*sizes):
    """A single parameter with the attribute name .weight."""
    return Weight(torch.randn(sizes) / 3)


class Weight(nn.Module):
    def __init__(self, value):
        super().__init__()
        self.weight = nn.Parameter(value)


def dilated(dilation):
    return nn.utils.parametrizations.weight_norm(nn.Conv1d(6, 6, 3, dilation=dilation))


MODELS = {
    "state-spaces": lambda: (Parts(state_spaces, norm=nn.LayerNorm(6), into=nn.Linear(6, 16), short=nn.Conv1d(8, 8, 3, padding=2, groups=8),
                                   choose=nn.Linear(8, 9), rates=weighted(8, 4), out=nn.Linear(8, 6), drop=nn.Dropout(0.2)), drawn((2, 5, 6))),
    "gated-attention": lambda: (Parts(gated_attention, project=nn.Linear(8, 24), forget=nn.Linear(8, 8), gate=nn.Linear(8, 8),
                                      out=nn.Linear(8, 8), drop=nn.Dropout(0.2)), drawn((2, 7, 8))),
    "convolved-attention": lambda: (Parts(conformer, first=layers(8, 16, 8, last=nn.Dropout(0.1)), second=layers(8, 16, 8, last=nn.Dropout(0.1)),
                                norm=nn.LayerNorm(8), attention=nn.MultiheadAttention(8, 2, 0.1, batch_first=True), wide=nn.Conv1d(8, 16, 1),
                                depth=nn.Conv1d(8, 8, 5, padding=2, groups=8), batch=nn.BatchNorm1d(8), narrow=nn.Conv1d(8, 8, 1),
                                drop=nn.Dropout(0.1), last=nn.LayerNorm(8)), drawn((2, 9, 8))),
    "causal": lambda: (Parts(causal, convs=nn.ModuleList(map(dilated, (1, 2, 4))), agains=nn.ModuleList(map(dilated, (1, 2, 4))),
                             drop=nn.Dropout(0.2), out=nn.Linear(6, 3)), drawn((2, 6, 16))),
    "crf": lambda: (Parts(crf, words=nn.Embedding(30, 6), drop=nn.Dropout(0.2), out=nn.Linear(6, 4), jumps=weighted(4, 4)),
                    (whole(30, 3, 7), whole(4, 3, 7))),
    "registers": lambda: (Parts(registers, patches=nn.Conv2d(3, 8, 4, 4), extra=weighted(3, 8), places=weighted(16, 8),
                                norms=many(2, lambda: nn.LayerNorm(8)), qkvs=many(2, lambda: nn.Linear(8, 24)),
                                outs=many(2, lambda: nn.Linear(8, 8)), scales=many(2, lambda: weighted(8)),
                                mlps=many(2, lambda: layers(8, 16, 8, last=nn.Dropout(0.1))), head=nn.Linear(8, 5)), drawn((3, 3, 16, 16))),
    "queries": lambda: (Parts(queries, patches=nn.Conv2d(3, 8, 4, 4), queries=weighted(5, 8), boxes=nn.Linear(8, 4), classes=nn.Linear(8, 4),
                                encoder=nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
                                decoder=nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)), drawn((2, 3, 12, 12))),
    "codebook": lambda: (Parts(codebook, encode=nn.Sequential(nn.Conv2d(3, 8, 4, 2, 1), nn.ReLU(), nn.Conv2d(8, 6, 3, 1, 1)), codes=nn.Embedding(16, 6),
                               decode=nn.Sequential(nn.ConvTranspose2d(6, 8, 4, 2, 1), nn.ReLU(), nn.Conv2d(8, 3, 1))), drawn((2, 3, 12, 12))),
    "denoiser": lambda: (Parts(denoiser, told=layers(8, 16, 8), into=nn.Conv2d(3, 8, 3, 1, 1), norm_a=nn.GroupNorm(2, 8), down=nn.Conv2d(8, 16, 3, 2, 1),
                               norm_b=nn.GroupNorm(4, 16), scale=nn.Linear(8, 32), drop=nn.Dropout(0.1), qkv=nn.Conv2d(16, 48, 1),
                               up=nn.Conv2d(16, 8, 3, 1, 1), out=nn.Conv2d(16, 3, 1)), (*drawn((2, 3, 8, 8)), torch.tensor([3.0, 70.0]))),
    "mixing": lambda: (Parts(mixer, patches=nn.Conv2d(3, 8, 4, 4), overs=many(2, lambda: layers(9, 12, 9)), alongs=many(2, lambda: layers(8, 16, 8)),
                            norms_a=many(2, lambda: nn.LayerNorm(8)), norms_b=many(2, lambda: nn.LayerNorm(8)), drop=nn.Dropout(0.1),
                            head=nn.Linear(8, 4)), drawn((2, 3, 12, 12))),
    "perceiver": lambda: (Parts(perceiver, latent=weighted(4, 8), norm=nn.LayerNorm(8), read=nn.MultiheadAttention(8, 2, kdim=9, vdim=9, batch_first=True),
                                think=nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True)), drawn((2, 20, 3))),
    "capsules-vote": lambda: (Parts(capsules, conv=nn.Conv2d(2, 8, 3, 2), vote=weighted(32, 60)), drawn((2, 2, 9, 9))),
    "physics": lambda: (Parts(physics, net=nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 1))), drawn((9, 2))),
    "coupling": lambda: (Parts(coupling, nets=many(2, lambda: layers(3, 12, 6))), drawn((8, 6))),
    "rays": lambda: (Parts(rays, net=layers(21, 16, 4)), drawn((6, 3), (6, 3))),
    "equilibrium": lambda: (Parts(equilibrium, inner=nn.Linear(6, 6), out=nn.Linear(6, 2)), drawn((5, 6))),
    "siamese": lambda: (Parts(siamese, body=nn.Linear(8, 16), head=nn.Linear(16, 6), drop=nn.Dropout(0.1)), drawn((6, 8), (6, 8))),
    "clicks": lambda: (Parts(clicks, bottom=layers(5, 12, 6), bags=many(3, lambda: nn.EmbeddingBag(20, 6, mode="sum")), top=layers(12, 8, 1),
                             drop=nn.Dropout(0.1)), (*drawn((4, 5)), whole(20, 4, 3, 2))),
    "messages": lambda: (Parts(messages, project=nn.Linear(5, 8), score=weighted(8), drop=nn.Dropout(0.2)),
                         (*drawn((7, 5)), torch.cat([whole(7, 2, 15), torch.arange(7).expand(2, 7)], 1))),
    "policy": lambda: (Parts(policy, body=nn.Linear(6, 12), actor=nn.Linear(12, 3), critic=nn.Linear(12, 1)),
                       (torch.randn(8, 6), whole(3, 8), torch.randn(8), torch.randn(8) * 0.1 - 1.1)),
}  # fmt: skip
