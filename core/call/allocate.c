/* SPDX-License-Identifier: MIT */
/* Storage of results: views of arguments or new memory, within the memory limit; versions of
 * written arguments. */

#include <unistd.h>

#include "call/adj-allocate-internal.h"
#include "call/adj-op-internal.h"
#include "call/adj-schema-internal.h"
#include "tensor/adj-tensor-internal.h"

/* Sizes of an eager tensor are integers: symbols take the value of their hint. */
static gboolean
make_concrete (AdjOpCall *call, AdjShape *shape)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  gboolean known = TRUE;

  for (guint i = 0; i < shape->rank; i++)
    {
      known &= adj_size_get_hint (symbols, shape->size[i], &shape->size[i].word);
      known &= adj_size_get_hint (symbols, shape->stride[i], &shape->stride[i].word);
      known &= shape->size[i].word >= 0;
    }
  known &= adj_size_get_hint (symbols, shape->offset, &shape->offset.word);
  return known || adj_op_call_fail (call, "the size of a result is not known");
}

gsize
adj_op_extent (const AdjTensorMeta *meta)
{
  const AdjShape *shape = &meta->shape;
  gsize last = (gsize) shape->offset.word;

  for (guint i = 0; i < shape->rank; i++)
    {
      gsize steps;

      if (shape->size[i].word == 0)
        return 0;
      if (shape->stride[i].word < 0 ||
          !g_size_checked_mul (&steps, (gsize) shape->size[i].word - 1,
                               (gsize) shape->stride[i].word) ||
          !g_size_checked_add (&last, last, steps))
        return G_MAXSIZE;
    }
  if (shape->offset.word < 0 || !g_size_checked_add (&last, last, 1) ||
      !g_size_checked_mul (&last, last, MAX (adj_dtype_info (meta->dtype)->n_bytes, 1)))
    return G_MAXSIZE;
  return last;
}

/* Whether the results of a split count their own writes: those of "unsafe" splits, whose schema
 * declares no views. */
static gboolean
is_part_apart (const AdjOpCall *call)
{
  const AdjSchema *schema = adj_op_get_schema (call->op);

  return schema->n_returns == 1 && schema->returns[0].type.is_list && !adj_schema_is_view (schema);
}

static gboolean
allocate_view (AdjOpCall *call, AdjOpResult *result, gboolean fake)
{
  AdjTensor *base = adj_op_call_tensor (call, (guint) result->alias_of);
  AdjStorage *storage;

  if (base == NULL)
    return FALSE;
  storage = adj_tensor_get_storage (base);
  if (!fake && adj_op_extent (&result->meta) > adj_storage_get_n_bytes (storage))
    return adj_op_call_fail (call, "the view reaches outside the storage of its tensor");
  result->tensor = adj_tensor_new (&result->meta, storage);
  if (is_part_apart (call))
    adj_tensor_count_apart (result->tensor);
  else
    adj_tensor_share_version (result->tensor, base);
  return TRUE;
}

guint64
adj_op_memory (void)
{
  return (guint64) sysconf (_SC_PHYS_PAGES) * (guint64) sysconf (_SC_PAGESIZE);
}

gboolean
adj_op_call_check_memory (const AdjOpCall *call, const AdjTensorMeta *meta, gsize n_bytes)
{
  g_autoptr (GString) text = NULL;

  if (n_bytes <= adj_op_memory ())
    return TRUE;
  text = g_string_new (NULL);
  adj_tensor_meta_print (meta, adj_context_get_symbols (call->cx), text);
  return adj_op_call_fail_as (call, ADJ_ERROR_MEMORY,
                              "a result of %s does not fit in memory: %" G_GSIZE_FORMAT " bytes",
                              text->str, n_bytes);
}

static gboolean
allocate_fresh (AdjOpCall *call, AdjOpResult *result, gboolean fake)
{
  if (!fake && !adj_op_call_check_memory (call, &result->meta, adj_op_extent (&result->meta)))
    return FALSE;
  if (!fake)
    result->meta.device = ADJ_CPU;
  result->tensor = adj_tensor_new_empty (&result->meta, adj_context_get_symbols (call->cx), fake);
  return TRUE;
}

gboolean
adj_op_call_allocate (AdjOpCall *call, gboolean fake)
{
  for (guint i = 0; i < call->n_results; i++)
    {
      AdjOpResult *result = &call->results[i];
      const AdjType *type = &call->schema->returns[call->returns_list ? 0 : i].type;

      if (result->is_none)
        continue;
      if (type->written)
        {
          g_assert (result->alias_of >= 0);
          if (!fake && (call->op->flags & ADJ_OP_METADATA) != 0 &&
              !make_concrete (call, &result->meta.shape))
            return FALSE;
          result->tensor = adj_keep (adj_op_call_tensor (call, (guint) result->alias_of));
          continue;
        }
      if (!fake && !make_concrete (call, &result->meta.shape))
        return FALSE;
      if (!(result->alias_of >= 0 ? allocate_view : allocate_fresh) (call, result, fake))
        return FALSE;
    }
  return TRUE;
}

static void
bump_version (const AdjValue *value)
{
  if (value->kind == ADJ_VALUE_TENSOR)
    adj_tensor_bump_version (value->tensor);
  else if (adj_value_is_container (value))
    for (guint i = 0; i < value->n; i++)
      bump_version (&value->items[i]);
}

void
adj_op_call_bump_versions (AdjOpCall *call)
{
  const AdjOpFlags detaches = ADJ_OP_METADATA | ADJ_OP_NO_GRADIENT;

  if (!adj_schema_counts_writes (call->schema))
    return;
  if ((call->op->flags & detaches) == detaches)
    return; /* detach_ writes no elements */
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (call->schema->arguments[i].type.written)
      bump_version (&call->args[i]);
}
