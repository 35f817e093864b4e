/* SPDX-License-Identifier: MIT */
/* Replaying (compiled_autograd/SPEC.md §4.2): what was collected runs once more on tensors without
 * bytes, and everything that it calls becomes a node of a graph.  No hook is called. */

#include <string.h>

#include "compiled_autograd/replay-private.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/adj-gradient.h"
#include "rules/adj-operators.h"

/* -- nodes of the graph -- */

AdjNodeId
replay_add_call (
    Replay *self, const char *target, const AdjValue *args, guint n_args, const AdjValue *out)
{
  const AdjValue tuple = { .kind = ADJ_VALUE_TUPLE, .n = n_args, .items = (AdjValue *) args };
  AdjValue taken;

  if (!adj_tracer_take (self->tracer, &tuple, &taken))
    return ADJ_NO_NODE;
  return adj_tracer_add_call (self->tracer, target, &taken, &ADJ_NONE, out);
}

AdjNodeId
replay_add_item (Replay *self, AdjNodeId list, guint index, const AdjValue *out)
{
  const AdjValue args[2] = { ADJ_NODE (list), ADJ_INT (index) };

  return replay_add_call (self, GETITEM, args, 2, out);
}

/* "MulBackward (NodeCall 3)", below the place in the program; @hook: (nullable): that is called. */
char *
replay_make_origin (const Replay *self, const char *hook)
{
  const AdjGradNode *node = self->call->node;
  const AdjPlace *place = &node->place;
  GString *text = g_string_new (place->stack_trace);

  if (place->stack_trace == NULL && place->file != NULL)
    g_string_append_printf (text, "  File \"%s\", line %u, in %s\n\n", place->file, place->line,
                            place->function != NULL ? place->function : "C");
  g_string_append_printf (text,
                          "  File \"compiled_autograd\", line %u, in set_node_origin\n"
                          "    %s (NodeCall %u)",
                          self->index,
                          self->level == ADJ_CAPTURE_LEVEL_NODES ? replay_node_get_name (self)
                                                                 : node->name,
                          self->index);
  if (hook != NULL && *hook != '<')
    g_string_append_printf (text, ", hook '%s'", hook);
  g_string_append_c (text, '\n');
  return g_string_free (text, FALSE);
}

AdjTensor *
replay_new_like (Replay *self, const AdjTensorMeta *meta)
{
  AdjTensor *tensor = adj_tensor_new_empty (meta, adj_context_get_symbols (self->cx), TRUE);

  return adj_scope_add (self->cx, tensor);
}

/* -- the beginning -- */

static void
add_placeholders (Replay *self)
{
  static const char *const names[] = { "inputs", "sizes", "scalars", "hooks", "packed_data" };
  const guint n_lists = self->level == ADJ_CAPTURE_LEVEL_NODES ? 5 : 4;
  guint n_inputs = self->collection->inputs->len;
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  g_autofree AdjValue *tensors = g_new0 (AdjValue, n_inputs + 1);
  g_autofree AdjValue *hooks = g_new0 (AdjValue, self->collection->objects->len + 1);
  g_autofree AdjValue *packed = g_new0 (AdjValue, self->collection->packed->len + 1);
  AdjValue values[5];

  for (guint i = 0; i < n_inputs; i++)
    tensors[i] = ADJ_TENSOR (self->stand_ins.fakes[i]);
  for (guint i = 0; i < self->rules->len; i++)
    {
      const SizeRule *rule = &g_array_index (self->rules, SizeRule, i);
      const AdjValue size = adj_value_from_size (rule->size);

      if (rule->passed)
        g_array_append_val (sizes, size);
    }
  values[0] = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = n_inputs, .items = tensors };
  values[1] =
      (AdjValue){ .kind = ADJ_VALUE_LIST, .n = sizes->len, .items = (gpointer) sizes->data };
  values[2] = (AdjValue){ .kind = ADJ_VALUE_LIST };
  values[3] =
      (AdjValue){ .kind = ADJ_VALUE_LIST, .n = self->collection->objects->len, .items = hooks };
  values[4] =
      (AdjValue){ .kind = ADJ_VALUE_LIST, .n = self->collection->packed->len, .items = packed };
  for (guint i = 0; i < n_lists; i++)
    self->lists[i] =
        adj_tracer_add_placeholder (self->tracer, names[i], NULL, NULL, ADJ_NO_NODE, &values[i]);
  for (guint i = 0; i < n_inputs; i++)
    replay_add_item (self, self->lists[0], i, &tensors[i]);
  if (self->level == ADJ_CAPTURE_LEVEL_NODES)
    replay_nodes_add_sizes (self, sizes);
  else
    for (guint i = 0; i < sizes->len; i++)
      replay_add_item (self, self->lists[1], i, &g_array_index (sizes, AdjValue, i));
}

/* -- one call -- */

static void
replay_leaf (Replay *self, const CollectedCall *call, AdjTensor *const *grads, guint object)
{
  guint number = g_array_index (self->collection->slots, guint, call->first_slot);
  AdjTensor *leaf = number > 0 ? self->stand_ins.fakes[number - 1] : NULL;
  AdjTensor *real = accumulator_get_leaf (call->node);

  if (leaf == NULL || grads[0] == NULL || !adj_tensor_get_requires_grad (real))
    return;
  if (self->level == ADJ_CAPTURE_LEVEL_NODES)
    replay_node_leaf (self, call, leaf, grads[0]);
  else
    replay_add_call (self, ADJ_TARGET_ACCUMULATE,
                     (const AdjValue[]){ ADJ_TENSOR (leaf), ADJ_TENSOR (grads[0]) }, 2, &ADJ_NONE);
  for (guint i = 0; call->hooks->leaf != NULL && i < call->hooks->leaf->len; i++)
    replay_add_hook_call (self, object + i, OBJECT_LEAF_HOOK, &ADJ_TENSOR (leaf), 1, &ADJ_NONE);
}

/* (nullable): what a node that is called as a whole gives at edge @index, if it gives it: what
 * nobody needs is seen by the hooks behind the node alone. */
static const AdjTensorMeta *
find_argument (const Replay *self, const CollectedCall *call, guint index)
{
  const AdjGradNode *node = call->node;
  const GradEdge *edge = &node->edges[index];

  if (edge->node != NULL && task_reaches (self->collection->task, edge->node))
    return &edge->node->inputs[edge->input];
  return call->hooks->post != NULL && node->klass->get_argument != NULL
             ? node->klass->get_argument (node, index)
             : NULL;
}

/* call_backward (backward, saved, *grads): what it gives looks as its inputs do. */
static gboolean
replay_whole (
    Replay *self, const CollectedCall *call, AdjTensor *const *grads, guint object, AdjTensor **out)
{
  const AdjGradNode *node = call->node;
  g_autofree AdjValue *args = g_new0 (AdjValue, node->n_inputs + 3);
  g_autofree AdjValue *outs = g_new0 (AdjValue, node->n_edges + 1);
  g_autoptr (GArray) saved = g_array_new (FALSE, FALSE, sizeof (AdjValue));

  self->stand_ins.slot = call->first_slot;
  for (guint end = call->first_slot + call->n_slots; self->stand_ins.slot < end;)
    {
      const AdjValue value = replay_value_of (stand_ins_next (&self->stand_ins));

      g_array_append_val (saved, value);
    }
  args[0] = ADJ_NODE (replay_add_item (self, self->lists[3], object, &ADJ_NONE));
  args[1] = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = saved->len, .items = (gpointer) saved->data };
  for (guint i = 0; i < node->n_inputs; i++)
    args[2 + i] = replay_value_of (grads[i]);
  for (guint i = 0; i < node->n_edges; i++)
    {
      const AdjTensorMeta *meta = find_argument (self, call, i);

      if (meta == NULL)
        continue;
      out[i] = adj_keep (replay_new_like (self, meta));
      outs[i] = ADJ_TENSOR (out[i]);
    }
  if (self->level == ADJ_CAPTURE_LEVEL_NODES)
    replay_node_whole (self, args, node->n_inputs + 2, outs, node->n_edges);
  else
    replay_add_call (self, ADJ_TARGET_CALL_BACKWARD, args, node->n_inputs + 2,
                     &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = node->n_edges, .items = outs });
  return !adj_context_has_error (self->cx);
}

/* PyTorch until 2.6 compares each symbolic size of a gradient with that of what it belongs to, the
 * last one first: each comparison is a call that nobody reads, but it counts in names, and asks for
 * the size where it stands. */
static void
compare_sizes (Replay *self, const AdjTensorMeta *grad, const AdjTensorMeta *input)
{
  const AdjShape *is = &grad->shape, *expected = &input->shape;

  for (guint i = 1; i <= MIN (is->rank, expected->rank); i++)
    {
      const AdjValue args[2] = { adj_value_from_size (expected->size[expected->rank - i]),
                                 adj_value_from_size (is->size[is->rank - i]) };

      if (!adj_size_is_int (args[1].size))
        adj_tracer_note_builtin (self->tracer, "operator.eq", args, 2,
                                 &(AdjValue){ .kind = ADJ_VALUE_SIZE, .size = ADJ_SIZE (TRUE) });
    }
}

static gboolean
validate (Replay *self, const AdjGradNode *node, AdjTensor **out)
{
  g_autofree char *prefix =
      g_strdup_printf ("[Compiled Autograd Tracing: %s] returned", node->name);

  for (guint i = 0; i < node->n_edges; i++)
    {
      const GradEdge *edge = &node->edges[i];
      AdjTensor *tensor;

      if (out[i] == NULL || edge->node == NULL)
        continue;
      if (self->collection->as_2_6)
        compare_sizes (self, adj_tensor_get_meta (out[i]), &edge->node->inputs[edge->input]);
      tensor =
          adj_gradient_validate (self->cx, prefix, i, out[i], &edge->node->inputs[edge->input]);
      if (tensor == NULL)
        return FALSE;
      if (tensor != out[i])
        replay_put (&out[i], tensor);
    }
  return TRUE;
}

static gboolean
replay_apply (
    Replay *self, const CollectedCall *call, AdjTensor **grads, guint object, AdjTensor **out)
{
  AdjGradNode *node = call->node;
  g_autofree gboolean *needed = g_new0 (gboolean, node->n_edges + 1);
  AdjTensor *leaf;
  const gboolean is_compiled = self->level == ADJ_CAPTURE_LEVEL_NODES && call->function != NULL;
  gboolean done;

  if (grad_node_is_accumulator (node, &leaf))
    {
      replay_leaf (self, call, grads, object);
      return !adj_context_has_error (self->cx);
    }
  if (call->form != NULL)
    return replay_node (self, call, grads, out);
  if (node_is_whole (node))
    return replay_whole (self, call, grads, object, out);
  if (is_compiled)
    replay_begin_compiled (self, call, grads, object);
  for (guint i = 0; i < node->n_edges; i++)
    needed[i] =
        node->edges[i].node != NULL && task_reaches (self->collection->task, node->edges[i].node);
  done = node->klass->apply (node, self->cx, grads, needed, out);
  if (is_compiled)
    replay_end_compiled (self);
  return done && !adj_context_has_error (self->cx);
}

/* The root gives what the backward was given. */
static void
replay_root (Replay *self, const CollectedCall *call, AdjTensor **out)
{
  self->stand_ins.slot = call->first_slot;
  for (guint i = 0; i < call->node->n_edges; i++)
    out[i] = adj_keep (stand_ins_next (&self->stand_ins));
}

static gboolean
arrive (Replay *self, const GradEdge *edge, AdjTensor *grad)
{
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (self->indices, edge->node));
  AdjTensor **slot;

  if (index == 0 || grad == NULL)
    return TRUE;
  if (self->grads[index - 1] == NULL)
    self->grads[index - 1] = g_new0 (AdjTensor *, edge->node->n_inputs + 1);
  slot = &self->grads[index - 1][edge->input];
  if (*slot != NULL && self->level == ADJ_CAPTURE_LEVEL_NODES)
    {
      const AdjValue args[2] = { ADJ_TENSOR (*slot), ADJ_TENSOR (grad) };

      grad = replay_new_like (self, adj_tensor_get_meta (*slot));
      replay_add_call (self, "torch.add", args, 2, &ADJ_TENSOR (grad));
    }
  else if (*slot != NULL)
    grad = ADJ_APPLY (self->cx, ADJ_OP_add_Tensor, ADJ_TENSOR (*slot), ADJ_TENSOR (grad));
  if (grad != NULL)
    replay_put (slot, grad);
  return grad != NULL;
}

static void
capture_grads (Replay *self, const CollectedCall *call, AdjTensor *const *grads)
{
  const GradRequest *request = task_get_request (self->collection->task);

  for (guint i = 0; call->captures != NULL && i < call->captures->len; i++)
    {
      guint target = g_array_index (call->captures, guint, i);
      AdjTensor *grad = grads[request->targets[target].edge.input];

      if (grad != NULL)
        replay_put (&self->captured[target], grad);
    }
}

static gboolean
replay_needed (Replay *self, const CollectedCall *call, AdjTensor **grads, guint object)
{
  AdjGradNode *node = call->node;
  g_autofree AdjTensor **out = g_new0 (AdjTensor *, node->n_edges + 1);
  guint n_pre = call->hooks->pre != NULL ? call->hooks->pre->len : 0;
  guint n_post = call->hooks->post != NULL ? call->hooks->post->len : 0;
  guint post = object + n_pre;
  guint last = post + n_post + call->n_packed;
  gboolean done = replay_node_hooks (self, call->hooks->pre, OBJECT_PRE_HOOK, &object, grads,
                                     node->n_inputs, NULL, 0);

  if (done)
    replay_unpacking (self, call);
  if (done && call == &g_array_index (self->collection->calls, CollectedCall, 0))
    replay_root (self, call, out);
  else if (done)
    done = replay_apply (self, call, grads, last, out) &&
           (self->level == ADJ_CAPTURE_LEVEL_NODES || validate (self, node, out));
  if (done && self->level == ADJ_CAPTURE_LEVEL_NODES && call->form == NULL &&
      call->function == NULL)
    replay_node_validate (self, call, out);
  done = done && replay_node_hooks (self, call->hooks->post, OBJECT_POST_HOOK, &post, out,
                                    node->n_edges, grads, node->n_inputs);
  for (guint i = 0; i < node->n_edges; i++)
    {
      if (done && node->edges[i].node != NULL)
        done = arrive (self, &node->edges[i], out[i]);
      g_clear_pointer (&out[i], adj_tensor_unref);
    }
  return done;
}

static gboolean
replay_call (Replay *self, guint index)
{
  const CollectedCall *call = &g_array_index (self->collection->calls, CollectedCall, index);
  g_autofree char *origin = NULL;
  AdjPlace place = { 0 };
  guint object = call->first_object;
  gboolean done;

  self->call = call;
  self->index = index;
  place.stack_trace = origin = replay_make_origin (self, NULL);
  if (self->grads[index] == NULL)
    self->grads[index] = g_new0 (AdjTensor *, call->node->n_inputs + 1);
  adj_context_set_place (self->cx, &place);
  adj_scope_begin (self->cx);
  done = replay_tensor_hooks (self, call, self->grads[index], &object);
  capture_grads (self, call, self->grads[index]);
  if (done && call->needed)
    done = replay_needed (self, call, self->grads[index], object);
  adj_scope_end (self->cx);
  adj_context_set_place (self->cx, NULL);
  for (guint i = 0; i < call->node->n_inputs; i++)
    g_clear_pointer (&self->grads[index][i], adj_tensor_unref);
  return done;
}

/* -- all of it -- */

static gboolean
add_output (Replay *self)
{
  guint n = task_get_request (self->collection->task)->n_targets;
  g_autofree AdjValue *items = g_new0 (AdjValue, n + 1);
  const AdjValue list = replay_list_of (self->captured, n, items);

  replay_add_call (self, ADJ_TARGET_FINAL_CALLBACKS, NULL, 0, &ADJ_NONE);
  return adj_tracer_add_output (self->tracer, &list);
}

static gboolean
run (Replay *self)
{
  const GArray *calls = self->collection->calls;
  gboolean done = stand_ins_init (&self->stand_ins, self->cx, self->collection, self->rules);

  for (guint i = 0; i < calls->len; i++)
    {
      const CollectedCall *call = &g_array_index (calls, CollectedCall, i);

      g_hash_table_insert (self->indices, call->node, GUINT_TO_POINTER (i + 1));
      stand_ins_place (&self->stand_ins, call);
    }
  if (done)
    add_placeholders (self);
  for (guint i = 0; i < calls->len && done; i++)
    done = replay_call (self, i);
  stand_ins_remove (&self->stand_ins);
  return done && add_output (self);
}

static void
replay_init (Replay *self)
{
  guint n = self->collection->calls->len;

  self->indices = g_hash_table_new (NULL, NULL);
  self->grads = g_new0 (AdjTensor **, n + 1);
  self->sizes = g_array_new (FALSE, FALSE, sizeof (AdjNodeId));
  self->captured = g_new0 (AdjTensor *, task_get_request (self->collection->task)->n_targets + 1);
}

static void
replay_clear (Replay *self)
{
  for (guint i = 0; i < self->collection->calls->len; i++)
    {
      const CollectedCall *call = &g_array_index (self->collection->calls, CollectedCall, i);

      for (guint k = 0; self->grads[i] != NULL && k < call->node->n_inputs; k++)
        g_clear_pointer (&self->grads[i][k], adj_tensor_unref);
      g_free (self->grads[i]);
    }
  for (guint i = 0; i < task_get_request (self->collection->task)->n_targets; i++)
    g_clear_pointer (&self->captured[i], adj_tensor_unref);
  stand_ins_clear (&self->stand_ins);
  g_free (self->grads);
  g_free (self->captured);
  g_array_unref (self->sizes);
  g_hash_table_unref (self->indices);
}

AdjGraph *
replay (const Collection *collection,
        AdjCaptureLevel level,
        const char *name,
        const GArray *rules,
        AdjSymbols *symbols,
        GError **error)
{
  g_autoptr (AdjContext) cx = adj_context_new_empty (symbols);
  g_autoptr (AdjTracer) tracer = adj_tracer_new (cx, name, FALSE);
  Replay self = {
    .collection = collection, .rules = rules, .cx = cx, .tracer = tracer, .level = level
  };
  AdjGraph *graph = NULL;
  gboolean done;

  adj_context_push_mode (cx, adj_fake_mode_new ());
  adj_context_push_mode (cx, adj_proxy_mode_new (tracer));
  adj_context_push_mode (cx, adj_autograd_mode_new ());
  if (collection->writes_gradients)
    adj_autograd_set_flags (cx, ADJ_AUTOGRAD_COPY_WRITTEN | ADJ_AUTOGRAD_STRIDED_WRITTEN);
  adj_context_set_grad_enabled (cx, FALSE);
  adj_context_set_default_dtype (cx, adj_context_get_default_dtype (collection->cx));
  adj_context_set_release (cx, adj_context_get_release (collection->cx));
  adj_tracer_set_formulas (tracer, collection->as_2_6);
  replay_init (&self);
  adj_scope_begin (cx);
  done = run (&self);
  adj_scope_end (cx);
  replay_clear (&self);
  if (!adj_context_take_error (cx, error) && done)
    graph = adj_tracer_seal (tracer, error);
  while (adj_context_get_mode (cx) != NULL)
    adj_context_pop_mode (cx);
  return graph;
}
