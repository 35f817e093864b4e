/* SPDX-License-Identifier: MIT */
/* Hooks, in the order that PyTorch runs them: goldens of autograd/SPEC.md §9, all in the form
 * that eager PyTorch 2.6 gives (E9, E12 and E19 stand in test-engine.c). */

#include "support/tape.h"

/* -- what hooks of the tests do -- */

typedef struct
{
  GString *log;
  const char *name;
  double factor;
  AdjHook *victim; /* the hook that this one removes */
} Note;

static void
add_note (Note *note)
{
  if (note->log != NULL)
    g_string_append_printf (note->log, "%s%s", note->log->len > 0 ? "," : "", note->name);
}

static AdjTensor *
on_tensor (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  Note *note = data;

  add_note (note);
  if (note->victim != NULL)
    adj_hook_remove (note->victim);
  if (grad == NULL || note->factor == 0)
    return NULL;
  return CALL (cx, "mul.Scalar", T (grad), ADJ_FLOAT (note->factor));
}

static void
on_node (AdjContext *cx,
         AdjTensor **grads,
         guint n_grads,
         AdjTensor *const *results,
         guint n_results,
         gpointer data)
{
  Note *note = data;

  add_note (note);
  if (note->factor != 0)
    grads[0] = CALL (cx, "mul.Scalar", T (grads[0]), ADJ_FLOAT (note->factor));
}

static AdjGradNode *
edge_of (AdjContext *cx, AdjTensor *tensor)
{
  AdjGradNode *node = adj_tensor_get_grad_edge (cx, tensor, NULL);

  g_assert_nonnull (node);
  return node;
}

static void
hook_tensor (AdjContext *cx, AdjTensor *tensor, Note *note)
{
  g_autoptr (AdjHook) hook = adj_tensor_add_hook (cx, tensor, on_tensor, note);

  g_assert_nonnull (hook);
}

static void
hook_before (AdjContext *cx, AdjTensor *tensor, Note *note)
{
  g_autoptr (AdjGradNode) node = edge_of (cx, tensor);
  g_autoptr (AdjHook) hook = adj_grad_node_add_pre_hook (node, on_node, note);
}

static void
hook_after (AdjContext *cx, AdjTensor *tensor, AdjNodeHookFunc func, gpointer data)
{
  g_autoptr (AdjGradNode) node = edge_of (cx, tensor);
  g_autoptr (AdjHook) hook = adj_grad_node_add_post_hook (node, func, data);
}

/* -- goldens -- */

static const double one_two[] = { 1, 2 };

typedef struct
{
  AdjContext *cx;
  GString *log;
  Note b1, b2, a1, a2;
  AdjTensor *a, *b;
  AdjGradNode *accumulator;
} Clone;

/* a leaf, b = a.clone (), with hooks registered in the order of E1. */
static void
clone_setup (Clone *c, double tensor_factor, double node_factor)
{
  c->cx = tape_new ();
  c->log = g_string_new (NULL);
  c->b1 = c->a1 = (Note){ .log = c->log, .name = "T1", .factor = tensor_factor };
  c->b2 = c->a2 = (Note){ .log = c->log, .name = "P2", .factor = node_factor };
  c->a = tape_leaf (c->cx, 2, one_two);
  c->b = CALL (c->cx, "clone", T (c->a));
  c->accumulator = edge_of (c->cx, c->a);
  hook_before (c->cx, c->b, &c->b2);
  hook_tensor (c->cx, c->b, &c->b1);
  hook_before (c->cx, c->b, &c->b2);
  hook_tensor (c->cx, c->a, &c->a1);
  hook_before (c->cx, c->a, &c->a2);
  hook_tensor (c->cx, c->a, &c->a1);
}

static void
clone_teardown (Clone *c)
{
  adj_grad_node_unref (c->accumulator);
  adj_context_free (c->cx);
  g_string_free (c->log, TRUE);
}

static void
e1 (void)
{
  Clone c;

  clone_setup (&c, 0, 0);
  tape_backward (c.cx, CALL (c.cx, "sum", T (c.b)), 0);
  g_assert_cmpstr (c.log->str, ==, "T1,P2,P2,T1,T1,P2");
  clone_teardown (&c);
}

static void
e2 (void)
{
  Clone c;
  AdjTensor *sum, *grad;

  clone_setup (&c, 0, 0);
  sum = CALL (c.cx, "sum", T (c.b));
  g_assert_true (adj_grad (c.cx, &(AdjGradRoots){ .tensors = &sum, .n = 1 }, &c.a, 1, 0, &grad));
  g_assert_cmpstr (c.log->str, ==, "T1,P2,P2,T1,T1");
  g_assert_cmpfloat (tape_at (grad, 1), ==, 1);
  g_assert_null (adj_tensor_get_grad (c.a));
  clone_teardown (&c);
}

static void
e3 (void)
{
  Clone c;
  AdjTensor *sum;

  clone_setup (&c, 3, 2);
  sum = CALL (c.cx, "sum", T (c.b));
  g_assert_true (adj_backward (c.cx, &(AdjGradRoots){ .tensors = &sum, .n = 1 }, &c.b, 1, 0));
  g_assert_cmpstr (c.log->str, ==, "T1,P2,P2");
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (c.b), 0), ==, 3);
  g_assert_null (adj_tensor_get_grad (c.a));
  clone_teardown (&c);
}

static AdjTensor *
minus_two (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  return CALL (cx, "sub.Scalar", T (grad), ADJ_INT (2));
}

static void
fifth (AdjContext *cx,
       AdjTensor **grads,
       guint n_grads,
       AdjTensor *const *results,
       guint n_results,
       gpointer data)
{
  grads[0] = CALL (cx, "div.Scalar", T (grads[0]), ADJ_INT (5));
}

static void
half_more (AdjContext *cx, AdjTensor *leaf, gpointer data)
{
  g_assert_cmpfloat_with_epsilon (tape_at (adj_tensor_get_grad (leaf), 0), -0.2, 1e-12);
  CALL (cx, "add_.Scalar", T (adj_tensor_get_grad (leaf)), ADJ_FLOAT (0.5));
}

static void
ten_times (AdjContext *cx,
           AdjTensor **grads,
           guint n_grads,
           AdjTensor *const *results,
           guint n_results,
           gpointer data)
{
  g_assert_cmpuint (n_grads, ==, 0);
  g_assert_cmpuint (n_results, ==, 1);
  g_assert_cmpfloat_with_epsilon (tape_at (results[0], 0), 0.3, 1e-12);
  adj_tensor_set_grad (cx, data, CALL (cx, "mul.Scalar", T (results[0]), ADJ_INT (10)));
}

static void
e4 (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *t = tape_scalar (cx, 1);
  AdjTensor *y = CALL (cx, "clone", T (t));
  g_autoptr (AdjGradNode) node = edge_of (cx, t);
  g_autoptr (AdjHook) tensor = adj_tensor_add_hook (cx, t, minus_two, NULL);
  g_autoptr (AdjHook) before = adj_grad_node_add_pre_hook (node, fifth, NULL);
  g_autoptr (AdjHook) leaf = adj_tensor_add_leaf_hook (cx, t, half_more, NULL);
  g_autoptr (AdjHook) after = adj_grad_node_add_post_hook (node, ten_times, t);

  tape_backward (cx, y, 0);
  g_assert_false (adj_context_has_error (cx));
  g_assert_cmpfloat_with_epsilon (tape_at (adj_tensor_get_grad (t), 0), 3, 1e-12);
}

static void
e5 (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  Note twice = { .name = "twice", .factor = 2 };

  for (guint before = 0; before < 2; before++)
    {
      AdjTensor *b = CALL (cx, "clone", T (tape_scalar (cx, 1)));

      if (before)
        hook_tensor (cx, b, &twice);
      g_assert_true (adj_tensor_retain_grad (cx, b));
      hook_tensor (cx, b, &twice);
      tape_backward (cx, CALL (cx, "clone", T (b)), 0);
      g_assert_cmpfloat (tape_at (adj_tensor_get_grad (b), 0), ==, before ? 4 : 2);
    }
}

static void
see_8_and_16 (AdjContext *cx,
              AdjTensor **grads,
              guint n_grads,
              AdjTensor *const *results,
              guint n_results,
              gpointer data)
{
  g_assert_cmpfloat (tape_at (results[0], 0), ==, 8);
  g_assert_cmpfloat (tape_at (grads[0], 0), ==, 16);
  ++*(guint *) data;
}

static void
e6 (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  Note twice = { .name = "twice", .factor = 2 }, nothing = { .name = "nothing" };
  AdjTensor *y = CALL (cx, "mul.Scalar", T (tape_scalar (cx, 1)), ADJ_INT (2));
  guint n_seen = 0;

  hook_before (cx, y, &twice);
  hook_before (cx, y, &nothing);
  hook_before (cx, y, &twice);
  hook_before (cx, y, &twice);
  hook_before (cx, y, &nothing);
  hook_after (cx, y, see_8_and_16, &n_seen);
  hook_after (cx, y, see_8_and_16, &n_seen);
  tape_backward (cx, y, 0);
  g_assert_cmpuint (n_seen, ==, 2);
}

static void
count (AdjContext *cx,
       AdjTensor **grads,
       guint n_grads,
       AdjTensor *const *results,
       guint n_results,
       gpointer data)
{
  ++*(guint *) data;
}

static AdjTensor *
count_tensor (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  ++*(guint *) data;
  return NULL;
}

/* grad (c, [b]), grad (c, [a, b]), c.backward (), backward (inputs = [a, b]). */
static void
e7 (void)
{
  static const guint expected[4][3] = { { 1, 0, 0 }, { 2, 1, 1 }, { 2, 2, 2 }, { 2, 2, 2 } };

  for (guint i = 0; i < 4; i++)
    {
      g_autoptr (AdjContext) cx = tape_new ();
      AdjTensor *x = tape_scalar (cx, 1);
      AdjTensor *a = CALL (cx, "mul.Scalar", T (x), ADJ_INT (2));
      AdjTensor *b = CALL (cx, "mul.Scalar", T (a), ADJ_INT (2));
      AdjTensor *c = CALL (cx, "clone", T (b));
      AdjTensor *inputs[2] = { a, b };
      AdjTensor *grads[2];
      const AdjGradRoots roots = { .tensors = &c, .n = 1 };
      guint n[3] = { 0 };

      for (guint k = 0; k < 2; k++)
        {
          g_autoptr (AdjHook) hook = adj_tensor_add_hook (cx, inputs[k], count_tensor, &n[0]);
          AdjGradNode *node = adj_tensor_get_grad_node (inputs[k]);
          g_autoptr (AdjHook) before = adj_grad_node_add_pre_hook (node, count, &n[1]);
          g_autoptr (AdjHook) after = adj_grad_node_add_post_hook (node, count, &n[2]);
        }
      if (i < 2)
        g_assert_true (adj_grad (cx, &roots, inputs + (1 - i), 1 + i, 0, grads));
      else
        g_assert_true (adj_backward (cx, &roots, i == 3 ? inputs : NULL, i == 3 ? 2 : 0, 0));
      for (guint k = 0; k < 3; k++)
        g_assert_cmpuint (n[k], ==, expected[i][k]);
    }
}

static AdjTensor *
see (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  *(double *) data = tape_at (grad, 0);
  return CALL (cx, "mul.Scalar", T (grad), ADJ_INT (2));
}

static void
e8 (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *a = tape_leaf (cx, 2, one_two);
  AdjTensor *b = CALL (cx, "clone", T (a));
  double seen[2] = { 0 };
  g_autoptr (AdjHook) f1 = adj_tensor_add_hook (cx, b, see, &seen[0]);
  g_autoptr (AdjHook) f2 = NULL;

  CALL (cx, "mul_.Scalar", T (b), ADJ_INT (2));
  f2 = adj_tensor_add_hook (cx, b, see, &seen[1]);
  tape_backward (cx, CALL (cx, "sum", T (b)), 0);
  g_assert_cmpfloat (seen[1], ==, 1);
  g_assert_cmpfloat (seen[0], ==, 4);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (a), 0), ==, 8);
}

/* A hook on a view, then a write to its sibling view: the write gives the view another history. */
static void
e8_view (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *base = CALL (cx, "clone", T (tape_leaf (cx, 2, one_two)));
  AdjTensor *first = CALL (cx, "view", T (base), LIST (ADJ_INT (2)));
  AdjTensor *second = CALL (cx, "view", T (base), LIST (ADJ_INT (2)));
  guint n = 0;
  g_autoptr (AdjHook) hook = adj_tensor_add_hook (cx, first, count_tensor, &n);

  CALL (cx, "mul_.Scalar", T (second), ADJ_INT (2));
  tape_backward (cx, CALL (cx, "sum", T (first)), 0);
  g_assert_cmpuint (n, ==, 0);
}

/* cat of n leaves: the hooks run in the order of PyTorch's heap of ready nodes. */
static void
e10 (void)
{
  static const char *const orders[] = { NULL,
                                        NULL,
                                        "0,1",
                                        "0,1,2",
                                        "0,2,1,3",
                                        "0,2,4,1,3",
                                        "0,2,5,4,1,3",
                                        "0,2,5,6,4,1,3",
                                        "0,2,6,5,7,4,1,3",
                                        NULL,
                                        "0,2,6,9,8,5,7,4,1,3" };
  static const char *const names[] = { "0", "1", "2", "3", "4", "5", "6", "7", "8", "9" };

  for (guint n = 2; n <= 10; n++)
    {
      g_autoptr (AdjContext) cx = tape_new ();
      g_autoptr (GString) log = g_string_new (NULL);
      AdjValue items[10];
      Note notes[10];

      adj_autograd_set_flags (cx, ADJ_AUTOGRAD_TORCH_TIES);
      for (guint i = 0; i < n; i++)
        {
          AdjTensor *leaf = tape_leaf (cx, 2, one_two);

          notes[i] = (Note){ .log = log, .name = names[i] };
          hook_tensor (cx, leaf, &notes[i]);
          items[i] = T (leaf);
        }
      tape_backward (
          cx,
          CALL (
              cx, "sum",
              T (CALL (cx, "cat", ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = n, .items = items })))),
          0);
      if (orders[n] != NULL)
        g_assert_cmpstr (log->str, ==, orders[n]);
    }
}

static void
check_e11 (gboolean sin_first, const char *expected)
{
  g_autoptr (AdjContext) cx = tape_new ();
  g_autoptr (GString) log = g_string_new (NULL);
  AdjTensor *x = tape_leaf (cx, 2, one_two), *y = tape_leaf (cx, 2, one_two);
  AdjTensor *early = sin_first ? CALL (cx, "sin", T (x)) : NULL;
  AdjTensor *e = CALL (cx, "exp", T (y));
  AdjTensor *s = early != NULL ? early : CALL (cx, "sin", T (x));
  AdjTensor *m = CALL (cx, "mul.Tensor", T (s), T (e));
  Note notes[] = { { log, "x", 0, NULL },
                   { log, "y", 0, NULL },
                   { log, "e", 0, NULL },
                   { log, "s", 0, NULL },
                   { log, "m", 0, NULL } };
  AdjTensor *tensors[] = { x, y, e, s, m };

  for (guint i = 0; i < 5; i++)
    hook_tensor (cx, tensors[i], &notes[i]);
  tape_backward (cx, CALL (cx, "sum", T (m)), 0);
  g_assert_cmpstr (log->str, ==, expected);
}

static void
e11 (void)
{
  check_e11 (FALSE, "m,s,x,e,y");
  check_e11 (TRUE, "m,e,y,s,x");
}

static gboolean
give_nothing (AdjContext *cx,
              AdjTensor *const *grads,
              guint n_grads,
              AdjTensor **grad_inputs,
              guint n_inputs,
              gpointer data)
{
  return TRUE;
}

static AdjTensor *
expect_none (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  g_assert_null (grad);
  ++*(guint *) data;
  return NULL;
}

static void
expect_nones (AdjContext *cx,
              AdjTensor **grads,
              guint n_grads,
              AdjTensor *const *results,
              guint n_results,
              gpointer data)
{
  g_assert_null (grads[0]);
  g_assert_null (results[0]);
  ++*(guint *) data;
}

static AdjTensor *
custom (AdjContext *cx, const char *name, AdjBackwardFunc backward, gpointer data, AdjTensor *x)
{
  gboolean enabled = adj_context_set_grad_enabled (cx, FALSE);
  AdjTensor *y = CALL (cx, "clone", T (x));
  const AdjCustomGrad grad = { .name = name, .backward = backward, .data = data };

  adj_context_set_grad_enabled (cx, enabled);
  g_assert_true (adj_autograd_connect (cx, &grad, &x, 1, &y, 1));
  return y;
}

static void
e13 (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two);
  AdjTensor *h = CALL (cx, "exp", T (x));
  guint n = 0;
  g_autoptr (AdjHook) on_h = adj_tensor_add_hook (cx, h, expect_none, &n);
  g_autoptr (AdjHook) on_x = adj_tensor_add_hook (cx, x, expect_none, &n);

  hook_after (cx, h, expect_nones, &n);
  tape_backward (cx, CALL (cx, "sum", T (custom (cx, "N", give_nothing, NULL, h))), 0);
  g_assert_cmpuint (n, ==, 3);
  g_assert_null (adj_tensor_get_grad (x));
}

static void
callback_1n (AdjContext *cx, gpointer data)
{
  g_string_append (data, ",cb1n");
}

static void
callback_1 (AdjContext *cx, gpointer data)
{
  g_string_append (data, ",cb1");
  g_assert_true (adj_autograd_queue_callback (cx, callback_1n, data));
}

static void
callback_2 (AdjContext *cx, gpointer data)
{
  g_string_append (data, ",cb2");
}

static gboolean
queue_callbacks (AdjContext *cx,
                 AdjTensor *const *grads,
                 guint n_grads,
                 AdjTensor **grad_inputs,
                 guint n_inputs,
                 gpointer data)
{
  g_string_append (data, "bw");
  grad_inputs[0] = grads[0];
  return adj_autograd_queue_callback (cx, callback_1, data) &&
         adj_autograd_queue_callback (cx, callback_2, data);
}

static void
e14 (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  g_autoptr (GString) log = g_string_new (NULL);

  tape_backward (cx, custom (cx, "Queue", queue_callbacks, log, tape_scalar (cx, 1)), 0);
  g_assert_cmpstr (log->str, ==, "bw,cb1,cb2,cb1n");
  g_assert_false (adj_autograd_queue_callback (cx, callback_2, log));
  tape_assert_error (cx, ADJ_ERROR_SHAPE, "only be installed during backward");
}

static gboolean
my_backward (AdjContext *cx,
             AdjTensor *const *grads,
             guint n_grads,
             AdjTensor **grad_inputs,
             guint n_inputs,
             gpointer data)
{
  g_string_append (data, "m");
  grad_inputs[0] = grads[0];
  return TRUE;
}

/* Calls backward again until its counter reaches zero. */
typedef struct
{
  GString *log;
  guint left;
} Reentrant;

static gboolean
reentrant_backward (AdjContext *cx,
                    AdjTensor *const *grads,
                    guint n_grads,
                    AdjTensor **grad_inputs,
                    guint n_inputs,
                    gpointer data)
{
  Reentrant *reentrant = data;

  g_string_append (reentrant->log, "r");
  grad_inputs[0] = grads[0];
  if (reentrant->left-- == 0)
    return TRUE;
  adj_context_set_grad_enabled (cx, TRUE);
  tape_backward (cx, custom (cx, "Reentrant", reentrant_backward, data, tape_scalar (cx, 1)), 0);
  adj_context_set_grad_enabled (cx, FALSE);
  return TRUE;
}

static void
e15 (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  g_autoptr (GString) log = g_string_new (NULL);
  Reentrant reentrant = { log, 9 };
  AdjTensor *a = custom (cx, "My", my_backward, log, tape_scalar (cx, 6));
  AdjTensor *b = custom (cx, "Reentrant", reentrant_backward, &reentrant, tape_scalar (cx, 9));

  tape_backward (cx, CALL (cx, "mul.Tensor", T (a), T (b)), 0);
  g_assert_cmpstr (log->str, ==, "rrrrrrrrrrm");
}

static gboolean
raise_error (AdjContext *cx,
             AdjTensor *const *grads,
             guint n_grads,
             AdjTensor **grad_inputs,
             guint n_inputs,
             gpointer data)
{
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "as planned");
  return FALSE;
}

static void
e16 (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *a = tape_leaf (cx, 2, one_two), *b = tape_leaf (cx, 2, one_two);
  AdjTensor *sum = CALL (
      cx, "sum", T (CALL (cx, "add.Tensor", T (custom (cx, "E", raise_error, NULL, a)), T (b))));

  g_assert_false (adj_backward (cx, &(AdjGradRoots){ .tensors = &sum, .n = 1 }, NULL, 0, 0));
  tape_assert_error (cx, ADJ_ERROR_UNSUPPORTED, "as planned");
  g_assert_null (adj_tensor_get_grad (a));
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (b), 0), ==, 1);
}

static void
e17 (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  g_autoptr (GString) log = g_string_new (NULL);
  AdjTensor *t = tape_leaf (cx, 2, one_two);
  Note n1 = { .log = log, .name = "h1" }, n2 = { .log = log, .name = "h2" };
  g_autoptr (AdjHook) h1 = adj_tensor_add_hook (cx, t, on_tensor, &n1);
  g_autoptr (AdjHook) h2 = adj_tensor_add_hook (cx, t, on_tensor, &n2);

  n1.victim = h2;
  tape_backward (cx, CALL (cx, "sum", T (t)), 0);
  tape_backward (cx, CALL (cx, "sum", T (t)), 0);
  g_assert_cmpstr (log->str, ==, "h1,h2,h1");
}

/* A hook that adds another hook, which does not run in this backward. */
typedef struct
{
  Note first, second;
  AdjTensor *tensor;
  AdjHook *added; /* (owned) */
} Adding;

static AdjTensor *
add_another (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  Adding *adding = data;

  add_note (&adding->first);
  if (adding->added == NULL)
    adding->added = adj_tensor_add_hook (cx, adding->tensor, on_tensor, &adding->second);
  return NULL;
}

static void
e17_registers (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  g_autoptr (GString) log = g_string_new (NULL);
  AdjTensor *t = tape_leaf (cx, 2, one_two);
  Adding adding = { .first = { .log = log, .name = "h1" },
                    .second = { .log = log, .name = "h2" },
                    .tensor = t };
  g_autoptr (AdjHook) hook = adj_tensor_add_hook (cx, t, add_another, &adding);

  tape_backward (cx, CALL (cx, "sum", T (t)), 0);
  g_assert_cmpstr (log->str, ==, "h1");
  tape_backward (cx, CALL (cx, "sum", T (t)), 0);
  g_assert_cmpstr (log->str, ==, "h1,h1,h2");
  adj_hook_unref (adding.added);
}

/* The first of several gradient hooks to run calls backward; the others find it done. */
typedef struct
{
  Note note;
  gboolean done;
} First;

static AdjTensor *
on_first (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  First *first = data;

  if (!first->done)
    add_note (&first->note);
  first->done = TRUE;
  return NULL;
}

static void
e18 (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  g_autoptr (GString) log = g_string_new (NULL);
  AdjTensor *x = tape_leaf (cx, 2, one_two), *loss = NULL;
  First any[] = { { { .log = log, .name = "any1" }, FALSE },
                  { { .log = log, .name = "any2" }, FALSE } };
  Note on_z[] = { { .log = log, .name = "z1" }, { .log = log, .name = "z2" } };

  for (guint i = 0; i < 2; i++)
    {
      AdjTensor *z = CALL (cx, "mul.Scalar", T (x), ADJ_INT (3));
      AdjTensor *s = CALL (cx, "sin", T (z)), *c = CALL (cx, "cos", T (z));
      AdjTensor *sum = CALL (cx, "sum", T (CALL (cx, "add.Tensor", T (s), T (c))));
      g_autoptr (AdjHook) on_s = adj_tensor_add_hook (cx, s, on_first, &any[i]);
      g_autoptr (AdjHook) on_c = adj_tensor_add_hook (cx, c, on_first, &any[i]);

      hook_tensor (cx, z, &on_z[i]);
      loss = loss != NULL ? CALL (cx, "add.Tensor", T (loss), T (sum)) : sum;
    }
  tape_backward (cx, loss, 0);
  g_assert_cmpstr (log->str, ==, "any2,z2,any1,z1");
}

/* -- bad returns -- */

static AdjTensor *
bad_size (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  return CALL (cx, "sum", T (grad));
}

static void
refuses_bad_returns (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *t = tape_leaf (cx, 2, one_two);
  g_autoptr (AdjHook) hook = adj_tensor_add_hook (cx, t, bad_size, NULL);
  AdjTensor *sum = CALL (cx, "sum", T (t));

  g_assert_false (adj_backward (cx, &(AdjGradRoots){ .tensors = &sum, .n = 1 }, NULL, 0, 0));
  tape_assert_error (cx, ADJ_ERROR_SHAPE,
                     "hook '<unknown>' has changed the size of value (was [2] got [])");
  adj_hook_remove (hook);
  tape_backward (cx, CALL (cx, "sum", T (t)), 0);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (t), 0), ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/compiled-autograd/6.1/E1-order", e1);
  g_test_add_func ("/compiled-autograd/6.1/E2-grad-skips-accumulator", e2);
  g_test_add_func ("/compiled-autograd/6.1/E3-backward-inputs", e3);
  g_test_add_func ("/compiled-autograd/6.1/E4-steal-and-post-accumulate", e4);
  g_test_add_func ("/compiled-autograd/6.1/E5-retain-grad-last", e5);
  g_test_add_func ("/compiled-autograd/6.1/E6-pre-hooks-chain", e6);
  g_test_add_func ("/compiled-autograd/6.1/E7-which-run", e7);
  g_test_add_func ("/compiled-autograd/6.1/E8-in-place", e8);
  g_test_add_func ("/compiled-autograd/6.1/E8-view-before-a-write", e8_view);
  g_test_add_func ("/compiled-autograd/6.1/E10-ties", e10);
  g_test_add_func ("/compiled-autograd/6.1/E11-order-of-tensors", e11);
  g_test_add_func ("/compiled-autograd/6.1/E13-undefined", e13);
  g_test_add_func ("/compiled-autograd/6.1/E14-final-callbacks", e14);
  g_test_add_func ("/compiled-autograd/6.1/E15-re-entrant", e15);
  g_test_add_func ("/compiled-autograd/6.1/E16-failure", e16);
  g_test_add_func ("/compiled-autograd/6.1/E17-removal", e17);
  g_test_add_func ("/compiled-autograd/6.1/E17-registering", e17_registers);
  g_test_add_func ("/compiled-autograd/6.1/E18-first-of-several", e18);
  g_test_add_func ("/autograd/hooks/refuses-bad-returns", refuses_bad_returns);

  return g_test_run ();
}
