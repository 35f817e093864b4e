/* SPDX-License-Identifier: MIT */

/* Hooks: which gradient each kind sees, and when.
 *
 * z = (x · w)², summed.  Backward runs for each node: hooks of the tensor that the node made
 * (1), hooks before the node (2), the node itself, then hooks after it (3).  At a leaf the hooks
 * of the tensor see the incoming gradient (1), it is accumulated, and the post-accumulation
 * hooks run (4).  A hook of a tensor may return another gradient: here the one of w is doubled. */

#include "programs.h"

typedef struct
{
  GString *out;
  const char *text;
  double factor; /* 0: does not change the gradient */
} Note;

static AdjTensor *
on_tensor (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  const Note *note = data;

  g_string_append_printf (note->out, "%s: %g\n", note->text, adj_item (cx, adj_sum (cx, grad)));
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
  const Note *note = data;

  g_string_append_printf (note->out, "%s, with %u gradient%s\n", note->text, n_grads,
                          n_grads == 1 ? "" : "s");
}

static void
on_leaf (AdjContext *cx, AdjTensor *leaf, gpointer data)
{
  const Note *note = data;

  g_string_append_printf (note->out, "%s: %g\n", note->text,
                          adj_item (cx, adj_sum (cx, adj_tensor_get_grad (leaf))));
}

static gboolean
run (AdjContext *cx, GString *out)
{
  const gint64 size[] = { 2 };
  Note notes[] = {
    { out, "1 hook of the product, the sum of its gradient", 0 },
    { out, "2 before MulBackward", 0 },
    { out, "3 after MulBackward", 0 },
    { out, "1 hook of w, which doubles what arrives", 2 },
    { out, "4 after w accumulated", 0 },
  };
  AdjTensor *x = adj_full (cx, size, 1, ADJ_FLOAT (3));
  AdjTensor *w = adj_full (cx, size, 1, ADJ_FLOAT (0.5));
  AdjTensor *product, *z;
  AdjGradNode *node;
  AdjHook *hooks[5];

  adj_tensor_set_requires_grad (cx, w, TRUE);
  product = adj_mul (cx, x, w);
  z = adj_sum (cx, adj_mul (cx, product, product));
  node = adj_tensor_get_grad_node (product);
  if (adj_context_has_error (cx))
    return FALSE;

  hooks[0] = adj_tensor_add_hook (cx, product, on_tensor, &notes[0]);
  hooks[1] = adj_grad_node_add_pre_hook (node, on_node, &notes[1]);
  hooks[2] = adj_grad_node_add_post_hook (node, on_node, &notes[2]);
  hooks[3] = adj_tensor_add_hook (cx, w, on_tensor, &notes[3]);
  hooks[4] = adj_tensor_add_leaf_hook (cx, w, on_leaf, &notes[4]);
  g_string_append (out, "backward\n");
  adj_backward (cx, &(AdjGradRoots){ .tensors = &z, .n = 1 }, NULL, 0, ADJ_BACKWARD_RETAIN_GRAPH);
  for (guint i = 0; i < G_N_ELEMENTS (hooks); i++)
    {
      adj_hook_remove (hooks[i]);
      adj_hook_unref (hooks[i]);
    }
  g_string_append (out, "again, with the hooks removed\n");
  adj_tensor_backward (cx, z);
  g_string_append_printf (out, "the gradient of w sums to %g\n",
                          adj_item (cx, adj_sum (cx, adj_tensor_get_grad (w))));
  return !adj_context_has_error (cx);
}

ADJ_PUBLIC const AdjProgram *adj_program_hooks (void);

const AdjProgram *
adj_program_hooks (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "hooks",
    .summary = "Hooks of every kind, in the order in which they run",
    .run = run,
  };

  return &program;
}
