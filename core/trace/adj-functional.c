/* SPDX-License-Identifier: MIT */
/* The functionalization mode (trace/SPEC.md §2): dispatch by kind of call, the tape, and writing
 * inputs back at the end of the trace. */

#include "call/adj-mode.h"
#include "call/adj-op-internal.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "tensor/adj-tensor-internal.h"
#include "trace/functional-private.h"
#include "trace/tracer-private.h"

static const AdjModeClass functional_class = {
  .name = "functionalize",
  .traces = TRUE,
  .call = functional_call,
  .higher = functional_higher,
  .wrapped = functional_wrapped,
  .object = functional_object,
  .effect = functional_effect,
};

AdjMode *
adj_functional_mode_new (void)
{
  FunctionalMode *mode = g_new0 (FunctionalMode, 1);

  mode->parent.klass = &functional_class;
  return &mode->parent;
}

void
adj_functional_mode_set_two_detaches (AdjMode *mode)
{
  ((FunctionalMode *) mode)->two_detaches = TRUE;
}

void
adj_functional_mode_set_tape (AdjMode *mode, AdjTapeFunc func, gpointer data)
{
  FunctionalMode *self = (FunctionalMode *) mode;

  self->tape = func;
  self->tape_data = data;
}

void
functional_tell (AdjContext *cx,
                 FunctionalStorage *storage,
                 AdjTapeKind kind,
                 const AdjTensor *value,
                 AdjViewChain *chain)
{
  AdjMode *mode = adj_context_get_mode (cx);
  FunctionalMode *self;

  while (mode != NULL && mode->klass != &functional_class)
    mode = mode->below;
  self = (FunctionalMode *) mode;
  if (self == NULL || self->tape == NULL)
    return;
  if (storage->number == 0)
    storage->number = ++self->n_storages;
  self->tape (&(AdjTapeEvent){ kind, storage->number, storage->generation, storage->updates->len,
                               value != NULL ? adj_tracer_name_value (value) : NULL, chain },
              self->tape_data);
}

/* -- from outside ---- */

/* Sets the entry below the mode, for calls that it must not see. */
static AdjMode *
set_entry_below (AdjContext *cx)
{
  AdjMode *mode = adj_context_get_mode (cx);

  while (mode != NULL && mode->klass != &functional_class)
    mode = mode->below;
  return adj_context_set_entry (cx, mode != NULL ? mode->below : NULL);
}

AdjTensor *
adj_functional_get_value (AdjContext *cx, AdjTensor *tensor)
{
  const Functional *functional;
  AdjMode *entry;
  gboolean done;

  g_return_val_if_fail (cx != NULL && tensor != NULL, NULL);

  functional = functional_find (tensor);
  if (functional == NULL)
    return tensor;
  entry = set_entry_below (cx);
  done = functional_sync (cx, tensor);
  adj_context_set_entry (cx, entry);
  return done ? functional->value : NULL;
}

static gboolean
refuse_turned (AdjContext *cx, const AdjTensor *input, const AdjTensor *value)
{
  const AdjTensorMeta *from = adj_tensor_get_meta (input), *to = adj_tensor_get_meta (value);
  AdjTensorMeta as_input = *to;

  as_input.storage = from->storage;
  as_input.requires_grad = from->requires_grad;
  if (adj_tensor_meta_equal (from, &as_input))
    return TRUE;
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                    "the sizes or strides of an input are changed in place: they cannot be "
                    "written back");
  return FALSE;
}

static gboolean
resize_back (AdjContext *cx, const FunctionalStorage *storage, AdjTensor *input)
{
  const AdjValue args[] = { ADJ_TENSOR (input), ADJ_INT ((gint64) storage->bytes_after) };
  AdjValue result;

  return storage->bytes_before == storage->bytes_after ||
         adj_call_bound (cx, adj_op (ADJ_OP_inductor_resize_storage_bytes_), args, &result);
}

gboolean
adj_functional_write_back (AdjContext *cx, AdjTensor *input, AdjTensor *tensor)
{
  AdjTensor *value = adj_functional_get_value (cx, tensor);
  const Functional *functional = functional_find (tensor);
  AdjMode *entry;
  AdjValue args[3] = { ADJ_TENSOR (input), ADJ_TENSOR (value), ADJ_BOOL (FALSE) };
  AdjValue result;
  gboolean writes, done = TRUE;

  g_return_val_if_fail (functional != NULL, FALSE);

  if (value == NULL || (value == input && !functional->storage->resized))
    return value != NULL;
  if (functional->metadata_changed && !functional->storage_changed &&
      !refuse_turned (cx, input, value))
    return FALSE;
  entry = set_entry_below (cx);
  if (functional->storage_changed)
    done = adj_call_bound (cx, adj_op (ADJ_OP_set__source_Tensor), args, &result);
  if (functional->storage->resized)
    done = done && resize_back (cx, functional->storage, input);
  writes = value != input && !functional->storage_changed && functional->storage->generation > 0 &&
           !(functional->storage->resized && functional->storage->bytes_after == 0);
  if (writes)
    done = done && adj_call_bound (cx, adj_op (ADJ_OP_copy_), args, &result);
  adj_context_set_entry (cx, entry);
  return done;
}
