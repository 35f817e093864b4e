/* SPDX-License-Identifier: MIT */
/* One backward: a node runs when all its gradients have arrived, the latest node first. */

#include "autograd/task-private.h"
#include "ops/adj-op-id.h"
#include "rules/adj-gradient.h"

/* -- one node -- */

static gboolean
validate_outputs (GraphTask *task, const AdjGradNode *node, AdjTensor **out)
{
  g_autofree char *prefix = NULL;

  for (guint i = 0; i < node->n_edges; i++)
    {
      const GradEdge *edge = &node->edges[i];
      AdjTensor *tensor;

      if (out[i] == NULL || edge->node == NULL)
        continue;
      if (prefix == NULL)
        prefix = g_strdup_printf ("Function %s returned", node->name);
      tensor =
          adj_gradient_validate (task->cx, prefix, i, out[i], &edge->node->inputs[edge->input]);
      if (tensor == NULL)
        return FALSE;
      if (tensor != out[i])
        {
          adj_tensor_unref (out[i]);
          out[i] = adj_keep (tensor);
        }
    }
  return TRUE;
}

/* Runs the hooks before the node, in a scope of their own: the accumulator stores a gradient
 * without a copy only if it has no other reference. */
static gboolean
run_hooks_before (GraphTask *task, TaskNode *info)
{
  AdjGradNode *node = info->node;
  gboolean done;

  adj_scope_begin (task->cx);
  done = node_run_tensor_hooks (task->cx, node, info->grads) &&
         node_run_retainers (task->cx, node, info->grads) &&
         node_run_hooks (task->cx, node->pre_hooks, info->grads, node->n_inputs, NULL, 0);
  adj_scope_end (task->cx);
  return done;
}

static gboolean
apply (GraphTask *task, TaskNode *info, AdjTensor **out)
{
  AdjGradNode *node = info->node;
  g_autofree gboolean *needed = g_new0 (gboolean, node->n_edges + 1);
  const AdjPlace place = *adj_context_get_place (task->cx);
  gboolean done;

  for (guint i = 0; i < node->n_edges; i++)
    needed[i] = node->edges[i].node != NULL &&
                task_is_executable (task, task_find (task, node->edges[i].node));
  adj_scope_begin (task->cx);
  done = node->klass->apply (node, task->cx, info->grads, needed, out) &&
         !adj_context_has_error (task->cx);
  adj_context_set_place (task->cx, &place);
  done =
      done && validate_outputs (task, node, out) &&
      node_run_hooks (task->cx, node->post_hooks, out, node->n_edges, info->grads, node->n_inputs);
  adj_scope_end (task->cx);
  if (done && node->klass->release != NULL &&
      (task->request->flags & (ADJ_BACKWARD_RETAIN_GRAPH | ADJ_BACKWARD_CREATE_GRAPH)) == 0)
    node->klass->release (node);
  return done && anomaly_check (task->cx, task->autograd, node, out);
}

/* Adds @grad to the gradients that have arrived at input @input of @info. */
static gboolean
arrive (GraphTask *task, TaskNode *info, guint input, AdjTensor *grad)
{
  AdjTensor **slot;
  AdjTensor *sum;

  if (info->grads == NULL)
    info->grads = g_new0 (AdjTensor *, info->node->n_inputs + 1);
  slot = &info->grads[input];
  if (grad == NULL)
    return TRUE;
  sum = *slot != NULL
            ? ADJ_APPLY (task->cx, ADJ_OP_add_Tensor, ADJ_TENSOR (*slot), ADJ_TENSOR (grad))
            : grad;
  if (sum == NULL)
    return FALSE;
  adj_tensor_ref (sum);
  if (*slot != NULL)
    adj_tensor_unref (*slot);
  *slot = sum;
  return TRUE;
}

static gboolean
send_on (GraphTask *task, const AdjGradNode *node, AdjTensor **out)
{
  for (guint i = 0; i < node->n_edges; i++)
    {
      const GradEdge *edge = &node->edges[i];
      TaskNode *next = edge->node != NULL ? task_find (task, edge->node) : NULL;

      if (next == NULL)
        continue;
      next->dependencies--;
      if (next->grads == NULL && !task_is_executable (task, next))
        continue;
      if (!arrive (task, next, edge->input, out[i]))
        return FALSE;
      g_clear_pointer (&out[i], adj_tensor_unref);
      if (next->dependencies == 0)
        task_push (task, next);
    }
  return TRUE;
}

static gboolean
capture (GraphTask *task, TaskNode *info)
{
  if (!info->needed && (!node_run_tensor_hooks (task->cx, info->node, info->grads) ||
                        !node_run_retainers (task->cx, info->node, info->grads)))
    return FALSE;
  for (guint i = 0; info->captures != NULL && i < info->captures->len; i++)
    {
      guint target = g_array_index (info->captures, guint, i);

      task->request->captured[target] =
          adj_keep (info->grads[task->request->targets[target].edge.input]);
    }
  return TRUE;
}

static gboolean
evaluate (GraphTask *task, TaskNode *info)
{
  AdjContext *cx = task->cx;
  AdjGradNode *node = info->node;
  g_autofree AdjTensor **out = g_new0 (AdjTensor *, node->n_edges + 1);
  AdjPlace before = *adj_context_get_place (cx);
  AdjPlace place = node->place;
  const AdjGradNode *outer = task->node;
  gboolean done = TRUE;

  task->node = node;
  if (task->request->n_targets > 0)
    done = capture (task, info);
  if (done && (task->request->n_targets == 0 || info->needed))
    {
      if ((task->request->flags & ADJ_BACKWARD_OF_PROGRAM) != 0)
        place = before;
      else
        place.running = node->sequence + 1;
      adj_context_set_place (cx, &place);
      done = run_hooks_before (task, info) && apply (task, info, out);
      if (done)
        {
          place.accumulates = place.running > 0;
          adj_context_set_place (cx, &place);
          adj_scope_begin (cx);
          task_clear_grads (info);
          done = send_on (task, node, out);
          adj_scope_end (cx);
        }
      adj_context_set_place (cx, &before);
    }
  task->node = outer;
  if (!done && (task->autograd->flags & ADJ_AUTOGRAD_ANOMALY) != 0)
    anomaly_explain (cx, node);
  for (guint i = 0; i < node->n_edges; i++)
    g_clear_pointer (&out[i], adj_tensor_unref);
  task_clear_grads (info);
  return done;
}

/* -- one backward -- */

typedef struct
{
  AdjGradNode parent;
  AdjTensor *const *grads; /* unowned */
} RootNode;

static gboolean
root_apply (AdjGradNode *node,
            AdjContext *cx,
            AdjTensor *const *grads,
            const gboolean *needed,
            AdjTensor **out)
{
  for (guint i = 0; i < node->n_edges; i++)
    out[i] = adj_keep (((RootNode *) node)->grads[i]);
  return TRUE;
}

static gboolean
root_visit (AdjGradNode *node, GradVisitor *visitor)
{
  for (guint i = 0; i < node->n_edges; i++)
    visitor->leaf (visitor, "gradient", &ADJ_TENSOR (((RootNode *) node)->grads[i]), TRUE);
  return TRUE;
}

static const GradNodeClass root_class = { .apply = root_apply, .visit = root_visit };

/* (transfer full): the first node of the backward: the root itself, or an artificial node above
 * several roots, or above any root if a walker replaces the engine. */
static AdjGradNode *
make_root (Autograd *autograd, const GradRequest *request, gboolean own)
{
  g_autofree GradEdge *edges = NULL;
  AdjGradNode *node;

  if (request->n_roots == 1 && !own)
    return adj_grad_node_ref (request->roots[0].node);
  node = grad_node_new (autograd, &root_class, sizeof (RootNode), g_strdup ("GraphRoot"));
  ((RootNode *) node)->grads = request->grads;
  edges = g_new0 (GradEdge, request->n_roots);
  for (guint i = 0; i < request->n_roots; i++)
    {
      edges[i] = request->roots[i];
      adj_grad_node_ref (edges[i].node);
    }
  grad_node_set_edges (node, edges, request->n_roots);
  return node;
}

gboolean
engine_run_callbacks (AdjContext *cx)
{
  GraphTask *task = autograd_find (cx)->task;

  while (task->n_called < task->callbacks->len && !adj_context_has_error (cx))
    {
      TaskCallback callback = g_array_index (task->callbacks, TaskCallback, task->n_called++);

      callback.callback (cx, callback.data);
    }
  return !adj_context_has_error (cx);
}

static gboolean
walk (GraphTask *task)
{
  const GradRequest *request = task->request;
  TaskNode *root = task_find (task, task->root);
  gboolean own = task->root->klass == &root_class;
  gboolean done =
      arrive (task, root, own ? 0 : request->roots[0].input, own ? NULL : request->grads[0]);

  task_push (task, root);
  while (done && task->ready->len > 0)
    done = evaluate (task, task_pop (task));
  return done;
}

/* Nested backwards, also those inside a walker, are run by the engine. */
static BackwardWalker *
find_walker (const Autograd *autograd)
{
  const GPtrArray *walkers = autograd->walkers;

  return walkers != NULL && walkers->len > 0 ? g_ptr_array_index (walkers, walkers->len - 1) : NULL;
}

static gboolean
run (GraphTask *task, BackwardWalker *walker)
{
  gboolean done = walker != NULL && walker->walk (walker, task->cx, task);

  if (!done && !adj_context_has_error (task->cx))
    done = walk (task);
  return done && engine_run_callbacks (task->cx);
}

gboolean
engine_run (AdjContext *cx, Autograd *autograd, const GradRequest *request)
{
  GraphTask task = { .cx = cx, .autograd = autograd, .request = request };
  GraphTask *outer = autograd->task;
  BackwardWalker *walker = find_walker (autograd);
  gboolean enabled = adj_context_get_grad_enabled (cx);
  gboolean done;

  task.id = autograd->n_tasks++;
  task_init (&task, make_root (autograd, request, walker != NULL));
  autograd->task = &task;
  autograd->n_nested += outer != NULL;
  adj_context_set_grad_enabled (cx, (request->flags & ADJ_BACKWARD_CREATE_GRAPH) != 0);
  if (walker != NULL && !walker->accepts (walker, cx, &task))
    walker = NULL;
  done = !adj_context_has_error (cx) && run (&task, walker);
  adj_context_set_grad_enabled (cx, enabled);
  autograd->task = outer;
  autograd->n_nested -= outer != NULL;
  task_clear (&task);
  return done && !adj_context_has_error (cx);
}

/* -- other walkers -- */

gboolean
engine_push_walker (AdjContext *cx, BackwardWalker *walker)
{
  Autograd *autograd = autograd_get (cx);

  if (autograd == NULL)
    return FALSE;
  if (autograd->task != NULL && find_walker (autograd) != walker)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "compiled_autograd._enable() requires no threads in backwards()");
      return FALSE;
    }
  if (autograd->walkers == NULL)
    autograd->walkers = g_ptr_array_new ();
  g_ptr_array_add (autograd->walkers, walker);
  return TRUE;
}

void
engine_pop_walker (AdjContext *cx)
{
  Autograd *autograd = autograd_find (cx);

  g_return_if_fail (autograd != NULL && autograd->walkers != NULL && autograd->walkers->len > 0);

  g_ptr_array_set_size (autograd->walkers, (gint) autograd->walkers->len - 1);
}

BackwardWalker *
engine_get_walker (AdjContext *cx)
{
  const Autograd *autograd = autograd_find (cx);

  return autograd != NULL ? find_walker (autograd) : NULL;
}

gboolean
adj_autograd_queue_callback (AdjContext *cx, AdjBackwardDoneFunc callback, gpointer data)
{
  TaskCallback entry = { callback, data };
  Autograd *autograd;

  g_return_val_if_fail (cx != NULL && callback != NULL, FALSE);

  autograd = autograd_get (cx);
  if (autograd != NULL && autograd->task == NULL)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                      "Final callbacks can only be installed during backward pass.");
  if (autograd == NULL || autograd->task == NULL)
    return FALSE;
  g_array_append_val (autograd->task->callbacks, entry);
  return TRUE;
}

/* -- the backward that runs -- */

gboolean
engine_get_task (const Autograd *autograd, guint64 *id)
{
  if (autograd->task == NULL)
    return FALSE;
  *id = autograd->task->id;
  return TRUE;
}

gboolean
engine_will_run (const Autograd *autograd, const AdjGradNode *node)
{
  return task_reaches (autograd->task, node);
}

AdjGradNode *
engine_get_node (const Autograd *autograd)
{
  return autograd->task != NULL ? (AdjGradNode *) autograd->task->node : NULL;
}

const AdjGradNode *
engine_enter_node (AdjContext *cx, const AdjGradNode *node)
{
  GraphTask *task = autograd_find (cx)->task;
  const AdjGradNode *before = task != NULL ? task->node : NULL;

  if (task != NULL)
    task->node = node;
  return before;
}

gboolean
engine_reaches (AdjContext *cx, const AdjGradNode *node)
{
  return engine_will_run (autograd_find (cx), node);
}
