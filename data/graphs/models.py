# SPDX-License-Identifier: MIT
"""The models of the captures in this folder."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import *  # noqa: F403: 2.4 has no policies, which only Selective needs


class MLP(nn.Module):
    """Three linear layers, each followed by another kind of non-linearity, and the loss."""

    def __init__(self, inputs=16, hidden=32, classes=10):
        super().__init__()
        self.fc1 = nn.Linear(inputs, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, classes)

    def forward(self, x, target):
        x = torch.relu(self.fc1(x))
        x = F.gelu(self.fc2(x))
        x = torch.tanh(self.fc3(x))
        return F.cross_entropy(x, target)


class Attention(nn.Module):
    """Causal self-attention written out, so that every step of it is a node."""

    def __init__(self, width, heads, context):
        super().__init__()
        self.heads = heads
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)
        self.register_buffer("causal", torch.tril(torch.ones(context, context, dtype=torch.bool)))

    def forward(self, x):
        batch, time, width = x.shape
        head = width // self.heads
        q, k, v = self.c_attn(x).split(width, dim=2)
        q = q.view(batch, time, self.heads, head).transpose(1, 2)
        k = k.view(batch, time, self.heads, head).transpose(1, 2)
        v = v.view(batch, time, self.heads, head).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(head)
        scores = scores.masked_fill(~self.causal[:time, :time], float("-inf"))
        y = torch.matmul(F.softmax(scores, dim=-1), v)
        y = y.transpose(1, 2).reshape(batch, time, width)
        return self.c_proj(y)


class FeedForward(nn.Module):
    def __init__(self, width, grow=4):
        super().__init__()
        self.c_fc = nn.Linear(width, grow * width)
        self.c_proj = nn.Linear(grow * width, width)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, width, heads, context):
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = Attention(width, heads, context)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = FeedForward(width)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        x = x + self.mlp(self.ln_2(x))
        return x


class GPT2(nn.Module):
    """Two pre-norm blocks, the second one checkpointed, with the loss."""

    def __init__(self, vocab=48, width=16, heads=2, context=8):
        super().__init__()
        self.wte = nn.Embedding(vocab, width)
        self.wpe = nn.Embedding(context, width)
        self.h = nn.ModuleList(Block(width, heads, context) for _ in range(2))
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, vocab, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, tokens, target):
        position = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.wte(tokens) + self.wpe(position)
        x = self.h[0](x)
        x = checkpoint(self.h[1], x, use_reentrant=False)
        logits = self.lm_head(self.ln_f(x))
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), target.view(-1))


class ResidualBlock(nn.Module):
    """Convolutions with batch norm in training mode, a projected shortcut, and a classifier with the loss."""

    def __init__(self, inputs=4, width=8, classes=5):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.shortcut = nn.Sequential(nn.Conv2d(inputs, width, 1, stride=2, bias=False), nn.BatchNorm2d(width))
        self.fc = nn.Linear(width, classes)

    def forward(self, x, target):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        y = F.relu(y + self.shortcut(x))
        y = F.max_pool2d(y, 2)
        y = torch.flatten(F.adaptive_avg_pool2d(y, 1), 1)
        return F.cross_entropy(self.fc(y), target)


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


def rotate(x, cos, sin):
    """Rotary position embedding: rotates the pairs (i, i + half) of each head."""
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


class GroupedAttention(nn.Module):
    """Grouped-query attention with rotary positions, by PyTorch's fused operator."""

    def __init__(self, width, heads, kv_heads, context):
        super().__init__()
        self.heads, self.kv_heads, self.head = heads, kv_heads, width // heads
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, kv_heads * self.head, bias=False)
        self.v_proj = nn.Linear(width, kv_heads * self.head, bias=False)
        self.o_proj = nn.Linear(width, width, bias=False)
        frequency = 10000.0 ** (-torch.arange(0, self.head, 2) / self.head)
        angle = torch.outer(torch.arange(context), frequency).repeat(1, 2)
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def spread(self, x):
        """Repeats keys or values for each query head of a group."""
        batch, _, time, head = x.shape
        x = x[:, :, None].expand(batch, self.kv_heads, self.heads // self.kv_heads, time, head)
        return x.reshape(batch, self.heads, time, head)

    def forward(self, x):
        batch, time, width = x.shape
        q = self.q_proj(x).view(batch, time, self.heads, self.head).transpose(1, 2)
        k = self.k_proj(x).view(batch, time, self.kv_heads, self.head).transpose(1, 2)
        v = self.v_proj(x).view(batch, time, self.kv_heads, self.head).transpose(1, 2)
        q = rotate(q, self.cos[:time], self.sin[:time])
        k = rotate(k, self.cos[:time], self.sin[:time])
        y = F.scaled_dot_product_attention(q, self.spread(k), self.spread(v), is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(batch, time, width))


class SwiGLU(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate_proj = nn.Linear(width, hidden, bias=False)
        self.up_proj = nn.Linear(width, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class LlamaLayer(nn.Module):
    def __init__(self, width, heads, kv_heads, context):
        super().__init__()
        self.input_norm = RMSNorm(width)
        self.attn = GroupedAttention(width, heads, kv_heads, context)
        self.post_norm = RMSNorm(width)
        self.mlp = SwiGLU(width, 2 * width)

    def forward(self, x):
        x = x + self.attn(self.input_norm(x))
        return x + self.mlp(self.post_norm(x))


class Llama(nn.Module):
    """Two layers with RMSNorm, rotary positions, grouped-query attention and SwiGLU, and the loss."""

    def __init__(self, vocab=40, width=32, heads=4, kv_heads=2, context=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(LlamaLayer(width, heads, kv_heads, context) for _ in range(2))
        self.norm = RMSNorm(width)
        self.lm_head = nn.Linear(width, vocab, bias=False)

    def forward(self, tokens, target):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        logits = self.lm_head(self.norm(x))
        return F.cross_entropy(logits.flatten(0, 1), target.flatten())


class LSTM(nn.Module):
    """A recurrent network whose cells are written out and unrolled over time, and the loss."""

    def __init__(self, vocab=12, width=12, hidden=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.x2h = nn.Linear(width, 4 * hidden)
        self.h2h = nn.Linear(hidden, 4 * hidden, bias=False)
        self.head = nn.Linear(hidden, vocab)

    def cell(self, x, h, c):
        i, f, g, o = (self.x2h(x) + self.h2h(h)).chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c

    def forward(self, tokens, h, c, target):
        outputs = []
        for x in self.embed(tokens).unbind(1):
            h, c = self.cell(x, h, c)
            outputs.append(self.head(h))
        return F.cross_entropy(torch.stack(outputs, dim=1).flatten(0, 1), target.flatten())


def keep_products(context, op, *args, **kwargs):
    """A checkpointing policy: saves the results of matrix products, and recomputes what is cheap."""
    if op in (torch.ops.aten.mm.default, torch.ops.aten.addmm.default):
        return CheckpointPolicy.MUST_SAVE
    if op is torch.ops.aten.bmm.default:
        return CheckpointPolicy.PREFER_SAVE
    if op in (torch.ops.aten.gelu.default, torch.ops.aten._softmax.default):
        return CheckpointPolicy.MUST_RECOMPUTE
    return CheckpointPolicy.PREFER_RECOMPUTE


def selective():
    return create_selective_checkpoint_contexts(keep_products)


class Selective(nn.Module):
    """Two transformer blocks, each checkpointed under a policy that chooses operator by operator."""

    def __init__(self, features=8, width=16, heads=2, context=8):
        super().__init__()
        self.embed = nn.Linear(features, width)
        self.h = nn.ModuleList(Block(width, heads, context) for _ in range(2))
        self.head = nn.Linear(width, features)

    def forward(self, x, target):
        x = self.embed(x)
        for block in self.h:
            x = checkpoint(block, x, use_reentrant=False, context_fn=selective)
        return F.mse_loss(self.head(x), target)


class Dropout(nn.Module):
    """Two linear layers followed by random masks; the recorded generator state is needed to repeat the run."""

    def __init__(self, inputs=16, hidden=32, classes=10):
        super().__init__()
        self.fc1 = nn.Linear(inputs, hidden)
        self.drop = nn.Dropout(0.25)
        self.fc2 = nn.Linear(hidden, classes)

    def forward(self, x, target):
        x = self.drop(torch.relu(self.fc1(x)))
        x = F.dropout(self.fc2(x), 0.1)
        return F.cross_entropy(x, target)


def mlp():
    """Model and inputs of `mlp.adjoint`."""
    torch.manual_seed(1)
    model = MLP()
    return model, (torch.randn(8, 16), torch.randint(10, (8,)))


def gpt2():
    """Model and inputs of `gpt2.adjoint`."""
    torch.manual_seed(2)
    model = GPT2()
    return model, (torch.randint(48, (2, 8)), torch.randint(48, (2, 8)))


def resnet_block():
    """Model and inputs of `resnet-block.adjoint`."""
    torch.manual_seed(4)
    model = ResidualBlock()
    return model, (torch.randn(4, 4, 12, 12), torch.randint(5, (4,)))


def llama():
    """Model and inputs of `llama.adjoint`."""
    torch.manual_seed(5)
    model = Llama()
    return model, (torch.randint(40, (2, 8)), torch.randint(40, (2, 8)))


def lstm():
    """Model and inputs of `lstm.adjoint`."""
    torch.manual_seed(6)
    model = LSTM()
    return model, (torch.randint(12, (3, 5)), torch.zeros(3, 16), torch.zeros(3, 16), torch.randint(12, (3, 5)))


def sac():
    """Model and inputs of `sac.adjoint`."""
    torch.manual_seed(7)
    model = Selective()
    return model, (torch.randn(2, 8, 8), torch.randn(2, 8, 8))


def dropout():
    """Model and inputs of `dropout.adjoint`."""
    torch.manual_seed(8)
    model = Dropout()
    return model, (torch.randn(8, 16), torch.randint(10, (8,)))


class DoubleConv(nn.Sequential):
    def __init__(self, inputs, width):
        super().__init__(
            nn.Conv2d(inputs, width, 3, padding=1),
            nn.GroupNorm(2, width),
            nn.SiLU(),
            nn.Conv2d(width, width, 3, padding=1),
            nn.ReLU(),
        )


class UNet(nn.Module):
    """Two levels down and up again, one upsampled by a transposed convolution and one by interpolation, each with a
    skip connection, and a segmentation loss."""

    def __init__(self, inputs=2, width=4, classes=3):
        super().__init__()
        self.down1 = DoubleConv(inputs, width)
        self.down2 = DoubleConv(width, 2 * width)
        self.bottom = DoubleConv(2 * width, 4 * width)
        self.grow = nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2)
        self.up2 = DoubleConv(4 * width, 2 * width)
        self.up1 = DoubleConv(3 * width, width)
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x, target):
        first = self.down1(x)
        second = self.down2(F.max_pool2d(first, 2))
        x = self.grow(self.bottom(F.max_pool2d(second, 2)))
        x = self.up2(torch.cat((x, second), dim=1))
        x = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        x = self.head(self.up1(torch.cat((x, first), dim=1)))
        return F.cross_entropy(x.permute(0, 2, 3, 1).flatten(0, 2), target.flatten())


def unet():
    """Model and inputs of `unet.adjoint`."""
    torch.manual_seed(9)
    model = UNet()
    return model, (torch.randn(2, 2, 12, 12), torch.randint(3, (2, 12, 12)))


def clip(grad):
    """A hook on the gradient between two blocks: limits its norm to one."""
    return grad / grad.norm().clamp(min=1)


def rescale(grad):
    """A hook on a parameter that is used more than once."""
    return grad * 0.5


class SequenceAttention(nn.Module):
    """Causal self-attention of one head over one sequence."""

    def __init__(self, width, context):
        super().__init__()
        self.c_attn = nn.Linear(width, 3 * width, bias=False)
        self.c_proj = nn.Linear(width, width, bias=False)
        self.register_buffer("causal", torch.tril(torch.ones(context, context, dtype=torch.bool)))

    def forward(self, x):
        q, k, v = self.c_attn(x).chunk(3, dim=1)
        scores = (q @ k.t()).masked_fill(~self.causal, float("-inf"))
        return self.c_proj(F.softmax(scores, dim=-1) @ v)


class SequenceBlock(nn.Module):
    def __init__(self, width, context):
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = SequenceAttention(width, context)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = FeedForward(width, 2)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class HookedGPT2(nn.Module):
    """Two pre-norm blocks over one sequence with hooks that change their gradients, and the loss."""

    def __init__(self, vocab=12, width=8, context=6):
        super().__init__()
        self.wte = nn.Embedding(vocab, width)
        self.h = nn.ModuleList(SequenceBlock(width, context) for _ in range(2))
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, vocab, bias=False)
        self.lm_head.weight = self.wte.weight
        self.wte.weight.register_hook(rescale)

    def forward(self, tokens, target):
        x = self.wte(tokens)
        for block in self.h:
            x = block(x)
            x.register_hook(clip)
        return F.cross_entropy(self.lm_head(self.ln_f(x)), target)


def gpt2_hooks():
    """Model and the inputs of two steps of `gpt2-hooks.adjoint`."""
    torch.manual_seed(10)
    model = HookedGPT2()
    return model, [(torch.randint(12, (6,)), torch.randint(12, (6,))) for _ in range(2)]


def mlp_ddp(rank):
    """Model and the inputs of three steps of `mlp-ddp.adjoint`, different for each rank."""
    torch.manual_seed(11)
    model = MLP(8, 12, 4)
    torch.manual_seed(12 + rank)
    return model, [(torch.randn(batch, 8), torch.randint(4, (batch,))) for batch in (4, 6, 6)]


ALL = {
    "mlp": mlp,
    "gpt2": gpt2,
    "resnet-block": resnet_block,
    "llama": llama,
    "lstm": lstm,
    "sac": sac,
    "dropout": dropout,
    "unet": unet,
}
