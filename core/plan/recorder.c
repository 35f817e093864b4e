/* SPDX-License-Identifier: MIT */
/* The mode that a plan is recorded by: every call that would reach a kernel is noted with its
 * arguments, results and memory; nothing is computed. */

#include <string.h>

#include "call/adj-allocate-internal.h"
#include "call/adj-constant.h"
#include "call/adj-effect-call.h"
#include "call/adj-higher-order.h"
#include "call/adj-object-call-internal.h"
#include "call/adj-op-internal.h"
#include "ir/adj-graph.h"
#include "ops/adj-ops.h"
#include "ops/adj-pointwise-internal.h"
#include "plan/plan-private.h"
#include "tensor/adj-late-bytes-internal.h"
#include "tensor/adj-shape-internal.h"

typedef struct
{
  AdjMode parent_instance;
  PlanRecorder *recorder;
} RecorderMode;

void
plan_recorder_init (PlanRecorder *self, AdjPlan *plan)
{
  self->plan = plan;
  self->of_tensor = g_hash_table_new (NULL, NULL);
  self->of_storage = g_hash_table_new (NULL, NULL);
  self->of_constant = g_hash_table_new (NULL, NULL);
  self->kept = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_unref);
  self->node = 0;
  self->turner = self->deferred = NULL;
}

void
plan_recorder_clear (PlanRecorder *self)
{
  g_hash_table_unref (self->of_tensor);
  g_hash_table_unref (self->of_storage);
  g_hash_table_unref (self->of_constant);
  g_ptr_array_unref (self->kept);
}

/* One more than the buffer of a constant with the same bytes; 0: there is none, and the next buffer
 * is that. */
static guint32
note_constant (PlanRecorder *self, const AdjTensorData *data)
{
  gpointer storage = adj_tensor_data_get_storage (data);
  guint32 found = GPOINTER_TO_UINT (g_hash_table_lookup (self->of_constant, storage));

  if (found == 0)
    g_hash_table_insert (self->of_constant, storage,
                         GUINT_TO_POINTER (self->plan->buffers->len + 1));
  return found;
}

static guint32
note_storage (PlanRecorder *self, AdjTensor *tensor)
{
  AdjStorage *storage = adj_tensor_get_storage (tensor);
  guint32 found = GPOINTER_TO_UINT (g_hash_table_lookup (self->of_storage, storage));
  PlanBuffer buffer = { .n_bytes = adj_storage_get_n_bytes (storage),
                        .input = PLAN_NONE,
                        .replaces = PLAN_NONE,
                        .node = self->node,
                        .first = PLAN_NONE,
                        .last = PLAN_NONE,
                        .taken_over = PLAN_NONE };

  if (found > 0)
    return found - 1;
  if (!adj_storage_is_fake (storage))
    {
      buffer.memory = PLAN_MEMORY_CONSTANT;
      buffer.constant = adj_tensor_snapshot (tensor);
      found = note_constant (self, buffer.constant);
    }
  if (found == 0)
    {
      g_array_append_val (self->plan->buffers, buffer);
      found = self->plan->buffers->len;
    }
  else
    adj_tensor_data_unref (buffer.constant);
  g_hash_table_insert (self->of_storage, storage, GUINT_TO_POINTER (found));
  return found - 1;
}

guint32
plan_recorder_note (PlanRecorder *self, AdjTensor *tensor)
{
  guint32 found = GPOINTER_TO_UINT (g_hash_table_lookup (self->of_tensor, tensor));
  PlanValue value;

  if (found > 0)
    return found - 1;
  value.buffer = note_storage (self, tensor);
  value.meta = *adj_tensor_get_meta (tensor);
  value.meta.storage = (gint32) value.buffer;
  g_array_append_val (self->plan->values, value);
  g_ptr_array_add (self->kept, adj_tensor_ref (tensor));
  g_hash_table_insert (self->of_tensor, tensor, GUINT_TO_POINTER (self->plan->values->len));
  return self->plan->values->len - 1;
}

static gboolean
export_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_TENSOR)
    *out = ADJ_NODE ((AdjNodeId){ plan_recorder_note (data, leaf->tensor) });
  else
    *out = adj_value_copy (leaf);
  return TRUE;
}

AdjValue
plan_recorder_export (PlanRecorder *self, const AdjValue *value)
{
  AdjValue out = ADJ_NONE;

  adj_value_map (value, export_leaf, self, &out);
  return out;
}

/* -- what a call reads and writes -- */

static void
add_once (GArray *list, guint32 value)
{
  for (guint i = 0; i < list->len; i++)
    if (g_array_index (list, guint32, i) == value)
      return;
  g_array_append_val (list, value);
}

static gboolean
add_leaf (const AdjValue *leaf, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_NODE)
    add_once (data, leaf->node.index);
  return TRUE;
}

void
plan_call_find_uses (PlanCall *call)
{
  const AdjSchema *schema = call->op != NULL ? adj_op_get_schema (call->op) : NULL;
  g_autoptr (GArray) reads = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) writes = g_array_new (FALSE, FALSE, sizeof (guint32));
  gsize n_reads, n_writes;

  for (guint i = 0; i < call->args.n; i++)
    {
      adj_value_foreach (&call->args.items[i], add_leaf, reads);
      if (schema != NULL && schema->arguments[i].type.written)
        adj_value_foreach (&call->args.items[i], add_leaf, writes);
    }
  for (guint i = 0; i < call->n_results; i++)
    if (call->results[i].value != PLAN_NONE)
      add_once (writes, call->results[i].value);
  call->reads = g_array_steal (reads, &n_reads);
  call->writes = g_array_steal (writes, &n_writes);
  call->n_reads = (guint) n_reads;
  call->n_writes = (guint) n_writes;
}

/* Whether result 0 is argument @arg. */
static gboolean
plan_call_writes_argument (const PlanCall *call, guint arg)
{
  return call->n_results > 0 && call->args.items[arg].kind == ADJ_VALUE_NODE &&
         call->args.items[arg].node.index == call->results[0].value;
}

void
plan_call_clear (PlanCall *call)
{
  adj_value_clear (&call->args);
  for (guint i = 0; i < call->n_results; i++)
    adj_value_clear (&call->results[i].plain);
  g_free (call->results);
  g_free (call->reads);
  g_free (call->writes);
  g_free (call->programs);
  g_free (call->reason);
}

void
plan_recorder_drop_calls (PlanRecorder *self, guint n)
{
  g_array_set_size (self->plan->calls, n);
}

/* -- the mode -- */

static AdjValue
export_args (PlanRecorder *self, const AdjOpCall *call)
{
  const AdjValue args = { .kind = ADJ_VALUE_TUPLE,
                          .n = call->schema->n_arguments,
                          .items = (AdjValue *) call->args };

  return plan_recorder_export (self, &args);
}

/* Programs are of calls whose operands are tensors and numbers; what cannot be compiled stays a
 * call of the kernel, which says why. */
static void
note_programs (PlanCall *noted, AdjOpCall *call)
{
  GError *error = NULL;

  if (!adj_op_call_is_pointwise (call))
    return;
  noted->compute = adj_op_call_get_compute_dtype (call);
  noted->programs = g_new0 (const AdjTileProgram *, call->n_results + 1);
  for (guint i = 0; i < call->n_results; i++)
    if ((noted->programs[i] = adj_op_call_get_program (call, i)) == NULL)
      {
        adj_context_take_error (call->cx, &error);
        g_clear_error (&error);
        g_clear_pointer (&noted->programs, g_free);
        return;
      }
}

static void
note_results (PlanRecorder *self, PlanCall *noted, const AdjOpCall *call)
{
  noted->n_results = call->n_results;
  noted->results = g_new0 (PlanResult, call->n_results + 1);
  for (guint i = 0; i < call->n_results; i++)
    {
      const AdjOpResult *result = &call->results[i];

      noted->results[i].value = PLAN_NONE;
      if (result->is_none || result->tensor == NULL)
        noted->results[i].plain = adj_value_copy (&result->plain);
      else
        noted->results[i].value = plan_recorder_note (self, result->tensor);
    }
}

static void
note_written (PlanRecorder *self, const PlanCall *noted)
{
  AdjPlan *plan = self->plan;

  for (guint i = 0; i < noted->n_writes; i++)
    {
      PlanBuffer *buffer = plan_buffer (plan, plan_value (plan, noted->writes[i])->buffer);
      gboolean is_read = noted->in_place;

      for (guint k = 0; k < noted->n_reads; k++)
        is_read = is_read || noted->reads[k] == noted->writes[i];
      if (!is_read)
        continue;
      buffer->written = TRUE;
      if (buffer->memory == PLAN_MEMORY_CONSTANT && plan->whole == NULL)
        plan->whole = g_strdup_printf (
            "'%s' writes to a constant, whose value the program may have read before",
            adj_graph_get_node (plan->graph, noted->node)->name);
    }
}

static void
note_call (PlanRecorder *self, AdjOpCall *call, gboolean in_place)
{
  PlanCall noted = { .op = call->op,
                     .node = self->node,
                     .args = export_args (self, call),
                     .returns_list = call->returns_list,
                     .in_place = in_place,
                     .in_turn = (call->op->flags & (ADJ_OP_RANDOM | ADJ_OP_EFFECT)) != 0,
                     .flops = adj_op_call_get_flops (call),
                     .copied = PLAN_NONE };
  guint arg;

  note_results (self, &noted, call);
  plan_call_find_uses (&noted);
  note_programs (&noted, call);
  if (adj_op_call_is_copy (call, &arg) && noted.args.items[arg].kind == ADJ_VALUE_NODE)
    {
      noted.copied = noted.args.items[arg].node.index;
      noted.in_place = arg != 0 && plan_call_writes_argument (&noted, 0);
    }
  note_written (self, &noted);
  g_array_append_val (self->plan->calls, noted);
}

/* -- variants of pointwise operators that write, and those over lists -- */

/* Whether @tensor is no other part of the storage of @target than @target itself. */
static gboolean
same_or_apart (AdjTensor *tensor, AdjTensor *target)
{
  const AdjShape *a = &adj_tensor_get_meta (tensor)->shape;
  const AdjShape *b = &adj_tensor_get_meta (target)->shape;

  return adj_tensor_get_storage (tensor) != adj_tensor_get_storage (target) ||
         (a->rank == b->rank && adj_size_same (a->offset, b->offset) &&
          memcmp (a->size, b->size, a->rank * sizeof a->size[0]) == 0 &&
          memcmp (a->stride, b->stride, a->rank * sizeof a->stride[0]) == 0);
}

/* Whether computing @base, which is inferred, right into @target gives what a variant gives, which
 * goes through memory of its own. */
static gboolean
can_write_directly (const AdjOpCall *base, AdjTensor *target)
{
  const AdjTensorMeta *meta = adj_tensor_get_meta (target);

  if (base->n_results != 1 || base->results[0].meta.dtype != meta->dtype ||
      !adj_shape_same_sizes (&base->results[0].meta.shape, &meta->shape, NULL) ||
      adj_shape_may_overlap (&meta->shape, NULL))
    return FALSE;
  for (guint i = 0; i < base->schema->n_arguments; i++)
    if (base->args[i].kind == ADJ_VALUE_TENSOR && !same_or_apart (base->args[i].tensor, target))
      return FALSE;
  return TRUE;
}

/* Notes a call of the pointwise operator @op, whose result is @target; %FALSE: it cannot be. */
static gboolean
note_into (PlanRecorder *self,
           AdjOpCall *call,
           const AdjOp *op,
           const AdjValue *args,
           AdjTensor *target,
           gboolean in_place)
{
  AdjOpCall base = {
    .cx = call->cx, .op = op, .schema = adj_op_get_schema (op), .args = args, .within = call
  };
  gboolean done = adj_op_call_is_pointwise (&base) && adj_op_call_infer (&base) &&
                  can_write_directly (&base, target);

  if (done && adj_shape_numel (&base.results[0].meta.shape, NULL).word > 0)
    {
      base.results[0].tensor = adj_tensor_ref (target);
      note_call (self, &base, in_place);
    }
  adj_op_call_clear (&base);
  return done;
}

/* Of an operator over lists: a call for each element. */
static gboolean
note_elements (PlanRecorder *self, AdjOpCall *call)
{
  const gint8 *from;
  const AdjOp *op = adj_op_get_element (call->op, &from);
  gboolean in_place = call->schema->n_returns == 0;
  guint n = op == NULL ? 0 : in_place ? call->args[0].n : call->n_results;
  guint n_calls = self->plan->calls->len;

  for (guint i = 0; i < n; i++)
    {
      AdjValue args[ADJ_MAX_ARGUMENTS];
      AdjTensor *target = in_place ? call->args[0].items[i].tensor : call->results[i].tensor;

      adj_op_take_element (call->op, call->args, i, args);
      if (note_into (self, call, op, args, target, in_place))
        continue;
      plan_recorder_drop_calls (self, n_calls);
      return FALSE;
    }
  return n > 0;
}

/* Of `add_` and `add.out`: the call of `add`. */
static gboolean
note_variant (PlanRecorder *self, AdjOpCall *call)
{
  const AdjOp *base = adj_op_get_base (call->op);

  return base != NULL && adj_schema_mutates (call->schema) && call->n_results == 1 &&
         call->results[0].tensor != NULL &&
         note_into (self, call, base, call->args, call->results[0].tensor, TRUE);
}

/* Storages without bytes are not checked when views are made. */
static gboolean
check_views (const AdjOpCall *call)
{
  for (guint i = 0; i < call->n_results; i++)
    {
      const AdjOpResult *result = &call->results[i];

      if (result->tensor != NULL && result->alias_of >= 0 &&
          adj_op_extent (&result->meta) >
              adj_storage_get_n_bytes (adj_tensor_get_storage (result->tensor)))
        return adj_op_call_fail (call, "the view reaches outside the storage of its tensor");
    }
  return TRUE;
}

/* `t_` and the like: from here on the tensor is another value over memory that is there. */
static gboolean
turn (PlanRecorder *self, AdjOpCall *call)
{
  AdjTensor *tensor = adj_op_call_tensor (call, 0);

  if ((call->op->flags & ADJ_OP_NO_COMPARE) != 0)
    {
      if (self->plan->whole == NULL)
        self->plan->whole =
            g_strdup_printf ("'%s' changes the memory of a tensor", call->schema->target);
      return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "changes the memory of a tensor");
    }
  if (!adj_op_call_infer (call) || !adj_op_call_allocate (call, TRUE) || !check_views (call) ||
      !call->op->kernel (call))
    return FALSE;
  adj_op_call_bump_versions (call);
  g_hash_table_remove (self->of_tensor, tensor);
  if (self->turner == NULL)
    self->turner = call->schema->target;
  return !adj_context_has_error (call->cx);
}

static gboolean
recorder_call (AdjMode *mode, AdjOpCall *call)
{
  PlanRecorder *self = ((RecorderMode *) mode)->recorder;

  if ((call->op->flags & ADJ_OP_METADATA) != 0)
    return turn (self, call);
  if (!adj_op_call_infer (call))
    return FALSE;
  for (guint i = 0; i < call->n_results; i++)
    if (call->results[i].alias_of < 0)
      call->results[i].meta.device = ADJ_CPU;
  if (!adj_op_call_allocate (call, TRUE) || !check_views (call))
    return FALSE;
  adj_op_call_bump_versions (call);
  adj_constant_propagate (call);
  if (adj_op_call_needs_kernel (call) && !note_elements (self, call) && !note_variant (self, call))
    note_call (self, call, FALSE);
  return !adj_context_has_error (call->cx);
}

/* Its functions are run as the data say, which are not there: what needs them fails. */
static gboolean
recorder_higher (AdjMode *mode, AdjHigherCall *call)
{
  return call->op->run (call);
}

/* What the object keeps, packed once, is a constant of the plan. */
static gboolean
recorder_object (AdjMode *mode, AdjObjectCall *call)
{
  if (call->method->by_operators)
    return adj_object_call_run (call, mode);
  ((RecorderMode *) mode)->recorder->deferred = "the method may read elements";
  return adj_object_call_run_fake (call, mode);
}

static gboolean
recorder_effect (AdjMode *mode, AdjEffectCall *call)
{
  if (call->op->pure)
    return adj_effect_call_run (call, mode);
  return adj_effect_call_fail (call, ADJ_ERROR_UNSUPPORTED, "has an effect");
}

/* Of a graph that the planned one calls: what it did now was to happen when the plan runs. */
static void
recorder_builtin (
    AdjMode *mode, const char *target, const AdjValue *args, guint n_args, const AdjValue *result)
{
  AdjPlan *plan = ((RecorderMode *) mode)->recorder->plan;
  const char *why = plan_find_deferred (target);

  if (why != NULL && plan->whole == NULL)
    plan->whole = g_strdup_printf ("a graph that it calls has '%s', which %s", target, why);
}

static const AdjModeClass recorder_class = {
  .name = "plan",
  .traces = TRUE,
  .call = recorder_call,
  .higher = recorder_higher,
  .object = recorder_object,
  .effect = recorder_effect,
  .builtin = recorder_builtin,
};

AdjMode *
plan_recorder_new_mode (PlanRecorder *self)
{
  RecorderMode *mode = g_new0 (RecorderMode, 1);

  mode->parent_instance.klass = &recorder_class;
  mode->recorder = self;
  return &mode->parent_instance;
}
