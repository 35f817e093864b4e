# SPDX-License-Identifier: MIT
from oracle import *

few_digits()


def swapped(shape, dtype):
    return values((shape[0], shape[2], shape[1], shape[3]), dtype).transpose(1, 2)


for make in (values, swapped, lambda shape, dtype: values((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]):
    q, k, v = make((2, 3, 5, 8), F16), make((2, 3, 7, 8), F16), make((2, 3, 7, 8), F16)
    wide = make((2, 3, 7, 16), F16)
    bias = values((2, 3, 5, 7), F16)
    lse = values((2, 3, 5), F32)
    none, zero = None, torch.zeros((), dtype=I64)
    name = "_scaled_dot_product_flash_attention"
    for debug in (False, True):
        needs_cuda(name, q, k, v, 0.1, True, debug, scale=0.5)
        # PyTorch has no shape rule for this one; it has that of FlashAttention
        needs_cuda("_scaled_dot_product_fused_attention_overrideable", q, k, v, None, 0.1, True, debug, scale=0.5,
                   shapes_of=(name, q, k, v, 0.1, True, debug))
    needs_cuda(name + "_backward", q, q, k, v, q, lse, none, none, 5, 7, 0.0, False, zero, zero)
    name = "_scaled_dot_product_efficient_attention"
    for keep in (False, True):
        needs_cuda(name, q, k, wide, bias, keep, 0.0, False)
    for mask in ([True] * 4, [True, True, True, False]):
        needs_cuda(name + "_backward", q, q, k, v, bias, q, lse, zero, zero, 0.0, mask, False)
    needs_cuda(name + "_backward", q, q, k, v, none, q, lse, zero, zero, 0.0, [True] * 4, False)
    name = "_scaled_dot_product_cudnn_attention"
    needs_cuda(name, q, k, wide, None, True, 0.0, True)
    needs_cuda(name + "_backward", q, q, k, v, q, lse, zero, zero, bias, none, none, 5, 7, 0.0, True)
    name = "_scaled_dot_product_flash_attention_backward"
    needs_cuda("_scaled_dot_product_fused_attention_overrideable_backward", q, q, k, v, None, [True] * 4, q, lse, none,
               none, 5, 7, 0.0, False, zero, zero,
               shapes_of=(name, q, q, k, v, q, lse, none, none, 5, 7, 0.0, False, zero, zero), more=["r n"])
needs_cuda("_scaled_dot_product_flash_attention", *(values((1, 2, 300, 72), BF16) for i in range(3)), 0.1, True, True)
needs_cuda("_scaled_dot_product_flash_attention", *(values((1, 2, 200, 8), BF16) for i in range(3)), 0.1, True, True)
for make in (values, swapped, lambda shape, dtype: values((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]):
    q, k, v = make((2, 5, 3, 8), F16), make((2, 7, 3, 8), F16), make((2, 7, 3, 8), F16)
    lse, bias = values((2, 3, 5), F32), values((2, 3, 5, 7), F16)
    packed, ends = values((12, 3, 8), F16), torch.tensor([0, 5, 12], dtype=I32)
    for debug in (False, True):
        needs_cuda("_flash_attention_forward", q, k, v, None, None, 5, 7, 0.1, True, debug, scale=0.5)
        needs_cuda("_flash_attention_forward", packed, packed, packed, ends, ends, 7, 7, 0.1, False, debug)
    needs_cuda("_flash_attention_backward", q, q, k, v, q, lse, ends, ends, 5, 7, 0.1, True, zero, zero)
    for keep in (False, True):
        needs_cuda("_efficient_attention_forward", q, k, v, bias, None, None, None, None, 0.1, 0, keep, scale=0.5)
        needs_cuda("_efficient_attention_forward", packed[None], packed[None], packed[None], None, ends, ends, 7, 7,
                   0.0, 1, keep)
    for b in (bias, None):
        needs_cuda("_efficient_attention_backward", q, q, k, v, b, q, None, None, 5, 7, lse, 0.1, zero, zero, 0, True)
