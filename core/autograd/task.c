/* SPDX-License-Identifier: MIT */
/* The task of one backward: its nodes, their open dependencies, which are needed, and their order.
 */

#include "autograd/task-private.h"

void
task_clear_grads (TaskNode *info)
{
  for (guint i = 0; info->grads != NULL && i < info->node->n_inputs; i++)
    g_clear_pointer (&info->grads[i], adj_tensor_unref);
}

/* Nested backwards end before the enclosing ones, so that the outer state is restored. */
static void
clear_info (TaskNode *info)
{
  task_clear_grads (info);
  g_free (info->grads);
  g_clear_pointer (&info->captures, g_array_unref);
  info->node->task_node = info->outer;
  adj_grad_node_unref (info->node);
}

TaskNode *
task_find (const GraphTask *task, const AdjGradNode *node)
{
  TaskNode *info = node->task_node;

  while (info != NULL && info->task != task)
    info = info->outer;
  return info;
}

/* -- the heap: pops equal sequence numbers as PyTorch does, or first in, first out
 * (autograd/SPEC.md §3.2) -- */

static gboolean
is_after (const GraphTask *task, const TaskNode *a, const TaskNode *b)
{
  if (a->sequence != b->sequence)
    return a->sequence < b->sequence;
  return (task->autograd->flags & ADJ_AUTOGRAD_TORCH_TIES) == 0 && a->order > b->order;
}

void
task_push (GraphTask *task, TaskNode *info)
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

TaskNode *
task_pop (GraphTask *task)
{
  GPtrArray *heap = task->ready;
  TaskNode *first = g_ptr_array_index (heap, 0);
  TaskNode *last = g_ptr_array_steal_index (heap, heap->len - 1);
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

static TaskNode *
add_info (GraphTask *task, AdjGradNode *node)
{
  TaskNode *info = adj_arena_new0 (task->arena, TaskNode, 1);

  info->node = adj_grad_node_ref (node);
  info->sequence = node->sequence;
  info->task = task;
  info->outer = node->task_node;
  node->task_node = info;
  g_ptr_array_add (task->nodes, info);
  return info;
}

/* Finds every node reached from @root, and counts the edges into it. */
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
          TaskNode *info = next != NULL ? task_find (task, next) : NULL;

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

/* State of a node, which the backward reaches. */
static TaskNode *
get_info (const GraphTask *task, const AdjGradNode *node)
{
  TaskNode *info = task_find (task, node);

  g_assert (info != NULL);
  return info;
}

gboolean
task_is_executable (const GraphTask *task, const TaskNode *info)
{
  return task->request->n_targets == 0 || info->needed || info->captures != NULL;
}

static gint
by_topological (gconstpointer a, gconstpointer b)
{
  guint64 left = (*(TaskNode *const *) a)->node->topological;
  guint64 right = (*(TaskNode *const *) b)->node->topological;

  return left < right ? -1 : left > right;
}

/* Marks the targets, and every node that leads to one. */
static void
mark_needed (GraphTask *task)
{
  const GradRequest *request = task->request;
  g_autoptr (GPtrArray) infos = NULL;

  if (request->n_targets == 0) /* all nodes are needed */
    return;
  for (guint i = 0; i < request->n_targets; i++)
    {
      TaskNode *info = task_find (task, request->targets[i].edge.node);

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
  infos = g_ptr_array_copy (task->nodes, NULL, NULL);
  g_ptr_array_sort (infos, by_topological);
  for (guint i = 0; i < infos->len; i++)
    {
      TaskNode *info = g_ptr_array_index (infos, i);

      for (guint k = 0; k < info->node->n_edges; k++)
        if (info->node->edges[k].node != NULL)
          info->needed |= task_is_executable (task, task_find (task, info->node->edges[k].node));
    }
}

void
task_init (GraphTask *task, AdjGradNode *root)
{
  task->root = root;
  task->arena = adj_arena_new ();
  task->nodes = g_ptr_array_new ();
  task->ready = g_ptr_array_new ();
  task->callbacks = g_array_new (FALSE, FALSE, sizeof (TaskCallback));
  count_dependencies (task, root);
  mark_needed (task);
  get_info (task, root)->needed |= task->request->roots[0].node != root;
}

void
task_clear (GraphTask *task)
{
  g_array_unref (task->callbacks);
  g_ptr_array_unref (task->ready);
  for (guint i = 0; i < task->nodes->len; i++)
    clear_info (g_ptr_array_index (task->nodes, i));
  g_ptr_array_unref (task->nodes);
  adj_arena_free (task->arena);
  adj_grad_node_unref (task->root);
}

/* -- for who walks in another way -- */

const GradRequest *
task_get_request (const GraphTask *task)
{
  return task->request;
}

gboolean
task_reaches (const GraphTask *task, const AdjGradNode *node)
{
  const TaskNode *info = task_find (task, node);

  return info != NULL && task_is_executable (task, info);
}

gboolean
task_needs (const GraphTask *task, const AdjGradNode *node)
{
  return task->request->n_targets == 0 || get_info (task, node)->needed;
}

const GArray *
task_get_captures (const GraphTask *task, const AdjGradNode *node)
{
  return get_info (task, node)->captures;
}

guint
task_look_up (GraphTask *task, const AdjGradNode *node)
{
  TaskNode *info = get_info (task, node);

  if (info->id == 0)
    info->id = ++task->n_looked_up;
  return info->id - 1;
}

/* Takes a node without open dependencies: the last found, or the next of the engine. */
static TaskNode *
take_next (GraphTask *task, gboolean last_first)
{
  return last_first ? g_ptr_array_steal_index (task->ready, task->ready->len - 1) : task_pop (task);
}

static void
put_ready (GraphTask *task, TaskNode *info, gboolean last_first)
{
  if (last_first)
    g_ptr_array_add (task->ready, info);
  else
    task_push (task, info);
}

/* After @node was listed: decrements the dependencies of its successors. */
static void
list_next (GraphTask *task, const AdjGradNode *node, gboolean last_first)
{
  for (guint i = 0; i < node->n_edges; i++)
    {
      TaskNode *next = node->edges[i].node != NULL ? task_find (task, node->edges[i].node) : NULL;

      if (next == NULL || !task_is_executable (task, next))
        continue;
      if (next->n_left == 0)
        next->n_left = next->dependencies;
      if (--next->n_left == 0)
        put_ready (task, next, last_first);
    }
}

GPtrArray *
task_list_nodes (GraphTask *task, gboolean last_first)
{
  GPtrArray *list = g_ptr_array_new ();

  put_ready (task, task_find (task, task->root), last_first);
  while (task->ready->len > 0)
    {
      const TaskNode *info = take_next (task, last_first);

      g_ptr_array_add (list, info->node);
      if (task->request->n_targets == 0 || info->needed)
        list_next (task, info->node, last_first);
    }
  return list;
}
