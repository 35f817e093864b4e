/* SPDX-License-Identifier: MIT */
/* Runs the kernel of a call.  What moves or adds up complex numbers does so with their real and
 * their imaginary parts apart, so such kernels know nothing of them: they run twice. */

#include "call/adj-object.h"
#include "call/adj-op-internal.h"
#include "call/adj-schema-internal.h"

static gboolean
is_complex (const AdjTensorMeta *meta)
{
  return meta->dtype < ADJ_N_DTYPES &&
         adj_dtype_info (meta->dtype)->category == ADJ_CATEGORY_COMPLEX;
}

static gboolean
is_not_complex (const AdjValue *leaf, gpointer data)
{
  return leaf->kind != ADJ_VALUE_TENSOR || !is_complex (adj_tensor_get_meta (leaf->tensor));
}

static gboolean
gives_complex (const AdjOpCall *call)
{
  for (guint i = 0; i < call->n_results; i++)
    if (call->results[i].tensor != NULL && is_complex (&call->results[i].meta))
      return TRUE;
  return FALSE;
}

static gboolean
takes_complex (const AdjOpCall *call)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (!adj_value_foreach (&call->args[i], is_not_complex, NULL))
      return TRUE;
  return FALSE;
}

/* What gives real numbers of complex ones gives those of the real parts. */
static gboolean
run_parts (AdjOpCall *call)
{
  gboolean both = gives_complex (call) || call->schema->n_returns == 0;
  gboolean done;

  call->part = ADJ_PART_REAL;
  done = call->op->kernel (call);
  call->part = ADJ_PART_IMAGINARY;
  done = done && (!both || call->op->kernel (call));
  call->part = ADJ_PART_NONE;
  return done;
}

/* A kernel looks into the objects that it is given. */
static gboolean
check_objects (AdjOpCall *call)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    {
      AdjOpaque *opaque =
          call->args[i].kind == ADJ_VALUE_OPAQUE_OBJECT ? call->args[i].object : NULL;
      const char *name = opaque != NULL ? adj_opaque_get_type (opaque) : NULL;
      const AdjObject *object = adj_object_from_opaque (opaque);

      if (name != NULL && (object == NULL || !adj_object_is_live (object)))
        return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED,
                                    "the object of '%s' is not here, only what is told of it",
                                    name);
    }
  return TRUE;
}

gboolean
adj_op_call_run_kernel (AdjOpCall *call)
{
  gboolean done;

  if (call->op->kernel == NULL)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "has no CPU kernel");
  if (!check_objects (call))
    return FALSE;
  if (call->part == ADJ_PART_NONE && (call->op->flags & ADJ_OP_BY_PARTS) != 0 &&
      (gives_complex (call) || takes_complex (call)))
    done = run_parts (call);
  else
    done = call->op->kernel (call);
  return done && !adj_context_has_error (call->cx);
}
