/* SPDX-License-Identifier: MIT */
/* Runs programs whose backward is captured, with hooks that write to a log, and compares graphs
 * with goldens. */

#include "compiled_autograd/capture.h"

#include <gio/gio.h>

#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "support/adj-test.h"
#include "support/graphs.h"

typedef struct
{
  Program *program;
  char *name;
  double factor;
  AdjHook *hook;
} HookNote;

static void
note_free (gpointer data)
{
  HookNote *note = data;

  adj_hook_unref (note->hook);
  g_free (note->name);
  g_free (note);
}

void
program_init (Program *program)
{
  program->cx = tape_new ();
  program->leaves = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_unref);
  program->hooks = g_ptr_array_new_with_free_func (note_free);
  program->wanted = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_unref);
  program->log = g_string_new (NULL);
  adj_scope_begin (program->cx);
}

void
program_clear (Program *program)
{
  g_ptr_array_unref (program->leaves);
  g_ptr_array_unref (program->wanted);
  adj_scope_end (program->cx);
  adj_context_free (program->cx);
  g_ptr_array_unref (program->hooks);
  g_string_free (program->log, TRUE);
}

AdjTensor *
program_leaf (Program *program, const float *values, guint rank, const gint64 *sizes)
{
  g_autofree float *pattern = NULL;
  gint64 n = 1;
  AdjTensor *tensor;

  for (guint i = 0; i < rank; i++)
    n *= sizes[i];
  pattern = g_new0 (float, n + 1);
  for (gint64 i = 0; i < n; i++)
    pattern[i] = values != NULL ? values[i] : (float) (i + 1) / 8;
  tensor = adj_from_array (program->cx, ADJ_DTYPE_F32, sizes, rank, pattern);
  g_assert_true (adj_tensor_set_requires_grad (program->cx, tensor, TRUE));
  g_ptr_array_add (program->leaves, adj_tensor_ref (tensor));
  return tensor;
}

AdjTensor *
program_vector (Program *program, guint n, const float *values)
{
  const gint64 size = n;

  return program_leaf (program, values, 1, &size);
}

/* -- hooks -- */

static void
log_tensor (GString *log, AdjTensor *tensor)
{
  g_autoptr (AdjTensorData) data = tensor != NULL ? adj_tensor_snapshot (tensor) : NULL;
  g_autofree char *sum = NULL;
  GBytes *bytes;

  if (data == NULL)
    {
      g_string_append (log, " none");
      return;
    }
  bytes = adj_tensor_data_get_bytes (data);
  sum = g_compute_checksum_for_bytes (G_CHECKSUM_MD5, bytes);
  g_string_append_printf (log, " %.8s", sum);
}

static AdjTensor *
scale (const HookNote *note, AdjTensor *grad)
{
  if (grad == NULL || note->factor == 0)
    return NULL;
  return CALL (note->program->cx, "mul.Scalar", T (grad), ADJ_FLOAT (note->factor));
}

static AdjTensor *
on_tensor (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  const HookNote *note = data;

  g_string_append_printf (note->program->log, "%s", note->name);
  log_tensor (note->program->log, grad);
  g_string_append_c (note->program->log, '\n');
  return scale (note, grad);
}

static void
on_node (AdjContext *cx,
         AdjTensor **grads,
         guint n_grads,
         AdjTensor *const *results,
         guint n_results,
         gpointer data)
{
  const HookNote *note = data;

  g_string_append_printf (note->program->log, "%s", note->name);
  for (guint i = 0; i < n_grads; i++)
    log_tensor (note->program->log, grads[i]);
  g_string_append (note->program->log, results != NULL ? " of" : "");
  for (guint i = 0; i < n_results; i++)
    log_tensor (note->program->log, results[i]);
  g_string_append_c (note->program->log, '\n');
  for (guint i = 0; i < n_grads && note->factor != 0; i++)
    if (grads[i] != NULL)
      grads[i] = scale (note, grads[i]);
}

static void
on_leaf (AdjContext *cx, AdjTensor *leaf, gpointer data)
{
  const HookNote *note = data;

  g_string_append_printf (note->program->log, "%s", note->name);
  log_tensor (note->program->log, adj_tensor_get_grad (leaf));
  g_string_append_c (note->program->log, '\n');
}

static HookNote *
add_note (Program *program, const char *name, double factor)
{
  HookNote *note = g_new0 (HookNote, 1);

  note->program = program;
  note->name = g_strdup (name);
  note->factor = factor;
  g_ptr_array_add (program->hooks, note);
  return note;
}

static void
finish (HookNote *note)
{
  g_assert_nonnull (note->hook);
  adj_hook_set_name (note->hook, note->name);
}

void
program_hook_tensor (Program *program, AdjTensor *tensor, const char *name, double factor)
{
  HookNote *note = add_note (program, name, factor);

  note->hook = adj_tensor_add_hook (program->cx, tensor, on_tensor, note);
  finish (note);
}

void
program_hook_before (Program *program, AdjTensor *tensor, const char *name, double factor)
{
  HookNote *note = add_note (program, name, factor);
  g_autoptr (AdjGradNode) node = adj_tensor_get_grad_edge (program->cx, tensor, NULL);

  note->hook = adj_grad_node_add_pre_hook (node, on_node, note);
  finish (note);
}

void
program_hook_after (Program *program, AdjTensor *tensor, const char *name, double factor)
{
  HookNote *note = add_note (program, name, factor);
  g_autoptr (AdjGradNode) node = adj_tensor_get_grad_edge (program->cx, tensor, NULL);

  note->hook = adj_grad_node_add_post_hook (node, on_node, note);
  finish (note);
}

void
program_hook_leaf (Program *program, AdjTensor *tensor, const char *name)
{
  HookNote *note = add_note (program, name, 0);

  note->hook = adj_tensor_add_leaf_hook (program->cx, tensor, on_leaf, note);
  finish (note);
}

void
program_backward (Program *program, AdjTensor *root)
{
  g_autoptr (GError) error = NULL;

  adj_tensor_backward (program->cx, root);
  adj_context_take_error (program->cx, &error);
  g_assert_no_error (error);
}

char *
program_describe (const Program *program)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < program->leaves->len; i++)
    {
      g_string_append_printf (text, "leaf %u", i);
      log_tensor (text, adj_tensor_get_grad (g_ptr_array_index (program->leaves, i)));
      g_string_append_c (text, '\n');
    }
  for (guint i = 0; i < program->wanted->len; i++)
    {
      g_string_append_printf (text, "wanted %u", i);
      log_tensor (text, g_ptr_array_index (program->wanted, i));
      g_string_append_c (text, '\n');
    }
  g_string_append (text, program->log->str);
  return g_string_free (text, FALSE);
}

char *
program_run (ProgramFunc run, AdjCompiledAutograd *compiler)
{
  Program program;
  char *text;

  program_init (&program);
  if (compiler != NULL)
    g_assert_true (adj_compiled_autograd_enable (compiler, program.cx));
  run (&program);
  if (compiler != NULL)
    adj_compiled_autograd_restore (program.cx);
  text = program_describe (&program);
  program_clear (&program);
  return text;
}

/* -- graphs -- */

char *
graph_describe (AdjGraph *graph)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      g_string_append_printf (text, "%s = %s ", node->name, node->target);
      adj_value_print (&node->args, graph, text);
      if (node->kwargs.n > 0)
        adj_value_print (&node->kwargs, graph, text);
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}

static void
assert_equals_file (AdjGraph *graph, const char *name, const char *path)
{
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_autoptr (AdjGraph) golden = adj_test_parse_graph (text);
  g_autofree char *expected = graph_describe (golden);
  g_autofree char *got = graph_describe (graph);

  if (!g_str_equal (got, expected))
    g_test_message ("%s should be\n%s\nbut is\n%s", name, expected, got);
  g_assert_true (g_str_equal (got, expected));
}

void
assert_golden (AdjGraph *graph, const char *name)
{
  g_autofree char *file = g_strconcat (name, ".txt", NULL);
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "compiled_autograd", "golden", file, NULL);

  assert_equals_file (graph, name, path);
}

void
assert_node_golden (AdjGraph *graph, const char *name)
{
  g_autofree char *file = g_strconcat (name, ".txt", NULL);
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "compiled_autograd", "nodes", file, NULL);

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_free (path);
      path =
          g_test_build_filename (G_TEST_DIST, "compiled_autograd", "nodes", "graphs", file, NULL);
    }
  assert_equals_file (graph, name, path);
}

void
assert_deviation (AdjGraph *graph, const char *name, const char *why)
{
  g_autofree char *path = g_strdup_printf ("compiled_autograd/golden/deviations/%s.txt", name);
  g_autofree char *got = graph_describe (graph);
  g_autofree char *text = g_strdup_printf ("# %s\n%s", why, got);

  adj_test_check_golden (path, text);
}
