# SPDX-License-Identifier: MIT
from oracle import *

few_digits()

def parameters(dtype):
    return [values((2, 3), dtype, 0.2, 2), values((4, 2), dtype, 0.2, 2).t(), values((), dtype, 0.2, 2),
            values((70,), dtype, 0.2, 2), values((0, 3), dtype)]


for dtype in (F32, F64, BF16, F16):
    for options in ({}, {"weight_decay": 0.1}, {"amsgrad": True}, {"maximize": True, "weight_decay": 0.05},
                    {"grad_scale": torch.tensor(4.0)}, {"found_inf": torch.tensor(1.0)},
                    {"grad_scale": torch.tensor(0.5), "found_inf": torch.tensor(0.0), "amsgrad": True}):
        for name in ("_fused_adam_", "_fused_adamw_"):
            for target, lr in ((name, 0.01), (name + ".tensor_lr", torch.tensor(0.01))):
                o = {"lr": lr, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.0, "eps": 1e-8, "amsgrad": False,
                     "maximize": False} | options
                steps = [torch.tensor(float(i + 1)) for i in range(5)]
                case(target, parameters(dtype), parameters(dtype), parameters(dtype), parameters(dtype),
                     parameters(dtype) if o["amsgrad"] else [], steps, **o)
    for options in ({}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
                    {"momentum": 0.9, "dampening": 0.2, "maximize": True}, {"momentum": 0.5, "is_first_step": True},
                    {"grad_scale": torch.tensor(4.0)}, {"found_inf": torch.tensor(1.0)}):
        # PyTorch 2.6's vector code mixes up 16-bit momenta: use tensors smaller than its vectors
        n = 3 if dtype in (F16, BF16) and "momentum" in options else 5
        for target, lr in (("_fused_sgd_", 0.01), ("_fused_sgd_.tensor_lr", torch.tensor(0.01))):
            o = {"weight_decay": 0.0, "momentum": 0.0, "lr": lr, "dampening": 0.0, "nesterov": False, "maximize": False,
                 "is_first_step": False} | options
            case(target, parameters(dtype)[:n], parameters(dtype)[:n], parameters(dtype)[:n] if o["momentum"] else [],
                 **o)
    for bad in (False, True):
        many = parameters(dtype)
        many[0][0, 1] = float("inf") if bad else 1
        case("_amp_foreach_non_finite_check_and_unscale_", many, torch.zeros(1), torch.tensor(0.25))
for found in (0.0, 1.0):
    for count in (0, 3):
        case("_amp_update_scale_", torch.tensor(8.0), torch.tensor(count, dtype=I32), torch.tensor(found), 2.0, 0.5, 4)
        case("_amp_update_scale", torch.tensor(8.0), torch.tensor(count, dtype=I32), torch.tensor(found), 2.0, 0.5, 4)
