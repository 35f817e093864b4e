/* SPDX-License-Identifier: MIT */
/* Backwards as current PyTorch captures them, a call for each node: run here on PyTorch's
 * inputs, they accumulate the same gradients (nodes/make.py). */

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "rules/adj-node-op.h"
#include "support/adj-test.h"
#include "support/graphs.h"

/* (transfer full): the tensor in {"dtype", "shape", "values"}. */
static AdjTensorData *
read_data (JsonObject *object)
{
  JsonArray *shape = json_object_get_array_member (object, "shape");
  JsonArray *values = json_object_get_array_member (object, "values");
  AdjDType dtype = adj_dtype_from_torch_name (json_object_get_string_member (object, "dtype"));
  g_autofree double *numbers = g_new0 (double, json_array_get_length (values) + 1);
  g_autoptr (AdjTensorData) wide = NULL;
  gint64 sizes[ADJ_MAX_RANK];

  g_assert_cmpint (dtype, <, ADJ_N_DTYPES);
  for (guint i = 0; i < json_array_get_length (shape); i++)
    sizes[i] = json_array_get_int_element (shape, i);
  for (guint i = 0; i < json_array_get_length (values); i++)
    {
      JsonNode *value = json_array_get_element (values, i);

      numbers[i] = json_node_get_value_type (value) == G_TYPE_BOOLEAN
                       ? json_node_get_boolean (value)
                       : json_node_get_double (value);
    }
  wide = adj_tensor_data_new_from_array (ADJ_DTYPE_F64, sizes, json_array_get_length (shape),
                                         numbers, NULL);
  return adj_tensor_data_cast_storage (wide, dtype);
}

static AdjValue
read_list (JsonArray *array, gboolean tensors)
{
  GArray *items = adj_value_array_new ();
  AdjValue list;

  for (guint i = 0; array != NULL && i < json_array_get_length (array); i++)
    {
      AdjValue item = tensors ? ADJ_DATA (read_data (json_array_get_object_element (array, i)))
                              : ADJ_INT (json_array_get_int_element (array, i));

      g_array_append_val (items, item);
    }
  list = adj_value_array_end (items, ADJ_VALUE_LIST);
  g_array_unref (items);
  return list;
}

static void
check_gradients (const char *name, const AdjRunResult *result, JsonArray *expected)
{
  g_assert_cmpuint (result->n_gradients, ==, json_array_get_length (expected));
  for (guint i = 0; i < result->n_gradients; i++)
    {
      g_autoptr (AdjTensorData) want = read_data (json_array_get_object_element (expected, i));
      AdjTensorDifference difference;

      adj_tensor_compare (result->gradients[i].grad, want, &difference);
      if (!(difference.rel_l2 < 2e-6) || difference.n_class_mismatch > 0 ||
          !difference.same_shape || !difference.same_dtype)
        {
          g_test_message ("%s: gradient %u is %g off", name, i, difference.rel_l2);
          g_test_fail ();
        }
    }
}

static void
check_graph (const char *folder, const char *name)
{
  g_autofree char *path = g_strdup_printf ("%s/%s.txt", folder, name);
  g_autofree char *facts = g_strdup_printf ("%s/%s.json", folder, name);
  g_autoptr (AdjBundle) bundle = adj_test_load_bundle (path);
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;
  AdjGraph *graph = adj_bundle_get_graph (bundle, 0)->graph;
  AdjValue inputs[5] = { 0 };
  AdjRunResult result = { 0 };
  JsonObject *root;

  g_assert_true (json_parser_load_from_file (parser, facts, &error));
  root = json_node_get_object (json_parser_get_root (parser));
  inputs[0] = read_list (json_object_get_array_member (root, "inputs"), TRUE);
  inputs[1] = read_list (json_object_get_array_member (root, "sizes"), FALSE);
  for (guint i = 2; i < 5; i++)
    inputs[i] = read_list (NULL, FALSE);
  adj_executor_run (adj_executors_get (0),
                    &(AdjRunRequest){ .graph = graph, .inputs = inputs, .n_inputs = 5 }, &result,
                    NULL, &error);
  if (error != NULL)
    {
      g_test_message ("%s: %s", name, error->message);
      g_test_fail ();
    }
  else
    check_gradients (name, &result, json_object_get_array_member (root, "gradients"));
  adj_run_result_clear (&result);
  for (guint i = 0; i < 5; i++)
    adj_value_clear (&inputs[i]);
}

static void
gradients_are_pytorchs (void)
{
  g_autofree char *folder = g_test_build_filename (G_TEST_DIST, "compiled_autograd", "nodes", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *file;
  guint n = 0;

  while ((file = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (file, ".txt"))
      {
        g_autofree char *name = g_strndup (file, strlen (file) - 4);

        check_graph (folder, name);
        n++;
      }
  g_assert_cmpuint (n, >, 80);
}

/* The table is sorted, because it is searched by bisection. */
static void
table_is_sorted (void)
{
  for (guint i = 0; i < adj_node_ops_get_n (); i++)
    {
      const AdjNodeOp *row = adj_node_ops_get (i);
      g_autofree char *target =
          g_strconcat ("torch._dynamo.compiled_autograd.ops.", row->name, NULL);

      g_assert_true (adj_node_op_find (target) == row);
    }
  g_assert_null (adj_node_op_find ("torch._dynamo.compiled_autograd.ops.NoBackward0"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compiled-autograd/nodes/gradients", gradients_are_pytorchs);
  g_test_add_func ("/compiled-autograd/nodes/table", table_is_sorted);
  return g_test_run ();
}
