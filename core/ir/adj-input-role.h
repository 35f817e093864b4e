/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The role of a placeholder, derived from its target, which PyTorch names; set when the graph is
 * sealed. */
typedef enum
{
  ADJ_INPUT_NONE,         /* the node is no placeholder */
  ADJ_INPUT_PRIMAL,       /* an argument of the function, or what its forward saved */
  ADJ_INPUT_TANGENT,      /* "tangents_1": the gradient of an output */
  ADJ_INPUT_FORWARD_RNG,  /* "fwd_seed_1", "fwd_base_offset_1": of random numbers */
  ADJ_INPUT_BACKWARD_RNG, /* "bwd_seed_1", "bwd_base_offset_1" */
} AdjInputRole;

/* The role of a placeholder with target @target; never NONE. */
AdjInputRole adj_input_role_from_target (const char *target);
/* Of node @index. */
AdjInputRole adj_graph_get_input_role (const AdjGraph *graph, guint index);
/* Whether any placeholder has @role. */
gboolean adj_graph_has_input (const AdjGraph *graph, AdjInputRole role);
/* Whether node @index is a tangent or is computed from one. A graph of a whole step has no
 * tangents: there, whether autograd made the node or a node that it is computed from. */
gboolean adj_graph_depends_on_tangent (const AdjGraph *graph, guint index);

/* Where a node runs, by its partitioner_tag (nullable). */
typedef enum
{
  ADJ_PHASE_UNKNOWN, /* no tag, or one of neither */
  ADJ_PHASE_FORWARD,
  ADJ_PHASE_BACKWARD,
} AdjPhase;

AdjPhase adj_phase_from_tag (const char *tag);

G_END_DECLS
