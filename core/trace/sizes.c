/* SPDX-License-Identifier: MIT */

/* Nodes for symbolic sizes: made when first read, from an input that is one, by reading a tensor's
 * metadata, or by computing them from others. */

#include <string.h>

#include "ir/adj-input-role.h"
#include "trace/tracer-private.h"

typedef struct
{
  const char *target; /* %NULL: @node is the size itself; else reads it from @node */
  AdjNodeId node;
  gint dim;      /* -1: @target has no dim */
  gboolean last; /* used only if there is no other source */
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

static gboolean
is_unary (AdjSizeOp op)
{
  return op == ADJ_SIZE_NEG || op == ADJ_SIZE_NOT;
}

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
    *known = (Source){ NULL, id, -1, FALSE };
  else if (known == NULL && !adj_size_is_int (size))
    insert (tracer, size, &(Source){ NULL, id, -1, FALSE });
}

void
adj_tracer_move_size (AdjTracer *tracer, AdjSize size, AdjNodeId from, AdjNodeId to)
{
  Source *known = adj_size_is_int (size) ? NULL : find (tracer, size);

  if (known != NULL && known->target == NULL && known->node.index == from.index)
    known->node = to;
}

static void
offer (AdjTracer *tracer, AdjSize size, const Source *source)
{
  Source *known = adj_size_is_int (size) ? NULL : find (tracer, size);

  if (known != NULL && known->last && !source->last)
    *known = *source;
  else if (known == NULL && !adj_size_is_int (size))
    insert (tracer, size, source);
}

/* Registers the sizes, strides and offset of node @id as sources of symbols.  Strides, offsets, and
 * the sizes of tangents, which forward does not have, are used only without another source. */
void
adj_tracer_offer_sizes (AdjTracer *tracer, const AdjTensorMeta *meta, AdjNodeId id)
{
  const AdjTracedNode *node = &g_array_index (tracer->nodes, AdjTracedNode, id.index);
  const AdjShape *shape = &meta->shape;
  gboolean is_tangent = node->opcode == ADJ_OPCODE_PLACEHOLDER &&
                        adj_input_role_from_target (node->name) == ADJ_INPUT_TANGENT;

  for (guint i = 0; i < shape->rank; i++)
    offer (tracer, shape->size[i], &(Source){ ATEN "sym_size.int", id, (gint) i, is_tangent });
  for (guint i = 0; i < shape->rank; i++)
    offer (tracer, shape->stride[i], &(Source){ ATEN "sym_stride.int", id, (gint) i, TRUE });
  if (tracer->formulas)
    offer (tracer, adj_shape_numel (shape, adj_context_get_symbols (tracer->cx)),
           &(Source){ ATEN "sym_numel.default", id, -1, FALSE });
  offer (tracer, shape->offset, &(Source){ ATEN "sym_storage_offset.default", id, -1, TRUE });
}

/* Adds a node for @size.  The name of a node that reads a tensor includes the overload. */
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

/* Whether @size can be computed from existing nodes. */
static gboolean
is_computable (AdjTracer *tracer, AdjSize size, guint depth)
{
  const Source *source = adj_size_is_int (size) ? NULL : find (tracer, size);
  AdjSizeOp op;
  AdjSize a, b;

  if (adj_size_is_int (size) || (source != NULL && !source->last))
    return TRUE;
  return depth < MAX_DEPTH &&
         adj_symbols_get_operands (adj_context_get_symbols (tracer->cx), size, &op, &a, &b) &&
         targets[op] != NULL && is_computable (tracer, a, depth + 1) &&
         (is_unary (op) || is_computable (tracer, b, depth + 1));
}

static AdjNodeId take (AdjTracer *tracer, AdjSize size);

static AdjValue
take_operand (AdjTracer *tracer, AdjSize size)
{
  return adj_size_is_int (size) ? ADJ_INT (size.word) : ADJ_NODE (take (tracer, size));
}

static AdjNodeId
add_computed (AdjTracer *tracer, AdjSize size)
{
  AdjSizeOp op = ADJ_SIZE_OPAQUE;
  AdjSize a = size, b = size;
  AdjValue args[2] = { ADJ_NONE, ADJ_NONE };

  adj_symbols_get_operands (adj_context_get_symbols (tracer->cx), size, &op, &a, &b);
  args[0] = take_operand (tracer, a);
  if (!is_unary (op))
    args[1] = take_operand (tracer, b);
  /* Products are stored with the number first, and differences as sums; programs write the number
   * last and subtract. */
  if ((op == ADJ_SIZE_ADD || op == ADJ_SIZE_MUL) && args[0].kind == ADJ_VALUE_INT)
    {
      AdjValue number = args[0];

      args[0] = args[1];
      args[1] = number;
    }
  if (op == ADJ_SIZE_ADD && args[1].kind == ADJ_VALUE_INT && args[1].integer < 0)
    {
      op = ADJ_SIZE_SUB;
      args[1].integer = -args[1].integer;
    }
  return add_size (tracer, targets[op], args, is_unary (op) ? 1 : 2, size);
}

/* The node of @size, which must be computable or have a source. */
static AdjNodeId
take (AdjTracer *tracer, AdjSize size)
{
  const Source *source = find (tracer, size);
  AdjValue args[2];

  if (source != NULL && source->target == NULL)
    return source->node;
  if (source == NULL || (source->last && is_computable (tracer, size, 0)))
    return add_computed (tracer, size);
  args[0] = ADJ_NODE (source->node);
  args[1] = ADJ_INT (source->dim);
  return add_size (tracer, source->target, args, source->dim < 0 ? 1 : 2, size);
}

gboolean
adj_tracer_take_size (AdjTracer *tracer, AdjSize size, AdjValue *out)
{
  g_autoptr (GString) text = NULL;

  if (adj_size_is_int (size) || find (tracer, size) != NULL || is_computable (tracer, size, 0))
    {
      *out = take_operand (tracer, size);
      return TRUE;
    }
  text = g_string_new (NULL);
  adj_size_print (adj_context_get_symbols (tracer->cx), size, text);
  adj_context_fail (tracer->cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                    "no input of the trace has the size '%s'", text->str);
  return FALSE;
}

void
adj_tracer_add_size (
    AdjTracer *tracer, const char *target, const AdjValue *args, guint n_args, AdjSize result)
{
  AdjValue taken[2];

  if (n_args > G_N_ELEMENTS (taken) ||
      (tracer->formulas && g_str_equal (target, targets[ADJ_SIZE_MUL])))
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
