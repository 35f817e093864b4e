/* SPDX-License-Identifier: MIT */
/* Builtins of gradients of linear algebra, in PyTorch's steps and their order: common calls, and
 * the table. */

#include <string.h>

#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/linalg-private.h"

/* -- calls with words or several results -- */

typedef struct
{
  const char *name;
  gboolean on;
} Switch;

/* Calls an operator with those boolean keyword arguments that are not the default (true, but for
 * `left`). */
static AdjTensor *
with_switches (AdjRuleCall *call,
               AdjOpId op,
               const AdjValue *args,
               guint n_args,
               const Switch *switches,
               guint n)
{
  AdjValue words[6];
  AdjValue result;
  guint n_words = 0;

  for (guint i = 0; i < n; i++)
    {
      words[n_words++] = (AdjValue){ .kind = ADJ_VALUE_STRING,
                                     .n = (guint) strlen (switches[i].name),
                                     .text = switches[i].name };
      words[n_words++] = ADJ_BOOL (switches[i].on);
    }
  if (!adj_call (call->cx, adj_op (op),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n_args, .items = (AdjValue *) args },
                 &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = n_words, .items = words }, &result))
    return NULL;
  return rule_tensor_of (&result);
}

AdjTensor *
rule_solve_triangular (
    AdjRuleCall *call, AdjTensor *a, AdjTensor *b, gboolean upper, gboolean left, gboolean unit)
{
  const Switch switches[] = { { "upper", upper }, { "left", left }, { "unitriangular", unit } };
  const AdjValue args[] = { ADJ_TENSOR (a), ADJ_TENSOR (b) };

  return a != NULL && b != NULL
             ? with_switches (call, ADJ_OP_linalg_solve_triangular, args, 2, switches, 3)
             : NULL;
}

AdjTensor *
rule_lu_solve (AdjRuleCall *call,
               const AdjValue *lu,
               const AdjValue *pivots,
               AdjTensor *b,
               gboolean left,
               gboolean adjoint)
{
  const Switch switches[] = { { "left", left }, { "adjoint", adjoint } };
  const AdjValue args[] = { *lu, *pivots, ADJ_TENSOR (b) };

  return b != NULL ? with_switches (call, ADJ_OP_linalg_lu_solve, args, 3, switches, 2) : NULL;
}

gboolean
rule_call_several (AdjRuleCall *call, AdjOpId op, const AdjValue *args, guint n, AdjValue *out)
{
  return adj_call (call->cx, adj_op (op),
                   &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n, .items = (AdjValue *) args }, NULL,
                   out);
}

gboolean
rule_give_both (AdjRuleCall *call, AdjTensor *a, AdjTensor *b, AdjValue *out)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = 2 };
  out->items = adj_arena_new0 (call->arena, AdjValue, 2);
  out->items[0] = ADJ_TENSOR (a);
  out->items[1] = ADJ_TENSOR (b);
  return a != NULL && b != NULL;
}

/* -- powers -- */

/* args: A, n ≥ 1 */
gboolean
rule_matrix_power (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gint64 power = args[1].kind == ADJ_VALUE_INT ? args[1].integer : 1;
  AdjTensor *a = rule_tensor_of (&args[0]), *z = a, *result = NULL;

  if (power == 3)
    return rule_give (out, rule_matmul (call, rule_matmul (call, a, a), a));
  for (gboolean first = TRUE; power > 0 && z != NULL; power /= 2, first = FALSE)
    {
      if (!first)
        z = rule_matmul (call, z, z);
      if (power % 2 != 0)
        result = result != NULL ? rule_matmul (call, result, z) : z;
    }
  return rule_give (out, z != NULL ? result : NULL);
}

/* -- the table -- */

static const RuleBuiltin rows[] = {
#define BUILTIN(word, help) { #word, rule_##word },
#include "ops/linalg-builtins.inc"
#undef BUILTIN
};

const RuleBuiltinTable rule_linalg_builtins = { rows, G_N_ELEMENTS (rows) };

guint32
rule_linalg_builtin_describes (const RuleBuiltin *builtin)
{
  return builtin->func == rule_lu_unpack_backward ? 1 << 2 : 0;
}
