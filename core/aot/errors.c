/* SPDX-License-Identifier: MIT */
/* The error catalogue: one row each, with a code by which messages are found. */

#include <string.h>

#include "aot/aot-private.h"

typedef struct
{
  const char *code;
  const char *message;
  const char *seen; /* (nullable): part of another layer's message that this row replaces */
} Row;

static const Row rows[AOT_N_ERRORS] = {
  [AOT_ERROR_LEAF_WRITTEN] = { "leaf-written",
                               "a leaf Variable that requires grad is being used in an in-place "
                               "operation.",
                               ": a leaf Variable that requires grad is being used in an in-place "
                               "operation." },
  [AOT_ERROR_VIEW_OF_LEAF_WRITTEN] = { "view-of-leaf-written",
                                       "a view of a leaf Variable that requires grad is being used "
                                       "in an in-place operation.",
                                       "a view of a leaf Variable that requires grad is being used "
                                       "in an in-place operation." },
  [AOT_ERROR_ONE_OF_VIEWS_WRITTEN] = { "one-of-views-written",
                                       "a view of several from one call is modified inplace",
                                       "This view is the output of a function that returns "
                                       "multiple "
                                       "views" },
  [AOT_ERROR_SAVED_OVERWRITTEN] = { "saved-overwritten",
                                    "a value needed for gradient computation was modified inplace",
                                    "modified by an inplace operation" },
  [AOT_ERROR_BROADCAST_GROWS] = { "broadcast-grows",
                                  "an in-place operation would make its tensor larger",
                                  "cannot be written into" },
  [AOT_ERROR_OVERLAP_WRITTEN] = { "overlap-written",
                                  "a tensor that shows an element more than once is written",
                                  "elements of the tensor to write share memory" },
  [AOT_ERROR_RESIZE_GROWS] = { "resize-grows",
                               "a tensor is resized beyond its storage, which others may see",
                               "to more elements than its storage holds" },
  [AOT_ERROR_FROZEN] = { "frozen-storage", "the storage that set_() took away is written",
                         "cannot mutate tensors with frozen storage" },
  [AOT_ERROR_LATE_AS_STRIDED] = { "late-as-strided", "a write through an as_strided view of a view",
                                  "cannot write through an as_strided view of a view" },
  [AOT_ERROR_PLAIN_WRITTEN] = { "plain-written",
                                "mutating a non-functional tensor with a functional tensor is not "
                                "allowed",
                                "a tensor that no trace knows with one that it does" },
  [AOT_ERROR_NO_FUNCTIONAL_FORM] = { "no-functional-form",
                                     "an operator that writes has no form that does not",
                                     "has no form that does not write" },
  [AOT_ERROR_SET_NOT_IN_GRAPH] = { "set-not-in-graph",
                                   "Encountered a set_ on a graph input, but the input has other "
                                   "mutations that we cannot keep in the graph" },
  [AOT_ERROR_RESIZE_NOT_IN_GRAPH] = { "resize-not-in-graph",
                                      "Encountered a resize_ on a graph input, but the input has "
                                      "other mutations that we cannot keep in the graph" },
  [AOT_ERROR_RESIZE_NOT_ZERO] = { "resize-not-zero", "a storage is resized from or to 0 bytes only",
                                  "a storage is resized from or to 0 bytes only, not" },
  [AOT_ERROR_OUTPUT_UNKNOWN] = { "output-type",
                                 "Found an object in output, which is not a known type" },
  [AOT_ERROR_OUTPUT_NOT_TUPLE] = { "output-not-tuple",
                                   "Graph output must be a tuple(): so that it needs no tree" },
  [AOT_ERROR_AUTOCAST] = { "autocast",
                           "AOTAutograd does not support tracing graphs that mutate the autocast "
                           "state" },
  [AOT_ERROR_NON_DIFFERENTIABLE_VIEWS] = { "views-not-differentiable",
                                           "aot_autograd() does not yet handle non-differentiable "
                                           "view input mutations." },
  [AOT_ERROR_VIEWS_DTYPE] = { "views-dtype",
                              "aot_autograd() does not yet handle input mutations on views with "
                              "different dtypes." },
  [AOT_ERROR_BACKWARD_METADATA] = { "backward-metadata",
                                    "Found a graph input that had its metadata mutated in the "
                                    "backward" },
  [AOT_ERROR_BACKWARD_RESIZE] = { "backward-resize",
                                  "Found a graph input that had its storage resized in the "
                                  "backward" },
  [AOT_ERROR_BACKWARD_CREATE_GRAPH] = { "backward-create-graph",
                                        "aot_autograd does not support input mutations with "
                                        "requires_grad in backward for create_graph=True" },
  [AOT_ERROR_TANGENT_WRITTEN] = { "tangent-written",
                                  "Found an input to the backward that was mutated during the "
                                  "backward pass" },
  [AOT_ERROR_NOT_FUNCTIONAL] = { "not-functional",
                                 "aot_autograd expected to have an entirely functional graph, but "
                                 "found a node that writes" },
  [AOT_ERROR_BACKWARD_AND_FORWARD] = { "backward-and-forward",
                                       "a graph input is written by the forward and again by the "
                                       "backward" },
  [AOT_ERROR_DUPLICATE_DIFFERS] = { "duplicate-differs",
                                    "At compilation time, the graph was compiled under the "
                                    "assumption that this input would be a duplicate of another, "
                                    "but at runtime this was not the case" },
  [AOT_ERROR_REQUIRES_GRAD_DIFFERS] = { "requires-grad-differs",
                                        "At compilation time, the graph was compiled under the "
                                        "assumption that this input would not require grad, but at "
                                        "runtime this was not the case" },
  [AOT_ERROR_TANGENT_CLASS] = { "tangent-class",
                                "We incorrectly attempted to compile the backward with incorrect "
                                "subclass metadata" },
  [AOT_ERROR_DOUBLE_BACKWARD] = { "double-backward",
                                  "a compiled function does not support double backward" },
  [AOT_ERROR_DETERMINISTIC] = { "deterministic",
                                "This compiled backward function is being run with deterministic "
                                "algorithms, but the forward was not" },
  [AOT_ERROR_EXPORT_METADATA] = { "export-metadata",
                                  "Found an input that received a metadata mutation" },
  [AOT_ERROR_EXPORT_GRAD_MUTATION] = { "export-grad-mutation",
                                       "Found a graph input that requires gradients, and received "
                                       "a mutation." },
  [AOT_ERROR_EXPORT_DUPLICATES] = { "export-duplicates",
                                    "Encountered duplicated inputs that are mutated in the graph "
                                    "you are trying to export." },
  [AOT_ERROR_EXPORT_OTHER_GRAD] = { "export-other-grad",
                                    "Found an output of the forward that requires gradients, that "
                                    "was not the scalar loss" },
  [AOT_ERROR_EXPORT_LOSS_SHAPE] = { "export-loss-shape",
                                    "We require the output marked as the loss to be a scalar" },
  [AOT_ERROR_EXPORT_LOSS_GRAD] = { "export-loss-grad",
                                   "the output is marked as the loss, but it does not require "
                                   "gradients" },
  [AOT_ERROR_EXPORT_LOSS_MISSING] = { "export-loss-missing",
                                      "If trace_joint=True it is required that one of your forward "
                                      "outputs must be a scalar loss" },
  [AOT_ERROR_EXPORT_NO_GRADIENT] = { "export-no-gradient",
                                     "Found a parameter that did not receive a gradient." },
  [AOT_ERROR_EXPORT_RNG] = { "export-rng",
                             "Functionalized RNG is not currently supported in the aot_export "
                             "workflow." },
  [AOT_ERROR_EXPORT_COMPOSITE] = { "export-composite",
                                   "aot_export is not currently supported with traceable tensor "
                                   "subclass." },
  [AOT_ERROR_COMPOSITE_DUPLICATES] = { "composite-duplicates",
                                       "Encountered aliased inputs that are mutated in the graph, "
                                       "but at least one input/output to the graph is a tensor "
                                       "subclass" },
  [AOT_ERROR_COMPOSITE_METADATA] = { "composite-metadata",
                                     "Metadata mutations are currently not allowed on tensor "
                                     "subclasses" },
  [AOT_ERROR_COMPOSITE_BASES] = { "composite-bases",
                                  "two graph outputs that alias one another, which is currently "
                                  "unsupported in the subclass use case" },
  [AOT_ERROR_REQUIRES_GRAD_INSIDE] = { "requires-grad-inside",
                                       "requires_grad_() on an input of a traced function does not "
                                       "reach the caller's tensor" },
  [AOT_ERROR_HOOK_ON_ALIAS] = { "hook-on-alias",
                                "a hook was put on a view of an input, or on an input that was "
                                "changed: gradients of the caller reach that without the graph" },
  [AOT_ERROR_DETACHED_VIEWS] = { "detached-views",
                                 "two views are returned of what detach() made of an input and a "
                                 "write gave a history of its own" },
  [AOT_ERROR_VIEW_OF_TURNED_LEAF] = { "view-of-turned-leaf",
                                      "a view of a leaf is returned whose sizes were changed in "
                                      "place while grad mode was off" },
  [AOT_ERROR_TURNED_WITHOUT_GRAD] = { "turned-without-grad",
                                      "an input is written, and its sizes are changed in place "
                                      "while grad mode is off: what has a gradient is of other "
                                      "sizes" },
  [AOT_ERROR_TURNED_IN_GRAPH] = { "turned-in-graph",
                                  "an input whose sizes or strides are changed in place is written "
                                  "by a node of the graph",
                                  "they cannot be written back" },
};

void
aot_name_error (GError **error)
{
  if (error == NULL || *error == NULL || strstr ((*error)->message, "[aot: ") != NULL)
    return;
  for (guint i = 0; i < AOT_N_ERRORS; i++)
    if (rows[i].seen != NULL && strstr ((*error)->message, rows[i].seen) != NULL)
      {
        g_autofree char *message =
            g_strdup_printf ("%s [aot: %s]", (*error)->message, rows[i].code);

        g_free ((*error)->message);
        (*error)->message = g_steal_pointer (&message);
        return;
      }
}

const char *
adj_aot_get_error_code (guint index)
{
  return index < AOT_N_ERRORS ? rows[index].code : NULL;
}

/* "input 2", "output 1 of input 0" */
static void
print_blame (const AotBlame *blame, GString *out)
{
  if (blame->what != NULL)
    {
      g_string_append (out, blame->what);
      return;
    }
  if (blame->tangent >= 0)
    g_string_append_printf (out, "tangent %d", blame->tangent);
  if (blame->output >= 0)
    g_string_append_printf (out, "%soutput %d", out->len > 0 ? " of " : "", blame->output);
  if (blame->input >= 0)
    g_string_append_printf (out, "%sinput %d", out->len > 0 ? " of " : "", blame->input);
  if (blame->other >= 0)
    g_string_append_printf (out, " and input %d", blame->other);
}

static void
keep_blame (GError *error, const AotBlame *blame)
{
  if (blame->input >= 0)
    adj_error_blame_input (error, (guint) blame->input);
  if (blame->other >= 0)
    adj_error_blame_input (error, (guint) blame->other);
  if (blame->output >= 0)
    adj_error_blame_output (error, (guint) blame->output);
}

/* "input 2: … [aot: leaf-written]" */
static char *
describe (AotError row, const AotBlame *blame, const char *detail, va_list list)
{
  g_autoptr (GString) text = g_string_new (NULL);

  print_blame (blame, text);
  if (detail != NULL)
    g_string_append_vprintf (text, detail, list);
  g_string_append_printf (text, ": %s [aot: %s]", rows[row].message, rows[row].code);
  return g_strdup (text->str);
}

gboolean
aot_fail (GError **error, AotError row, AotBlame blame, const char *detail, ...)
{
  g_autofree char *message = NULL;
  va_list list;

  va_start (list, detail);
  message = describe (row, &blame, detail, list);
  va_end (list);
  g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, message);
  if (error != NULL)
    keep_blame (*error, &blame);
  return FALSE;
}

gboolean
aot_fail_context (AdjContext *cx, AotError row, AotBlame blame, const char *detail, ...)
{
  g_autofree char *message = NULL;
  va_list list;

  if (adj_context_has_error (cx))
    return FALSE;
  va_start (list, detail);
  message = describe (row, &blame, detail, list);
  va_end (list);
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "%s", message);
  keep_blame (adj_context_get_error (cx), &blame);
  return FALSE;
}
