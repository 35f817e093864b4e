/* SPDX-License-Identifier: MIT */
/* Inputs that share storage, one of which is written, become one input, their common base
 * (aot/SPEC.md §3.2); the function recreates them as views of it, so that a write to one is seen
 * through the others. */

#include "aot/epilogue-private.h"
#include "aot/synthetic-base-private.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/adj-rule.h"
#include "tensor/adj-shape-internal.h"

static void
merge_finalize (AotStage *stage)
{
  AotMerge *merge = (AotMerge *) stage;

  g_free (merge->members);
  g_free (merge->own);
  adj_symbols_unref (merge->symbols);
}

/* -- compile time: members are made of their bases -- */

static AdjShape
import_shape (const AotMerge *merge, AdjSymbols *symbols, const AdjShape *shape)
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

/* Recreates a member as a view of @base, whose own offset is added: 0 for a copied base. */
static AdjTensor *
make_member (AdjContext *cx, const AotMerge *merge, const AotMember *member, AdjTensor *base)
{
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  AdjShape shape = import_shape (merge, symbols, &member->shape);
  AdjSize offset = adj_size_add (symbols, shape.offset, adj_tensor_get_meta (base)->shape.offset);
  g_autoptr (AdjArena) arena = adj_arena_new ();

  return ADJ_APPLY (
      cx, ADJ_OP_as_strided, ADJ_TENSOR (base), adj_rule_list_sizes (arena, shape.size, shape.rank),
      adj_rule_list_sizes (arena, shape.stride, shape.rank), adj_value_from_size (offset));
}

/* Appends the members whose geometry was changed to the results. */
static void
add_returned (const AotMerge *merge, const AdjValue *all, AdjValue *result)
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
  const AotMerge *merge = AOT_STAGE (AotMerge, function);
  g_autofree AdjValue *all = g_new0 (AdjValue, merge->n + 1);

  for (guint i = 0; i < merge->n; i++)
    {
      const AotMember *member = &merge->members[i];

      all[i] = args[member->base == AOT_NOT_MERGED ? member->inner : member->base];
      /* A base that is a member is passed as it is, unless its geometry is changed, which needs a
       * view. */
      if (member->base == AOT_NOT_MERGED || (member->is_base && member->returned < 0))
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

/* The tensor that a merged input is a view of at the time of the call. Borrowed from the scope. */
static AdjTensor *
find_live_base (AdjContext *cx, const AotMerge *merge, guint base, const AdjValue *args)
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

/* Removes the extra outputs; an output that is a merged input becomes the caller's tensor. */
static gboolean
take_outputs (AdjContext *cx,
              const AotMerge *merge,
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
  const AotMerge *merge = AOT_STAGE (AotMerge, function);
  g_autofree AdjValue *inner = g_new0 (AdjValue, merge->n_inner + 1);
  g_auto (AdjValue) outs = ADJ_NONE;

  for (guint i = 0; i < merge->n_bases; i++)
    inner[i] = ADJ_TENSOR (find_live_base (cx, merge, i, args));
  for (guint i = 0; i < merge->n; i++)
    if (merge->members[i].base == AOT_NOT_MERGED)
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

/* By input: the next input of the same storage; the number of inputs for the last one. (transfer
 * full) */
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
    written |= program->metadata->inputs[i].mutates_data;
  for (guint i = first; written && i < n; i = next[i])
    {
      const AdjShape *shape = &aot_argument_meta (AOT_ARGUMENT (program, i))->shape;
      gboolean overlaps = FALSE;

      for (guint k = first; !overlaps && k < n; k = next[k])
        overlaps = k != i && adj_shapes_may_overlap (
                                 shape, &aot_argument_meta (AOT_ARGUMENT (program, k))->shape,
                                 program->symbols);
      if (overlaps)
        g_array_append_val (group, i);
    }
  if (group->len < 2)
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

/* Describes the tensor that the members of @group are views of. */
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

/* Combines the mutation infos of @group for its base. */
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

static void
add_base (AotMerging *merging, const GArray *group)
{
  AotProgram *program = merging->program;
  AotMerge *merge = merging->merge;
  AotArgument base = { 0 };
  AdjAotInput input;
  AdjSize offset;

  make_base (program, group, &base);
  merge_inputs (program, group, &base, &input);
  offset = aot_argument_meta (&base)->shape.offset;
  for (guint i = 0; i < group->len; i++)
    {
      guint index = g_array_index (group, guint, i);
      AotMember *member = &merge->members[index];

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
keep_input (AotMerging *merging, guint index)
{
  merging->merge->members[index].inner =
      aot_arguments_add (merging->arguments, AOT_ARGUMENT (merging->program, index));
  g_array_append_val (merging->inputs, merging->program->metadata->inputs[index]);
}

/* Appends the arguments that are not merged: non-tensors first, then those of each storage. */
static void
keep_others (AotMerging *merging)
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
          if (merging->merge->members[k].base == AOT_NOT_MERGED)
            keep_input (merging, k);
        }
}

static void
finish (AotMerging *merging)
{
  AotProgram *program = merging->program;
  AotMerge *merge = merging->merge;

  keep_others (merging);
  merge->n_inner = merging->arguments->len;
  merge->n_outputs = program->metadata->n_outputs;
  merge->own = g_new0 (gint, merge->n_outputs + 1);
  aot_merging_edit_metadata (merging);
  g_string_append_printf (program->note, "%u inputs are made of %u bases",
                          merge->n - (merge->n_inner - merge->n_bases), merge->n_bases);
  g_array_unref (program->arguments);
  program->arguments = g_array_ref (merging->arguments);
  aot_program_set_function (program, aot_function_new (&unpacking_class, program->function, merge));
  aot_program_push (program, aot_stage_ref (&merge->parent));
}

gboolean
aot_synthetic_base (AotProgram *program, GError **error)
{
  AotMerge *merge = aot_stage_new (&merge_class, sizeof *merge);
  g_autoptr (GArray) arguments = aot_arguments_new ();
  g_autoptr (GArray) inputs = g_array_new (FALSE, TRUE, sizeof (AdjAotInput));
  g_autofree guint *next = chain_storages (program);
  AotMerging merging = { program, merge, next, arguments, inputs };
  gboolean done = TRUE;

  merge->symbols = adj_symbols_ref (program->symbols);
  merge->n = program->arguments->len;
  merge->members = g_new0 (AotMember, merge->n + 1);
  for (guint i = 0; i < merge->n; i++)
    merge->members[i] = (AotMember){ .base = AOT_NOT_MERGED, .returned = -1 };
  for (guint i = 0; i < merge->n && done; i++)
    {
      g_autoptr (GArray) group = NULL;

      if (merge->members[i].base != AOT_NOT_MERGED)
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
      done = aot_merge_collect_again (merge, program, error);
    }
  aot_stage_unref (&merge->parent);
  return done;
}
