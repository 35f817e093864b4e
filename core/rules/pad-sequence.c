/* SPDX-License-Identifier: MIT */
/* Sequences of different lengths as rows of one tensor: each is padded to the longest, then written
 * into its row. */

#include "call/adj-mode.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/composite-private.h"

typedef struct
{
  AdjRuleCall *call;
  AdjValue number; /* what is behind a sequence */
  gint64 longest;
  gboolean by_row, at_end;
} Padding;

static gboolean
find_longest (Padding *padding, const AdjValue *sequences)
{
  for (guint i = 0; i < sequences->n; i++)
    {
      const AdjTensorMeta *meta = rule_meta_of (padding->call, &sequences->items[i]);

      if (meta->shape.rank == 0)
        return rule_call_fail (padding->call, ADJ_ERROR_SHAPE, "sequences have a dimension");
      if (!adj_size_is_int (meta->shape.size[0]))
        return rule_call_fail (padding->call, ADJ_ERROR_UNSUPPORTED,
                               "pads sequences of known lengths");
      padding->longest = MAX (padding->longest, meta->shape.size[0].word);
    }
  return TRUE;
}

/* As many rows as there are sequences, each as long as the longest. */
static AdjTensor *
make_rows (const Padding *padding, const AdjValue *sequences)
{
  const AdjShape *first = &rule_meta_of (padding->call, &sequences->items[0])->shape;
  AdjSize sizes[ADJ_MAX_RANK + 1];
  AdjValue rows;

  if (first->rank >= ADJ_MAX_RANK)
    {
      rule_call_fail (padding->call, ADJ_ERROR_LIMIT, "sequences have too many dimensions");
      return NULL;
    }
  sizes[padding->by_row ? 0 : 1] = ADJ_SIZE (sequences->n);
  sizes[padding->by_row ? 1 : 0] = ADJ_SIZE (padding->longest);
  for (guint i = 1; i < first->rank; i++)
    sizes[i + 1] = first->size[i];
  return adj_call_bound (
             padding->call->cx, adj_op (ADJ_OP_new_full),
             (const AdjValue[]){ sequences->items[0],
                                 adj_rule_list_sizes (padding->call->arena, sizes, first->rank + 1),
                                 padding->number, ADJ_NONE, ADJ_NONE, ADJ_NONE, ADJ_BOOL (FALSE) },
             &rows)
             ? rows.tensor
             : NULL;
}

static AdjTensor *
pad_one (const Padding *padding, const AdjValue *sequence)
{
  const AdjShape *shape = &adj_tensor_get_meta (sequence->tensor)->shape;
  AdjSize sizes[2 * ADJ_MAX_RANK] = { ADJ_SIZE (0) };
  guint last = 2 * (shape->rank - 1);

  sizes[padding->at_end ? last + 1 : last] = ADJ_SIZE (padding->longest - shape->size[0].word);
  return ADJ_APPLY (padding->call->cx, ADJ_OP_constant_pad_nd, *sequence,
                    adj_rule_list_sizes (padding->call->arena, sizes, last + 2), padding->number);
}

/* args: tensors, whether a row is a sequence, the number, whether it comes behind */
gboolean
rule_pad_sequences (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  Padding padding = {
    .call = call, .number = args[2], .by_row = args[1].boolean, .at_end = args[3].boolean
  };
  AdjTensor *rows;

  if (!adj_value_is_container (&args[0]) || args[0].n == 0)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "received an empty list of sequences");
  if (!find_longest (&padding, &args[0]))
    return FALSE;
  rows = make_rows (&padding, &args[0]);
  for (guint i = 0; i < args[0].n && rows != NULL; i++)
    {
      AdjTensor *row = pad_one (&padding, &args[0].items[i]);

      rows = row == NULL
                 ? NULL
                 : ADJ_APPLY (call->cx, ADJ_OP_select_scatter, ADJ_TENSOR (rows), ADJ_TENSOR (row),
                              ADJ_INT (padding.by_row ? 0 : 1), ADJ_INT (i));
    }
  *out = ADJ_TENSOR (rows);
  return rows != NULL;
}
