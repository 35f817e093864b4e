/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-fused.h"
#include "call/adj-mode.h"
#include "ir/adj-value.h"
#include "ops/adj-tile-program.h"
#include "plan/adj-plan.h"

G_BEGIN_DECLS

/* What a plan is made of.  Each list is in the order in which the walk over the graph met its
 * entries; references between them are positions. */

#define PLAN_NONE G_MAXUINT32

typedef enum
{
  PLAN_MEMORY_ARENA,
  PLAN_MEMORY_INPUT,    /* the caller's, read only */
  PLAN_MEMORY_CONSTANT, /* the graph's, read only */
  PLAN_MEMORY_OUTPUT,   /* of its own: it goes to the caller */
  PLAN_N_MEMORIES
} PlanMemory;

/* A piece of memory: a storage of the interpreter. */
typedef struct
{
  PlanMemory memory;
  guint64 n_bytes;
  guint32 input;           /* the leaf of the inputs that it begins as; PLAN_NONE: none */
  AdjTensorData *constant; /* (owned) (nullable): that it begins as */
  guint32 replaces;        /* the input's that it is written in the place of; PLAN_NONE: none */
  guint32 node;            /* that makes it */
  gboolean written;        /* by a call that did not make it */
  guint32 first, last;     /* regions between which it is held; PLAN_NONE: never */
  guint32 taken_over;      /* the buffer whose memory this one is from @first on; PLAN_NONE: none */
  guint64 offset;          /* of ARENA, in bytes */
} PlanBuffer;

/* A tensor: a window on a buffer. */
typedef struct
{
  guint32 buffer;
  AdjTensorMeta meta; /* integer sizes, strides and offset */
} PlanValue;

/* What a call of an operator returns for one of its results. */
typedef struct
{
  guint32 value; /* PLAN_NONE: @plain */
  AdjValue plain;
} PlanResult;

/* One call: of a kernel, or of what only the interpreter can evaluate. */
typedef struct
{
  const AdjOp *op; /* (unowned) (nullable): %NULL: node @node, evaluated by the interpreter */
  guint32 node;
  AdjValue args; /* (owned): TUPLE in schema order; tensors are NODE leaves, values by number */
  guint n_results;
  PlanResult *results; /* (owned) */
  gboolean returns_list;
  guint n_reads, n_writes;
  guint32 *reads;    /* (owned): values among the arguments, each once */
  guint32 *writes;   /* (owned): values that are made or written, each once */
  gboolean in_place; /* its results were there before */
  gboolean in_turn;  /* draws random numbers or has an effect: keeps its place among such */
  double flops;
  AdjDType compute;                /* of pointwise calls */
  const AdjTileProgram **programs; /* (owned) (nullable): of pointwise calls, one per result */
  guint32 copied;                  /* the value that it copies element by element, or PLAN_NONE */
  char *reason;                    /* (owned) (nullable): why the interpreter evaluates it */
} PlanCall;

typedef enum
{
  PLAN_NODE_KNOWN,   /* its value is a tree of values */
  PLAN_NODE_DYNAMIC, /* known only when the interpreter has evaluated it */
  PLAN_NODE_UNREAD   /* not understood, and nobody needs it */
} PlanNodeKind;

typedef struct
{
  PlanNodeKind kind;
  AdjValue value; /* (owned): of KNOWN, tensors as NODE leaves */
} PlanNode;

/* A leaf of the inputs: what it must be for the plan to hold. */
typedef struct
{
  guint32 value;  /* a tensor; PLAN_NONE: @plain */
  AdjValue plain; /* (owned) */
} PlanInput;

typedef struct _PlanRegion PlanRegion;

/* A kind of region: a row of the table in region-kinds.c. */
typedef struct
{
  const char *name;
  gboolean (*run) (AdjPlanSpace *space, const PlanRegion *region);
} PlanRegionKind;

extern const PlanRegionKind plan_region_operator, plan_region_fused, plan_region_interpreter;

/* What a run needs of an operand of a fused region. */
typedef struct
{
  gint64 offset; /* in bytes */
  guint32 buffer;
  AdjKType type;
} PlanOperand;

/* A fused region as the kernel takes it; operand i is a window on a value's buffer. */
typedef struct
{
  AdjKFused program; /* (owned): its steps */
  guint n_operands;
  AdjKView *operands; /* (owned): without data, over the region's sizes */
  guint32 *buffers;   /* (owned): of each operand */
  gint64 *offsets;    /* (owned): in bytes */
  /* The same, over as few dims as there can be and close together: a run of a large graph waits for
   * memory, not for what it computes. */
  gint rank;
  PlanOperand *places; /* (owned) */
  gint64 *extents;     /* (owned): the sizes, then the strides of each operand */
} PlanFused;

struct _PlanRegion
{
  const PlanRegionKind *kind;
  guint32 domain; /* the call whose sizes it runs over */
  guint n_calls;
  guint32 *calls;   /* (owned): in order */
  PlanFused *fused; /* (owned) (nullable) */
  char *reason;     /* (owned) (nullable): why it ends where it ends, or why it is what it is */
  guint n_nodes;
  AdjNodeId *nodes; /* (owned): of the calls, each once */
  guint64 bytes;    /* read and written */
  double flops;
};

struct _AdjPlan
{
  gatomicrefcount ref_count;
  AdjGraph *graph; /* (owned) unless @borrows_graph */
  gboolean borrows_graph;
  gboolean observed, unrounded; /* AdjPlanFlags */
  gboolean may_draw;            /* random numbers: it has calls that keep their order */
  char *whole;                  /* (owned) (nullable): why the interpreter runs all of it */
  GArray *inputs;               /* PlanInput, leaves in order */
  GArray *outputs;              /* guint32: values among what it returns, in order */
  GArray *nodes;                /* PlanNode, of every node */
  GArray *buffers;              /* PlanBuffer */
  GArray *values;               /* PlanValue */
  GArray *calls;                /* PlanCall */
  GArray *regions;              /* PlanRegion, in the order in which they run */
  guint32 *after;         /* (owned): of every node: the region after which its value is there */
  AdjThreadState *states; /* (owned): of every node: what the context is set to when it is called */
  guint64 arena_bytes, lower_bound;
  gint64 planned_ns;
  gint n_runs;                    /* atomic */
  gint64 run_ns;                  /* atomic: of all runs together */
  struct _PlanCompiled *compiled; /* atomic (owned) (nullable): its fused regions as machine code */
};

static inline PlanBuffer *
plan_buffer (const AdjPlan *plan, guint32 i)
{
  return &g_array_index (plan->buffers, PlanBuffer, i);
}

static inline PlanValue *
plan_value (const AdjPlan *plan, guint32 i)
{
  return &g_array_index (plan->values, PlanValue, i);
}

static inline PlanCall *
plan_call (const AdjPlan *plan, guint32 i)
{
  return &g_array_index (plan->calls, PlanCall, i);
}

static inline PlanRegion *
plan_region (const AdjPlan *plan, guint32 i)
{
  return &g_array_index (plan->regions, PlanRegion, i);
}

static inline PlanInput *
plan_input (const AdjPlan *plan, guint32 i)
{
  return &g_array_index (plan->inputs, PlanInput, i);
}

static inline PlanNode *
plan_node (const AdjPlan *plan, guint32 i)
{
  return &g_array_index (plan->nodes, PlanNode, i);
}

/* -- recorder.c: the mode at the bottom of the context that a plan is made in -- */

typedef struct
{
  AdjPlan *plan;
  GHashTable *of_tensor;   /* AdjTensor → value + 1 */
  GHashTable *of_storage;  /* AdjStorage → buffer + 1 */
  GHashTable *of_constant; /* bytes of a constant → buffer + 1 */
  GPtrArray *kept;         /* (owned): the tensors of the keys */
  guint32 node;            /* that is being called */
  const char *turner;      /* (nullable): the first call that changed what a tensor shows */
  const char *deferred;    /* (nullable): why the node is to be evaluated when the plan runs, though
                              it is known what its results look like */
} PlanRecorder;

void plan_recorder_init (PlanRecorder *self, AdjPlan *plan);
void plan_recorder_clear (PlanRecorder *self);
/* (transfer full) */
AdjMode *plan_recorder_new_mode (PlanRecorder *self);
/* The value that @tensor is; a tensor with bytes that nobody recorded is a constant. */
guint32 plan_recorder_note (PlanRecorder *self, AdjTensor *tensor);
/* @value with tensors as NODE leaves; (transfer full) */
AdjValue plan_recorder_export (PlanRecorder *self, const AdjValue *value);
/* Forgets the calls from @n on. */
void plan_recorder_drop_calls (PlanRecorder *self, guint n);
/* Lists what @call reads and writes, from its arguments and results. */
void plan_call_find_uses (PlanCall *call);
void plan_call_clear (PlanCall *call);

/* -- walk.c -- */

/* Fills nodes, buffers, values and calls of @plan. @inputs: as of adj_plan_new(). */
void plan_walk (AdjPlan *plan, const AdjValue *inputs, guint n_inputs);
/* (nullable): why the builtin @target must not be called while a plan is made: "sets the random
 * numbers". */
const char *plan_find_deferred (const char *target);

/* -- dependences.c -- */

/* Of each call: those that must come before it. */
typedef struct
{
  guint32 *start; /* (owned): of call i: start[i] … start[i + 1] - 1 */
  guint32 *calls; /* (owned): each earlier than the call that needs it */
} PlanDependences;

PlanDependences plan_dependences_new (const AdjPlan *plan);
void plan_dependences_clear (PlanDependences *self);

/* -- regions.c -- */

/* Puts all calls into regions, and those into an order. */
void plan_form_regions (AdjPlan *plan);
void plan_region_clear (PlanRegion *region);

/* -- replaced-inputs.c -- */

/* Gives what overwrites a whole input a buffer of its own.  Regions are there already: they are
 * ordered as if it were the input's. */
void plan_replace_inputs (AdjPlan *plan);

/* -- fuse.c -- */

/* Whether @call can be a part of a fused region at all; else @why says what keeps it out. */
gboolean plan_can_fuse (const AdjPlan *plan, const PlanCall *call, const char **why);
/* (nullable): the program of @region.  @kept: of each buffer: whether anything outside of the
 * region that makes it reads it.  %NULL: it has too many operands or registers. */
PlanFused *plan_fuse (const AdjPlan *plan, const PlanRegion *region, const gboolean *kept);
void plan_fused_free (PlanFused *fused);

/* -- buffers.c -- */

/* (transfer full) (array): of each buffer: whether it has to be in memory, as something outside of
 * the region that makes it reads it, or somebody watches. */
gboolean *plan_find_kept (const AdjPlan *plan);
/* Which memory buffers are in and how long they are held; when nodes have values. */
void plan_find_lives (AdjPlan *plan, const gboolean *kept);

/* -- adj-plan-parts.c -- */

/* Sets nodes, bytes and operations of all regions. */
void plan_count_costs (AdjPlan *plan);

/* -- arena.c -- */

/* Memory that is taken over, and offsets. */
void plan_place_buffers (AdjPlan *plan);

G_END_DECLS
