/* SPDX-License-Identifier: MIT */
/* Fuzzes torch.export archives: the program before the first form feed, after it the weight
 * table, with a storage of 64 bytes. */

#include <string.h>

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"
#include "support/zip-bytes.h"
#include "tensor/adj-late-bytes-internal.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check_graph (const AdjGraph *graph)
{
  g_autofree char *printed = adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) again = adj_graph_parse (printed, -1, adj_op_find, NULL, &error);
  g_autofree char *twice = NULL;

  g_assert_no_error (error);
  twice = adj_graph_print (again, ADJ_PRINT_DEFAULT, NULL);
  g_assert_cmpstr (twice, ==, printed);
}

/* Reads the weights, which are loaded at first access. */
static void
fetch_inputs (const AdjBundle *bundle)
{
  for (guint i = 0; i < adj_bundle_get_n_calls (bundle); i++)
    {
      const AdjRecordedCall *call = adj_bundle_get_call (bundle, i);

      for (guint k = 0; k < call->n_inputs; k++)
        if (call->inputs[k].data != NULL)
          adj_tensor_data_fetch (call->inputs[k].data, NULL);
    }
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static const char storage[64] = { 0 };
  const guint8 *feed = size > 0 ? memchr (data, '\f', size) : NULL;
  gsize length = feed != NULL ? (gsize) (feed - data) : size;
  const ZipPart parts[] = {
    { "m/archive_format", "pt2", 3 },
    { "m/archive_version", "0", 1 },
    { "m/byteorder", "little", 6 },
    { "m/models/model.json", (const char *) data, length },
    { "m/data/weights/model_weights_config.json", (const char *) data + length + (feed != NULL),
      size - length - (feed != NULL) },
    { "m/data/weights/weight_0", storage, sizeof storage },
    { NULL },
  };
  g_autoptr (GByteArray) archive = zip_bytes_new (parts);
  g_autoptr (GBytes) bytes = g_byte_array_free_to_bytes (g_steal_pointer (&archive));
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle =
      adj_format_find ("pt2", NULL)->load_bytes (bytes, "fuzz", NULL, &error);

  g_assert_true ((bundle == NULL) == (error != NULL));
  if (bundle == NULL)
    return 0;
  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    check_graph (adj_bundle_get_graph (bundle, i)->graph);
  fetch_inputs (bundle);
  return 0;
}
