/* SPDX-License-Identifier: MIT */
/* Runs a program in one of several ways and collects the values to compare. */

#include "autograd/adj-engine-internal.h"
#include "call/adj-object.h"
#include "compiled_autograd/adj-compiled-autograd.h"
#include "interpreter/adj-interpreter.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "session/pipeline-private.h"
#include "trace/adj-composite.h"

/* The compiled graph as a function that is called like the program's. (transfer full) (nullable) */
static AdjFunction *
wrap (AdjAotGraph *aot, GError **error)
{
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjFunction) forward = NULL;
  g_autoptr (AdjFunction) backward = NULL;
  g_autoptr (AdjPartition) partition = NULL;
  guint n_sizes = 0;

  if (!adj_aot_graph_is_joint (aot))
    {
      forward = adj_graph_function_new (adj_aot_graph_get_graph (aot));
      return adj_aot_compile (aot, forward, NULL, NULL, 0);
    }
  options.num_fwd_outputs = (gint) adj_aot_graph_get_n_forward (aot);
  partition = adj_partition (adj_partitioner_find ("min-cut", NULL), adj_aot_graph_get_graph (aot),
                             &options, error);
  if (partition == NULL)
    return NULL;
  for (guint i = 0; i < partition->n_saved; i++)
    n_sizes += partition->saved[i].kind == ADJ_SAVED_SIZE;
  forward = adj_graph_function_new (partition->forward);
  backward = adj_graph_function_new (partition->backward);
  return adj_aot_compile (aot, forward, backward, partition->backward, n_sizes);
}

static AdjFunction *
make_function (const AdjProgram *program, AdjProgramHow how, AdjDiags *diags, GError **error)
{
  g_autoptr (AdjAotGraph) aot = NULL;

  if (!program_check_function (program, error))
    return NULL;
  if (how != ADJ_PROGRAM_TRACED && how != ADJ_PROGRAM_COMPILED)
    return adj_program_function_new (program);
  aot = adj_program_compile (program, how == ADJ_PROGRAM_TRACED, diags, error);
  return aot != NULL ? wrap (aot, error) : NULL;
}

static void
snapshot_unref (gpointer data)
{
  if (data != NULL)
    adj_tensor_data_unref (data);
}

static void
add_snapshots (GPtrArray *list, AdjTensor *tensor)
{
  const AdjCompositeClass *klass = tensor != NULL ? adj_composite_get_class (tensor) : NULL;

  if (klass == NULL)
    g_ptr_array_add (list, tensor != NULL ? adj_tensor_snapshot (tensor) : NULL);
  for (guint i = 0; klass != NULL && i < klass->n_inner; i++)
    add_snapshots (list, adj_composite_get_inner (tensor, i));
}

static gboolean
add_leaf_snapshots (const AdjValue *leaf, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_TENSOR)
    add_snapshots (data, leaf->tensor);
  return TRUE;
}

/* Collects objects by reference, without a copy: the arguments belong to this call alone. */
static gboolean
add_object (const AdjValue *leaf, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_OPAQUE_OBJECT && adj_object_from_opaque (leaf->object) != NULL)
    g_ptr_array_add (data, adj_opaque_ref (leaf->object));
  return TRUE;
}

static gboolean
add_root (const AdjValue *leaf, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_TENSOR && adj_tensor_get_requires_grad (leaf->tensor))
    g_ptr_array_add (data, leaf->tensor);
  return TRUE;
}

/* Differentiates the sums of all results and written arguments. */
static gboolean
differentiate (AdjContext *cx,
               const AdjProgramInputs *inputs,
               const AdjValue *result,
               GPtrArray *gradients)
{
  g_autoptr (GPtrArray) roots = g_ptr_array_new ();
  g_autoptr (GPtrArray) ones = g_ptr_array_new ();
  AdjTensor *found[ADJ_PROGRAM_MAX_INPUTS] = { NULL };
  AdjGradRoots from;

  adj_value_foreach (result, add_root, roots);
  for (guint i = 0; i < roots->len; i++)
    g_ptr_array_add (ones, ADJ_APPLY (cx, ADJ_OP_ones_like, ADJ_TENSOR (roots->pdata[i])));
  from = (AdjGradRoots){ (AdjTensor *const *) roots->pdata, (AdjTensor *const *) ones->pdata,
                         roots->len };
  if (adj_context_has_error (cx) ||
      (roots->len > 0 && inputs->n_leaves > 0 &&
       !adj_grad (cx, &from, inputs->leaves, inputs->n_leaves, ADJ_BACKWARD_ALLOW_UNUSED, found)))
    return FALSE;
  for (guint i = 0; i < inputs->n_leaves; i++)
    add_snapshots (gradients, found[i]);
  return TRUE;
}

/* (transfer full) (nullable): compiled autograd in the order of @how; %NULL: backwards are not
 * captured. */
static AdjCompiledAutograd *
make_capturer (AdjProgramHow how)
{
  AdjCompiledOptions options = { .order = how == ADJ_PROGRAM_CAPTURED_2_6
                                              ? ADJ_CAPTURE_ORDER_2_6
                                              : ADJ_CAPTURE_ORDER_EAGER };

  if (how != ADJ_PROGRAM_CAPTURED && how != ADJ_PROGRAM_CAPTURED_2_6)
    return NULL;
  return adj_compiled_autograd_new (&options);
}

static gboolean
call_function (const AdjProgram *program,
               AdjProgramHow how,
               AdjContext *cx,
               AdjProgramOutcome *outcome,
               GError **error)
{
  g_autoptr (AdjFunction) function = make_function (program, how, outcome->diags, error);
  g_auto (AdjValue) result = ADJ_NONE;
  AdjProgramInputs inputs;
  gboolean done;

  if (function == NULL)
    return FALSE;
  done = program_take_inputs (program, cx, &inputs);
  adj_context_set_grad_enabled (cx, how != ADJ_PROGRAM_TRACED);
  done = done && adj_function_call (function, cx, inputs.args, inputs.n_args, &result);
  adj_context_set_grad_enabled (cx, TRUE);
  done = done &&
         (how == ADJ_PROGRAM_TRACED || differentiate (cx, &inputs, &result, outcome->gradients));
  if (adj_context_take_error (cx, error) || !done)
    return FALSE;
  adj_value_foreach (&result, add_leaf_snapshots, outcome->results);
  for (guint i = 0; i < inputs.n_args; i++)
    {
      adj_value_foreach (&inputs.args[i], add_leaf_snapshots, outcome->inputs);
      adj_value_foreach (&inputs.args[i], add_object, outcome->objects);
    }
  return TRUE;
}

static void
add_accumulated (AdjTensor *leaf, AdjTensor *grad, gpointer data)
{
  add_snapshots (data, grad);
}

static gboolean
run_program (const AdjProgram *program, AdjContext *cx, AdjProgramOutcome *outcome, GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);

  engine_watch_accumulation (cx, add_accumulated, outcome->accumulated);
  program->run (cx, out);
  engine_watch_accumulation (cx, NULL, NULL);
  outcome->text = g_strdup (out->str);
  return !adj_context_take_error (cx, error);
}

/* Calls @function, or runs the program where it is %NULL. */
static gboolean
evaluate (const AdjProgram *program,
          AdjProgramHow how,
          gboolean function,
          AdjProgramOutcome *outcome,
          GError **error)
{
  g_autoptr (AdjCompiledAutograd) capturer = make_capturer (how);
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  gboolean done;

  if (capturer != NULL && !adj_compiled_autograd_enable (capturer, cx))
    return !adj_context_take_error (cx, error);
  done = function ? call_function (program, how, cx, outcome, error)
                  : run_program (program, cx, outcome, error);
  if (capturer != NULL)
    adj_compiled_autograd_restore (cx);
  return done;
}

static GPtrArray *
new_list (void)
{
  return g_ptr_array_new_with_free_func (snapshot_unref);
}

gboolean
adj_program_evaluate (const AdjProgram *program,
                      AdjProgramHow how,
                      gboolean run,
                      AdjProgramOutcome *outcome,
                      GError **error)
{
  gboolean captured = how == ADJ_PROGRAM_CAPTURED || how == ADJ_PROGRAM_CAPTURED_2_6;
  gboolean runs = program->run != NULL && (captured || (run && how == ADJ_PROGRAM_EAGER));

  g_return_val_if_fail (program != NULL && outcome != NULL, FALSE);

  *outcome = (AdjProgramOutcome){ .results = new_list (),
                                  .inputs = new_list (),
                                  .gradients = new_list (),
                                  .accumulated = new_list (),
                                  .diags = adj_diags_new () };
  outcome->objects = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_opaque_unref);
  if ((program->call != NULL || !runs) && !evaluate (program, how, TRUE, outcome, error))
    return FALSE;
  return !runs || evaluate (program, how, FALSE, outcome, error);
}

void
adj_program_outcome_clear (AdjProgramOutcome *outcome)
{
  g_clear_pointer (&outcome->results, g_ptr_array_unref);
  g_clear_pointer (&outcome->inputs, g_ptr_array_unref);
  g_clear_pointer (&outcome->gradients, g_ptr_array_unref);
  g_clear_pointer (&outcome->objects, g_ptr_array_unref);
  g_clear_pointer (&outcome->accumulated, g_ptr_array_unref);
  g_clear_pointer (&outcome->text, g_free);
  g_clear_pointer (&outcome->diags, adj_diags_free);
}
