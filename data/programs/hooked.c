/* SPDX-License-Identifier: MIT */

/* Hooks in a captured backward.
 *
 * A network of two layers with a hook of every kind: on the gradient of the hidden layer, before
 * and after the node that made it, on a weight, and after the accumulation of that weight's
 * gradient; the hidden layer retains its gradient as well.  In a capture each hook is an input
 * of the graph and a call in it:
 *
 *   adjoint trace hooked
 *
 * PyTorch changes the order of these calls: with --compat the graph is replayed in reverse order
 * of discovery, and each following stage moves one kind of hook. */

#include "programs.h"

typedef struct
{
  GString *out;
  const char *name;
  double factor; /* 0: does not change the gradient */
} Note;

static void
note_sum (AdjContext *cx, const Note *note, AdjTensor *grad)
{
  g_string_append_printf (note->out, "%s: %g\n", note->name, adj_item (cx, adj_sum (cx, grad)));
}

static AdjTensor *
on_tensor (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  const Note *note = data;

  note_sum (cx, note, grad);
  return note->factor != 0 ? adj_mul_scalar (cx, grad, ADJ_FLOAT (note->factor)) : NULL;
}

static void
on_node (AdjContext *cx,
         AdjTensor **grads,
         guint n_grads,
         AdjTensor *const *results,
         guint n_results,
         gpointer data)
{
  note_sum (cx, data, grads[0]);
}

static void
on_leaf (AdjContext *cx, AdjTensor *leaf, gpointer data)
{
  note_sum (cx, data, adj_tensor_get_grad (leaf));
}

static void
keep (AdjHook *hook, const Note *note)
{
  if (hook == NULL)
    return;
  adj_hook_set_name (hook, note->name);
  adj_hook_unref (hook);
}

static AdjTensor *
make (AdjContext *cx, gint64 rows, gint64 columns, double scale)
{
  const gint64 sizes[] = { rows, columns };
  AdjTensor *numbers = adj_arange (cx, ADJ_INT (rows * columns));

  return adj_view (cx, adj_mul_scalar (cx, numbers, ADJ_FLOAT (scale)), sizes, 2);
}

static gboolean
run (AdjContext *cx, GString *out)
{
  const Note notes[] = {
    { out, "look at the hidden layer", 0 },
    { out, "double the hidden layer", 2 },
    { out, "before tanh", 0 },
    { out, "after tanh", 0 },
    { out, "halve the weight", 0.5 },
    { out, "after the weight", 0 },
  };
  AdjTensor *x = make (cx, 2, 3, 0.25), *first = make (cx, 3, 4, 0.125);
  AdjTensor *second = make (cx, 4, 1, 0.5), *hidden;
  AdjGradNode *node;

  adj_tensor_set_requires_grad (cx, first, TRUE);
  adj_tensor_set_requires_grad (cx, second, TRUE);
  hidden = adj_tanh (cx, adj_mm (cx, x, first));
  node = hidden != NULL ? adj_tensor_get_grad_node (hidden) : NULL;
  if (node == NULL)
    return FALSE;
  keep (adj_tensor_add_hook (cx, hidden, on_tensor, (gpointer) &notes[0]), &notes[0]);
  keep (adj_tensor_add_hook (cx, hidden, on_tensor, (gpointer) &notes[1]), &notes[1]);
  keep (adj_grad_node_add_pre_hook (node, on_node, (gpointer) &notes[2]), &notes[2]);
  keep (adj_grad_node_add_post_hook (node, on_node, (gpointer) &notes[3]), &notes[3]);
  keep (adj_tensor_add_hook (cx, first, on_tensor, (gpointer) &notes[4]), &notes[4]);
  keep (adj_tensor_add_leaf_hook (cx, first, on_leaf, (gpointer) &notes[5]), &notes[5]);
  adj_tensor_retain_grad (cx, hidden);
  if (!adj_tensor_backward (cx, adj_sum (cx, adj_mm (cx, hidden, second))))
    return FALSE;
  adj_program_print (cx, out, "gradient of the hidden layer", adj_tensor_get_grad (hidden));
  adj_program_print (cx, out, "gradient of the first weight", adj_tensor_get_grad (first));
  adj_program_print (cx, out, "gradient of the second weight", adj_tensor_get_grad (second));
  return !adj_context_has_error (cx);
}

ADJ_PUBLIC const AdjProgram *adj_program_hooked (void);

const AdjProgram *
adj_program_hooked (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "hooked",
    .summary = "A network with a hook of every kind, to be captured",
    .run = run,
  };

  return &program;
}
