/* SPDX-License-Identifier: MIT */
/* AOTAutograd's metadata of a graph, read from the dict in the file. */

#include "ir/adj-value-internal.h"
#include "passes/metadata-private.h"

guint
metadata_count (const AdjValue *dict, const char *key)
{
  const AdjValue *list = adj_value_find_member (dict, key);

  return list != NULL && list->kind == ADJ_VALUE_LIST ? list->n : 0;
}

const AdjValue *
metadata_get_entry (const AdjValue *dict, const char *key, guint index)
{
  const AdjValue *list = adj_value_find_member (dict, key);

  if (list == NULL || list->kind != ADJ_VALUE_LIST || index >= list->n)
    return NULL;
  return &list->items[index];
}

gboolean
metadata_is (const AdjValue *dict, const char *key)
{
  const AdjValue *value = adj_value_find_member (dict, key);

  return value != NULL && value->kind == ADJ_VALUE_BOOL && value->boolean;
}

gint64
metadata_get_int (const AdjValue *dict, const char *key)
{
  const AdjValue *value = adj_value_find_member (dict, key);

  return value != NULL && value->kind == ADJ_VALUE_INT ? value->integer : -1;
}

const char *
metadata_get_text (const AdjValue *dict, const char *key)
{
  const AdjValue *value = adj_value_find_member (dict, key);

  return value != NULL && value->kind == ADJ_VALUE_STRING ? value->text : "";
}

MetadataMutation
metadata_get_mutation (const AdjValue *metadata, guint input)
{
  const AdjValue *info = metadata_get_entry (metadata, "input_info", input);
  gboolean data = metadata_is (info, "mutates_data");
  gboolean geometry = metadata_is (info, "mutates_metadata");
  gboolean storage = metadata_is (info, "mutates_storage_metadata") ||
                     metadata_is (info, "mutation_inductor_storage_resize");
  gboolean unseen = metadata_is (info, "mutations_hidden_from_autograd") ||
                    metadata_is (info, "mutations_under_no_grad_or_inference_mode");

  if (!data && !geometry && !storage)
    return METADATA_NOT_MUTATED;
  if (metadata_is (info, "keep_input_mutations") && (data || storage) &&
      ((!geometry && !metadata_is (info, "requires_grad")) || unseen))
    return METADATA_IN_GRAPH;
  return METADATA_OUT_OF_GRAPH;
}

guint
metadata_count_leading (const AdjValue *metadata)
{
  const AdjValue *tokens = adj_value_find_member (metadata, "tokens");
  guint n = tokens != NULL && tokens->kind == ADJ_VALUE_DICT ? tokens->n / 2 : 0;

  for (guint i = 0; i < metadata_count (metadata, "input_info"); i++)
    n += metadata_get_mutation (metadata, i) == METADATA_OUT_OF_GRAPH;
  return n;
}

AdjGraph *
metadata_find_forward (const AdjCheckedRegion *region)
{
  if (region->forward != NULL)
    return region->forward;
  return region->inference != NULL ? region->inference : region->joint;
}
