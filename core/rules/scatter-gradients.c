/* SPDX-License-Identifier: MIT */
/* Gradients of scatter_reduce and index_reduce. */

#include <string.h>

#include "call/adj-op-internal.h"
#include "rules/gradients-private.h"

typedef struct
{
  AdjRuleCall *call;
  AdjTensor *g, *self, *src, *index, *result; /* @src: as large as @index */
  AdjValue dim, reduce, include;
  gboolean slices; /* the index names slices, not elements */
} Scatter;

static AdjTensor *
gathered (const Scatter *s, AdjTensor *x)
{
  AdjValue args[] = { rule_value_of (x), s->dim, rule_value_of (s->index) };

  return x != NULL ? adj_apply (s->call->cx, s->slices ? ADJ_OP_index_select : ADJ_OP_gather, args,
                                G_N_ELEMENTS (args))
                   : NULL;
}

static AdjTensor *
scattered (const Scatter *s, AdjTensor *into, AdjTensor *x)
{
  AdjValue args[] = { rule_value_of (into), s->dim, rule_value_of (s->index), rule_value_of (x) };

  if (into == NULL || x == NULL)
    return NULL;
  return adj_apply (s->call->cx, s->slices ? ADJ_OP_index_add : ADJ_OP_scatter_add, args,
                    G_N_ELEMENTS (args));
}

static AdjTensor *
reduced (const Scatter *s, AdjTensor *self, AdjTensor *src)
{
  AdjValue args[] = { rule_value_of (self), s->dim, rule_value_of (s->index), rule_value_of (src),
                      s->reduce };
  AdjValue include[] = { { .kind = ADJ_VALUE_STRING, .n = 12, .text = (char *) "include_self" },
                         s->include };
  AdjValue result;

  if (self == NULL || src == NULL ||
      !adj_call (s->call->cx, adj_op (s->slices ? ADJ_OP_index_reduce : ADJ_OP_scatter_reduce_two),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 5, .items = args },
                 &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = 2, .items = include }, &result))
    return NULL;
  return result.tensor;
}

static AdjTensor *
is_zero (const Scatter *s, AdjTensor *x)
{
  return ADJ_APPLY (s->call->cx, ADJ_OP_eq_Scalar, ADJ_TENSOR (x), ADJ_INT (0));
}

static AdjTensor *
filled (const Scatter *s, AdjTensor *x, AdjTensor *mask, gint64 value)
{
  if (x == NULL || mask == NULL)
    return NULL;
  return ADJ_APPLY (s->call->cx, ADJ_OP_masked_fill_Scalar, ADJ_TENSOR (x), ADJ_TENSOR (mask),
                    ADJ_INT (value));
}

/* The dtype of @like. */
static AdjTensor *
as_number (const Scatter *s, AdjTensor *mask, AdjTensor *like)
{
  if (mask == NULL)
    return NULL;
  return ADJ_APPLY (s->call->cx, ADJ_OP_to_dtype, ADJ_TENSOR (mask),
                    ADJ_DTYPE (adj_tensor_get_meta (like)->dtype));
}

/* With several zeros their gradients are 0; that of a single zero is the product of the others. */
static void
differentiate_product (const Scatter *s, AdjTensor **of_self, AdjTensor **of_src)
{
  AdjRuleCall *call = s->call;
  AdjContext *cx = call->cx;
  AdjTensor *safe = filled (s, s->self, is_zero (s, s->self), 1);
  AdjTensor *src_zero, *single, *around, *plain;

  *of_self = rule_apply_two (call, ADJ_OP_div_Tensor,
                             rule_times (call, s->g, reduced (s, safe, s->src)), safe);
  src_zero = is_zero (s, s->src);
  single = ADJ_APPLY (cx, ADJ_OP_zeros_like, ADJ_TENSOR (s->self));
  single = gathered (s, scattered (s, single, as_number (s, src_zero, s->src)));
  single =
      single != NULL ? ADJ_APPLY (cx, ADJ_OP_eq_Scalar, ADJ_TENSOR (single), ADJ_INT (1)) : NULL;
  single = rule_apply_two (call, ADJ_OP_bitwise_and_Tensor, src_zero, single);
  around = reduced (s, s->self, filled (s, s->src, single, 1));
  safe = filled (s, s->src, src_zero, 1);
  plain = rule_apply_two (call, ADJ_OP_div_Tensor, gathered (s, rule_times (call, s->g, s->result)),
                          safe);
  around = gathered (s, rule_times (call, s->g, around));
  *of_src = NULL;
  if (single != NULL && around != NULL && plain != NULL)
    *of_src = ADJ_APPLY (cx, ADJ_OP_where_self, ADJ_TENSOR (single), ADJ_TENSOR (around),
                         ADJ_TENSOR (plain));
}

static void
differentiate_mean (const Scatter *s, AdjTensor **of_self, AdjTensor **of_src)
{
  AdjContext *cx = s->call->cx;
  gboolean include = adj_op_value_is_true (&s->include);
  AdjTensor *count =
      ADJ_APPLY (cx, include ? ADJ_OP_ones_like : ADJ_OP_zeros_like, ADJ_TENSOR (s->g));
  AdjTensor *ones = ADJ_APPLY (cx, ADJ_OP_ones_like, ADJ_TENSOR (s->src));

  count = scattered (s, count, ones);
  count = count != NULL ? filled (s, count, is_zero (s, count), 1) : NULL;
  *of_self = rule_apply_two (s->call, ADJ_OP_div_Tensor, s->g, count);
  count = gathered (s, count);
  *of_src = rule_apply_two (s->call, ADJ_OP_div_Tensor, gathered (s, s->g), count);
}

/* The gradient is divided evenly among all elements equal to the result. */
static void
differentiate_extreme (const Scatter *s, AdjTensor **of_self, AdjTensor **of_src)
{
  AdjRuleCall *call = s->call;
  AdjTensor *best = gathered (s, s->result);
  AdjTensor *self_is =
      as_number (s, rule_apply_two (call, ADJ_OP_eq_Tensor, s->self, s->result), s->self);
  AdjTensor *src_is = as_number (s, rule_apply_two (call, ADJ_OP_eq_Tensor, s->src, best), s->src);
  AdjTensor *share = rule_apply_two (call, ADJ_OP_div_Tensor, s->g, scattered (s, self_is, src_is));

  if (!s->slices)
    self_is = rule_apply_two (call, ADJ_OP_eq_Tensor, s->self, s->result);
  *of_self = rule_times (call, self_is, share);
  share = gathered (s, share);
  if (!s->slices)
    src_is = rule_apply_two (call, ADJ_OP_eq_Tensor, s->src, best);
  *of_src = rule_times (call, src_is, share);
}

/* @x cropped to the sizes of @to, from the start of each dimension. */
static AdjTensor *
cut_to (AdjRuleCall *call, AdjTensor *x, const AdjShape *to)
{
  for (guint i = 0; i < to->rank && x != NULL; i++)
    if (!adj_size_same (rule_shape_of (x)->size[i], to->size[i]))
      x = ADJ_APPLY (call->cx, ADJ_OP_slice_Tensor, ADJ_TENSOR (x), ADJ_INT (i), ADJ_INT (0),
                     adj_value_from_size (to->size[i]));
  return x;
}

/* The reverse: pads with zeros to the sizes of @to. */
static AdjTensor *
grow_to (AdjRuleCall *call, AdjTensor *x, const AdjShape *to)
{
  AdjSize pad[2 * ADJ_MAX_RANK];
  gboolean same = TRUE;

  for (guint i = 0; i < to->rank && x != NULL; i++)
    {
      guint at = 2 * (to->rank - 1 - i);

      pad[at] = ADJ_SIZE (0);
      pad[at + 1] = adj_size_sub (adj_context_get_symbols (call->cx), to->size[i],
                                  rule_shape_of (x)->size[i]);
      same &= adj_size_same (to->size[i], rule_shape_of (x)->size[i]);
    }
  if (same || x == NULL)
    return x;
  return ADJ_APPLY (call->cx, ADJ_OP_constant_pad_nd, ADJ_TENSOR (x),
                    adj_rule_list_sizes (call->arena, pad, 2 * to->rank), ADJ_INT (0));
}

static void
differentiate (const Scatter *s, AdjTensor **of_self, AdjTensor **of_src)
{
  if (strcmp (s->reduce.text, "prod") == 0)
    differentiate_product (s, of_self, of_src);
  else if (strcmp (s->reduce.text, "mean") == 0)
    differentiate_mean (s, of_self, of_src);
  else if (strcmp (s->reduce.text, "sum") == 0)
    {
      *of_self = s->g;
      *of_src = gathered (s, s->g);
    }
  else
    differentiate_extreme (s, of_self, of_src);
  if (!adj_op_value_is_true (&s->include) && *of_self != NULL)
    {
      AdjValue args[] = { rule_value_of (*of_self), s->dim, rule_value_of (s->index), ADJ_INT (0) };

      *of_self =
          adj_apply (s->call->cx, s->slices ? ADJ_OP_index_fill_int_Scalar : ADJ_OP_scatter_value,
                     args, G_N_ELEMENTS (args));
    }
}

/* @args: g, self, dim, index, src, reduce, include_self, result. */
static Scatter
scatter_of (AdjRuleCall *call, const AdjValue *args, gboolean slices)
{
  return (Scatter){
    .call = call,
    .g = args[0].tensor,
    .self = args[1].tensor,
    .dim = args[2],
    .index = args[3].tensor,
    .src = slices ? args[4].tensor : cut_to (call, args[4].tensor, rule_shape_of (args[3].tensor)),
    .reduce = args[5],
    .include = args[6],
    .result = args[7].tensor,
    .slices = slices,
  };
}

gboolean
rule_scatter_reduce_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape whole = *rule_shape_of (args[4].tensor);
  Scatter s = scatter_of (call, args, FALSE);
  AdjTensor *of_self, *of_src;

  if (s.src == NULL)
    return FALSE;
  differentiate (&s, &of_self, &of_src);
  return rule_give_list (call, (AdjTensor *[]){ of_self, grow_to (call, of_src, &whole) }, 2, out);
}

gboolean
rule_index_reduce_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  Scatter s = scatter_of (call, args, TRUE);
  AdjTensor *of_self, *of_src;

  differentiate (&s, &of_self, &of_src);
  return rule_give_list (call, (AdjTensor *[]){ of_self, of_src }, 2, out);
}
