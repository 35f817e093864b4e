/* SPDX-License-Identifier: MIT */
/* The programs of data/programs.txt (see make-programs.py): views, in-place writes, no-grad
 * sections and hooks.  The gradients equal PyTorch's, and a program that PyTorch refuses is
 * refused at the same step. */

#include <math.h>
#include <string.h>

#include "ops/adj-op-table.h"
#include "support/adj-test.h"
#include "support/tape.h"

typedef struct
{
  AdjContext *cx;
  GPtrArray *registers; /* of AdjTensor, borrowed from the context */
  GPtrArray *hooks;
  GArray *factors;
} Machine;

#define N_ROWS 3
#define N_COLUMNS 4
#define MAX_FACTORS 64

static AdjTensor *
make_register (AdjContext *cx, guint k)
{
  const AdjValue sizes[] = { ADJ_INT (N_ROWS), ADJ_INT (N_COLUMNS) };
  guint n = k == 2 ? N_COLUMNS : N_ROWS * N_COLUMNS;
  double values[N_ROWS * N_COLUMNS];
  AdjTensor *tensor;

  for (guint i = 0; i < n; i++)
    values[i] = ((double) ((5 * i + 3 * k) % 11) - 5) / 4;
  tensor = tape_tensor (cx, n, values);
  if (k != 2)
    tensor = CALL (cx, "view", T (tensor),
                   ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = 2, .items = (AdjValue *) sizes }));
  tensor = CALL (cx, "clone", T (tensor));
  if (k < 3)
    g_assert_true (adj_tensor_set_requires_grad (cx, tensor, TRUE));
  return tensor;
}

static void
machine_init (Machine *machine)
{
  machine->cx = tape_new ();
  machine->registers = g_ptr_array_new ();
  machine->hooks = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_hook_unref);
  machine->factors = g_array_sized_new (FALSE, FALSE, sizeof (double), MAX_FACTORS);
  for (guint k = 0; k < 4; k++)
    g_ptr_array_add (machine->registers, make_register (machine->cx, k));
}

static void
machine_clear (Machine *machine)
{
  g_ptr_array_unref (machine->hooks);
  g_ptr_array_unref (machine->registers);
  g_array_unref (machine->factors);
  adj_context_free (machine->cx);
}

/* -- steps -- */

static AdjTensor *
get_register (const Machine *machine, const char *word)
{
  guint64 k = g_ascii_strtoull (word + 1, NULL, 10);

  g_assert_cmpuint (k, <, machine->registers->len);
  return g_ptr_array_index (machine->registers, k);
}

/* @items: space for the entries of a list. */
static AdjValue
read_argument (const Machine *machine, const char *word, AdjValue *items)
{
  guint n = 0;

  if (*word == 'r')
    return T (get_register (machine, word));
  if (strchr (word, '.') != NULL)
    return ADJ_FLOAT (g_ascii_strtod (word, NULL));
  if (*word != '[')
    return ADJ_INT (g_ascii_strtoll (word, NULL, 10));
  for (const char *p = word + 1; *p != ']' && *p != '\0'; p += *p == ',')
    items[n++] = ADJ_INT (g_ascii_strtoll (p, (char **) &p, 10));
  return (AdjValue){ .kind = ADJ_VALUE_LIST, .n = n, .items = items };
}

static AdjTensor *
scale (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  return CALL (cx, "mul.Scalar", T (grad), ADJ_FLOAT (*(double *) data));
}

static gboolean
add_hook (Machine *machine, char **words)
{
  double factor = g_ascii_strtod (words[2], NULL);
  AdjHook *hook;

  g_assert_cmpuint (machine->factors->len, <, MAX_FACTORS);
  g_array_append_val (machine->factors, factor);
  hook = adj_tensor_add_hook (machine->cx, get_register (machine, words[1]), scale,
                              &g_array_index (machine->factors, double, machine->factors->len - 1));
  if (hook != NULL)
    g_ptr_array_add (machine->hooks, hook);
  return hook != NULL;
}

static gboolean
call_operator (Machine *machine, char **words)
{
  g_auto (GStrv) name = g_strsplit (words[1], "#", 2);
  g_autofree char *target = g_strdup_printf ("torch.ops.aten.%s%s", name[0],
                                             strchr (name[0], '.') != NULL ? "" : ".default");
  const AdjOp *op = adj_op_find (target);
  AdjValue args[8], items[8][8];
  AdjValue tuple = { .kind = ADJ_VALUE_TUPLE, .items = args };
  AdjValue result;

  if (op == NULL)
    g_error ("there is no %s", target);
  for (; words[2 + tuple.n] != NULL; tuple.n++)
    args[tuple.n] = read_argument (machine, words[2 + tuple.n], items[tuple.n]);
  if (!adj_call (machine->cx, op, &tuple, NULL, &result))
    return FALSE;
  if (name[1] != NULL)
    result = result.items[g_ascii_strtoull (name[1], NULL, 10)];
  if (words[0][0] != '-')
    g_ptr_array_add (machine->registers, result.tensor);
  return TRUE;
}

static gboolean
run_step (Machine *machine, const char *step)
{
  g_auto (GStrv) words = g_strsplit (step, " ", -1);
  gboolean no_grad = g_str_equal (words[0], "N");
  gboolean done;

  if (g_str_equal (words[0], "hook"))
    return add_hook (machine, words);
  adj_context_set_grad_enabled (machine->cx, !no_grad);
  done = call_operator (machine, words + no_grad);
  adj_context_set_grad_enabled (machine->cx, TRUE);
  return done;
}

static AdjTensor *
try_one (AdjContext *cx, const char *name, AdjTensor *a, AdjTensor *b)
{
  AdjValue items[] = { T (a), T (b) };
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = b != NULL ? 2 : 1, .items = items };
  AdjValue result;

  return a != NULL && adj_call (cx, adj_op_find (name), &args, NULL, &result) ? result.tensor
                                                                              : NULL;
}

static gboolean
run_backward (Machine *machine)
{
  AdjContext *cx = machine->cx;
  AdjTensor *loss = NULL;

  for (guint k = 0; k < machine->registers->len; k++)
    {
      AdjTensor *tensor = g_ptr_array_index (machine->registers, k);
      const double factor = k + 1;

      if (!adj_tensor_get_requires_grad (tensor))
        continue;
      tensor = try_one (cx, "torch.ops.aten.sin.default", tensor, NULL);
      tensor = try_one (cx, "torch.ops.aten.sum.default", tensor, NULL);
      tensor = try_one (cx, "torch.ops.aten.mul.Tensor", tensor, tape_tensor (cx, 0, &factor));
      if (tensor != NULL && loss != NULL)
        tensor = try_one (cx, "torch.ops.aten.add.Tensor", loss, tensor);
      loss = tensor;
      if (loss == NULL)
        return FALSE;
    }
  return adj_backward (cx, &(AdjGradRoots){ .tensors = &loss, .n = 1 }, NULL, 0, 0);
}

/* -- what came of it -- */

static gboolean
agrees (AdjTensor *leaf, const char *expected)
{
  AdjTensor *grad = adj_tensor_get_grad (leaf);
  const char *p = expected + 1;

  if (g_str_equal (expected, "none") || grad == NULL)
    return g_str_equal (expected, "none") == (grad == NULL);
  for (gint64 i = 0; *p != '\0'; i++, p++)
    {
      double want = g_ascii_strtod (p, (char **) &p);
      double got = tape_at (grad, i);

      if (!(fabs (got - want) <= 1e-10 * (1 + fabs (want))) && !(isnan (got) && isnan (want)) &&
          got != want)
        {
          g_test_message ("element %d is %.12g, PyTorch's %.12g", (int) i, got, want);
          return FALSE;
        }
    }
  return TRUE;
}

/* Checks one program from all of its lines but the first; the last one holds PyTorch's result. */
static gboolean
check_program (char **lines, guint n, guint *n_refused)
{
  g_auto (GStrv) expected = g_strsplit (lines[n - 1], " ", -1);
  gboolean refused = g_str_equal (expected[1], "error");
  guint64 at = refused ? g_ascii_strtoull (expected[2], NULL, 10) : n;
  g_autoptr (GError) error = NULL;
  gboolean good = TRUE;
  Machine machine;
  guint i = 0;

  machine_init (&machine);
  while (i < n - 1 && run_step (&machine, lines[i]))
    i++;
  if (i == n - 1 && run_backward (&machine))
    i = n;
  adj_context_take_error (machine.cx, &error);
  if (i != at)
    {
      g_test_message ("stopped at step %u of %u, PyTorch at %u (%s)", i, n - 1, (guint) at,
                      error != NULL ? error->message : "no error");
      good = FALSE;
    }
  for (guint k = 0; k < 3 && good && !refused; k++)
    good = agrees (g_ptr_array_index (machine.registers, k), expected[2 + k]);
  machine_clear (&machine);
  *n_refused += refused;
  return good;
}

static void
agree_with_pytorch (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "autograd", "data", "programs.txt", NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  guint n_programs = 0, n_refused = 0, n_wrong = 0;

  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0';)
    {
      guint n = 1;

      g_assert_true (g_str_has_prefix (lines[i], "program "));
      while (lines[i + n] != NULL && !g_str_has_prefix (lines[i + n], "program ") &&
             *lines[i + n] != '\0')
        n++;
      if (!check_program (lines + i + 1, n - 1, &n_refused))
        {
          g_test_message ("%s differs", lines[i]);
          n_wrong++;
        }
      n_programs++;
      i += n;
    }
  g_test_message ("%u programs, %u of them refused", n_programs, n_refused);
  g_assert_cmpuint (n_programs, >=, 500);
  g_assert_cmpuint (n_wrong, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/autograd/programs/agree-with-pytorch", agree_with_pytorch);

  return g_test_run ();
}
