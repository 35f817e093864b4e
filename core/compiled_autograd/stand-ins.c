/* SPDX-License-Identifier: MIT */
/* During a replay, fake tensors and symbolic sizes replace the tensors and sizes that nodes save
 * (compiled_autograd/SPEC.md §4.2); afterwards everything is restored. */

#include "compiled_autograd/stand-ins-private.h"
#include "tensor/adj-shape-internal.h"
#include "trace/adj-examples.h"

/* A saved value of a node, and its replacement. */
typedef struct
{
  AdjTensorMeta *meta;
  AdjTensorMeta was;
} ChangedMeta;

typedef struct
{
  AdjValue *leaf;
  AdjValue was;
} ChangedLeaf;

typedef struct
{
  AdjTensor **tensor;
  AdjTensor *was;
} ChangedTensor;

/* -- fake tensors -- */

static AdjSize
size_of_value (gint64 size, gconstpointer data)
{
  const StandIns *self = data;

  for (guint i = 0; size > 1 && i < self->rules->len; i++)
    {
      const SizeRule *rule = &g_array_index (self->rules, SizeRule, i);

      if (rule->passed && rule->hint == size)
        return rule->size;
    }
  return self->collection->as_2_6 ? adj_symbols_add_size (adj_context_get_symbols (self->cx),
                                                          ADJ_SIZES_DYNAMIC, size, NULL)
                                  : ADJ_SIZE (size);
}

static gboolean
has_symbols (const GArray *rules)
{
  for (guint i = 0; i < rules->len; i++)
    if (!adj_size_is_int (g_array_index (rules, SizeRule, i).size))
      return TRUE;
  return FALSE;
}

static AdjValue
value_of_meta (const AdjTensorMeta *meta)
{
  return (AdjValue){ .kind = ADJ_VALUE_META, .meta = meta };
}

gboolean
stand_ins_init (StandIns *self, AdjContext *cx, const Collection *collection, const GArray *rules)
{
  const GPtrArray *inputs = collection->inputs;
  const GArray *packed = collection->packed;
  g_autoptr (AdjExamples) examples = adj_examples_new (cx, adj_context_get_symbols (cx), FALSE);

  *self = (StandIns){
    .cx = cx,
    .collection = collection,
    .rules = rules,
    .saved = g_ptr_array_new (),
    .metas = g_array_new (FALSE, FALSE, sizeof (ChangedMeta)),
    .leaves = g_array_new (FALSE, FALSE, sizeof (ChangedLeaf)),
    .tensors = g_array_new (FALSE, FALSE, sizeof (ChangedTensor)),
  };
  self->fakes = g_new0 (AdjTensor *, inputs->len + packed->len + 1);
  if (collection->as_2_6 || has_symbols (rules))
    adj_examples_set_map (examples, size_of_value, self);
  for (guint i = 0; i < inputs->len + packed->len; i++)
    {
      AdjValue example, fake;

      if (i < inputs->len)
        example = ADJ_TENSOR (g_ptr_array_index (inputs, i));
      else
        example = value_of_meta (&g_array_index (packed, CollectedPacked, i - inputs->len).meta);
      if (!adj_examples_import (examples, &example, &fake))
        return FALSE;
      self->fakes[i] = fake.tensor;
    }
  return TRUE;
}

/* -- what stands in for what a node keeps -- */

typedef struct
{
  GradVisitor parent;
  StandIns *self;
  const AdjGradNode *node;
} Exchanger;

AdjTensor *
stand_ins_next (StandIns *self)
{
  guint number = g_array_index (self->collection->slots, guint, self->slot++);

  if ((number & SLOT_PACKED) != 0)
    return self->fakes[self->collection->inputs->len + (number & ~SLOT_PACKED)];
  return number > 0 ? self->fakes[number - 1] : NULL;
}

static void
exchange_saved (GradVisitor *visitor, const char *name, AdjGradNode *node, Saved *saved)
{
  StandIns *self = ((Exchanger *) visitor)->self;

  saved_stand_in (saved, stand_ins_next (self));
  g_ptr_array_add (self->saved, saved);
}

static AdjSize
size_at (const StandIns *self, guint index)
{
  return g_array_index (self->rules, SizeRule, index).size;
}

/* Static sizes are unchanged; if a size is a symbol, strides are recomputed. */
static void
exchange_meta (GradVisitor *visitor, const char *name, AdjTensorMeta *meta)
{
  StandIns *self = ((Exchanger *) visitor)->self;
  const ChangedMeta change = { meta, *meta };
  gboolean symbolic = FALSE;

  for (guint i = 0; i < meta->shape.rank; i++)
    symbolic |= !adj_size_is_int (size_at (self, self->size + i));
  if (symbolic)
    {
      g_array_append_val (self->metas, change);
      for (guint i = 0; i < meta->shape.rank; i++)
        meta->shape.size[i] = size_at (self, self->size + i);
      adj_shape_restride (&meta->shape, &change.was.shape, adj_context_get_symbols (self->cx), NULL,
                          NULL);
    }
  self->size += meta->shape.rank;
}

static void
exchange_leaf (GradVisitor *visitor, const char *name, AdjValue *leaf, gboolean is_tensor)
{
  const Exchanger *exchanger = (const Exchanger *) visitor;
  StandIns *self = exchanger->self;
  const ChangedLeaf change = { leaf, *leaf };
  AdjTensor *fake;

  if (leaf->kind == ADJ_VALUE_META)
    exchange_meta (visitor, name, (AdjTensorMeta *) leaf->meta);
  else if (leaf->kind == ADJ_VALUE_TENSOR || (is_tensor && leaf->kind == ADJ_VALUE_NONE))
    stand_ins_next (self);
  else if (is_tensor && number_is_lifted (exchanger->node, leaf))
    {
      fake = stand_ins_next (self);
      g_array_append_val (self->leaves, change);
      *leaf = ADJ_TENSOR (fake);
    }
}

void
stand_ins_exchange (StandIns *self, AdjTensor **place, AdjTensor *tensor)
{
  const ChangedTensor change = { place, *place };

  g_array_append_val (self->tensors, change);
  *place = tensor;
}

static void
exchange_held (GradVisitor *visitor, const char *name, AdjTensor **tensor)
{
  StandIns *self = ((Exchanger *) visitor)->self;

  stand_ins_exchange (self, tensor, stand_ins_next (self));
}

static void
exchange_size (GradVisitor *visitor, const char *name, AdjValue *size)
{
  StandIns *self = ((Exchanger *) visitor)->self;
  const ChangedLeaf change = { size, *size };

  g_array_append_val (self->leaves, change);
  *size = adj_value_from_size (size_at (self, self->size++));
}

static void
exchange_function (GradVisitor *visitor, const char *name, AdjFunction *function)
{
}

/* Visits in the order of collect(), so that slots and sizes correspond. */
void
stand_ins_place (StandIns *self, const CollectedCall *call)
{
  Exchanger exchanger = { { self->collection->cx, exchange_saved, exchange_leaf, exchange_meta,
                            exchange_held, exchange_size, exchange_function },
                          self,
                          call->node };

  self->slot = call->first_slot;
  self->size = call->first_size;
  if (!call->needed || call->form != NULL)
    return;
  if (call->node->klass->visit != NULL)
    call->node->klass->visit (call->node, &exchanger.parent);
  for (guint i = 0; i < call->node->n_edges; i++)
    {
      const GradEdge *edge = &call->node->edges[i];

      if (edge->node != NULL)
        exchange_meta (&exchanger.parent, "gradient", &edge->node->inputs[edge->input]);
    }
}

/* Restores in reverse order, since a place may have been changed twice. */
void
stand_ins_remove (StandIns *self)
{
  for (guint i = 0; i < self->saved->len; i++)
    saved_stand_in (g_ptr_array_index (self->saved, i), NULL);
  for (guint i = self->metas->len; i-- > 0;)
    {
      const ChangedMeta *change = &g_array_index (self->metas, ChangedMeta, i);

      *change->meta = change->was;
    }
  for (guint i = self->leaves->len; i-- > 0;)
    {
      const ChangedLeaf *change = &g_array_index (self->leaves, ChangedLeaf, i);

      *change->leaf = change->was;
    }
  for (guint i = self->tensors->len; i-- > 0;)
    {
      const ChangedTensor *change = &g_array_index (self->tensors, ChangedTensor, i);

      *change->tensor = change->was;
    }
}

void
stand_ins_clear (StandIns *self)
{
  guint n = self->collection->inputs->len + self->collection->packed->len;

  for (guint i = 0; i < n; i++)
    g_clear_pointer (&self->fakes[i], adj_tensor_unref);
  g_free (self->fakes);
  g_ptr_array_unref (self->saved);
  g_array_unref (self->metas);
  g_array_unref (self->leaves);
  g_array_unref (self->tensors);
}
