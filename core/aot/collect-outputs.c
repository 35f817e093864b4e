/* SPDX-License-Identifier: MIT */
/* The type of each output, by the numbered rules of aot/SPEC.md §2.4. */

#include "aot/collect-private.h"

#include "aot/metadata-private.h"
#include "autograd/adj-autograd-internal.h"
#include "autograd/adj-autograd.h"
#include "autograd/adj-custom.h"

/* -- places -- */

/* Number of outputs with one storage, and of those from operators with several view results. */
typedef struct
{
  guint n, n_multi;
} OutputCount;

static void
index_output (AotCollection *collection, guint index)
{
  AdjTensor *tensor = aot_collection_output (collection, index);
  AdjStorage *storage = adj_tensor_get_storage (tensor);
  OutputCount *count = g_hash_table_lookup (collection->outputs_by_storage, storage);
  AdjFunctionalState observed;

  if (count == NULL)
    {
      count = g_new0 (OutputCount, 1);
      g_hash_table_insert (collection->outputs_by_storage, storage, count);
    }
  aot_get_functional_state (tensor, &observed);
  count->n++;
  count->n_multi += observed.is_multi_output;
  if (!g_hash_table_contains (collection->first_outputs, tensor))
    g_hash_table_insert (collection->first_outputs, tensor, GUINT_TO_POINTER (index + 1));
}

void
aot_collection_index_outputs (AotCollection *collection)
{
  collection->first_outputs = g_hash_table_new (NULL, NULL);
  collection->last_inputs = g_hash_table_new (NULL, NULL);
  collection->inputs_by_storage = g_hash_table_new (NULL, NULL);
  collection->outputs_by_storage = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  for (guint i = 0; i < collection->outputs.n; i++)
    if (aot_collection_output (collection, i) != NULL)
      index_output (collection, i);
  for (guint i = 0; i < collection->n; i++)
    if (collection->inputs[i].kind == ADJ_VALUE_TENSOR)
      {
        AdjTensor *tensor = collection->inputs[i].tensor;

        g_hash_table_insert (collection->last_inputs, tensor, GUINT_TO_POINTER (i + 1));
        g_hash_table_insert (collection->inputs_by_storage, adj_tensor_get_storage (tensor),
                             GUINT_TO_POINTER (i + 1));
      }
}

void
aot_collection_forget_index (AotCollection *collection)
{
  g_clear_pointer (&collection->first_outputs, g_hash_table_unref);
  g_clear_pointer (&collection->last_inputs, g_hash_table_unref);
  g_clear_pointer (&collection->inputs_by_storage, g_hash_table_unref);
  g_clear_pointer (&collection->outputs_by_storage, g_hash_table_unref);
}

/* The index of the last input that is @tensor; -1: none. */
static gint
find_input (const AotCollection *collection, const AdjTensor *tensor)
{
  return (gint) GPOINTER_TO_UINT (g_hash_table_lookup (collection->last_inputs, tensor)) - 1;
}

static gboolean
is_an_input (const AotCollection *collection, const AdjTensor *tensor)
{
  return find_input (collection, tensor) >= 0;
}

/* The index of the last output that is @tensor. */
static gint
find_output (const AotCollection *collection, const AdjTensor *tensor)
{
  for (guint i = collection->outputs.n; i-- > 0;)
    if (aot_collection_output (collection, i) == tensor)
      return (gint) i;
  return -1;
}

static void
decide (AdjAotOutput *output, const char *rule, AdjOutputType type, gint base)
{
  output->rule = rule;
  output->type = type;
  output->base = base;
}

static gboolean
is_of_custom_function (const AdjTensor *tensor)
{
  AdjGradNode *node = adj_tensor_get_grad_node (tensor);

  return node != NULL && adj_grad_node_is_custom (node);
}

/* Rules 5a to 5d: @output was made from @base, and both require a gradient. */
static void
classify_of_intermediate (
    AotCollection *collection, AdjAotOutput *output, AdjTensor *base, guint n, guint n_multi)
{
  gint position = find_output (collection, base);
  guint index;

  if (n == 1 || n - n_multi <= 1)
    decide (output, "5a", ADJ_OUTPUT_UNSAFE_VIEW_ALIAS, -1);
  else if (position >= 0)
    decide (output, "5b", ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_BASE_IS_USER_OUTPUT, position);
  else if (g_ptr_array_find (collection->bases, base, &index))
    decide (output, "5c", ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE, (gint) index);
  else
    {
      decide (output, "5d", ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_SAVE_AS_OUTPUT,
              (gint) collection->bases->len);
      g_ptr_array_add (collection->bases, base);
    }
}

/* Another output with the same storage and geometry that requires a gradient. */
static gint
find_same_view (const AotCollection *collection, guint index)
{
  AdjTensor *tensor = aot_collection_output (collection, index);

  for (guint i = 0; i < collection->outputs.n; i++)
    {
      AdjTensor *other = aot_collection_output (collection, i);

      if (other != NULL && i != index && adj_tensor_get_requires_grad (other) &&
          adj_tensor_get_storage (other) == adj_tensor_get_storage (tensor) &&
          aot_same_geometry (&adj_tensor_get_meta (other)->shape,
                             &adj_tensor_get_meta (tensor)->shape))
        return (gint) i;
    }
  return -1;
}

/* Whether @tensor was detached and then written with a gradient, so that its history is its own.
 * PyTorch has no rule for this case and gives it the history of the input. */
static gboolean
has_own_history (const AotCollection *collection, const AdjTensor *tensor)
{
  AdjTensor *base = adj_tensor_get_base (tensor);

  return adj_tensor_get_requires_grad (tensor) && !is_an_input (collection, tensor) &&
         (base == NULL || !is_an_input (collection, base));
}

/* Applies rules 3a to 3c: @tensor shares the storage of @input, which was not replaced. @all_multi:
 * all such outputs come from operators with several views as results. */
static void
classify_of_input (const AotCollection *collection,
                   AdjAotOutput *output,
                   const AdjTensor *tensor,
                   gint input,
                   gboolean all_multi)
{
  AdjTensor *base = adj_tensor_get_base (tensor);
  gint position = base != NULL ? find_output (collection, base) : -1;

  if (has_own_history (collection, tensor) && position >= 0)
    decide (output, "own history", ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_BASE_IS_USER_OUTPUT, position);
  else if (has_own_history (collection, tensor))
    decide (output, "own history", ADJ_OUTPUT_CUSTOM_FUNCTION_VIEW, input);
  else if (all_multi && adj_tensor_get_grad_node (tensor) != NULL)
    decide (output, "3a", ADJ_OUTPUT_NON_ALIAS, input);
  else if (is_an_input (collection, tensor))
    decide (output, "3b", ADJ_OUTPUT_IS_INPUT, input);
  else
    decide (output, "3c", ADJ_OUTPUT_ALIAS_OF_INPUT, input);
}

static void
classify_tensor (AotCollection *collection, guint index, AdjAotOutput *output)
{
  AdjTensor *tensor = aot_collection_output (collection, index);
  AdjStorage *storage = adj_tensor_get_storage (tensor);
  AdjTensor *base = adj_tensor_get_base (tensor);
  gpointer with_storage = g_hash_table_lookup (collection->inputs_by_storage, storage);
  gint input = (gint) GPOINTER_TO_UINT (with_storage) - 1;
  const OutputCount *count = g_hash_table_lookup (collection->outputs_by_storage, storage);
  AdjFunctionalState observed;
  gint same_view;

  aot_get_functional_state (tensor, &observed);
  if (input >= 0 && is_of_custom_function (tensor))
    decide (output, "2", ADJ_OUTPUT_CUSTOM_FUNCTION_VIEW, input);
  else if (input >= 0 && !observed.storage_changed)
    classify_of_input (collection, output, tensor, input, count->n == count->n_multi);
  else if (observed.storage_changed && is_an_input (collection, tensor))
    decide (output, "4", ADJ_OUTPUT_IS_INPUT, input);
  else if (base != NULL && adj_tensor_get_requires_grad (tensor) &&
           adj_tensor_get_requires_grad (base))
    classify_of_intermediate (collection, output, base, count->n, count->n_multi);
  else if (count->n > 1 && !adj_tensor_get_requires_grad (tensor) &&
           (same_view = find_same_view (collection, index)) >= 0)
    decide (output, "6", ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_BASE_IS_USER_OUTPUT, same_view);
  else
    decide (output, "7", ADJ_OUTPUT_NON_ALIAS, -1);
}

/* IS_INPUT refers to the object, not the storage: to the last input that is this object. */
static void
name_input (const AotCollection *collection, const AdjTensor *tensor, AdjAotOutput *output)
{
  if (output->type == ADJ_OUTPUT_IS_INPUT && is_an_input (collection, tensor))
    output->base = find_input (collection, tensor);
}

static gboolean
is_regenerated (AdjOutputType type)
{
  return type == ADJ_OUTPUT_ALIAS_OF_INPUT || type == ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE ||
         type == ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_SAVE_AS_OUTPUT ||
         type == ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_BASE_IS_USER_OUTPUT;
}

/* Whether another output has the same base, which is no view itself. */
static gboolean
shares_base (const AotCollection *collection, guint index)
{
  AdjTensor *base = adj_tensor_get_base (aot_collection_output (collection, index));

  for (guint i = 0; base != NULL && i < collection->outputs.n; i++)
    {
      AdjTensor *other = aot_collection_output (collection, i);

      if (other != NULL && other != aot_collection_output (collection, index) &&
          adj_tensor_get_base (other) == base)
        return TRUE;
    }
  return FALSE;
}

gboolean
aot_collection_add_output (AotCollection *collection, guint index, GError **error)
{
  AdjAotOutput *output = &collection->metadata->outputs[index];
  const AdjValue *value = &collection->outputs.items[index];
  AdjTensor *tensor = aot_collection_output (collection, index);

  output->kind = value->kind;
  output->base = -1;
  if (tensor == NULL)
    {
      decide (output, "1", ADJ_OUTPUT_NON_ALIAS, -1);
      if (value->kind == ADJ_VALUE_RAW || value->kind == ADJ_VALUE_GRAPH ||
          value->kind == ADJ_VALUE_NODE)
        return aot_fail (error, AOT_ERROR_OUTPUT_UNKNOWN, AOT_OUTPUT (index), ", %s",
                         adj_value_kind_name (value->kind));
      return TRUE;
    }
  output->first = GPOINTER_TO_UINT (g_hash_table_lookup (collection->first_outputs, tensor)) - 1;
  classify_tensor (collection, index, output);
  name_input (collection, tensor, output);
  output->requires_grad = adj_tensor_get_requires_grad (tensor);
  output->meta = *adj_tensor_get_meta (tensor);
  for (guint i = 0; i < output->meta.shape.rank; i++)
    if (!adj_size_is_int (output->meta.shape.size[i]))
      output->dynamic_dims |= 1u << i;
  if (output->type != ADJ_OUTPUT_NON_ALIAS || output->base >= 0)
    output->recipe = aot_get_recipe (tensor);
  output->hooked =
      !is_regenerated (output->type) && aot_collection_has_hooked_views (collection, tensor);
  if (output->type == ADJ_OUTPUT_CUSTOM_FUNCTION_VIEW && shares_base (collection, index))
    return aot_fail (error, AOT_ERROR_DETACHED_VIEWS, AOT_OUTPUT (index), NULL);
  if (output->type == ADJ_OUTPUT_ALIAS_OF_INPUT && output->requires_grad &&
      collection->metadata->inputs[output->base].is_leaf &&
      collection->metadata->inputs[output->base].turns_no_grad)
    return aot_fail (error, AOT_ERROR_VIEW_OF_TURNED_LEAF,
                     AOT_OUTPUT_OF (index, collection->metadata->inputs[output->base].place), NULL);
  if (aot_collection_shows_hooked_view (collection, output) ||
      (is_regenerated (output->type) && !aot_collection_follow_views (collection, tensor, output)))
    return aot_fail (error, AOT_ERROR_HOOK_ON_ALIAS, AOT_OUTPUT (index), NULL);
  if (output->type != ADJ_OUTPUT_IS_INPUT &&
      adj_aot_metadata_shows_input (collection->metadata, index))
    output->turned = aot_get_recipe (collection->inputs[output->base].tensor);
  else if (output->type == ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_BASE_IS_USER_OUTPUT)
    output->turned = aot_get_recipe (aot_collection_output (collection, (guint) output->base));
  else if (is_regenerated (output->type) && adj_tensor_get_base (tensor) != NULL)
    output->turned = aot_get_recipe (adj_tensor_get_base (tensor));
  return TRUE;
}
