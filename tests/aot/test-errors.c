/* SPDX-License-Identifier: MIT */

/* Each row of the error catalogue (aot/SPEC.md §9) has a program that raises it: the message
 * names the blamed node or value and ends with the code; the command line exits with 2 and
 * leaves no file. Errors that a graph can raise stand in errors.txt. */

#include <string.h>

#include "aot/case.h"
#include "aot/compile.h"
#include "autograd/adj-custom.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "session/adj-pipeline.h"
#include "support/adj-test.h"
#include "support/graphs.h"

static void
check_error (const GError *error, const char *code, const char *blamed)
{
  g_autofree char *end = g_strdup_printf ("[aot: %s]", code);

  g_assert_nonnull (error);
  if (strstr (error->message, end) == NULL || strstr (error->message, blamed) == NULL)
    g_error ("'%s' does not name '%s', or does not end with '%s'", error->message, blamed, end);
}

/* -- what a graph can show -- */

static const char *
get_steps (const Case *c)
{
  return c->steps != NULL ? c->steps : "joint";
}

static void
check_command_line (const Case *c)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *text = case_print_graph (c);
  g_autofree char *path = g_build_filename (folder->path, "graph.txt", NULL);
  g_autofree char *out = g_build_filename (folder->path, "out.adjoint", NULL);
  g_autofree char *end = g_strdup_printf ("[aot: %s]", c->name);
  const char *argv[] = {
    g_getenv ("ADJ_PROGRAM"), "trace", path, "-p", get_steps (c), "-o", out, NULL,
  };
  g_autoptr (AdjTestProcess) process = NULL;
  GDir *dir;

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  process = adj_test_spawn (argv, NULL, NULL);
  g_assert_cmpint (process->status, ==, 2);
  if (strstr (process->err, end) == NULL || strstr (process->err, c->blamed) == NULL)
    g_error ("%s: %s", c->name, process->err);
  g_test_message ("%s", process->err);
  dir = g_dir_open (folder->path, 0, NULL);
  g_assert_cmpstr (g_dir_read_name (dir), ==, "graph.txt");
  g_assert_null (g_dir_read_name (dir));
  g_dir_close (dir);
}

/* The failed stage keeps the blamed nodes as data. */
static void
check_blamed (const Case *c)
{
  g_autofree char *text = case_print_graph (c);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  const AdjPipelineOptions options = { .steps = get_steps (c) };
  g_auto (AdjPipelineResult) result = { 0 };
  g_autoptr (GString) names = g_string_new (NULL);
  const AdjStage *stage;

  g_assert_true (adj_pipeline_run (graph, "user", &options, &result, NULL, &error));
  stage = adj_recording_get_stage (result.recording, 1);
  g_assert_nonnull (stage->failure);
  for (guint i = 0; i < stage->n_blamed; i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "",
                            adj_graph_get_node (graph, stage->blamed[i].index)->name);
  g_assert_cmpstr (names->str, ==, c->nodes);
}

static void
check_case (gconstpointer data)
{
  const Case *c = data;

  if (c->function != NULL)
    {
      g_autoptr (AdjContext) cx = case_context_new ();
      g_auto (AdjValue) inputs = case_make_inputs (c, cx, NULL);
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjAotGraph) aot = case_trace (c, &inputs, &error);

      g_assert_null (aot);
      check_error (error, c->name, c->blamed);
    }
  if (!c->is_graph)
    return;
  check_command_line (c);
  check_blamed (c);
}

/* -- functions in C -- */

typedef struct
{
  const char *code;
  const char *blamed;
  guint n_inputs; /* the first of them requires a gradient */
  gboolean (*call) (AdjContext *cx, AdjTensor *const *inputs, AdjValue *result);
  void (*use) (AdjContext *cx, AdjFunction *compiled, AdjTensor *const *inputs, GError **error);
  AdjAotOptions options;
} Row;

typedef struct
{
  AdjFunction parent;
  const Row *row;
} RowFunction;

static gboolean
row_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *inputs[3] = { NULL };

  for (guint i = 0; i < n_args; i++)
    inputs[i] = args[i].tensor;
  return ((RowFunction *) function)->row->call (cx, inputs, result);
}

static const AdjFunctionClass row_class = { .name = "row", .call = row_call };

static gboolean
give (AdjTensor *tensor, AdjValue *result)
{
  *result = tensor != NULL ? ADJ_TENSOR (adj_keep (tensor)) : ADJ_NONE;
  return tensor != NULL;
}

static AdjTensor *
call_op (AdjContext *cx, const char *name, const AdjValue *args, guint n)
{
  g_autofree char *target = g_strconcat ("torch.ops.", name, NULL);
  AdjValue result = ADJ_NONE;

  return adj_call (cx, adj_op_find (target),
                   &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n, .items = (AdjValue *) args }, NULL,
                   &result) &&
                 result.kind == ADJ_VALUE_TENSOR
             ? result.tensor
             : NULL;
}

#define CALL(cx, name, ...)                                                                        \
  call_op ((cx), (name), (const AdjValue[]){ __VA_ARGS__ },                                        \
           G_N_ELEMENTS (((const AdjValue[]){ __VA_ARGS__ })))

/* A custom function whose backward modifies an input or its incoming gradient. */
typedef struct
{
  void (*act) (AdjContext *cx, AdjTensor *input, AdjTensor *grad);
  AdjTensor *input; /* unowned */
} Acting;

static gboolean
acting_forward (
    AdjCustomCall *call, AdjTensor *const *inputs, guint n, AdjTensor **outputs, guint n_out)
{
  outputs[0] = CALL (adj_custom_call_get_context (call), "aten.mul.Tensor", ADJ_TENSOR (inputs[0]),
                     ADJ_INT (2));
  return outputs[0] != NULL;
}

static gboolean
acting_backward (
    AdjCustomCall *call, AdjTensor *const *grads, guint n, AdjTensor **out, guint n_out)
{
  AdjContext *cx = adj_custom_call_get_context (call);
  const Acting *acting = adj_custom_call_get_data (call);

  acting->act (cx, acting->input, grads[0]);
  out[0] = CALL (cx, "aten.mul.Tensor", ADJ_TENSOR (grads[0]), ADJ_INT (2));
  return out[0] != NULL;
}

static const AdjCustomClass acting_class = { "Acting", acting_forward, acting_backward, FALSE };

static gboolean
act_in_backward (AdjContext *cx,
                 AdjTensor *const *inputs,
                 AdjTensor *written,
                 void (*act) (AdjContext *cx, AdjTensor *input, AdjTensor *grad),
                 AdjValue *result)
{
  Acting *acting = g_new0 (Acting, 1);
  AdjTensor *out = NULL;

  *acting = (Acting){ act, written };
  return adj_custom_apply (cx, &acting_class, acting, g_free, inputs, 1, &out, 1) &&
         give (out, result);
}

static void
turn_input (AdjContext *cx, AdjTensor *input, AdjTensor *grad)
{
  CALL (cx, "aten.t_.default", ADJ_TENSOR (input));
}

static void
resize_input (AdjContext *cx, AdjTensor *input, AdjTensor *grad)
{
  CALL (cx, "inductor.resize_storage_bytes_.default", ADJ_TENSOR (input), ADJ_INT (0));
}

static void
write_input (AdjContext *cx, AdjTensor *input, AdjTensor *grad)
{
  gboolean enabled = adj_context_set_grad_enabled (cx, FALSE);

  CALL (cx, "aten.add_.Tensor", ADJ_TENSOR (input), ADJ_TENSOR (grad));
  adj_context_set_grad_enabled (cx, enabled);
}

static void
write_gradient (AdjContext *cx, AdjTensor *input, AdjTensor *grad)
{
  CALL (cx, "aten.mul_.Tensor", ADJ_TENSOR (grad), ADJ_INT (2));
}

static gboolean
turns_in_backward (AdjContext *cx, AdjTensor *const *inputs, AdjValue *result)
{
  return act_in_backward (cx, inputs, inputs[1], turn_input, result);
}

static gboolean
resizes_in_backward (AdjContext *cx, AdjTensor *const *inputs, AdjValue *result)
{
  return act_in_backward (cx, inputs, inputs[1], resize_input, result);
}

static gboolean
writes_tangent (AdjContext *cx, AdjTensor *const *inputs, AdjValue *result)
{
  return act_in_backward (cx, inputs, inputs[1], write_gradient, result);
}

static gboolean
writes_itself_in_backward (AdjContext *cx, AdjTensor *const *inputs, AdjValue *result)
{
  return act_in_backward (cx, inputs, inputs[0], write_input, result);
}

static gboolean
writes_in_both (AdjContext *cx, AdjTensor *const *inputs, AdjValue *result)
{
  return CALL (cx, "aten.add_.Tensor", ADJ_TENSOR (inputs[1]), ADJ_INT (1)) != NULL &&
         act_in_backward (cx, inputs, inputs[1], write_input, result);
}

static AdjTensor *
make_plain (AdjContext *cx)
{
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  const gint64 sizes[] = { 2, 3 };

  adj_shape_init_ints (&meta.shape, 2, sizes);
  return adj_scope_add (cx, adj_tensor_new_empty (&meta, NULL, FALSE));
}

static gboolean
writes_plain (AdjContext *cx, AdjTensor *const *inputs, AdjValue *result)
{
  return give (CALL (cx, "aten.add_.Tensor", ADJ_TENSOR (make_plain (cx)), ADJ_TENSOR (inputs[0])),
               result);
}

static gboolean
writes_constant (AdjContext *cx, AdjTensor *const *inputs, AdjValue *result)
{
  AdjTensor *plain = CALL (cx, "aten.mul_.Tensor", ADJ_TENSOR (make_plain (cx)), ADJ_INT (2));

  return plain != NULL &&
         give (CALL (cx, "aten.add.Tensor", ADJ_TENSOR (inputs[0]), ADJ_TENSOR (plain)), result);
}

static gboolean
gives_raw (AdjContext *cx, AdjTensor *const *inputs, AdjValue *result)
{
  *result = adj_value_new_string ("a lock");
  result->kind = ADJ_VALUE_RAW;
  return TRUE;
}

static gboolean
asks_for_gradient (AdjContext *cx, AdjTensor *const *inputs, AdjValue *result)
{
  return adj_tensor_set_requires_grad (cx, inputs[1], TRUE) &&
         give (CALL (cx, "aten.mul.Tensor", ADJ_TENSOR (inputs[0]), ADJ_TENSOR (inputs[1])),
               result);
}

static AdjTensor *
double_grad (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  return CALL (cx, "aten.mul.Tensor", ADJ_TENSOR (grad), ADJ_INT (2));
}

static gboolean
hooks_a_view (AdjContext *cx, AdjTensor *const *inputs, AdjValue *result)
{
  AdjTensor *view = CALL (cx, "aten.t.default", ADJ_TENSOR (inputs[0]));
  g_autoptr (AdjHook) hook =
      view != NULL ? adj_tensor_add_hook (cx, view, double_grad, NULL) : NULL;

  return hook != NULL && give (view, result);
}

static gboolean
writes_other_dtype (AdjContext *cx, AdjTensor *const *inputs, AdjValue *result)
{
  return give (CALL (cx, "aten.mul_.Tensor", ADJ_TENSOR (inputs[1]), ADJ_INT (2)), result);
}

static gboolean
multiplies (AdjContext *cx, AdjTensor *const *inputs, AdjValue *result)
{
  return give (CALL (cx, "aten.mul.Tensor", ADJ_TENSOR (inputs[0]), ADJ_TENSOR (inputs[1])),
               result);
}

static gboolean
writes_second (AdjContext *cx, AdjTensor *const *inputs, AdjValue *result)
{
  return CALL (cx, "aten.add_.Tensor", ADJ_TENSOR (inputs[1]), ADJ_INT (1)) != NULL &&
         multiplies (cx, inputs, result);
}

/* -- what is done with the compiled function -- */

static AdjTensor *
call_compiled (AdjContext *cx, AdjFunction *compiled, AdjTensor *const *inputs, guint n)
{
  AdjValue values[3], result = ADJ_NONE;
  AdjTensor *tensor;

  for (guint i = 0; i < n; i++)
    values[i] = ADJ_TENSOR (inputs[i]);
  if (!adj_function_call (compiled, cx, values, n, &result))
    return NULL;
  tensor = adj_scope_add (cx, adj_keep (result.tensor));
  adj_value_clear (&result);
  return tensor;
}

static void
call_backward (
    AdjContext *cx, AdjFunction *compiled, AdjTensor *const *inputs, guint n, guint flags)
{
  AdjTensor *out = call_compiled (cx, compiled, inputs, n);
  AdjTensor *grad = out != NULL ? ADJ_APPLY (cx, ADJ_OP_ones_like, ADJ_TENSOR (out)) : NULL;
  AdjTensor *input = inputs[0], *second = NULL, *found = NULL;
  AdjGradRoots roots = { .tensors = &out, .grads = &grad, .n = 1 };

  if (grad == NULL || !adj_grad (cx, &roots, &input, 1, flags, &found) ||
      (flags & ADJ_BACKWARD_CREATE_GRAPH) == 0)
    return;
  roots.tensors = &found;
  adj_grad (cx, &roots, &input, 1, 0, &second);
}

static void
differentiate_twice (AdjContext *cx,
                     AdjFunction *compiled,
                     AdjTensor *const *inputs,
                     GError **error)
{
  call_backward (cx, compiled, inputs, 2, ADJ_BACKWARD_CREATE_GRAPH);
  adj_context_take_error (cx, error);
}

static void
become_deterministic (AdjContext *cx,
                      AdjFunction *compiled,
                      AdjTensor *const *inputs,
                      GError **error)
{
  adj_context_set_deterministic (cx, TRUE);
  call_backward (cx, compiled, inputs, 2, 0);
  adj_context_take_error (cx, error);
}

static void
require_gradient (AdjContext *cx, AdjFunction *compiled, AdjTensor *const *inputs, GError **error)
{
  g_assert_true (adj_tensor_set_requires_grad (cx, inputs[1], TRUE));
  call_compiled (cx, compiled, inputs, 2);
  adj_context_take_error (cx, error);
}

/* Calls @compiled with three different tensors; it was traced with the second input given twice. */
static void
give_another (AdjContext *cx, AdjFunction *compiled, AdjTensor *const *inputs, GError **error)
{
  AdjTensor *others[] = { inputs[0], inputs[1], make_plain (cx) };

  call_compiled (cx, compiled, others, 3);
  adj_context_take_error (cx, error);
}

#define KEEP                                                                                       \
  {                                                                                                \
    .keep_input_mutations = TRUE                                                                   \
  }

static const Row rows[] = {
  { .code = "plain-written",
    .blamed = "aten::add_.Tensor",
    .n_inputs = 1,
    .call = writes_plain,
    .options = KEEP },
  { .code = "not-functional",
    .blamed = "node 'mul_'",
    .n_inputs = 1,
    .call = writes_constant,
    .options = KEEP },
  { .code = "output-type", .blamed = "output 0", .n_inputs = 1, .call = gives_raw },
  { .code = "output-not-tuple",
    .blamed = "the function gives",
    .n_inputs = 2,
    .call = multiplies,
    .options = { .export_joint = TRUE } },
  { .code = "requires-grad-inside", .blamed = "input 1", .n_inputs = 2, .call = asks_for_gradient },
  { .code = "hook-on-alias", .blamed = "output 0", .n_inputs = 1, .call = hooks_a_view },
  { .code = "backward-metadata", .blamed = "input 1", .n_inputs = 2, .call = turns_in_backward },
  { .code = "backward-resize",
    .blamed = "input 1",
    .n_inputs = 2,
    .call = resizes_in_backward,
    .options = KEEP },
  { .code = "backward-and-forward",
    .blamed = "input 1",
    .n_inputs = 2,
    .call = writes_in_both,
    .options = KEEP },
  { .code = "tangent-written", .blamed = "tangent 0", .n_inputs = 2, .call = writes_tangent },
  { .code = "backward-create-graph",
    .blamed = "input 0",
    .n_inputs = 2,
    .call = writes_itself_in_backward,
    .use = differentiate_twice },
  { .code = "double-backward",
    .blamed = "backward",
    .n_inputs = 2,
    .call = multiplies,
    .use = differentiate_twice },
  { .code = "deterministic",
    .blamed = "backward",
    .n_inputs = 2,
    .call = multiplies,
    .use = become_deterministic },
  { .code = "requires-grad-differs",
    .blamed = "input 1",
    .n_inputs = 2,
    .call = multiplies,
    .use = require_gradient },
  { .code = "duplicate-differs",
    .blamed = "input 2",
    .n_inputs = 3,
    .call = writes_second,
    .use = give_another,
    .options = KEEP },
  { .code = "views-dtype", .blamed = "input", .n_inputs = 0, .call = writes_other_dtype },
};

/* Makes [2,3] tensors: the first is a non-leaf that requires a gradient, the third is the second
 * again. */
static void
make_inputs (AdjContext *cx, const Row *row, AdjTensor **inputs)
{
  if (row->n_inputs == 0)
    {
      AdjValue args[] = { ADJ_NONE, ADJ_DTYPE (ADJ_DTYPE_I32) };

      inputs[0] = make_plain (cx);
      args[0] = ADJ_TENSOR (inputs[0]);
      inputs[1] = call_op (cx, "aten.view.dtype", args, 2);
      g_assert_nonnull (inputs[1]);
      return;
    }
  inputs[0] = make_plain (cx);
  g_assert_true (adj_tensor_set_requires_grad (cx, inputs[0], TRUE));
  inputs[0] = CALL (cx, "aten.mul.Tensor", ADJ_TENSOR (inputs[0]), ADJ_INT (1));
  inputs[1] = inputs[2] = make_plain (cx);
}

static void
check_row (gconstpointer data)
{
  const Row *row = data;
  g_autoptr (AdjContext) cx = case_context_new ();
  g_autoptr (AdjFunction) function = adj_function_new (&row_class, sizeof (RowFunction));
  g_autoptr (AdjFunction) compiled = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (GError) error = NULL;
  AdjTensor *inputs[3];
  AdjValue values[3];
  guint n = row->n_inputs > 0 ? row->n_inputs : 2;

  ((RowFunction *) function)->row = row;
  make_inputs (cx, row, inputs);
  for (guint i = 0; i < n; i++)
    values[i] = ADJ_TENSOR (inputs[i]);
  aot = adj_aot_trace (function, values, n, &row->options, NULL, &error);
  if (row->use != NULL)
    {
      g_assert_no_error (error);
      compiled = compile_by_default (aot);
      row->use (cx, compiled, inputs, &error);
    }
  check_error (error, row->code, row->blamed);
}

/* -- all of them -- */

/* Whether the row is about composite tensors; those programs are in test-composites.c. */
static gboolean
is_of_composites (const char *code)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "aot", "test-composites.c", NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_autofree char *quoted = g_strdup_printf ("[aot: %s]", code);

  return (strstr (code, "composite") != NULL || g_str_equal (code, "tangent-class")) &&
         strstr (text, quoted) != NULL;
}

static gboolean
has_program (const char *code, const GPtrArray *cases)
{
  for (guint i = 0; i < cases->len; i++)
    if (g_str_equal (((const Case *) cases->pdata[i])->name, code))
      return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_str_equal (rows[i].code, code))
      return TRUE;
  return is_of_composites (code);
}

static void
every_row_has_a_program (gconstpointer data)
{
  for (guint i = 0; adj_aot_get_error_code (i) != NULL; i++)
    if (!has_program (adj_aot_get_error_code (i), data))
      g_test_fail_printf ("row '%s' has no program", adj_aot_get_error_code (i));
}

int
main (int argc, char **argv)
{
  g_autoptr (GPtrArray) cases = NULL;

  g_test_init (&argc, &argv, NULL);
  cases = cases_load ("errors.txt");
  for (guint i = 0; i < cases->len; i++)
    {
      g_autofree char *path = g_strdup_printf ("/aot/errors/%s", ((Case *) cases->pdata[i])->name);

      g_test_add_data_func (path, cases->pdata[i], check_case);
    }
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = g_strdup_printf ("/aot/errors/%s/function", rows[i].code);

      g_test_add_data_func (path, &rows[i], check_row);
    }
  g_test_add_data_func ("/aot/errors/every-row-has-a-program", cases, every_row_has_a_program);
  return g_test_run ();
}
