/* SPDX-License-Identifier: MIT */

/* The order of steps in a captured backward, and how long its inputs are held. */

#include "formats/adj-format.h"
#include "model/adj-backward.h"
#include "report/adj-properties.h"
#include "support/adj-test.h"
#include "support/graphs.h"

typedef struct
{
  AdjBundle *bundle;
  AdjCaptured *captured;
  AdjBackward *backward;
} Orders;

static void
open_orders (Orders *out, AdjBundle *bundle, const char *id)
{
  g_autoptr (GError) error = NULL;
  const AdjBundleGraph *graph = adj_bundle_find_graph (bundle, id, &error);

  g_assert_no_error (error);
  out->bundle = bundle;
  out->captured = adj_captured_new (graph->graph, bundle);
  out->backward = adj_backward_new (out->captured, bundle);
}

static void
orders_clear (Orders *orders)
{
  adj_backward_free (orders->backward);
  adj_captured_unref (orders->captured);
  adj_bundle_unref (orders->bundle);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Orders, orders_clear)

static const AdjBackwardStep *
get_step (const Orders *orders, guint index)
{
  return &g_array_index (orders->backward->steps, AdjBackwardStep, index);
}

static void
assert_moved (const Orders *orders, const char *const *titles)
{
  guint n = 0;

  for (guint i = 0; i < orders->backward->steps->len; i++)
    if (get_step (orders, i)->moved)
      g_assert_cmpstr (get_step (orders, i)->title, ==, titles[n++]);
  g_assert_null (titles[n]);
  g_assert_cmpuint (orders->backward->n_moved, ==, n);
}

/* The smallest set of moved steps: those that PyTorch's pass moved earlier. */
static void
test_moved (void)
{
  static const char *const moved[] = {
    "accumulate fc3.bias",
    "compiled_accum_grad_hook · post-accumulate hook",
    "accumulate fc2.bias",
    "compiled_accum_grad_hook · post-accumulate hook",
    "accumulate fc1.bias",
    "compiled_accum_grad_hook · post-accumulate hook",
    NULL,
  };
  g_auto (Orders) now = { 0 };
  g_auto (Orders) before = { 0 };
  g_autofree guint *order = NULL;
  guint n;

  open_orders (&now, adj_test_load_capture ("mlp-ddp"), "r0-ca0-compiled_autograd");
  open_orders (&before, adj_test_load_capture ("mlp-ddp"),
               "r0-ca0-compiled_autograd_pre_reordering");
  assert_moved (&now, moved);
  g_assert_true (now.backward->has_unordered);
  g_assert_false (now.backward->is_before);
  g_assert_true (before.backward->is_before);

  /* The other order of each graph is the order of the other graph. */
  n = now.backward->steps->len;
  g_assert_cmpuint (n, ==, before.backward->steps->len);
  order = adj_backward_list_before (now.backward);
  for (guint i = 0; i < n; i++)
    g_assert_cmpstr (get_step (&now, order[i])->title, ==, get_step (&before, i)->title);
}

/* Without that graph the other order is that in which autograd visited the nodes. */
static void
test_visits (void)
{
  static const char *const moved[] = { "accumulate inputs[2]", NULL };
  g_auto (Orders) orders = { 0 };
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "compiled_autograd", "golden", "c10.txt", NULL);

  open_orders (&orders, adj_test_load_bundle (path), NULL);
  g_assert_false (orders.backward->has_unordered);
  assert_moved (&orders, moved);
}

/* In a text without hints the value of s0 is unknown. */
static void
test_unknown (void)
{
  g_auto (Orders) orders = { 0 };
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "compiled_autograd", "golden", "c17.txt", NULL);

  open_orders (&orders, adj_test_load_bundle (path), NULL);
  g_assert_cmpuint (orders.backward->n_unknown, ==, 2);
}

static void
test_sizes (void)
{
  g_auto (Orders) orders = { 0 };
  const AdjBackwardSize *size;

  open_orders (&orders, adj_test_load_capture ("mlp-ddp"), "r0-ca1-compiled_autograd");
  g_assert_cmpuint (orders.backward->sizes->len, ==, 10 + 4);
  size = &g_array_index (orders.backward->sizes, AdjBackwardSize, 1);
  g_assert_cmpstr (size->symbol, ==, "s5");
  g_assert_cmpstr (size->first, ==, "4");
  g_assert_cmpstr (size->now, ==, "6");
  g_assert_cmpstr (size->owner, ==, "LogSoftmaxBackward0 (NodeCall 2)");
  size = &g_array_index (orders.backward->sizes, AdjBackwardSize, 12);
  g_assert_cmpstr (size->symbol, ==, "s2");
  g_assert_cmpstr (size->first, ==, NULL);
  g_assert_cmpstr (size->now, ==, "12");
  g_assert_cmpstr (size->owner, ==, "AddmmBackward0 (NodeCall 4)");
}

/* Inputs are held from the beginning, so the held bytes only decrease, to zero. */
static void
test_lives (void)
{
  g_auto (Orders) orders = { 0 };
  const AdjBackward *b;
  gint64 sum = 0;
  guint n_stolen = 0;

  open_orders (&orders, adj_test_load_capture ("gpt2-hooks"), "ca1-compiled_autograd");
  b = orders.backward;
  g_assert_cmpuint (b->lives->len, ==, 99);
  for (guint i = 0; i < b->lives->len; i++)
    {
      const AdjBackwardLife *life = &g_array_index (b->lives, AdjBackwardLife, i);

      if (i > 0)
        g_assert_cmpuint (life->last.index, >=,
                          g_array_index (b->lives, AdjBackwardLife, i - 1).last.index);
      if (life->from == ADJ_FROM_SAVED || life->from == ADJ_FROM_GRADIENT)
        sum += life->bytes;
      /* The program itself holds its leaves and their gradients. */
      n_stolen += life->stolen;
      if (life->from == ADJ_FROM_LEAF || life->from == ADJ_FROM_GRAD)
        g_assert_false (life->stolen);
      /* The former gradient of a leaf has no reader except its accumulation. */
      if (life->from == ADJ_FROM_GRAD)
        g_assert_cmpint (adj_captured_get_node (orders.captured, life->last.index)->kind, ==,
                         ADJ_CAPTURED_ACCUMULATE);
    }
  g_assert_cmpint (b->held[b->first], ==, sum);
  g_assert_cmpuint (n_stolen, >, 10);
  g_assert_cmpuint (b->peak, ==, b->first);
  for (guint i = b->first + 1; i < b->n; i++)
    g_assert_cmpint (b->held[i], <=, b->held[i - 1]);
  g_assert_cmpint (b->held[b->n - 1], ==, 0);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ui/orders/moved", test_moved);
  g_test_add_func ("/ui/orders/visits", test_visits);
  g_test_add_func ("/ui/orders/unknown", test_unknown);
  g_test_add_func ("/ui/orders/sizes", test_sizes);
  g_test_add_func ("/ui/orders/lives", test_lives);
  return g_test_run ();
}
