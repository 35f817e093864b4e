/* SPDX-License-Identifier: MIT */

/* Operators that take graphs as arguments, and operators that switch the state of a context. */

#include "call/adj-context-internal.h"
#include "call/adj-mode.h"
#include "interpreter/adj-interpreter.h"
#include "interpreter/builtins-private.h"
#include "interpreter/habits-private.h"
#include "ir/adj-value-internal.h"

/* -- arguments -- */

/* Keywords of checkpoint() itself; all others are passed to the function. */
static const char *const checkpoint_keywords[] = {
  "use_reentrant", "context_fn", "determinism_check", "debug", "preserve_rng_state", NULL,
};

static void
append_pair (AdjValue *dict, const AdjValue *pair)
{
  dict->items = g_renew (AdjValue, dict->items, dict->n + 2);
  dict->items[dict->n++] = adj_value_copy (&pair[0]);
  dict->items[dict->n++] = adj_value_copy (&pair[1]);
}

void
adj_builtin_divide_kwargs (const AdjValue *kwargs, AdjValue *of_checkpoint, AdjValue *of_function)
{
  *of_checkpoint = *of_function = (AdjValue){ .kind = ADJ_VALUE_DICT };
  for (guint i = 0; kwargs != NULL && kwargs->kind == ADJ_VALUE_DICT && i + 1 < kwargs->n; i += 2)
    append_pair (kwargs->items[i].kind == ADJ_VALUE_STRING &&
                         g_strv_contains (checkpoint_keywords, kwargs->items[i].text)
                     ? of_checkpoint
                     : of_function,
                 &kwargs->items[i]);
}

/* A graph with its arguments: positional ones, then keyword arguments in order, as flattened by
 * the frontend. */
typedef struct
{
  AdjGraph *body; /* (unowned) */
  AdjValue args;  /* (owned): TUPLE */
} Region;

static gboolean
region_init (
    Region *self, AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs)
{
  guint n_kwargs = kwargs != NULL && kwargs->kind == ADJ_VALUE_DICT ? kwargs->n / 2 : 0;

  *self = (Region){ .args = { .kind = ADJ_VALUE_TUPLE } };
  if (n_args == 0 || args[0].kind != ADJ_VALUE_GRAPH)
    return adj_builtin_fail (cx, "the first argument must be a graph");
  self->body = (AdjGraph *) args[0].graph;
  self->args.n = n_args - 1 + n_kwargs;
  self->args.items = g_new0 (AdjValue, self->args.n + 1);
  for (guint i = 1; i < n_args; i++)
    self->args.items[i - 1] = adj_value_copy (&args[i]);
  for (guint i = 0; i < n_kwargs; i++)
    self->args.items[n_args - 1 + i] = adj_value_copy (&kwargs->items[2 * i + 1]);
  return TRUE;
}

static void
region_clear (Region *self)
{
  adj_value_clear (&self->args);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Region, region_clear)

static gboolean
region_run (const Region *self, AdjContext *cx, AdjValue *out)
{
  return adj_interpret (cx, self->body, self->args.items, self->args.n, NULL, out);
}

/* Runs the region through the outermost mode that supports checkpoints; without one, without a
 * checkpoint. */
static gboolean
region_checkpoint (const Region *self, AdjContext *cx, const AdjValue *kwargs, AdjValue *out)
{
  for (AdjMode *mode = adj_context_get_mode (cx); mode != NULL; mode = mode->below)
    if (mode->klass->checkpoint != NULL)
      {
        g_autoptr (AdjFunction) body = adj_graph_function_new (self->body);

        return mode->klass->checkpoint (mode, cx, body, &self->args, kwargs, out);
      }
  return region_run (self, cx, out);
}

/* -- the operators (interpreter/SPEC.md §5.2, interpreter/SPEC.md §5.3) -- */

/* torch.ops.higher_order.wrap (body, *args, **kwargs) */
gboolean
adj_builtin_run_region (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  g_auto (Region) region = { 0 };

  return region_init (&region, cx, args, n_args, kwargs) && region_run (&region, cx, out);
}

/* strict_mode (body, (args)), run_const_graph (body, (args)), hints_wrapper (body, (args),
 * {kwargs}): further arguments are hints for a compiler. */
gboolean
adj_builtin_run_packed (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  const AdjValue *keywords = n_args > 2 && args[2].kind == ADJ_VALUE_DICT ? &args[2] : NULL;
  g_autofree AdjValue *flat = NULL;

  if (n_args < 2 || !adj_value_is_container (&args[1]))
    return adj_builtin_fail (cx, "a graph and a tuple of its arguments are needed");
  flat = g_new (AdjValue, args[1].n + 1);
  flat[0] = args[0];
  for (guint i = 0; i < args[1].n; i++)
    flat[i + 1] = args[1].items[i];
  return adj_builtin_run_region (cx, flat, args[1].n + 1, keywords, out);
}

/* invoke_quant (body, *args, quant_options=…), foreach_map, local_map_hop: calls @args[0] with
 * the other arguments; keywords are options of the operator and are not passed to the body. */
gboolean
adj_builtin_run_operands (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  return adj_builtin_run_region (cx, args, n_args, NULL, out);
}

/* wrap_with_set_grad_enabled (enabled, body, *args, **kwargs): restores the grad mode, also
 * after an error. */
gboolean
adj_builtin_run_with_grad (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  gboolean before, done;

  if (n_args < 2 || args[0].kind != ADJ_VALUE_BOOL)
    return adj_builtin_fail (cx, "a bool and a graph are needed");
  before = adj_context_set_grad_enabled (cx, args[0].boolean);
  done = adj_builtin_run_region (cx, args + 1, n_args - 1, kwargs, out);
  adj_context_set_grad_enabled (cx, before);
  return done;
}

/* wrap_activation_checkpoint (body, *args, **kwargs): runs the body under a checkpoint. */
gboolean
adj_builtin_run_checkpointed (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  g_auto (AdjValue) of_checkpoint = ADJ_NONE;
  g_auto (AdjValue) of_body = ADJ_NONE;
  g_auto (Region) region = { 0 };

  adj_builtin_divide_kwargs (kwargs, &of_checkpoint, &of_body);
  return region_init (&region, cx, args, n_args, &of_body) &&
         region_checkpoint (&region, cx, &of_checkpoint, out);
}

/* Whether a body without a policy is run under a checkpoint; never in a trace. */
static gboolean
checkpoints_plainly (AdjContext *cx)
{
  return !adj_mode_is_traced (adj_context_get_mode (cx)) && habits_find (cx)->checkpoints_plainly;
}

/* tag_activation_checkpoint (body, *args, **kwargs): runs the body only, and in a trace tags its
 * nodes as recomputable; with a context_fn the body is checkpointed, and the policy tags each
 * call. */
gboolean
adj_builtin_run_tagged (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  g_auto (AdjValue) of_checkpoint = ADJ_NONE;
  g_auto (AdjValue) of_body = ADJ_NONE;
  AdjRegionTag tag = { .id = adj_context_next_region (cx),
                       .recompute = ADJ_RECOMPUTE_PREFER_RECOMPUTE };
  AdjRegionTag before;
  g_auto (Region) region = { 0 };
  const AdjValue *policy;
  gboolean done;

  adj_builtin_divide_kwargs (kwargs, &of_checkpoint, &of_body);
  policy = adj_value_find_member (&of_checkpoint, "context_fn");
  if (!region_init (&region, cx, args, n_args, &of_body))
    return FALSE;
  if (policy != NULL && policy->kind != ADJ_VALUE_NONE)
    tag.recompute = ADJ_RECOMPUTE_NONE;
  tag.is_again = adj_context_get_region (cx).is_again;
  before = adj_context_set_region (cx, tag);
  done = tag.recompute == ADJ_RECOMPUTE_NONE || checkpoints_plainly (cx)
             ? region_checkpoint (&region, cx, &of_checkpoint, out)
             : region_run (&region, cx, out);
  adj_context_set_region (cx, before);
  return done;
}

gboolean
adj_builtin_set_grad_enabled (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  if (n_args != 1 || args[0].kind != ADJ_VALUE_BOOL)
    return adj_builtin_fail (cx, "set_grad_enabled takes a bool");
  adj_context_set_grad_enabled (cx, args[0].boolean);
  *out = ADJ_NONE;
  return TRUE;
}

gboolean
adj_builtin_seed (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  if (n_args != 1 || args[0].kind != ADJ_VALUE_INT)
    return adj_builtin_fail (cx, "manual_seed takes an integer");
  adj_generator_seed (adj_context_get_generator (cx), (guint64) args[0].integer);
  *out = ADJ_NONE;
  return TRUE;
}

gboolean
adj_builtin_ignore (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  *out = ADJ_NONE;
  return TRUE;
}
