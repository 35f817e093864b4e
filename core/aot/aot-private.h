/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/adj-aot.h"

#include "autograd/adj-autograd.h"
#include "ir/adj-value.h"
#include "rules/adj-view-chain.h"
#include "trace/adj-functional.h"

G_BEGIN_DECLS

/* -- stages -- */

/* The state of a stage after compile time, used to undo its effect on every call. Counted
 * atomically; immutable after it was pushed. */
typedef struct _AotStage AotStage;

typedef struct
{
  const char *name;
  /* (nullable): wraps @inner into a function with the calling convention from before the stage.
   * (transfer full) */
  AdjFunction *(*wrap) (AotStage *stage, AdjFunction *inner);
  void (*finalize) (AotStage *stage); /* (nullable): frees members of the derived struct */
} AotStageClass;

struct _AotStage
{
  const AotStageClass *klass;
  gatomicrefcount ref_count;
};

gpointer aot_stage_new (const AotStageClass *klass, gsize size);
AotStage *aot_stage_ref (AotStage *stage);
void aot_stage_unref (AotStage *stage);

/* A function around another one that a stage made, at compile time or at run time. */
typedef struct
{
  AdjFunction parent_instance;
  AdjFunction *inner; /* (owned) */
  AotStage *stage;    /* (owned) (nullable) */
} AotFunction;

/* For classes that call functions around @inner; keeps both. */
AdjFunction *aot_function_new (const AdjFunctionClass *klass, AdjFunction *inner, gpointer stage);
void aot_function_finalize (AdjFunction *function);
#define AOT_INNER(function) (((AotFunction *) (function))->inner)
#define AOT_STAGE(type, function) ((type *) ((AotFunction *) (function))->stage)

/* -- what is compiled -- */

typedef struct _AotComposite AotComposite; /* composite-private.h */

/* One flat input. */
typedef struct
{
  AdjValue value; /* (owned) META over the program's symbols for a tensor, else the value itself */
  guint place;    /* index of the user's input, or of the first one that it is made from */
  guint object;   /* number of its object: equal for the same tensor object */
  gint base; /* number of the object that it is a view of, which need not be an input; -1: none */
  AdjTensorMeta base_meta; /* of that object */
  gboolean base_is_leaf;
  gboolean is_leaf;
  gboolean is_size;            /* a size, also where @value is a number */
  gboolean is_freed;           /* its storage was freed, although it has elements */
  guint64 storage_bytes;       /* 0: unknown */
  const AdjNodeMeta *observed; /* (nullable) */
  AotComposite *composite;     /* (unowned) (nullable): how it is composed of dense tensors */
  GArray *leaves; /* (unowned) (nullable): AotArgument: the dense parts of a composite */
} AotArgument;

typedef struct
{
  const AdjAotOptions *options;
  const AdjAotObserver *observer; /* (nullable) */
  AdjSymbols *symbols;
  AdjFunction *function;    /* (owned): as changed by the stages so far */
  GArray *arguments;        /* AotArgument: its inputs */
  AdjAotMetadata *metadata; /* (owned): edited by the stages */
  GPtrArray *stages;        /* AotStage, outermost first */
  AotStage *hooks;          /* (owned) (nullable): hooks that the function adds to its inputs */
  GPtrArray *fakes;         /* tensors to whose storages the storage numbers refer */
  GPtrArray *composites;    /* AotComposite: of the arguments */
  GPtrArray *leaves;        /* GArray: dense parts of the composite arguments */
  GPtrArray *returns;       /* (nullable): AotComposite: of mutated inputs, outputs and bases */
  GPtrArray *tangents;      /* (nullable): AotComposite */
  gboolean has_composites;
  GString *note; /* of the current step */
} AotProgram;

#define AOT_ARGUMENT(program, i) (&g_array_index ((program)->arguments, AotArgument, (i)))

GArray *aot_arguments_new (void); /* of AotArgument */
/* Appends a copy of @argument; returns its index. */
guint aot_arguments_add (GArray *arguments, const AotArgument *argument);
/* The node of @options->like for input @place; ADJ_NO_NODE: there is none. */
AdjNodeId aot_find_source (const AdjAotOptions *options, guint place);
/* (transfer full) (element-type guint32): get_attr nodes of @graph to be lifted to inputs, since it
 * writes one of their tensors. */
GArray *aot_list_attributes (const AdjGraph *graph);
/* (transfer full): @graph as a function whose first arguments are the tensors of @attributes. */
AdjFunction *aot_lifted_function_new (AdjGraph *graph, const guint32 *attributes, guint n);

void aot_program_push (AotProgram *program, AotStage *stage); /* takes @stage */
/* Replaces the function; takes @function. */
void aot_program_set_function (AotProgram *program, AdjFunction *function);

/* Describes the inputs as arguments (describe-inputs.c). */
gboolean aot_describe_inputs (AotProgram *program, const AdjValue *inputs, guint n, GError **error);
/* Meta of a tensor argument, %NULL of anything else. */
const AdjTensorMeta *aot_argument_meta (const AotArgument *argument);
gboolean aot_argument_requires_grad (const AotArgument *argument);
/* Sizes, strides and offset. */
gboolean aot_same_geometry (const AdjShape *a, const AdjShape *b);

/* -- compile time, in order: each changes the program and pushes what undoes it -- */

gboolean aot_flatten (AotProgram *program, const AdjValue *inputs, guint n, GError **error);
gboolean aot_collect (AotProgram *program, GError **error);
/* Shape, dtype and device of a gradient of @result (aot/SPEC.md §2.5). */
AdjTensorMeta
aot_tangent_of (const AdjAotOptions *options, const AdjTensorMeta *result, AdjSymbols *symbols);
/* Removes hooks on inputs from the trace; every call adds those that the function added. */
void aot_take_hooks (AotProgram *program);
gboolean aot_input_has_hooks (const AotProgram *program, guint input);
void aot_give_hooks (AotProgram *program);
/* Whether the function can become a joint graph for export (export.c). */
gboolean
aot_check_export (const AdjAotMetadata *metadata, const AdjAotOptions *options, GError **error);
/* Replaces @graph by one with tensors for the floats that are read off tensors (tensorify.c). */
gboolean aot_tensorify (AdjGraph **graph, GError **error);
gboolean aot_decide_training (AotProgram *program, GError **error);
gboolean aot_dedupe (AotProgram *program, GError **error);
gboolean aot_synthetic_base (AotProgram *program, GError **error);
gboolean aot_mutations_to_outputs (AotProgram *program, GError **error);
gboolean aot_prepare_for_autograd (AotProgram *program, GError **error);
gboolean aot_joint (AotProgram *program, GError **error);
gboolean aot_functionalize (AotProgram *program, GError **error);

/* -- functional tensors, seen from here (functional-modes.c) -- */

/* Pushes the modes of a trace: functionalization, autograd above it, and autocast.  @observer:
 * (nullable) */
void aot_push_modes (AdjContext *cx, const AdjAotOptions *options, const AdjAotObserver *observer);
void aot_pop_modes (AdjContext *cx, const AdjAotOptions *options);
/* @wrapped (out) (transfer full): @values wrapped for the function, with the history that
 * @arguments describe; equal objects stay equal. */
gboolean aot_wrap_arguments (AdjContext *cx,
                             const AotArgument *arguments,
                             guint n,
                             const AdjValue *values,
                             AdjValue *wrapped);
/* @out (transfer full): a copy of @value in which functional tensors are replaced by their current
 * values. */
gboolean aot_unwrap (AdjContext *cx, const AdjValue *value, AdjValue *out);
/* The current value of @tensor if it is functional, else @tensor. (transfer none) (nullable): %NULL
 * with the context in error. */
AdjTensor *aot_get_plain (AdjContext *cx, AdjTensor *tensor);
/* Connects @same, fresh and computed with grad mode off, to @of as an identity, also for gradients.
 */
gboolean aot_connect_same (AdjContext *cx, const char *name, AdjTensor *of, AdjTensor *same);
/* All zero if @tensor is not wrapped. */
void aot_get_functional_state (const AdjTensor *tensor, AdjFunctionalState *observed);
AdjViewChain *aot_get_recipe (const AdjTensor *tensor); /* (transfer full) (nullable) */

/* -- the error catalogue (errors.c; aot/SPEC.md §9) -- */

typedef enum
{
  AOT_ERROR_LEAF_WRITTEN,
  AOT_ERROR_VIEW_OF_LEAF_WRITTEN,
  AOT_ERROR_ONE_OF_VIEWS_WRITTEN,
  AOT_ERROR_SAVED_OVERWRITTEN,
  AOT_ERROR_BROADCAST_GROWS,
  AOT_ERROR_OVERLAP_WRITTEN,
  AOT_ERROR_RESIZE_GROWS,
  AOT_ERROR_FROZEN,
  AOT_ERROR_LATE_AS_STRIDED,
  AOT_ERROR_PLAIN_WRITTEN,
  AOT_ERROR_NO_FUNCTIONAL_FORM,
  AOT_ERROR_SET_NOT_IN_GRAPH,
  AOT_ERROR_RESIZE_NOT_IN_GRAPH,
  AOT_ERROR_RESIZE_NOT_ZERO,
  AOT_ERROR_OUTPUT_UNKNOWN,
  AOT_ERROR_OUTPUT_NOT_TUPLE,
  AOT_ERROR_AUTOCAST,
  AOT_ERROR_NON_DIFFERENTIABLE_VIEWS,
  AOT_ERROR_VIEWS_DTYPE,
  AOT_ERROR_BACKWARD_METADATA,
  AOT_ERROR_BACKWARD_RESIZE,
  AOT_ERROR_BACKWARD_CREATE_GRAPH,
  AOT_ERROR_TANGENT_WRITTEN,
  AOT_ERROR_NOT_FUNCTIONAL,
  AOT_ERROR_BACKWARD_AND_FORWARD,
  AOT_ERROR_DUPLICATE_DIFFERS,
  AOT_ERROR_REQUIRES_GRAD_DIFFERS,
  AOT_ERROR_TANGENT_CLASS,
  AOT_ERROR_DOUBLE_BACKWARD,
  AOT_ERROR_DETERMINISTIC,
  AOT_ERROR_EXPORT_METADATA,
  AOT_ERROR_EXPORT_GRAD_MUTATION,
  AOT_ERROR_EXPORT_DUPLICATES,
  AOT_ERROR_EXPORT_OTHER_GRAD,
  AOT_ERROR_EXPORT_LOSS_SHAPE,
  AOT_ERROR_EXPORT_LOSS_GRAD,
  AOT_ERROR_EXPORT_LOSS_MISSING,
  AOT_ERROR_EXPORT_NO_GRADIENT,
  AOT_ERROR_EXPORT_RNG,
  AOT_ERROR_EXPORT_COMPOSITE,
  AOT_ERROR_COMPOSITE_DUPLICATES,
  AOT_ERROR_COMPOSITE_METADATA,
  AOT_ERROR_COMPOSITE_BASES,
  AOT_ERROR_REQUIRES_GRAD_INSIDE,
  AOT_ERROR_HOOK_ON_ALIAS,
  AOT_ERROR_VIEW_OF_TURNED_LEAF,
  AOT_ERROR_DETACHED_VIEWS,
  AOT_ERROR_TURNED_WITHOUT_GRAD,
  AOT_ERROR_TURNED_IN_GRAPH,
  AOT_N_ERRORS,
} AotError;

/* Adds the code of the catalogue row to an error of another layer that matches one. */
void aot_name_error (GError **error);

/* The inputs or outputs that an error is about, numbered as in the user's function; -1: none. They
 * are attached to the error, and named in its message unless @what replaces them. */
typedef struct
{
  const char *what; /* (nullable) */
  gint tangent, output, input, other;
} AotBlame;

#define AOT_FUNCTION ((AotBlame){ "the function", -1, -1, -1, -1 })
#define AOT_BACKWARD ((AotBlame){ "the backward of a compiled function", -1, -1, -1, -1 })
#define AOT_INPUT(i) ((AotBlame){ NULL, -1, -1, (gint) (i), -1 })
#define AOT_INPUTS(i, k) ((AotBlame){ NULL, -1, -1, (gint) (i), (gint) (k) })
#define AOT_OUTPUT(i) ((AotBlame){ NULL, -1, (gint) (i), -1, -1 })
#define AOT_OUTPUT_OF(i, k) ((AotBlame){ NULL, -1, (gint) (i), (gint) (k), -1 })
#define AOT_TANGENT(i) ((AotBlame){ NULL, (gint) (i), -1, -1, -1 })

/* Sets @error and returns %FALSE. The message is the blame, then @detail (nullable; ", a duplicate
 * of input 0"), then the sentence of the row. */
gboolean aot_fail (GError **error, AotError row, AotBlame blame, const char *detail, ...)
    G_GNUC_PRINTF (4, 5);
/* The same as the sticky error of @cx. */
gboolean aot_fail_context (AdjContext *cx, AotError row, AotBlame blame, const char *detail, ...)
    G_GNUC_PRINTF (4, 5);

G_END_DECLS
