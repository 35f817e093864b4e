/* SPDX-License-Identifier: MIT */
/* Writes memory snapshots: the pickle of an allocator's trace while a graph runs. */

#include "support/planted-snapshot.h"

#include <string.h>

#include "analysis/adj-lifetimes.h"
#include "ir/adj-graph.h"

#define BLOCK 512

/* -- pickles -- */

static void
put_text (GByteArray *out, const char *text)
{
  guint32 length = GUINT32_TO_LE ((guint32) strlen (text));

  g_byte_array_append (out, (const guint8 *) "X", 1);
  g_byte_array_append (out, (const guint8 *) &length, 4);
  g_byte_array_append (out, (const guint8 *) text, (guint) strlen (text));
}

/* Appends an integer of eight bytes. */
static void
put_int (GByteArray *out, const char *key, guint64 value)
{
  value = GUINT64_TO_LE (value);
  put_text (out, key);
  g_byte_array_append (out, (const guint8 *) "\x8a\x08", 2);
  g_byte_array_append (out, (const guint8 *) &value, 8);
}

static void
put (GByteArray *out, const char *codes)
{
  g_byte_array_append (out, (const guint8 *) codes, (guint) strlen (codes));
}

static void
put_pair (GByteArray *out, const char *key, const char *value)
{
  put_text (out, key);
  put_text (out, value);
}

/* -- what an allocator tells -- */

typedef struct
{
  const char *program, *node, *target; /* the last two are %NULL if the line does not belong to a
                                          graph */
} Line;

static void
put_event (GByteArray *out, const char *action, guint64 address, guint64 bytes, const Line *line)
{
  put (out, "}(");
  put_pair (out, "action", action);
  put_int (out, "addr", address);
  put_int (out, "size", bytes);
  put_text (out, "frames");
  put (out, "](}(");
  put_pair (out, "filename", "??");
  put_pair (out, "name", "at::empty_cuda");
  put (out, "u}(");
  put_pair (out, "filename", line->program);
  put_pair (out, "name", "forward");
  if (line->node != NULL)
    {
      put_pair (out, "fx_node_op", "call_function");
      put_pair (out, "fx_node_name", line->node);
      put_pair (out, "fx_node_target", line->target);
    }
  put (out, "u}(");
  put_pair (out, "filename", "/home/u/train.py");
  put_pair (out, "name", "step");
  put_int (out, "line", 12);
  put (out, "ueu");
}

static guint64
round_up (guint64 bytes)
{
  return (bytes + BLOCK - 1) / BLOCK * BLOCK;
}

/* "aten.mm.default" */
static Line
line_of (const AdjNode *node)
{
  const char *target = node->opcode == ADJ_OPCODE_CALL_FUNCTION ? node->target : "";

  if (g_str_has_prefix (target, "torch.ops."))
    target += strlen ("torch.ops.");
  return (Line){ "fx_generated__1.py", node->name, target };
}

static void
put_run (GByteArray *out, const AdjGraph *graph, guint scratch_at, guint64 scratch)
{
  const AdjLifetime *lives = adj_graph_get_lifetimes (graph);

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      Line line = line_of (node);

      if (node->opcode == ADJ_OPCODE_PLACEHOLDER || node->opcode == ADJ_OPCODE_OUTPUT)
        continue;
      if (lives[i].owner == i && lives[i].bytes > 0)
        put_event (out, "alloc", 1 << 20 | i << 10, round_up (lives[i].bytes), &line);
      if (i == scratch_at && scratch > 0)
        {
          put_event (out, "alloc", 1 << 19, scratch, &line);
          put_event (out, "free_completed", 1 << 19, scratch, &line);
        }
      for (guint k = 0; k <= i; k++)
        if (lives[k].owner == k && lives[k].last == i && lives[k].bytes > 0 &&
            adj_graph_get_node (graph, k)->opcode != ADJ_OPCODE_PLACEHOLDER)
          put_event (out, "free_completed", 1 << 20 | k << 10, round_up (lives[k].bytes), &line);
    }
  for (guint k = 0; k < adj_graph_get_n_nodes (graph); k++)
    if (lives[k].owner == k && lives[k].bytes > 0 &&
        lives[k].last == adj_graph_get_n_nodes (graph) - 1 &&
        adj_graph_get_node (graph, k)->opcode != ADJ_OPCODE_PLACEHOLDER)
      {
        static const Line user = { "/home/u/loop.py", NULL, NULL };

        put_event (out, "free_completed", 1 << 20 | k << 10, round_up (lives[k].bytes), &user);
      }
}

GBytes *
planted_snapshot_new (const AdjGraph *graph, guint scratch_at, guint64 scratch)
{
  static const Line other = { "fx_generated__2.py", "of_another_graph", "aten.mul.Tensor" };
  GByteArray *out = g_byte_array_new ();

  put (out, "\x80\x02}(");
  put_text (out, "segments");
  put (out, "]");
  put_text (out, "device_traces");
  put (out, "](](");
  for (guint run = 0; run < 2; run++)
    {
      put_event (out, "alloc", 4096 << run, 4096, &other);
      put_run (out, graph, scratch_at, run * scratch);
    }
  put (out, "eeu.");
  return g_byte_array_free_to_bytes (out);
}
