# SPDX-License-Identifier: MIT
# Read by make-dynamo.py.

# -- shapes --


@case(f32(2, 3, 4))
def reshape(x):
    return x.reshape(6, 4), x.transpose(1, 2).reshape(2, -1), torch.reshape(x, (-1,))


@case(f32(2, 3, 4))
def flatten(x):
    return torch.flatten(x, 1), x.flatten(), x.flatten(0, 1), x[0, 0].flatten(), x.ravel()


@case(f32(2, 3, 4))
def contiguous(x):
    return x.contiguous() + 1, x.transpose(0, 1).contiguous()


@case(f32(1, 3), f32(2, 3))
def expand(x, y):
    return x.expand(4, 3), x.expand_as(y), x.expand(-1, 3), x.broadcast_to(2, 3), x.view_as(x)


@case(f32(3), f32())
def expand_new_dimensions(x, y):
    return x.expand(2, 1, -1), x.expand(1, 1, 3), x.expand(1, 3, 3), y.expand(1), y.expand(3, 1), y.expand(1, 1, 1)


@case(f32(4, 5), i64(4, 2), f32(5))
def setitem(x, i, y):
    x = x.clone()
    x[0] = 3
    x[:, 1] = 2.5
    x[i] = 7
    x[0, 0] = 1
    x[1:3] = y
    x[...] = 4
    x[None] = y
    x[1] = y[0]
    x[2] = True
    x[i] = y[None]
    x[2:3] = y.reshape(1, 5)
    x[1, 2] = y[1]
    return x


@case(f32(4, 3))
def clipped(x):
    return F.hardtanh(x, 0, 20), F.hardtanh(x), F.hardtanh(x, -0.5, 2)


@case(i64(9, 2, 5))
def pad_integers(x):
    return F.pad(x, (0, 1), value=-100), F.pad(x, (1, 0))


@case(f32(5, 4))
def chunk(x):
    a, b = x.chunk(2)
    return a, b, torch.chunk(x, 3, dim=1)[0], x.split(2)[1], x.split([2, 3])[0], torch.split(x, 3, 1)


@case(f32(2, 3, 4))
def moves(x):
    return (x.movedim(0, 2), torch.movedim(x, (0, 1), (1, 2)), x.swapaxes(0, 1), x.mT, x.permute(2, 0, 1),
            x.transpose(-1, -2), x[0].T, x[0].t(), torch.moveaxis(x, -1, 0))


@case(f32(2, 12))
def unflatten(x):
    return x.unflatten(1, (3, -1)), x.narrow(1, 2, 3), x.unsqueeze(0), x.unsqueeze(-1).squeeze(-1), x.view(-1, 4)


@case(f32(2, 3))
def tiles(x):
    return x.tile(2), x.tile(2, 1, 1), x.repeat(2, 2), torch.hstack([x, x]), torch.vstack([x, x])


@case(f32(2, 3), f32(2, 3))
def cats(x, y):
    return torch.cat([x, y]), torch.cat((x, y), dim=1), torch.stack([x, y], -1), torch.concat([x, y], 1)


# -- indexing --


@case(f32(4, 5, 6))
def slices(x):
    return x[0:4, :5] + 1, x[:9], x[1], x[-1], x[1:3], x[:, 2:], x[..., 0], x[0, :, ::2], x[None], x[:, None, 1:], x[1:-1, ..., -2:]


@case(f32(4, 5, 6), i64(4, 3), i64(5, 3))
def advanced(x, i, j):
    return x[i], x[i, j], x[:, j], x[i, 1], x[i, :, 2:4], x[0, j], x[:, j, None]


@case(f32(4, 5))
def masks(x):
    return torch.where(x > 0, x, 0.0), torch.where(x > 0, x, -x), x.masked_fill(x < 0, 1.0), x.where(x > 0, 1.0), x.where(x > 0, -x)


# -- dtypes --


@case(f32(2, 3))
def converts(x):
    return (x.to(torch.float64), x.double(), x.half(), x.long(), x.bool(), x.to(torch.float32) + 1,
            x.type(torch.float64), x.float() + 1, x.int(), x.to(dtype=torch.bfloat16))


@case(f32(2, 3), i64(5, 2))
def type_as(x, i):
    return i.type_as(x), i.to(x), x.to('cpu') + 1, i.to(x.dtype), x.to('cpu', torch.float64)


# -- arithmetic --


@case(f32(2, 3), f32(2, 3))
def arithmetic(x, y):
    return (x + y, x - 2, 1 - x, 2 * x, x / 3, 1 / (x + 2), x ** 2, 2 ** x, -x, x // 0.5, x % 0.3, abs(x), x + y * 2,
            torch.sub(x, y, alpha=2), torch.add(x, 1), torch.mul(x, y), torch.div(x, 2, rounding_mode='floor'))


@case(f32(2, 3), f32(2, 3))
def compares(x, y):
    return x > y, x >= 0, 0.5 < x, x == y, x != 0, x <= 1, x.lt(y), torch.eq(x, 1), torch.maximum(x, y), torch.max(x, y)


@case(i64(3, 4) > 0, i64(2, 4) > 0, i64(7, 4))
def bits(a, b, i):
    return a & b, a | b, a ^ b, ~a, i & 3, i | 4, torch.logical_and(a, b), a.logical_not()


@case(f32(2, 3), f32(2, 3))
def renamed(x, y):
    return (torch.multiply(x, y), torch.true_divide(x, 2), torch.negative(x), torch.absolute(x), torch.clip(x, 0, 1),
            torch.greater(x, y), torch.square(x), torch.special.expit(x), torch.arctan(x), torch.subtract(x, y),
            torch.divide(x, y), torch.less_equal(x, 0), torch.outer(x[0], y[0]), torch.isfinite(x), x.clamp(min=0))


# -- reductions --


@case(f32(2, 3, 4))
def reductions(x):
    return (x.sum(), x.sum(1), x.sum((0, 2), keepdim=True), x.mean(-1), x.mean(dim=(1, 2)), x.max(), x.max(dim=1)[0],
            x.amax(1), x.argmax(-1), x.prod(1), x.any(), x.all(1), x.min(0).values, torch.sum(x, 0, True), x.logsumexp(1))


@case(f32(2, 3, 4))
def variances(x):
    return (x.var(), x.std(1), x.var(1, unbiased=False), torch.var_mean(x, 1)[0], x.var((0, 2), keepdim=True),
            x.std(dim=1, correction=0), x.norm(), x.norm(dim=1), torch.linalg.vector_norm(x, 2, -1), x.norm(1, 2, True))


@case(f32(4, 5))
def scans(x):
    v, i = torch.topk(x, 2)
    s, p = x.sort(-1, descending=True)
    return v, i, s, p, x.cumsum(1), x.cumprod(0), x.argsort(dim=1), x.tril(), torch.triu(x, 1), x.flip(0), x.roll(1, 0)


# -- products --


@case(f32(3), f32(3), f32(2, 3), f32(3, 4), f32(2, 2, 3), f32(5, 2, 2, 3), f32(2, 3, 4))
def matmul(v, w, m, n, b, c, d):
    return (v @ w, m @ v, v @ n, m @ n, b @ n, b @ v, c @ n, b @ d, c @ d, v @ d, m @ d, torch.matmul(b, d),
            m.mm(n), torch.bmm(b, d), b.transpose(0, 1) @ n)


@case(f32(2, 3), f32(2, 2, 3), f32(2, 2, 2, 3), f32(4, 3), f32(4), f32(3))
def linear(x, y, z, w, b, v):
    return (F.linear(x, w), F.linear(x, w, b), F.linear(y, w), F.linear(y, w, b), F.linear(z, w, b),
            F.linear(y.transpose(0, 1), w, b), F.linear(v, w, b), F.linear(v, w))


@case(f32(2, 3, 4), f32(2, 4, 5), f32(3, 4), f32(4))
def einsums(x, y, m, v):
    return (torch.einsum('bij,bjk->bik', x, y), torch.einsum('ij,j->i', m, v), torch.einsum('bij->bji', x),
            torch.einsum('ij,kj->ik', m, m), torch.einsum('bij,bkj->bik', x, x), torch.einsum('i,i->', v, v),
            torch.einsum('bij,ij->b', x, m), torch.tensordot(x, y, dims=([0, 2], [0, 1])))


@case(f32(2, 2, 4, 8), f32(2, 2, 4, 8), f32(2, 2, 4, 8), f32(4, 4), i64(2, 4, 4) > 0)
def attention(q, k, v, m, b):
    return (F.scaled_dot_product_attention(q, k, v), F.scaled_dot_product_attention(q, k, v, is_causal=True),
            F.scaled_dot_product_attention(q, k, v, m), F.scaled_dot_product_attention(q, k, v, b),
            F.scaled_dot_product_attention(q, k, v, scale=0.5))


@case(f32(2, 4, 8), f32(2, 4, 8), f32(2, 4, 8), f32(4, 4), i64(2, 4, 4) > 0)
def attention_math(q, k, v, m, b):
    return (F.scaled_dot_product_attention(q, k, v), F.scaled_dot_product_attention(q, k, v, is_causal=True),
            F.scaled_dot_product_attention(q, k, v, m, dropout_p=0.5), F.scaled_dot_product_attention(q, k, v, b))


# -- layers --


@case(f32(2, 4, 8, 8), f32(6, 4, 3, 3), f32(6), f32(6, 2, 3, 3), f32(4, 6, 3, 3))
def convolutions(x, w, b, g, t):
    return (F.conv2d(x, w, b), F.conv2d(x, w, b, stride=2, padding=1), F.conv2d(x, g, None, 1, (1, 1), 1, 2),
            F.conv2d(x, w, padding='same'), F.conv2d(x, w, b, padding='valid'), F.conv_transpose2d(x, t, b, stride=2),
            F.conv2d(x[0], w, b))


@case(f32(2, 4, 8), f32(6, 4, 3), f32(6), f32(2, 2, 4, 4, 4), f32(2, 2, 3, 3, 3))
def convolutions_nd(x, w, b, y, z):
    return F.conv1d(x, w, b), F.conv1d(x, w, b, 2, 1, 2), F.conv1d(x, w, padding='same'), F.conv3d(y, z, padding=1)


@case(f32(2, 4, 6, 6), f32(4), f32(4), f32(4), f32(4).abs())
def norms(x, w, b, mean, var):
    return (F.layer_norm(x, (6, 6)), F.layer_norm(x, (6,), torch.ones(6), torch.zeros(6), 1e-6), F.group_norm(x, 2, w, b),
            F.batch_norm(x, mean, var, w, b), F.batch_norm(x, None, None, w, b, True), F.rms_norm(x, (6,)),
            F.rms_norm(x, (6,), torch.ones(6), 1e-6), F.instance_norm(x), F.normalize(x, dim=1))


@case(f32(2, 4, 6, 6))
def pools(x):
    return (F.max_pool2d(x, 2), F.max_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, 1),
            F.adaptive_avg_pool2d(x, (3, 3)), F.interpolate(x, scale_factor=2), F.interpolate(x, size=(12, 12)),
            F.interpolate(x, scale_factor=2, mode='bilinear'), F.pad(x, (1, 1)), F.pad(x, (1, 1, 2, 0), value=1.0))


@case(f32(3, 5))
def activations(x):
    return (F.relu(x), torch.relu(x), x.relu(), F.gelu(x), F.gelu(x, approximate='tanh'), F.silu(x), F.sigmoid(x),
            F.softplus(x), F.elu(x), F.leaky_relu(x, 0.2), F.hardtanh(x), F.relu6(x), F.hardswish(x), F.hardsigmoid(x),
            F.mish(x), F.selu(x), F.tanh(x), F.logsigmoid(x), F.softsign(x), F.tanhshrink(x), F.glu(x[:, :4]),
            F.prelu(x, torch.ones(1)), torch.erf(x), F.elu(x, 0.5))


@case(f32(3, 5))
def softmaxes(x):
    return (F.softmax(x, dim=-1), x.softmax(0), torch.log_softmax(x, 1), F.log_softmax(x, -1, dtype=torch.float64),
            F.softmax(x.half(), -1, dtype=torch.float32), F.softmin(x, 1))


@case(f32(3, 5))
def gumbels(x):
    return F.gumbel_softmax(x), F.gumbel_softmax(x, tau=0.5, dim=0)


@case(f32(3, 5), i64(5, 3), f32(3, 5).softmax(1), f32(5), f32(2, 5, 3), i64(5, 2, 3))
def cross_entropies(x, t, p, w, y, u):
    return (F.cross_entropy(x, t), F.cross_entropy(x, t, w, reduction='sum'), F.cross_entropy(x, p),
            F.cross_entropy(x, t, label_smoothing=0.1), F.nll_loss(F.log_softmax(x, 1), t),
            F.cross_entropy(x, t, reduction='none', ignore_index=1), F.cross_entropy(x[0], t[0]))


@case(f32(3, 5), f32(3, 5).abs())
def losses(x, y):
    return (F.mse_loss(x, y), F.l1_loss(x, y), F.smooth_l1_loss(x, y), F.huber_loss(x, y, reduction='sum'),
            F.binary_cross_entropy_with_logits(x, y), F.kl_div(x, y, reduction='batchmean'), F.mse_loss(x, y, reduction='none'),
            F.cosine_similarity(x, y), F.kl_div(x, y, log_target=True))


@case(f32(7, 4), i64(7, 2, 3))
def embeddings(w, i):
    return F.embedding(i, w), F.embedding(i, w, padding_idx=0), F.one_hot(i, 7), w.index_select(0, i[0]), w.gather(1, i[:, :2] % 4)


@case(f32(3, 5))
def dropouts(x):
    return F.dropout(x, 0.5), F.dropout(x, 0.5, False), F.dropout(x, 0.0), torch.dropout(x, 0.5, True)


# -- making tensors --


@case(f32(3, 5))
def factories(x):
    return (torch.zeros(2, 3), torch.ones((2,), dtype=torch.int64), torch.full((2, 2), 3.0), torch.arange(5),
            torch.arange(1, 4, dtype=torch.float32), torch.zeros_like(x), x.new_zeros(2, 2), torch.full_like(x, 2.0),
            torch.empty_like(x).fill_(1.0), torch.arange(0, 1, 0.25), x.new_full((2,), 1.5), torch.ones_like(x, dtype=torch.int32), torch.tril(torch.ones(3, 3)))


@case(f32(3, 5))
def sizes(x):
    b, n = x.shape
    return x.view(b * n), x.size(0) * x, x.reshape(x.size()[::-1]), x.numel() + x, x.dim() - x


# -- whole blocks --


@case(f32(2, 4, 8), f32(24, 8), f32(24), f32(8, 8), f32(8))
def block(x, w, b, o, c):
    q, k, v = F.linear(x, w, b).chunk(3, dim=-1)
    q, k, v = (t.view(2, 4, 2, 4).transpose(1, 2) for t in (q, k, v))
    s = q @ k.transpose(-2, -1) / math.sqrt(4)
    s = s.masked_fill(torch.ones(4, 4, dtype=torch.bool).tril().logical_not(), float('-inf'))
    y = (F.softmax(s, dim=-1) @ v).transpose(1, 2).contiguous().view(2, 4, 8)
    return x + F.linear(y, o, c)


def attend(q, k, v, w, b, o, **options):
    return F.multi_head_attention_forward(q, k, v, 4, 2, w, b, None, None, False, 0.0, o, b[:4], **options)


@case(f32(3, 2, 4), f32(12, 4), f32(12), f32(4, 4))
def attention_of_itself(x, w, b, o):
    return attend(x, x, x, w, b, o, need_weights=False), attend(x, x, x, w, b, o)


@case(f32(3, 2, 4), f32(5, 2, 3), f32(5, 2, 6), f32(4, 4), f32(4, 3), f32(4, 6), f32(12), f32(4, 4))
def attention_of_other_widths(x, y, z, q, k, v, b, o):
    weights = {"use_separate_proj_weight": True, "q_proj_weight": q, "k_proj_weight": k, "v_proj_weight": v}
    return attend(x, y, z, None, b, o, need_weights=False, **weights), attend(x, y, z, None, b, o, **weights)


@case(f32(3, 2, 4), f32(5, 2, 4), f32(5, 2, 4), f32(12, 4), f32(12), f32(4, 4))
def attention_of_others(x, y, z, w, b, o):
    return attend(x, y, y, w, b, o, need_weights=False), attend(x, y, z, w, b, o, average_attn_weights=False)


@case(f32(3, 2, 4), f32(12, 4), f32(12), f32(4, 4), f32(3, 3), i64(2, 2, 3))
def attention_with_masks(x, w, b, o, m, p):
    p = p == 1
    return (attend(x, x, x, w, b, o, need_weights=False, attn_mask=m),
            attend(x, x, x, w, b, o, need_weights=False, attn_mask=m > 0, key_padding_mask=p),
            attend(x, x, x, w, b, o, attn_mask=m, key_padding_mask=p),
            attend(x, x, x, w, b, o, need_weights=False, attn_mask=m, is_causal=True))


@case(f32(3, 4), f32(3, 4), f32(12, 4), f32(12, 4), f32(12), f32(12))
def cells(x, h, w, u, b, c):
    return torch.gru_cell(x, h, w, u, b, c), torch.gru_cell(x, h, w, u)


@case(f32(4, 6))
def dropout_in_place(x):
    return F.dropout(x * 2, 0.25, True, True), F.dropout(x + 1, 0.5, False, True)


@case(f32(2, 5, 4, 3))
def channels_last(x):
    x = x.permute(0, 3, 1, 2)
    return (F.interpolate(x, scale_factor=2, mode='bilinear'), F.interpolate(x, size=(3, 2)), F.adaptive_avg_pool2d(x, 1),
            F.adaptive_avg_pool1d(x[:, :, 0], 1))


@case(f32(2, 3, 7), f32(2, 3, 6, 5), f32(1, 2, 3, 4, 5))
def resampled(x, y, z):
    return (F.interpolate(x, size=11), F.interpolate(x, scale_factor=1.5, mode='linear'),
            F.interpolate(x, size=(4,), mode='area'), F.interpolate(x, scale_factor=2.0, mode='nearest-exact'),
            F.interpolate(y, size=(9, 8), mode='nearest-exact'), F.interpolate(y, scale_factor=1.5, mode='bicubic'),
            F.interpolate(y, size=7, mode='bilinear', align_corners=True), F.interpolate(y, size=(3, 4), mode='area'),
            F.interpolate(y, scale_factor=(1.5, 2.0), mode='bicubic', align_corners=True, recompute_scale_factor=True),
            F.interpolate(y, size=(3, 8), mode='bilinear', antialias=True),
            F.interpolate(y, scale_factor=0.5, mode='bicubic', antialias=True),
            F.interpolate(z, size=(5, 6, 7), mode='trilinear'), F.interpolate(z, scale_factor=2), F.interpolate(z, 1, mode='area'))


@case(f32(2, 5, 4, 3))
def resampled_channels_last(x):
    x = x.permute(0, 3, 1, 2)
    return F.interpolate(x, scale_factor=2, mode='bicubic'), F.interpolate(x.bfloat16(), size=7, mode='bilinear')


@case(f32(2, 4, 6, 6), f32(2, 3, 4, 4, 6), f32(2, 3, 8))
def pools_to_sizes(x, y, z):
    a, i = F.max_pool2d(x, 2, return_indices=True)
    b, k = F.max_pool3d(y, 2, return_indices=True)
    return (F.adaptive_max_pool2d(x, (3, None)), F.adaptive_max_pool2d(x, 2), F.adaptive_max_pool3d(y, 2),
            F.adaptive_avg_pool3d(y, (2, None, 1)), F.adaptive_avg_pool3d(y, 1), F.avg_pool3d(y, 2, 1, 1),
            F.adaptive_max_pool1d(z, 3), F.max_pool1d(z, 2, return_indices=True)[1], F.max_unpool2d(a, i, 2),
            F.max_unpool2d(a, i, 2, output_size=(2, 4, 7, 7)), F.max_unpool3d(b, k, 2), F.lp_pool2d(x, 2.0, 3, 1),
            F.lp_pool1d(z, 3.0, 2), F.max_pool3d(y, 2, 1, 1))


@case(f32(2, 4, 6, 6), f32(2, 3, 3, 2), f32(2, 2, 3), f32(1, 2, 3, 3, 3), f32(1, 2, 2, 2, 3))
def grids(x, grid, theta, z, grid3):
    return (F.grid_sample(x, grid, align_corners=False), F.grid_sample(x, grid, 'bicubic', 'reflection', True),
            F.grid_sample(z, grid3, 'nearest', 'border'), F.affine_grid(theta, (2, 4, 5, 6), align_corners=False))


@case(f32(2, 4, 6, 5), f32(2, 12, 20))
def columns(x, y):
    return F.unfold(x, 3, padding=1), F.unfold(x, (2, 3), (2, 1), 0, (1, 2)), F.fold(y, (6, 5), (2, 2))


# -- autocast --


def bf16():
    return torch.autocast("cpu", dtype=torch.bfloat16)


@case(f32(4, 6), f32(6, 6), f32(6))
def autocast_products(x, w, b):
    with bf16():
        y = F.linear(x, w, b)
        products = x @ w, torch.mm(y, w), torch.addmm(b, x, w), torch.einsum("ij,kj->ik", x, w)
        batched = torch.bmm(x[None], w[None]), torch.baddbmm(b, x[None], w[None]), torch.matmul(w, b)
        return *products, *batched, F.prelu(x, b), x.mm(w) + b


@case(f32(2, 4, 6), f32(3, 4, 3), f32(3), f32(4, 3, 2))
def autocast_convolutions(x, w, b, t):
    with bf16():
        one = F.conv1d(x, w, b), F.conv1d(x, w, padding="same"), F.conv_transpose1d(x, t, b)
        return *one, F.conv2d(x[..., None], w[..., None], b), F.conv_transpose2d(x[..., None], t[..., None])


@case(f32(2, 2, 4, 8), f32(2, 2, 4, 8))
def autocast_attention(q, k):
    with bf16():
        return F.scaled_dot_product_attention(q, k, k), (q @ k.mT).softmax(-1) @ k


@case(f32(4, 6), f32(4, 6), i64(6, 4))
def autocast_losses(x, y, target):
    x, y = x.bfloat16(), y.bfloat16()
    with bf16():
        one = F.mse_loss(x, y), F.l1_loss(x, y), F.smooth_l1_loss(x, y), F.huber_loss(x, y)
        two = F.cross_entropy(x, target), F.nll_loss(x, target), F.kl_div(x, y, reduction="sum")
        return *one, *two, F.binary_cross_entropy_with_logits(x, y), F.binary_cross_entropy(x.sigmoid(), y.sigmoid())


@case(f32(2, 4, 6))
def autocast_float32(x):
    x = x.bfloat16()
    with bf16():
        padded = torch._C._nn.reflection_pad1d(x, (1, 2)), torch._C._nn.replication_pad2d(x, (1, 0, 2, 1))
        return *padded, x.prod(), x.prod(1), torch.cdist(x, x)


@case(f32(2, 3), f32(2, 3))
def autocast_widest(x, y):
    low = x.bfloat16()
    with bf16():
        return torch.cat([low, low]), torch.cat([low, y]), torch.stack([low, y, low]), torch.cat([low, y.double()])


@case(f32(4, 4), i64(3, 4, 4))
def autocast_leaves(x, i):
    wide = x.double()
    with bf16():
        return wide @ wide, x + x, x.softmax(-1), F.layer_norm(x, (4,)), F.gelu(x), i @ i, x.sum(), x.exp(), x.cumsum(0)


@case(f32(4, 4), f32(4, 4))
def autocast_nested(x, w):
    with torch.autocast("cpu"):
        a = x @ w
        with torch.autocast("cpu", dtype=torch.float16):
            b = x @ w
            with torch.autocast("cpu", enabled=False):
                c = x @ w
            with torch.autocast("cpu"):
                d = x @ w
        e = x @ w
    with torch.autocast("cpu", dtype=torch.float32):
        f = x @ w
    return a, b, c, d, e, f, x @ w


@case(f32(4, 6), f32(6, 6), i64(6, 4), cuda=True)
def autocast_on_cuda(x, w, target):
    y = x @ w
    float32 = y.exp(), y.rsqrt(), y.log1p(), torch.pow(y, 2), F.softplus(y), F.layer_norm(y, (6,)), y.logsumexp(0)
    losses = torch._C._nn.mse_loss(y, x, 1), F.l1_loss(y, y), F.nll_loss(y, target)
    results = y.sum(), y.sum(0), y.sum(0, dtype=torch.float64), y.cumsum(0), y.prod(1), y.softmax(-1)
    widest = torch.addcmul(x, y, y), torch.addcmul(y, y, y)
    others = F.gelu(y), torch.cat([y, x]), torch.linalg.vector_norm(y), F.linear(y.double(), w.double())
    return *float32, *losses, *results, *widest, *others


@case(f32(2, 4, 6), f32(2, 4, 6, 5), f32(3), f32(4))
def borders_and_grids(x, y, a, b):
    u, v = torch.meshgrid(a, b, indexing='xy')
    s, t = torch.meshgrid([a, b])
    return (F.pad(x, (1, 2), mode='reflect'), F.pad(y, (1, 0, 2, 1), mode='replicate'), F.pad(y, (1, 1, 2, 0), mode='circular'),
            u * v, s + t, torch.as_tensor(a, dtype=torch.float64), torch.as_tensor([1.0, 2.0]), F.local_response_norm(y, 2),
            torch.where(a > 0, 1, 2.5), torch.where(a > 0, True, False))


@case(f32(4, 3), f32(4, 3) * 0.5, f32(5, 3), f32(1, 3))
def distances(x, y, z, w):
    sign = torch.tensor([1.0, -1.0, 1.0, -1.0])
    return (F.cosine_similarity(x, y), F.cosine_similarity(x, w), torch.cdist(x, z), F.pairwise_distance(x, y),
            torch.cdist(x, z, compute_mode='use_mm_for_euclid_dist'), F.triplet_margin_loss(x, y, z[:4], swap=True),
            F.margin_ranking_loss(x[:, 0], y[:, 0], sign), F.hinge_embedding_loss(x[:, 0], sign),
            F.cosine_embedding_loss(x, y, sign, 0.5), F.poisson_nll_loss(x, y.abs(), full=True),
            torch.broadcast_tensors(x, w)[1])


@case(f32(2, 3), f32(2, 4), f32(5, 3, 4), f32(5), f32(4, 1), f32(1, 3))
def weights(x, y, w, b, g, h):
    v = w[0].T
    return (F.bilinear(x, y, w, b), torch._weight_norm(v, g, 0), torch._weight_norm(v, h, 1), torch._weight_norm(v, g[0, 0], -1),
            torch.bucketize(x, torch.tensor([-0.5, 0.0, 0.5])), torch.searchsorted(torch.tensor([-0.5, 0.5]), x, right=True))


@case(f32(2, 4, 6), f32(2, 6, 4))
def layouts_of_gradients(x, g):
    g, ops = g.transpose(1, 2), torch.ops.aten
    return (ops.softplus_backward.default(g, x, 1, 20), ops.softplus_backward.default(x, g, 1, 20),
            ops.hardtanh_backward.default(g, x, -1.0, 1.0), ops.elu_backward.default(g, 1.0, 1, 1, False, x),
            ops.hardswish_backward.default(g, x), ops.hardsigmoid_backward.default(x, g),
            ops.leaky_relu_backward.default(g, x, 0.1, False))


@case(i64(7, 4), i64(3, 4))
def tensor_on_the_right(x, y):
    shifted = (x << y) + (y >> 1) + (3 << y)
    bits = x.__rand__(y) + x.__ror__(y) + x.__rxor__(y) + x.__rand__(5) + x.__ror__(5) + x.__rxor__(5)
    return shifted, bits, x.__rlshift__(y), y.__rrshift__(9)


@case(f32(3, 3) + 3, f32(3, 3))
def numbers_on_the_right(x, y):
    return x.__rpow__(y), x.__rpow__(2), x.__rdiv__(y), x.__rtruediv__(4), x.__rmod__(y), x.__rmod__(7), x.__rmatmul__(y)


@case(f32(3, 3) + 3)
def divided_in_place(x):
    y = x.clone()
    y //= 2
    z = y + 1
    z %= 3
    w = z.clone()
    w **= 2
    return y.__floordiv__(2), z.__mod__(2), w


@case(i64(20, 2, 3))
def unravelled(x):
    return torch.unravel_index(x, (4, 5))


@case(i64(20, 2, 3))
def unravelled_flat(x):
    return torch.unravel_index(x, 20)


@case(torch.zeros(0, 2, 3))
def normalised_nothing(x):
    return F.local_response_norm(x, 2)


@case(i64(2, 3, 4).bool(), i64(3, 3, 4))
def angles_of_integers(x, y):
    return torch.angle(x), torch.angle(y - 1)


@case(i64(2, 3, 4).bool(), i64(3, 3, 4).bool())
def product_of_truths(x, mask):
    return torch.masked.prod(x, mask=mask, dim=0, keepdim=True)


@case(f32(3), f32(2, 2), f32())
def lists(x, y, t):
    many = [x, y]
    return (*torch._foreach_mul(many, many), *torch._foreach_mul(many, 2), *torch._foreach_mul(many, [2, 0.5]),
            *torch._foreach_mul(many, t), *torch._foreach_add(many, many, alpha=2), *torch._foreach_add(many, 1.5),
            *torch._foreach_maximum(many, many), *torch._foreach_maximum(many, 0.5))


@case(f32(3), f32(3, 3)[1])
def second_derivatives(x, y):
    def slopes(x, y, reduction):
        first = torch.func.grad(lambda x, y: F.mse_loss(x, y, reduction=reduction).square(), (0, 1))(x, y)
        return (first[0] * x * y).sum() + first[1].sum()

    return (*torch.func.grad(slopes, (0, 1))(x, y, "mean"), *torch.func.grad(slopes, (0, 1))(x, y, "sum"))


@case(f32(4, 3), f32(3))
def dropout_in_batches(x, y):
    other = torch.func.vmap(lambda row: F.dropout(row, 0.3) * F.dropout(y, 0.5), randomness="different")(x)
    same = torch.func.vmap(lambda row: F.dropout(row * 2, 0.3) + F.dropout(row, 0.3, False), randomness="same")(x)
    return other, same, torch.func.vmap(lambda row: F.dropout(row, 1.0), randomness="same")(x)


@case(f32(4, 3), f32(4, 5, 3), f32(2, 3), f32(2))
def linear_in_batches(x, y, w, b):
    def biased(row):
        return F.linear(row, w, b)

    return torch.func.vmap(biased)(x), torch.func.vmap(biased)(y), torch.func.vmap(lambda row: biased(x[0]) * row.sum())(x)


@case(f32(5, 2, 8), f32(4, 2, 3), f32(48), f32(48))
def gradients_in_batches(x, w, scale, shift):
    def loss(w, scale, shift, sample):
        y = F.conv1d(F.conv1d(sample[None], w).tanh(), w.repeat(1, 2, 1))
        return F.layer_norm(y.flatten(1).repeat(1, 3), (48,), scale, shift).square().sum()

    return torch.func.vmap(torch.func.grad(loss, (0, 1, 2)), (None, None, None, 0))(w, scale, shift, x)


@case(f32(5, 3), f32(5, 3))
def tangents(x, v):
    def net(y):
        z = torch.where(y > 0, y.tanh() * y.sin(), y / y.exp())
        return F.softmax(z @ y.mT, -1), (y - z.relu()).pow(2).mean(0), z.max(1)[0].sigmoid(), torch.cat([z, y.square()])

    values, slopes = torch.func.jvp(net, (x,), (v,))
    return *values, *slopes


@case(f32(4), f32(4, 3))
def jacobians_forward(x, w):
    return torch.func.jacfwd(lambda y: torch.log_softmax(torch.sin(y) @ w, 0))(x)
