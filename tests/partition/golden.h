/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* A joint graph from a few words.
 *
 * @inputs: "p1:3 p2:4x4 t1:3": primals and tangents with their sizes, f32 unless a dtype stands
 *   before them (p1:i64[4])
 * @program: statements ended by ';': "cos = cos.default(p1)", operators without torch.ops.aten; the
 *   name may be followed by a tag and its region: "cos@PREFER_RECOMPUTE/1 = …"; the last statement
 *   is "return [cos, mul]"
 *
 * p1 and t1 become primals_1 and tangents_1; annotations are inferred. */
AdjGraph *golden_parse (const char *inputs, const char *program);

G_END_DECLS
