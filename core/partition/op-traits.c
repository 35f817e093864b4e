/* SPDX-License-Identifier: MIT */
/* Traits of operators for partitioning: fusible, cheap, random, view, and PyTorch's lists. */

#include <string.h>

#include "call/adj-op.h"
#include "interpreter/adj-effect-ops.h"
#include "ir/adj-graph.h"
#include "partition/op-traits-private.h"

enum
{
  VIEW = OP_VIEW,
  RECOMPUTE = OP_RECOMPUTE,
  COMPUTE = OP_COMPUTE,
  RANDOM = OP_RANDOM,
  SEEDED = OP_SEEDED,
  DRAWS = OP_DRAWS,
};

typedef struct
{
  const char *packet;
  guint traits;
} Row;

/* ORDER TRAITS */
static const Row rows[] = {
#define TRAITS(packet, traits) { packet, traits },
#include "partition/op-traits.inc"
#undef TRAITS
};

/* Operators that the rules name but no list of PyTorch's has. */
static const Row special[] = {
  { "aten.cat", OP_CAT },
  { "aten.celu_", OP_RECOMPUTE_NEWER },
  { "aten.elu_", OP_RECOMPUTE_NEWER },
  { "aten.equal", OP_RECOMPUTE_NEWER },
  { "aten.float_power", OP_RECOMPUTE_NEWER },
  { "aten.hardsigmoid_", OP_RECOMPUTE_NEWER },
  { "aten.hardtanh_", OP_RECOMPUTE_NEWER },
  { "aten.ldexp", OP_RECOMPUTE_NEWER },
  { "aten.ldexp_", OP_RECOMPUTE_NEWER },
  { "aten.leaky_relu", OP_RECOMPUTE_NEWER },
  { "aten.leaky_relu_", OP_RECOMPUTE_NEWER },
  { "aten.polygamma_", OP_RECOMPUTE_NEWER },
  { "aten.selu_", OP_RECOMPUTE_NEWER },
  { "aten.split", OP_RECOMPUTE_NEWER },
  { "prims._low_memory_max_pool_offsets_to_indices", OP_RECOMPUTE_NEWER },
  { "prims.prepare_softmax_online", OP_RECOMPUTE_NEWER },
  { "aten.lift_fresh", OP_LIFT },
  { "aten.lift_fresh_copy", OP_LIFT },
  { "aten.empty", OP_EMPTY },
  { "aten.empty_like", OP_SHAPE_ONLY },
  { "aten.full_like", OP_SHAPE_ONLY },
  { "aten.new_empty", OP_SHAPE_ONLY },
  { "aten.new_full", OP_SHAPE_ONLY },
  { "aten.new_ones", OP_SHAPE_ONLY },
  { "aten.new_zeros", OP_SHAPE_ONLY },
  { "aten.ones_like", OP_SHAPE_ONLY },
  { "aten.rand_like", OP_SHAPE_ONLY },
  { "aten.randn_like", OP_SHAPE_ONLY },
  { "aten.zeros_like", OP_SHAPE_ONLY },
};

typedef struct
{
  const char *text;
  gsize length;
} Packet;

static int
compare_packet (const void *key, const void *row)
{
  const Packet *packet = key;
  const char *name = ((const Row *) row)->packet;
  int order = strncmp (packet->text, name, packet->length);

  return order != 0 ? order : -(name[packet->length] != '\0');
}

static guint
find_row (Packet packet)
{
  const Row *row = bsearch (&packet, rows, G_N_ELEMENTS (rows), sizeof (Row), compare_packet);
  guint traits = row != NULL ? row->traits : 0;

  for (guint i = 0; i < G_N_ELEMENTS (special); i++)
    if (compare_packet (&packet, &special[i]) == 0)
      traits |= special[i].traits;
  return traits;
}

/* Arithmetic of Python and of symbolic numbers; not reading a size of a tensor. */
static gboolean
is_scalar_arithmetic (const char *target)
{
  static const char *const prefixes[] = { "operator.",      "_operator.", "torch.sym_",
                                          "torch._sym_",    "math.",      "builtins.",
                                          "torch.sym_node." };

  for (guint i = 0; i < G_N_ELEMENTS (prefixes); i++)
    if (g_str_has_prefix (target, prefixes[i]))
      return TRUE;
  return FALSE;
}

static OpTraits
traits_of_record (const AdjOp *op)
{
  guint traits = 0;

  if ((op->flags & ADJ_OP_EFFECT) != 0 || adj_schema_mutates (adj_op_get_schema (op)))
    traits |= OP_EFFECT;
  return traits;
}

static gboolean
is_effect_by_name (const char *target)
{
  return adj_effect_op_find (target) != NULL || strstr (target, "with_effects") != NULL ||
         strstr (target, "call_torchbind") != NULL || strstr (target, "_assert") != NULL ||
         strstr (target, "sym_constrain") != NULL;
}

OpTraits
op_traits_of (const AdjNode *node)
{
  const char *target = node->target, *end;
  Packet packet;
  guint traits = 0;

  if (node->opcode != ADJ_OPCODE_CALL_FUNCTION)
    return 0;
  if (g_str_equal (target, "operator.getitem"))
    return OP_GETITEM | OP_RECOMPUTE;
  if (is_scalar_arithmetic (target))
    return OP_RECOMPUTE;
  if (node->op != NULL)
    traits |= traits_of_record (node->op);
  else if (is_effect_by_name (target))
    traits |= OP_EFFECT;
  if (!g_str_has_prefix (target, "torch.ops."))
    return traits;
  packet.text = target + strlen ("torch.ops.");
  end = strchr (packet.text, '.');
  end = end != NULL ? strchr (end + 1, '.') : NULL;
  packet.length = end != NULL ? (gsize) (end - packet.text) : strlen (packet.text);
  return traits | find_row (packet);
}
