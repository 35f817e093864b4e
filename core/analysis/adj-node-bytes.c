/* SPDX-License-Identifier: MIT */
/* Bytes of results, summed over the leaves of their annotations. */

#include "analysis/adj-node-bytes.h"

#include "ir/adj-graph-analysis-internal.h"
#include "ir/adj-graph.h"

typedef struct
{
  AdjSymbols *symbols;
  AdjNodeBytes sum;
} Adding;

static gboolean
is_known (const AdjTensorMeta *meta, AdjSymbols *symbols)
{
  gint64 size;

  for (guint i = 0; i < meta->shape.rank; i++)
    if (!adj_size_get_hint (symbols, meta->shape.size[i], &size))
      return FALSE;
  return meta->dtype < ADJ_N_DTYPES;
}

void
adj_bytes_add (guint64 *sum, guint64 bytes)
{
  if (!g_uint64_checked_add (sum, *sum, bytes))
    *sum = G_MAXUINT64;
}

static void
add_tensor (Adding *adding, const AdjTensorMeta *meta)
{
  AdjTensorMeta wide = *meta;

  adding->sum.n_tensors++;
  if (!is_known (meta, adding->symbols))
    {
      adding->sum.n_unknown++;
      if (meta->dtype < ADJ_N_DTYPES)
        adj_bytes_add (&adding->sum.elements, adj_dtype_info (meta->dtype)->n_bytes);
      return;
    }
  if (adj_dtype_is_floating (meta->dtype))
    wide.dtype = ADJ_DTYPE_F64;
  adj_bytes_add (&adding->sum.bytes, adj_tensor_meta_bytes (meta, adding->symbols));
  adj_bytes_add (&adding->sum.in_float64, adj_tensor_meta_bytes (&wide, adding->symbols));
}

static gboolean
add_leaf (const AdjValue *leaf, gpointer data)
{
  Adding *adding = data;

  if (leaf->kind == ADJ_VALUE_META)
    add_tensor (adding, leaf->meta);
  else
    adding->sum.n_numbers += leaf->kind == ADJ_VALUE_SIZE || leaf->kind == ADJ_VALUE_INT ||
                             leaf->kind == ADJ_VALUE_BOOL || leaf->kind == ADJ_VALUE_FLOAT;
  return TRUE;
}

static gpointer
compute (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  AdjNodeBytes *bytes = g_new (AdjNodeBytes, n + 1);

  for (guint i = 0; i < n; i++)
    {
      Adding adding = { .symbols = adj_graph_get_symbols (graph) };

      adj_value_foreach (&adj_graph_get_node (graph, i)->val, add_leaf, &adding);
      bytes[i] = adding.sum;
    }
  return bytes;
}

static const AdjGraphAnalysis bytes_analysis = { compute, g_free };

const AdjNodeBytes *
adj_graph_get_bytes (const AdjGraph *graph)
{
  return adj_graph_analyse (graph, &bytes_analysis);
}

gint64
adj_graph_get_node_bytes (const AdjGraph *graph, guint index)
{
  const AdjNodeBytes *bytes = &adj_graph_get_bytes (graph)[index];

  return bytes->n_tensors > bytes->n_unknown ? (gint64) MIN (bytes->bytes, G_MAXINT64) : -1;
}
