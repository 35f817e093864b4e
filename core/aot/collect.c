/* SPDX-License-Identifier: MIT */
#include "aot/aot-private.h"

#include "aot/composite-private.h"
#include "aot/tokens-private.h"
#include "autograd/adj-autograd.h"
#include "autograd/adj-custom.h"
#include "autograd/adj-hook-internal.h"
#include "ops/adj-ops.h"
#include "trace/adj-examples.h"

/* The metadata pass (aot-autograd §3): the function runs once, under functionalization and
 * autograd, without a trace. */

typedef struct
{
  AdjContext *cx;
  AotProgram *program;
  guint n;
  AdjValue *values; /* the inputs, fake */
  AdjValue *inputs; /* as the function sees them */
  AdjTensorMeta *before;
  AdjGradNode **nodes; /* by input (nullable) (unowned): its history at first */
  AdjValue outputs;
  AdjAotMetadata *metadata;
  GPtrArray *bases; /* of AdjTensor, unowned: intermediate bases */
} Collection;

/* -- inputs -- */

/* Only these leave elements out: resize_ is one, too. */
static gboolean
has_as_strided (const AdjViewChain *chain)
{
  for (; chain != NULL; chain = adj_view_chain_get_parent (chain))
    if (adj_view_chain_get_op (chain) == adj_op (ADJ_OP_as_strided))
      return TRUE;
  return FALSE;
}

/* Whether hooks are on @node; those on the history of an input at first were taken off. */
static gboolean
is_hooked (const AdjGradNode *node)
{
  return node != NULL && adj_grad_node_has_hooks (node);
}

/* Whether there are hooks on what input @i became, or was on the way. */
static gboolean
is_hooked_since (const Collection *collection, guint i)
{
  for (AdjGradNode *node = adj_tensor_get_grad_node (collection->inputs[i].tensor);
       node != NULL && node != collection->nodes[i] && adj_grad_node_get_n_edges (node) > 0;
       node = adj_grad_node_get_edge (node, 0, NULL))
    if (is_hooked (node))
      return TRUE;
  return FALSE;
}

static gboolean
collect_input (Collection *collection, guint i, GError **error)
{
  AdjAotInput *input = &collection->metadata->inputs[i];
  const AotArgument *argument = AOT_ARGUMENT (collection->program, i);
  AdjTensor *tensor;
  AdjFunctionalFacts facts;

  input->place = argument->place;
  input->is_leaf = argument->is_leaf;
  if (collection->inputs[i].kind != ADJ_VALUE_TENSOR)
    return TRUE;
  tensor = collection->inputs[i].tensor;
  aot_get_facts (tensor, &facts);
  input->is_tensor = TRUE;
  input->is_leaf = argument->is_leaf || !aot_argument_requires_grad (argument);
  input->mutates_storage_metadata = facts.storage_changed;
  input->mutates_data = facts.mutated && !facts.storage_changed;
  input->mutates_metadata =
      facts.storage_changed ||
      (facts.metadata_changed &&
       !aot_same_geometry (&collection->before[i].shape, &adj_tensor_get_meta (tensor)->shape));
  input->hidden = facts.n_writes <= facts.n_hidden;
  input->under_no_grad = facts.mutated && facts.n_writes <= facts.n_no_grad + facts.n_hidden;
  input->storage_resize = facts.storage_resized;
  input->bytes_before = facts.bytes_before;
  input->bytes_after = facts.bytes_after;
  input->requires_grad = adj_tensor_get_requires_grad (tensor);
  input->turned_back = facts.metadata_changed && !input->mutates_metadata;
  input->turns_no_grad = facts.metadata_changed && !facts.turned_with_grad;
  input->whole = input->mutates_data && input->mutates_metadata && !input->requires_grad &&
                 has_as_strided (facts.chain);
  if (input->requires_grad && !aot_argument_requires_grad (argument) &&
      adj_tensor_get_grad_node (tensor) == NULL)
    return aot_fail (error, AOT_ERROR_REQUIRES_GRAD_INSIDE, AOT_INPUT (input->place), NULL);
  if (input->whole)
    input->turned = adj_view_chain_ref (facts.chain);
  input->hooked = aot_input_has_hooks (collection->program, i) || is_hooked_since (collection, i);
  input->counted = adj_tensor_get_version (tensor) > 0;
  return TRUE;
}

/* -- outputs -- */

static AdjTensor *
output_tensor (const Collection *collection, guint i)
{
  const AdjValue *value = &collection->outputs.items[i];

  return value->kind == ADJ_VALUE_TENSOR ? value->tensor : NULL;
}

/* Positions of outputs with @storage; those among them that are one of several views. */
static void
count_outputs (const Collection *collection, const AdjStorage *storage, guint *n, guint *n_multi)
{
  *n = *n_multi = 0;
  for (guint i = 0; i < collection->outputs.n; i++)
    {
      AdjTensor *tensor = output_tensor (collection, i);
      AdjFunctionalFacts facts;

      if (tensor == NULL || adj_tensor_get_storage (tensor) != storage)
        continue;
      aot_get_facts (tensor, &facts);
      (*n)++;
      *n_multi += facts.is_multi_output;
    }
}

/* The last input with @storage. */
static gint
find_input_of (const Collection *collection, const AdjStorage *storage)
{
  for (guint i = collection->n; i-- > 0;)
    if (collection->inputs[i].kind == ADJ_VALUE_TENSOR &&
        adj_tensor_get_storage (collection->inputs[i].tensor) == storage)
      return (gint) i;
  return -1;
}

static gboolean
is_an_input (const Collection *collection, const AdjTensor *tensor)
{
  for (guint i = 0; i < collection->n; i++)
    if (collection->inputs[i].kind == ADJ_VALUE_TENSOR && collection->inputs[i].tensor == tensor)
      return TRUE;
  return FALSE;
}

static guint
find_first_output (const Collection *collection, guint index)
{
  guint i = 0;

  while (output_tensor (collection, i) != output_tensor (collection, index))
    i++;
  return i;
}

/* The last position at which @tensor is an output. */
static gint
find_output (const Collection *collection, const AdjTensor *tensor)
{
  for (guint i = collection->outputs.n; i-- > 0;)
    if (output_tensor (collection, i) == tensor)
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

/* Rules 5a to 5d: @base made @tensor, and both require a gradient. */
static void
classify_of_intermediate (
    Collection *collection, AdjAotOutput *output, AdjTensor *base, guint n, guint n_multi)
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

/* Another output that is the same piece of the same storage and requires a gradient. */
static gint
find_twin (const Collection *collection, guint index)
{
  AdjTensor *tensor = output_tensor (collection, index);

  for (guint i = 0; i < collection->outputs.n; i++)
    {
      AdjTensor *other = output_tensor (collection, i);

      if (other != NULL && i != index && adj_tensor_get_requires_grad (other) &&
          adj_tensor_get_storage (other) == adj_tensor_get_storage (tensor) &&
          aot_same_geometry (&adj_tensor_get_meta (other)->shape,
                             &adj_tensor_get_meta (tensor)->shape))
        return (gint) i;
    }
  return -1;
}

/* What detach() made and was written with a gradient: not even PyTorch's rules know it, which give
 * its caller the history of the input. */
static gboolean
has_own_history (const Collection *collection, const AdjTensor *tensor)
{
  AdjTensor *base = adj_tensor_get_base (tensor);

  return adj_tensor_get_requires_grad (tensor) && !is_an_input (collection, tensor) &&
         (base == NULL || !is_an_input (collection, base));
}

static void
classify_tensor (Collection *collection, guint index, AdjAotOutput *output)
{
  AdjTensor *tensor = output_tensor (collection, index);
  AdjStorage *storage = adj_tensor_get_storage (tensor);
  AdjTensor *base = adj_tensor_get_base (tensor);
  gint input = find_input_of (collection, storage);
  guint n, n_multi;
  AdjFunctionalFacts facts;
  gint twin;

  count_outputs (collection, storage, &n, &n_multi);
  aot_get_facts (tensor, &facts);
  if (input >= 0 && is_of_custom_function (tensor))
    decide (output, "2", ADJ_OUTPUT_CUSTOM_FUNCTION_VIEW, input);
  else if (input >= 0 && !facts.storage_changed && n == n_multi &&
           adj_tensor_get_grad_node (tensor) != NULL)
    decide (output, "3a", ADJ_OUTPUT_NON_ALIAS, input);
  else if (input >= 0 && !facts.storage_changed && has_own_history (collection, tensor) &&
           base != NULL && find_output (collection, base) >= 0)
    decide (output, "own history", ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_BASE_IS_USER_OUTPUT,
            find_output (collection, base));
  else if (input >= 0 && !facts.storage_changed && has_own_history (collection, tensor))
    decide (output, "own history", ADJ_OUTPUT_CUSTOM_FUNCTION_VIEW, input);
  else if (input >= 0 && !facts.storage_changed)
    decide (output, is_an_input (collection, tensor) ? "3b" : "3c",
            is_an_input (collection, tensor) ? ADJ_OUTPUT_IS_INPUT : ADJ_OUTPUT_ALIAS_OF_INPUT,
            input);
  else if (facts.storage_changed && is_an_input (collection, tensor))
    decide (output, "4", ADJ_OUTPUT_IS_INPUT, input);
  else if (base != NULL && adj_tensor_get_requires_grad (tensor) &&
           adj_tensor_get_requires_grad (base))
    classify_of_intermediate (collection, output, base, n, n_multi);
  else if (n > 1 && !adj_tensor_get_requires_grad (tensor) &&
           (twin = find_twin (collection, index)) >= 0)
    decide (output, "6", ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_BASE_IS_USER_OUTPUT, twin);
  else
    decide (output, "7", ADJ_OUTPUT_NON_ALIAS, -1);
}

/* is_input names the object, not the storage: the last input that is it. */
static void
name_input (const Collection *collection, const AdjTensor *tensor, AdjAotOutput *output)
{
  if (output->type != ADJ_OUTPUT_IS_INPUT)
    return;
  for (guint i = collection->n; i-- > 0;)
    if (collection->inputs[i].kind == ADJ_VALUE_TENSOR && collection->inputs[i].tensor == tensor)
      {
        output->base = (gint) i;
        return;
      }
}

static gboolean
is_regenerated (AdjOutputType type)
{
  return type == ADJ_OUTPUT_ALIAS_OF_INPUT || type == ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE ||
         type == ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_SAVE_AS_OUTPUT ||
         type == ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_BASE_IS_USER_OUTPUT;
}

static void
refresh (AdjContext *cx, AdjTensor *tensor)
{
  adj_grad_node_unref (adj_tensor_get_grad_edge (cx, tensor, NULL));
  adj_context_take_error (cx, NULL);
}

/* Whether there are hooks between @tensor, a view, and its base: a write takes them off. */
static gboolean
has_hooked_views (const Collection *collection, AdjTensor *tensor)
{
  AdjTensor *base = adj_tensor_get_base (tensor);
  const AdjGradNode *end = base != NULL ? adj_tensor_get_grad_node (base) : NULL;

  if (base == NULL)
    return FALSE;
  refresh (collection->cx, tensor);
  for (AdjGradNode *node = adj_tensor_get_grad_node (tensor);
       node != NULL && node != end && adj_grad_node_get_n_edges (node) > 0;
       node = adj_grad_node_get_edge (node, 0, NULL))
    if (is_hooked (node))
      return TRUE;
  return FALSE;
}

/* From a view of an input to that: how many views were made while grad mode was on.  %FALSE: there
 * are hooks on the way, which views that are made again have not. */
static gboolean
follow_views (const Collection *collection, AdjTensor *tensor, AdjAotOutput *output)
{
  AdjTensor *base = adj_tensor_get_base (tensor);
  const AdjGradNode *end = base != NULL ? adj_tensor_get_grad_node (base) : NULL;
  const AdjGradNode *first =
      output->type == ADJ_OUTPUT_ALIAS_OF_INPUT ? collection->nodes[output->base] : NULL;
  AdjGradNode *node;

  refresh (collection->cx, tensor);
  node = adj_tensor_get_grad_node (tensor);
  output->n_recorded = 0;
  for (; node != NULL && node != end && node != first && adj_grad_node_get_n_edges (node) > 0;
       node = adj_grad_node_get_edge (node, 0, NULL))
    {
      if (is_hooked (node))
        return FALSE;
      output->n_recorded++;
    }
  if (!adj_tensor_get_requires_grad (tensor) || (base != NULL && node != NULL && node == end) ||
      (node != NULL && node == first) || (node != NULL && adj_grad_node_is_of_leaf (node, base)))
    {
      /* as_strided of what was written is one of its base at once. */
      if (base != NULL && node == end && adj_view_chain_has_late_as_strided (output->recipe) &&
          output->n_recorded < adj_view_chain_get_n_steps (output->recipe))
        g_clear_pointer (&output->recipe, adj_view_chain_unref);
      output->n_recorded = G_MAXUINT;
    }
  return TRUE;
}

/* Whether another output is a view of the same tensor, which is none. */
static gboolean
shares_base (const Collection *collection, guint index)
{
  AdjTensor *base = adj_tensor_get_base (output_tensor (collection, index));

  for (guint i = 0; base != NULL && i < collection->outputs.n; i++)
    {
      AdjTensor *other = output_tensor (collection, i);

      if (other != NULL && other != output_tensor (collection, index) &&
          adj_tensor_get_base (other) == base)
        return TRUE;
    }
  return FALSE;
}

/* Whether input @i is a view that got hooks: what its storage is counted for takes them off. */
static gboolean
is_hooked_view (const Collection *collection, guint i)
{
  return AOT_ARGUMENT (collection->program, i)->base >= 0 &&
         aot_input_has_hooks (collection->program, i);
}

/* Some views of it were made before it was turned and others are made after. */
static gboolean
shows_hooked_view (const Collection *collection, const AdjAotOutput *output)
{
  const AdjAotInput *input;

  if (output->type != ADJ_OUTPUT_ALIAS_OF_INPUT || !output->requires_grad)
    return FALSE;
  input = &collection->metadata->inputs[output->base];
  return input->counted && !input->mutates_data &&
         is_hooked_view (collection, (guint) output->base);
}

/* Whether something else than a write to it, or turning it, made its history stale: before or after
 * it got the hooks. */
static gboolean
loses_hooks (const Collection *collection, guint i)
{
  const AdjAotInput *inputs = collection->metadata->inputs;
  const AdjTensorMeta *meta = aot_argument_meta (AOT_ARGUMENT (collection->program, i));
  AdjTensor *tensor = collection->inputs[i].tensor;
  AdjFunctionalFacts facts;

  if (!is_hooked_view (collection, i))
    return FALSE;
  aot_get_facts (tensor, &facts);
  if (!inputs[i].mutates_data && adj_tensor_get_version (tensor) > facts.n_turns)
    return TRUE;
  for (guint k = 0; k < collection->n; k++)
    {
      const AdjTensorMeta *other = aot_argument_meta (AOT_ARGUMENT (collection->program, k));

      if (other != NULL && other->storage == meta->storage && inputs[k].counted &&
          collection->inputs[k].tensor != tensor)
        return TRUE;
    }
  return FALSE;
}

static gboolean
collect_output (Collection *collection, guint index, GError **error)
{
  AdjAotOutput *output = &collection->metadata->outputs[index];
  const AdjValue *value = &collection->outputs.items[index];
  AdjTensor *tensor = output_tensor (collection, index);

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
  output->first = find_first_output (collection, index);
  classify_tensor (collection, index, output);
  name_input (collection, tensor, output);
  output->requires_grad = adj_tensor_get_requires_grad (tensor);
  output->meta = *adj_tensor_get_meta (tensor);
  for (guint i = 0; i < output->meta.shape.rank; i++)
    if (!adj_size_is_int (output->meta.shape.size[i]))
      output->dynamic_dims |= 1u << i;
  if (output->type != ADJ_OUTPUT_NON_ALIAS || output->base >= 0)
    output->recipe = aot_get_recipe (tensor);
  output->hooked = !is_regenerated (output->type) && has_hooked_views (collection, tensor);
  if (output->type == ADJ_OUTPUT_CUSTOM_FUNCTION_VIEW && shares_base (collection, index))
    return aot_fail (error, AOT_ERROR_DETACHED_VIEWS, AOT_OUTPUT (index), NULL);
  if (output->type == ADJ_OUTPUT_ALIAS_OF_INPUT && output->requires_grad &&
      collection->metadata->inputs[output->base].is_leaf &&
      collection->metadata->inputs[output->base].turns_no_grad)
    return aot_fail (error, AOT_ERROR_VIEW_OF_TURNED_LEAF,
                     AOT_OUTPUT_OF (index, collection->metadata->inputs[output->base].place), NULL);
  if (shows_hooked_view (collection, output) ||
      (is_regenerated (output->type) && !follow_views (collection, tensor, output)))
    return aot_fail (error, AOT_ERROR_HOOK_ON_ALIAS, AOT_OUTPUT (index), NULL);
  if (output->type != ADJ_OUTPUT_IS_INPUT &&
      adj_aot_metadata_shows_input (collection->metadata, index))
    output->turned = aot_get_recipe (collection->inputs[output->base].tensor);
  else if (output->type == ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_BASE_IS_USER_OUTPUT)
    output->turned = aot_get_recipe (output_tensor (collection, (guint) output->base));
  else if (is_regenerated (output->type) && adj_tensor_get_base (tensor) != NULL)
    output->turned = aot_get_recipe (adj_tensor_get_base (tensor));
  return TRUE;
}

/* -- tangents (§3.5) -- */

/* What a gradient will be made of; %NULL: the context is in error. */
static AdjTensor *
coerce_tangent (Collection *collection, AdjTensor *tensor)
{
  const AdjCompositeClass *klass = adj_composite_get_class (tensor);

  return klass != NULL && klass->coerce_tangent != NULL
             ? klass->coerce_tangent (collection->cx, tensor)
             : tensor;
}

AdjTensorMeta
aot_tangent_of (const AdjTensorMeta *result, AdjSymbols *symbols)
{
  AdjTensorMeta meta = *result;
  AdjMemoryFormat format = adj_shape_suggest_format (&meta.shape, symbols);

  adj_shape_set_format (&meta.shape, symbols, format, &meta.shape);
  meta.shape.offset = ADJ_SIZE (0);
  meta.requires_grad = FALSE;
  meta.storage = -1;
  return meta;
}

static void
add_tangent (Collection *collection, AdjTensor *tensor)
{
  AdjAotMetadata *metadata = collection->metadata;
  AdjTensor *coerced = coerce_tangent (collection, tensor);
  AdjSymbols *symbols = adj_context_get_symbols (collection->cx);

  metadata->tangents[metadata->n_tangents++] =
      aot_tangent_of (adj_tensor_get_meta (tensor), symbols);
  g_ptr_array_add (collection->program->tangents,
                   aot_composite_describe_tangent (coerced != NULL ? coerced : tensor, symbols));
}

static void
collect_tangents (Collection *collection)
{
  AdjAotMetadata *metadata = collection->metadata;
  guint k = 0;

  metadata->n_bases = collection->bases->len;
  adj_aot_metadata_derive (metadata);
  metadata->tangents = g_new0 (AdjTensorMeta, metadata->n_forward_returns + 1);
  g_clear_pointer (&collection->program->tangents, g_ptr_array_unref);
  collection->program->tangents =
      g_ptr_array_new_with_free_func ((GDestroyNotify) aot_composite_unref);
  for (guint i = 0; i < metadata->n_mutated_runtime; i++, k++)
    if (adj_aot_metadata_has_tangent (metadata, k))
      add_tangent (collection, collection->inputs[metadata->mutated_runtime[i]].tensor);
  for (guint i = 0; i < metadata->n_outputs; i++, k++)
    if (adj_aot_metadata_has_tangent (metadata, k))
      add_tangent (collection, output_tensor (collection, i));
  for (guint i = 0; i < collection->bases->len; i++)
    add_tangent (collection, g_ptr_array_index (collection->bases, i));
}

/* What mutated inputs, outputs and bases are made of. */
static void
describe_returns (Collection *collection)
{
  const AdjAotMetadata *metadata = collection->metadata;
  g_autofree AdjValue *values = g_new0 (AdjValue, metadata->n_forward_returns + 1);
  guint n = 0;

  for (guint i = 0; i < metadata->n_mutated_runtime; i++)
    values[n++] = collection->inputs[metadata->mutated_runtime[i]];
  for (guint i = 0; i < metadata->n_outputs; i++)
    values[n++] = collection->outputs.items[i];
  for (guint i = 0; i < collection->bases->len; i++)
    values[n++] = ADJ_TENSOR (collection->bases->pdata[i]);
  g_clear_pointer (&collection->program->returns, g_ptr_array_unref);
  collection->program->returns = aot_composite_describe_all (values, n);
}

/* -- the run -- */

/* A composite input, of fake dense tensors. */
static gboolean
import_composite (Collection *collection,
                  AdjExamples *examples,
                  const AotArgument *argument,
                  AdjValue *out)
{
  guint n = argument->leaves->len, at = 0;
  g_autofree AdjValue *leaves = g_new0 (AdjValue, n + 1);
  gboolean done = TRUE;

  for (guint i = 0; i < n && done; i++)
    done = adj_examples_import (examples, &g_array_index (argument->leaves, AotArgument, i).value,
                                &leaves[i]);
  done = done && aot_composite_wrap (collection->cx, argument->composite, leaves, &at, out);
  for (guint i = 0; i < n; i++)
    adj_value_clear (&leaves[i]);
  return done;
}

static gboolean
import_inputs (Collection *collection)
{
  g_autoptr (AdjExamples) examples = adj_examples_new (collection->cx, NULL, FALSE);

  for (guint i = 0; i < collection->n; i++)
    {
      const AotArgument *argument = AOT_ARGUMENT (collection->program, i);

      if (argument->leaves != NULL
              ? !import_composite (collection, examples, argument, &collection->values[i])
              : !adj_examples_import (examples, &argument->value, &collection->values[i]))
        return FALSE;
    }
  return TRUE;
}

static gboolean
run (Collection *collection, GError **error)
{
  AdjContext *cx = collection->cx;
  gboolean enabled = !collection->program->options->no_grad;
  gboolean done;

  done = import_inputs (collection) &&
         aot_wrap_arguments (cx, (gconstpointer) collection->program->arguments->data,
                             collection->n, collection->values, collection->inputs);
  for (guint i = 0; done && i < collection->n; i++)
    if (collection->inputs[i].kind == ADJ_VALUE_TENSOR)
      {
        collection->before[i] = *adj_tensor_get_meta (collection->inputs[i].tensor);
        collection->nodes[i] = adj_tensor_get_grad_node (collection->inputs[i].tensor);
      }
  adj_context_set_grad_enabled (cx, enabled);
  done = done && adj_function_call (collection->program->function, cx, collection->inputs,
                                    collection->n, &collection->outputs);
  if (adj_context_take_error (cx, error) || !done)
    return FALSE;
  collection->metadata = adj_aot_metadata_new (collection->n, collection->outputs.n);
  collection->metadata->keep_input_mutations = collection->program->options->keep_input_mutations;
  collection->metadata->deterministic = collection->program->options->deterministic;
  collection->metadata->rng = collection->program->options->functionalize_rng;
  if (adj_context_get_grad_enabled (cx) != enabled)
    collection->metadata->grad_mode = !enabled;
  return TRUE;
}

/* set_ and resize must be expressible as nodes (§2.7), and hooks on what an input has become be
 * reached by a tangent. */
static gboolean
check_inputs (const Collection *collection, GError **error)
{
  const AdjAotMetadata *metadata = collection->metadata;

  for (guint i = 0; i < metadata->n_inputs; i++)
    {
      const AdjAotInput *input = &metadata->inputs[i];

      if (input->is_tensor &&
          !(input->mutates_data && input->mutation == ADJ_MUTATION_OUT_OF_GRAPH) &&
          (is_hooked_since (collection, i) || loses_hooks (collection, i)))
        return aot_fail (error, AOT_ERROR_HOOK_ON_ALIAS, AOT_INPUT (input->place), NULL);
      if (input->mutation == ADJ_MUTATION_IN_GRAPH)
        continue;
      if (input->mutates_data && input->turns_no_grad && input->requires_grad &&
          !adj_shape_same_sizes (&collection->before[i].shape,
                                 &adj_tensor_get_meta (collection->inputs[i].tensor)->shape,
                                 adj_context_get_symbols (collection->cx)))
        return aot_fail (error, AOT_ERROR_TURNED_WITHOUT_GRAD, AOT_INPUT (input->place), NULL);
      if (input->mutates_storage_metadata)
        return aot_fail (error, AOT_ERROR_SET_NOT_IN_GRAPH, AOT_INPUT (input->place),
                         " (requires grad: %d, keep: %d, under no_grad: %d)", input->requires_grad,
                         metadata->keep_input_mutations, input->under_no_grad);
      if (input->storage_resize)
        return aot_fail (error, AOT_ERROR_RESIZE_NOT_IN_GRAPH, AOT_INPUT (input->place),
                         " (requires grad: %d, keep: %d, metadata: %d)", input->requires_grad,
                         metadata->keep_input_mutations, input->mutates_metadata);
    }
  return TRUE;
}

static gboolean
collect (Collection *collection, GError **error)
{
  gboolean done = run (collection, error);

  for (guint i = 0; done && i < collection->n; i++)
    done = collect_input (collection, i, error);
  for (guint i = 0; done && i < collection->outputs.n; i++)
    done = collect_output (collection, i, error);
  if (done)
    {
      collect_tangents (collection);
      describe_returns (collection);
      done = !adj_context_take_error (collection->cx, error);
    }
  return done && check_inputs (collection, error) &&
         (!collection->program->options->export_joint ||
          aot_check_export (collection->metadata, collection->program->options, error));
}

/* There is one kind of effect. */
static void
name_token (AdjAotMetadata *metadata)
{
  static const char *const names[] = { "Ordered", NULL };

  metadata->n_tokens = 1;
  metadata->tokens = g_strdupv ((char **) names);
}

gboolean
aot_collect (AotProgram *program, GError **error)
{
  g_autoptr (AdjContext) cx = adj_context_new_empty (program->symbols);
  guint n = program->arguments->len;
  g_autoptr (GPtrArray) bases = g_ptr_array_new ();
  g_autofree AdjTensorMeta *before = g_new0 (AdjTensorMeta, n + 1);
  g_autofree AdjGradNode **nodes = g_new0 (AdjGradNode *, n + 1);
  Collection collection = {
    .cx = cx,
    .program = program,
    .n = n,
    .values = g_new0 (AdjValue, n + 1),
    .inputs = g_new0 (AdjValue, n + 1),
    .before = before,
    .nodes = nodes,
    .bases = bases,
  };
  AdjMode *effects;
  gboolean done;

  adj_context_push_mode (cx, adj_fake_mode_new ());
  effects = aot_effects_mode_new (NULL);
  adj_context_push_mode (cx, effects);
  aot_push_modes (cx, program->options);
  done = collect (&collection, error);
  if (done && aot_effects_mode_was_used (effects, 0))
    name_token (collection.metadata);
  for (guint i = 0; i < n; i++)
    {
      adj_value_clear (&collection.inputs[i]);
      adj_value_clear (&collection.values[i]);
    }
  g_free (collection.inputs);
  g_free (collection.values);
  adj_value_clear (&collection.outputs);
  adj_context_take_error (cx, NULL);
  aot_pop_modes (cx, program->options);
  if (done)
    program->metadata = collection.metadata;
  else
    adj_aot_metadata_free (collection.metadata);
  return done;
}
