/* SPDX-License-Identifier: MIT */
#include "interpreter/builtins-private.h"

static gboolean
fail (AdjContext *cx, const char *what)
{
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "%s", what);
  return FALSE;
}

static gboolean
getitem (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *out)
{
  const AdjValue *object = &args[0], *index = &args[1];
  gint64 at;

  if (n_args != 2)
    return fail (cx, "operator.getitem takes an object and an index");
  if (object->kind == ADJ_VALUE_DICT)
    {
      for (guint i = 0; i + 1 < object->n; i += 2)
        if (adj_value_equal (&object->items[i], index))
          {
            *out = adj_value_copy (&object->items[i + 1]);
            return TRUE;
          }
      return fail (cx, "operator.getitem: the dict has no such key");
    }
  if (object->kind != ADJ_VALUE_LIST && object->kind != ADJ_VALUE_TUPLE)
    return fail (cx, "operator.getitem: only lists, tuples and dicts can be indexed");
  if (index->kind != ADJ_VALUE_INT)
    return fail (cx, "operator.getitem: the index must be an integer");
  at = index->integer < 0 ? index->integer + object->n : index->integer;
  if (at < 0 || at >= object->n)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "operator.getitem: index %" G_GINT64_FORMAT " of %u results",
                        index->integer, object->n);
      return FALSE;
    }
  *out = adj_value_copy (&object->items[at]);
  return TRUE;
}

static gboolean
size_operation (AdjContext *cx, AdjSizeOp op, const AdjValue *args, guint n_args, AdjValue *out)
{
  AdjSize a, b = ADJ_SIZE (0);

  if (n_args < 1 || n_args > 2 || !adj_value_get_size (&args[0], &a) ||
      (n_args == 2 && !adj_value_get_size (&args[1], &b)))
    return fail (cx, "arithmetic outside of operators works on integers and sizes only");
  if (adj_size_is_int (b) && b.word == 0 && (op == ADJ_SIZE_FLOORDIV || op == ADJ_SIZE_MOD))
    return fail (cx, "division of a size by zero");
  *out = adj_value_from_size (adj_size_apply (adj_context_get_symbols (cx), op, a, b));
  return TRUE;
}

/* What graphs read off tensors: a size, a stride, the number of elements, the offset. */
static const AdjShape *
get_shape (AdjContext *cx, const AdjValue *args, guint n_args, guint n_wanted)
{
  if (n_args == n_wanted && args[0].kind == ADJ_VALUE_TENSOR)
    return &adj_tensor_get_meta (args[0].tensor)->shape;
  fail (cx, "a size is read off a tensor");
  return NULL;
}

static gboolean
read_dim (AdjContext *cx,
          const AdjShape *shape,
          const AdjSize *sizes,
          const AdjValue *index,
          AdjValue *out)
{
  gint dim = index->kind == ADJ_VALUE_INT ? adj_shape_wrap_dim (shape, index->integer) : -1;

  if (dim < 0 || (guint) dim >= shape->rank)
    return fail (cx, "the tensor has no such dimension");
  *out = adj_value_from_size (sizes[dim]);
  return TRUE;
}

static gboolean
sym_size (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *out)
{
  const AdjShape *shape = get_shape (cx, args, n_args, 2);

  return shape != NULL && read_dim (cx, shape, shape->size, &args[1], out);
}

static gboolean
sym_stride (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *out)
{
  const AdjShape *shape = get_shape (cx, args, n_args, 2);

  return shape != NULL && read_dim (cx, shape, shape->stride, &args[1], out);
}

static gboolean
sym_numel (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *out)
{
  const AdjShape *shape = get_shape (cx, args, n_args, 1);

  if (shape != NULL)
    *out = adj_value_from_size (adj_shape_numel (shape, adj_context_get_symbols (cx)));
  return shape != NULL;
}

static gboolean
sym_storage_offset (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *out)
{
  const AdjShape *shape = get_shape (cx, args, n_args, 1);

  if (shape != NULL)
    *out = adj_value_from_size (shape->offset);
  return shape != NULL;
}

#define SIZE_BUILTINS                                                                              \
  SIZE_BUILTIN (add, "operator.add", ADJ_SIZE_ADD)                                                 \
  SIZE_BUILTIN (sub, "operator.sub", ADJ_SIZE_SUB)                                                 \
  SIZE_BUILTIN (mul, "operator.mul", ADJ_SIZE_MUL)                                                 \
  SIZE_BUILTIN (floordiv, "operator.floordiv", ADJ_SIZE_FLOORDIV)                                  \
  SIZE_BUILTIN (mod, "operator.mod", ADJ_SIZE_MOD)                                                 \
  SIZE_BUILTIN (neg, "operator.neg", ADJ_SIZE_NEG)                                                 \
  SIZE_BUILTIN (sym_min, "torch.sym_min", ADJ_SIZE_MIN)                                            \
  SIZE_BUILTIN (sym_max, "torch.sym_max", ADJ_SIZE_MAX)

#define SIZE_BUILTIN(id, target, op)                                                               \
  static gboolean id##_sizes (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *out)   \
  {                                                                                                \
    return size_operation (cx, op, args, n_args, out);                                             \
  }
SIZE_BUILTINS
#undef SIZE_BUILTIN

static const AdjBuiltin builtins[] = {
  { "operator.getitem", getitem, NULL },
  { "torch.ops.aten.sym_size.int", sym_size, NULL },
  { "torch.ops.aten.sym_stride.int", sym_stride, NULL },
  { "torch.ops.aten.sym_numel.default", sym_numel, NULL },
  { "torch.ops.aten.sym_storage_offset.default", sym_storage_offset, NULL },
  { "torch.ops.higher_order.run_and_save_rng_state", NULL, adj_builtin_run_and_save_rng_state },
  { "torch.ops.higher_order.run_with_rng_state", NULL, adj_builtin_run_with_rng_state },
#define SIZE_BUILTIN(id, target, op) { target, id##_sizes, NULL },
  SIZE_BUILTINS
#undef SIZE_BUILTIN
};

const AdjBuiltin *
adj_builtin_find (const char *target)
{
  for (guint i = 0; i < G_N_ELEMENTS (builtins); i++)
    if (g_str_equal (builtins[i].target, target))
      return &builtins[i];
  return NULL;
}
