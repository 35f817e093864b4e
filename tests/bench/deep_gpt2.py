# SPDX-License-Identifier: MIT
"""GPT-2 of any depth, matching the graphs that deep.c makes from the bundled capture."""

import sys

import torch


def make_model(folder, layers):
    """@folder: data/graphs, which contains the models."""
    sys.path.insert(0, folder)
    import models

    class Deep(models.GPT2):
        """The requested number of blocks, none of them checkpointed."""

        def __init__(self):
            super().__init__()
            self.h = torch.nn.ModuleList(models.Block(16, 2, 8) for _ in range(layers))

        def forward(self, tokens, target):
            position = torch.arange(tokens.shape[1], device=tokens.device)
            x = self.wte(tokens) + self.wpe(position)
            for block in self.h:
                x = block(x)
            logits = self.lm_head(self.ln_f(x))
            return torch.nn.functional.cross_entropy(logits.view(-1, logits.shape[-1]), target.view(-1))

    return Deep()
