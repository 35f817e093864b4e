/* SPDX-License-Identifier: MIT */
/* Fused programs as compiled code against the interpreter of steps: every operation of every
 * class, every type and memory order, bit for bit. */

#include <dlfcn.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "adj-kernel-fused-text.h"
#include "kernel-test.h"

#define N 517

/* result = op (a, b, c), rounded to @type, from operands of type @from. */
typedef struct
{
  AdjKClass klass;
  AdjKOp op;
  AdjKType from, type;
  gint order; /* memory order: index of a row of orders */
  AdjKStep steps[8];
  AdjKFused fused;
  AdjKView operands[4];
} Case;

static const AdjKType type_of_class[] = {
  [ADJ_K_CLASS_F32] = ADJ_K_F32, [ADJ_K_CLASS_F64] = ADJ_K_F64, [ADJ_K_CLASS_I64] = ADJ_K_I64
};

/* Rows of odd length, an operand that is the same for all rows, and a scalar operand. */
enum
{
  DENSE,
  LINES,
  SCRAMBLED,
  N_ORDERS
};

static void
set_elements (const AdjKView *view, guint32 seed)
{
  static const double special[] = {
    0.0, -0.0, 1, -1, 2, 0.5, -0.5, 3, 88, -88, 0x1p-140, 127, -128
  };

  kernel_array_randomize (view, seed, -4, 4);
  for (gint64 i = 0; i < adj_k_view_count (view); i += 3)
    kernel_array_set (view, i, special[(guint) (i / 3 * 7 + seed) % G_N_ELEMENTS (special)]);
  if (!adj_k_type_is_float (view->type))
    return;
  for (gint64 i = 1; i < adj_k_view_count (view); i += 41)
    kernel_array_set (view, i, (double[]){ INFINITY, -INFINITY, NAN }[(i + seed) % 3]);
}

static AdjKView
operand_new (AdjKType type, gint order, guint which)
{
  AdjKView view = order == DENSE ? kernel_array (type, 1, N) : kernel_array (type, 3, 4, 9, 37);

  if (order == SCRAMBLED)
    view = kernel_array_scramble (&view);
  set_elements (&view, which);
  if (order == LINES && which == 1)
    view.stride[0] = 0;
  if (order == LINES && which == 2)
    memset (view.stride, 0, sizeof view.stride);
  return view;
}

static void
case_init (Case *c, AdjKClass klass, AdjKOp op, AdjKType from, AdjKType type, gint order)
{
  guint8 k = (guint8) klass;
  AdjKStep steps[] = {
    { .kind = ADJ_K_STEP_CONST, .klass = k, .type = ADJ_K_F64, .dst = 4, .imm.f = 1.5 },
    { .kind = ADJ_K_STEP_LOAD, .klass = k, .operand = 0, .dst = 0 },
    { .kind = ADJ_K_STEP_LOAD, .klass = k, .operand = 1, .dst = 1 },
    { .kind = ADJ_K_STEP_LOAD, .klass = k, .operand = 2, .dst = 2 },
    { .kind = ADJ_K_STEP_OP, .klass = k, .op = (guint8) op, .a = 0, .b = 1, .c = 2, .dst = 3 },
    { .kind = ADJ_K_STEP_CAST, .klass = k, .to = k, .type = (guint8) type, .a = 3, .dst = 3 },
    { .kind = ADJ_K_STEP_OP, .klass = k, .op = ADJ_K_OP_ADD, .a = 3, .b = 4, .dst = 3 },
    { .kind = ADJ_K_STEP_STORE, .klass = k, .operand = 3, .a = 3 },
  };

  *c = (Case){ .klass = klass, .op = op, .from = from, .type = type, .order = order };
  memcpy (c->steps, steps, sizeof steps);
  for (guint i = 0; i < 3; i++)
    c->operands[i] = operand_new (from, order, i);
  c->operands[3] = kernel_array_like (type, &c->operands[0]);
  c->fused = (AdjKFused){ .n_operands = 4,
                          .n_regs = 5,
                          .n_fixed = 1,
                          .n_steps = G_N_ELEMENTS (c->steps),
                          .steps = c->steps,
                          .merged = TRUE };
  g_assert_true (adj_k_fused_check (&c->fused));
  adj_k_fused_merge (&c->fused, c->operands);
}

/* -- the cases -- */

static void
add_case (GPtrArray *cases, AdjKClass klass, AdjKOp op, AdjKType from, AdjKType type, gint order)
{
  Case *c = g_new0 (Case, 1);

  case_init (c, klass, op, from, type, order);
  g_ptr_array_add (cases, c);
}

static GPtrArray *
list_cases (void)
{
  GPtrArray *cases = g_ptr_array_new_with_free_func (g_free);

  for (guint klass = 0; klass < ADJ_K_CLASS_N; klass++)
    {
      AdjKType type = type_of_class[klass];

      for (guint op = 0; op < ADJ_K_OP_N; op++)
        if (op != ADJ_K_OP_CONST && op != ADJ_K_OP_LOAD && adj_k_op_has_class (op, klass))
          add_case (cases, klass, op, type, type, (gint) op % N_ORDERS);
      for (guint from = 0; from < ADJ_K_N; from++)
        for (gint order = 0; order < N_ORDERS; order++)
          add_case (cases, klass, ADJ_K_OP_ADD, from, from, order);
    }
  return cases;
}

/* -- compiling -- */

static void
write_file (const char *folder, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (g_mkdir_with_parents (parent, 0700), ==, 0);
  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);
}

static char *
write_text (const GPtrArray *cases)
{
  char *text = NULL;
  gsize length;
  FILE *out = open_memstream (&text, &length);

  adj_k_fused_write_prelude (out);
  for (guint i = 0; i < cases->len; i++)
    {
      const Case *c = cases->pdata[i];
      g_autofree char *name = g_strdup_printf ("made_%u", i);

      adj_k_fused_write (out, &c->fused, c->operands, name);
    }
  fclose (out);
  return text;
}

static void *
compile (const GPtrArray *cases)
{
  g_autofree char *folder = g_dir_make_tmp ("fused-text-XXXXXX", NULL);
  g_autofree char *library = g_build_filename (folder, "made.so", NULL);
  g_autofree char *command = NULL;
  g_autofree char *said = NULL;
  g_autoptr (GError) error = NULL;
  char *text = write_text (cases);
  gint status = 0;
  void *made;

  write_file (folder, "made.c", text);
  free (text);
  for (const AdjKSource *source = adj_k_cpu_sources; source->name != NULL; source++)
    write_file (folder, source->name, source->text);
  command = g_strdup_printf ("cc -std=gnu17 -O3 -w -march=native -fPIC -shared -ffp-contract=off "
                             "-fno-strict-aliasing -fno-math-errno -fno-trapping-math -I %s "
                             "%s/made.c -o %s -lm",
                             folder, folder, library);
  g_spawn_command_line_sync (command, NULL, &said, &status, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (said, ==, "");
  made = dlopen (library, RTLD_NOW | RTLD_LOCAL);
  g_assert_nonnull (made);
  return made;
}

/* -- bits -- */

/* If libm computes the result, the payload of a NaN is unspecified. */
static void
assert_same (const Case *c, const AdjKView *got, const AdjKView *wanted)
{
  for (gint64 i = 0; i < adj_k_view_count (got); i++)
    {
      double a = kernel_array_get (got, i), b = kernel_array_get (wanted, i);

      if ((isnan (a) && isnan (b)) || (a == b && signbit (a) == signbit (b)))
        continue;
      g_test_message ("class %u, %s, type %u to %u, order %d, element %d: %.17g, interpreted %.17g",
                      c->klass, adj_k_op_get_name (c->op), c->from, c->type, c->order, (gint) i, a,
                      b);
      g_test_fail ();
      return;
    }
}

static void
test_bits (void)
{
  g_autoptr (GPtrArray) cases = list_cases ();
  void *library = compile (cases);

  for (guint i = 0; i < cases->len; i++)
    {
      Case *c = cases->pdata[i];
      g_autofree char *name = g_strdup_printf ("made_%u", i);
      AdjKFusedMade made = (AdjKFusedMade) dlsym (library, name);
      AdjKView wanted = kernel_array_like (c->type, &c->operands[3]), got = c->operands[3];
      gboolean by_made, by_steps;

      g_assert_nonnull (made);
      by_made = adj_k_fused_run_made (&c->fused, made, c->operands);
      adj_k_copy (&wanted, &got);
      by_steps = adj_k_fused (&c->fused, c->operands);
      g_assert_cmpint (by_made, ==, by_steps);
      assert_same (c, &wanted, &got);
    }
  g_test_message ("%u programs", cases->len);
  dlclose (library);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/fused-text/bits", test_bits);
  return g_test_run ();
}
