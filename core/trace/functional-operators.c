/* SPDX-License-Identifier: MIT */
/* Operators under functionalization: each class of them is handled in one way (trace/SPEC.md §2.2).
 */

#include "call/adj-context-internal.h"
#include "call/adj-mode.h"
#include "call/adj-op-internal.h"
#include "call/adj-schema-internal.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "rules/adj-rule.h"
#include "tensor/adj-tensor-internal.h"
#include "trace/functional-private.h"

/* A call below the mode: the user's call or its functional form, on values. */
typedef struct
{
  AdjValue args[ADJ_MAX_ARGUMENTS];
  guint64 owned; /* bit i: args[i] is a copy */
  AdjOpCall call;
} Below;

/* -- arguments ---- */

static gboolean
is_plain (const AdjValue *leaf, gpointer data)
{
  return leaf->kind != ADJ_VALUE_TENSOR || functional_find (leaf->tensor) == NULL;
}

static gboolean
is_no_tensor (const AdjValue *leaf, gpointer data)
{
  return leaf->kind != ADJ_VALUE_TENSOR;
}

/* Whether no argument has a leaf that fails @test. */
static gboolean
all_leaves (const AdjOpCall *call, AdjValueFunc test)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (!adj_value_foreach (&call->args[i], test, NULL))
      return FALSE;
  return TRUE;
}

static gboolean
sync_leaf (const AdjValue *leaf, gpointer data)
{
  return is_plain (leaf, NULL) || functional_sync (data, leaf->tensor);
}

static gboolean
unwrap_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  *out = is_plain (leaf, NULL)
             ? adj_value_copy (leaf)
             : adj_value_copy (&ADJ_TENSOR (functional_find (leaf->tensor)->value));
  return TRUE;
}

/* Runs @op on the current values of the arguments of @call; stale views are recreated first. */
static gboolean
run_below (Below *below, AdjMode *mode, const AdjOpCall *call, const AdjOp *op)
{
  const AdjSchema *schema = adj_op_get_schema (op);
  gboolean fresh = adj_op_is_view (op);

  for (guint i = 0; i < schema->n_arguments; i++)
    {
      below->args[i] = call->args[i];
      if (is_no_tensor (&call->args[i], NULL) && !adj_value_is_container (&call->args[i]))
        continue;
      if (!fresh && !adj_value_foreach (&call->args[i], sync_leaf, call->cx))
        return FALSE;
      adj_value_map (&call->args[i], unwrap_leaf, NULL, &below->args[i]);
      below->owned |= G_GUINT64_CONSTANT (1) << i;
    }
  below->call = (AdjOpCall){
    .cx = call->cx,
    .op = op,
    .schema = schema,
    .args = below->args,
    .returns_list = schema->n_returns == 1 && schema->returns[0].type.is_list,
    .token = call->token,
    .new_token = call->new_token,
  };
  if (call->token != NULL && functional_find (call->token) != NULL)
    below->call.token = functional_find (call->token)->value;
  return adj_mode_call_below (mode, &below->call);
}

static void
below_clear (Below *below)
{
  for (guint i = 0; i < ADJ_MAX_ARGUMENTS; i++)
    if (((below->owned >> i) & 1) != 0)
      adj_value_clear (&below->args[i]);
  adj_op_call_clear (&below->call);
}

/* -- results ---- */

/* @tensor: (transfer full) (nullable) */
static AdjOpResult *
add_result (AdjOpCall *call, AdjTensor *tensor)
{
  AdjOpResult *result;

  if (tensor == NULL)
    return adj_op_call_add_none (call);
  result = adj_op_call_add (call, adj_tensor_get_meta (tensor)->dtype,
                            &adj_tensor_get_meta (tensor)->shape);
  result->meta = *adj_tensor_get_meta (tensor);
  result->tensor = tensor;
  return result;
}

static AdjTensor *
wrap_result (const AdjOpResult *result)
{
  return result->is_none || result->tensor == NULL ? NULL : functional_wrap (result->tensor);
}

/* -- classes of operators ---- */

static gboolean
call_pure (AdjMode *mode, AdjOpCall *call)
{
  Below below = { .owned = 0 };
  gboolean done = run_below (&below, mode, call, call->op);

  for (guint i = 0; done && i < below.call.n_results; i++)
    add_result (call, wrap_result (&below.call.results[i]));
  below_clear (&below);
  return done;
}

/* The index of the first tensor, which a view operator views. */
static guint
find_base (const AdjOpCall *call)
{
  guint arg = 0;

  while (call->args[arg].kind != ADJ_VALUE_TENSOR)
    arg++;
  return arg;
}

/* (nullable): with two_detaches, the result of detach detached once more, and again if the program
 * called it. */
static AdjTensor *
detach_again (AdjMode *mode, const AdjOpCall *call, AdjTensor *value)
{
  AdjMode *entry;

  if (!((FunctionalMode *) mode)->two_detaches || call->op != adj_op (ADJ_OP_detach))
    return value;
  entry = adj_context_set_entry (call->cx, mode->below);
  value = ADJ_APPLY (call->cx, ADJ_OP_detach, ADJ_TENSOR (value));
  if (!adj_context_is_keeping (call->cx))
    value = ADJ_APPLY (call->cx, ADJ_OP_detach, ADJ_TENSOR (value));
  adj_context_set_entry (call->cx, entry);
  return value;
}

static gboolean
call_view (AdjMode *mode, AdjOpCall *call)
{
  Below below = { .owned = 0 };
  guint arg = find_base (call);
  AdjTensor *base = call->args[arg].tensor;
  gboolean done = run_below (&below, mode, call, call->op);

  for (guint i = 0; done && i < below.call.n_results; i++)
    {
      g_autoptr (AdjViewChain) chain =
          adj_view_chain_append (functional_find (base)->chain, call->op, call->args, i);
      AdjTensor *value = detach_again (mode, call, below.call.results[i].tensor);

      done = value != NULL;
      if (done)
        add_result (call, functional_wrap_view (base, value, chain))->alias_of = (gint) arg;
    }
  below_clear (&below);
  return done;
}

/* The new value of @target, cast to its dtype: statistics may be computed in another one. */
static AdjTensor *
in_dtype_of (AdjContext *cx, AdjTensor *target, AdjTensor *value)
{
  AdjDType dtype = adj_tensor_get_meta (target)->dtype;
  AdjValue words[] = {
    { .kind = ADJ_VALUE_STRING, .n = 5, .text = "dtype" },
    ADJ_DTYPE (dtype),
    { .kind = ADJ_VALUE_STRING, .n = 6, .text = "layout" },
    { .kind = ADJ_VALUE_LAYOUT, .layout = ADJ_LAYOUT_STRIDED },
  };
  AdjValue result;

  if (adj_tensor_get_meta (value)->dtype == dtype)
    return value;
  return adj_call (cx, adj_op (ADJ_OP__to_copy),
                   &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &ADJ_TENSOR (value) },
                   &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = 4, .items = words }, &result)
             ? result.tensor
             : NULL;
}

/* Writes @value into @target, an argument that the call writes; does nothing if that is no tensor.
 */
static gboolean
write_one (AdjOpCall *call, const AdjValue *target, const AdjOpResult *value)
{
  AdjTensor *written;

  if (target->kind != ADJ_VALUE_TENSOR)
    return TRUE;
  if (functional_find (target->tensor) == NULL)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED,
                                "mutates a tensor that no trace knows with one that it does");
  if (value == NULL || value->tensor == NULL)
    return adj_op_call_fail (call, "its form that does not write has too few results");
  written = in_dtype_of (call->cx, target->tensor, value->tensor);
  if (written == NULL || !functional_write (call->cx, target->tensor, written))
    return FALSE;
  if (adj_schema_counts_writes (call->schema))
    adj_tensor_bump_version (target->tensor);
  return TRUE;
}

/* Gives the written arguments their new values, which start at @values. */
static gboolean
write_arguments (AdjOpCall *call, const AdjOpResult *values, guint n)
{
  guint at = 0;

  for (guint i = 0; i < call->schema->n_arguments; i++)
    {
      const AdjValue *value = &call->args[i];
      const AdjValue *items = adj_value_is_container (value) ? value->items : value;
      guint n_items = adj_value_is_container (value) ? value->n : 1;

      if (!call->schema->arguments[i].type.written)
        continue;
      for (guint k = 0; k < n_items; k++)
        if (!write_one (call, &items[k], at < n ? &values[at++] : NULL))
          return FALSE;
    }
  return TRUE;
}

/* Sets the results: written arguments are returned themselves, other results come from @fresh. */
static void
put_results (AdjOpCall *call, const AdjOpResult *fresh)
{
  for (guint i = 0; i < call->n_results; i++)
    {
      AdjOpResult *result = &call->results[i];

      if (call->schema->returns[i].type.written)
        result->tensor = adj_keep (call->args[result->alias_of].tensor);
      else
        result->tensor = wrap_result (fresh++);
      if (result->tensor != NULL)
        result->meta = *adj_tensor_get_meta (result->tensor);
    }
}

/* Infers the call by the shape rule of the in-place form first, for its errors. */
static gboolean
call_write (AdjMode *mode, AdjOpCall *call)
{
  const AdjOp *functional = adj_op_get_functional (call->op);
  Below below = { .owned = 0 };
  guint n_fresh = 0;
  gboolean done;

  if (functional == NULL)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "has no form that does not write");
  if (!adj_op_call_infer (call))
    return FALSE;
  for (guint i = 0; i < call->schema->n_returns; i++)
    n_fresh += !call->schema->returns[i].type.written;
  done = run_below (&below, mode, call, functional) &&
         write_arguments (call, below.call.results + n_fresh, below.call.n_results - n_fresh);
  if (done)
    put_results (call, below.call.results);
  below_clear (&below);
  return done;
}

/* -- what changes metadata ---- */

static gboolean
return_self (AdjOpCall *call, AdjTensor *self)
{
  adj_tensor_bump_version (self);
  add_result (call, adj_tensor_ref (self))->alias_of = 0;
  return TRUE;
}

/* Applies @view to self in place. */
static gboolean
turn (AdjMode *mode, AdjOpCall *call, AdjOpCall *view)
{
  AdjTensor *self = call->args[0].tensor;
  g_autoptr (AdjViewChain) chain = NULL;
  Below below = { .owned = 0 };
  gboolean done = run_below (&below, mode, view, view->op);

  if (done)
    {
      chain = adj_view_chain_append (functional_find (self)->chain, view->op, view->args, 0);
      functional_turn (call->cx, self, below.call.results[0].tensor, chain);
      done = return_self (call, self);
    }
  below_clear (&below);
  return done;
}

static gboolean
call_set (AdjOpCall *call)
{
  AdjTensor *self = call->args[0].tensor, *source = call->args[1].tensor;

  if (functional_find (self) == NULL || functional_find (source) == NULL)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED,
                                "mixes a tensor that no trace knows with one that it does");
  functional_tell (call->cx, functional_find (self)->storage, ADJ_TAPE_SET, NULL,
                   functional_find (self)->chain);
  functional_become (self, source);
  return return_self (call, self);
}

/* Handles a resize_ beyond the storage: gives the tensor a storage of its own; fails where another
 * tensor shares the old one. */
static gboolean
grow (AdjMode *mode, AdjOpCall *call)
{
  AdjTensor *self = call->args[0].tensor;
  Below below = { .owned = 0 };
  gboolean done = run_below (&below, mode, call, adj_op (ADJ_OP_resize));

  if (done && !functional_replace_storage (self, below.call.results[0].tensor))
    done = adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED,
                                "to more elements than its storage holds, of a view or of a tensor "
                                "that has views, cannot be functionalized");
  below_clear (&below);
  return done && return_self (call, self);
}

/* resize_ to fewer elements: a view of the start of the storage. */
static gboolean
call_resize (AdjMode *mode, AdjOpCall *call)
{
  AdjTensor *self = call->args[0].tensor;
  const Functional *functional = functional_find (self);
  g_autoptr (AdjArena) arena = adj_arena_new ();
  AdjOpCall view = { .cx = call->cx, .op = adj_op (ADJ_OP_as_strided) };
  AdjValue args[4] = { ADJ_TENSOR (self), ADJ_NONE, ADJ_NONE, ADJ_NONE };
  AdjTensorMeta meta;
  gboolean fits;

  if (!adj_op_call_infer (call) || !functional_sync (call->cx, self))
    return FALSE;
  meta = call->results[0].meta;
  fits = adj_op_extent (&meta) <= adj_storage_get_n_bytes (functional->storage->storage);
  args[1] = adj_rule_list_sizes (arena, meta.shape.size, meta.shape.rank);
  args[2] = adj_rule_list_sizes (arena, meta.shape.stride, meta.shape.rank);
  adj_op_call_clear (call);
  if (!fits)
    return grow (mode, call);
  view.schema = adj_op_get_schema (view.op);
  view.args = args;
  return turn (mode, call, &view);
}

/* Handles resize_ of a storage. Records no node: an input is resized at the end, when its value is
 * written back. */
static gboolean
call_resize_storage (AdjOpCall *call)
{
  const Functional *functional = functional_find (call->args[0].tensor);

  if (!adj_op_call_infer (call) ||
      !functional_storage_resize (functional->storage, call->cx,
                                  (gsize) adj_op_call_size (call, 1, ADJ_SIZE (0)).word))
    return FALSE;
  functional_tell (call->cx, functional->storage, ADJ_TAPE_RESIZE, NULL, functional->chain);
  return TRUE;
}

static gboolean
call_metadata (AdjMode *mode, AdjOpCall *call)
{
  const AdjOp *functional = adj_op_get_functional (call->op);
  AdjOpCall view = *call;

  if (call->op == adj_op (ADJ_OP_set__source_Tensor))
    return call_set (call);
  if (call->op == adj_op (ADJ_OP_resize_))
    return call_resize (mode, call);
  if (functional == NULL || !adj_op_is_view (functional))
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "has no form that does not write");
  view.op = functional;
  view.schema = adj_op_get_schema (functional);
  return turn (mode, call, &view);
}

/* -- the mode ---- */

static gboolean
dispatch (AdjMode *mode, AdjOpCall *call)
{
  gboolean writes = adj_schema_mutates (call->schema);

  if (all_leaves (call, is_plain))
    {
      /* Calls on tensors unknown to the trace: new results are wrapped, since they may be written
       * later together with traced ones. */
      if (writes || adj_op_is_view (call->op))
        return adj_mode_call_below (mode, call);
      return call_pure (mode, call);
    }
  if (call->op == adj_op (ADJ_OP_inductor_resize_storage_bytes_))
    return call_resize_storage (call);
  if ((call->op->flags & ADJ_OP_METADATA) != 0)
    return call_metadata (mode, call);
  if (writes)
    return call_write (mode, call);
  return adj_op_is_view (call->op) ? call_view (mode, call) : call_pure (mode, call);
}

gboolean
functional_call (AdjMode *mode, AdjOpCall *call)
{
  AdjMode *entry = adj_context_set_entry (call->cx, mode->below);
  gboolean done = dispatch (mode, call);

  adj_context_set_entry (call->cx, entry);
  return done;
}
