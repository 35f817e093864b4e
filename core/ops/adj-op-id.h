/* SPDX-License-Identifier: MIT */
#pragma once

/* Every record of the table by name: ADJ_OP_add_Tensor, ADJ_OP_mm. */
enum AdjOpId
{
#define OP(id) ADJ_OP_##id,
#include "ops/operators.inc"
#undef OP
  ADJ_N_OPS
};
