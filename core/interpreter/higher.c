/* SPDX-License-Identifier: MIT */
/* The table of higher-order operators, and the stacking and slicing that map and scan share. */

#include <string.h>

#include "interpreter/higher-private.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"

static const AdjHigherOp *const table[] = {
  &adj_higher_cond, &adj_higher_while_loop,       &adj_higher_invoke_subgraph, &adj_higher_map_impl,
  &adj_higher_scan, &adj_higher_associative_scan, &adj_higher_out_dtype,
};

/* Variants with other arguments, for some releases. */
static const AdjHigherOp *const forms[] = { &adj_higher_scan_along };

static const AdjHigherOp *
find_form (const char *target, guint n_args)
{
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    if (forms[i]->n_args == n_args && strcmp (forms[i]->target, target) == 0)
      return forms[i];
  return NULL;
}

guint
adj_higher_get_n (void)
{
  return G_N_ELEMENTS (table);
}

const AdjHigherOp *
adj_higher_get (guint index)
{
  g_return_val_if_fail (index < G_N_ELEMENTS (table), NULL);

  return table[index];
}

const AdjHigherOp *
adj_higher_find (const char *target, guint n_args)
{
  const AdjHigherOp *form = find_form (target, n_args);

  for (guint i = 0; i < G_N_ELEMENTS (table) && form == NULL; i++)
    if (strcmp (table[i]->target, target) == 0)
      form = table[i];
  return form;
}

/* -- for those that go along a dimension -- */

void
higher_append_all (const AdjValue *group, GArray *inputs)
{
  for (guint i = 0; i < group->n; i++)
    {
      AdjValue copy = adj_value_copy (&group->items[i]);

      g_array_append_val (inputs, copy);
    }
}

gboolean
higher_append_slice (
    const AdjHigherCall *call, const AdjValue *tensor, gint64 dim, gint64 index, GArray *inputs)
{
  AdjTensor *slice =
      ADJ_APPLY (call->cx, ADJ_OP_select_int, *tensor, ADJ_INT (dim), ADJ_INT (index));
  AdjValue value;

  if (slice == NULL)
    return FALSE;
  value = ADJ_TENSOR (adj_tensor_ref (slice));
  g_array_append_val (inputs, value);
  return TRUE;
}

gboolean
higher_get_length (const AdjHigherCall *call, const AdjValue *group, gint64 dim, gint64 *length)
{
  if (group->n == 0)
    return adj_higher_fail (call, ADJ_ERROR_SHAPE, "there is nothing to go along");
  for (guint i = 0; i < group->n; i++)
    {
      const AdjShape *shape;
      AdjSize size;

      if (group->items[i].kind != ADJ_VALUE_TENSOR)
        return adj_higher_fail (call, ADJ_ERROR_SHAPE, "value %u to go along is %s, not a tensor",
                                i, adj_value_kind_name (group->items[i].kind));
      shape = &adj_tensor_get_meta (group->items[i].tensor)->shape;
      if (dim < 0 || dim >= shape->rank)
        return adj_higher_fail (call, ADJ_ERROR_SHAPE,
                                "tensor %u has no dimension %" G_GINT64_FORMAT, i, dim);
      size = shape->size[dim];
      if (!adj_size_is_int (size))
        return adj_higher_fail (call, ADJ_ERROR_UNSUPPORTED,
                                "the length of dimension %" G_GINT64_FORMAT " must be known", dim);
      if (size.word == 0)
        return adj_higher_fail (call, ADJ_ERROR_SHAPE,
                                "dimension %" G_GINT64_FORMAT " of tensor %u has no entries", dim,
                                i);
      if (i > 0 && size.word != *length)
        return adj_higher_fail (call, ADJ_ERROR_SHAPE,
                                "leading dimensions differ: %" G_GINT64_FORMAT
                                " and %" G_GINT64_FORMAT,
                                *length, size.word);
      *length = size.word;
    }
  return TRUE;
}

gboolean
higher_stack (const AdjHigherCall *call, const AdjValue *parts, guint n, guint index, AdjValue *out)
{
  g_autofree AdjValue *items = g_new0 (AdjValue, n);
  guint n_none = 0;
  AdjTensor *tensor;

  *out = ADJ_NONE;
  for (guint i = 0; i < n; i++)
    {
      if (index >= parts[i].n)
        return adj_higher_fail (call, ADJ_ERROR_SHAPE, "entries give different numbers of values");
      items[i] = parts[i].items[index];
      n_none += items[i].kind == ADJ_VALUE_NONE;
    }
  if (n_none == n)
    return TRUE;
  if (n_none > 0)
    return adj_higher_fail (call, ADJ_ERROR_SHAPE, "value %u is None for some entries only", index);
  tensor = ADJ_APPLY (call->cx, ADJ_OP_stack,
                      (AdjValue){ .kind = ADJ_VALUE_LIST, .n = n, .items = items }, ADJ_INT (0));
  if (tensor != NULL)
    *out = ADJ_TENSOR (adj_tensor_ref (tensor));
  return tensor != NULL;
}

typedef struct
{
  const AdjHigherCall *call;
  gint64 length;
} Repeat;

/* Repeats a leaf along a new first dimension. */
static gboolean
repeat_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const Repeat *repeat = data;
  AdjContext *cx = repeat->call->cx;
  AdjValue sizes[ADJ_MAX_RANK + 1];
  AdjTensor *tensor;
  guint rank;

  *out = adj_value_copy (leaf);
  if (leaf->kind != ADJ_VALUE_TENSOR)
    return TRUE;
  adj_value_clear (out);
  rank = adj_tensor_get_meta (leaf->tensor)->shape.rank;
  tensor = ADJ_APPLY (cx, ADJ_OP_unsqueeze, *leaf, ADJ_INT (0));
  sizes[0] = ADJ_INT (repeat->length);
  for (guint i = 0; i < rank; i++)
    sizes[i + 1] = ADJ_INT (-1);
  if (tensor != NULL)
    tensor = ADJ_APPLY (cx, ADJ_OP_expand, ADJ_TENSOR (tensor),
                        (AdjValue){ .kind = ADJ_VALUE_LIST, .n = rank + 1, .items = sizes });
  if (tensor != NULL)
    tensor = adj_apply_clone_contiguous (cx, tensor);
  *out = tensor != NULL ? ADJ_TENSOR (adj_tensor_ref (tensor)) : ADJ_NONE;
  return tensor != NULL;
}

gboolean
higher_repeat (const AdjHigherCall *call, const AdjValue *value, gint64 length, AdjValue *out)
{
  gboolean done;

  adj_scope_begin (call->cx);
  done = adj_value_map (value, repeat_leaf, &(Repeat){ call, length }, out);
  adj_scope_end (call->cx);
  return done;
}
