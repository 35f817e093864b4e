/* SPDX-License-Identifier: MIT */
/* Compares a run with the log of another run, which has only norms and hashes of values. */

#include <math.h>
#include <string.h>

#include "ir/adj-graph.h"
#include "session/adj-debug-comparison.h"
#include "session/alignment-private.h"
#include "tensor/adj-element.h"
#include "tensor/adj-late-bytes-internal.h"

/* Tolerances: how many roundings the summation order of a norm explains, and how many times the
 * run's own distance from float64 the logged norm may have, since both distances are random. */
#define ROUNDINGS 32
#define DISTANCES 16
#define SAME_SUM 1e-12 /* relative difference that the summation order in float64 explains */

typedef enum
{
  UNVISITED,
  AGREES,
  DIFFERS,
} State;

typedef struct
{
  const AdjGraph *graph;
  const AdjDebugLog *log;
  GArray *places; /* guint: nodes that call an operator, in order */
  GHashTable *values, *exact;
  AdjDebugComparison *comparison;
  State *states; /* per node; one that was not compared inherits the state of its inputs */
} Comparing;

/* -- what is known of a tensor -- */

typedef struct
{
  double norm;
  guint64 bits;
} Digest;

static guint64
bits_of (double number)
{
  guint64 bits;

  memcpy (&bits, &number, sizeof bits);
  return bits;
}

static Digest
digest (AdjTensorData *data)
{
  g_autoptr (AdjTensorData) dense = adj_tensor_data_contiguous (data);
  AdjDType dtype = adj_tensor_data_get_meta (dense)->dtype;
  gsize width = adj_dtype_info (dtype)->n_bytes;
  const guint8 *at = (const guint8 *) g_bytes_get_data (adj_tensor_data_get_bytes (dense), NULL) +
                     (gsize) adj_tensor_data_get_meta (dense)->shape.offset.word * width;
  gboolean complex = adj_dtype_info (dtype)->category == ADJ_CATEGORY_COMPLEX;
  Digest out = { 0 };

  for (gint64 i = 0; i < adj_tensor_data_get_numel (dense); i++, at += width)
    {
      AdjElement element = adj_element_load (dtype, at);

      out.norm += complex ? hypot (element.real, element.imaginary) : fabs (element.real);
      out.bits ^= element.is_integer ? (guint64) element.integer : bits_of (element.real);
      if (complex)
        out.bits ^= bits_of (element.imaginary);
    }
  return out;
}

/* -- which call is which node -- */

/* "torch.ops.aten.sum.dim_IntList" against "aten::sum.dim_IntList"; "default" is left out. */
static gboolean
is_same_op (const char *target, const char *op)
{
  const char *name = target + strlen ("torch.ops.");
  const char *dot = strchr (name, '.'), *colons = strstr (op, "::");
  gsize length = colons != NULL ? (gsize) (colons - op) : 0;
  const char *rest = dot != NULL ? dot + 1 : "";
  gsize n = strlen (rest);

  if (dot == NULL || colons == NULL || (gsize) (dot - name) != length ||
      strncmp (name, op, length) != 0)
    return FALSE;
  if (g_str_has_suffix (rest, ".default"))
    n -= strlen (".default");
  return strlen (colons + 2) == n && strncmp (rest, colons + 2, n) == 0;
}

/* (nullable): the first tensor that the node gives. */
static const AdjTensorMeta *
first_tensor (const AdjValue *val)
{
  if (val->kind == ADJ_VALUE_META)
    return val->meta;
  for (guint i = 0; adj_value_is_container (val) && i < val->n; i++)
    if (val->items[i].kind == ADJ_VALUE_META)
      return val->items[i].meta;
  return NULL;
}

static gboolean
is_same_call (guint a, guint b, gpointer data)
{
  const Comparing *comparing = data;
  const AdjNode *node =
      adj_graph_get_node (comparing->graph, g_array_index (comparing->places, guint, a));
  const AdjDebugCall *call = adj_debug_log_get (comparing->log, b);
  const AdjTensorMeta *meta = first_tensor (&node->val);

  if (!is_same_op (node->target, call->op))
    return FALSE;
  return call->n == 0 || call->values[0].dtype == NULL || meta == NULL ||
         (meta->shape.rank == call->values[0].rank &&
          g_str_equal (adj_dtype_info (meta->dtype)->code, call->values[0].dtype));
}

/* -- rows -- */

static gboolean
inputs_agree (const Comparing *comparing, const AdjNode *node)
{
  for (guint i = 0; i < node->n_inputs; i++)
    if (comparing->states[node->inputs[i].index] == DIFFERS)
      return FALSE;
  return TRUE;
}

static gboolean
is_same_type (const AdjTensorMeta *meta, const AdjDebugValue *value)
{
  if (value->dtype == NULL)
    return TRUE;
  if (!g_str_equal (adj_dtype_info (meta->dtype)->code, value->dtype) ||
      meta->shape.rank != value->rank)
    return FALSE;
  for (guint i = 0; i < value->rank; i++)
    if (meta->shape.size[i].word != value->sizes[i])
      return FALSE;
  return TRUE;
}

/* Two NaN are near: each is the sum of values with a NaN. */
static gboolean
is_near (double a, double b, double distance)
{
  return a == b || (isnan (a) && isnan (b)) || fabs (a - b) <= distance;
}

static AdjLogged
set_verdict (AdjDebugRow *row, const AdjDebugValue *value, AdjTensorData *own, AdjTensorData *exact)
{
  AdjDType dtype = adj_tensor_data_get_meta (own)->dtype;
  Digest digest_own = digest (own);
  gboolean same_norm =
      value->has_norm && is_near (digest_own.norm, value->norm, SAME_SUM * fabs (value->norm));

  row->norm = digest_own.norm;
  row->logged = value->has_norm ? value->norm : NAN;
  row->exact = exact != NULL ? digest (exact).norm : NAN;
  if (!is_same_type (adj_tensor_data_get_meta (own), value))
    return ADJ_LOGGED_DIFFERS;
  if (!value->has_norm && !value->has_xor)
    return ADJ_LOGGED_UNHASHED;
  if ((same_norm || !value->has_norm) && (!value->has_xor || value->bits == digest_own.bits))
    return ADJ_LOGGED_EQUAL;
  if (!value->has_norm)
    return ADJ_LOGGED_UNKNOWN;
  if (!adj_dtype_is_floating (dtype) && adj_dtype_info (dtype)->category != ADJ_CATEGORY_COMPLEX)
    return ADJ_LOGGED_DIFFERS;
  if (isnan (row->exact))
    row->exact = row->norm;
  row->limit = ROUNDINGS * adj_dtype_unit_roundoff (adj_dtype_get_real (dtype)) * row->exact +
               DISTANCES * fabs (row->norm - row->exact);
  return is_near (row->logged, row->exact, row->limit) ? ADJ_LOGGED_WITHIN : ADJ_LOGGED_DIFFERS;
}

static void
add_row (Comparing *comparing, const AdjDebugRow *row)
{
  AdjDebugComparison *comparison = comparing->comparison;

  comparison->n_by[row->verdict]++;
  if (row->verdict == ADJ_LOGGED_DIFFERS && comparison->first < 0)
    comparison->first = (gint) comparison->rows->len;
  g_array_append_val (comparison->rows, *row);
  if (adj_node_id_is_valid (row->node) && row->verdict <= ADJ_LOGGED_DIFFERS)
    comparing->states[row->node.index] = row->verdict == ADJ_LOGGED_DIFFERS ? DIFFERS : AGREES;
}

static void
compare_tensor (Comparing *comparing,
                const AdjNode *node,
                guint index,
                const AdjDebugCall *call,
                const AdjDebugValue *value)
{
  AdjTensorData *own = g_hash_table_lookup (comparing->values, node->name);
  AdjDebugRow row = { .node = { index },
                      .call = call,
                      .norm = NAN,
                      .logged = NAN,
                      .exact = NAN,
                      .limit = NAN,
                      .inputs_agree = inputs_agree (comparing, node) };

  row.verdict =
      own == NULL || value == NULL
          ? ADJ_LOGGED_UNHASHED
          : set_verdict (&row, value, own, g_hash_table_lookup (comparing->exact, node->name));
  add_row (comparing, &row);
}

/* Several results of a call are compared at the getitem nodes that take them. */
static void
compare_call (Comparing *comparing, guint index, const AdjDebugCall *call)
{
  const AdjNode *node = adj_graph_get_node (comparing->graph, index);

  if (call->single)
    {
      compare_tensor (comparing, node, index, call, call->n > 0 ? &call->values[0] : NULL);
      return;
    }
  for (guint i = 0; i < node->n_users; i++)
    {
      const AdjNode *user = adj_graph_get_node (comparing->graph, node->users[i].index);
      const AdjValue *at = user->args.n == 2 ? &user->args.items[1] : &ADJ_NONE;

      if (g_str_equal (user->target, "operator.getitem") && at->kind == ADJ_VALUE_INT &&
          at->integer >= 0 && at->integer < call->n)
        compare_tensor (comparing, user, node->users[i].index, call, &call->values[at->integer]);
    }
}

static void
add_alone (Comparing *comparing, AdjNodeId node, const AdjDebugCall *call)
{
  AdjDebugRow row = { .node = node,
                      .call = call,
                      .norm = NAN,
                      .logged = call != NULL && call->n > 0 && call->values[0].has_norm
                                    ? call->values[0].norm
                                    : NAN,
                      .exact = NAN,
                      .limit = NAN,
                      .inputs_agree = TRUE,
                      .verdict = call != NULL ? ADJ_LOGGED_ONLY_LOG : ADJ_LOGGED_ONLY_GRAPH };

  add_row (comparing, &row);
}

/* Adds rows in the order of the graph; calls that are only in the log come before the next matched
 * one. */
static void
compare_all (Comparing *comparing, const gint *partners)
{
  guint n = adj_graph_get_n_nodes (comparing->graph), place = 0, next = 0;

  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (comparing->graph, i);
      gboolean calls =
          place < comparing->places->len && g_array_index (comparing->places, guint, place) == i;
      gint partner = calls ? partners[place++] : -1;

      if (comparing->states[i] == UNVISITED)
        comparing->states[i] = inputs_agree (comparing, node) ? AGREES : DIFFERS;
      while (partner >= 0 && next < (guint) partner)
        add_alone (comparing, ADJ_NO_NODE, adj_debug_log_get (comparing->log, next++));
      if (partner >= 0)
        compare_call (comparing, i, adj_debug_log_get (comparing->log, next++));
      else if (calls)
        add_alone (comparing, (AdjNodeId){ i }, NULL);
    }
  while (next < adj_debug_log_get_n (comparing->log))
    add_alone (comparing, ADJ_NO_NODE, adj_debug_log_get (comparing->log, next++));
}

/* -- runs -- */

static GArray *
list_calls (const AdjGraph *graph)
{
  GArray *places = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (g_str_has_prefix (adj_graph_get_node (graph, i)->target, "torch.ops."))
      g_array_append_val (places, i);
  return places;
}

static gboolean
has_hashes (const AdjDebugLog *log)
{
  for (guint i = 0; i < adj_debug_log_get_n (log); i++)
    for (guint k = 0; k < adj_debug_log_get (log, i)->n; k++)
      if (adj_debug_log_get (log, i)->values[k].has_norm ||
          adj_debug_log_get (log, i)->values[k].has_xor)
        return TRUE;
  return FALSE;
}

static GHashTable *
run_for_values (const AdjSessionRun *run,
                gboolean float64,
                GCancellable *cancellable,
                GError **error)
{
  g_autoptr (GHashTable) values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                                         (GDestroyNotify) adj_tensor_data_unref);
  AdjSessionRun wide = *run;
  AdjRunResult result = { 0 };

  wide.float64 = float64;
  if (!adj_session_run (&wide, &result, values, cancellable, error))
    return NULL;
  adj_run_result_clear (&result);
  return g_steal_pointer (&values);
}

/* (nullable) */
static gint *
align (Comparing *comparing, GError **error)
{
  gint *partners = session_align (comparing->places->len, adj_debug_log_get_n (comparing->log),
                                  is_same_call, comparing);
  gboolean any = FALSE;

  for (guint i = 0; partners != NULL && i < comparing->places->len; i++)
    any = any || partners[i] >= 0;
  if (any)
    return partners;
  g_free (partners);
  g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                       "the log is of another program: its calls are not those of the graph");
  return NULL;
}

static AdjDebugComparison *
compare (Comparing *comparing, GError **error)
{
  g_autofree gint *partners = align (comparing, error);
  g_autofree State *states = g_new0 (State, adj_graph_get_n_nodes (comparing->graph));

  if (partners == NULL)
    return NULL;
  comparing->comparison = g_new0 (AdjDebugComparison, 1);
  comparing->comparison->rows = g_array_new (FALSE, FALSE, sizeof (AdjDebugRow));
  comparing->comparison->first = -1;
  comparing->states = states;
  compare_all (comparing, partners);
  return comparing->comparison;
}

AdjDebugComparison *
adj_session_compare_log (const AdjSessionRun *run,
                         const AdjDebugLog *log,
                         GCancellable *cancellable,
                         GError **error)
{
  g_autoptr (GHashTable) values = NULL;
  g_autoptr (GHashTable) exact = NULL;
  g_autoptr (GArray) places = list_calls (run->graph->graph);
  Comparing comparing = { .graph = run->graph->graph, .log = log, .places = places };

  if (!has_hashes (log))
    {
      g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                           "the log has no hashes of values: run under "
                           "DebugMode.log_tensor_hashes() too");
      return NULL;
    }
  values = run_for_values (run, FALSE, cancellable, error);
  exact = values != NULL ? run_for_values (run, TRUE, cancellable, error) : NULL;
  if (exact == NULL)
    return NULL;
  comparing.values = values;
  comparing.exact = exact;
  return compare (&comparing, error);
}

void
adj_debug_comparison_free (AdjDebugComparison *comparison)
{
  if (comparison == NULL)
    return;
  g_array_unref (comparison->rows);
  g_free (comparison);
}

const char *
adj_logged_describe (AdjLogged verdict)
{
  static const char *const words[] = {
    [ADJ_LOGGED_EQUAL] = "equal",
    [ADJ_LOGGED_WITHIN] = "within",
    [ADJ_LOGGED_DIFFERS] = "differs",
    [ADJ_LOGGED_UNKNOWN] = "other bits, no norm was logged",
    [ADJ_LOGGED_UNHASHED] = "no hash",
    [ADJ_LOGGED_ONLY_GRAPH] = "not in the log",
    [ADJ_LOGGED_ONLY_LOG] = "not in the graph",
  };

  return words[verdict];
}
