# SPDX-License-Identifier: MIT
from oracle import *

def attention(q, k, v, causal, mask, scale):
    name = "_scaled_dot_product_flash_attention_for_cpu"
    case(name, q, k, v, 0.0, causal, attn_mask=mask, scale=scale)
    out, lse = getattr(torch.ops.aten, name)(q, k, v, 0.0, causal, attn_mask=mask, scale=scale)
    g = values(q.shape, q.dtype)
    case(name + "_backward", g, q, k, v, out, lse, 0.0, causal, attn_mask=mask, scale=scale)


for dtype in (F32, F64, BF16):
    q, k, v = values((2, 3, 5, 4), dtype), values((2, 3, 7, 4), dtype), values((2, 3, 7, 4), dtype)
    attention(q, k, v, False, None, None)
    attention(q, k, v, False, None, 0.3)
    attention(q, k, v, True, None, None)
    attention(k, q, v[:, :, :5], True, None, None)
    q, k, v = (values((2, 6, 3, 4), dtype).transpose(1, 2) for i in range(3))
    attention(q, k, v, True, None, None)
    attention(q, k, v, False, values((6, 6), dtype), None)
    attention(q, k, v, False, values((2, 1, 1, 6), dtype), None)
    attention(q, k, v, True, values((1, 3, 6, 6), dtype), 1.5)
    mask = values((6, 6), dtype).masked_fill(torch.ones(6, 6).tril(-2) > 0, float("-inf"))
    attention(q, k, v, False, mask, None)
    if dtype == F32:
        mask[2] = float("-inf")
        attention(q, k, v, False, mask, None)
attention(*(values((1, 2, 130, 8), F32) for i in range(3)), True, None, None)
attention(q, k, v, False, values((6, 6), F32), None)
