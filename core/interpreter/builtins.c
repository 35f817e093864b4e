/* SPDX-License-Identifier: MIT */
/* The table of Python functions in graphs that are no operators: getitem, sizes, arithmetic on
 * integers. */

#include <math.h>

#include "call/adj-object-call-internal.h"
#include "interpreter/adj-higher.h"
#include "interpreter/adj-interpreter.h"
#include "interpreter/builtins-private.h"
#include "ir/adj-own-ops-internal.h"
#include "ir/adj-target-internal.h"
#include "ops/adj-op-table.h"
#include "tensor/adj-symbols-internal.h"

enum
{
  LONGEST_LIST = 65536 /* that is made by repeating one */
};

const AdjOp *
adj_builtin_find_op (AdjContext *cx, const char *target)
{
  const AdjGraph *graph = adj_context_get_place (cx)->graph;

  return graph != NULL ? adj_graph_find_op (graph, target) : adj_op_find (target);
}

gboolean
adj_builtin_fail (AdjContext *cx, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list list;

  va_start (list, format);
  message = g_strdup_vprintf (format, list);
  va_end (list);
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "%s", message);
  return FALSE;
}

/* @list[start:stop:step]. */
static gboolean
cut (AdjContext *cx, const AdjValue *list, const AdjValue *slice, AdjValue *out)
{
  gint64 bounds[3] = { 0, list->n, 1 };

  if (!adj_value_is_container (list) || list->kind == ADJ_VALUE_DICT)
    return adj_builtin_fail (cx, "only lists and tuples can be cut");
  for (guint i = 0; i < 3; i++)
    if (slice->items[i].kind == ADJ_VALUE_INT)
      bounds[i] = slice->items[i].integer;
    else if (slice->items[i].kind != ADJ_VALUE_NONE)
      return adj_builtin_fail (cx, "a list is cut at integers");
  if (bounds[2] < 1)
    return adj_builtin_fail (cx, "a list is cut with a positive step");
  for (guint i = 0; i < 2; i++)
    bounds[i] = CLAMP (bounds[i] < 0 ? bounds[i] + list->n : bounds[i], 0, (gint64) list->n);
  *out = (AdjValue){ .kind = list->kind };
  out->items = g_new0 (AdjValue, MAX (list->n, 1));
  for (gint64 i = bounds[0]; i < bounds[1]; i += MIN (bounds[2], list->n))
    out->items[out->n++] = adj_value_copy (&list->items[i]);
  return TRUE;
}

static gboolean
setitem (AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  *out = ADJ_NONE;
  if (n_args != 3 || args[0].kind != ADJ_VALUE_TENSOR)
    return adj_builtin_fail (cx, "operator.setitem writes into a tensor");
  return adj_index_write (cx, args[0].tensor, &args[1], &args[2]);
}

static gboolean
getitem (AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  const AdjValue *object = &args[0], *index = &args[1];
  gint64 at;

  if (n_args != 2)
    return adj_builtin_fail (cx, "operator.getitem takes an object and an index");
  if (object->kind == ADJ_VALUE_TENSOR)
    return adj_index_read (cx, object->tensor, index, out);
  if (index->kind == ADJ_VALUE_SLICE)
    return cut (cx, object, index, out);
  if (object->kind == ADJ_VALUE_DICT)
    {
      for (guint i = 0; i + 1 < object->n; i += 2)
        if (adj_value_equal (&object->items[i], index))
          {
            *out = adj_value_copy (&object->items[i + 1]);
            return TRUE;
          }
      return adj_builtin_fail (cx, "operator.getitem: the dict has no such key");
    }
  if (object->kind != ADJ_VALUE_LIST && object->kind != ADJ_VALUE_TUPLE)
    return adj_builtin_fail (
        cx, "operator.getitem: only tensors, lists, tuples and dicts can be indexed");
  if (index->kind != ADJ_VALUE_INT)
    return adj_builtin_fail (cx, "operator.getitem: the index must be an integer");
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

/* Fails for a data-dependent float, which can only be passed to operators. */
static gboolean
refuse_float (AdjContext *cx, const AdjValue *arg)
{
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  g_autoptr (GString) text = NULL;

  if (arg->kind != ADJ_VALUE_SIZE || !adj_symbols_is_float (symbols, arg->size))
    return TRUE;
  text = g_string_new (NULL);
  adj_size_print (symbols, arg->size, text);
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                    "arithmetic outside of operators with the float %s, which data decide",
                    text->str);
  return FALSE;
}

/* Python's product of a list and a number. */
static gboolean
repeat_list (AdjContext *cx, const AdjValue *list, gint64 times, AdjValue *out)
{
  times = list->n == 0 ? 0 : MAX (times, 0);
  if (times > 0 && times > LONGEST_LIST / list->n)
    return adj_builtin_fail (cx, "a list of more than %d items", LONGEST_LIST);
  *out = (AdjValue){ .kind = list->kind, .n = list->n * (guint) times };
  out->items = g_new (AdjValue, out->n);
  for (guint i = 0; i < out->n; i++)
    out->items[i] = adj_value_copy (&list->items[i % list->n]);
  return TRUE;
}

static gboolean
size_operation (AdjContext *cx, AdjSizeOp op, const AdjValue *args, guint n_args, AdjValue *out)
{
  AdjSize a, b = ADJ_SIZE (0);

  if (op == ADJ_SIZE_MUL && n_args == 2 && adj_value_is_container (&args[0]) &&
      args[0].kind != ADJ_VALUE_DICT && args[1].kind == ADJ_VALUE_INT)
    return repeat_list (cx, &args[0], args[1].integer, out);
  for (guint i = 0; i < n_args; i++)
    if (!refuse_float (cx, &args[i]))
      return FALSE;
  for (guint i = 0; i < n_args; i++)
    if (args[i].kind == ADJ_VALUE_FLOAT)
      return adj_builtin_compute (cx, op, args, n_args, out);
  if (n_args < 1 || n_args > 2 || !adj_value_get_size (&args[0], &a) ||
      (n_args == 2 && !adj_value_get_size (&args[1], &b)))
    return adj_builtin_fail (cx,
                             "arithmetic outside of operators works on integers and sizes only");
  if (adj_size_is_int (b) && b.word == 0 && (op == ADJ_SIZE_FLOORDIV || op == ADJ_SIZE_MOD))
    return adj_builtin_fail (cx, "division of a size by zero");
  *out = adj_value_from_size (adj_size_apply (adj_context_get_symbols (cx), op, a, b));
  if (out->kind == ADJ_VALUE_INT && op >= ADJ_SIZE_EQ && op <= ADJ_SIZE_NOT)
    *out = ADJ_BOOL (out->integer != 0);
  return TRUE;
}

static gboolean
sym_sum (AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  AdjValue pair[2] = { ADJ_INT (0) };

  if (n_args != 1 || !adj_value_is_container (&args[0]))
    return adj_builtin_fail (cx, "torch.sym_sum takes a list of sizes");
  for (guint i = 0; i < args[0].n; i++)
    {
      pair[1] = args[0].items[i];
      if (!size_operation (cx, ADJ_SIZE_ADD, pair, 2, &pair[0]))
        return FALSE;
    }
  *out = pair[0];
  return TRUE;
}

/* The shape for functions that read a size, stride, number of elements or offset. */
static const AdjShape *
get_shape (AdjContext *cx, const AdjValue *args, guint n_args, guint n_wanted)
{
  if (n_args == n_wanted && args[0].kind == ADJ_VALUE_TENSOR)
    return &adj_tensor_get_meta (args[0].tensor)->shape;
  adj_builtin_fail (cx, "a size is read off a tensor");
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
    return adj_builtin_fail (cx, "the tensor has no such dimension");
  *out = adj_value_from_size (sizes[dim]);
  return TRUE;
}

static gboolean
sym_size (AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  const AdjShape *shape = get_shape (cx, args, n_args, 2);

  return shape != NULL && read_dim (cx, shape, shape->size, &args[1], out);
}

static gboolean
sym_stride (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  const AdjShape *shape = get_shape (cx, args, n_args, 2);

  return shape != NULL && read_dim (cx, shape, shape->stride, &args[1], out);
}

static gboolean
sym_numel (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  const AdjShape *shape = get_shape (cx, args, n_args, 1);

  if (shape != NULL)
    *out = adj_value_from_size (adj_shape_numel (shape, adj_context_get_symbols (cx)));
  return shape != NULL;
}

static gboolean
sym_storage_offset (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  const AdjShape *shape = get_shape (cx, args, n_args, 1);

  if (shape != NULL)
    *out = adj_value_from_size (shape->offset);
  return shape != NULL;
}

static gboolean
sym_is_contiguous (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  const AdjShape *shape = get_shape (cx, args, MIN (n_args, 1), 1);
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  AdjShape wanted;

  if (shape == NULL)
    return FALSE;
  if (n_args > 1 && args[1].kind == ADJ_VALUE_MEMORY_FORMAT &&
      args[1].format != ADJ_MEMORY_FORMAT_CONTIGUOUS)
    {
      wanted = *shape;
      *out = ADJ_BOOL (adj_shape_set_format (&wanted, symbols, args[1].format, NULL) &&
                       adj_shape_suggest_format (shape, symbols) == args[1].format);
    }
  else
    *out = ADJ_BOOL (adj_shape_is_contiguous (shape, symbols));
  return TRUE;
}

#define SIZE_BUILTINS                                                                              \
  SIZE_BUILTIN (add, "operator.add", ADJ_SIZE_ADD)                                                 \
  SIZE_BUILTIN (sub, "operator.sub", ADJ_SIZE_SUB)                                                 \
  SIZE_BUILTIN (mul, "operator.mul", ADJ_SIZE_MUL)                                                 \
  SIZE_BUILTIN (floordiv, "operator.floordiv", ADJ_SIZE_FLOORDIV)                                  \
  SIZE_BUILTIN (mod, "operator.mod", ADJ_SIZE_MOD)                                                 \
  SIZE_BUILTIN (power, "operator.pow", ADJ_SIZE_POW)                                               \
  SIZE_BUILTIN (neg, "operator.neg", ADJ_SIZE_NEG)                                                 \
  SIZE_BUILTIN (sym_min, "torch.sym_min", ADJ_SIZE_MIN)                                            \
  SIZE_BUILTIN (sym_max, "torch.sym_max", ADJ_SIZE_MAX)                                            \
  SIZE_BUILTIN (eq, "operator.eq", ADJ_SIZE_EQ)                                                    \
  SIZE_BUILTIN (ne, "operator.ne", ADJ_SIZE_NE)                                                    \
  SIZE_BUILTIN (lt, "operator.lt", ADJ_SIZE_LT)                                                    \
  SIZE_BUILTIN (le, "operator.le", ADJ_SIZE_LE)                                                    \
  SIZE_BUILTIN (gt, "operator.gt", ADJ_SIZE_GT)                                                    \
  SIZE_BUILTIN (ge, "operator.ge", ADJ_SIZE_GE)                                                    \
  SIZE_BUILTIN (sym_not, "torch.sym_not", ADJ_SIZE_NOT)

#define SIZE_BUILTIN(id, target, op)                                                               \
  static gboolean id##_sizes (AdjContext *cx, const AdjValue *args, guint n_args,                  \
                              const AdjValue *kwargs, AdjValue *out)                               \
  {                                                                                                \
    return size_operation (cx, op, args, n_args, out);                                             \
  }
SIZE_BUILTINS
#undef SIZE_BUILTIN

#define MATH_BUILTINS                                                                              \
  MATH_BUILTIN (sqrt)                                                                              \
  MATH_BUILTIN (exp)                                                                               \
  MATH_BUILTIN (log)                                                                               \
  MATH_BUILTIN (log2)                                                                              \
  MATH_BUILTIN (sin)                                                                               \
  MATH_BUILTIN (cos)                                                                               \
  MATH_BUILTIN (tanh)

#define MATH_BUILTIN(id)                                                                           \
  static gboolean id##_number (AdjContext *cx, const AdjValue *args, guint n_args,                 \
                               const AdjValue *kwargs, AdjValue *out)                              \
  {                                                                                                \
    return adj_builtin_apply_math (cx, id, args, n_args, out);                                     \
  }
MATH_BUILTINS
#undef MATH_BUILTIN

/* Python's `not` for a number or size. */
static gboolean
not_ (AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  if (n_args == 1 && (args[0].kind == ADJ_VALUE_BOOL || args[0].kind == ADJ_VALUE_FLOAT))
    return adj_builtin_compute (cx, ADJ_SIZE_NOT, args, 1, out);
  return size_operation (cx, ADJ_SIZE_NOT, args, n_args, out);
}

static gboolean
length (AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  if (n_args == 1 && args[0].kind == ADJ_VALUE_TENSOR)
    return adj_builtin_find_method ("__len__")->call (cx, args, 1, NULL, out);
  if (n_args != 1 || !adj_value_is_container (&args[0]))
    return adj_builtin_fail (cx, "this has no length");
  *out = ADJ_INT (args[0].kind == ADJ_VALUE_DICT ? args[0].n / 2 : args[0].n);
  return TRUE;
}

/* Returns the argument. */
static gboolean
same (AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  if (n_args < 1)
    return adj_builtin_fail (cx, "an argument is missing");
  *out = adj_value_copy (&args[0]);
  return TRUE;
}

static const AdjBuiltin builtins[] = {
  { "operator.getitem", getitem },
  { "operator.setitem", setitem },
  { "getattr", adj_builtin_getattr },
  { "len", length },
  { "torch.Size", same },
  { "torch.ops.aten._local_scalar_dense.default", adj_builtin_item },
  { "torch.ops.aten.item.default", adj_builtin_item },
  { "torch.as_tensor", adj_builtin_as_tensor },
  { "torch.tensor", adj_builtin_tensor },
  { "operator.index", same },
  { "torch.sym_int", adj_builtin_trunc },
  { "torch.sym_float", adj_builtin_float },
  { "operator.truediv", adj_builtin_truediv },
  { "math.trunc", adj_builtin_trunc },
  { "torch.sym_sum", sym_sum },
  { "torch.ops.higher_order.autograd_function_apply", adj_builtin_apply_function },
  { ADJ_TARGET_REGISTER_HOOK, adj_builtin_register_hook },
  { "torch.ops.higher_order.tag_activation_checkpoint", adj_builtin_run_tagged },
  { "torch.ops.higher_order.wrap", adj_builtin_run_region },
  { "torch.ops.higher_order.strict_mode", adj_builtin_run_packed },
  { "torch.ops.higher_order.hints_wrapper", adj_builtin_run_packed },
  { "torch.ops.higher_order.run_const_graph", adj_builtin_run_packed },
  { "torch.ops.higher_order.foreach_map", adj_builtin_run_operands },
  { "torch.ops.higher_order.invoke_quant", adj_builtin_run_operands },
  { "torch.ops.higher_order.invoke_quant_packed", adj_builtin_run_operands },
  { "torch.ops.higher_order.local_map_hop", adj_builtin_run_operands },
  { "torch.ops.higher_order.wrap_activation_checkpoint", adj_builtin_run_checkpointed },
  { "torch.ops.higher_order.wrap_with_set_grad_enabled", adj_builtin_run_with_grad },
  { "torch.ops.higher_order.wrap_with_autocast", adj_builtin_run_with_autocast },
  { "torch._C._set_grad_enabled", adj_builtin_set_grad_enabled },
  { "torch.set_grad_enabled", adj_builtin_set_grad_enabled },
  { "torch.manual_seed", adj_builtin_seed },
  { "torch.random.manual_seed", adj_builtin_seed },
  { "torch.amp.autocast_mode._enter_autocast", adj_builtin_enter_autocast },
  { "torch.amp.autocast_mode._exit_autocast", adj_builtin_exit_autocast },
  { "torch.autograd.function.FunctionCtx", adj_builtin_ignore },
  { "torch.functional.broadcast_shapes", adj_builtin_broadcast_shapes },
  { "torch.broadcast_shapes", adj_builtin_broadcast_shapes },
  { "torch._check", adj_builtin_check },
  { "torch._assert", adj_builtin_ignore },
  { "torch._check_is_size", adj_builtin_check_is_size },
  { "torch._C._log_api_usage_once", adj_builtin_ignore },
  { "torch.ops.aten.sym_size.int", sym_size },
  { "torch.ops.aten.sym_stride.int", sym_stride },
  { "torch.ops.aten.sym_numel.default", sym_numel },
  { "torch.ops.aten.sym_storage_offset.default", sym_storage_offset },
  { "torch.ops.aten.sym_is_contiguous.default", sym_is_contiguous },
  { ADJ_TARGET_WITH_EFFECTS, adj_builtin_with_effects },
  { ADJ_TARGET_CALL_TORCHBIND, adj_builtin_call_torchbind },
  { "torch.ops.higher_order.run_and_save_rng_state", adj_builtin_run_and_save_rng_state },
  { "torch.ops.higher_order.run_with_rng_state", adj_builtin_run_with_rng_state },
  { ADJ_TARGET_CALL_HOOK, adj_builtin_call_object },
  { ADJ_TARGET_CALL_BACKWARD, adj_builtin_call_object },
  { ADJ_TARGET_FINAL_CALLBACKS, adj_builtin_ignore },
  { ADJ_TARGET_SELF_INVOKE, adj_builtin_self_invoke },
  { ADJ_TARGET_ACCUMULATE, adj_builtin_accumulate },
  { ADJ_TARGET_CALL_ACCUMULATE, adj_builtin_call_accumulate },
  { "torch._dynamo.compiled_autograd.ops.AccumulateGrad", adj_builtin_accumulate_node },
  { "torch._dynamo.external_utils.unwrap_maybe_dynamic_int", adj_builtin_unwrap_size },
  { "torch._dynamo.compiled_autograd.ops.validate_outputs", adj_builtin_validate_outputs },
  { "torch._dynamo.compiled_autograd.copy_slices_prologue", adj_builtin_copy_slices_prologue },
  { "torch._dynamo.compiled_autograd.copy_slices_epilogue", adj_builtin_copy_slices_epilogue },
  { "torch._dynamo.compiled_autograd.call_aot_bwd_prologue", adj_builtin_aot_prologue },
  { "torch._functorch.predispatch.lazy_load_decompositions", adj_builtin_ignore },
  { "torch._functorch.predispatch._vmap_increment_nesting", adj_builtin_begin_batch },
  { "torch._functorch.predispatch._vmap_decrement_nesting", adj_builtin_end_level },
  { "torch._functorch.predispatch._jvp_increment_nesting", adj_builtin_begin_forward },
  { "torch._functorch.predispatch._jvp_decrement_nesting", adj_builtin_end_level },
  { "torch._functorch.predispatch._enter_dual_level", adj_builtin_ignore },
  { "torch._functorch.predispatch._exit_dual_level", adj_builtin_ignore },
  { "torch._functorch.predispatch._make_dual", adj_builtin_make_dual },
  { "torch._functorch.predispatch._unpack_dual", adj_builtin_unpack_dual },
  { "torch._functorch.predispatch._add_batch_dim", adj_builtin_add_batch_dim },
  { "torch._functorch.predispatch._remove_batch_dim", adj_builtin_remove_batch_dim },
  { "torch._functorch.predispatch._unwrap_for_grad", adj_builtin_unwrap_for_grad },
  { "torch._functorch.vmap.lazy_load_decompositions", adj_builtin_ignore },
  { "torch._C._functorch._vmap_increment_nesting", adj_builtin_begin_batch },
  { "torch._C._functorch._vmap_decrement_nesting", adj_builtin_end_level },
  { "torch._C._functorch._add_batch_dim", adj_builtin_add_batch_dim },
  { "torch._C._functorch._remove_batch_dim", adj_builtin_remove_batch_dim },
  { "torch._C._functorch._grad_increment_nesting", adj_builtin_begin_gradients },
  { "torch._C._functorch._grad_decrement_nesting", adj_builtin_end_level },
  { "torch._C._functorch._wrap_for_grad", adj_builtin_wrap_for_grad },
  { "torch._C._functorch._unwrap_for_grad", adj_builtin_unwrap_for_grad },
  { "torch._C._functorch.set_inplace_requires_grad_allowed", adj_builtin_ignore },
  { "torch._C._functorch._jvp_increment_nesting", adj_builtin_begin_forward },
  { "torch._C._functorch._jvp_decrement_nesting", adj_builtin_end_level },
  { "torch._C._set_fwd_grad_enabled", adj_builtin_ignore },
  { "torch._C._enter_dual_level", adj_builtin_ignore },
  { "torch._C._exit_dual_level", adj_builtin_ignore },
  { "torch.autograd.forward_ad._maybe_load_decompositions", adj_builtin_ignore },
  { "torch._VF._make_dual", adj_builtin_make_dual },
  { "torch._VF._unpack_dual", adj_builtin_unpack_dual },
  { "torch._make_dual", adj_builtin_make_dual },
  { "torch._unpack_dual", adj_builtin_unpack_dual },
  { "torch._functorch.eager_transforms._set_tensor_requires_grad", adj_builtin_track_gradient },
  { "torch._functorch.eager_transforms._autograd_grad", adj_builtin_differentiate },
  { "torch._C._autograd._saved_tensors_hooks_disable", adj_builtin_ignore },
  { "torch._C._autograd._saved_tensors_hooks_enable", adj_builtin_ignore },
  { "torch.ops.higher_order.flex_attention", adj_builtin_flex_attention },
  { "torch.ops.higher_order.flex_attention_backward", adj_builtin_flex_attention_backward },
  { "torch.ops.flex_lib.zeros_and_scatter.default", adj_builtin_zeros_and_scatter },
  { "operator.not_", not_ },
#define SIZE_BUILTIN(id, target, op) { target, id##_sizes },
  SIZE_BUILTINS
#undef SIZE_BUILTIN
#define MATH_BUILTIN(id) { "math." #id, id##_number }, { "torch._sym_" #id, id##_number },
      MATH_BUILTINS
#undef MATH_BUILTIN
};

const char *
adj_interpreter_get_function (guint index)
{
  guint n = G_N_ELEMENTS (builtins);

  if (index < n)
    return builtins[index].target;
  return index - n < adj_higher_get_n () ? adj_higher_get (index - n)->target : NULL;
}

const AdjBuiltin *
adj_builtin_find (const char *target)
{
  for (guint i = 0; i < G_N_ELEMENTS (builtins); i++)
    if (g_str_equal (builtins[i].target, target))
      return &builtins[i];
  return NULL;
}
