/* SPDX-License-Identifier: MIT */
/* The metadata pass (aot/SPEC.md §2.1): the function runs once, under functionalization and
 * autograd, without a trace. */

#include "aot/collect-private.h"

#include "aot/composite-private.h"
#include "aot/metadata-private.h"
#include "aot/tokens-private.h"
#include "autograd/adj-autograd.h"
#include "call/adj-context-internal.h"
#include "call/adj-mode.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "rules/adj-operators.h"
#include "trace/adj-examples.h"

/* -- inputs -- */

/* Of the views that change an input's metadata, only as_strided (also resize_) drops elements. */
static gboolean
has_as_strided (const AdjViewChain *chain)
{
  for (; chain != NULL; chain = adj_view_chain_get_parent (chain))
    if (adj_view_chain_get_op (chain) == adj_op (ADJ_OP_as_strided))
      return TRUE;
  return FALSE;
}

static gboolean
collect_input (AotCollection *collection, guint i, GError **error)
{
  AdjAotInput *input = &collection->metadata->inputs[i];
  const AotArgument *argument = AOT_ARGUMENT (collection->program, i);
  AdjTensor *tensor;
  AdjFunctionalState observed;

  input->place = argument->place;
  input->is_leaf = argument->is_leaf;
  if (collection->inputs[i].kind != ADJ_VALUE_TENSOR)
    return TRUE;
  tensor = collection->inputs[i].tensor;
  aot_get_functional_state (tensor, &observed);
  input->is_tensor = TRUE;
  input->is_leaf = argument->is_leaf || !aot_argument_requires_grad (argument);
  input->mutates_storage_metadata = observed.storage_changed;
  input->mutates_data = observed.mutated && !observed.storage_changed;
  input->mutates_metadata =
      observed.storage_changed ||
      (observed.metadata_changed &&
       !aot_same_geometry (&collection->before[i].shape, &adj_tensor_get_meta (tensor)->shape));
  input->hidden = observed.n_writes <= observed.n_hidden;
  input->under_no_grad =
      observed.mutated && observed.n_writes <= observed.n_no_grad + observed.n_hidden;
  input->storage_resize = observed.storage_resized;
  input->bytes_before = observed.bytes_before;
  input->bytes_after = observed.bytes_after;
  input->requires_grad = adj_tensor_get_requires_grad (tensor);
  input->turned_back = observed.metadata_changed && !input->mutates_metadata;
  input->turns_no_grad = observed.metadata_changed && !observed.turned_with_grad;
  input->whole = input->mutates_data && input->mutates_metadata && !input->requires_grad &&
                 has_as_strided (observed.chain);
  if (input->requires_grad && !aot_argument_requires_grad (argument) &&
      adj_tensor_get_grad_node (tensor) == NULL)
    return aot_fail (error, AOT_ERROR_REQUIRES_GRAD_INSIDE, AOT_INPUT (input->place), NULL);
  if (input->whole)
    input->turned = adj_view_chain_ref (observed.chain);
  input->hooked = aot_input_has_hooks (collection->program, i) ||
                  aot_collection_is_hooked_since (collection, i);
  input->counted = adj_tensor_get_version (tensor) > 0;
  return TRUE;
}

/* -- the run -- */

/* Makes fake dense tensors for a composite input. */
static gboolean
import_composite (AotCollection *collection,
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
import_inputs (AotCollection *collection)
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

/* Fails because the function left autocast set: names the node that entered it last without
 * leaving, where a graph was traced. */
static gboolean
fail_autocast (const AotCollection *collection, GError **error)
{
  const AdjGraph *like = collection->program->options->like;

  for (guint i = 0; like != NULL && i < adj_graph_get_n_nodes (like); i++)
    {
      const AdjNode *node = adj_graph_get_node (like, i);
      g_autofree char *what = g_strdup_printf ("node '%s'", node->name);

      if (node->n_users > 0 || !g_str_has_suffix (node->target, "._enter_autocast"))
        continue;
      aot_fail (error, AOT_ERROR_AUTOCAST, (AotBlame){ what, -1, -1, -1, -1 }, NULL);
      if (error != NULL)
        adj_error_blame_node (*error, node->name, i);
      return FALSE;
    }
  return aot_fail (error, AOT_ERROR_AUTOCAST, AOT_FUNCTION, NULL);
}

static gboolean
changes_autocast (AdjContext *cx, const AdjThreadState *before)
{
  for (guint i = 0; i < ADJ_N_AUTOCAST; i++)
    if (adj_context_get_autocast (cx, i).on != before->autocast[i].on ||
        adj_context_get_autocast (cx, i).dtype != before->autocast[i].dtype)
      return TRUE;
  return FALSE;
}

static gboolean
run (AotCollection *collection, GError **error)
{
  AdjContext *cx = collection->cx;
  const AdjThreadState before = adj_context_get_thread_state (cx);
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
  if (changes_autocast (cx, &before))
    return fail_autocast (collection, error);
  collection->metadata = adj_aot_metadata_new (collection->n, collection->outputs.n);
  collection->metadata->keep_input_mutations = collection->program->options->keep_input_mutations;
  collection->metadata->deterministic = collection->program->options->deterministic;
  collection->metadata->rng = collection->program->options->functionalize_rng;
  if (adj_context_get_grad_enabled (cx) != enabled)
    collection->metadata->grad_mode = !enabled;
  return TRUE;
}

/* Checks that set_ and resize can be expressed as nodes (aot/SPEC.md §2.3), and that hooks on an
 * input's new value are on a path of gradients. */
static gboolean
check_inputs (const AotCollection *collection, GError **error)
{
  const AdjAotMetadata *metadata = collection->metadata;

  for (guint i = 0; i < metadata->n_inputs; i++)
    {
      const AdjAotInput *input = &metadata->inputs[i];

      if (input->is_tensor &&
          !(input->mutates_data && input->mutation == ADJ_MUTATION_OUT_OF_GRAPH) &&
          (aot_collection_is_hooked_since (collection, i) ||
           aot_collection_loses_hooks (collection, i)))
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
collect (AotCollection *collection, GError **error)
{
  gboolean done = run (collection, error);

  for (guint i = 0; done && i < collection->n; i++)
    done = collect_input (collection, i, error);
  if (done)
    aot_collection_index_outputs (collection);
  for (guint i = 0; done && i < collection->outputs.n; i++)
    done = aot_collection_add_output (collection, i, error);
  if (done)
    {
      aot_collection_add_tangents (collection);
      aot_collection_describe_returns (collection);
      done = !adj_context_take_error (collection->cx, error);
    }
  return done && check_inputs (collection, error) &&
         (!collection->program->options->export_joint ||
          aot_check_export (collection->metadata, collection->program->options, error));
}

/* All effects share one token. */
static void
name_token (AdjAotMetadata *metadata)
{
  static const char *const names[] = { "Ordered", NULL };

  metadata->n_tokens = 1;
  metadata->tokens = g_strdupv ((char **) names);
}

static void
tell_warnings (const AotProgram *program, const AdjContext *cx)
{
  const AdjAotObserver *observer = program->observer;
  const GPtrArray *warnings = adj_context_get_warnings (cx);

  if (observer == NULL || observer->warn == NULL)
    return;
  for (guint i = 0; warnings != NULL && i < warnings->len; i++)
    observer->warn (warnings->pdata[i], observer->data);
}

gboolean
aot_collect (AotProgram *program, GError **error)
{
  g_autoptr (AdjContext) cx = adj_context_new_empty (program->symbols);
  guint n = program->arguments->len;
  g_autoptr (GPtrArray) bases = g_ptr_array_new ();
  g_autofree AdjTensorMeta *before = g_new0 (AdjTensorMeta, n + 1);
  g_autofree AdjGradNode **nodes = g_new0 (AdjGradNode *, n + 1);
  AotCollection collection = {
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
  aot_push_modes (cx, program->options, NULL);
  done = collect (&collection, error);
  tell_warnings (program, cx);
  if (done && aot_effects_mode_was_used (effects, 0))
    name_token (collection.metadata);
  for (guint i = 0; i < n; i++)
    {
      adj_value_clear (&collection.inputs[i]);
      adj_value_clear (&collection.values[i]);
    }
  aot_collection_forget_index (&collection);
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
