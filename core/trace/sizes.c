/* SPDX-License-Identifier: MIT */

/* Nodes for symbolic sizes: made when they are first read, from an input that is one, by reading
 * them off a tensor, or by computing them from others. */

#include <string.h>

#include "trace/tracer-private.h"

typedef struct
{
  const char *target; /* %NULL: @node is the size itself; else how to read it off @node */
  AdjNodeId node;
  gint dim; /* -1: @target takes none */
} Source;

#define MAX_DEPTH 64
#define ATEN "torch.ops.aten."

static const char *const targets[ADJ_N_SIZE_OPS] = {
  [ADJ_SIZE_ADD] = "operator.add",  [ADJ_SIZE_SUB] = "operator.sub",
  [ADJ_SIZE_MUL] = "operator.mul",  [ADJ_SIZE_FLOORDIV] = "operator.floordiv",
  [ADJ_SIZE_MOD] = "operator.mod",  [ADJ_SIZE_POW] = "operator.pow",
  [ADJ_SIZE_MIN] = "torch.sym_min", [ADJ_SIZE_MAX] = "torch.sym_max",
  [ADJ_SIZE_EQ] = "operator.eq",    [ADJ_SIZE_NE] = "operator.ne",
  [ADJ_SIZE_LT] = "operator.lt",    [ADJ_SIZE_LE] = "operator.le",
  [ADJ_SIZE_GT] = "operator.gt",    [ADJ_SIZE_GE] = "operator.ge",
  [ADJ_SIZE_AND] = "operator.and_", [ADJ_SIZE_OR] = "operator.or_",
  [ADJ_SIZE_NOT] = "torch.sym_not", [ADJ_SIZE_NEG] = "operator.neg",
  [ADJ_SIZE_OPAQUE] = NULL,
};

static Source *
find (AdjTracer *tracer, AdjSize size)
{
  return g_hash_table_lookup (tracer->sizes, &size.word);
}

static void
insert (AdjTracer *tracer, AdjSize size, const Source *source)
{
  gint64 *key = adj_arena_memdup (tracer->temporary, &size.word, sizeof size.word);

  g_hash_table_insert (tracer->sizes, key,
                       adj_arena_memdup (tracer->temporary, source, sizeof *source));
}

void
adj_tracer_bind_size (AdjTracer *tracer, AdjSize size, AdjNodeId id)
{
  Source *known = adj_size_is_int (size) ? NULL : find (tracer, size);

  if (known != NULL && known->target != NULL)
    *known = (Source){ NULL, id, -1 };
  else if (known == NULL && !adj_size_is_int (size))
    insert (tracer, size, &(Source){ NULL, id, -1 });
}

static void
offer (AdjTracer *tracer, AdjSize size, const char *target, AdjNodeId id, gint dim)
{
  if (!adj_size_is_int (size) && find (tracer, size) == NULL)
    insert (tracer, size, &(Source){ target, id, dim });
}

void
adj_tracer_offer_sizes (AdjTracer *tracer, const AdjTensorMeta *meta, AdjNodeId id)
{
  const AdjShape *shape = &meta->shape;

  for (guint i = 0; i < shape->rank; i++)
    {
      offer (tracer, shape->size[i], "torch.ops.aten.sym_size.int", id, (gint) i);
      offer (tracer, shape->stride[i], "torch.ops.aten.sym_stride.int", id, (gint) i);
    }
  offer (tracer, shape->offset, "torch.ops.aten.sym_storage_offset.default", id, -1);
}

/* A node that is @size.  One that reads it off a tensor has its overload in its name. */
static AdjNodeId
add_size (AdjTracer *tracer, const char *target, const AdjValue *args, guint n, AdjSize size)
{
  AdjTracedNode node = {
    .opcode = ADJ_OPCODE_CALL_FUNCTION,
    .only_if_read = TRUE,
    .target = target,
    .val = adj_value_from_size (size),
  };
  const char *stem = g_str_has_prefix (target, ATEN) ? target + strlen (ATEN) : NULL;
  AdjNodeId id;

  node.args = ADJ_ITEMS (TUPLE, adj_arena_memdup (tracer->arena, args, sizeof *args * n), n);
  id = adj_tracer_add (tracer, &node, stem);
  adj_tracer_bind_size (tracer, size, id);
  return id;
}

static gboolean
take (AdjTracer *tracer, AdjSize size, AdjValue *out, guint depth)
{
  AdjSymbols *symbols = adj_context_get_symbols (tracer->cx);
  g_autoptr (GString) text = NULL;
  Source *source;
  AdjValue args[2];
  AdjSizeOp op;
  AdjSize a, b;

  *out = adj_value_from_size (size);
  if (adj_size_is_int (size))
    return TRUE;

  source = find (tracer, size);
  if (source != NULL && source->target != NULL)
    {
      args[0] = ADJ_NODE (source->node);
      args[1] = ADJ_INT (source->dim);
      add_size (tracer, source->target, args, source->dim < 0 ? 1 : 2, size);
    }
  if (source != NULL)
    {
      *out = ADJ_NODE (source->node);
      return TRUE;
    }
  if (depth < MAX_DEPTH && adj_symbols_get_operands (symbols, size, &op, &a, &b) &&
      targets[op] != NULL)
    {
      guint n = op == ADJ_SIZE_NEG || op == ADJ_SIZE_NOT ? 1 : 2;

      if (!take (tracer, a, &args[0], depth + 1) ||
          (n == 2 && !take (tracer, b, &args[1], depth + 1)))
        return FALSE;
      /* Sums and products are kept with the number first; programs write it last. */
      if ((op == ADJ_SIZE_ADD || op == ADJ_SIZE_MUL) && args[0].kind == ADJ_VALUE_INT)
        {
          AdjValue number = args[0];

          args[0] = args[1];
          args[1] = number;
        }
      *out = ADJ_NODE (add_size (tracer, targets[op], args, n, size));
      return TRUE;
    }

  text = g_string_new (NULL);
  adj_size_print (symbols, size, text);
  adj_context_fail (tracer->cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                    "no input of the trace has the size '%s'", text->str);
  return FALSE;
}

gboolean
adj_tracer_take_size (AdjTracer *tracer, AdjSize size, AdjValue *out)
{
  return take (tracer, size, out, 0);
}

void
adj_tracer_add_size (
    AdjTracer *tracer, const char *target, const AdjValue *args, guint n_args, AdjSize result)
{
  AdjValue taken[2];

  if (n_args > G_N_ELEMENTS (taken))
    return;
  for (guint i = 0; i < n_args; i++)
    if (!adj_tracer_take (tracer, &args[i], &taken[i]))
      return;
  add_size (tracer, adj_arena_intern (tracer->arena, target), taken, n_args, result);
}

void
adj_tracer_add_item (AdjTracer *tracer, const char *target, AdjTensor *tensor, AdjSize size)
{
  AdjTracedNode node = {
    .opcode = ADJ_OPCODE_CALL_FUNCTION,
    .target = target,
    .val = adj_value_from_size (size),
  };
  AdjValue *arg;

  arg = adj_arena_new0 (tracer->arena, AdjValue, 1);
  if (!adj_tracer_take_tensor (tracer, tensor, arg))
    return;
  node.args = ADJ_ITEMS (TUPLE, arg, 1);
  adj_tracer_bind_size (tracer, size, adj_tracer_add (tracer, &node, NULL));
}
