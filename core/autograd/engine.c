/* SPDX-License-Identifier: MIT */
#include "autograd/autograd-private.h"

/* One backward: nodes run when all gradients that they wait for have arrived, latest first. */

typedef struct
{
  AdjGradNode *node; /* (owned) */
  guint dependencies;
  gboolean needed;   /* runs, when only some nodes are wanted */
  GArray *captures;  /* (nullable): indices of targets */
  AdjTensor **grads; /* (nullable): by input, owned; what has arrived */
  guint64 order;     /* when it became ready */
} Info;

typedef struct
{
  AdjBackwardDoneFunc callback;
  gpointer data;
} Callback;

struct _GraphTask
{
  AdjContext *cx;
  Autograd *autograd;
  const GradRequest *request;
  GHashTable *infos;
  guint64 id;
  const AdjGradNode *node; /* (nullable): that runs now */
  GPtrArray *ready;        /* heap of Info */
  guint64 n_ready;
  GArray *callbacks;
};

static void
clear_tensors (AdjTensor **tensors, guint n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&tensors[i], adj_tensor_unref);
}

static void
info_free (gpointer data)
{
  Info *info = data;

  if (info->grads != NULL)
    clear_tensors (info->grads, info->node->n_inputs);
  g_free (info->grads);
  g_clear_pointer (&info->captures, g_array_unref);
  adj_grad_node_unref (info->node);
  g_free (info);
}

static Info *
find_info (const GraphTask *task, const AdjGradNode *node)
{
  return g_hash_table_lookup (task->infos, node);
}

/* -- the heap: pops equal sequence numbers in the order in which PyTorch does (§1.4), or first in,
 * first out -- */

static gboolean
is_after (const GraphTask *task, const Info *a, const Info *b)
{
  if (a->node->sequence != b->node->sequence)
    return a->node->sequence < b->node->sequence;
  return (task->autograd->flags & ADJ_AUTOGRAD_TORCH_TIES) == 0 && a->order > b->order;
}

static void
push (GraphTask *task, Info *info)
{
  GPtrArray *heap = task->ready;
  guint i = heap->len;

  info->order = task->n_ready++;
  g_ptr_array_add (heap, info);
  for (guint parent = (i - 1) / 2; i > 0; i = parent, parent = (i - 1) / 2)
    {
      if (!is_after (task, heap->pdata[parent], info))
        break;
      heap->pdata[i] = heap->pdata[parent];
    }
  heap->pdata[i] = info;
}

static Info *
pop (GraphTask *task)
{
  GPtrArray *heap = task->ready;
  Info *first = g_ptr_array_index (heap, 0);
  Info *last = g_ptr_array_steal_index (heap, heap->len - 1);
  guint n = heap->len, hole = 0;

  if (n == 0)
    return first;
  for (guint child = 2; child <= n; child = 2 * hole + 2)
    {
      if (child == n || is_after (task, heap->pdata[child], heap->pdata[child - 1]))
        child--;
      heap->pdata[hole] = heap->pdata[child];
      hole = child;
    }
  for (guint parent = (hole - 1) / 2; hole > 0 && is_after (task, heap->pdata[parent], last);
       parent = (hole - 1) / 2)
    {
      heap->pdata[hole] = heap->pdata[parent];
      hole = parent;
    }
  heap->pdata[hole] = last;
  return first;
}

/* -- preparation -- */

static Info *
add_info (GraphTask *task, AdjGradNode *node)
{
  Info *info = g_new0 (Info, 1);

  info->node = adj_grad_node_ref (node);
  g_hash_table_insert (task->infos, node, info);
  return info;
}

/* Finds every node from @root, and how many edges lead into it. */
static void
count_dependencies (GraphTask *task, AdjGradNode *root)
{
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();

  add_info (task, root);
  g_ptr_array_add (stack, root);
  while (stack->len > 0)
    {
      const AdjGradNode *node = g_ptr_array_steal_index_fast (stack, stack->len - 1);

      for (guint i = 0; i < node->n_edges; i++)
        {
          AdjGradNode *next = node->edges[i].node;
          Info *info = next != NULL ? find_info (task, next) : NULL;

          if (next == NULL)
            continue;
          if (info == NULL)
            {
              info = add_info (task, next);
              g_ptr_array_add (stack, next);
            }
          info->dependencies++;
        }
    }
}

static gboolean
is_executable (const GraphTask *task, const Info *info)
{
  return task->request->n_targets == 0 || info->needed || info->captures != NULL;
}

static gint
by_topological (gconstpointer a, gconstpointer b)
{
  guint64 left = (*(Info *const *) a)->node->topological;
  guint64 right = (*(Info *const *) b)->node->topological;

  return left < right ? -1 : left > right;
}

/* Marks the targets, and every node from which one is reached. */
static void
mark_needed (GraphTask *task)
{
  const GradRequest *request = task->request;
  g_autoptr (GPtrArray) infos = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer value;

  for (guint i = 0; i < request->n_targets; i++)
    {
      Info *info = find_info (task, request->targets[i].edge.node);

      if (info == NULL)
        continue;
      if (request->targets[i].run)
        info->needed = TRUE;
      else
        {
          if (info->captures == NULL)
            info->captures = g_array_new (FALSE, FALSE, sizeof (guint));
          g_array_append_val (info->captures, i);
        }
    }
  g_hash_table_iter_init (&iter, task->infos);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    g_ptr_array_add (infos, value);
  g_ptr_array_sort (infos, by_topological);
  for (guint i = 0; i < infos->len; i++)
    {
      Info *info = g_ptr_array_index (infos, i);

      for (guint k = 0; k < info->node->n_edges; k++)
        if (info->node->edges[k].node != NULL)
          info->needed |= is_executable (task, find_info (task, info->node->edges[k].node));
    }
}

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
      tensor = grad_validate (task->cx, prefix, i, out[i], &edge->node->inputs[edge->input]);
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

/* What runs before the node sees its gradients.  In a scope of its own: the accumulator takes a
 * gradient over when nobody else holds it. */
static gboolean
run_hooks_before (GraphTask *task, Info *info)
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
apply (GraphTask *task, Info *info, AdjTensor **out)
{
  AdjGradNode *node = info->node;
  g_autofree gboolean *needed = g_new0 (gboolean, node->n_edges + 1);
  const AdjPlace place = *adj_context_get_place (task->cx);
  gboolean done;

  for (guint i = 0; i < node->n_edges; i++)
    needed[i] =
        node->edges[i].node != NULL && is_executable (task, find_info (task, node->edges[i].node));
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

/* Adds @grad to what has arrived at @edge. */
static gboolean
arrive (GraphTask *task, Info *info, guint input, AdjTensor *grad)
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
      Info *next = edge->node != NULL ? find_info (task, edge->node) : NULL;

      if (next == NULL)
        continue;
      next->dependencies--;
      if (next->grads == NULL && !is_executable (task, next))
        continue;
      if (!arrive (task, next, edge->input, out[i]))
        return FALSE;
      g_clear_pointer (&out[i], adj_tensor_unref);
      if (next->dependencies == 0)
        push (task, next);
    }
  return TRUE;
}

static gboolean
capture (GraphTask *task, Info *info)
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
evaluate (GraphTask *task, Info *info)
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
      place.running = node->sequence + 1;
      adj_context_set_place (cx, &place);
      done = run_hooks_before (task, info) && apply (task, info, out);
      if (done)
        {
          place.accumulates = TRUE;
          adj_context_set_place (cx, &place);
          adj_scope_begin (cx);
          clear_tensors (info->grads, node->n_inputs);
          done = send_on (task, node, out);
          adj_scope_end (cx);
        }
      adj_context_set_place (cx, &before);
    }
  task->node = outer;
  if (!done && (task->autograd->flags & ADJ_AUTOGRAD_ANOMALY) != 0)
    anomaly_explain (cx, node);
  clear_tensors (out, node->n_edges);
  if (info->grads != NULL)
    clear_tensors (info->grads, node->n_inputs);
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

static const GradNodeClass root_class = { .apply = root_apply };

/* (transfer full): one root is where it begins; several hang on a node of their own. */
static AdjGradNode *
make_root (GraphTask *task)
{
  const GradRequest *request = task->request;
  g_autofree GradEdge *edges = NULL;
  AdjGradNode *node;

  if (request->n_roots == 1)
    return adj_grad_node_ref (request->roots[0].node);
  node = grad_node_new (task->autograd, &root_class, sizeof (RootNode), g_strdup ("GraphRoot"));
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

static gboolean
run (GraphTask *task)
{
  const GradRequest *request = task->request;
  g_autoptr (AdjGradNode) root = make_root (task);
  gboolean done = TRUE;
  Info *info;

  count_dependencies (task, root);
  mark_needed (task);
  info = find_info (task, root);
  info->needed |= request->n_roots > 1;
  done = arrive (task, info, request->n_roots == 1 ? request->roots[0].input : 0,
                 request->n_roots == 1 ? request->grads[0] : NULL);
  push (task, info);
  while (done && task->ready->len > 0)
    done = evaluate (task, pop (task));
  for (guint i = 0; done && i < task->callbacks->len; i++)
    {
      Callback callback = g_array_index (task->callbacks, Callback, i);

      callback.callback (task->cx, callback.data);
      done = !adj_context_has_error (task->cx);
    }
  return done;
}

gboolean
engine_run (AdjContext *cx, Autograd *autograd, const GradRequest *request)
{
  GraphTask task = { .cx = cx, .autograd = autograd, .request = request };
  GraphTask *outer = autograd->task;
  gboolean enabled = adj_context_get_grad_enabled (cx);
  gboolean done;

  task.id = autograd->n_tasks++;
  task.infos = g_hash_table_new_full (NULL, NULL, NULL, info_free);
  task.ready = g_ptr_array_new ();
  task.callbacks = g_array_new (FALSE, FALSE, sizeof (Callback));
  autograd->task = &task;
  autograd->n_nested += outer != NULL;
  adj_context_set_grad_enabled (cx, (request->flags & ADJ_BACKWARD_CREATE_GRAPH) != 0);
  done = run (&task);
  adj_context_set_grad_enabled (cx, enabled);
  autograd->task = outer;
  autograd->n_nested -= outer != NULL;
  g_array_unref (task.callbacks);
  g_ptr_array_unref (task.ready);
  g_hash_table_unref (task.infos);
  return done && !adj_context_has_error (cx);
}

gboolean
adj_autograd_queue_callback (AdjContext *cx, AdjBackwardDoneFunc callback, gpointer data)
{
  Callback entry = { callback, data };
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
  const Info *info = find_info (autograd->task, node);

  return info != NULL && is_executable (autograd->task, info);
}

AdjGradNode *
engine_get_node (const Autograd *autograd)
{
  return autograd->task != NULL ? (AdjGradNode *) autograd->task->node : NULL;
}
