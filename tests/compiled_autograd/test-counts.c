/* SPDX-License-Identifier: MIT */
/* How often programs with several backwards are captured, compared with PyTorch 2.6
 * (golden/counts.py): after which backwards there is a new capture. */

#include "compiled_autograd/capture.h"
#include "support/adj-test.h"

#define OP(name, ...) CALL (p->cx, name, __VA_ARGS__)

static AdjTensor *
leaf (Program *p, guint rank, gint64 a, gint64 b)
{
  return program_leaf (p, NULL, rank, (const gint64[]){ a, b });
}

static AdjTensor *
constant (Program *p, gint64 a, gint64 b)
{
  AdjTensor *tensor = leaf (p, 2, a, b);

  g_assert_true (adj_tensor_set_requires_grad (p->cx, tensor, FALSE));
  return tensor;
}

typedef struct
{
  AdjTensor *weight, *bias;
} Linear;

static Linear
linear (Program *p)
{
  return (Linear){ leaf (p, 2, 4, 4), leaf (p, 1, 4, 0) };
}

static AdjTensor *
apply (Program *p, const Linear *layer, AdjTensor *x)
{
  return OP ("addmm", T (layer->bias), T (x), T (OP ("t", T (layer->weight))));
}

static void
forget (Program *p, const Linear *layer)
{
  g_assert_true (adj_tensor_set_grad (p->cx, layer->weight, NULL));
  g_assert_true (adj_tensor_set_grad (p->cx, layer->bias, NULL));
}

static void
backward (Program *p, AdjTensor *tensor)
{
  program_backward (p, OP ("sum", T (tensor)));
}

static void
sin_backward (Program *p, AdjTensor *x)
{
  backward (p, OP ("sin", T (x)));
}

/* -- programs: each is called once for each backward; @state lives as long as the program -- */

typedef struct
{
  Linear first, second;
  AdjTensor *x, *loss;
} State;

typedef void (*StepFunc) (Program *p, State *state, guint step);

static void
fresh_models (Program *p, State *state, guint step)
{
  const Linear first = linear (p), second = linear (p);

  backward (p, apply (p, &second, OP ("relu", T (apply (p, &first, constant (p, 2, 4))))));
}

static void
one_size (Program *p, State *state, guint step)
{
  static const gint64 sizes[] = { 10, 100, 10, 15, 20, 25 };

  sin_backward (p, leaf (p, 1, sizes[step], 0));
}

static void
sizes_zero_and_one (Program *p, State *state, guint step)
{
  sin_backward (p, leaf (p, 1, step, 0));
}

static void
setup (Program *p, State *state, guint step)
{
  if (step == 0)
    *state = (State){ linear (p), linear (p), leaf (p, 1, 3, 0), NULL };
}

static void
batches (Program *p, State *state, guint step)
{
  AdjTensor *h;

  setup (p, state, step);
  forget (p, &state->first);
  forget (p, &state->second);
  h = OP ("relu", T (apply (p, &state->first, constant (p, 10 * (step + 1), 4))));
  backward (p, OP ("relu", T (apply (p, &state->second, h))));
}

static void
batches_with_view (Program *p, State *state, guint step)
{
  const gint64 batch = 10 * (step + 1);

  setup (p, state, step);
  forget (p, &state->first);
  backward (p, OP ("view", T (apply (p, &state->first, constant (p, batch, 4))),
                   LIST (ADJ_INT (2 * batch), ADJ_INT (2))));
}

static void
accumulating (Program *p, State *state, guint step)
{
  setup (p, state, step);
  backward (p, apply (p, &state->first, constant (p, 2, 4)));
}

static void
preset_gradients (Program *p, State *state, guint step)
{
  setup (p, state, step);
  adj_tensor_set_grad (p->cx, state->first.weight, OP ("zeros_like", T (state->first.weight)));
  adj_tensor_set_grad (p->cx, state->first.bias, OP ("zeros_like", T (state->first.bias)));
  backward (p, apply (p, &state->first, constant (p, 2, 4)));
}

static void
zeroed_gradients (Program *p, State *state, guint step)
{
  setup (p, state, step);
  forget (p, &state->first);
  backward (p, apply (p, &state->first, constant (p, 2, 4)));
}

static void
shared_layer (Program *p, State *state, guint step)
{
  const gboolean both = step % 2 == 1;

  setup (p, state, step);
  forget (p, &state->first);
  forget (p, &state->second);
  adj_tensor_set_requires_grad (p->cx, state->second.weight, both);
  adj_tensor_set_requires_grad (p->cx, state->second.bias, both);
  backward (p, apply (p, &state->second, apply (p, &state->first, constant (p, 2, 4))));
}

static gboolean
double_forward (AdjCustomCall *call, AdjTensor *const *in, guint n_in, AdjTensor **out, guint n)
{
  out[0] = CALL (adj_custom_call_get_context (call), "mul.Scalar", T (in[0]), ADJ_INT (2));
  return TRUE;
}

static gboolean
double_backward (AdjCustomCall *call, AdjTensor *const *grads, guint n, AdjTensor **out, guint n_in)
{
  out[0] = CALL (adj_custom_call_get_context (call), "mul.Scalar", T (grads[0]), ADJ_INT (2));
  return TRUE;
}

static const AdjCustomClass classes[] = {
  { "Double", double_forward, double_backward, FALSE },
  { "Double", double_forward, double_backward, FALSE },
  { "Double", double_forward, double_backward, FALSE },
};

static void
apply_class (Program *p, guint which)
{
  AdjTensor *x = leaf (p, 1, 3, 0), *out;

  g_assert_true (adj_custom_apply (p->cx, &classes[which], NULL, NULL, &x, 1, &out, 1));
  backward (p, out);
}

static void
alternating_classes (Program *p, State *state, guint step)
{
  apply_class (p, step % 2);
}

static void
class_per_step (Program *p, State *state, guint step)
{
  apply_class (p, step);
}

static void
inputs_x_then_y (Program *p, State *state, guint step)
{
  AdjTensor *leaves[2] = { leaf (p, 1, 3, 0), leaf (p, 1, 3, 0) };
  AdjTensor *sum = OP ("sum", T (OP ("mul.Tensor", T (leaves[0]), T (leaves[1]))));

  g_assert_true (
      adj_backward (p->cx, &(AdjGradRoots){ .tensors = &sum, .n = 1 }, &leaves[step], 1, 0));
}

static void
retained (Program *p, State *state, guint step)
{
  setup (p, state, step);
  if (step == 0)
    state->loss = OP ("sum", T (OP ("sin", T (state->x))));
  adj_tensor_set_grad (p->cx, state->x, OP ("zeros_like", T (state->x)));
  tape_backward (p->cx, state->loss, ADJ_BACKWARD_RETAIN_GRAPH);
}

static void
hooks_on_leaf (Program *p, State *state, guint step)
{
  AdjTensor *x = leaf (p, 1, 3, 0);

  for (guint i = 0; i < step; i++)
    program_hook_tensor (p, x, "h", 0);
  sin_backward (p, x);
}

static void
other_hook (Program *p, State *state, guint step)
{
  AdjTensor *x = leaf (p, 1, 3, 0);

  program_hook_tensor (p, x, step == 0 ? "one" : step == 1 ? "two" : "three", step + 1);
  sin_backward (p, x);
}

static void
other_kind_of_hook (Program *p, State *state, guint step)
{
  AdjTensor *x = leaf (p, 1, 3, 0);
  g_autoptr (AdjGradNode) kept = adj_tensor_get_grad_edge (p->cx, x, NULL);

  if (step == 0)
    program_hook_tensor (p, x, "h", 0);
  else if (step == 1)
    program_hook_before (p, x, "h", 0);
  else
    program_hook_leaf (p, x, "h");
  sin_backward (p, x);
}

static void
other_strides (Program *p, State *state, guint step)
{
  AdjTensor *x = step == 0 ? constant (p, 2, 3) : OP ("t", T (constant (p, 3, 2)));

  x = OP ("detach", T (x));
  g_assert_true (adj_tensor_set_requires_grad (p->cx, x, TRUE));
  sin_backward (p, x);
}

static void
other_dtype (Program *p, State *state, guint step)
{
  static const double values[] = { 1, 1, 1 };

  sin_backward (p, step == 0 ? leaf (p, 1, 3, 0) : tape_leaf (p->cx, 3, values));
}

static void
scalar_factor (Program *p, State *state, guint step)
{
  backward (p, OP ("mul.Tensor", T (leaf (p, 1, 3, 0)), ADJ_INT (2 + step)));
}

static void
scalar_exponent (Program *p, State *state, guint step)
{
  backward (p, OP ("pow.Tensor_Scalar", T (leaf (p, 1, 3, 0)), ADJ_INT (2 + step)));
}

static void
another_rank (Program *p, State *state, guint step)
{
  sin_backward (p, leaf (p, 1 + step % 2, 3, 3));
}

static void
squared_or_product (Program *p, State *state, guint step)
{
  setup (p, state, step);
  adj_tensor_set_grad (p->cx, state->x, NULL);
  backward (p, OP ("mul.Tensor", T (state->x), T (step == 0 ? state->x : leaf (p, 1, 3, 0))));
}

static void
with_prefix (Program *p, State *state, guint step)
{
  AdjTensor *x = leaf (p, 1, 3, 0);

  x = OP (step % 3 == 2 ? "exp" : "sin", T (x));
  backward (p, step % 3 == 1 ? OP ("exp", T (x)) : x);
}

/* -- the table -- */

static const struct
{
  const char *name;
  StepFunc step;
  const char *deviates; /* (nullable): the backwards here, if they differ from PyTorch's */
} rows[] = {
  { "fresh-models", fresh_models, NULL },
  { "one-size", one_size, NULL },
  /* A capture for one element is not reused for several. */
  { "sizes-zero-and-one", sizes_zero_and_one, "1 2 3" },
  { "batches", batches, NULL },
  { "batches-with-view", batches_with_view, NULL },
  { "accumulating", accumulating, NULL },
  { "preset-gradients", preset_gradients, NULL },
  { "zeroed-gradients", zeroed_gradients, NULL },
  { "shared-layer", shared_layer, NULL },
  { "alternating-classes", alternating_classes, NULL },
  { "class-per-step", class_per_step, NULL },
  { "inputs-x-then-y", inputs_x_then_y, NULL },
  { "retained", retained, NULL },
  { "hooks-on-leaf", hooks_on_leaf, NULL },
  { "other-hook", other_hook, NULL },
  { "other-kind-of-hook", other_kind_of_hook, NULL },
  { "other-strides", other_strides, NULL },
  { "other-dtype", other_dtype, NULL },
  { "scalar-factor", scalar_factor, NULL },
  { "scalar-exponent", scalar_exponent, NULL },
  { "another-rank", another_rank, NULL },
  { "squared-or-product", squared_or_product, NULL },
  { "with-prefix", with_prefix, NULL },
};

/* (transfer full): the numbers of the backwards that were captured, "1 2". */
static char *
measure (StepFunc step, guint n, AdjCaptureOrder order)
{
  g_autoptr (AdjCompiledAutograd) compiler =
      adj_compiled_autograd_new (&(AdjCompiledOptions){ .order = order, .strict = TRUE });
  GString *which = g_string_new (NULL);
  State state = { 0 };
  guint64 before = 0;
  Program program;

  program_init (&program);
  g_assert_true (adj_compiled_autograd_enable (compiler, program.cx));
  for (guint i = 0; i < n; i++)
    {
      guint64 captures;

      step (&program, &state, i);
      captures = adj_compiled_autograd_get_counters (compiler).captures;
      if (captures > before)
        g_string_append_printf (which, "%s%u", which->len > 0 ? " " : "", i + 1);
      before = captures;
    }
  adj_compiled_autograd_restore (program.cx);
  program_clear (&program);
  return g_string_free (which, FALSE);
}

/* (transfer full): the columns of row @name. */
static GStrv
find_row (const char *name)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "compiled_autograd", "golden", "counts.txt", NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      GStrv columns = g_strsplit (lines[i], " | ", -1);

      if (columns[0] != NULL && g_str_equal (columns[0], name))
        return columns;
      g_strfreev (columns);
    }
  g_error ("counts.txt has no %s", name);
}

static void
check (gconstpointer data)
{
  const guint row = GPOINTER_TO_UINT (data);
  g_auto (GStrv) columns = find_row (rows[row].name);
  const char *expected = rows[row].deviates != NULL ? rows[row].deviates : columns[4];
  guint n = (guint) g_ascii_strtoull (columns[2], NULL, 10);

  for (guint order = 0; order < ADJ_N_CAPTURE_ORDERS; order++)
    {
      g_autofree char *got = measure (rows[row].step, n, (AdjCaptureOrder) order);

      g_assert_cmpstr (got, ==, expected);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = g_strdup_printf ("/compiled-autograd/counts/%s", rows[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), check);
    }
  return g_test_run ();
}
