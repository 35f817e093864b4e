/* SPDX-License-Identifier: MIT */
/* Runs a graph node by node through a context; values are released after their last use. */

#include "interpreter/adj-interpreter.h"

#include "call/adj-context-internal.h"
#include "call/adj-mode.h"
#include "interpreter/adj-higher.h"
#include "interpreter/adj-interpreter-internal.h"
#include "interpreter/builtins-private.h"
#include "ir/adj-graph-analysis-internal.h"
#include "ir/adj-graph.h"
#include "ir/adj-text-internal.h"
#include "ops/adj-packet.h"
#include "rules/adj-node-op.h"
#include "tensor/adj-storage-internal.h"

/* The callee of a node, if it is not an operator; all (nullable). */
typedef struct
{
  const AdjPacket *packet;
  const AdjBuiltin *builtin;
  const AdjHigherOp *higher;
  const AdjEffectOp *effect;
  const AdjNodeOp *node_op;
  gboolean is_arithmetic; /* operator.add and the like: the builtin for sizes */
} Callee;

typedef struct
{
  AdjContext *cx;
  const AdjGraph *graph;
  const AdjInterpreterHooks *hooks; /* (nullable) */
  const AdjNodeId *opaque;          /* by node: the node because of which it has no value */
  const Callee *callees;            /* by node */
  AdjValue *values;                 /* by node, NONE when not alive */
  guint next_arg;
  const AdjValue *args;
  guint n_args;
  gboolean takes;         /* @args is owned */
  const AdjPlace *around; /* the place where the graph is called */
} Run;

static gboolean
value_of_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  Run *run = data;

  *out = adj_value_copy (leaf->kind == ADJ_VALUE_NODE ? &run->values[leaf->node.index] : leaf);
  return TRUE;
}

/* Converts constants of the graph to tensors of the context; other values are copied. */
static AdjValue
import_constant (const AdjValue *value)
{
  if (value->kind == ADJ_VALUE_DATA)
    return ADJ_TENSOR (adj_tensor_new_from_data (value->data));
  return adj_value_copy (value);
}

static gboolean
run_unsupported (Run *run, const AdjNode *node, AdjValue *out)
{
  adj_context_fail (run->cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "cannot run '%s' (%s)", node->target,
                    adj_opcode_name (node->opcode));
  return FALSE;
}

static gboolean
run_placeholder (Run *run, const AdjNode *node, AdjValue *out)
{
  if (run->next_arg < run->n_args && run->takes)
    *out = adj_value_steal ((AdjValue *) &run->args[run->next_arg++]);
  else if (run->next_arg < run->n_args)
    *out = adj_value_copy (&run->args[run->next_arg++]);
  else if (node->args.n == 1)
    *out = adj_value_copy (&node->args.items[0]);
  else
    {
      adj_context_fail (run->cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "no argument is left for this placeholder");
      return FALSE;
    }
  return TRUE;
}

static gboolean
run_get_attr (Run *run, const AdjNode *node, AdjValue *out)
{
  const AdjValue *value = adj_graph_find_attr (run->graph, node->target);
  const char *type = adj_node_get_type_text (node);
  AdjGraph *subgraph = adj_graph_find_subgraph (run->graph, node->target);

  if (value != NULL)
    *out = import_constant (value);
  else if (subgraph != NULL)
    *out = (AdjValue){ .kind = ADJ_VALUE_GRAPH, .graph = adj_graph_ref (subgraph) };
  else if (type != NULL)
    *out = ADJ_OPAQUE (adj_opaque_new_of_type (type));
  else
    {
      adj_context_fail (run->cx, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "the file does not hold '%s'",
                        node->target);
      return FALSE;
    }
  return TRUE;
}

/* Fails with the Python name of an unknown function or method. */
static gboolean
fail_unknown (AdjContext *cx, const AdjNode *node)
{
  gboolean method = node->opcode == ADJ_OPCODE_CALL_METHOD;
  g_autofree char *near = adj_packet_suggest (node->target, method);

  if (near != NULL)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                      "cannot run '%s' (%s): Adjoint has no such operator; the nearest is '%s'",
                      node->target, adj_opcode_name (node->opcode), near);
  else
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                      "cannot run '%s' (%s): Adjoint has no such operator", node->target,
                      adj_opcode_name (node->opcode));
  return FALSE;
}

static gboolean
has_tensor (const AdjValue *args)
{
  for (guint i = 0; i < args->n; i++)
    if (args->items[i].kind == ADJ_VALUE_TENSOR)
      return TRUE;
  return FALSE;
}

static Callee
find_callee (const AdjNode *node)
{
  const char *target = node->target;

  if (node->op != NULL)
    return (Callee){ 0 };
  if (node->opcode == ADJ_OPCODE_CALL_METHOD)
    return (Callee){ .packet = adj_packet_find_method (target),
                     .builtin = adj_builtin_find_method (target) };
  if (node->opcode != ADJ_OPCODE_CALL_FUNCTION)
    return (Callee){ 0 };
  return (Callee){ .packet = adj_packet_find_function (target),
                   .builtin = adj_builtin_find (target),
                   .higher = adj_higher_find (target, node->args.n),
                   .effect = adj_effect_op_find (target),
                   .node_op = adj_node_op_find (target),
                   .is_arithmetic = g_str_has_prefix (target, "operator.") };
}

static gpointer
find_callees (const AdjGraph *graph)
{
  const guint n = adj_graph_get_n_nodes (graph);
  Callee *callees = g_new (Callee, n + 1);

  for (guint i = 0; i < n; i++)
    callees[i] = find_callee (adj_graph_get_node (graph, i));
  return callees;
}

static const AdjGraphAnalysis callees_analysis = { find_callees, g_free };

/* Calls a higher-order operator, with subgraphs as functions. */
static gboolean
call_higher (AdjContext *cx,
             const AdjHigherOp *op,
             const AdjValue *args,
             const AdjValue *kwargs,
             AdjValue *result)
{
  AdjFunction *bodies[ADJ_MAX_BODIES] = { NULL };
  g_autofree AdjValue *others = g_memdup2 (args->items, args->n * sizeof *others);
  gboolean done = TRUE;

  if (adj_value_is_container (kwargs) && kwargs->n > 0)
    done = adj_builtin_fail (cx, "%s takes no keyword arguments", op->target);
  for (guint i = 0; i < op->n_bodies && done; i++)
    {
      guint at = op->bodies[i];

      if (at >= args->n || others[at].kind != ADJ_VALUE_GRAPH)
        {
          done = adj_builtin_fail (cx, "argument %u of %s must be a graph", at, op->target);
          break;
        }
      bodies[i] = adj_graph_function_new (others[at].graph);
      others[at] = ADJ_NONE;
    }
  done = done && adj_call_higher (cx, op, others, args->n, bodies, result);
  for (guint i = 0; i < ADJ_MAX_BODIES; i++)
    if (bodies[i] != NULL)
      adj_function_unref (bodies[i]);
  return done;
}

static gboolean
call_packet (AdjContext *cx,
             const AdjPacket *packet,
             const AdjOp *op,
             const AdjValue *args,
             const AdjValue *kwargs,
             AdjValue *result)
{
  AdjValue borrowed;
  gboolean done = packet != NULL ? adj_packet_call (cx, packet, args, kwargs, &borrowed)
                                 : adj_call (cx, op, args, kwargs, &borrowed);

  *result = done ? adj_value_copy (&borrowed) : ADJ_NONE;
  return done;
}

static gboolean
call_builtin (AdjContext *cx,
              const AdjBuiltin *builtin,
              const AdjValue *args,
              const AdjValue *kwargs,
              AdjValue *result)
{
  if (!builtin->call (cx, args->items, args->n, kwargs, result))
    return FALSE;
  adj_context_note_builtin (cx, builtin->target, args->items, args->n, result);
  return TRUE;
}

/* Builtin methods only apply to tensors. */
static gboolean
takes_builtin (const Callee *callee, const AdjNode *node, const AdjValue *args)
{
  return callee->builtin != NULL && (node->opcode != ADJ_OPCODE_CALL_METHOD ||
                                     (args->n > 0 && args->items[0].kind == ADJ_VALUE_TENSOR));
}

static gboolean
call_callee (AdjContext *cx,
             const Callee *callee,
             const AdjNode *node,
             const AdjValue *args,
             const AdjValue *kwargs,
             AdjValue *result)
{
  if (node->op != NULL)
    return call_packet (cx, NULL, node->op, args, kwargs, result);
  if (callee->packet != NULL && (!callee->is_arithmetic || has_tensor (args)))
    return call_packet (cx, callee->packet, NULL, args, kwargs, result);
  if (takes_builtin (callee, node, args))
    return call_builtin (cx, callee->builtin, args, kwargs, result);
  if (callee->higher != NULL)
    return call_higher (cx, callee->higher, args, kwargs, result);
  if (callee->effect != NULL)
    return adj_interpret_effect (cx, NULL, callee->effect, args, kwargs, result, NULL);
  if (callee->node_op != NULL)
    return adj_node_op_call (cx, callee->node_op, args->items, args->n, result);
  return fail_unknown (cx, node);
}

gboolean
adj_interpret_call (AdjContext *cx,
                    const AdjNode *node,
                    const AdjValue *args,
                    const AdjValue *kwargs,
                    AdjValue *result)
{
  const Callee callee = find_callee (node);

  return call_callee (cx, &callee, node, args, kwargs, result);
}

static guint
count_items (const AdjValue *value)
{
  guint n = adj_value_is_container (value) ? value->n : 0;

  for (guint i = 0; adj_value_is_container (value) && i < value->n; i++)
    n += count_items (&value->items[i]);
  return n;
}

/* @value with nodes replaced by their values, borrowed; items are written from @room on. */
static AdjValue
borrow (const Run *run, const AdjValue *value, AdjValue **room)
{
  AdjValue borrowed = *value;

  if (value->kind == ADJ_VALUE_NODE)
    return run->values[value->node.index];
  if (!adj_value_is_container (value))
    return borrowed;
  borrowed.items = *room;
  *room += value->n;
  for (guint i = 0; i < value->n; i++)
    borrowed.items[i] = borrow (run, &value->items[i], room);
  return borrowed;
}

/* (transfer full) (nullable): references to the inputs of @node that are read again later, so that
 * the call does not reuse their memory. */
static GPtrArray *
hold_inputs (const Run *run, const AdjNode *node, guint index)
{
  GPtrArray *held = NULL;

  for (guint i = 0; i < node->n_inputs; i++)
    {
      guint input = node->inputs[i].index;
      const AdjValue *value = &run->values[input];

      if (value->kind != ADJ_VALUE_TENSOR ||
          adj_graph_get_last_use (run->graph, input).index == index)
        continue;
      if (held == NULL)
        held = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_unref);
      g_ptr_array_add (held, adj_tensor_ref (value->tensor));
    }
  return held;
}

static gboolean
fetch_leaf (const AdjValue *leaf, gpointer error)
{
  return leaf->kind != ADJ_VALUE_TENSOR ||
         adj_storage_fetch (adj_tensor_get_storage (leaf->tensor), error);
}

/* Reads the inputs of @node that are in a file. */
static gboolean
fetch_inputs (const Run *run, const AdjNode *node)
{
  for (guint i = 0; i < node->n_inputs; i++)
    {
      g_autoptr (GError) error = NULL;

      if (adj_value_foreach (&run->values[node->inputs[i].index], fetch_leaf, &error))
        continue;
      adj_context_fail (run->cx, error->domain, error->code, "%s", error->message);
      return FALSE;
    }
  return TRUE;
}

#define USUAL_ITEMS 48

static gboolean
run_call (Run *run, const AdjNode *node, AdjValue *out)
{
  const AdjInterpreterHooks *hooks = run->hooks;
  AdjNodeId id = adj_context_get_place (run->cx)->id;
  g_autoptr (GPtrArray) held = node->op == NULL ? hold_inputs (run, node, id.index) : NULL;
  guint n = count_items (&node->args) + count_items (&node->kwargs);
  AdjValue usual[USUAL_ITEMS];
  g_autofree AdjValue *many = n > USUAL_ITEMS ? g_new (AdjValue, n) : NULL;
  AdjValue *room = many != NULL ? many : usual;
  AdjValue args = borrow (run, &node->args, &room);
  AdjValue kwargs = borrow (run, &node->kwargs, &room);

  if (!fetch_inputs (run, node))
    return FALSE;
  if (hooks != NULL && hooks->replace != NULL &&
      hooks->replace (run->graph, id, &args, out, hooks->data))
    return !adj_context_has_error (run->cx);
  return call_callee (run->cx, &run->callees[id.index], node, &args, &kwargs, out);
}

static gboolean
run_output (Run *run, const AdjNode *node, AdjValue *out)
{
  return adj_value_map (&node->args.items[0], value_of_leaf, run, out);
}

static gboolean (*const run_opcode[ADJ_N_OPCODES]) (Run *run,
                                                    const AdjNode *node,
                                                    AdjValue *out) = {
  [ADJ_OPCODE_PLACEHOLDER] = run_placeholder, [ADJ_OPCODE_GET_ATTR] = run_get_attr,
  [ADJ_OPCODE_CALL_FUNCTION] = run_call,      [ADJ_OPCODE_CALL_METHOD] = run_call,
  [ADJ_OPCODE_CALL_MODULE] = run_unsupported, [ADJ_OPCODE_OUTPUT] = run_output,
  [ADJ_OPCODE_RAW] = run_unsupported,
};

static void
enter_place (const Run *run, guint index)
{
  const AdjNode *node = adj_graph_get_node (run->graph, index);
  const AdjFrame *frame =
      node->meta.n_frames > 0 ? &node->meta.frames[node->meta.n_frames - 1] : NULL;
  AdjPlace place = {
    .file = frame != NULL ? frame->file : NULL,
    .line = frame != NULL ? frame->line : 0,
    .node = node->name,
    .stack_trace = node->meta.stack_trace,
    .graph = run->graph,
    .id = { index },
    .outer = run->around->outer,
    .outer_id = run->around->outer_id,
    .running = run->around->running,
    .hook = run->around->hook,
  };

  adj_context_set_place (run->cx, &place);
}

static void
release_dead_inputs (Run *run, const AdjNode *node, guint index)
{
  for (guint k = 0; k < node->n_inputs; k++)
    if (adj_graph_get_last_use (run->graph, node->inputs[k].index).index == index)
      adj_value_clear (&run->values[node->inputs[k].index]);
  if (node->n_users == 0 && node->opcode != ADJ_OPCODE_OUTPUT)
    adj_value_clear (&run->values[index]);
}

static gboolean
run_node (Run *run, guint index)
{
  const AdjNode *node = adj_graph_get_node (run->graph, index);
  const AdjInterpreterHooks *hooks = run->hooks;
  AdjValue *value = &run->values[index];
  AdjNodeId id = { index };
  gboolean done;

  if (adj_node_id_is_valid (run->opaque[index]))
    return TRUE;
  enter_place (run, index);
  adj_scope_begin (run->cx);
  done = run_opcode[node->opcode](run, node, value);
  adj_scope_end (run->cx);
  if (done && hooks != NULL && hooks->amend != NULL)
    done = hooks->amend (run->graph, id, run->cx, value, hooks->data);
  if (done && hooks != NULL && hooks->node != NULL)
    done = hooks->node (run->graph, id, value, hooks->data);
  if (done)
    release_dead_inputs (run, node, index);
  return done;
}

/* Fails if the output depends on a node without a value. */
static gboolean
check_understood (Run *run)
{
  g_autoptr (GError) error = NULL;
  guint output = adj_graph_get_output (run->graph).index;

  if (!adj_node_id_is_valid (run->opaque[output]))
    return TRUE;
  adj_graph_check_understood (run->graph, &error);
  enter_place (run, run->opaque[output].index);
  adj_context_fail (run->cx, error->domain, error->code, "%s", error->message);
  return FALSE;
}

static gboolean
interpret (AdjContext *cx,
           const AdjGraph *graph,
           const AdjValue *args,
           guint n_args,
           gboolean takes,
           const AdjInterpreterHooks *hooks,
           AdjValue *result)
{
  guint n = adj_graph_get_n_nodes (graph);
  const AdjPlace around = *adj_context_get_place (cx);
  const AdjThreadState *thread_state = adj_graph_get_thread_state (graph),
                       before = adj_context_get_thread_state (cx);
  AdjThreadSetting settings[ADJ_N_THREAD_SETTINGS];
  const AdjMode *outermost = adj_context_get_mode (cx);
  Run run = { .cx = cx,
              .graph = graph,
              .hooks = hooks,
              .args = args,
              .n_args = n_args,
              .takes = takes,
              .around = &around };
  gboolean done = !adj_context_has_error (cx);

  run.values = g_new0 (AdjValue, n);
  run.opaque = adj_graph_find_opaque (graph);
  run.callees = adj_graph_analyse (graph, &callees_analysis);
  adj_context_add_thread_state (cx, thread_state);
  if (done && n_args > adj_graph_get_n_inputs (graph))
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "the graph takes %u inputs, %u are given",
                        adj_graph_get_n_inputs (graph), n_args);
      done = FALSE;
    }
  done = done && check_understood (&run);
  for (guint i = 0; i < n && done; i++)
    done = run_node (&run, i);
  if (done)
    *result = adj_value_steal (&run.values[adj_graph_get_output (graph).index]);
  for (guint i = 0; i < n; i++)
    adj_value_clear (&run.values[i]);
  g_free (run.values);
  while (adj_context_get_mode (cx) != outermost)
    adj_context_pop_mode (cx);
  adj_context_set_place (cx, &around);
  if (adj_thread_state_list_settings (thread_state, settings) > 0)
    adj_context_set_thread_state (cx, &before);
  return done;
}

gboolean
adj_interpret (AdjContext *cx,
               const AdjGraph *graph,
               const AdjValue *args,
               guint n_args,
               const AdjInterpreterHooks *hooks,
               AdjValue *result)
{
  return interpret (cx, graph, args, n_args, FALSE, hooks, result);
}

gboolean
adj_interpret_taking (AdjContext *cx,
                      const AdjGraph *graph,
                      AdjValue *args,
                      guint n_args,
                      const AdjInterpreterHooks *hooks,
                      AdjValue *result)
{
  gboolean done = interpret (cx, graph, args, n_args, TRUE, hooks, result);

  for (guint i = 0; i < n_args; i++)
    adj_value_clear (&args[i]);
  return done;
}

typedef struct
{
  AdjFunction parent_instance;
  AdjGraph *graph; /* (owned) */
} GraphFunction;

static gboolean
graph_function_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  return adj_interpret (cx, ((GraphFunction *) function)->graph, args, n_args, NULL, result);
}

static void
graph_function_finalize (AdjFunction *function)
{
  adj_graph_unref (((GraphFunction *) function)->graph);
}

static const AdjFunctionClass graph_function_class = {
  .name = "graph",
  .call = graph_function_call,
  .finalize = graph_function_finalize,
};

AdjFunction *
adj_graph_function_new (AdjGraph *graph)
{
  AdjFunction *function = adj_function_new (&graph_function_class, sizeof (GraphFunction));

  ((GraphFunction *) function)->graph = adj_graph_ref (graph);
  return function;
}
