/* SPDX-License-Identifier: MIT */
#include "formats/adj-safetensors.h"
#include "session/adj-session.h"

void
adj_session_free_inputs (AdjValue *inputs, guint n)
{
  for (guint i = 0; i < n; i++)
    adj_value_clear (&inputs[i]);
  g_free (inputs);
}

static gboolean
take_input (const AdjSafetensors *file, const char *name, AdjValue *out, GError **error)
{
  AdjTensorData *data = adj_safetensors_find (file, name);

  if (data != NULL)
    *out = ADJ_DATA (adj_tensor_data_ref (data));
  else
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "holds no tensor '%s'", name);
  return data != NULL;
}

AdjValue *
adj_session_read_inputs (const AdjGraph *graph, const char *path, guint *n, GError **error)
{
  g_autoptr (GMappedFile) mapped = g_mapped_file_new (path, FALSE, error);
  g_autoptr (GBytes) bytes = mapped != NULL ? g_mapped_file_get_bytes (mapped) : NULL;
  g_autoptr (AdjSafetensors) file =
      bytes != NULL ? adj_safetensors_read (bytes, path, error) : NULL;
  AdjValue *inputs;

  if (file == NULL)
    return NULL;
  *n = adj_graph_get_n_inputs (graph);
  inputs = g_new0 (AdjValue, *n + 1);
  for (guint i = 0; i < *n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, adj_graph_get_input (graph, i).index);

      if (take_input (file, node->name, &inputs[i], error))
        continue;
      g_prefix_error (error, "%s: ", path);
      adj_session_free_inputs (inputs, *n);
      return NULL;
    }
  return inputs;
}
