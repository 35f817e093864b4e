/* SPDX-License-Identifier: MIT */

/* Python's x[…]: integers select, slices slice, None inserts a dimension, and then tensors index.
 */

#include "interpreter/builtins-private.h"
#include "interpreter/habits-private.h"
#include "ops/adj-op-id.h"
#include "ops/adj-op-table.h"
#include "rules/adj-apply.h"
#include "tensor/adj-symbols-internal.h"

typedef struct
{
  AdjContext *cx;
  gboolean writes;
  AdjTensor *tensor;              /* (unowned): the tensor after the entries applied so far */
  guint dim;                      /* the next one to be indexed */
  gboolean several;               /* the index is a tuple */
  guint n_missing;                /* dimensions that no entry names */
  gboolean indexed;               /* whether there are tensors in @indices */
  AdjValue indices[ADJ_MAX_RANK]; /* by dimension: NONE or TENSOR */
} Indexing;

static gboolean
set (Indexing *x, AdjTensor *tensor)
{
  x->tensor = tensor;
  return tensor != NULL;
}

static gboolean
check_dim (Indexing *x, guint n)
{
  if (x->dim + n <= adj_tensor_get_rank (x->tensor))
    return TRUE;
  return adj_builtin_fail (x->cx, "too many indices for a tensor of %u dimensions",
                           adj_tensor_get_rank (x->tensor));
}

static gboolean
take_number (Indexing *x, const AdjValue *entry)
{
  return check_dim (x, 1) && set (x, ADJ_APPLY (x->cx, ADJ_OP_select_int, ADJ_TENSOR (x->tensor),
                                                ADJ_INT (x->dim), *entry));
}

/* With several indices PyTorch skips a slice whose explicit end is the size: x[0:8, 1] of 8, but
 * not x[:, 1]. */
static gboolean
is_whole (const Indexing *x, const AdjValue *start, const AdjValue *stop, const AdjValue *step)
{
  AdjSize size = adj_tensor_get_meta (x->tensor)->shape.size[x->dim], end;

  if (start->kind != ADJ_VALUE_INT || start->integer != 0 || step->kind != ADJ_VALUE_INT ||
      step->integer != 1)
    return FALSE;
  if (habits_find (x->cx)->drops_whole && stop->kind == ADJ_VALUE_INT &&
      adj_symbols_is_at_most (adj_context_get_symbols (x->cx), size, stop->integer))
    return TRUE;
  return x->several && adj_value_get_size (stop, &end) && adj_size_same (size, end);
}

static gboolean
take_slice (Indexing *x, const AdjValue *entry)
{
  AdjValue start = entry->items[0], stop = entry->items[1], step = entry->items[2];

  if (start.kind == ADJ_VALUE_NONE)
    start = ADJ_INT (0);
  if (stop.kind == ADJ_VALUE_NONE)
    stop = ADJ_INT (G_MAXINT64);
  if (step.kind == ADJ_VALUE_NONE)
    step = ADJ_INT (1);
  if (!check_dim (x, 1))
    return FALSE;
  if ((x->several || x->writes) && is_whole (x, &start, &stop, &step))
    {
      x->dim++;
      return TRUE;
    }
  return set (x, ADJ_APPLY (x->cx, ADJ_OP_slice_Tensor, ADJ_TENSOR (x->tensor), ADJ_INT (x->dim++),
                            start, stop, step));
}

static gboolean
take_none (Indexing *x, const AdjValue *entry)
{
  return set (x, ADJ_APPLY (x->cx, ADJ_OP_unsqueeze, ADJ_TENSOR (x->tensor), ADJ_INT (x->dim++)));
}

static gboolean
take_ellipsis (Indexing *x, const AdjValue *entry)
{
  x->dim += x->n_missing;
  return TRUE;
}

/* A mask indexes as many dimensions as its rank. */
static guint
count_dims (const AdjValue *entry)
{
  if (entry->kind == ADJ_VALUE_NONE || entry->kind == ADJ_VALUE_ELLIPSIS)
    return 0;
  if (entry->kind == ADJ_VALUE_TENSOR &&
      adj_tensor_get_meta (entry->tensor)->dtype == ADJ_DTYPE_BOOL)
    return adj_tensor_get_rank (entry->tensor);
  return 1;
}

static gboolean
take_tensor (Indexing *x, const AdjValue *entry)
{
  guint n = count_dims (entry);

  if (n == 0)
    return adj_builtin_fail (x->cx, "an index that is a single bool is not known");
  if (!check_dim (x, n))
    return FALSE;
  x->indices[x->dim] = *entry;
  x->indexed = TRUE;
  x->dim += n;
  return TRUE;
}

/* Makes a tensor of a list of numbers; an empty list has the default dtype. */
static gboolean
take_list (Indexing *x, const AdjValue *entry)
{
  AdjValue words[2] = { { .kind = ADJ_VALUE_STRING, .n = 5, .text = "dtype" },
                        ADJ_DTYPE (ADJ_DTYPE_I64) };
  const AdjValue integers = { .kind = ADJ_VALUE_DICT, .n = 2, .items = words };
  AdjValue made;

  if (!adj_builtin_tensor (x->cx, entry, 1, entry->n == 0 ? &integers : &ADJ_NONE, &made))
    return FALSE;
  return take_tensor (x, &ADJ_TENSOR (adj_scope_add (x->cx, made.tensor)));
}

static gboolean
refuse (Indexing *x, const AdjValue *entry)
{
  return adj_builtin_fail (x->cx, "a tensor cannot be indexed by %s",
                           adj_value_kind_name (entry->kind));
}

static gboolean (*const take[ADJ_N_VALUE_KINDS]) (Indexing *x, const AdjValue *entry) = {
  [ADJ_VALUE_INT] = take_number,        [ADJ_VALUE_SIZE] = take_number,
  [ADJ_VALUE_SLICE] = take_slice,       [ADJ_VALUE_NONE] = take_none,
  [ADJ_VALUE_ELLIPSIS] = take_ellipsis, [ADJ_VALUE_TENSOR] = take_tensor,
  [ADJ_VALUE_LIST] = take_list,
};

/* PyTorch treats a list with entries other than numbers and lists as a tuple. */
static gboolean
is_several (const AdjValue *index)
{
  gboolean several = index->kind == ADJ_VALUE_TUPLE;

  for (guint i = 0; index->kind == ADJ_VALUE_LIST && i < index->n; i++)
    several |= index->items[i].kind == ADJ_VALUE_SLICE || index->items[i].kind == ADJ_VALUE_NONE ||
               index->items[i].kind == ADJ_VALUE_ELLIPSIS ||
               index->items[i].kind == ADJ_VALUE_TENSOR;
  return several;
}

/* Applies the indices that make views; tensor indices are collected in @x. */
static gboolean
view (Indexing *x, const AdjValue *index)
{
  gboolean several = is_several (index);
  const AdjValue *entries = several ? index->items : index;
  guint n = several ? index->n : 1;
  guint n_named = 0;

  for (guint i = 0; i < n; i++)
    n_named += count_dims (&entries[i]);
  if (n_named > adj_tensor_get_rank (x->tensor))
    return adj_builtin_fail (x->cx, "%u indices for a tensor of %u dimensions", n_named,
                             adj_tensor_get_rank (x->tensor));
  x->several = several;
  x->n_missing = adj_tensor_get_rank (x->tensor) - n_named;
  for (guint i = 0; i < n; i++)
    if (!(take[entries[i].kind] != NULL ? take[entries[i].kind] : refuse) (x, &entries[i]))
      return FALSE;
  return TRUE;
}

static AdjValue
list_indices (Indexing *x)
{
  guint n = MIN (x->dim, ADJ_MAX_RANK);

  while (n > 0 && x->indices[n - 1].kind == ADJ_VALUE_NONE)
    n--;
  return (AdjValue){ .kind = ADJ_VALUE_LIST, .n = n, .items = x->indices };
}

gboolean
adj_index_read (AdjContext *cx, AdjTensor *tensor, const AdjValue *index, AdjValue *out)
{
  Indexing x = { .cx = cx, .tensor = tensor };

  if (!view (&x, index))
    return FALSE;
  if (x.indexed)
    set (&x, ADJ_APPLY (cx, ADJ_OP_index_Tensor, ADJ_TENSOR (x.tensor), list_indices (&x)));
  else if (x.tensor == tensor)
    set (&x, ADJ_APPLY (cx, ADJ_OP_alias, ADJ_TENSOR (tensor)));
  *out = ADJ_TENSOR (adj_keep (x.tensor));
  return x.tensor != NULL;
}

static gboolean
is_literal (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_INT || value->kind == ADJ_VALUE_FLOAT ||
         value->kind == ADJ_VALUE_BOOL;
}

/* A number as a 0-d tensor: a constant on the CPU, as in Python. */
static AdjTensor *
as_tensor (AdjContext *cx, const AdjTensor *like, const AdjValue *value)
{
  const AdjTensorMeta *meta = adj_tensor_get_meta (like);
  AdjValue words[4] = { { .kind = ADJ_VALUE_STRING, .n = 5, .text = "dtype" },
                        ADJ_DTYPE (meta->dtype),
                        { .kind = ADJ_VALUE_STRING, .n = 6, .text = "device" },
                        { .kind = ADJ_VALUE_DEVICE, .device = meta->device } };
  const AdjValue kwargs = { .kind = ADJ_VALUE_DICT, .n = 4, .items = words };
  AdjValue result;

  if (value->kind == ADJ_VALUE_TENSOR)
    return value->tensor;
  if (is_literal (value) && meta->device.type == ADJ_DEVICE_CPU)
    return adj_builtin_tensor (cx, value, 1, &kwargs, &result) ? adj_scope_add (cx, result.tensor)
                                                               : NULL;
  if (!adj_call (cx, adj_op (ADJ_OP_scalar_tensor),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = (AdjValue *) value },
                 &kwargs, &result))
    return NULL;
  return result.tensor;
}

/* @source without leading dimensions of size 1. */
static AdjTensor *
strip (AdjContext *cx, AdjTensor *source, gboolean always)
{
  const AdjShape *shape = &adj_tensor_get_meta (source)->shape;
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  AdjValue sizes[ADJ_MAX_RANK];
  guint first = 0;

  while (first < shape->rank && adj_size_is (symbols, shape->size[first], 1))
    first++;
  if (first == 0 && !always)
    return source;
  for (guint i = first; i < shape->rank; i++)
    sizes[i - first] = adj_value_from_size (shape->size[i]);
  return ADJ_APPLY (cx, ADJ_OP_view, ADJ_TENSOR (source),
                    (AdjValue){ .kind = ADJ_VALUE_LIST, .n = shape->rank - first, .items = sizes });
}

static gboolean
call_in_place (AdjContext *cx, const char *op, AdjValue *args, guint n)
{
  AdjValue result;

  return adj_call (cx, adj_op_find (op),
                   &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n, .items = args }, NULL, &result);
}

/* @target[...] = @source, broadcast. */
static gboolean
copy (AdjContext *cx, AdjTensor *target, AdjTensor *source)
{
  const AdjShape *to = &adj_tensor_get_meta (target)->shape;
  const AdjTensorMeta *from = adj_tensor_get_meta (source);
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  AdjValue sizes[ADJ_MAX_RANK];

  if (!adj_shape_same_sizes (to, &from->shape, symbols))
    {
      if (from->shape.rank == 0 && from->device.type == ADJ_DEVICE_CPU)
        return call_in_place (cx, "torch.ops.aten.fill_.Tensor",
                              (AdjValue[]){ ADJ_TENSOR (target), ADJ_TENSOR (source) }, 2);
      source = strip (cx, source, TRUE);
      if (source == NULL)
        return FALSE;
      if (!adj_shape_same_sizes (to, &adj_tensor_get_meta (source)->shape, symbols))
        {
          for (guint i = 0; i < to->rank; i++)
            sizes[i] = adj_value_from_size (to->size[i]);
          source = ADJ_APPLY (cx, ADJ_OP_expand, ADJ_TENSOR (source),
                              (AdjValue){ .kind = ADJ_VALUE_LIST, .n = to->rank, .items = sizes });
        }
    }
  return source != NULL &&
         ADJ_APPLY (cx, ADJ_OP_copy_, ADJ_TENSOR (target), ADJ_TENSOR (source)) != NULL;
}

/* The only tensor index; %NULL if there are several. @dim (out): the first dimension that it
 * indexes. */
static AdjTensor *
find_only_index (const Indexing *x, guint *dim)
{
  AdjTensor *only = NULL;

  for (guint i = 0; i < ADJ_MAX_RANK; i++)
    if (x->indices[i].kind == ADJ_VALUE_TENSOR)
      {
        if (only != NULL)
          return NULL;
        only = x->indices[i].tensor;
        *dim = i;
      }
  return only;
}

/* Writes a number to the part that @x selects. @done (out): %FALSE if that needs a tensor. */
static gboolean
write_number (Indexing *x, const AdjValue *number, gboolean *done)
{
  AdjContext *cx = x->cx;
  AdjTensor *index;
  AdjDType dtype;
  guint dim = 0, behind;

  *done = TRUE;
  if (!x->indexed)
    return call_in_place (cx, "torch.ops.aten.fill_.Scalar",
                          (AdjValue[]){ ADJ_TENSOR (x->tensor), *number }, 2);
  index = find_only_index (x, &dim);
  dtype = index != NULL ? adj_tensor_get_meta (index)->dtype : ADJ_DTYPE_NONE;
  if (dtype == ADJ_DTYPE_BOOL)
    {
      behind = adj_tensor_get_rank (x->tensor) - dim - adj_tensor_get_rank (index);
      for (guint i = 0; i < behind && index != NULL; i++)
        index = ADJ_APPLY (cx, ADJ_OP_unsqueeze, ADJ_TENSOR (index), ADJ_INT (-1));
      return index != NULL &&
             call_in_place (cx, "torch.ops.aten.masked_fill_.Scalar",
                            (AdjValue[]){ ADJ_TENSOR (x->tensor), ADJ_TENSOR (index), *number }, 3);
    }
  if (dtype == ADJ_DTYPE_I64)
    {
      if (adj_tensor_get_rank (index) > 1)
        index = ADJ_APPLY (cx, ADJ_OP_view, ADJ_TENSOR (index),
                           ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = 1, .items = &ADJ_INT (-1) }));
      return index != NULL && call_in_place (cx, "torch.ops.aten.index_fill_.int_Scalar",
                                             (AdjValue[]){ ADJ_TENSOR (x->tensor), ADJ_INT (dim),
                                                           ADJ_TENSOR (index), *number },
                                             4);
    }
  *done = FALSE;
  return TRUE;
}

gboolean
adj_index_write (AdjContext *cx, AdjTensor *tensor, const AdjValue *index, const AdjValue *value)
{
  Indexing x = { .cx = cx, .tensor = tensor, .writes = TRUE };
  gboolean stays = is_literal (value) && habits_find (cx)->fills, done = FALSE;
  AdjTensor *source = stays ? NULL : as_tensor (cx, tensor, value);

  if ((source == NULL && !stays) || !view (&x, index))
    return FALSE;
  if (stays)
    {
      if (!write_number (&x, value, &done) || done)
        return done && !adj_context_has_error (cx);
      source = as_tensor (cx, tensor, value);
      if (source == NULL)
        return FALSE;
    }
  if (!x.indexed)
    return copy (cx, x.tensor, source);
  source = strip (cx, source, FALSE);
  return source != NULL &&
         call_in_place (
             cx, "torch.ops.aten.index_put_.default",
             (AdjValue[]){ ADJ_TENSOR (x.tensor), list_indices (&x), ADJ_TENSOR (source) }, 3);
}
