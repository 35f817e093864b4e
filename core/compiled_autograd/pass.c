/* SPDX-License-Identifier: MIT */
/* compiled-autograd: the reordering and dead code elimination that compiled autograd applies to a
 * captured graph, as a pass.  For a program, session/ captures the backwards first. */

#include "compiled_autograd/adj-compiled-autograd-internal.h"
#include "compiled_autograd/compiled-private.h"
#include "ir/adj-graph.h"
#include "passes/adj-pass-internal.h"
#include "passes/adj-pass.h"

static const struct
{
  const char *name;
  AdjCaptureOrder order;
  AdjCaptureLevel level;
  gboolean dynamic, write_gradients;
  const char *release;
} kinds[] = {
  { "eager", ADJ_CAPTURE_ORDER_EAGER, ADJ_CAPTURE_LEVEL_OPERATORS, FALSE, FALSE, NULL },
  { "2024", ADJ_CAPTURE_ORDER_2024, ADJ_CAPTURE_LEVEL_OPERATORS, FALSE, FALSE, NULL },
  { "2.6", ADJ_CAPTURE_ORDER_2_6, ADJ_CAPTURE_LEVEL_OPERATORS, FALSE, TRUE, "2.6 captured" },
  { "2.15", ADJ_CAPTURE_ORDER_2_15, ADJ_CAPTURE_LEVEL_NODES, TRUE, FALSE, "2.15" },
  { "nodes", ADJ_CAPTURE_ORDER_EAGER, ADJ_CAPTURE_LEVEL_NODES, FALSE, FALSE, NULL },
};

gboolean
adj_capture_order_find (const char *name, AdjCompiledOptions *options, GError **error)
{
  g_return_val_if_fail (options != NULL, FALSE);

  if (name == NULL)
    name = kinds[0].name;
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (kinds[i].name, name))
      {
        options->order = kinds[i].order;
        options->level = kinds[i].level;
        options->dynamic = kinds[i].dynamic;
        options->write_gradients = kinds[i].write_gradients;
        return TRUE;
      }
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
               "no order '%s'; there are eager, 2024, 2.6, 2.15, nodes", name);
  return FALSE;
}

const char *
adj_capture_order_get_release (AdjCaptureOrder order)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (kinds[i].order == order)
      return kinds[i].release;
  return NULL;
}

/* A line for each node: "'call_hook' right behind 'mul_1'". */
static void
report_stage (AdjPassContext *context, const AdjStage *before, const AdjStage *stage)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < stage->n_notes; i++)
    {
      const AdjPassNote *note = &stage->notes[i];

      g_string_append_printf (text, "%s'%s' %s", i > 0 ? "\n" : "",
                              adj_graph_get_node (before->graph, note->before.index)->name,
                              note->reason);
    }
  adj_pass_step (context, stage->name, text->str, 0);
}

static AdjGraph *
compiled_autograd_run (AdjGraph *in, AdjPassContext *context, GError **error)
{
  g_autoptr (AdjRecording) recording = adj_recording_new ();
  g_autoptr (AdjGraph) last = NULL;
  AdjCompiledOptions options = { NULL };

  if (!adj_capture_order_find (adj_pass_context_get_argument (context), &options, error))
    return NULL;
  adj_pass_context_set_role (context, "compiled_autograd");
  last = reorder (in, options.order, recording, NULL, error);
  if (last == NULL)
    return NULL;
  for (guint i = 1; i < adj_recording_get_n_stages (recording); i++)
    report_stage (context, adj_recording_get_stage (recording, i - 1),
                  adj_recording_get_stage (recording, i));
  if (options.order == ADJ_CAPTURE_ORDER_2_15)
    {
      adj_pass_step (context, "sizes", "Drop sizes that nobody reads", 0);
      return drop_sizes (last, NULL, error);
    }
  return g_steal_pointer (&last);
}

const AdjPass adj_pass_compiled_autograd = {
  .name = "compiled-autograd",
  .argument = "eager|2024|2.6|2.15|nodes",
  .summary = "Capture the backwards of a program; of a capture, the order of its hooks",
  .explain =
      "While compiled autograd is on, a backward is not walked node by node: it is captured as one "
      "graph, with saved tensors, sizes and hooks as inputs, and that graph is run.  A later "
      "backward that consists of the same runs the same graph.\n\n"
      "As the first step of `adjoint trace PROGRAM` it runs the program and gives every graph that "
      "was captured, with the reason why it was.  Of the graph of a file, as it was replayed, it "
      "gives the order:\n\n"
      "* `eager`: as the engine runs; hooks see what they see without capture.\n"
      "* `2024`: PyTorch 2.4: last found first, and accumulations moved up.\n"
      "* `2.6`: hooks and accumulations moved one kind after the other.  What PyTorch 2.6 then "
      "drops are also writes whose result nobody reads, though others see what they write: the "
      "gradients are wrong (`adjoint check`).\n"
      "* `2.15`: as PyTorch 2.15: each node of the backward is one call, `ops.MulBackward0`, in "
      "the order of 2.6; what hooks have packed is unpacked when it is read, and writes stay.\n"
      "* `nodes`: the same calls in the engine's order.",
  .run = compiled_autograd_run,
};
