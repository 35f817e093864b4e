/* SPDX-License-Identifier: MIT */
/* Shared by all stages: references of AotStage and AotFunction, and arrays of argument
 * descriptions. */

#include "aot/aot-private.h"

gpointer
aot_stage_new (const AotStageClass *klass, gsize size)
{
  AotStage *stage = g_malloc0 (size);

  stage->klass = klass;
  g_atomic_ref_count_init (&stage->ref_count);
  return stage;
}

AotStage *
aot_stage_ref (AotStage *stage)
{
  g_atomic_ref_count_inc (&stage->ref_count);
  return stage;
}

void
aot_stage_unref (AotStage *stage)
{
  if (stage == NULL || !g_atomic_ref_count_dec (&stage->ref_count))
    return;
  if (stage->klass->finalize != NULL)
    stage->klass->finalize (stage);
  g_free (stage);
}

AdjFunction *
aot_function_new (const AdjFunctionClass *klass, AdjFunction *inner, gpointer stage)
{
  AotFunction *function = (AotFunction *) adj_function_new (klass, sizeof *function);

  function->inner = adj_function_ref (inner);
  function->stage = stage != NULL ? aot_stage_ref (stage) : NULL;
  return &function->parent_instance;
}

void
aot_function_finalize (AdjFunction *function)
{
  adj_function_unref (AOT_INNER (function));
  aot_stage_unref (((AotFunction *) function)->stage);
}

/* -- programs -- */

static void
argument_clear (gpointer argument)
{
  adj_value_clear (&((AotArgument *) argument)->value);
}

GArray *
aot_arguments_new (void)
{
  GArray *arguments = g_array_new (FALSE, TRUE, sizeof (AotArgument));

  g_array_set_clear_func (arguments, argument_clear);
  return arguments;
}

guint
aot_arguments_add (GArray *arguments, const AotArgument *argument)
{
  AotArgument copy = *argument;

  copy.value = adj_value_copy (&argument->value);
  g_array_append_val (arguments, copy);
  return arguments->len - 1;
}

void
aot_program_push (AotProgram *program, AotStage *stage)
{
  g_ptr_array_add (program->stages, stage);
}

void
aot_program_set_function (AotProgram *program, AdjFunction *function)
{
  adj_function_unref (program->function);
  program->function = function;
}

const AdjTensorMeta *
aot_argument_meta (const AotArgument *argument)
{
  return argument->value.kind == ADJ_VALUE_META ? argument->value.meta : NULL;
}

gboolean
aot_argument_requires_grad (const AotArgument *argument)
{
  const AdjTensorMeta *meta = aot_argument_meta (argument);

  return meta != NULL && meta->requires_grad;
}

gboolean
aot_same_geometry (const AdjShape *a, const AdjShape *b)
{
  gboolean same = a->rank == b->rank && adj_size_same (a->offset, b->offset);

  for (guint i = 0; same && i < a->rank; i++)
    same = adj_size_same (a->size[i], b->size[i]) && adj_size_same (a->stride[i], b->stride[i]);
  return same;
}
