/* SPDX-License-Identifier: MIT */

/* Programs with writes, traced without writes: the goldens are what PyTorch's functionalize
 * makes of the same programs (functional/make.py); and the state recorded for a tensor
 * afterwards. */

#include <glib.h>
#include <string.h>

#include "adjoint.h"
#include "call/adj-mode.h"
#include "rules/adj-apply.h"
#include "support/adj-test.h"
#include "support/graphs.h"
#include "trace/adj-functional.h"

/* -- goldens ---- */

static GArray *
read_programs (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "trace", "functional", "programs.txt", NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_autoptr (GError) error = NULL;
  GArray *programs = adj_graph_parse_all (text, -1, adj_op_find, NULL, &error);

  g_assert_no_error (error);
  return programs;
}

/* Traces as make_fx does. */
static AdjGraph *
functionalize (AdjGraph *program, GError **error)
{
  g_autoptr (AdjFunction) function = adj_graph_function_new (program);
  guint n = adj_graph_get_n_inputs (program);
  g_autofree AdjValue *inputs = g_new0 (AdjValue, n);
  g_autofree const char **names = g_new0 (const char *, n);
  AdjTraceOptions options = { .name = adj_graph_get_name (program), .functionalize = TRUE };

  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (program, adj_graph_get_input (program, i).index);

      inputs[i] = node->val;
      names[i] = node->name;
    }
  options.parameters = names;
  return adj_trace (function, inputs, n, &options, error);
}

static void
check_golden (gconstpointer data)
{
  AdjGraph *program = (AdjGraph *) data;
  const char *name = adj_graph_get_name (program);
  g_autofree char *path = g_strdup_printf ("trace/functional/%s.txt", name);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = functionalize (program, &error);
  g_autofree char *text = NULL;

  g_assert_no_error (error);
  text = adj_graph_print (graph, ADJ_PRINT_NO_METADATA, NULL);
  adj_test_check_golden (path, text);
}

/* -- what is known afterwards ---- */

typedef struct
{
  AdjContext *cx;
  AdjTensor *value; /* (owned): 2 × 3 zeros */
  AdjTensor *x;     /* wrapper of @value */
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };

  f->cx = adj_context_new ();
  adj_context_push_mode (f->cx, adj_functional_mode_new ());
  adj_shape_init_ints (&meta.shape, 2, (gint64[]){ 2, 3 });
  f->value = adj_tensor_new_empty (&meta, NULL, FALSE);
  f->x = adj_functional_wrap (f->cx, f->value);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  adj_context_take_error (f->cx, &error);
  g_assert_no_error (error);
  adj_tensor_unref (f->value);
  adj_context_free (f->cx);
}

static AdjTensor *
call (Fixture *f, const char *name, const AdjValue *args, guint n)
{
  g_autofree char *target = g_strdup_printf ("torch.ops.aten.%s", name);
  AdjValue tuple = { .kind = ADJ_VALUE_TUPLE, .n = n, .items = (AdjValue *) args };
  AdjValue result;

  if (!adj_call (f->cx, adj_op_find (target), &tuple, NULL, &result))
    return NULL;
  return result.kind == ADJ_VALUE_TENSOR ? result.tensor : result.items[0].tensor;
}

#define CALL(name, ...)                                                                            \
  call (f, name, (const AdjValue[]){ __VA_ARGS__ },                                                \
        G_N_ELEMENTS (((const AdjValue[]){ __VA_ARGS__ })))

static AdjFunctionalState
functional_state_of (const AdjTensor *tensor)
{
  AdjFunctionalState observed;

  g_assert_true (adj_functional_get_state (tensor, &observed));
  return observed;
}

static float
first_of (Fixture *f, AdjTensor *tensor)
{
  AdjTensor *value = adj_functional_get_value (f->cx, tensor);

  return ((const float *) adj_storage_read (adj_tensor_get_storage (value)))[0];
}

static void
assert_fails (Fixture *f, AdjError code, const char *part)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (adj_context_take_error (f->cx, &error));
  g_assert_error (error, ADJ_ERROR, (gint) code);
  g_assert_nonnull (strstr (error->message, part));
}

/* A write counts for the storage, through any view; the wrapped tensor is not written. */
static void
write_through_a_view (Fixture *f, gconstpointer data)
{
  AdjTensor *row = CALL ("select.int", ADJ_TENSOR (f->x), ADJ_INT (0), ADJ_INT (0));
  guint32 version = adj_tensor_get_version (f->x);

  g_assert_true (CALL ("add_.Tensor", ADJ_TENSOR (row), ADJ_INT (1)) == row);
  g_assert_true (functional_state_of (f->x).mutated);
  g_assert_cmpuint (functional_state_of (f->x).n_writes, ==, 1);
  g_assert_cmpuint (functional_state_of (f->x).n_no_grad, ==, 0);
  g_assert_false (functional_state_of (f->x).metadata_changed);
  g_assert_cmpuint (adj_view_chain_get_n_steps (functional_state_of (row).chain), ==, 1);
  g_assert_cmpuint (adj_tensor_get_version (f->x), ==, version + 1);
  g_assert_cmpfloat (first_of (f, f->x), ==, 1);
  g_assert_cmpfloat (((const float *) adj_storage_read (adj_tensor_get_storage (f->value)))[0], ==,
                     0);
  g_assert_true (adj_tensor_get_storage (row) == adj_tensor_get_storage (f->x));
}

/* Every write with grad mode off is counted as such; a write through detach () with grad mode on
 * is not. */
static void
writes_without_grad (Fixture *f, gconstpointer data)
{
  AdjTensor *detached = CALL ("detach.default", ADJ_TENSOR (f->x));

  adj_context_set_grad_enabled (f->cx, FALSE);
  CALL ("add_.Tensor", ADJ_TENSOR (f->x), ADJ_INT (1));
  adj_context_set_grad_enabled (f->cx, TRUE);
  g_assert_cmpuint (functional_state_of (f->x).n_no_grad, ==, 1);
  CALL ("add_.Tensor", ADJ_TENSOR (detached), ADJ_INT (1));
  g_assert_cmpuint (functional_state_of (f->x).n_writes, ==, 2);
  g_assert_cmpuint (functional_state_of (f->x).n_no_grad, ==, 1);
  g_assert_cmpfloat (first_of (f, f->x), ==, 2);
}

static void
turned_in_place (Fixture *f, gconstpointer data)
{
  CALL ("t_.default", ADJ_TENSOR (f->x));
  g_assert_true (functional_state_of (f->x).metadata_changed);
  g_assert_false (functional_state_of (f->x).mutated);
  g_assert_cmpint (adj_tensor_get_size (f->x, 0), ==, 3);
}

static void
parts_are_multi_output (Fixture *f, gconstpointer data)
{
  AdjTensor *part = CALL ("split.Tensor", ADJ_TENSOR (f->x), ADJ_INT (1));
  AdjTensor *view = CALL ("alias.default", ADJ_TENSOR (part));

  g_assert_true (functional_state_of (part).is_multi_output);
  g_assert_true (functional_state_of (view).is_multi_output);
  g_assert_false (functional_state_of (f->x).is_multi_output);
}

/* x.set_ (y): x uses y's storage; former views of x can no longer be written. */
static void
set_freezes (Fixture *f, gconstpointer data)
{
  AdjTensor *y = CALL ("add.Tensor", ADJ_TENSOR (f->x), ADJ_INT (3));
  AdjTensor *row = CALL ("select.int", ADJ_TENSOR (f->x), ADJ_INT (0), ADJ_INT (0));

  CALL ("set_.source_Tensor", ADJ_TENSOR (f->x), ADJ_TENSOR (y));
  g_assert_true (functional_state_of (f->x).storage_changed);
  g_assert_true (adj_tensor_get_storage (f->x) == adj_tensor_get_storage (y));
  CALL ("add_.Tensor", ADJ_TENSOR (y), ADJ_INT (1));
  g_assert_cmpfloat (first_of (f, f->x), ==, 4);
  CALL ("add_.Tensor", ADJ_TENSOR (row), ADJ_INT (1));
  assert_fails (f, ADJ_ERROR_UNSUPPORTED, "frozen storage");
}

/* Errors of the in-place form: broadcasting cannot enlarge self. */
static void
write_of_another_shape (Fixture *f, gconstpointer data)
{
  AdjTensor *row = CALL ("select.int", ADJ_TENSOR (f->x), ADJ_INT (0), ADJ_INT (0));

  g_assert_null (CALL ("add_.Tensor", ADJ_TENSOR (row), ADJ_TENSOR (f->x)));
  assert_fails (f, ADJ_ERROR_SHAPE, "add_");
}

/* A write to an expanded tensor, whose elements overlap, is refused, as without the mode. */
static void
write_of_what_overlaps (Fixture *f, gconstpointer data)
{
  AdjValue sizes[] = { ADJ_INT (4), ADJ_INT (2), ADJ_INT (3) };
  AdjValue list = { .kind = ADJ_VALUE_LIST, .n = 3, .items = sizes };
  AdjTensor *many = CALL ("expand.default", ADJ_TENSOR (f->x), list);

  g_assert_null (CALL ("add_.Tensor", ADJ_TENSOR (many), ADJ_INT (1)));
  assert_fails (f, ADJ_ERROR_SHAPE, "add_");
}

static void
write_of_an_unknown_tensor (Fixture *f, gconstpointer data)
{
  CALL ("add_.Tensor", ADJ_TENSOR (f->value), ADJ_TENSOR (f->x));
  assert_fails (f, ADJ_ERROR_UNSUPPORTED, "no trace knows");
}

/* A result computed from constants only can be written too. */
static void
constants_can_be_written (Fixture *f, gconstpointer data)
{
  AdjTensor *one = CALL ("add.Tensor", ADJ_TENSOR (f->value), ADJ_INT (1));

  CALL ("add_.Tensor", ADJ_TENSOR (one), ADJ_TENSOR (f->x));
  g_assert_cmpfloat (first_of (f, one), ==, 1);
  g_assert_true (adj_functional_is_wrapped (one));
}

/* A write to the tensor or to its shallow copy is visible in both. */
static void
shallow_copy_shares (Fixture *f, gconstpointer data)
{
  AdjTensor *copy = adj_scope_add (f->cx, adj_tensor_shallow_copy (f->x));

  CALL ("add_.Tensor", ADJ_TENSOR (copy), ADJ_INT (2));
  g_assert_cmpfloat (first_of (f, f->x), ==, 2);
  g_assert_true (functional_state_of (f->x).mutated);
}

static void
write_back_copies (Fixture *f, gconstpointer data)
{
  CALL ("add_.Tensor", ADJ_TENSOR (f->x), ADJ_INT (2));
  g_assert_true (adj_functional_write_back (f->cx, f->value, f->x));
  g_assert_cmpfloat (((const float *) adj_storage_read (adj_tensor_get_storage (f->value)))[0], ==,
                     2);
}

/* The error names inputs as the graph does, whatever stands before them. */
static void
names_aliases (void)
{
  g_autoptr (AdjGraph) program =
      adj_test_parse_graph ("def forward(self, n, x: \"f32[4][1]cpu\", y: \"f32[4][1]cpu\"):\n"
                            "    add_ = torch.ops.aten.add_.Tensor(y, 1)\n"
                            "    return (add_,)\n");
  g_autoptr (AdjFunction) function = adj_graph_function_new (program);
  static const char *const names[] = { "n", "x", "y" };
  const AdjTraceOptions options = { .parameters = names, .functionalize = TRUE };
  AdjTensorMeta meta = *adj_graph_get_node (program, 1)->val.meta;
  const AdjValue shared = { .kind = ADJ_VALUE_META, .meta = &meta };
  const AdjValue inputs[] = { ADJ_INT (2), shared, shared };
  g_autoptr (GError) error = NULL;

  meta.storage = 0;
  g_assert_null (adj_trace (function, inputs, 3, &options, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
  g_assert_cmpstr (error->message, ==, "inputs 'y_1' and 'x_1' share memory, and it is written");
}

static const struct
{
  const char *path;
  void (*func) (Fixture *f, gconstpointer data);
} tests[] = {
  { "write-through-a-view", write_through_a_view },
  { "writes-without-grad", writes_without_grad },
  { "turned-in-place", turned_in_place },
  { "parts-are-multi-output", parts_are_multi_output },
  { "set-freezes", set_freezes },
  { "write-of-another-shape", write_of_another_shape },
  { "write-of-what-overlaps", write_of_what_overlaps },
  { "write-of-an-unknown-tensor", write_of_an_unknown_tensor },
  { "constants-can-be-written", constants_can_be_written },
  { "shallow-copy-shares", shallow_copy_shares },
  { "write-back-copies", write_back_copies },
};

int
main (int argc, char **argv)
{
  g_autoptr (GArray) programs = NULL;

  g_test_init (&argc, &argv, NULL);

  programs = read_programs ();
  for (guint i = 0; i < programs->len; i++)
    {
      AdjGraph *program = g_array_index (programs, AdjParsedGraph, i).graph;
      g_autofree char *path =
          g_strdup_printf ("/trace/functional/golden/%s", adj_graph_get_name (program));

      g_test_add_data_func (path, program, check_golden);
    }
  g_test_add_func ("/trace/functional/names-aliases", names_aliases);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      g_autofree char *path = g_strdup_printf ("/trace/functional/%s", tests[i].path);

      g_test_add (path, Fixture, NULL, set_up, tests[i].func, tear_down);
    }
  return g_test_run ();
}
