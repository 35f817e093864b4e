/* SPDX-License-Identifier: MIT */
/* A plan with memory: values are tensors on an arena and calls are prepared, so that a run
 * allocates only what it returns. */

#include <string.h>
#include <sys/mman.h>

#include "call/adj-op-internal.h"
#include "ir/adj-graph.h"
#include "plan/adj-plan-internal.h"
#include "plan/gpu-space-private.h"
#include "plan/late-inputs-private.h"
#include "rules/adj-operators.h"
#include "tensor/adj-storage-internal.h"

#define ALIGNMENT 64
#define HUGE_PAGE (G_GUINT64_CONSTANT (2) << 20)

/* -- making -- */

static gpointer
new_arena (guint64 n_bytes)
{
  gboolean huge = n_bytes >= HUGE_PAGE;
  gpointer arena = g_aligned_alloc (MAX (n_bytes, 1), 1, huge ? HUGE_PAGE : ALIGNMENT);

  if (huge)
    madvise (arena, n_bytes, MADV_HUGEPAGE);
  return arena;
}

/* The alignment that kernels need, for loads of one element or of many. */
static guint8
get_alignment (AdjDType dtype)
{
  return (guint8) MIN (adj_dtype_info (dtype)->n_bytes, sizeof (gdouble));
}

static void
make_storages (AdjPlanSpace *space)
{
  const AdjPlan *plan = space->plan;

  for (guint32 i = 0; i < plan->buffers->len; i++)
    {
      const PlanBuffer *buffer = plan_buffer (plan, i);

      if (space->gpu != NULL)
        space->bytes[i] = plan_gpu_place (space->gpu, i);
      else if (buffer->memory == PLAN_MEMORY_ARENA && buffer->first != PLAN_NONE)
        space->bytes[i] = (char *) space->arena + buffer->offset;
      else if (buffer->memory == PLAN_MEMORY_CONSTANT &&
               adj_tensor_data_get_late (buffer->constant) == NULL)
        space->bytes[i] =
            (gpointer) g_bytes_get_data (adj_tensor_data_get_bytes (buffer->constant), NULL);
      space->storages[i] = adj_storage_new_lent (space->bytes[i], buffer->n_bytes, ADJ_CPU);
    }
  for (guint32 i = 0; i < plan->values->len; i++)
    {
      const PlanValue *value = plan_value (plan, i);

      space->tensors[i] = adj_tensor_new (&value->meta, space->storages[value->buffer]);
      space->alignment[value->buffer] =
          MAX (space->alignment[value->buffer], get_alignment (value->meta.dtype));
    }
}

/* Lists buffers that must be bound in each run: all but those that the plan makes in the arena. */
static void
list_bound (AdjPlanSpace *space)
{
  const AdjPlan *plan = space->plan;

  space->bound = g_new (guint32, plan->buffers->len + 1);
  for (guint32 i = 0; i < plan->buffers->len; i++)
    {
      const PlanBuffer *buffer = plan_buffer (plan, i);

      if (buffer->memory != PLAN_MEMORY_ARENA || buffer->input != PLAN_NONE ||
          buffer->constant != NULL || buffer->replaces != PLAN_NONE)
        space->bound[space->n_bound++] = i;
    }
}

/* A value with its nodes replaced by tensors, borrowed from the space. */
static AdjValue
lend_tensors (AdjPlanSpace *space, const AdjValue *value)
{
  AdjValue out = *value;

  if (value->kind == ADJ_VALUE_NODE)
    return ADJ_TENSOR (space->tensors[value->node.index]);
  if (!adj_value_is_container (value))
    return out;
  out.items = g_new (AdjValue, MAX (value->n, 1));
  for (guint i = 0; i < value->n; i++)
    out.items[i] = lend_tensors (space, &value->items[i]);
  return out;
}

static void
free_items (AdjValue *value)
{
  if (!adj_value_is_container (value))
    return;
  for (guint i = 0; i < value->n; i++)
    free_items (&value->items[i]);
  g_free (value->items);
}

static AdjPlace
place_of (const AdjPlan *plan, guint32 node)
{
  const AdjNode *of = adj_graph_get_node (plan->graph, node);
  const AdjFrame *frame = of->meta.n_frames > 0 ? &of->meta.frames[of->meta.n_frames - 1] : NULL;

  return (AdjPlace){ .file = frame != NULL ? frame->file : NULL,
                     .line = frame != NULL ? frame->line : 0,
                     .node = of->name,
                     .stack_trace = of->meta.stack_trace,
                     .graph = plan->graph,
                     .id = { node } };
}

static void
make_call (AdjPlanSpace *space, guint32 index)
{
  const PlanCall *call = plan_call (space->plan, index);
  AdjOpCall *made = &space->calls[index];

  space->places[index] = place_of (space->plan, call->node);
  if (call->op == NULL)
    return;
  space->args[index] = lend_tensors (space, &call->args);
  *made = (AdjOpCall){ .cx = space->cx,
                       .op = call->op,
                       .schema = adj_op_get_schema (call->op),
                       .args = space->args[index].items,
                       .n_results = call->n_results,
                       .results = g_new0 (AdjOpResult, call->n_results + 1),
                       .returns_list = call->returns_list };
  for (guint i = 0; i < call->n_results; i++)
    {
      AdjOpResult *result = &made->results[i];

      result->alias_of = -1;
      result->is_none = call->results[i].value == PLAN_NONE;
      result->plain = call->results[i].plain;
      if (result->is_none)
        continue;
      result->tensor = adj_tensor_ref (space->tensors[call->results[i].value]);
      result->meta = *adj_tensor_get_meta (result->tensor);
    }
}

/* @gpu: (transfer full) (nullable) */
static AdjPlanSpace *
new_space (AdjPlan *plan, PlanGpu *gpu)
{
  AdjPlanSpace *space = g_new0 (AdjPlanSpace, 1);

  space->plan = adj_plan_ref (plan);
  space->cx = adj_context_new ();
  space->gpu = gpu;
  space->arena = gpu == NULL ? new_arena (plan->arena_bytes) : NULL;
  space->bytes = g_new0 (gpointer, plan->buffers->len + 1);
  space->made = g_new0 (gpointer, plan->buffers->len + 1);
  space->alignment = g_new0 (guint8, plan->buffers->len + 1);
  space->from = g_new0 (AdjTensorData *, plan->buffers->len + 1);
  space->late = plan_late_inputs_new ();
  space->spares = plan_spares_new (plan->buffers->len);
  space->storages = g_new0 (AdjStorage *, plan->buffers->len + 1);
  space->tensors = g_new0 (AdjTensor *, plan->values->len + 1);
  space->calls = g_new0 (AdjOpCall, plan->calls->len + 1);
  space->places = g_new0 (AdjPlace, plan->calls->len + 1);
  space->args = g_new0 (AdjValue, plan->calls->len + 1);
  space->dynamic = g_new0 (AdjValue, plan->nodes->len + 1);
  for (guint32 i = 0; i < plan->nodes->len; i++)
    space->has_dynamic |= plan_node (plan, i)->kind == PLAN_NODE_DYNAMIC;
  make_storages (space);
  list_bound (space);
  for (guint32 i = 0; i < plan->calls->len; i++)
    make_call (space, i);
  return space;
}

AdjPlanSpace *
adj_plan_space_new (AdjPlan *plan)
{
  g_return_val_if_fail (plan != NULL && plan->whole == NULL, NULL);

  return new_space (plan, NULL);
}

AdjPlanSpace *
adj_plan_space_new_on (AdjPlan *plan, AdjGpu *gpu, GError **error)
{
  PlanGpu *there;
  AdjPlanSpace *space;

  g_return_val_if_fail (plan != NULL && plan->whole == NULL && gpu != NULL, NULL);

  there = plan_gpu_new (plan, gpu, error);
  if (there == NULL)
    return NULL;
  space = new_space (plan, there);
  if (plan_gpu_probe (space, error))
    {
      plan_space_renew_context (space);
      return space;
    }
  adj_plan_space_free (space);
  return NULL;
}

void
adj_plan_space_free (AdjPlanSpace *space)
{
  if (space == NULL)
    return;

  plan_space_unbind (space);
  for (guint32 i = 0; i < space->plan->calls->len; i++)
    {
      adj_op_call_clear (&space->calls[i]);
      free_items (&space->args[i]);
    }
  for (guint32 i = 0; i < space->plan->values->len; i++)
    adj_tensor_unref (space->tensors[i]);
  for (guint32 i = 0; i < space->plan->buffers->len; i++)
    adj_storage_unref (space->storages[i]);
  g_free (space->bytes);
  g_free (space->made);
  g_free (space->alignment);
  g_free (space->from);
  plan_late_inputs_free (space->late);
  plan_spares_unref (space->spares);
  g_free (space->storages);
  g_free (space->tensors);
  g_free (space->calls);
  g_free (space->places);
  g_free (space->bound);
  g_free (space->args);
  g_free (space->dynamic);
  g_aligned_free (space->arena);
  plan_gpu_free (space->gpu, space->plan);
  adj_context_free (space->cx);
  adj_plan_unref (space->plan);
  g_free (space);
}

AdjContext *
adj_plan_space_get_context (AdjPlanSpace *space)
{
  g_return_val_if_fail (space != NULL, NULL);

  return space->cx;
}

void
plan_space_renew_context (AdjPlanSpace *space)
{
  adj_context_free (space->cx);
  space->cx = adj_context_new ();
  for (guint32 i = 0; i < space->plan->calls->len; i++)
    space->calls[i].cx = space->cx;
}

/* -- binding -- */

typedef struct
{
  const AdjPlanSpace *space;
  AdjTensorData **given; /* of each input leaf that is a tensor */
  guint next;
} Binding;

static gboolean
same_tensor (const AdjTensorMeta *a, const AdjTensorMeta *b)
{
  const AdjShape *x = &a->shape, *y = &b->shape;

  return a->dtype == b->dtype && x->rank == y->rank && adj_size_same (x->offset, y->offset) &&
         memcmp (x->size, y->size, x->rank * sizeof x->size[0]) == 0 &&
         memcmp (x->stride, y->stride, x->rank * sizeof x->stride[0]) == 0;
}

static gboolean
take_leaf (const AdjValue *leaf, gpointer data)
{
  Binding *binding = data;
  const AdjPlan *plan = binding->space->plan;
  const PlanInput *wanted;

  if (binding->next >= plan->inputs->len)
    return FALSE;
  wanted = plan_input (plan, binding->next);
  if (wanted->value == PLAN_NONE
          ? !adj_value_equal (leaf, &wanted->plain)
          : leaf->kind != ADJ_VALUE_DATA || !same_tensor (adj_tensor_data_get_meta (leaf->data),
                                                          &plan_value (plan, wanted->value)->meta))
    return FALSE;
  binding->given[binding->next++] = leaf->kind == ADJ_VALUE_DATA ? leaf->data : NULL;
  return TRUE;
}

/* Whether inputs share memory as they did when the plan was made. */
static gboolean
share_alike (const Binding *binding)
{
  const AdjPlan *plan = binding->space->plan;

  for (guint i = 0; i < plan->inputs->len; i++)
    {
      const PlanInput *input = plan_input (plan, i);
      const PlanBuffer *buffer;

      if (input->value == PLAN_NONE)
        continue;
      buffer = plan_buffer (plan, plan_value (plan, input->value)->buffer);
      if (adj_tensor_data_get_n_bytes (binding->given[i]) < buffer->n_bytes ||
          adj_tensor_data_get_storage (binding->given[i]) !=
              adj_tensor_data_get_storage (binding->given[buffer->input]))
        return FALSE;
    }
  return TRUE;
}

void
plan_space_bind_buffer (AdjPlanSpace *space, guint32 index, gconstpointer from)
{
  const PlanBuffer *buffer = plan_buffer (space->plan, index);

  if (buffer->memory == PLAN_MEMORY_ARENA && buffer->first != PLAN_NONE)
    space->bytes[index] = (char *) space->arena + buffer->offset;
  else if (buffer->memory == PLAN_MEMORY_OUTPUT ||
           (buffer->memory == PLAN_MEMORY_INPUT &&
            (guintptr) from % MAX (space->alignment[index], 1) != 0))
    space->bytes[index] = space->made[index] =
        plan_spares_take (space->spares, index, buffer->n_bytes);
  else if (buffer->memory == PLAN_MEMORY_INPUT)
    space->bytes[index] = (gpointer) from;
  if (from != NULL && space->bytes[index] != NULL && space->bytes[index] != from)
    memcpy (space->bytes[index], from, buffer->n_bytes);
  adj_storage_lend (space->storages[index], space->bytes[index]);
}

/* Binds a buffer that begins as @from, now or when a region uses it. */
static gboolean
bind_content (AdjPlanSpace *space, guint32 index, AdjTensorData *from)
{
  PlanMemory memory = plan_buffer (space->plan, index)->memory;
  g_autoptr (GBytes) bytes = NULL;
  GError *error = NULL;

  if (space->gpu != NULL)
    return plan_gpu_fill (space, index, from);
  if (adj_tensor_data_get_late (from) != NULL &&
      (memory == PLAN_MEMORY_INPUT || memory == PLAN_MEMORY_CONSTANT))
    {
      plan_late_inputs_add (space->late, index, from);
      return TRUE;
    }
  bytes = adj_tensor_data_read_bytes (from, &error);
  if (error != NULL)
    {
      adj_context_fail (space->cx, error->domain, error->code, "%s", error->message);
      g_error_free (error);
      return FALSE;
    }
  plan_space_bind_buffer (space, index, g_bytes_get_data (bytes, NULL));
  return TRUE;
}

/* Lists the tensors among @inputs; %FALSE: the plan does not hold for them. */
static gboolean
take_inputs (const AdjPlanSpace *space,
             const AdjValue *inputs,
             guint n_inputs,
             AdjTensorData **given)
{
  const AdjValue all = { .kind = ADJ_VALUE_TUPLE, .n = n_inputs, .items = (AdjValue *) inputs };
  Binding binding = { space, given, 0 };

  return n_inputs == adj_graph_get_n_inputs (space->plan->graph) &&
         adj_value_foreach (&all, take_leaf, &binding) &&
         binding.next == space->plan->inputs->len && share_alike (&binding);
}

gboolean
plan_space_accepts (const AdjPlanSpace *space, const AdjValue *inputs, guint n_inputs)
{
  g_autofree AdjTensorData **given = g_new0 (AdjTensorData *, space->plan->inputs->len + 1);

  return take_inputs (space, inputs, n_inputs, given);
}

gboolean
plan_space_bind (AdjPlanSpace *space, const AdjValue *inputs, guint n_inputs)
{
  const AdjPlan *plan = space->plan;
  g_autofree AdjTensorData **given = g_new0 (AdjTensorData *, plan->inputs->len + 1);

  if (!take_inputs (space, inputs, n_inputs, given))
    {
      adj_context_fail (space->cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "the inputs are others than those that the plan was made for");
      return FALSE;
    }
  if (space->gpu != NULL && !plan_gpu_begin (space))
    return FALSE;
  for (guint k = 0; k < space->n_bound; k++)
    {
      guint32 i = space->bound[k];
      const PlanBuffer *buffer = plan_buffer (plan, i);
      AdjTensorData *from = buffer->input != PLAN_NONE ? given[buffer->input] : buffer->constant;

      space->from[i] = from;
      if (from == NULL && space->gpu == NULL)
        plan_space_bind_buffer (space, i, NULL);
      else if (from != NULL && !bind_content (space, i, from))
        return FALSE;
    }
  plan_late_inputs_begin (space->late, plan);
  return TRUE;
}

void
plan_space_unbind (AdjPlanSpace *space)
{
  space->spared = plan_late_inputs_get_spared (space->late);
  plan_late_inputs_clear (space->late);
  for (guint k = 0; k < space->n_bound; k++)
    {
      guint32 i = space->bound[k];

      if (space->made[i] == NULL)
        continue;
      plan_spares_put (space->spares, i, space->made[i]);
      space->made[i] = NULL;
    }
  for (guint32 i = 0; space->has_dynamic && i < space->plan->nodes->len; i++)
    adj_value_clear (&space->dynamic[i]);
}

/* -- values -- */

static gboolean
lend_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  AdjPlanSpace *space = data;

  if (leaf->kind == ADJ_VALUE_NODE)
    *out = ADJ_TENSOR (adj_tensor_ref (space->tensors[leaf->node.index]));
  else
    *out = adj_value_copy (leaf);
  return TRUE;
}

AdjValue
plan_space_get_node (AdjPlanSpace *space, guint32 node)
{
  const PlanNode *known = plan_node (space->plan, node);
  AdjValue out = ADJ_NONE;

  if (known->kind == PLAN_NODE_DYNAMIC)
    return adj_value_copy (&space->dynamic[node]);
  adj_value_map (&known->value, lend_leaf, space, &out);
  return out;
}

typedef struct
{
  AdjPlanSpace *space;
  gboolean give;
  GBytes **given; /* per buffer: its memory, passed on to the result */
} Export;

static GBytes *
give_bytes (Export *export, guint32 index)
{
  AdjPlanSpace *space = export->space;
  const PlanBuffer *buffer = plan_buffer (space->plan, index);

  if (export->given[index] == NULL)
    {
      export->given[index] =
          plan_spares_give (space->spares, index, space->made[index], buffer->n_bytes);
      space->made[index] = NULL;
    }
  return g_bytes_ref (export->given[index]);
}

/* Downloads a buffer once, for all results that are in it. */
static GBytes *
fetch_bytes (Export *export, guint32 index)
{
  if (export->given[index] == NULL)
    export->given[index] = plan_gpu_fetch (export->space, index);
  return g_bytes_ref (export->given[index]);
}

/* Whether the buffer does not change in a run. */
static gboolean
stays (const AdjPlanSpace *space, guint32 index)
{
  PlanMemory memory = plan_buffer (space->plan, index)->memory;

  return memory == PLAN_MEMORY_INPUT || memory == PLAN_MEMORY_CONSTANT;
}

static gboolean
export_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  Export *export = data;
  AdjPlanSpace *space = export->space;
  const PlanValue *value;
  g_autoptr (GBytes) bytes = NULL;

  if (leaf->kind == ADJ_VALUE_TENSOR)
    {
      *out = ADJ_DATA (adj_tensor_snapshot (leaf->tensor));
      return TRUE;
    }
  if (leaf->kind != ADJ_VALUE_NODE)
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  value = plan_value (space->plan, leaf->node.index);
  if (space->gpu != NULL)
    bytes = fetch_bytes (export, value->buffer);
  else if (export->give && plan_buffer (space->plan, value->buffer)->memory == PLAN_MEMORY_OUTPUT)
    bytes = give_bytes (export, value->buffer);
  else if (stays (space, value->buffer))
    {
      *out = ADJ_DATA (adj_tensor_data_new_view (&value->meta, space->from[value->buffer], NULL));
      return TRUE;
    }
  else
    bytes = g_bytes_new (space->bytes[value->buffer],
                         plan_buffer (space->plan, value->buffer)->n_bytes);
  *out = ADJ_DATA (adj_tensor_data_new (&value->meta, bytes, NULL));
  return TRUE;
}

static gboolean
export_node (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  *out = leaf->kind == ADJ_VALUE_NODE ? plan_space_export (data, leaf->node.index, FALSE)
                                      : adj_value_copy (leaf);
  return TRUE;
}

AdjValue
plan_space_export (AdjPlanSpace *space, guint32 node, gboolean give)
{
  const PlanNode *known = plan_node (space->plan, node);
  const AdjNode *of = adj_graph_get_node (space->plan->graph, node);
  g_autofree GBytes **given = g_new0 (GBytes *, space->plan->buffers->len + 1);
  Export export = { space, give, given };
  AdjValue out = ADJ_NONE;

  if (known->kind == PLAN_NODE_KNOWN)
    adj_value_map (&known->value, export_leaf, &export, &out);
  else if (of->opcode == ADJ_OPCODE_OUTPUT)
    adj_value_map (&of->args.items[0], export_node, space, &out);
  else
    adj_value_map (&space->dynamic[node], export_leaf, &export, &out);
  for (guint32 i = 0; i < space->plan->buffers->len; i++)
    g_clear_pointer (&given[i], g_bytes_unref);
  return out;
}

void
plan_space_enter (AdjPlanSpace *space, guint32 node)
{
  const AdjPlace place = place_of (space->plan, node);

  adj_context_set_place (space->cx, &place);
}

void
plan_space_enter_call (AdjPlanSpace *space, guint32 call)
{
  adj_context_set_place (space->cx, &space->places[call]);
}
