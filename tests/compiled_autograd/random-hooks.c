/* SPDX-License-Identifier: MIT */
/* Hooks of random programs: each logs what it sees and may replace it. */

#include "compiled_autograd/random-private.h"

typedef enum
{
  EFFECT_NONE,
  EFFECT_SCALE,
  EFFECT_SAME, /* returns its argument */
  EFFECT_DROP, /* of a node: makes a gradient undefined */
  EFFECT_KEEP, /* keeps a reference to its argument */
  EFFECT_CALL, /* queues a callback for the end of the backward */
  EFFECT_TURN, /* returns the same values in other strides */
  N_EFFECTS,
} Effect;

typedef struct
{
  Machine *m;
  guint id;
  Effect effect;
  AdjHook *hook; /* (owned) (nullable) */
} RandomNote;

void
random_note_free (gpointer data)
{
  RandomNote *note = data;

  adj_hook_unref (note->hook);
  g_free (note);
}

static void
begin_line (const RandomNote *note, const char *kind)
{
  g_string_append_printf (note->m->run->log, "%s %u", kind, note->id);
}

static void
end_line (const RandomNote *note)
{
  g_string_append_c (note->m->run->log, '\n');
}

static void
at_the_end (AdjContext *cx, gpointer data)
{
  begin_line (data, "end");
  end_line (data);
}

static void
affect (const RandomNote *note, AdjContext *cx, AdjTensor *grad)
{
  if (note->effect == EFFECT_KEEP && grad != NULL)
    g_ptr_array_add (note->m->kept, adj_keep (grad));
  if (note->effect == EFFECT_CALL)
    g_assert_true (adj_autograd_queue_callback (cx, at_the_end, (gpointer) note));
}

static AdjTensor *
scale (AdjContext *cx, AdjTensor *grad)
{
  return CALL (cx, "mul.Scalar", T (grad), ADJ_FLOAT (2));
}

static AdjTensor *
turn (AdjContext *cx, AdjTensor *grad)
{
  if (adj_tensor_get_rank (grad) < 2)
    return grad;
  grad = CALL (cx, "transpose.int", T (grad), ADJ_INT (0), ADJ_INT (-1));
  grad = CALL (cx, "mul.Scalar", T (grad), ADJ_INT (1));
  return CALL (cx, "transpose.int", T (CALL (cx, "clone", T (grad))), ADJ_INT (0), ADJ_INT (-1));
}

static AdjTensor *
on_tensor (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  const RandomNote *note = data;

  begin_line (note, "tensor");
  random_print_tensor (note->m->run->log, grad);
  end_line (note);
  affect (note, cx, grad);
  if (note->effect == EFFECT_SCALE && grad != NULL)
    return scale (cx, grad);
  if (note->effect == EFFECT_TURN && grad != NULL)
    return turn (cx, grad);
  return note->effect == EFFECT_SAME ? grad : NULL;
}

static void
on_node (AdjContext *cx,
         AdjTensor **grads,
         guint n_grads,
         AdjTensor *const *results,
         guint n_results,
         gpointer data)
{
  const RandomNote *note = data;

  begin_line (note, results != NULL ? "post" : "pre");
  for (guint i = 0; i < n_grads; i++)
    random_print_tensor (note->m->run->log, grads[i]);
  g_string_append (note->m->run->log, results != NULL ? " of" : "");
  for (guint i = 0; i < n_results; i++)
    random_print_tensor (note->m->run->log, results[i]);
  end_line (note);
  affect (note, cx, n_grads > 0 ? grads[0] : NULL);
  for (guint i = 0; i < n_grads; i++)
    if (note->effect == EFFECT_SCALE && grads[i] != NULL)
      grads[i] = scale (cx, grads[i]);
    else if (note->effect == EFFECT_TURN && grads[i] != NULL)
      grads[i] = turn (cx, grads[i]);
  if (note->effect == EFFECT_DROP && n_grads > 0)
    grads[n_grads - 1] = NULL;
}

static void
on_leaf (AdjContext *cx, AdjTensor *leaf, gpointer data)
{
  const RandomNote *note = data;
  AdjTensor *grad = adj_tensor_get_grad (leaf);

  begin_line (note, "leaf");
  random_print_tensor (note->m->run->log, grad);
  end_line (note);
  affect (note, cx, grad);
  if (note->effect == EFFECT_SCALE && grad != NULL)
    CALL (cx, "mul_.Scalar", T (grad), ADJ_FLOAT (2));
  else if (note->effect == EFFECT_SAME && grad != NULL)
    adj_tensor_set_grad (cx, leaf, scale (cx, grad));
  else if (note->effect == EFFECT_DROP)
    adj_tensor_set_grad (cx, leaf, NULL);
}

static void
on_several (AdjContext *cx, AdjTensor *const *grads, guint n_grads, gpointer data)
{
  const RandomNote *note = data;

  begin_line (note, "several");
  for (guint i = 0; i < n_grads; i++)
    random_print_tensor (note->m->run->log, grads[i]);
  end_line (note);
  affect (note, cx, grads[0]);
}

/* -- adding them -- */

static RandomNote *
note_new (Machine *m, const char *kind, const Var *var)
{
  RandomNote *note = g_new0 (RandomNote, 1);

  note->m = m;
  note->id = m->notes->len;
  note->effect = (Effect) random_pick (m, 0, N_EFFECTS);
  if (note->effect == EFFECT_DROP && !random_chance (m, 20))
    note->effect = EFFECT_NONE;
  g_ptr_array_add (m->notes, note);
  g_string_append_printf (m->run->text, "  %s hook %u on v%u, effect %u\n", kind, note->id,
                          random_index (m, var), note->effect);
  return note;
}

static void
add_tensor_hook (Machine *m, const Var *var)
{
  RandomNote *note = note_new (m, "tensor", var);

  note->hook = adj_tensor_add_hook (m->cx, var->tensor, on_tensor, note);
}

static void
add_node_hook (Machine *m, const Var *var)
{
  const gboolean before = random_chance (m, 50);
  RandomNote *note = note_new (m, before ? "pre" : "post", var);
  g_autoptr (AdjGradNode) node = adj_tensor_get_grad_edge (m->cx, var->tensor, NULL);

  if (node == NULL)
    return;
  note->hook = before ? adj_grad_node_add_pre_hook (node, on_node, note)
                      : adj_grad_node_add_post_hook (node, on_node, note);
}

static void
add_leaf_hook (Machine *m, const Var *var)
{
  const Leaf *leaf = &m->leaves[random_pick (m, 0, (gint) m->n_leaves)];
  RandomNote *note;

  if (!adj_tensor_get_requires_grad (leaf->tensor))
    return;
  note = note_new (m, "leaf", &leaf->var);
  note->hook = adj_tensor_add_leaf_hook (m->cx, leaf->tensor, on_leaf, note);
}

static void
add_multi_hook (Machine *m, const Var *var)
{
  AdjTensor *tensors[3] = { var->tensor };
  const gboolean first = random_chance (m, 50);
  const guint n = (guint) random_pick (m, 1, 4);
  RandomNote *note = note_new (m, first ? "any" : "all", var);

  for (guint i = 1; i < n; i++)
    {
      const Var *other = random_pick_var_with_grad (m);

      tensors[i] = other->tensor;
    }
  note->hook = adj_autograd_add_multi_hook (m->cx, tensors, n, first, on_several, note);
}

static void
retain (Machine *m, const Var *var)
{
  g_string_append_printf (m->run->text, "  retain v%u\n", random_index (m, var));
  if (adj_tensor_retain_grad (m->cx, var->tensor))
    g_ptr_array_add (m->outputs, var->tensor);
}

static const struct
{
  void (*add) (Machine *m, const Var *var);
  guint weight;
} kinds[] = {
  { add_tensor_hook, 4 }, { add_node_hook, 4 }, { add_leaf_hook, 2 },
  { add_multi_hook, 1 },  { retain, 2 },
};

void
random_add_hook (Machine *m)
{
  const Var *var = random_pick_var_with_grad (m);
  guint total = 0, at;

  if (var == NULL)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    total += kinds[i].weight;
  at = (guint) random_pick (m, 0, (gint) total);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      if (at < kinds[i].weight)
        {
          kinds[i].add (m, var);
          break;
        }
      at -= kinds[i].weight;
    }
  random_note_error (m, "hook");
}
