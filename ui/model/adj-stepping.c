/* SPDX-License-Identifier: MIT */
/* Runs a captured backward event by event.  Its thread waits at a condition between two nodes; the
 * main thread gets copies of the values and alone is queried. */

#include "model/adj-stepping.h"

#include <gio/gio.h>
#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "model/adj-task.h"
#include "session/adj-session.h"

struct _AdjStepping
{
  GObject parent_instance;

  AdjGraphSet *graphs;
  const AdjBundleGraph *graph; /* (unowned): of @graphs */
  AdjRunChoice choice;
  AdjBackward *backward;
  guint *steps;  /* per node: the step that it belongs to; G_MAXUINT: none */
  guint *last;   /* per step: its last node that runs */
  AdjTask *task; /* (owned) (nullable) */
  AdjSteppingState state;
  GError *error;

  /* accessed by the main thread only */
  AdjSteppingEvent event;
  guint n_events;
  GArray *values;

  /* shared by both threads */
  GMutex lock;
  GCond go_on;
  guint8 *breakpoints; /* by step */
  gboolean continues;  /* waits only at breakpoints */
  gboolean waits;
};

G_DEFINE_FINAL_TYPE (AdjStepping, adj_stepping, G_TYPE_OBJECT)

static guint changed;

static void
value_clear (gpointer data)
{
  adj_tensor_data_unref (((AdjSteppingValue *) data)->value);
}

static GArray *
values_new (void)
{
  GArray *values = g_array_new (FALSE, FALSE, sizeof (AdjSteppingValue));

  g_array_set_clear_func (values, value_clear);
  return values;
}

/* -- steps -- */

static const AdjBackwardStep *
get_step (AdjStepping *self, guint index)
{
  return &g_array_index (self->backward->steps, AdjBackwardStep, index);
}

/* Finds the nodes of each step; an autograd node has several, each of which names it. */
static void
find_steps (AdjStepping *self)
{
  const AdjCaptured *captured = self->backward->captured;
  const guint n = self->backward->n, n_steps = self->backward->steps->len;
  g_autoptr (GHashTable) by_call = g_hash_table_new (NULL, NULL);

  self->steps = g_new (guint, n + 1);
  self->last = g_new0 (guint, n_steps + 1);
  for (guint i = 0; i <= n; i++)
    self->steps[i] = G_MAXUINT;
  for (guint i = 0; i < n_steps; i++)
    {
      const guint node = get_step (self, i)->node.index;

      self->steps[node] = i;
      if (adj_captured_get_node (captured, node)->kind == ADJ_CAPTURED_OTHER)
        g_hash_table_insert (by_call,
                             GUINT_TO_POINTER (adj_captured_get_node (captured, node)->call),
                             GUINT_TO_POINTER (i + 1));
    }
  for (guint i = self->backward->first; i < n; i++)
    {
      const AdjCapturedNode *node = adj_captured_get_node (captured, i);
      const guint step =
          GPOINTER_TO_UINT (g_hash_table_lookup (by_call, GUINT_TO_POINTER (node->call)));

      if (self->steps[i] == G_MAXUINT && node->kind == ADJ_CAPTURED_OTHER && step > 0)
        self->steps[i] = step - 1;
      if (self->steps[i] != G_MAXUINT)
        self->last[self->steps[i]] = i;
    }
}

/* -- in the thread that runs -- */

typedef struct
{
  AdjStepping *self; /* (owned) */
  AdjTask *task;     /* (owned): the task that reached the event */
  AdjSteppingEvent event;
  gboolean waits; /* the thread waits at it */
  GArray *values; /* (owned) */
} Arrival;

static void
arrival_free (gpointer data)
{
  Arrival *arrival = data;

  g_object_unref (arrival->self);
  adj_task_unref (arrival->task);
  g_array_unref (arrival->values);
  g_free (arrival);
}

static gboolean
on_arrived (gpointer data)
{
  Arrival *arrival = data;
  AdjStepping *self = arrival->self;

  if (arrival->task != self->task)
    return G_SOURCE_REMOVE;
  self->n_events++;
  if (!arrival->waits)
    return G_SOURCE_REMOVE;
  self->event = arrival->event;
  g_array_unref (self->values);
  self->values = g_array_ref (arrival->values);
  self->state = ADJ_STEPPING_WAITS;
  g_signal_emit (self, changed, 0);
  return G_SOURCE_REMOVE;
}

static void
add_value (GArray *values, AdjNodeId node, AdjTensorData *data)
{
  const AdjSteppingValue value = { node, data };

  if (data == NULL)
    return;
  adj_tensor_data_ref (data);
  g_array_append_val (values, value);
}

typedef struct
{
  AdjStepping *self;
  AdjTask *task;
  GCancellable *cancellable;
  GHashTable *alive; /* node → AdjTensorData that is still to be read */
} Running;

static AdjTensorData *
find_alive (const Running *running, AdjNodeId node)
{
  return g_hash_table_lookup (running->alive, GUINT_TO_POINTER (node.index));
}

/* The inputs of a step that were computed in this run or, at its end, the result of its last node.
 */
static GArray *
list_values (const Running *running, const AdjSteppingEvent *event)
{
  const AdjNode *node = adj_graph_get_node (running->self->graph->graph, event->node.index);
  GArray *values = values_new ();

  for (guint i = 0; i < node->n_inputs && !event->ends; i++)
    add_value (values, node->inputs[i], find_alive (running, node->inputs[i]));
  if (event->ends)
    add_value (values, event->node, find_alive (running, event->node));
  return values;
}

/* Reports the event to the main thread, and waits until it may continue. */
static void
arrive (const Running *running, AdjSteppingEvent event)
{
  AdjStepping *self = running->self;
  Arrival *arrival = g_new0 (Arrival, 1);

  arrival->self = g_object_ref (self);
  arrival->task = adj_task_ref (running->task);
  arrival->event = event;
  arrival->values = list_values (running, &event);
  g_mutex_lock (&self->lock);
  self->waits = !g_cancellable_is_cancelled (running->cancellable) &&
                (!self->continues || (!event.ends && self->breakpoints[event.step] != 0));
  arrival->waits = self->waits;
  g_idle_add_full (G_PRIORITY_DEFAULT, on_arrived, arrival, arrival_free);
  while (self->waits && !g_cancellable_is_cancelled (running->cancellable))
    g_cond_wait (&self->go_on, &self->lock);
  g_mutex_unlock (&self->lock);
}

static void
before_node (AdjNodeId id, gpointer data)
{
  const Running *running = data;
  AdjStepping *self = running->self;
  const guint step = id.index < self->backward->n ? self->steps[id.index] : G_MAXUINT;

  if (step != G_MAXUINT && get_step (self, step)->node.index == id.index)
    arrive (running, (AdjSteppingEvent){ step, id, FALSE });
}

/* Drops values at their last use, as the run does. */
static void
drop_read (const Running *running, guint index)
{
  const AdjGraph *graph = running->self->graph->graph;
  const AdjNode *node = adj_graph_get_node (graph, index);

  for (guint i = 0; i < node->n_inputs; i++)
    if (adj_graph_get_last_use (graph, node->inputs[i].index).index == index)
      g_hash_table_remove (running->alive, GUINT_TO_POINTER (node->inputs[i].index));
  if (node->n_users == 0)
    g_hash_table_remove (running->alive, GUINT_TO_POINTER (index));
}

static gboolean
after_node (AdjNodeId id, const AdjValue *value, gpointer data)
{
  const Running *running = data;
  AdjStepping *self = running->self;
  const guint step = id.index < self->backward->n ? self->steps[id.index] : G_MAXUINT;

  if (value->kind == ADJ_VALUE_DATA)
    g_hash_table_insert (running->alive, GUINT_TO_POINTER (id.index),
                         adj_tensor_data_ref (value->data));
  if (step != G_MAXUINT && self->last[step] == id.index)
    arrive (running, (AdjSteppingEvent){ step, id, TRUE });
  drop_read (running, id.index);
  return !g_cancellable_is_cancelled (running->cancellable);
}

static gpointer
run (AdjTask *task, GCancellable *cancellable, GError **error)
{
  AdjStepping *self = adj_task_get_input (task);
  const AdjBundleGraph *recorded = adj_graph_set_get_recorded (self->graphs, self->graph);
  g_autoptr (GHashTable) alive =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) adj_tensor_data_unref);
  Running running = { self, task, cancellable, alive };
  g_autoptr (AdjRecordedCall) kept =
      self->choice.kept != NULL
          ? adj_graph_set_find_run (self->graphs, self->graph, self->choice.kept)
          : NULL;
  const AdjSessionRun session = {
    .bundle = adj_graph_set_get_bundle (self->graphs),
    .graph = self->graph,
    .recorded = recorded != self->graph ? recorded : NULL,
    .call = self->choice.call,
    .kept = kept,
    .random = kept == NULL && self->choice.random,
    .seed = self->choice.seed,
    .float64 = self->choice.float64,
    .before = before_node,
    .tap = after_node,
    .data = &running,
  };
  AdjRunResult result = { 0 };
  gboolean done = adj_session_run (&session, &result, NULL, cancellable, error);

  adj_run_result_clear (&result);
  return done ? GINT_TO_POINTER (1) : NULL;
}

/* -- in the main thread -- */

static void
on_done (GObject *source, GAsyncResult *result, gpointer data)
{
  AdjStepping *self = ADJ_STEPPING (source);
  g_autoptr (GError) error = NULL;
  gboolean done = adj_task_finish (result, &error) != NULL;

  if (adj_task_from_result (result) != self->task)
    return;
  g_clear_pointer (&self->task, adj_task_unref);
  self->state = done ? ADJ_STEPPING_ENDED : ADJ_STEPPING_FAILED;
  if (!done && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    self->state = ADJ_STEPPING_IDLE;
  else if (!done)
    self->error = g_steal_pointer (&error);
  g_array_set_size (self->values, 0);
  g_signal_emit (self, changed, 0);
}

static void
start (AdjStepping *self)
{
  g_clear_error (&self->error);
  self->n_events = 0;
  self->task = adj_task_start (G_OBJECT (self), ADJ_LOAD_LIGHT, run, g_object_ref (self),
                               g_object_unref, NULL, on_done);
}

void
adj_stepping_go (AdjStepping *self, AdjRunChoice choice, gboolean continues)
{
  g_return_if_fail (ADJ_IS_STEPPING (self));

  if (self->state == ADJ_STEPPING_RUNS)
    return;
  g_mutex_lock (&self->lock);
  self->continues = continues;
  self->waits = FALSE;
  g_cond_signal (&self->go_on);
  g_mutex_unlock (&self->lock);
  self->state = ADJ_STEPPING_RUNS;
  if (self->task != NULL)
    return;
  self->choice = choice;
  start (self);
}

void
adj_stepping_stop (AdjStepping *self)
{
  g_return_if_fail (ADJ_IS_STEPPING (self));

  if (self->task == NULL)
    return;
  adj_task_cancel (self->task);
  g_mutex_lock (&self->lock);
  g_cond_signal (&self->go_on);
  g_mutex_unlock (&self->lock);
  g_clear_pointer (&self->task, adj_task_unref);
  self->state = ADJ_STEPPING_IDLE;
  g_array_set_size (self->values, 0);
  g_signal_emit (self, changed, 0);
}

const AdjBackward *
adj_stepping_get_backward (AdjStepping *self)
{
  return self->backward;
}

AdjSteppingState
adj_stepping_get_state (AdjStepping *self)
{
  return self->state;
}

gboolean
adj_stepping_is_busy (AdjStepping *self)
{
  return self->task != NULL;
}

gboolean
adj_stepping_get_event (AdjStepping *self, AdjSteppingEvent *event)
{
  if (self->state != ADJ_STEPPING_WAITS)
    return FALSE;
  *event = self->event;
  return TRUE;
}

const GArray *
adj_stepping_get_values (AdjStepping *self)
{
  return self->values;
}

guint
adj_stepping_get_n_events (AdjStepping *self)
{
  return self->n_events;
}

const GError *
adj_stepping_get_error (AdjStepping *self)
{
  return self->error;
}

static char *
describe_event (AdjStepping *self)
{
  const AdjBackwardStep *step = get_step (self, self->event.step);
  const gboolean ends = self->event.ends;

  if (step->role == ADJ_ROLE_HOOK)
    return g_strdup_printf (ends ? _ ("after the hook %s") : _ ("before the hook %s"), step->title);
  if (step->role == ADJ_ROLE_ACCUMULATE)
    return g_strdup_printf (ends ? _ ("after: %s") : _ ("before: %s"), step->title);
  return g_strdup_printf (ends ? _ ("after %s") : _ ("before %s"), step->title);
}

char *
adj_stepping_describe (AdjStepping *self)
{
  switch (self->state)
    {
    case ADJ_STEPPING_RUNS:
      return g_strdup (_ ("runs"));
    case ADJ_STEPPING_WAITS:
      return describe_event (self);
    case ADJ_STEPPING_ENDED:
      return g_strdup_printf (_ ("ended after %u events"), self->n_events);
    case ADJ_STEPPING_FAILED:
      return g_strdup (self->error->message);
    case ADJ_STEPPING_IDLE:
      break;
    }
  return g_strdup (_ ("does not run"));
}

guint
adj_stepping_find_step (AdjStepping *self, AdjNodeId node)
{
  return adj_node_id_is_valid (node) && node.index < self->backward->n ? self->steps[node.index]
                                                                       : G_MAXUINT;
}

gboolean
adj_stepping_has_breakpoint (AdjStepping *self, guint step)
{
  return step < self->backward->steps->len && self->breakpoints[step] != 0;
}

void
adj_stepping_toggle_breakpoint (AdjStepping *self, guint step)
{
  g_return_if_fail (ADJ_IS_STEPPING (self));

  if (step >= self->backward->steps->len)
    return;
  g_mutex_lock (&self->lock);
  self->breakpoints[step] ^= 1;
  g_mutex_unlock (&self->lock);
  g_signal_emit (self, changed, 0);
}

/* -- the object -- */

static void
adj_stepping_finalize (GObject *object)
{
  AdjStepping *self = ADJ_STEPPING (object);

  g_clear_pointer (&self->task, adj_task_unref);
  g_clear_pointer (&self->backward, adj_backward_free);
  g_clear_pointer (&self->graphs, adj_graph_set_unref);
  g_clear_error (&self->error);
  g_array_unref (self->values);
  g_free (self->steps);
  g_free (self->last);
  g_free (self->breakpoints);
  g_cond_clear (&self->go_on);
  g_mutex_clear (&self->lock);

  G_OBJECT_CLASS (adj_stepping_parent_class)->finalize (object);
}

static void
adj_stepping_class_init (AdjSteppingClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = adj_stepping_finalize;

  changed = g_signal_new ("changed", ADJ_TYPE_STEPPING, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                          G_TYPE_NONE, 0);
}

static void
adj_stepping_init (AdjStepping *self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->go_on);
  self->values = values_new ();
}

AdjStepping *
adj_stepping_new (AdjGraphSet *graphs, const AdjBundleGraph *graph, AdjCaptured *captured)
{
  AdjStepping *self = g_object_new (ADJ_TYPE_STEPPING, NULL);

  self->graphs = adj_graph_set_ref (graphs);
  self->graph = graph;
  self->backward = adj_backward_new (captured, adj_graph_set_get_bundle (graphs));
  self->breakpoints = g_new0 (guint8, self->backward->steps->len + 1);
  find_steps (self);
  return self;
}
