/* SPDX-License-Identifier: MIT */
/* flex_attention (query, key, value, score_mod, block_mask, scale, options, score_buffers,
 * mask_buffers): attention whose scores are changed by a graph and masked by another, as in
 * torch._higher_order_ops.flex_attention on a CPU.
 *
 * The graphs compute one element, from batch, head, row and column.  They are called once, with all
 * scores and with indices that broadcast with them. */

#include <math.h>

#include "interpreter/adj-interpreter.h"
#include "interpreter/builtins-private.h"
#include "interpreter/flex-attention-private.h"
#include "interpreter/habits-private.h"
#include "ir/adj-value-internal.h"

void
flex_clear (Flex *flex)
{
  g_clear_pointer (&flex->score, adj_function_unref);
  g_clear_pointer (&flex->mask, adj_function_unref);
}

/* -- arguments -- */

gboolean
flex_fail (AdjContext *cx, const char *what)
{
  return adj_builtin_fail (cx, "flex_attention: %s", what);
}

const AdjShape *
flex_shape_of (const AdjTensor *tensor)
{
  return &adj_tensor_get_meta (tensor)->shape;
}

gboolean
flex_are_tensors (const AdjValue *args, guint n)
{
  for (guint i = 0; i < n; i++)
    if (args[i].kind != ADJ_VALUE_TENSOR)
      return FALSE;
  return TRUE;
}

gboolean
flex_take_tensors (Flex *flex, const AdjValue *args)
{
  AdjSymbols *symbols = adj_context_get_symbols (flex->cx);
  const AdjShape *q, *k;

  if (!flex_are_tensors (args, 3))
    return flex_fail (flex->cx, "query, key and value must be tensors");
  flex->query = args[0].tensor;
  flex->key = args[1].tensor;
  flex->value = args[2].tensor;
  q = flex_shape_of (flex->query);
  k = flex_shape_of (flex->key);
  if (q->rank != 4 || k->rank != 4 || flex_shape_of (flex->value)->rank != 4)
    return flex_fail (flex->cx, "query, key and value must have four dimensions");
  if (!adj_size_is_int (q->size[1]) || !adj_size_is_int (k->size[1]) || k->size[1].word < 1 ||
      q->size[1].word % k->size[1].word != 0)
    return flex_fail (flex->cx, "the heads of query must be a multiple of those of key");
  flex->copies = q->size[1].word / k->size[1].word;
  flex->one_batch = adj_size_is (symbols, k->size[0], 1) && !adj_size_is (symbols, q->size[0], 1);
  if (!flex->one_batch && !adj_size_test (symbols, ADJ_SIZE_EQ, q->size[0], k->size[0]))
    return flex_fail (flex->cx, "key must have as many batches as query, or one");
  flex->dtype = adj_tensor_get_meta (flex->query)->dtype;
  flex->wide = flex->dtype == ADJ_DTYPE_F64 ? ADJ_DTYPE_F64 : ADJ_DTYPE_F32;
  return TRUE;
}

gboolean
flex_take_rest (Flex *flex, const AdjValue *args, guint n)
{
  const AdjValue *block = &args[0];

  if (!adj_value_is_container (block) || block->n == 0 ||
      block->items[block->n - 1].kind != ADJ_VALUE_GRAPH)
    return flex_fail (flex->cx, "block_mask must end in a graph");
  flex->mask = adj_graph_function_new ((AdjGraph *) block->items[block->n - 1].graph);
  flex->scale = args[1];
  for (guint i = 3; i < n; i++)
    if (!adj_value_is_container (&args[i]))
      return flex_fail (flex->cx, "buffers must be a tuple");
  if (n > 3)
    flex->score_buffers = args[3];
  if (n > 4)
    flex->mask_buffers = args[4];
  return TRUE;
}

/* -- scores -- */

AdjTensor *
flex_convert (AdjContext *cx, AdjTensor *tensor, AdjDType dtype)
{
  return ADJ_APPLY (cx, ADJ_OP_to_dtype, ADJ_TENSOR (tensor), ADJ_DTYPE (dtype));
}

AdjTensor *
flex_multiply (AdjContext *cx, AdjTensor *left, AdjTensor *right)
{
  return ADJ_APPLY (cx, ADJ_OP_matmul, ADJ_TENSOR (left), ADJ_TENSOR (right));
}

/* Key or value repeated for every head and batch of query. */
static AdjTensor *
repeat (const Flex *flex, AdjTensor *tensor)
{
  AdjContext *cx = flex->cx;
  AdjValue sizes[] = { adj_value_from_size (flex_shape_of (flex->query)->size[0]), ADJ_INT (-1),
                       ADJ_INT (-1), ADJ_INT (-1) };

  if (flex->copies > 1)
    tensor = ADJ_APPLY (cx, ADJ_OP_repeat_interleave_self_int, ADJ_TENSOR (tensor),
                        ADJ_INT (flex->copies), ADJ_INT (1));
  if (flex->one_batch)
    tensor = ADJ_APPLY (cx, ADJ_OP_expand, ADJ_TENSOR (tensor),
                        (AdjValue){ .kind = ADJ_VALUE_LIST, .n = 4, .items = sizes });
  return tensor;
}

/* The index of dimension @dim, of size 1 in all other dimensions of the scores. */
static AdjTensor *
make_index (const Flex *flex, guint dim)
{
  AdjContext *cx = flex->cx;
  const AdjShape *shape = flex_shape_of (dim == 3 ? flex->key : flex->query);
  AdjValue end = adj_value_from_size (shape->size[MIN (dim, 2)]);
  AdjValue words[] = {
    { .kind = ADJ_VALUE_STRING, .n = 6, .text = "device" },
    { .kind = ADJ_VALUE_DEVICE, .device = adj_tensor_get_meta (flex->query)->device },
  };
  AdjValue result;
  AdjTensor *index = NULL;

  if (adj_call (cx, adj_op (ADJ_OP_arange),
                &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &end },
                &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = 2, .items = words }, &result))
    index = result.tensor;
  for (guint i = dim + 1; i < N_INDICES; i++)
    index = ADJ_APPLY (cx, ADJ_OP_unsqueeze, ADJ_TENSOR (index), ADJ_INT (-1));
  return index;
}

gboolean
flex_call_graph (const Flex *flex,
                 AdjFunction *function,
                 AdjTensor *first,
                 AdjTensor *second,
                 const AdjValue *buffers,
                 AdjValue *out)
{
  g_autofree AdjValue *args = g_new (AdjValue, N_INDICES + 2 + buffers->n);
  guint n = 0;

  if (first != NULL)
    args[n++] = ADJ_TENSOR (first);
  for (guint i = 0; i < N_INDICES; i++)
    args[n++] = flex->indices[i];
  if (second != NULL)
    args[n++] = ADJ_TENSOR (second);
  for (guint i = 0; i < buffers->n; i++)
    args[n++] = buffers->items[i];
  return adj_context_may_go_on (flex->cx) && adj_function_call (function, flex->cx, args, n, out);
}

/* The single tensor that @function returns, in the innermost scope. */
static AdjTensor *
call_for_tensor (const Flex *flex, AdjFunction *function, AdjTensor *first, const AdjValue *buffers)
{
  g_auto (AdjValue) given = ADJ_NONE;
  const AdjValue *one = &given;

  if (!flex_call_graph (flex, function, first, NULL, buffers, &given))
    return NULL;
  if (adj_value_is_container (one) && one->n == 1)
    one = &one->items[0];
  if (one->kind == ADJ_VALUE_TENSOR)
    return adj_scope_add (flex->cx, adj_tensor_ref (one->tensor));
  flex_fail (flex->cx, "the graph must give a tensor");
  return NULL;
}

/* @tensor expanded to the shape of the scores: a graph that does not read them returns fewer
 * elements. */
static AdjTensor *
spread (const Flex *flex, AdjTensor *tensor)
{
  const AdjShape *shape;
  AdjValue sizes[N_INDICES];

  if (tensor == NULL)
    return NULL;
  shape = flex_shape_of (flex->scores);
  if (adj_shape_same_sizes (flex_shape_of (tensor), shape, adj_context_get_symbols (flex->cx)))
    return tensor;
  for (guint i = 0; i < N_INDICES; i++)
    sizes[i] = adj_value_from_size (shape->size[i]);
  return ADJ_APPLY (flex->cx, ADJ_OP_expand, ADJ_TENSOR (tensor),
                    { .kind = ADJ_VALUE_LIST, .n = N_INDICES, .items = sizes });
}

static AdjTensor *
multiply_scores (const Flex *flex)
{
  AdjContext *cx = flex->cx;
  const gboolean wide = habits_find (cx)->wide_scores;
  AdjTensor *q = wide ? flex_convert (cx, flex->query, flex->wide) : flex->query;
  AdjTensor *k = wide ? flex_convert (cx, flex->key, flex->wide) : flex->key;

  return flex_convert (cx, flex_multiply (cx, q, TRANSPOSED (k)), flex->wide);
}

gboolean
flex_make_scores (Flex *flex)
{
  AdjContext *cx = flex->cx;

  flex->key = repeat (flex, flex->key);
  flex->value = repeat (flex, flex->value);
  if (flex->key == NULL || flex->value == NULL)
    return FALSE;
  for (guint i = 0; i < N_INDICES; i++)
    flex->indices[i] = ADJ_TENSOR (make_index (flex, i));
  flex->scores =
      ADJ_APPLY (cx, ADJ_OP_mul_Scalar, ADJ_TENSOR (multiply_scores (flex)), flex->scale);
  flex->scores = flex_convert (cx, flex->scores, flex->wide);
  flex->seen = call_for_tensor (flex, flex->mask, NULL, &flex->mask_buffers);
  flex->changed =
      spread (flex, call_for_tensor (flex, flex->score, flex->scores, &flex->score_buffers));
  flex->changed = ADJ_APPLY (cx, ADJ_OP_where_ScalarOther, ADJ_TENSOR (flex->seen),
                             ADJ_TENSOR (flex->changed), ADJ_FLOAT (-INFINITY));
  return flex->changed != NULL;
}

/* -- results -- */

AdjTensor *
flex_arrange_like (AdjContext *cx, AdjTensor *tensor, const AdjTensor *like)
{
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  const AdjShape *shape = flex_shape_of (like);
  AdjValue order[N_INDICES], back[N_INDICES];

  for (guint i = 0; i < N_INDICES; i++)
    {
      guint at = i;

      for (; at > 0 && adj_size_test (symbols, ADJ_SIZE_LT, shape->stride[order[at - 1].integer],
                                      shape->stride[i]);
           at--)
        order[at] = order[at - 1];
      order[at] = ADJ_INT (i);
    }
  for (guint i = 0; i < N_INDICES; i++)
    back[order[i].integer] = ADJ_INT (i);
  tensor = ADJ_APPLY (cx, ADJ_OP_permute, ADJ_TENSOR (tensor),
                      (AdjValue){ .kind = ADJ_VALUE_LIST, .n = N_INDICES, .items = order });
  if (tensor != NULL)
    tensor = adj_apply_clone_contiguous (cx, tensor);
  return ADJ_APPLY (cx, ADJ_OP_permute, ADJ_TENSOR (tensor),
                    (AdjValue){ .kind = ADJ_VALUE_LIST, .n = N_INDICES, .items = back });
}

gboolean
flex_give (AdjTensor *const *results, guint n, AdjValue *out)
{
  g_autoptr (GArray) items = adj_value_array_new ();

  for (guint i = 0; i < n; i++)
    {
      AdjValue item;

      if (results[i] == NULL)
        return FALSE;
      item = ADJ_TENSOR (adj_tensor_ref (results[i]));
      g_array_append_val (items, item);
    }
  *out = adj_value_array_end (items, ADJ_VALUE_TUPLE);
  return TRUE;
}

AdjTensor *
flex_divide_by_ln2 (AdjContext *cx, AdjTensor *tensor)
{
  return ADJ_APPLY (cx, ADJ_OP_div_Scalar, ADJ_TENSOR (tensor), ADJ_FLOAT (M_LN2));
}

static AdjTensor *
reduce_last (AdjContext *cx, AdjOpId op, AdjTensor *tensor)
{
  return ADJ_APPLY (cx, op, ADJ_TENSOR (tensor), ADJ_INT (-1));
}

/* -- the forward -- */

/* The attention, the base-2 logarithm of the sum of exponentials of each row, and the maximum of
 * each row in base 2; 2.6 gives no maxima, and its graphs do not read them. */
static gboolean
attend (Flex *flex, AdjValue *out)
{
  AdjContext *cx = flex->cx;
  AdjTensor *results[3], *weights;

  if (!flex_make_scores (flex))
    return FALSE;
  weights = flex_convert (cx, reduce_last (cx, ADJ_OP__safe_softmax, flex->changed), flex->dtype);
  results[0] = flex_multiply (cx, weights, flex_convert (cx, flex->value, flex->dtype));
  results[0] = flex_arrange_like (cx, results[0], flex->query);
  results[1] = flex_divide_by_ln2 (cx, reduce_last (cx, ADJ_OP_logsumexp, flex->changed));
  results[2] = flex_divide_by_ln2 (cx, reduce_last (cx, ADJ_OP_amax, flex->changed));
  return flex_give (results, G_N_ELEMENTS (results), out);
}

gboolean
adj_builtin_flex_attention (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  g_auto (Flex) flex = { .cx = cx };
  gboolean done;

  if (n_args < 7 || n_args > 9 || args[3].kind != ADJ_VALUE_GRAPH)
    return flex_fail (cx,
                      "takes query, key, value, a graph, block_mask, scale, options and buffers");
  flex.score = adj_graph_function_new ((AdjGraph *) args[3].graph);
  adj_scope_begin (cx);
  done = flex_take_tensors (&flex, args) && flex_take_rest (&flex, args + 4, n_args - 4) &&
         attend (&flex, out);
  adj_scope_end (cx);
  return done;
}
