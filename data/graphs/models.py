# SPDX-License-Identifier: MIT
"""The models of the captures in this folder."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


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
    def __init__(self, width):
        super().__init__()
        self.c_fc = nn.Linear(width, 4 * width)
        self.c_proj = nn.Linear(4 * width, width)

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


ALL = {"mlp": mlp, "gpt2": gpt2}
