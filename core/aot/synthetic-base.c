/* SPDX-License-Identifier: MIT */
#include "aot/aot-private.h"
#include "aot/epilogue-private.h"
#include "ops/adj-ops.h"
#include "rules/adj-apply.h"
#include "rules/adj-rule.h"

/* Stage 7: inputs that share storage, one of which is written, become one input, the tensor that
 * they are views of (§1.5); the function makes them again of it, so that a write to one is seen
 * through the others. */

#define NOT_MERGED G_MAXUINT

/* Where an outer input went. */
typedef struct
{
  guint base;             /* inner input that it is a view of; NOT_MERGED */
  guint inner;            /* else its inner input */
  gboolean is_base;       /* it is that tensor itself */
  AdjShape shape;         /* of a merged one, over the program's symbols; offset from its base */
  gint returned;          /* its geometry was changed: position among the extra outputs; -1 */
  gboolean turns_no_grad; /* always while grad mode was off */
} Member;

typedef struct
{
  AotStage parent;
  AdjSymbols *symbols;
  guint n; /* outer inputs */
  Member *members;
  guint n_bases; /* inner inputs that are bases; they come first */
  guint n_inner;
  guint n_outputs;  /* of the function */
  guint n_returned; /* and extra ones */
  gint *own;        /* by output: the merged input that it is; -1 */
} Merge;

static void
merge_finalize (AotStage *stage)
{
  Merge *merge = (Merge *) stage;

  g_free (merge->members);
  g_free (merge->own);
  adj_symbols_unref (merge->symbols);
}

/* -- compile time: members are made of their bases -- */

static AdjShape
import_shape (const Merge *merge, AdjSymbols *symbols, const AdjShape *shape)
{
  AdjShape copy = *shape;

  copy.offset = adj_symbols_import (symbols, merge->symbols, shape->offset);
  for (guint i = 0; i < shape->rank; i++)
    {
      copy.size[i] = adj_symbols_import (symbols, merge->symbols, shape->size[i]);
      copy.stride[i] = adj_symbols_import (symbols, merge->symbols, shape->stride[i]);
    }
  return copy;
}

/* A base that was copied begins at 0, another one where it began. */
static AdjTensor *
make_member (AdjContext *cx, const Merge *merge, const Member *member, AdjTensor *base)
{
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  AdjShape shape = import_shape (merge, symbols, &member->shape);
  AdjSize offset = adj_size_add (symbols, shape.offset, adj_tensor_get_meta (base)->shape.offset);
  g_autoptr (AdjArena) arena = adj_arena_new ();

  return ADJ_APPLY (
      cx, ADJ_OP_as_strided, ADJ_TENSOR (base), adj_rule_list_sizes (arena, shape.size, shape.rank),
      adj_rule_list_sizes (arena, shape.stride, shape.rank), adj_value_from_size (offset));
}

/* The members whose geometry was changed are returned too. */
static void
add_returned (const Merge *merge, const AdjValue *all, AdjValue *result)
{
  guint n = result->n;
  g_autofree AdjValue *items = g_new0 (AdjValue, n + merge->n_returned + 1);

  for (guint i = 0; i < n; i++)
    items[i] = adj_value_copy (&result->items[i]);
  for (guint i = 0; i < merge->n; i++)
    if (merge->members[i].returned >= 0)
      items[n + (guint) merge->members[i].returned] = adj_value_copy (&all[i]);
  adj_value_clear (result);
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, items, n + merge->n_returned);
}

static gboolean
unpacking_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Merge *merge = AOT_STAGE (Merge, function);
  g_autofree AdjValue *all = g_new0 (AdjValue, merge->n + 1);

  for (guint i = 0; i < merge->n; i++)
    {
      const Member *member = &merge->members[i];

      all[i] = args[member->base == NOT_MERGED ? member->inner : member->base];
      /* The base keeps its geometry: who changes it gets a view. */
      if (member->base == NOT_MERGED || (member->is_base && member->returned < 0))
        continue;
      all[i].tensor = make_member (cx, merge, member, all[i].tensor);
      if (all[i].tensor == NULL)
        return FALSE;
    }
  if (!adj_function_call (AOT_INNER (function), cx, all, merge->n, result))
    return FALSE;
  add_returned (merge, all, result);
  return TRUE;
}

static const AdjFunctionClass unpacking_class = {
  .name = "from bases",
  .call = unpacking_call,
  .finalize = aot_function_finalize,
};

/* -- run time -- */

/* What a merged input is a view of now: borrowed from the scope. */
static AdjTensor *
find_live_base (AdjContext *cx, const Merge *merge, guint base, const AdjValue *args)
{
  AdjTensor *member = NULL;
  AdjTensorMeta meta;
  gint64 numel;

  for (guint i = 0; i < merge->n; i++)
    if (merge->members[i].base == base)
      {
        AdjTensor *known = adj_tensor_get_base (args[i].tensor);

        if (known != NULL)
          return known;
        if (merge->members[i].is_base)
          return args[i].tensor;
        member = args[i].tensor;
      }
  meta = *adj_tensor_get_meta (member);
  numel = (gint64) (adj_storage_get_n_bytes (adj_tensor_get_storage (member)) /
                    MAX (adj_dtype_info (meta.dtype)->n_bytes, 1));
  adj_shape_init_ints (&meta.shape, 1, &numel);
  return adj_scope_add (cx, adj_tensor_new (&meta, adj_tensor_get_storage (member)));
}

/* Takes the extra outputs off; an output that is a merged input is the caller's tensor. */
static gboolean
take_outputs (AdjContext *cx,
              const Merge *merge,
              const AdjValue *args,
              const AdjValue *outs,
              AdjValue *result)
{
  g_autofree AdjValue *items = g_new0 (AdjValue, merge->n_outputs + 1);

  for (guint i = 0; i < merge->n_outputs; i++)
    items[i] = adj_value_copy (merge->own[i] >= 0 ? &args[merge->own[i]] : &outs->items[i]);
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, items, merge->n_outputs);
  for (guint i = 0; i < merge->n; i++)
    {
      gint k = merge->members[i].returned;

      if (k >= 0 &&
          !aot_set_geometry (cx, args[i].tensor, outs->items[merge->n_outputs + (guint) k].tensor,
                             merge->members[i].turns_no_grad))
        return FALSE;
    }
  return TRUE;
}

static gboolean
merging_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Merge *merge = AOT_STAGE (Merge, function);
  g_autofree AdjValue *inner = g_new0 (AdjValue, merge->n_inner + 1);
  g_auto (AdjValue) outs = ADJ_NONE;

  for (guint i = 0; i < merge->n_bases; i++)
    inner[i] = ADJ_TENSOR (find_live_base (cx, merge, i, args));
  for (guint i = 0; i < merge->n; i++)
    if (merge->members[i].base == NOT_MERGED)
      inner[merge->members[i].inner] = args[i];
  return adj_function_call (AOT_INNER (function), cx, inner, merge->n_inner, &outs) &&
         take_outputs (cx, merge, args, &outs, result);
}

static const AdjFunctionClass merging_class = {
  .name = "with bases",
  .call = merging_call,
  .finalize = aot_function_finalize,
};

static AdjFunction *
merge_wrap (AotStage *stage, AdjFunction *inner)
{
  return aot_function_new (&merging_class, inner, stage);
}

static const AotStageClass merge_class = {
  .name = "synthetic base",
  .wrap = merge_wrap,
  .finalize = merge_finalize,
};

/* -- which inputs -- */

/* By input: the next one of the same storage; their number where there is none. (transfer full) */
static guint *
chain_storages (const AotProgram *program)
{
  guint n = program->arguments->len;
  g_autoptr (GHashTable) following = g_hash_table_new (NULL, NULL);
  guint *next = g_new (guint, n + 1);

  for (guint i = n; i-- > 0;)
    {
      const AdjTensorMeta *meta = aot_argument_meta (AOT_ARGUMENT (program, i));
      gpointer key = meta != NULL ? GINT_TO_POINTER (meta->storage) : NULL;
      gpointer later;

      next[i] = n;
      if (meta == NULL || meta->storage < 0)
        continue;
      if (g_hash_table_lookup_extended (following, key, NULL, &later))
        next[i] = GPOINTER_TO_UINT (later);
      g_hash_table_insert (following, key, GUINT_TO_POINTER (i));
    }
  return next;
}

/* The inputs of @first's storage that may overlap another of them; empty when nothing is merged.
 * @next: by chain_storages(). */
static GArray *
find_group (const AotProgram *program, const guint *next, guint first)
{
  GArray *group = g_array_new (FALSE, FALSE, sizeof (guint));
  guint n = program->arguments->len;
  gboolean written = FALSE;

  for (guint i = first; i < n; i = next[i])
    {
      gboolean overlaps = FALSE;

      for (guint k = first; k < n; k = next[k])
        overlaps |=
            k != i && adj_shapes_may_overlap (&aot_argument_meta (AOT_ARGUMENT (program, i))->shape,
                                              &aot_argument_meta (AOT_ARGUMENT (program, k))->shape,
                                              program->symbols);
      written |= program->metadata->inputs[i].mutates_data;
      if (overlaps)
        g_array_append_val (group, i);
    }
  if (!written || group->len < 2)
    g_array_set_size (group, 0);
  return group;
}

#define MEMBER(program, group, i) AOT_ARGUMENT ((program), g_array_index ((group), guint, (i)))

static gboolean
are_differentiable_views (const AotArgument *a, const AotArgument *b)
{
  return a->object == b->object || (a->base >= 0 && a->base == b->base) ||
         a->base == (gint) b->object || b->base == (gint) a->object;
}

static gboolean
check_group (const AotProgram *program, const GArray *group, GError **error)
{
  for (guint i = 0; i < group->len; i++)
    {
      const AotArgument *argument = MEMBER (program, group, i);
      AdjDType dtype = aot_argument_meta (MEMBER (program, group, 0))->dtype;

      if (program->options->export_joint)
        return aot_fail (error, AOT_ERROR_EXPORT_DUPLICATES, AOT_INPUT (argument->place), NULL);
      if (program->metadata->inputs[g_array_index (group, guint, i)].hooked)
        return aot_fail (error, AOT_ERROR_HOOK_ON_ALIAS, AOT_INPUT (argument->place), NULL);
      if (aot_argument_meta (argument)->dtype != dtype ||
          (argument->base >= 0 && argument->base_meta.dtype != dtype))
        return aot_fail (error, AOT_ERROR_VIEWS_DTYPE, AOT_INPUT (argument->place), NULL);
      for (guint k = 0; k < i && program->metadata->is_train; k++)
        if (!are_differentiable_views (argument, MEMBER (program, group, k)))
          return aot_fail (error, AOT_ERROR_NON_DIFFERENTIABLE_VIEWS,
                           AOT_INPUTS (MEMBER (program, group, k)->place, argument->place), NULL);
    }
  return TRUE;
}

/* -- what they become -- */

/* The tensor that the members of @group are views of. */
static void
make_base (const AotProgram *program, const GArray *group, AotArgument *base)
{
  const AotArgument *first = MEMBER (program, group, 0);
  const AotArgument *view = NULL;
  AdjTensorMeta meta;
  gint64 numel;

  for (guint i = 0; i < group->len && view == NULL; i++)
    if (MEMBER (program, group, i)->base >= 0)
      view = MEMBER (program, group, i);
  if (view != NULL)
    {
      meta = view->base_meta;
      base->object = (guint) view->base;
      base->is_leaf = view->base_is_leaf;
    }
  else
    {
      meta = *aot_argument_meta (first);
      numel = (gint64) (first->storage_bytes / MAX (adj_dtype_info (meta.dtype)->n_bytes, 1));
      adj_shape_init_ints (&meta.shape, 1, &numel);
      base->object = G_MAXUINT - g_array_index (group, guint, 0);
      base->is_leaf = TRUE;
    }
  meta.storage = aot_argument_meta (first)->storage;
  base->base = -1;
  base->place = first->place;
  base->storage_bytes = first->storage_bytes;
  base->value = adj_value_copy (&(AdjValue){ .kind = ADJ_VALUE_META, .meta = &meta });
}

/* §1.5, step 6 */
static void
merge_inputs (const AotProgram *program,
              const GArray *group,
              const AotArgument *base,
              AdjAotInput *merged)
{
  *merged = (AdjAotInput){
    .place = base->place, .is_tensor = TRUE, .is_leaf = base->is_leaf, .hidden = TRUE
  };
  merged->under_no_grad = TRUE;
  merged->storage_resize = TRUE;
  for (guint i = 0; i < group->len; i++)
    {
      const AdjAotInput *input = &program->metadata->inputs[g_array_index (group, guint, i)];

      merged->mutates_data |= input->mutates_data;
      merged->requires_grad |= input->requires_grad;
      merged->hidden &= input->hidden;
      merged->under_no_grad &= input->under_no_grad || !input->mutates_data;
      merged->storage_resize &= input->storage_resize;
    }
}

typedef struct
{
  AotProgram *program;
  Merge *merge;
  const guint *next; /* by chain_storages() */
  GArray *arguments; /* inner */
  GArray *inputs;    /* AdjAotInput, inner */
} Merging;

static void
add_base (Merging *merging, const GArray *group)
{
  AotProgram *program = merging->program;
  Merge *merge = merging->merge;
  AotArgument base = { 0 };
  AdjAotInput input;
  AdjSize offset;

  make_base (program, group, &base);
  merge_inputs (program, group, &base, &input);
  offset = aot_argument_meta (&base)->shape.offset;
  for (guint i = 0; i < group->len; i++)
    {
      guint index = g_array_index (group, guint, i);
      Member *member = &merge->members[index];

      member->base = merge->n_bases;
      member->is_base = AOT_ARGUMENT (program, index)->object == base.object;
      member->shape = aot_argument_meta (AOT_ARGUMENT (program, index))->shape;
      member->shape.offset = adj_size_sub (program->symbols, member->shape.offset, offset);
      if (program->metadata->inputs[index].mutates_metadata)
        member->returned = (gint) merge->n_returned++;
      member->turns_no_grad = program->metadata->inputs[index].turns_no_grad;
    }
  merge->n_bases++;
  g_array_append_val (merging->arguments, base);
  g_array_append_val (merging->inputs, input);
}

static void
keep_input (Merging *merging, guint index)
{
  merging->merge->members[index].inner =
      aot_arguments_add (merging->arguments, AOT_ARGUMENT (merging->program, index));
  g_array_append_val (merging->inputs, merging->program->metadata->inputs[index]);
}

/* Those that are not merged: what is no tensor first, then storage by storage. */
static void
keep_others (Merging *merging)
{
  AotProgram *program = merging->program;
  guint n = program->arguments->len;
  g_autofree gboolean *done = g_new0 (gboolean, n + 1);

  for (guint i = 0; i < n; i++)
    if (aot_argument_meta (AOT_ARGUMENT (program, i)) == NULL)
      keep_input (merging, i);
  for (guint i = 0; i < n; i++)
    for (guint k = i; k < n; k = merging->next[k])
      if (aot_argument_meta (AOT_ARGUMENT (program, k)) != NULL && !done[k])
        {
          done[k] = TRUE;
          if (merging->merge->members[k].base == NOT_MERGED)
            keep_input (merging, k);
        }
}

/* -- the metadata of the inner function -- */

static void
rebase_output (const Merging *merging, guint index, AdjAotOutput *output)
{
  Merge *merge = merging->merge;
  const Member *member;

  merge->own[index] = -1;
  if (!adj_aot_metadata_shows_input (merging->program->metadata, index))
    return;
  member = &merge->members[output->base];
  if (member->base == NOT_MERGED)
    {
      output->base = (gint) member->inner;
      return;
    }
  if (output->type == ADJ_OUTPUT_IS_INPUT)
    {
      merge->own[index] = output->base;
      output->type = ADJ_OUTPUT_ALIAS_OF_INPUT;
      g_clear_pointer (&output->recipe, adj_view_chain_unref);
    }
  output->base = (gint) member->base;
}

static void
add_returned_outputs (const Merging *merging, AdjAotMetadata *metadata)
{
  const Merge *merge = merging->merge;
  guint n = metadata->n_outputs;

  metadata->outputs = g_renew (AdjAotOutput, metadata->outputs, n + merge->n_returned + 1);
  for (guint i = 0; i < merge->n; i++)
    if (merge->members[i].returned >= 0)
      metadata->outputs[n + (guint) merge->members[i].returned] = (AdjAotOutput){
        .type = ADJ_OUTPUT_ALIAS_OF_INPUT,
        .rule = "synthetic base",
        .kind = ADJ_VALUE_TENSOR,
        .base = (gint) merge->members[i].base,
        .first = n + (guint) merge->members[i].returned,
        .requires_grad = metadata->inputs[i].requires_grad,
        .meta = *aot_argument_meta (AOT_ARGUMENT (merging->program, i)),
      };
  metadata->n_outputs = n + merge->n_returned;
}

/* Of inner input @input that is no base: what its tangent was. */
static const AdjTensorMeta *
find_tangent (const Merging *merging, const AdjAotMetadata *before, guint input)
{
  guint n = 0;

  for (guint i = 0; i < before->n_mutated_runtime; i++)
    if (adj_aot_metadata_has_tangent (before, i))
      {
        const Member *member = &merging->merge->members[before->mutated_runtime[i]];

        if (member->base == NOT_MERGED && member->inner == input)
          return &before->tangents[n];
        n++;
      }
  return NULL;
}

/* Tangents of written inputs are those of the inner ones; the others stay. */
static void
renew_tangents (const Merging *merging, const AdjAotMetadata *before, AdjAotMetadata *metadata)
{
  AdjTensorMeta *tangents = g_new0 (AdjTensorMeta, before->n_tangents + metadata->n_inputs + 1);
  guint n = 0, skip = 0;

  for (guint i = 0; i < before->n_mutated_runtime; i++)
    skip += adj_aot_metadata_has_tangent (before, i);
  for (guint i = 0; i < metadata->n_mutated_runtime; i++)
    if (adj_aot_metadata_has_tangent (metadata, i))
      {
        guint input = metadata->mutated_runtime[i];
        const AdjTensorMeta *known = find_tangent (merging, before, input);
        AdjTensorMeta meta =
            *aot_argument_meta (&g_array_index (merging->arguments, AotArgument, input));

        adj_shape_init (&meta.shape, merging->program->symbols, meta.shape.rank, meta.shape.size);
        meta.requires_grad = FALSE;
        meta.storage = -1;
        tangents[n++] = known != NULL ? *known : meta;
      }
  for (guint i = skip; i < before->n_tangents; i++)
    tangents[n++] = before->tangents[i];
  g_free (metadata->tangents);
  metadata->tangents = tangents;
  metadata->n_tangents = n;
}

static void
edit_metadata (const Merging *merging)
{
  AdjAotMetadata *metadata = adj_aot_metadata_copy (merging->program->metadata);
  const AdjAotMetadata *before = merging->program->metadata;

  for (guint i = 0; i < metadata->n_outputs; i++)
    rebase_output (merging, i, &metadata->outputs[i]);
  add_returned_outputs (merging, metadata);
  for (guint i = 0; i < metadata->n_inputs; i++)
    adj_view_chain_unref (metadata->inputs[i].turned);
  g_free (metadata->inputs);
  metadata->n_inputs = merging->inputs->len;
  metadata->inputs =
      g_memdup2 (merging->inputs->data, MAX (merging->inputs->len, 1) * sizeof (AdjAotInput));
  for (guint i = 0; i < metadata->n_inputs; i++)
    adj_view_chain_ref (metadata->inputs[i].turned);
  adj_aot_metadata_derive (metadata);
  if (metadata->is_train)
    renew_tangents (merging, before, metadata);
  adj_aot_metadata_free (merging->program->metadata);
  merging->program->metadata = metadata;
}

static void
finish (Merging *merging)
{
  AotProgram *program = merging->program;
  Merge *merge = merging->merge;

  keep_others (merging);
  merge->n_inner = merging->arguments->len;
  merge->n_outputs = program->metadata->n_outputs;
  merge->own = g_new0 (gint, merge->n_outputs + 1);
  edit_metadata (merging);
  g_string_append_printf (program->note, "%u inputs are made of %u bases",
                          merge->n - (merge->n_inner - merge->n_bases), merge->n_bases);
  g_array_unref (program->arguments);
  program->arguments = g_array_ref (merging->arguments);
  aot_program_set_function (program, aot_function_new (&unpacking_class, program->function, merge));
  aot_program_push (program, aot_stage_ref (&merge->parent));
}

/* What the caller gets as its own tensor stays what it is. */
static void
update_output (const Merge *merge, AdjAotMetadata *metadata, AdjAotMetadata *seen, guint index)
{
  AdjAotOutput before = metadata->outputs[index];

  if (index >= merge->n_outputs || merge->own[index] >= 0)
    {
      metadata->outputs[index].requires_grad = seen->outputs[index].requires_grad;
      return;
    }
  metadata->outputs[index] = seen->outputs[index];
  seen->outputs[index] = before;
}

/* Those of the inputs are there; those of outputs and intermediate bases may have become more. */
static void
update_tangents (const AotProgram *program, AdjAotMetadata *metadata, const AdjAotMetadata *seen)
{
  AdjTensorMeta *tangents = g_new0 (AdjTensorMeta, metadata->n_forward_returns + 1);
  const AdjTensorMeta *of_bases = seen->tangents + (seen->n_tangents - seen->n_bases);
  guint n_inputs = metadata->n_mutated_runtime, n = 0;

  for (guint i = 0; i < n_inputs; i++)
    if (adj_aot_metadata_has_tangent (metadata, i))
      {
        tangents[n] = metadata->tangents[n];
        n++;
      }
  for (guint i = 0; i < metadata->n_outputs; i++)
    if (adj_aot_metadata_has_tangent (metadata, n_inputs + i))
      tangents[n++] = aot_tangent_of (&metadata->outputs[i].meta, program->symbols);
  for (guint i = 0; i < metadata->n_bases; i++)
    tangents[n++] = of_bases[i];
  g_free (metadata->tangents);
  metadata->tangents = tangents;
  metadata->n_tangents = n;
}

/* A write through one input may have given another one a history, and what is made of that: what
 * the function does is seen again, with its inputs made of bases. */
static gboolean
collect_again (const Merge *merge, AotProgram *program, GError **error)
{
  AdjAotMetadata *metadata = program->metadata;
  gboolean done;

  program->metadata = NULL;
  done = aot_collect (program, error);
  for (guint i = 0; done && i < metadata->n_outputs; i++)
    update_output (merge, metadata, program->metadata, i);
  if (done && metadata->is_train)
    {
      metadata->n_bases = program->metadata->n_bases;
      adj_aot_metadata_derive (metadata);
      update_tangents (program, metadata, program->metadata);
    }
  g_clear_pointer (&program->metadata, adj_aot_metadata_free);
  program->metadata = metadata;
  return done;
}

gboolean
aot_synthetic_base (AotProgram *program, GError **error)
{
  Merge *merge = aot_stage_new (&merge_class, sizeof *merge);
  g_autoptr (GArray) arguments = aot_arguments_new ();
  g_autoptr (GArray) inputs = g_array_new (FALSE, TRUE, sizeof (AdjAotInput));
  g_autofree guint *next = chain_storages (program);
  Merging merging = { program, merge, next, arguments, inputs };
  gboolean done = TRUE;

  merge->symbols = adj_symbols_ref (program->symbols);
  merge->n = program->arguments->len;
  merge->members = g_new0 (Member, merge->n + 1);
  for (guint i = 0; i < merge->n; i++)
    merge->members[i] = (Member){ .base = NOT_MERGED, .returned = -1 };
  for (guint i = 0; i < merge->n && done; i++)
    {
      g_autoptr (GArray) group = NULL;

      if (merge->members[i].base != NOT_MERGED)
        continue;
      group = find_group (program, next, i);
      done = check_group (program, group, error);
      if (done && group->len > 0 && program->has_composites)
        done = aot_fail (error, AOT_ERROR_COMPOSITE_DUPLICATES,
                         AOT_INPUT (AOT_ARGUMENT (program, i)->place), NULL);
      if (done && group->len > 0)
        add_base (&merging, group);
    }
  if (done && merge->n_bases > 0)
    {
      finish (&merging);
      done = collect_again (merge, program, error);
    }
  aot_stage_unref (&merge->parent);
  return done;
}
