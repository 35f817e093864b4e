/* SPDX-License-Identifier: MIT */
/* Objects as the capture module records them (data/make-objects.py): class and state, or why the
 * file has no state, in calls and in the annotations of placeholders. */

#include <string.h>

#include "call/adj-object.h"
#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "objects/adj-object-text.h"
#include "support/adj-test.h"
#include "support/graphs.h"

#define LARGE                                                                                      \
  "__main__.Box\n  __main__.Box.__obj_flatten__: the state of this object is not known: it is "    \
  "too large beside its tensors\n"
#define DEEP                                                                                       \
  "__main__.Box\n  __main__.Box.__obj_flatten__: the state of this object is not known: its "      \
  "containers have more than 12 levels\n"

typedef struct
{
  const char *annotation, *value; /* NULL: the same */
} Shown;

static const Shown boxes[] = {
  { "__main__.Box\n  n: 3\n  rate: 0.5\n  name: 'a'\n  none: None\n  on: True\n"
    "  sums: meta('f32[2][1]cpu')\n",
    "__main__.Box\n  n: 3\n  rate: 0.5\n  name: 'a'\n  none: None\n  on: True\n"
    "  sums: tensor([1., 1.])\n" },
  { "__main__.Box\n  by_key: {'a': [1, (2.5, meta('f32[1][1]cpu'))], '<Speed.SLOW: 1>': "
    "'<Speed.SLOW: 1>', 3: '1180591620717411303424'}\n",
    "__main__.Box\n  by_key: {'a': [1, (2.5, tensor([0.]))], '<Speed.SLOW: 1>': "
    "'<Speed.SLOW: 1>', 3: '1180591620717411303424'}\n" },
  { "__main__.Box\n  of: 'Identity()'\n", NULL },
  { "__main__.Box\n  items: [0, 1, 2, 3, 4]\n  in: {'in': {'in': {'in': {'in': {'in': {'in'"
    ": {'in': {'in': {'in': {'in': {'in': 7}}}}}}}}}}}\n",
    NULL },
  { LARGE, NULL },
  { LARGE, NULL },
  { DEEP, NULL },
  { DEEP, NULL },
};

static AdjBundle *
load (const char *release)
{
  g_autofree char *file = g_strdup_printf ("objects-%s.adjoint", release);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "formats", "data", file, NULL);

  return adj_test_load_bundle (path);
}

static void
assert_shown (const AdjValue *value, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  g_assert_cmpint (value->kind, ==, ADJ_VALUE_OPAQUE_OBJECT);
  adj_object_print (adj_object_from_opaque (value->object), 12, text);
  g_assert_cmpstr (text->str, ==, expected);
}

/* Every input of the frontend's graph beside the tensor, in the order of the program. */
static void
boxes_have_a_state_or_a_reason (void)
{
  g_autoptr (AdjBundle) bundle = load ("2.15");
  const AdjBundleGraph *graph = adj_bundle_find_graph (bundle, "dynamo", NULL);
  const AdjRecordedCall *call = adj_bundle_find_call (bundle, graph, 0);

  g_assert_cmpuint (call->n_inputs, ==, G_N_ELEMENTS (boxes) + 1);
  for (guint i = 0; i < G_N_ELEMENTS (boxes); i++)
    {
      const AdjNodeId input = adj_graph_get_input (graph->graph, i + 1);
      const Shown *shown = &boxes[i];

      assert_shown (&adj_graph_get_node (graph->graph, input.index)->val, shown->annotation);
      assert_shown (&call->inputs[i + 1], shown->value != NULL ? shown->value : shown->annotation);
    }
}

/* What is missing is a note of the file. */
static void
reasons_are_notes (void)
{
  static const char note[] = "the object 'l_others_3_' of the class __main__.Box has no state "
                             "here: it is too large beside its tensors";
  g_autoptr (AdjBundle) bundle = load ("2.15");
  const AdjDiags *diags = adj_bundle_get_diags (bundle);
  guint n = 0;

  for (guint i = 0; i < adj_diags_get_n (diags); i++)
    n += g_str_equal (adj_diags_get (diags, i)->message, note);
  g_assert_cmpuint (n, ==, 1);
}

static void
classes_of_c_are_recorded (void)
{
  static const char *const shown[] = {
    "quantized::LinearPackedParamsBase\n  weight: tensor([[2, 0, 0],\n"
    "                  [0, 2, 0],\n                  [0, 0, 2]], dtype=torch.int8)\n"
    "  scale: tensor([0.5000], dtype=torch.float64)\n  zero_point: tensor([0])\n  bias: None\n",
    "profiling::_ScriptProfile\n  profiling::_ScriptProfile.__obj_flatten__: the state of this "
    "object is not known: its class has no __obj_flatten__\n",
  };
  g_autoptr (AdjBundle) bundle = load ("2.6");
  const AdjRecordedCall *call = adj_bundle_find_call (bundle, adj_bundle_get_graph (bundle, 0), 0);

  g_assert_cmpuint (call->n_inputs, ==, 3);
  for (guint i = 0; i < G_N_ELEMENTS (shown); i++)
    assert_shown (&call->inputs[i], shown[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/formats/captured-objects/boxes-have-a-state-or-a-reason",
                   boxes_have_a_state_or_a_reason);
  g_test_add_func ("/formats/captured-objects/reasons-are-notes", reasons_are_notes);
  g_test_add_func ("/formats/captured-objects/classes-of-c-are-recorded",
                   classes_of_c_are_recorded);
  return g_test_run ();
}
