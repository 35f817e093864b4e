/* SPDX-License-Identifier: MIT */
/* A table of rows that can be read and replaced, with the number of reads of each. */

#include "objects/object-state-private.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"

typedef struct
{
  AdjObject parent;
  AdjValue rows; /* [n, width] */
  AdjValue hits; /* int64 [n] */
} LookupTable;

/* Replaces the state @stored by @value; %NULL: the context is in error. */
static gboolean
replace (AdjValue *stored, AdjTensor *value)
{
  if (value == NULL)
    return FALSE;
  adj_value_clear (stored);
  *stored = adj_object_store (value);
  return TRUE;
}

static gboolean
lookup (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  LookupTable *self = (LookupTable *) object;
  AdjTensor *rows = adj_object_load (cx, &self->rows), *hits = adj_object_load (cx, &self->hits);
  AdjTensor *found, *ones;

  if (rows == NULL || hits == NULL)
    return FALSE;
  found = ADJ_APPLY (cx, ADJ_OP_index_select, ADJ_TENSOR (rows), ADJ_INT (0), args[0]);
  ones = found != NULL ? ADJ_APPLY (cx, ADJ_OP_ones_like, args[0]) : NULL;
  if (ones == NULL || !replace (&self->hits, ADJ_APPLY (cx, ADJ_OP_index_add, ADJ_TENSOR (hits),
                                                        ADJ_INT (0), args[0], ADJ_TENSOR (ones))))
    return FALSE;
  *result = ADJ_TENSOR (adj_keep (found));
  return TRUE;
}

static gboolean
update (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  LookupTable *self = (LookupTable *) object;
  AdjTensor *rows = adj_object_load (cx, &self->rows);
  AdjValue index = args[0];
  const AdjValue indices = { .kind = ADJ_VALUE_LIST, .n = 1, .items = &index };

  *result = ADJ_NONE;
  return rows != NULL && replace (&self->rows, ADJ_APPLY (cx, ADJ_OP_index_put, ADJ_TENSOR (rows),
                                                          indices, args[1]));
}

static gboolean
get_hits (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  return object_give_tensor (cx, &((LookupTable *) object)->hits, result);
}

static gboolean
get_rows (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  return object_give_tensor (cx, &((LookupTable *) object)->rows, result);
}

static gboolean
flatten (const AdjObject *object, AdjValue *state, GError **error)
{
  const LookupTable *self = (const LookupTable *) object;

  *state = adj_object_state_new ("rows", adj_value_copy (&self->rows), "hits",
                                 adj_value_copy (&self->hits), NULL);
  return TRUE;
}

static const AdjTensorMeta *
get_meta (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_DATA ? adj_tensor_data_get_meta (value->data)
                                       : adj_tensor_get_meta (value->tensor);
}

static gboolean
unflatten (AdjObject *object, const AdjValue *state, GError **error)
{
  LookupTable *self = (LookupTable *) object;
  const AdjValue *hits = adj_object_state_get (state, "hits");

  if (!object_read_tensor (state, "rows", &self->rows, error))
    return FALSE;
  if (get_meta (&self->rows)->shape.rank != 2)
    return object_refuse_state (error, "rows", "a tensor of two dimensions");
  if (hits != NULL && object_is_tensor (hits))
    self->hits = adj_value_copy (hits);
  else if (adj_shape_numel (&get_meta (&self->rows)->shape, NULL).word == 0)
    return object_refuse_state (error, "hits", "given where there are no elements");
  else
    {
      gint64 n = get_meta (&self->rows)->shape.size[0].word;
      g_autofree gint64 *none = g_new0 (gint64, (gsize) n + 1);

      self->hits = ADJ_DATA (adj_tensor_data_new_from_array (ADJ_DTYPE_I64, &n, 1, none, NULL));
    }
  if (get_meta (&self->hits)->dtype != ADJ_DTYPE_I64 || get_meta (&self->hits)->shape.rank != 1 ||
      !adj_size_same (get_meta (&self->hits)->shape.size[0], get_meta (&self->rows)->shape.size[0]))
    return object_refuse_state (error, "hits", "a count for each row");
  return TRUE;
}

static void
finalize (AdjObject *object)
{
  LookupTable *self = (LookupTable *) object;

  adj_value_clear (&self->rows);
  adj_value_clear (&self->hits);
}

static const AdjMethod methods[] = {
  { .schema = "lookup(Tensor index) -> Tensor",
    .help = "the rows of these numbers, each of which counts as a hit",
    .call = lookup },
  { .schema = "update(Tensor index, Tensor rows) -> ()",
    .help = "replaces the rows of these numbers",
    .call = update },
  { .schema = "hits() -> Tensor", .help = "how often each row was asked for", .call = get_hits },
  { .schema = "rows() -> Tensor", .help = "all rows", .call = get_rows },
};

const AdjObjectClass adj_class_lookup_table = {
  .name = "Adjoint::LookupTable",
  .help = "Rows that are looked up and replaced",
  .size = sizeof (LookupTable),
  .methods = methods,
  .n_methods = G_N_ELEMENTS (methods),
  .flatten = flatten,
  .unflatten = unflatten,
  .finalize = finalize,
  .fake = &adj_class_lookup_table,
};
