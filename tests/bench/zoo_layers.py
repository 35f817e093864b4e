# SPDX-License-Identifier: MIT
"""The library's layers in networks of every kind; function transforms; dynamic sizes."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

from zoo_chance import with_parameters
from zoo_further import Parts, whole
from zoo_science import Module, drawn

# -- text --


def translator(m, source, target):
    """The library's attention with a padding mask and a causal mask."""
    absent = source.eq(0)
    memory, wanted = m.words(source), m.words(target)
    later = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1)
    wanted = wanted + m.own(wanted, wanted, wanted, attn_mask=later, need_weights=False)[0]
    read, weights = m.cross(m.norm(wanted), memory, memory, key_padding_mask=absent)
    return F.cross_entropy(m.out(wanted + read).flatten(0, 1), target.flatten(), ignore_index=0, label_smoothing=0.1), weights


def tagger(m, words):
    """A bidirectional recurrent layer, and a score for each word."""
    states, (last, _) = m.recurrent(m.words(words))
    return m.out(torch.cat([states, last[-1][:, None].expand(-1, words.shape[1], -1)], -1)).log_softmax(-1)


def topics(m, words, offsets):
    """Bags of words and of neighbouring words, scored by their dot product (fastText)."""
    bag, neighbours = m.bag(words, offsets), m.hashed((words * 7 + words.roll(1)) % 13, offsets)
    return F.multi_margin_loss(m.out(F.rms_norm(bag + neighbours, (8,), m.scale.weight[0])), torch.arange(4) % 3)


def pyramids(m, x):
    """A post-norm encoder over a sequence that is pooled and upsampled again."""
    low = F.avg_pool1d(m.first(x).mT, 3, 2, 1)
    high = F.interpolate(m.second(low.mT).mT, size=x.shape[1], mode="linear", align_corners=True)
    return F.hardswish(m.norm(high).mT + x)


# -- pictures --


def generator(m, noise):
    """Transposed convolutions with batch norm, and a hinge loss (DCGAN)."""
    picture = m.ups(noise[..., None, None]).tanh()
    return F.relu(1 - m.judge(picture)).mean(), picture


def large_picture(m, x):
    """A gradient of a bias that sums 2^18 numbers of one sign."""
    return F.softplus(m.filter(x)).mean()


def volumes(m, x):
    """3-D convolutions, instance norm, trilinear upsampling (V-Net)."""
    low = F.leaky_relu(m.norm(m.down(x)), 0.1)
    high = F.interpolate(low, scale_factor=2, mode="trilinear", align_corners=False)
    mask = torch.sigmoid(m.out(torch.cat([high, x], 1)))
    return 1 - 2 * (mask * x.abs()).sum((1, 2, 3, 4)) / (mask.square().sum((1, 2, 3, 4)) + x.square().sum((1, 2, 3, 4)))


def transformer_of_space(m, picture):
    """A picture transformed by the output of a small network (STN)."""
    theta = m.locate(F.adaptive_avg_pool2d(picture, 4).flatten(1)).view(-1, 2, 3)
    grid = F.affine_grid(theta + torch.eye(2, 3), list(picture.shape), align_corners=False)
    turned = F.grid_sample(picture, grid, mode="bilinear", padding_mode="border", align_corners=False)
    return m.read(F.local_response_norm(turned, 3))


def enlarged(m, picture):
    """Upsampling by pixel shuffle added to a bicubic one (ESPCN), with a smooth loss."""
    fine = F.pixel_shuffle(m.body(picture), 2)
    rough = F.interpolate(picture, scale_factor=2, mode="bicubic", align_corners=False)
    return torch.sqrt((fine + rough - rough.roll(1, -1)).square() + 1e-6).mean((1, 2, 3)), F.pixel_unshuffle(fine, 2)


# -- sound --


def spectrogram(m, wave):
    """Bands of a spectrogram in decibels, with convolutions."""
    spectrum = torch.stft(wave, 16, 8, window=torch.hann_window(16), return_complex=True)
    bands = torch.einsum("bft,fm->bmt", spectrum.abs().square(), m.bands.weight.abs())
    return m.out(F.elu(m.norm(m.conv(10 * torch.log10(bands.clamp(min=1e-5))))).mean(-1))


def separator(m, wave):
    """Masks on a spectrogram, and the resulting audio."""
    window = torch.hamming_window(16)
    spectrum = torch.stft(wave, 16, 4, window=window, return_complex=True)
    masks = torch.sigmoid(m.mask(spectrum.abs().mT)).mT.unflatten(1, (2, -1))
    parts = torch.istft((masks * spectrum[:, None]).flatten(0, 1), 16, 4, window=window, length=wave.shape[-1])
    return parts.unflatten(0, (-1, 2)), F.l1_loss(parts.unflatten(0, (-1, 2)).sum(1), wave)


def cepstrum(m, frames):
    """GRU over frames, with the CTC loss."""
    states, _ = m.recurrent(m.norm(frames.mT).mT)
    return F.ctc_loss(m.out(states).log_softmax(-1).transpose(0, 1), whole(5, len(frames), 3, low=1),
                      torch.full((len(frames),), frames.shape[1]), torch.full((len(frames),), 3))


# -- graphs --


def isomorphism(m, x, edges):
    """Sums over neighbours, batch norm, sums over graphs (GIN)."""
    source, target = edges
    for layer, norm in zip(m.layers, m.norms):
        x = F.relu(norm(layer((1 + m.own.weight[0, 0]) * x + torch.zeros_like(x).index_add(0, target, x[source]))))
    graph = torch.arange(len(x)) // 4
    return m.out(torch.zeros(3, x.shape[1], dtype=x.dtype).index_add(0, graph, x))


def several(m, x, edges):
    """Mean, maximum, minimum and standard deviation of messages, scaled by degree (PNA)."""
    source, target = edges
    said, index = m.message(torch.cat([x[source], x[target]], -1)), target[:, None].expand(-1, 6)
    pooled = [x.new_zeros(len(x), 6).scatter_reduce(0, index, said, how, include_self=False) for how in ("mean", "amax", "amin")]
    square = x.new_zeros(len(x), 6).scatter_reduce(0, index, said.square(), "mean", include_self=False)
    spread = torch.sqrt(F.relu(square - pooled[0].square()) + 1e-5)
    many = torch.bincount(target, minlength=len(x)).to(x.dtype).log1p()[:, None]
    mixed = torch.cat([*pooled, spread], -1)
    return m.out(torch.cat([x, mixed, mixed * many], -1))


def relations(m, x, edges, kinds):
    """A matrix for each kind of edge, composed from a few bases (R-GCN)."""
    matrices = torch.einsum("kb,bio->kio", m.mix.weight, m.bases)
    said = torch.bmm(x[edges[0]][:, None], matrices[kinds])[:, 0]
    count = x.new_zeros(len(x)).scatter_add(0, edges[1], x.new_ones(len(kinds))).clamp(min=1)
    return F.gelu(m.own(x) + x.new_zeros(len(x), 4).scatter_add(0, edges[1][:, None].expand(-1, 4), said) / count[:, None], approximate="tanh")


# -- science --


def gaussian_process(m, x, y):
    """Log marginal likelihood by a Cholesky factor, and predictions elsewhere."""
    apart = torch.cdist(x / m.length.exp(), x / m.length.exp()).square()
    factor = torch.linalg.cholesky(torch.exp(-apart / 2) + (m.noise.exp() + 0.1) * torch.eye(len(x)))
    weights = torch.cholesky_solve(y[:, None], factor)
    return 0.5 * (y @ weights).sum() + factor.diagonal().log().sum() + 0.5 * len(x) * math.log(2 * math.pi)


def unitary(m, x):
    """Complex layers with a unitary recurrence, by the matrix exponential."""
    skew = torch.view_as_complex(m.skew)
    turn = torch.linalg.matrix_exp(skew - skew.mH)
    state = torch.zeros(x.shape[0], 4, dtype=turn.dtype)
    for t in range(x.shape[1]):
        state = state @ turn + torch.complex(x[:, t], x[:, t].roll(1, -1)) @ torch.view_as_complex(m.into)
        state = F.relu(state.abs() + m.bias) * torch.sgn(state)
    return state.real, state.imag, state.angle().cos()


def mixture(m, x):
    """Densities of multivariate normal distributions, by triangular factors."""
    factors = m.lower.tril(-1) + torch.diag_embed(F.softplus(m.lower.diagonal(dim1=-2, dim2=-1)))
    apart = torch.linalg.solve_triangular(factors, (x[:, None] - m.means)[..., None], upper=False)[..., 0]
    volume = torch.linalg.slogdet(factors @ factors.mT)[1] / 2
    return torch.logsumexp(m.weights.log_softmax(0) - apart.square().sum(-1) / 2 - volume, -1)


def poisson(m, force):
    """Poisson's equation by Fourier transforms, and a linear system for the boundary."""
    waves = torch.fft.fftfreq(force.shape[-1]) * 2 * math.pi
    square = waves.square()[:, None] + waves.square()
    field = torch.fft.ifft2(torch.fft.fft2(force * m.scale) / square.where(square > 0, 1.0)).real
    edge = torch.linalg.solve(m.system + 3 * torch.eye(4), field[:, 0, :4, None])[..., 0]
    return torch.gradient(field, dim=-1)[0].square().mean((1, 2)), edge, torch.trapezoid(field[:, 0], dim=-1)


# -- low precision --


def scaled_down(m, x):
    """A layer with weights rounded to 8 bits and straight-through gradients, and one in bfloat16."""
    scale = m.first.abs().amax(1, keepdim=True) / 127
    weight = m.first + (torch.clamp(torch.round(m.first / scale), -128, 127) * scale - m.first).detach()
    hidden = F.relu6(F.linear(x, weight))
    with torch.autocast("cpu", torch.bfloat16):
        out = F.layer_norm(hidden @ m.second, (4,)).softmax(-1)
    return out.float() * hidden.sum(-1, keepdim=True)


def kept_narrow(m, x):
    """bfloat16 and float16 weights with float32 master copies, and a scaled loss."""
    hidden = F.silu(F.linear(x.bfloat16(), m.first.bfloat16())).float()
    loss = F.huber_loss(hidden.half().float() @ m.second, x[:, :3].double().float(), delta=0.5)
    return loss * 1024


# -- functions of functions --


def forward_mode(m, x, v):
    """A forward-mode derivative along a direction, and the function's value."""
    return jvp(lambda at: torch.tanh(at @ m.first.T) @ m.second, (x,), (v,))


def wave_equation(m, points):
    """Second derivatives of a network at each point, by a Hessian (PINN)."""

    def field(point):
        return (torch.sin(m.first @ point + m.bias) * m.second).sum()

    return vmap(lambda p: hessian(field)(p).diagonal())(points) @ torch.tensor([1.0, -2.0])


def bent(m, x):
    """Jacobians in both modes, and the log determinant of a map."""

    def flow(point):
        return point + torch.tanh(point @ m.first) @ m.second

    volume = torch.linalg.slogdet(vmap(jacrev(flow))(x))[1]
    return volume, vmap(jacfwd(flow))(x).square().sum((1, 2))


def each_gradient(m, x, y):
    """Per-sample gradient norms of a network of the library (differential privacy)."""
    parameters = dict(m.net.named_parameters())

    def loss(weights, sample, label):
        return F.cross_entropy(functional_call(m.net, weights, (sample[None],)), label[None])

    slopes = vmap(grad(loss), (None, 0, 0))(parameters, x, y)
    return sum(slope.flatten(1).square().sum(1) for slope in slopes.values()).sqrt()


def learned_start(m, x, y):
    """An inner optimisation step inside the loss (MAML)."""

    def loss(weights):
        return F.mse_loss(torch.tanh(x @ weights["a"]) @ weights["b"], y)

    weights = {"a": m.a, "b": m.b}
    slopes = grad(loss)(weights)
    value, back = vjp(loss, {k: w - 0.1 * slopes[k] for k, w in weights.items()})
    return value + sum(g.square().sum() for g in back(torch.ones_like(value))[0].values())


# -- sizes that vary --


def any_length(m, words):
    """Masked averages, positions by index, scores of all pairs, at a dynamic length."""
    there = words.ne(0)
    x = m.words(words) + m.places(torch.arange(words.shape[1]))
    x = m.layer(x, src_key_padding_mask=~there)
    mean = (x * there[..., None]).sum(1) / there.sum(1, keepdim=True).clamp(min=1)
    return mean @ mean.T / words.shape[0], x.reshape(words.shape[0] * words.shape[1], -1).std(0)


def any_picture(m, picture):
    """A network over pictures of dynamic size, downsampled and upsampled, with crops."""
    low = F.max_pool2d(F.relu(m.first(picture)), 2)
    high = F.interpolate(m.second(low), size=picture.shape[-2:], mode="bilinear")
    patches = F.unfold(high, 3, stride=2).mT
    return patches.mean(1), high.flatten(2).softmax(-1).amax(-1)


def chosen(m, x):
    """Selects positive scores, whose number depends on data."""
    score = m.score(x)[:, 0]
    kept = x[score > 0]
    return m.out(kept).sum(0) / (score > 0).sum()


# -- a few more --


def sketch(m, tokens):
    """A decoder layer of the library over pooled convolution features (a captioner)."""
    memory = F.avg_pool1d(m.sound(m.words(tokens).mT), 2).mT
    late = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
    return F.nll_loss(m.out(m.layer(m.words(tokens), memory, tgt_mask=late)).flatten(0, 1).log_softmax(-1), tokens.flatten())


def dense(m, picture):
    """Dense blocks with squeeze-and-excitation and group norm (DenseNet)."""
    parts = [picture]
    for conv, norm in zip(m.convs, m.norms):
        parts.append(F.mish(norm(conv(torch.cat(parts, 1)))))
    x = torch.cat(parts[1:], 1)
    x = x * torch.sigmoid(m.excite(F.adaptive_max_pool2d(x, 1).flatten(1)))[..., None, None]
    return F.lp_pool2d(x, 2, 2).flatten(1), F.grid_sample(x, torch.tanh(m.flow(picture)).movedim(1, -1), align_corners=True)


def diffusion(m, x, edges, weights):
    """Powers of a normalized adjacency matrix, combined by softmax (APPN)."""
    degree = torch.zeros(len(x)).scatter_add(0, edges[1], weights).clamp(min=1e-3)
    scale = degree[edges[0]].rsqrt() * weights * degree[edges[1]].rsqrt()
    steps = [m.into(x)]
    for _ in range(3):
        steps.append(torch.zeros_like(steps[0]).index_add(0, edges[1], scale[:, None] * steps[-1][edges[0]]))
    return (torch.stack(steps, -1) * m.mix.weight[0].softmax(0)).sum(-1).log_softmax(-1)


def kalman(m, seen):
    """A Kalman filter: predictions, gains by linear solves, likelihood of observations."""
    mean, spread, total = torch.zeros(seen.shape[0], 3), torch.eye(3).expand(seen.shape[0], 3, 3), 0
    noise = F.softplus(m.noise).diag()
    for t in range(seen.shape[1]):
        mean, spread = mean @ m.move.T, m.move @ spread @ m.move.T + 0.1 * torch.eye(3)
        wrong = seen[:, t] - mean @ m.look.T
        inside = m.look @ spread @ m.look.T + noise
        gain = torch.linalg.solve(inside, m.look @ spread).mT
        total = total - 0.5 * (torch.logdet(inside) + (wrong[:, None] @ torch.linalg.inv(inside) @ wrong[..., None])[:, 0, 0])
        mean, spread = mean + (gain @ wrong[..., None])[..., 0], spread - gain @ m.look @ spread
    return total, mean


def flows(m, x):
    """A continuous flow with a Hutchinson divergence estimate in forward mode."""
    along = torch.sign(x.sin())
    total = 0
    for _ in range(2):
        velocity, slope = jvp(lambda y: F.softplus(y @ m.first + m.bias) @ m.second, (x,), (along,))
        x, total = x + 0.1 * velocity, total + 0.1 * (slope * along).sum(-1)
    return x, total


def ensemble(m, x):
    """An ensemble of networks run at once, and their pairwise distances."""

    def one(first, bias, scale, second):
        return F.gelu(F.layer_norm(x @ first + bias, (6,), scale)) @ second

    out = vmap(one)(m.first, m.bias, m.scale, m.second)
    return out.mean(0), out.var(0, correction=1).sqrt()


def any_batch(m, x):
    """Normalized features of a batch of dynamic size, and their correlation (Barlow Twins)."""
    z = m.project(F.relu(m.norm(m.into(x))))
    z = (z - z.mean(0)) / (z.std(0) + 1e-4)
    c = z.T @ z / len(x)
    return (1 - c.diagonal()).square().sum() + 0.01 * (c - c.diagonal().diag_embed()).square().sum()


def speaker(m, wave):
    """Pooled statistics over frames of a dilated network, with an angular margin loss (x-vectors, ArcFace)."""
    x = F.relu(m.norm(m.second(F.leaky_relu(m.first(wave[:, None]), 0.1))))
    pooled = torch.cat([x.mean(-1), x.std(-1)], 1)
    cosine = F.normalize(m.embed(pooled)) @ F.normalize(m.names.weight).T
    return F.cross_entropy(8 * torch.cos(torch.acos(cosine.clamp(-0.99, 0.99)) + 0.2), torch.arange(len(wave)) % 4)


MODELS = {
    "translator": lambda: (Parts(translator, words=nn.Embedding(20, 8, padding_idx=0), own=nn.MultiheadAttention(8, 2, batch_first=True),
                                 cross=nn.MultiheadAttention(8, 2, batch_first=True), norm=nn.LayerNorm(8), out=nn.Linear(8, 20)),
                           (whole(20, 3, 7), whole(20, 3, 5))),
    "tagger": lambda: (Parts(tagger, words=nn.Embedding(15, 6), recurrent=nn.LSTM(6, 5, 2, batch_first=True, bidirectional=True),
                             out=nn.Linear(15, 4)), (whole(15, 3, 6),)),
    "topics": lambda: (Parts(topics, bag=nn.EmbeddingBag(30, 8, mode="mean"), hashed=nn.EmbeddingBag(13, 8, mode="max"),
                             scale=nn.Embedding(1, 8), out=nn.Linear(8, 3)), (whole(30, 14), torch.tensor([0, 3, 7, 11]))),
    "pyramids": lambda: (Parts(pyramids, first=nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu", batch_first=True),
                               second=nn.TransformerEncoderLayer(8, 4, 12, 0.0, batch_first=True, norm_first=True), norm=nn.BatchNorm1d(8)),
                         drawn((2, 9, 8))),
    "generator": lambda: (Parts(generator, ups=nn.Sequential(nn.ConvTranspose2d(6, 8, 4), nn.BatchNorm2d(8), nn.ReLU(True), nn.ConvTranspose2d(8, 3, 4, 2, 1)),
                                judge=nn.Sequential(nn.Conv2d(3, 6, 4, 2, 1), nn.LeakyReLU(0.2, True), nn.Conv2d(6, 1, 4))), drawn((4, 6))),
    "large-picture": lambda: (Parts(large_picture, filter=nn.Conv2d(3, 1, 3, padding=1)), drawn((4, 3, 256, 256))),
    "volumes": lambda: (Parts(volumes, down=nn.Conv3d(2, 4, 3, 2, 1), norm=nn.InstanceNorm3d(4, affine=True), out=nn.Conv3d(6, 2, 1)),
                        drawn((2, 2, 4, 6, 8))),
    "turned-picture": lambda: (Parts(transformer_of_space, locate=nn.Sequential(nn.Linear(48, 8), nn.Tanh(), nn.Linear(8, 6)),
                                     read=nn.Sequential(nn.Conv2d(3, 4, 3), nn.MaxPool2d(2), nn.PReLU(4), nn.Flatten(), nn.Linear(80, 2))),
                               drawn((2, 3, 10, 12))),
    "enlarged": lambda: (Parts(enlarged, body=nn.Sequential(nn.Conv2d(2, 6, 3, padding="same"), nn.Hardtanh(), nn.Conv2d(6, 8, 3, padding=1, padding_mode="reflect"))),
                         drawn((2, 2, 6, 7))),
    "spectrogram": lambda: (Parts(spectrogram, bands=nn.Linear(5, 9), conv=nn.Conv1d(5, 6, 3), norm=nn.BatchNorm1d(6), out=nn.Linear(6, 3)),
                            drawn((3, 64))),
    "separator-of-waves": lambda: (Parts(separator, mask=nn.Linear(9, 18)), drawn((2, 64))),
    "cepstrum": lambda: (Parts(cepstrum, norm=nn.BatchNorm1d(5), recurrent=nn.GRU(5, 6, batch_first=True), out=nn.Linear(6, 5)), drawn((2, 8, 5))),
    "isomorphism": lambda: (Parts(isomorphism, layers=nn.ModuleList([nn.Linear(5, 6), nn.Linear(6, 6)]), norms=nn.ModuleList([nn.BatchNorm1d(6), nn.BatchNorm1d(6)]),
                                  own=nn.Linear(1, 1), out=nn.Linear(6, 2)), (*drawn((12, 5)), whole(12, 2, 30))),
    "several": lambda: (Parts(several, message=nn.Linear(10, 6), out=nn.Linear(53, 4)), (*drawn((9, 5)), whole(9, 2, 25))),
    "relations": lambda: (with_parameters(Parts(relations, mix=nn.Linear(2, 3), own=nn.Linear(5, 4)), bases=torch.randn(2, 5, 4)),
                          (*drawn((8, 5)), whole(8, 2, 20), whole(3, 20))),
    "gaussian-process": lambda: (Module(gaussian_process, length=torch.zeros(3), noise=torch.tensor(-1.0)), drawn((8, 3), (8,))),
    "unitary": lambda: (Module(unitary, skew=torch.randn(4, 4, 2) / 4, into=torch.randn(3, 4, 2), bias=torch.randn(4) / 4), drawn((2, 4, 3))),
    "mixture": lambda: (Module(mixture, lower=torch.randn(4, 3, 3), means=torch.randn(4, 3), weights=torch.randn(4)), drawn((7, 3))),
    "poisson": lambda: (Module(poisson, scale=torch.rand(()), system=torch.randn(4, 4)), drawn((3, 8, 8))),
    "scaled-down": lambda: (Module(scaled_down, first=torch.randn(6, 5), second=torch.randn(6, 4)), drawn((7, 5))),
    "kept-narrow": lambda: (Module(kept_narrow, first=torch.randn(6, 5), second=torch.randn(6, 3)), drawn((7, 5))),
    "forward-mode": lambda: (Module(forward_mode, first=torch.randn(6, 4), second=torch.randn(6, 2)), drawn((5, 4), (5, 4))),
    "wave-equation": lambda: (Module(wave_equation, first=torch.randn(6, 2), bias=torch.randn(6), second=torch.randn(6)), drawn((5, 2))),
    "bent": lambda: (Module(bent, first=torch.randn(3, 6) / 4, second=torch.randn(6, 3) / 4), drawn((4, 3))),
    "each-gradient": lambda: (Parts(each_gradient, net=nn.Sequential(nn.Conv1d(2, 4, 3), nn.ReLU(), nn.Flatten(), nn.LayerNorm(24), nn.Linear(24, 3))),
                              (*drawn((5, 2, 8)), whole(3, 5))),
    "learned-start": lambda: (Module(learned_start, a=torch.randn(4, 6), b=torch.randn(6, 2)), drawn((5, 4), (5, 2))),
    "any-length": lambda: (Parts(any_length, words=nn.Embedding(20, 8), places=nn.Embedding(12, 8), layer=nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)),
                           (whole(20, 3, 7, low=1),)),
    "any-picture": lambda: (Parts(any_picture, first=nn.Conv2d(2, 4, 3, padding=1), second=nn.Conv2d(4, 3, 1)), drawn((2, 2, 9, 11))),
    "sketch": lambda: (Parts(sketch, words=nn.Embedding(12, 8), sound=nn.Conv1d(8, 8, 3, padding=1), out=nn.Linear(8, 12),
                             layer=nn.TransformerDecoderLayer(8, 2, 16, 0.0, batch_first=True)), (whole(12, 2, 6),)),
    "dense": lambda: (Parts(dense, convs=nn.ModuleList([nn.Conv2d(2, 4, 3, padding=1), nn.Conv2d(6, 4, 3, padding=1)]), flow=nn.Conv2d(2, 2, 1),
                            norms=nn.ModuleList([nn.GroupNorm(2, 4), nn.GroupNorm(1, 4)]), excite=nn.Linear(8, 8)), drawn((2, 2, 8, 6))),
    "diffusion": lambda: (Parts(diffusion, into=nn.Linear(5, 3), mix=nn.Embedding(1, 4)), (*drawn((8, 5)), whole(8, 2, 20), torch.rand(20))),
    "kalman": lambda: (Module(kalman, move=torch.eye(3) + torch.randn(3, 3) / 8, look=torch.randn(2, 3), noise=torch.zeros(2)), drawn((3, 4, 2))),
    "flows": lambda: (Module(flows, first=torch.randn(3, 6), bias=torch.randn(6), second=torch.randn(6, 3)), drawn((5, 3))),
    "ensemble": lambda: (Module(ensemble, first=torch.randn(4, 3, 6), bias=torch.randn(4, 6), scale=torch.rand(4, 6), second=torch.randn(4, 6, 2)), drawn((5, 3))),
    "any-batch": lambda: (Parts(any_batch, into=nn.Linear(6, 8), norm=nn.BatchNorm1d(8), project=nn.Linear(8, 5)), drawn((9, 6))),
    "speaker": lambda: (Parts(speaker, first=nn.Conv1d(1, 4, 5, 2), second=nn.Conv1d(4, 6, 3, dilation=2), norm=nn.BatchNorm1d(6), embed=nn.Linear(12, 5),
                              names=nn.Embedding(4, 5)), drawn((4, 40))),
    "chosen": lambda: (Parts(chosen, score=nn.Linear(4, 1), out=nn.Linear(4, 3)), drawn((9, 4))),
}  # fmt: skip


class Lion(torch.optim.Optimizer):
    """Sign of the averaged gradient, with decoupled weight decay."""

    def __init__(self, params, lr=0.01):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                mean = self.state[p].setdefault("mean", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * 0.1).add_(torch.sign(mean.lerp(p.grad, 0.1)), alpha=-group["lr"])
                mean.lerp_(p.grad, 0.01)


OPTIMISERS = {
    "adam": lambda params: torch.optim.Adam(params, lr=0.01),
    "rmsprop": lambda params: torch.optim.RMSprop(params, lr=0.01, momentum=0.9, centered=True),
    "adagrad": lambda params: torch.optim.Adagrad(params, lr=0.01, lr_decay=0.1),
    "nadam": lambda params: torch.optim.NAdam(params, lr=0.01, decoupled_weight_decay=True, weight_decay=0.01),
    "adamax": lambda params: torch.optim.Adamax(params, lr=0.01, foreach=False),
    "lion": Lion,
}  # fmt: skip
