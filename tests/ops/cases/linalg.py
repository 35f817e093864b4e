# SPDX-License-Identifier: MIT
from oracle import *


def regular(shape, dtype):
    """Well-conditioned square matrices."""
    return values(shape, dtype, -1, 1) + 3 * torch.eye(shape[-1], dtype=dtype)


def definite(shape, dtype):
    a = regular(shape, dtype)
    return a @ a.mH / 4


def by_columns(x):
    return x.mT.contiguous().mT


for dtype in (F32, F64, C64, C128):
    for shape in ((3, 3), (2, 3, 3), (1, 1), (0, 3, 3)):
        a, s = regular(shape, dtype), definite(shape, dtype)
        b = values((*shape[:-1], 2), dtype)
        tri = torch.linalg.cholesky(s)
        for upper in (False, True):
            l = tri.mH.contiguous() if upper else tri
            case("linalg_cholesky_ex", s, upper=upper)
            case("cholesky", s, upper)
            case("cholesky_inverse", l, upper)
            case("cholesky_solve", b, l, upper)
            for unit in (False, True):
                case("linalg_solve_triangular", a, b, upper=upper, unitriangular=unit)
                case("linalg_solve_triangular", a, b.mT, upper=upper, left=False, unitriangular=unit)
                case("triangular_solve", b, a, upper, unit, unit)
        for x in (a, by_columns(a)):
            case("linalg_lu_factor_ex", x)
            case("_linalg_solve_ex", x, b)
            case("_linalg_solve_ex", x, b[..., 0])
            case("_linalg_solve_ex", x, b.mT, left=False)
            case("linalg_inv_ex", x)
            case("_linalg_det", x)
            case("_linalg_slogdet", x)
            case("linalg_matrix_exp", x / 2)
        case("linalg_lu", a)
        lu, pivots = torch.linalg.lu_factor(a)
        case("lu_unpack", lu, pivots)
        case("lu_unpack", lu, pivots, True, False)
        case("lu_unpack", lu, pivots, False, True)
        for adjoint in (False, True):
            case("linalg_lu_solve", lu, pivots, b, adjoint=adjoint)
            case("linalg_lu_solve", lu, pivots, b.mT, left=False, adjoint=adjoint)
        case("linalg_ldl_factor_ex", s)
        ld, order = torch.linalg.ldl_factor(s)
        case("linalg_ldl_solve", ld, order, b)
        case("_linalg_eigh", s, "U", False)
        case("_linalg_svd", a, False, False)
        case("_linalg_eigh", s)
        case("linalg_eig", a)
        case("_linalg_eigvals", a)
    for shape in ((4, 3), (3, 4), (2, 4, 3), (2, 3, 4), (3, 3)):
        w = values(shape, dtype)
        case("linalg_lu_factor_ex", w)
        case("linalg_lu", w)
        case("lu_unpack", *torch.linalg.lu_factor(w))
        for mode in ("reduced", "complete", "r"):
            case("linalg_qr", w, mode)
        case("geqrf", w)
        q, tau = torch.geqrf(w)
        case("linalg_householder_product", q, tau)
        if shape[-2] >= shape[-1]:
            c = values((*shape[:-1], 2), dtype)
            for turned in (False, True):
                case("ormqr", q, tau, c, True, turned)
                case("ormqr", q, tau, c.mT.contiguous(), False, turned)
        case("_linalg_svd", w)
        case("_linalg_svd", w, True)
        case("_linalg_svd", w, False, False)
        case("linalg_pinv.atol_rtol_tensor", w)
        case("linalg_pinv.atol_rtol_tensor", w, rtol=torch.tensor(1e-3))
    case("linalg_pinv.atol_rtol_tensor", definite((3, 3), dtype), hermitian=True)
    case("_linalg_solve_ex", regular((3, 3), dtype), values((2, 3, 2), dtype))
    case("cholesky_solve", values((1, 3, 2), dtype), torch.linalg.cholesky(definite((2, 3, 3), dtype)))
for dtype in (F32, C64):
    case("diag_embed", values((2, 3), dtype))
    case("diag_embed", values((2, 3), dtype), 1, 0, 2)
    case("diag_embed", values((3,), dtype), -2)
for dtype in (F32, F64):
    case("linalg_cross", values((2, 3), dtype), values((2, 3), dtype))
    case("linalg_cross", values((3, 2), dtype), values((3, 1), dtype), dim=0)
    case("linalg_cross", values((3, 2), dtype).t(), values((1, 3), dtype))
