/* SPDX-License-Identifier: MIT */
/* Properties of nodes as the window spells them: types, sizes, roles, verdicts. */

#include "report/adj-properties.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "analysis/adj-node-bytes.h"
#include "base/adj-format-bytes.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"

char *
adj_properties_bytes (gint64 bytes)
{
  return bytes < 0 ? g_strdup (_ ("unknown")) : adj_format_bytes ((guint64) bytes);
}

char *
adj_properties_flops (double flops)
{
  static const char *const prefixes[] = { "", "k", "M", "G", "T", "P" };
  guint prefix = 0;

  for (; flops >= 1000 && prefix + 1 < G_N_ELEMENTS (prefixes); prefix++)
    flops /= 1000;
  return g_strdup_printf ("%.*f %sFLOP", prefix == 0 || flops >= 100 ? 0 : 1, flops,
                          prefixes[prefix]);
}

char *
adj_properties_count (guint n)
{
  return g_strdup_printf (ngettext ("%u node", "%u nodes", n), n);
}

const AdjTensorMeta *
adj_properties_meta (const AdjNode *node)
{
  return node->val.kind == ADJ_VALUE_META ? node->val.meta : NULL;
}

static char *
print_sizes (const AdjGraph *graph, const AdjSize *sizes, guint rank, char open, char close)
{
  GString *text = g_string_new (NULL);

  g_string_append_c (text, open);
  for (guint i = 0; i < rank; i++)
    {
      if (i > 0)
        g_string_append (text, ", ");
      adj_size_print (adj_graph_get_symbols (graph), sizes[i], text);
    }
  g_string_append_c (text, close);
  return g_string_free (text, FALSE);
}

char *
adj_properties_shape (const AdjGraph *graph, const AdjNode *node)
{
  const AdjTensorMeta *meta = adj_properties_meta (node);

  return meta != NULL ? print_sizes (graph, meta->shape.size, meta->shape.rank, '[', ']') : NULL;
}

char *
adj_properties_strides (const AdjGraph *graph, const AdjNode *node)
{
  const AdjTensorMeta *meta = adj_properties_meta (node);

  return meta != NULL && meta->has_strides
             ? print_sizes (graph, meta->shape.stride, meta->shape.rank, '(', ')')
             : NULL;
}

char *
adj_properties_type (const AdjGraph *graph, AdjNodeId id)
{
  const AdjTensorMeta *meta = adj_properties_meta (adj_graph_get_node (graph, id.index));
  GString *text;
  g_autofree char *bytes = NULL;

  if (meta == NULL || meta->dtype >= ADJ_N_DTYPES)
    return NULL;
  text = g_string_new (adj_dtype_info (meta->dtype)->torch_name);
  if (!adj_device_equal (meta->device, ADJ_DEVICE_NONE))
    {
      g_string_append (text, " · ");
      adj_device_print (meta->device, text);
    }
  bytes = adj_properties_bytes (adj_graph_get_node_bytes (graph, id.index));
  g_string_append_printf (text, " · %s", bytes);
  return g_string_free (text, FALSE);
}

typedef struct
{
  const AdjGraph *graph;
  GString *text;
} Tensors;

static gboolean
add_tensor (const AdjValue *value, gpointer data)
{
  Tensors *tensors = data;
  g_autofree char *shape = NULL;

  if (value->kind != ADJ_VALUE_META || value->meta->dtype >= ADJ_N_DTYPES)
    return TRUE;
  shape = print_sizes (tensors->graph, value->meta->shape.size, value->meta->shape.rank, '[', ']');
  g_string_append_printf (tensors->text, "%s%s%s", tensors->text->len > 0 ? ", " : "",
                          adj_dtype_info (value->meta->dtype)->code, shape);
  return TRUE;
}

char *
adj_properties_annotation (const AdjGraph *graph, const AdjNode *node)
{
  GString *text = g_string_new (NULL);
  Tensors tensors = { graph, text };

  adj_value_foreach (&node->val, add_tensor, &tensors);
  if (text->len == 0 && node->val.kind != ADJ_VALUE_NONE)
    adj_value_print (&node->val, graph, text);
  return g_string_free (text, FALSE);
}

const char *
adj_properties_target (const AdjNode *node)
{
  return g_str_has_prefix (node->target, "torch.ops.") ? node->target + strlen ("torch.ops.")
                                                       : node->target;
}

/* "32 by 256 float32": easier to understand than brackets when read aloud. */
static void
append_spoken_type (GString *text, const AdjGraph *graph, const AdjTensorMeta *meta)
{
  g_string_append (text, ", ");
  for (guint i = 0; i < meta->shape.rank; i++)
    {
      if (i > 0)
        g_string_append (text, _ (" by "));
      adj_size_print (adj_graph_get_symbols (graph), meta->shape.size[i], text);
    }
  if (meta->shape.rank == 0)
    g_string_append (text, _ ("scalar"));
  if (meta->dtype < ADJ_N_DTYPES)
    g_string_append_printf (text, " %s", adj_dtype_info (meta->dtype)->torch_name);
}

char *
adj_properties_describe_node (const AdjGraph *graph, AdjNodeId id, AdjRole role)
{
  const AdjNode *node = adj_graph_get_node (graph, id.index);
  const AdjTensorMeta *meta = adj_properties_meta (node);
  GString *text = g_string_new (node->name);

  if (role != ADJ_ROLE_NONE)
    g_string_append_printf (text, ", %s", adj_role_name (role));
  if (meta != NULL)
    append_spoken_type (text, graph, meta);
  g_string_append (text, ", ");
  g_string_append_printf (text, ngettext ("%u input", "%u inputs", node->n_inputs), node->n_inputs);
  g_string_append (text, ", ");
  g_string_append_printf (text, ngettext ("%u user", "%u users", node->n_users), node->n_users);
  g_string_append_printf (text, _ (", node %u of %u"), id.index + 1, adj_graph_get_n_nodes (graph));
  return g_string_free (text, FALSE);
}

const char *
adj_properties_role_title (const char *role)
{
  static const struct
  {
    const char *role, *title;
  } titles[] = {
    { "dynamo", N_ ("Captured") },
    { "joint", N_ ("Joint Graph") },
    { "tag", N_ ("Joint Graph, Tagged") },
    { "forward+backward", N_ ("Forward and Backward") },
    { "forward", N_ ("Forward") },
    { "backward", N_ ("Backward") },
    { "inference", N_ ("Inference") },
    { "compiled_autograd", N_ ("Compiled Autograd") },
    { "compiled_autograd_pre_reordering", N_ ("Before Reordering") },
    { "functionalize", N_ ("Functionalized") },
    { "pre_grad", N_ ("Pre-Grad") },
    { "after_pre_grad", N_ ("After Pre-Grad") },
    { "before_joint", N_ ("Before Joint Passes") },
    { "after_joint", N_ ("After Joint Passes") },
    { "before_post_grad", N_ ("Before Post-Grad") },
    { "post_grad", N_ ("Post-Grad") },
    { "ddp_split", N_ ("Split for DDP") },
    { "dump_file", N_ ("Generated Code") },
    { "fx_graph_runnable", N_ ("Runnable") },
    { "subgraph", N_ ("Subgraph") },
    { "user", N_ ("Graph") },
  };

  for (guint i = 0; i < G_N_ELEMENTS (titles); i++)
    if (g_strcmp0 (role, titles[i].role) == 0)
      return _ (titles[i].title);
  return role != NULL ? role : _ ("Graph");
}

const char *
adj_properties_stage_title (const char *name)
{
  static const struct
  {
    const char *name, *title;
  } titles[] = {
    { "user", N_ ("graph") },
    { "dynamo", N_ ("captured") },
    { "tag", N_ ("tags") },
    { "pre_grad", N_ ("pre-grad") },
    { "after_pre_grad", N_ ("after pre-grad") },
    { "before_joint", N_ ("before joint passes") },
    { "after_joint", N_ ("after joint passes") },
    { "before_post_grad", N_ ("before post-grad") },
    { "post_grad", N_ ("post-grad") },
    { "ddp_split", N_ ("split for DDP") },
    { "dump_file", N_ ("generated code") },
    { "fx_graph_runnable", N_ ("runnable") },
    { "compiled_autograd", N_ ("compiled autograd") },
    { "compiled_autograd_pre_reordering", N_ ("before reordering") },
  };

  for (guint i = 0; i < G_N_ELEMENTS (titles); i++)
    if (g_str_equal (name, titles[i].name))
      return _ (titles[i].title);
  return name;
}

const char *
adj_properties_verdict (AdjVerdict verdict)
{
  static const char *const titles[] = { N_ ("Equal"), N_ ("Within tolerance"), N_ ("Differs"),
                                        N_ ("Not compared") };

  return _ (titles[MIN (verdict, ADJ_VERDICT_SKIPPED)]);
}

const char *
adj_properties_comparison (const AdjValueComparison *comparison)
{
  return comparison->cause == ADJ_CAUSE_INPUT ? _ ("Inherits")
                                              : adj_properties_verdict (comparison->verdict);
}

char *
adj_properties_number (double number)
{
  if (isnan (number))
    return g_strdup ("–");
  if (number == 0)
    return g_strdup ("0");
  if (fabs (number) >= 1e-3 && fabs (number) < 1e5)
    return g_strdup_printf ("%.4g", number);
  return g_strdup_printf ("%.2e", number);
}

char *
adj_properties_time (double nanoseconds)
{
  if (isnan (nanoseconds))
    return g_strdup ("–");
  if (nanoseconds < 1e6)
    return g_strdup_printf (_ ("%.1f µs"), nanoseconds / 1e3);
  return nanoseconds < 1e9 ? g_strdup_printf (_ ("%.1f ms"), nanoseconds / 1e6)
                           : g_strdup_printf (_ ("%.2f s"), nanoseconds / 1e9);
}

char *
adj_properties_diag (const char *file, const AdjDiag *diag)
{
  GString *text = g_string_new (file);

  if (diag->span.line > 0)
    g_string_append_printf (text, "%s%u:%u", text->len > 0 ? ":" : "", diag->span.line,
                            diag->span.column);
  g_string_append_printf (text, "%s%s", text->len > 0 ? ": " : "", diag->message);
  return g_string_free (text, FALSE);
}
