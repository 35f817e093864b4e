/* SPDX-License-Identifier: MIT */

/* The layout helper, driven through its protocol as by the library. */

#include <string.h>

#include <gio/gio.h>

#include "layout/adj-placement.h"

/* Sends @size bytes and waits until the helper exits; returns its exit status. */
static int
talk (const void *input, gsize size, GBytes **output)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) in = g_bytes_new (input, size);
  g_autoptr (GBytes) out = NULL;
  g_autoptr (GSubprocess) process =
      g_subprocess_new (G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                            G_SUBPROCESS_FLAGS_STDERR_SILENCE,
                        &error, g_getenv ("ADJ_LAYOUT_HELPER"), NULL);

  g_assert_no_error (error);
  g_subprocess_communicate (process, in, NULL, &out, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_get_if_exited (process));
  if (output)
    *output = g_steal_pointer (&out);
  return g_subprocess_get_exit_status (process);
}

/* entry → 0 → 1 → 2 → exit, 0 → 2, and 3 beside */
static AdjBlockGraph *
make_block (void)
{
  static const guint32 links[][2] = { { 0, 1 }, { 1, 2 }, { 0, 2 }, { 4, 0 }, { 2, 5 } };
  AdjBlockGraph *graph = adj_block_graph_new (4, 1, 1, G_N_ELEMENTS (links));

  memcpy (graph->links, links, sizeof links);
  for (guint i = 0; i < 4; i++)
    graph->widths[i] = 120;
  return graph;
}

static void
append (GByteArray *message, const AdjBlockGraph *graph)
{
  g_autoptr (GBytes) body = adj_block_graph_to_bytes (graph);
  guint32 size = (guint32) g_bytes_get_size (body);

  g_byte_array_append (message, (const guint8 *) &size, sizeof size);
  g_byte_array_append (message, g_bytes_get_data (body, NULL), size);
}

static void
check_placement (const AdjPlacement *p)
{
  g_assert_cmpint (p->n_ranks, ==, 3);
  g_assert_cmpint (p->ranks[0], ==, 0);
  g_assert_cmpint (p->ranks[1], ==, 1);
  g_assert_cmpint (p->ranks[2], ==, 2);
  g_assert_cmpint (p->ranks[4], ==, -1);
  g_assert_cmpint (p->ranks[5], ==, 3);
  /* The edge 0 → 2 passes through rank 1 beside card 1. */
  g_assert_cmpuint (p->first[3] - p->first[2], ==, 1);
  g_assert_cmpfloat (ABS (p->via[p->first[2]] - p->x[1]), >, 60);
  for (guint i = 0; i < 3; i++)
    if (p->ranks[i] == p->ranks[3])
      g_assert_cmpfloat (ABS (p->x[i] - p->x[3]), >=, 120);
}

static void
test_answers (void)
{
  g_autoptr (AdjBlockGraph) graph = make_block ();
  g_autoptr (GByteArray) message = g_byte_array_new ();
  g_autoptr (GBytes) out = NULL;
  const guint8 *data;
  gsize size;

  append (message, graph);
  append (message, graph);
  g_assert_cmpint (talk (message->data, message->len, &out), ==, 0);
  data = g_bytes_get_data (out, &size);
  for (guint i = 0; i < 2; i++)
    {
      guint32 length;
      g_autoptr (GBytes) body = NULL;
      g_autoptr (AdjPlacement) placement = NULL;

      g_assert_cmpuint (size, >=, sizeof length);
      memcpy (&length, data, sizeof length);
      g_assert_cmpuint (size, >=, sizeof length + length);
      body = g_bytes_new (data + sizeof length, length);
      placement = adj_placement_from_bytes (body, graph);
      g_assert_nonnull (placement);
      check_placement (placement);
      data += sizeof length + length;
      size -= sizeof length + length;
    }
  g_assert_cmpuint (size, ==, 0);
}

static void
test_nothing (void)
{
  g_assert_cmpint (talk ("", 0, NULL), ==, 0);
}

static void
test_garbage (void)
{
  static const guint32 huge[] = { 0xffffffffu, 1, 2, 3 };
  static const guint32 zero[] = { 0, 0 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);

  g_assert_cmpint (talk (huge, sizeof huge, NULL), ==, 2);
  g_assert_cmpint (talk (zero, sizeof zero, NULL), ==, 2);
  for (guint i = 0; i < 20; i++)
    {
      guint32 noise[64];

      for (guint k = 0; k < G_N_ELEMENTS (noise); k++)
        noise[k] = g_rand_int (rand);
      noise[0] = sizeof noise - 4;
      g_assert_cmpint (talk (noise, sizeof noise, NULL), ==, 2);
    }
}

static void
test_truncated (void)
{
  g_autoptr (AdjBlockGraph) graph = make_block ();
  g_autoptr (GByteArray) message = g_byte_array_new ();

  append (message, graph);
  for (guint cut = 1; cut < message->len; cut += 7)
    g_assert_cmpint (talk (message->data, cut, NULL), ==, 2);
}

/* The same within this process: every damaged byte and every length is refused or harmless. */
static void
test_damage (void)
{
  g_autoptr (AdjBlockGraph) graph = make_block ();
  g_autoptr (AdjPlacement) placement = adj_placement_layer (graph);
  g_autoptr (GBytes) request = adj_block_graph_to_bytes (graph);
  g_autoptr (GBytes) answer = adj_placement_to_bytes (placement);
  GBytes *const both[] = { request, answer };

  for (guint which = 0; which < 2; which++)
    {
      gsize size;
      const guint8 *data = g_bytes_get_data (both[which], &size);

      for (gsize at = 0; at < 8 * size; at++)
        {
          g_autofree guint8 *copy = g_memdup2 (data, size);
          g_autoptr (GBytes) damaged = NULL;
          g_autoptr (GBytes) cut = g_bytes_new (data, at / 8);

          copy[at / 8] ^= (guint8) (1u << at % 8);
          damaged = g_bytes_new (copy, size);
          if (which == 0)
            {
              g_autoptr (AdjBlockGraph) read = adj_block_graph_from_bytes (damaged);

              g_assert_null (adj_block_graph_from_bytes (cut));
              for (guint k = 0; read && k < read->n_links; k++)
                g_assert_cmpuint (MAX (read->links[k][0], read->links[k][1]), <,
                                  adj_block_graph_n_nodes (read));
            }
          else
            {
              g_autoptr (AdjPlacement) read = adj_placement_from_bytes (damaged, graph);

              g_assert_null (adj_placement_from_bytes (cut, graph));
              if (read)
                g_assert_cmpuint (read->n_nodes, ==, 6);
            }
        }
    }
}

static void
test_own_layering (void)
{
  g_autoptr (AdjBlockGraph) graph = make_block ();
  g_autoptr (AdjPlacement) placement = adj_placement_layer (graph);
  g_autoptr (GBytes) bytes = adj_placement_to_bytes (placement);
  g_autoptr (AdjPlacement) again = adj_placement_from_bytes (bytes, graph);

  check_placement (placement);
  g_assert_nonnull (again);
  g_assert_cmpmem (again->x, 6 * sizeof (float), placement->x, 6 * sizeof (float));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layout/helper/answers", test_answers);
  g_test_add_func ("/layout/helper/ends-with-its-input", test_nothing);
  g_test_add_func ("/layout/helper/refuses-garbage", test_garbage);
  g_test_add_func ("/layout/helper/refuses-truncated", test_truncated);
  g_test_add_func ("/layout/helper/refuses-damage", test_damage);
  g_test_add_func ("/layout/helper/own-layering", test_own_layering);
  return g_test_run ();
}
