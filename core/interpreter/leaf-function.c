/* SPDX-License-Identifier: MIT */
/* invoke_leaf_function (real, fake, spec, written, *args): a function of the program that a trace
 * does not enter. */

#include "interpreter/effect-ops-private.h"
#include "ir/adj-graph.h"

/* -- functions and specs as objects -- */

typedef struct
{
  AdjOpaque parent;
  AdjFunction *function; /* (owned) */
} LeafFunction;

static gboolean
leaf_call (AdjOpaque *object,
           AdjContext *cx,
           const AdjValue *args,
           guint n_args,
           const AdjValue *kwargs,
           AdjValue *out)
{
  return adj_function_call (((LeafFunction *) object)->function, cx, args, n_args, out);
}

static void
leaf_finalize (AdjOpaque *object)
{
  adj_function_unref (((LeafFunction *) object)->function);
}

static const AdjOpaqueClass leaf_class = {
  .name = "leaf function",
  .attribute = "_opaque_obj",
  .call = leaf_call,
  .finalize = leaf_finalize,
};

AdjOpaque *
adj_leaf_function_new (AdjFunction *function)
{
  LeafFunction *self;

  g_return_val_if_fail (function != NULL, NULL);

  self = (LeafFunction *) adj_opaque_new (&leaf_class, sizeof *self);
  self->function = adj_function_ref (function);
  return &self->parent;
}

static gboolean
is_here (const AdjValue *function)
{
  return function->kind == ADJ_VALUE_OPAQUE_OBJECT && function->object->klass->call != NULL;
}

gboolean
adj_leaf_function_call (
    AdjContext *cx, const AdjValue *function, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjValue given = ADJ_NONE;

  g_return_val_if_fail (cx != NULL && function != NULL && result != NULL, FALSE);

  if (!is_here (function))
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                        "invoke_leaf_function calls a function of the process that the graph was "
                        "made in, which is not here");
      return FALSE;
    }
  if (!function->object->klass->call (function->object, cx, args, n_args, &ADJ_NONE, &given))
    return FALSE;
  *result =
      given.kind == ADJ_VALUE_TUPLE ? given : adj_value_new_items (ADJ_VALUE_TUPLE, &given, 1);
  return TRUE;
}

typedef struct
{
  AdjOpaque parent;
  guint n;
} TreeSpec;

static gboolean
spec_equal (const AdjOpaque *a, const AdjOpaque *b)
{
  return ((const TreeSpec *) a)->n == ((const TreeSpec *) b)->n;
}

static gboolean
spec_is_value (const AdjOpaque *object)
{
  return TRUE;
}

static const AdjOpaqueClass spec_class = {
  .name = "tree spec",
  .attribute = "_tree_spec_constant",
  .equal = spec_equal,
  .is_value = spec_is_value,
};

gboolean
adj_is_tree_spec (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_OPAQUE_OBJECT && value->object->klass == &spec_class;
}

AdjOpaque *
adj_tree_spec_new (guint n)
{
  TreeSpec *self = (TreeSpec *) adj_opaque_new (&spec_class, sizeof *self);

  self->n = n;
  return &self->parent;
}

/* -- the operator -- */

/* Calls the object in argument @index with the arguments of the function. */
static gboolean
call_function (AdjEffectCall *call, guint index)
{
  return adj_leaf_function_call (call->cx, &call->args[index], call->args + ADJ_LEAF_N_BEFORE,
                                 call->n_args - ADJ_LEAF_N_BEFORE, &call->result);
}

static gboolean
check (const AdjEffectCall *call)
{
  const AdjValue *written;

  if (call->n_args < ADJ_LEAF_N_BEFORE)
    return adj_effect_call_fail (call, ADJ_ERROR_SHAPE, "takes two functions, a spec and a text");
  written = &call->args[ADJ_LEAF_WRITTEN];
  return (written->kind == ADJ_VALUE_STRING && written->n == 0) ||
         adj_effect_call_fail (call, ADJ_ERROR_UNSUPPORTED,
                               "functions that write to their arguments are not run");
}

static gboolean
leaf_run (AdjEffectCall *call)
{
  return check (call) && call_function (call, ADJ_LEAF_REAL);
}

#define MAX_RESULTS 4096

/* The index of the result of @node, a call of @op, that @user reads; -1: none. */
static gint64
get_index (const AdjNode *user, const AdjNode *node, const AdjEffectOp *op)
{
  gint64 first = g_str_equal (node->target, op->target) ? 0 : 1, index;

  if (user->opcode != ADJ_OPCODE_CALL_FUNCTION || !g_str_equal (user->target, "operator.getitem") ||
      user->args.n != 2 || user->args.items[1].kind != ADJ_VALUE_INT)
    return -1;
  index = user->args.items[1].integer - first;
  return index < MAX_RESULTS ? index : -1;
}

/* Makes fake results by the annotations of the running call's users. */
static gboolean
read_results (AdjEffectCall *call)
{
  const AdjPlace *place = adj_context_get_place (call->cx);
  const AdjNode *node =
      place->graph != NULL ? adj_graph_get_node (place->graph, place->id.index) : NULL;
  g_autoptr (GArray) results = adj_value_array_new ();

  for (guint i = 0; node != NULL && i < node->n_users; i++)
    {
      const AdjNode *user = adj_graph_get_node (place->graph, node->users[i].index);
      gint64 index = get_index (user, node, call->op);

      if (index < 0 || user->val.kind != ADJ_VALUE_META)
        continue;
      if (index >= results->len)
        g_array_set_size (results, (guint) index + 1);
      adj_value_clear (&g_array_index (results, AdjValue, index));
      g_array_index (results, AdjValue, index) = ADJ_TENSOR (
          adj_tensor_new_empty (user->val.meta, adj_context_get_symbols (call->cx), TRUE));
    }
  if (results->len == 0)
    return adj_effect_call_fail (call, ADJ_ERROR_UNSUPPORTED,
                                 "what the function gives is not known: it is of the process that "
                                 "the graph was made in");
  call->result = adj_value_array_end (results, ADJ_VALUE_TUPLE);
  return TRUE;
}

static gboolean
leaf_infer (AdjEffectCall *call)
{
  if (!check (call))
    return FALSE;
  return is_here (&call->args[ADJ_LEAF_FAKE]) ? call_function (call, ADJ_LEAF_FAKE)
                                              : read_results (call);
}

const AdjEffectOp adj_effect_leaf_function = {
  .target = "torch.ops.higher_order.invoke_leaf_function",
  .help = "a function that a trace does not look into",
  .run = leaf_run,
  .infer = leaf_infer,
  .calls_function = TRUE,
};

gboolean
adj_call_leaf (AdjContext *cx,
               AdjFunction *real,
               AdjFunction *fake,
               const AdjValue *args,
               guint n_args,
               AdjValue *result)
{
  g_autoptr (AdjOpaque) one = adj_leaf_function_new (real);
  g_autoptr (AdjOpaque) other = adj_leaf_function_new (fake != NULL ? fake : real);
  g_autoptr (AdjOpaque) spec = adj_tree_spec_new (n_args);
  g_autofree AdjValue *all = g_new0 (AdjValue, ADJ_LEAF_N_BEFORE + n_args);

  all[ADJ_LEAF_REAL] = ADJ_OPAQUE (one);
  all[ADJ_LEAF_FAKE] = ADJ_OPAQUE (other);
  all[ADJ_LEAF_SPEC] = ADJ_OPAQUE (spec);
  all[ADJ_LEAF_WRITTEN] = (AdjValue){ .kind = ADJ_VALUE_STRING, .text = "" };
  for (guint i = 0; i < n_args; i++)
    all[ADJ_LEAF_N_BEFORE + i] = args[i];
  return adj_call_effect (cx, &adj_effect_leaf_function, all, ADJ_LEAF_N_BEFORE + n_args, NULL,
                          result);
}
