/* SPDX-License-Identifier: MIT */
/* From a graph to the calls of kernels that running it makes: the walk of the interpreter over
 * tensors without bytes.  What cannot be known without bytes is left to the interpreter. */

#include <string.h>

#include "analysis/adj-aliases.h"
#include "call/adj-context-internal.h"
#include "call/adj-object-call-internal.h"
#include "call/adj-schema-internal.h"
#include "interpreter/adj-effect-ops.h"
#include "interpreter/adj-interpreter-internal.h"
#include "ir/adj-graph.h"
#include "ir/adj-target-internal.h"
#include "plan/plan-private.h"
#include "rules/adj-operators.h"
#include "tensor/adj-late-bytes-internal.h"

typedef struct
{
  AdjPlan *plan;
  const AdjGraph *graph;
  AdjContext *cx;
  PlanRecorder recorder;
  AdjValue *values; /* (owned): of every node, with tensors without bytes */
  const AdjValue *inputs;
  guint n_inputs, next_input;
  GHashTable *shared; /* GBytes of inputs → AdjStorage (unowned) */
} Walk;

const char *
plan_find_deferred (const char *target)
{
  static const struct
  {
    const char *target, *why;
  } deferred[] = {
    { "torch.manual_seed", "sets the random numbers" },
    { "torch.random.manual_seed", "sets the random numbers" },
    { "torch.ops.higher_order.run_and_save_rng_state", "keeps the state of the random numbers" },
    { "torch.ops.higher_order.run_with_rng_state", "sets the random numbers" },
    { ADJ_TARGET_CALL_HOOK, "calls a function of the process" },
    { ADJ_TARGET_CALL_BACKWARD, "calls a function of the process" },
    { ADJ_TARGET_SELF_INVOKE, "calls a function of the process" },
    { ADJ_TARGET_ACCUMULATE, "adds to the gradient of a leaf" },
    { ADJ_TARGET_CALL_ACCUMULATE, "adds to the gradient of a leaf" },
    { "torch._dynamo.compiled_autograd.ops.AccumulateGrad", "adds to the gradient of a leaf" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (deferred); i++)
    if (strcmp (deferred[i].target, target) == 0)
      return deferred[i].why;
  return NULL;
}

/* -- values -- */

/* A tensor without bytes, in the storage of @data. */
static AdjTensor *
new_fake_of (Walk *walk, const AdjTensorData *data)
{
  const AdjTensorMeta *meta = adj_tensor_data_get_meta (data);
  AdjStorage *known = g_hash_table_lookup (walk->shared, adj_tensor_data_get_storage (data));
  AdjTensor *tensor;
  g_autoptr (AdjStorage) storage = NULL;

  if (known != NULL)
    return adj_tensor_new (meta, known);
  storage = adj_storage_new_fake (adj_tensor_data_get_n_bytes (data), ADJ_CPU);
  tensor = adj_tensor_new (meta, storage);
  g_hash_table_insert (walk->shared, adj_tensor_data_get_storage (data), storage);
  return tensor;
}

static gboolean
is_concrete (const AdjTensorMeta *meta)
{
  for (guint i = 0; i < meta->shape.rank; i++)
    if (!adj_size_is_int (meta->shape.size[i]) || !adj_size_is_int (meta->shape.stride[i]))
      return FALSE;
  return adj_size_is_int (meta->shape.offset);
}

/* An input, a constant or an annotation as tensors without bytes; %FALSE: a size is not known. */
static gboolean
import_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_DATA)
    *out = ADJ_TENSOR (new_fake_of (data, leaf->data));
  else if (leaf->kind == ADJ_VALUE_META && is_concrete (leaf->meta))
    *out = ADJ_TENSOR (adj_tensor_new_empty (leaf->meta, NULL, TRUE));
  else if (leaf->kind == ADJ_VALUE_META || leaf->kind == ADJ_VALUE_SIZE)
    return FALSE;
  else
    *out = adj_value_copy (leaf);
  return TRUE;
}

static gboolean
note_input_leaf (const AdjValue *leaf, gpointer data)
{
  Walk *walk = data;
  PlanInput input = { .value = PLAN_NONE };
  PlanBuffer *buffer;

  if (leaf->kind != ADJ_VALUE_TENSOR)
    input.plain = adj_value_copy (leaf);
  else
    {
      input.value = plan_recorder_note (&walk->recorder, leaf->tensor);
      buffer = plan_buffer (walk->plan, plan_value (walk->plan, input.value)->buffer);
      buffer->memory = PLAN_MEMORY_INPUT;
      if (buffer->input == PLAN_NONE)
        buffer->input = walk->plan->inputs->len;
    }
  g_array_append_val (walk->plan->inputs, input);
  return TRUE;
}

static gboolean
walk_placeholder (Walk *walk, const AdjNode *node, AdjValue *out)
{
  if (walk->next_input >= walk->n_inputs)
    {
      adj_context_fail (walk->cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "no argument is left for this placeholder");
      return FALSE;
    }
  adj_value_map (&walk->inputs[walk->next_input], import_leaf, walk, out);
  adj_value_foreach (out, note_input_leaf, walk);
  walk->next_input++;
  return TRUE;
}

static gboolean
walk_get_attr (Walk *walk, const AdjNode *node, AdjValue *out)
{
  const AdjValue *value = adj_graph_find_attr (walk->graph, node->target);
  AdjGraph *subgraph = adj_graph_find_subgraph (walk->graph, node->target);

  if (value == NULL && subgraph != NULL)
    {
      *out = (AdjValue){ .kind = ADJ_VALUE_GRAPH, .graph = adj_graph_ref (subgraph) };
      return TRUE;
    }
  if (value == NULL)
    {
      adj_context_fail (walk->cx, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "the file does not hold '%s'",
                        node->target);
      return FALSE;
    }
  adj_value_map (value, import_leaf, walk, out);
  if (out->kind == ADJ_VALUE_TENSOR)
    {
      guint32 at =
          plan_value (walk->plan, plan_recorder_note (&walk->recorder, out->tensor))->buffer;
      PlanBuffer *buffer = plan_buffer (walk->plan, at);

      if (buffer->memory == PLAN_MEMORY_ARENA)
        {
          buffer->memory = PLAN_MEMORY_CONSTANT;
          buffer->constant = adj_tensor_data_ref (value->data);
        }
    }
  return TRUE;
}

static gboolean
resolve_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  Walk *walk = data;

  if (leaf->kind != ADJ_VALUE_NODE)
    *out = adj_value_copy (leaf);
  else if (plan_node (walk->plan, leaf->node.index)->kind == PLAN_NODE_KNOWN)
    *out = adj_value_copy (&walk->values[leaf->node.index]);
  else
    return FALSE;
  return TRUE;
}

/* @value with the values of nodes; %FALSE: one is not known. */
static gboolean
resolve (Walk *walk, const AdjValue *value, AdjValue *out)
{
  *out = ADJ_NONE;
  return adj_value_map (value, resolve_leaf, walk, out);
}

/* -- nodes that the interpreter evaluates -- */

static gboolean
gather_leaf (const AdjValue *leaf, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_NODE)
    g_array_append_val ((GArray *) data, leaf->node.index);
  return TRUE;
}

/* Values of the plan in what the nodes that @node reads gave. */
static AdjValue
list_read_values (Walk *walk, const AdjNode *node)
{
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (guint32));
  AdjValue args = { .kind = ADJ_VALUE_TUPLE };

  for (guint i = 0; i < node->n_inputs; i++)
    {
      const PlanNode *input = plan_node (walk->plan, node->inputs[i].index);

      if (input->kind == PLAN_NODE_KNOWN)
        adj_value_foreach (&input->value, gather_leaf, found);
    }
  args.items = g_new0 (AdjValue, found->len + 1);
  args.n = found->len;
  for (guint i = 0; i < found->len; i++)
    args.items[i] = ADJ_NODE ((AdjNodeId){ g_array_index (found, guint32, i) });
  return args;
}

static void
list_results (Walk *walk, PlanCall *call, const AdjValue *value)
{
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (guint32));

  adj_value_foreach (value, gather_leaf, found);
  call->n_results = found->len;
  call->results = g_new0 (PlanResult, found->len + 1);
  for (guint i = 0; i < found->len; i++)
    call->results[i].value = g_array_index (found, guint32, i);
}

/* A tensor like it, in memory of its own: where numbers are among the results, only running tells
 * which. */
static gboolean
copy_look (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  if (leaf->kind != ADJ_VALUE_TENSOR)
    return FALSE;
  *out = ADJ_TENSOR (adj_tensor_new_empty (adj_tensor_get_meta (leaf->tensor), NULL, TRUE));
  return TRUE;
}

/* What node @index will give, by its annotation or by @inferred (NONE: nothing was); %FALSE: only
 * running shows it. */
static gboolean
tell_result (Walk *walk, guint index, const AdjValue *inferred, AdjValue *out)
{
  const AdjValue *val = &adj_graph_get_node (walk->graph, index)->val;

  return (val->kind != ADJ_VALUE_NONE && adj_value_map (val, import_leaf, walk, out)) ||
         (inferred->kind != ADJ_VALUE_NONE && adj_value_map (inferred, copy_look, walk, out));
}

/* What the interpreter gives is copied into memory of the plan's where its sizes are known.  A
 * result that shows memory of an argument would be a copy of it, which a write through either would
 * tell. */
static void
note_interpreted (Walk *walk, guint index, const char *reason)
{
  const AdjNode *node = adj_graph_get_node (walk->graph, index);
  PlanNode *noted = plan_node (walk->plan, index);
  PlanCall call = { .node = index, .in_turn = TRUE, .copied = PLAN_NONE };
  g_auto (AdjValue) inferred = adj_value_steal (&walk->values[index]);

  call.reason = g_strdup (reason);
  noted->kind = PLAN_NODE_DYNAMIC;
  if (tell_result (walk, index, &inferred, &walk->values[index]))
    {
      noted->kind = PLAN_NODE_KNOWN;
      noted->value = plan_recorder_export (&walk->recorder, &walk->values[index]);
    }
  call.args = list_read_values (walk, node);
  if (noted->kind == PLAN_NODE_KNOWN)
    list_results (walk, &call, &noted->value);
  plan_call_find_uses (&call);
  g_array_append_val (walk->plan->calls, call);
}

/* -- the walk -- */

/* Whether @node calls an operator on an object of the graph, and not on one that stands in the
 * call, which is a value. */
static gboolean
takes_object (const AdjNode *node)
{
  const AdjSchema *schema = adj_op_get_schema (node->op);

  for (guint i = 0; i < schema->n_arguments; i++)
    if (adj_type_is_class (&schema->arguments[i].type) &&
        (i < node->args.n ? node->args.items[i].kind == ADJ_VALUE_NODE : node->kwargs.n > 0))
      return TRUE;
  return FALSE;
}

/* (nullable): the operator @value among those that are called for what they do. */
static const AdjEffectOp *
find_ordered (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_OP ? adj_effect_op_find (value->text) : NULL;
}

/* Objects have a state that only calls in their order change, and they may hold on to tensors, as
 * functions of the program may. */
static gboolean
has_effect (const AdjGraph *graph, const AdjNode *node)
{
  const AdjEffectOp *effect;
  gboolean ordered;

  if (node->opcode != ADJ_OPCODE_CALL_FUNCTION)
    return FALSE;
  if (node->op != NULL)
    return takes_object (node);
  if (strcmp (node->target, ADJ_TARGET_CALL_TORCHBIND) == 0)
    return !adj_object_node_is_pure (graph, node);
  ordered = strcmp (node->target, ADJ_TARGET_WITH_EFFECTS) == 0;
  effect = !ordered           ? adj_effect_op_find (node->target)
           : node->args.n > 1 ? find_ordered (&node->args.items[1])
                              : NULL;
  return effect != NULL ? !effect->pure : ordered;
}

/* (nullable): the first node with an effect of @graph, and of the graphs that it calls. */
static const AdjNode *
find_effect (const AdjGraph *graph)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (has_effect (graph, adj_graph_get_node (graph, i)))
      return adj_graph_get_node (graph, i);
  for (guint i = 0; i < adj_graph_get_n_subgraphs (graph); i++)
    {
      const AdjNode *found = find_effect (adj_graph_get_subgraph (graph, i, NULL));

      if (found != NULL)
        return found;
    }
  return NULL;
}

static gboolean
walk_call (Walk *walk, const AdjNode *node, AdjValue *out, const char **why)
{
  g_auto (AdjValue) args = ADJ_NONE;
  g_auto (AdjValue) kwargs = ADJ_NONE;

  *why = node->op == NULL ? plan_find_deferred (node->target) : NULL;
  if (*why != NULL)
    return FALSE;
  if (!resolve (walk, &node->args, &args) || !resolve (walk, &node->kwargs, &kwargs))
    {
      *why = "depends on what only running shows";
      return FALSE;
    }
  return adj_interpret_call (walk->cx, node, &args, &kwargs, out);
}

static gboolean
walk_output (Walk *walk, const AdjNode *node, AdjValue *out, const char **why)
{
  *why = "depends on what only running shows";
  return resolve (walk, &node->args.items[0], out);
}

static gboolean
walk_opcode (Walk *walk, const AdjNode *node, AdjValue *out, const char **why)
{
  *why = NULL;
  if (node->opcode == ADJ_OPCODE_PLACEHOLDER)
    return walk_placeholder (walk, node, out);
  if (node->opcode == ADJ_OPCODE_GET_ATTR)
    return walk_get_attr (walk, node, out);
  if (node->opcode == ADJ_OPCODE_OUTPUT)
    return walk_output (walk, node, out, why);
  return walk_call (walk, node, out, why);
}

static void
enter_place (Walk *walk, const AdjNode *node, guint index)
{
  const AdjPlace place = { .node = node->name, .graph = walk->graph, .id = { index } };

  adj_context_set_place (walk->cx, &place);
  walk->recorder.node = index;
  walk->plan->states[index] = adj_context_get_thread_state (walk->cx);
}

static void
walk_node (Walk *walk, guint index)
{
  const AdjNode *node = adj_graph_get_node (walk->graph, index);
  guint n_calls = walk->plan->calls->len;
  const char *why = NULL;
  g_autoptr (GError) error = NULL;
  gboolean done;

  enter_place (walk, node, index);
  walk->recorder.deferred = NULL;
  adj_scope_begin (walk->cx);
  done = walk_opcode (walk, node, &walk->values[index], &why) && !adj_context_has_error (walk->cx);
  if (!done)
    adj_value_clear (&walk->values[index]);
  else if (walk->recorder.deferred == NULL)
    plan_node (walk->plan, index)->value =
        plan_recorder_export (&walk->recorder, &walk->values[index]);
  adj_scope_end (walk->cx);
  if (done && walk->recorder.deferred == NULL)
    return;

  why = done ? walk->recorder.deferred : why;
  adj_context_take_error (walk->cx, &error);
  plan_recorder_drop_calls (&walk->recorder, n_calls);
  if (node->opcode == ADJ_OPCODE_OUTPUT)
    plan_node (walk->plan, index)->kind = PLAN_NODE_DYNAMIC;
  else
    note_interpreted (walk, index, why != NULL ? why : error != NULL ? error->message : "failed");
}

/* Whether a call writes memory that a node of unknown effect has seen. */
static void
check_writes (AdjPlan *plan)
{
  const AdjAlias *aliases = adj_graph_get_aliases (plan->graph);
  const PlanCall *unknown = NULL, *writer = NULL;

  for (guint i = 0; i < plan->calls->len; i++)
    {
      const PlanCall *call = plan_call (plan, i);

      if (call->op == NULL && aliases[call->node].kind != ADJ_ALIAS_NONE)
        unknown = call;
      for (guint k = 0; call->op != NULL && k < call->n_writes; k++)
        if (plan_buffer (plan, plan_value (plan, call->writes[k])->buffer)->written)
          writer = call;
    }
  if (unknown != NULL && writer != NULL && plan->whole == NULL)
    plan->whole = g_strdup_printf (
        "'%s' writes memory in place, and '%s', which the interpreter evaluates, may show it",
        adj_graph_get_node (plan->graph, writer->node)->name,
        adj_graph_get_node (plan->graph, unknown->node)->name);
}

/* What the interpreter evaluates reads nodes as they were when they were called. */
static void
check_turns (Walk *walk)
{
  AdjPlan *plan = walk->plan;

  for (guint i = 0; i < plan->calls->len && walk->recorder.turner != NULL; i++)
    if (plan_call (plan, i)->op == NULL && plan->whole == NULL)
      plan->whole = g_strdup_printf (
          "'%s' changes what a tensor shows, and '%s', which the interpreter evaluates, may read "
          "it",
          walk->recorder.turner, adj_graph_get_node (plan->graph, plan_call (plan, i)->node)->name);
}

static void
walk_all (Walk *walk)
{
  guint n = adj_graph_get_n_nodes (walk->graph);
  const AdjNodeId *opaque = adj_graph_find_opaque (walk->graph);
  const AdjNode *effect = find_effect (walk->graph);

  if (effect != NULL)
    walk->plan->whole =
        g_strdup_printf ("'%s' calls an object, or an operator with an effect", effect->name);
  for (guint i = 0; i < n && walk->plan->whole == NULL; i++)
    if (adj_node_id_is_valid (opaque[i]))
      plan_node (walk->plan, i)->kind = PLAN_NODE_UNREAD;
    else
      walk_node (walk, i);
  if (walk->plan->whole == NULL)
    check_writes (walk->plan);
  check_turns (walk);
}

void
plan_walk (AdjPlan *plan, const AdjValue *inputs, guint n_inputs)
{
  guint n = adj_graph_get_n_nodes (plan->graph);
  g_autoptr (AdjContext) cx = adj_context_new_empty (NULL);
  g_autoptr (GHashTable) shared = g_hash_table_new (NULL, NULL);
  g_autofree AdjValue *values = g_new0 (AdjValue, n);
  Walk walk = { .plan = plan,
                .graph = plan->graph,
                .cx = cx,
                .values = values,
                .inputs = inputs,
                .n_inputs = n_inputs,
                .shared = shared };

  plan_recorder_init (&walk.recorder, plan);
  adj_context_push_mode (cx, plan_recorder_new_mode (&walk.recorder));
  adj_context_add_thread_state (cx, adj_graph_get_thread_state (plan->graph));
  g_array_set_size (plan->nodes, n);
  plan->states = g_new0 (AdjThreadState, n);
  walk_all (&walk);
  for (guint i = 0; i < n; i++)
    adj_value_clear (&values[i]);
  plan_recorder_clear (&walk.recorder);
}
