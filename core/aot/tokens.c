/* SPDX-License-Identifier: MIT */
/* Effect tokens (aot/SPEC.md §6): the side effects of operators are ordered by a value passed from
 * one to the next.  There is one kind of effect, with a chain of tokens for the forward and one for
 * the backward. */

#include "aot/tokens-private.h"

#include "call/adj-context-internal.h"
#include "call/adj-effect-call.h"
#include "call/adj-higher-order.h"
#include "call/adj-mode.h"
#include "call/adj-object-call-internal.h"
#include "call/adj-op.h"

#define IN_BODY "has an effect, which cannot be ordered where a higher-order operator calls it"

/* -- the mode -- */

typedef struct
{
  AdjMode parent;
  AdjTensor *tokens[2]; /* (owned) (nullable): the latest of the forward, of the backward */
  gboolean used[2];
  guint running;
  gboolean in_body; /* the body of a higher-order operator is running */
} EffectsMode;

/* Whether PyTorch orders the effect of the call by a token. */
static gboolean
has_effect (const AdjOpCall *call)
{
  return (call->op->flags & ADJ_OP_TOKEN) != 0;
}

static void
replace (AdjTensor **token, AdjTensor *by)
{
  adj_tensor_ref (by);
  g_clear_pointer (token, adj_tensor_unref);
  *token = by;
}

/* The latest token, made if there is none, which a call takes and replaces. */
static AdjTensor **
begin_effect (EffectsMode *effects, AdjContext *cx)
{
  AdjTensor **token = &effects->tokens[effects->running];

  effects->used[effects->running] = TRUE;
  if (*token == NULL)
    replace (token, adj_token_new (cx));
  return token;
}

static gboolean
effects_call (AdjMode *mode, AdjOpCall *call)
{
  EffectsMode *effects = (EffectsMode *) mode;
  AdjTensor **token;
  gboolean done;

  if (!has_effect (call) || call->token != NULL)
    return adj_mode_call_below (mode, call);
  if (effects->in_body)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, IN_BODY);
  token = begin_effect (effects, call->cx);
  call->token = *token;
  call->new_token = adj_token_new (call->cx);
  done = adj_mode_call_below (mode, call);
  replace (token, call->new_token);
  call->token = call->new_token = NULL;
  return done;
}

static gboolean
effects_object (AdjMode *mode, AdjObjectCall *call)
{
  EffectsMode *effects = (EffectsMode *) mode;
  AdjTensor **token;
  gboolean done;

  if (!adj_object_call_has_effect (call) || call->token != NULL)
    return adj_mode_call_object_below (mode, call);
  if (effects->in_body)
    return adj_object_call_fail (call, ADJ_ERROR_UNSUPPORTED, IN_BODY);
  token = begin_effect (effects, call->cx);
  call->token = *token;
  call->new_token = adj_token_new (call->cx);
  done = adj_mode_call_object_below (mode, call);
  replace (token, call->new_token);
  call->token = call->new_token = NULL;
  return done;
}

static gboolean
effects_effect (AdjMode *mode, AdjEffectCall *call)
{
  EffectsMode *effects = (EffectsMode *) mode;
  AdjTensor **token;
  gboolean done;

  if (call->token != NULL)
    return adj_mode_call_effect_below (mode, call);
  if (effects->in_body)
    return adj_effect_call_fail (call, ADJ_ERROR_UNSUPPORTED, IN_BODY);
  token = begin_effect (effects, call->cx);
  call->token = *token;
  call->new_token = adj_token_new (call->cx);
  done = adj_mode_call_effect_below (mode, call);
  replace (token, call->new_token);
  call->token = call->new_token = NULL;
  return done;
}

static gboolean
effects_higher (AdjMode *mode, AdjHigherCall *call)
{
  EffectsMode *effects = (EffectsMode *) mode;
  gboolean before = effects->in_body;
  gboolean done;

  effects->in_body = TRUE;
  done = adj_mode_call_higher_below (mode, call);
  effects->in_body = before;
  return done;
}

static void
effects_finalize (AdjMode *mode)
{
  EffectsMode *effects = (EffectsMode *) mode;

  for (guint i = 0; i < G_N_ELEMENTS (effects->tokens); i++)
    g_clear_pointer (&effects->tokens[i], adj_tensor_unref);
}

static const AdjModeClass effects_class = {
  .name = "effects",
  .call = effects_call,
  .higher = effects_higher,
  .object = effects_object,
  .effect = effects_effect,
  .finalize = effects_finalize,
};

AdjMode *
aot_effects_mode_new (AdjTensor *token)
{
  EffectsMode *mode = g_new0 (EffectsMode, 1);

  mode->parent.klass = &effects_class;
  mode->tokens[0] = adj_keep (token);
  return &mode->parent;
}

gboolean
aot_effects_mode_was_used (const AdjMode *mode, guint direction)
{
  return ((const EffectsMode *) mode)->used[direction];
}

void
aot_effects_begin_backward (AdjContext *cx)
{
  for (AdjMode *mode = adj_context_get_mode (cx); mode != NULL; mode = mode->below)
    if (mode->klass == &effects_class)
      ((EffectsMode *) mode)->running = 1;
}

/* -- compile time -- */

static const AdjTensorMeta token_meta = {
  .dtype = ADJ_DTYPE_F32,
  .device = { ADJ_DEVICE_CPU, -1 },
  .shape = { .rank = 1, .size = { { 0 } }, .stride = { { 1 } } },
  .has_strides = TRUE,
  .storage = -1,
};
const AdjValue aot_token_example = { .kind = ADJ_VALUE_META, .meta = &token_meta };

typedef struct
{
  AotStage parent;
  guint n_tokens;          /* of the forward graph: 0 or 1 */
  guint n_backward_tokens; /* of the backward in the trace: 0 or 1 */
  gboolean is_joint;
  gboolean backward_was_used; /* the backward of the last trace had effects */
} Tokens;

/* @list with @token added before or after its items; @list is consumed. */
static AdjValue
put (AdjValue *list, AdjTensor *token, gboolean first)
{
  g_autofree AdjValue *items = g_new0 (AdjValue, list->n + 1);
  AdjValue all;

  for (guint i = 0; i < list->n; i++)
    items[i + first] = adj_value_copy (&list->items[i]);
  items[first ? 0 : list->n] = ADJ_TENSOR (adj_tensor_ref (token));
  all = adj_value_new_items (list->kind, items, list->n + 1);
  adj_value_clear (list);
  return all;
}

static void
give_tokens (const Tokens *stage, const EffectsMode *mode, AdjValue *result)
{
  AdjValue *outs = stage->is_joint ? &result->items[0] : result;

  if (stage->n_tokens > 0)
    *outs = put (outs, mode->tokens[0], TRUE);
  if (stage->n_backward_tokens > 0)
    result->items[1] = put (&result->items[1], mode->tokens[1], FALSE);
}

/* A joint call has a TUPLE of token and primals, a TUPLE of tangents, and the token of the
 * backward. */
static gboolean
call_threaded (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  Tokens *stage = AOT_STAGE (Tokens, function);
  guint n = stage->n_tokens;
  const AdjValue *first = stage->is_joint ? args[0].items : args;
  EffectsMode *mode = (EffectsMode *) aot_effects_mode_new (n > 0 ? first[0].tensor : NULL);
  g_autofree AdjValue *inner = g_memdup2 (args, n_args * sizeof *args);
  guint n_inner = n_args;
  gboolean done;

  if (stage->n_backward_tokens > 0)
    mode->tokens[1] = adj_keep (args[--n_inner].tensor);
  if (stage->is_joint)
    {
      inner[0].items += n;
      inner[0].n -= n;
    }
  adj_context_push_mode (cx, &mode->parent);
  done = adj_function_call (AOT_INNER (function), cx, stage->is_joint ? inner : inner + n,
                            stage->is_joint ? n_inner : n_inner - n, result);
  stage->backward_was_used |= mode->used[1];
  if (done)
    give_tokens (stage, mode, result);
  adj_context_pop_mode (cx);
  return done;
}

static const AdjFunctionClass threaded_class = {
  .name = "with effect tokens",
  .call = call_threaded,
  .finalize = aot_function_finalize,
};

/* -- run time: no token is needed, and none is given -- */

/* Removes the first @n items of @list. */
static void
drop_first (AdjValue *list, guint n)
{
  AdjValue rest;

  for (guint i = 0; i < n; i++)
    adj_value_clear (&list->items[i]);
  rest = adj_value_new_items (list->kind, list->items + n, list->n - n);
  list->n = 0;
  adj_value_clear (list);
  *list = rest;
}

static gboolean
call_without_tokens (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Tokens *stage = AOT_STAGE (Tokens, function);
  g_autofree AdjValue *all = g_new0 (AdjValue, stage->n_tokens + n_args + 1);

  for (guint i = 0; i < n_args; i++)
    all[stage->n_tokens + i] = args[i];
  if (!adj_function_call (AOT_INNER (function), cx, all, stage->n_tokens + n_args, result))
    return FALSE;
  if (result->n < stage->n_tokens)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_VERIFY, "the compiled graph gave no effect token");
      return FALSE;
    }
  drop_first (result, stage->n_tokens);
  return TRUE;
}

static const AdjFunctionClass tokenless_class = {
  .name = "without effect tokens",
  .call = call_without_tokens,
  .finalize = aot_function_finalize,
};

static AdjFunction *
tokens_wrap (AotStage *stage, AdjFunction *inner)
{
  return aot_function_new (&tokenless_class, inner, stage);
}

static const AotStageClass tokens_class = { .name = "tokens", .wrap = tokens_wrap };
/* For a forward without effects. */
static const AotStageClass no_tokens_class = { .name = "tokens" };

gboolean
aot_thread_tokens (AotProgram *program, GError **error)
{
  guint n = program->metadata->n_tokens;
  Tokens *stage;

  if (n == 0 && !program->metadata->is_train)
    return TRUE;
  stage = aot_stage_new (n > 0 ? &tokens_class : &no_tokens_class, sizeof *stage);
  stage->n_tokens = n;
  stage->is_joint = program->metadata->is_train;
  aot_program_set_function (program, aot_function_new (&threaded_class, program->function, stage));
  if (n > 0)
    g_string_append (program->note, "an effect token is the first input and the first output");
  aot_program_push (program, &stage->parent);
  return TRUE;
}

gboolean
aot_tokens_need_retrace (AotProgram *program)
{
  for (guint i = 0; i < program->stages->len; i++)
    {
      Tokens *stage = g_ptr_array_index (program->stages, i);
      const AotStageClass *klass = stage->parent.klass;

      if ((klass != &tokens_class && klass != &no_tokens_class) || !stage->backward_was_used ||
          stage->n_backward_tokens > 0)
        continue;
      stage->n_backward_tokens = program->metadata->n_backward_tokens = 1;
      g_string_append (program->note, "effects in the backward have a token of their own; ");
      return TRUE;
    }
  return FALSE;
}

/* -- backward -- */

typedef struct
{
  AotFunction parent;
  guint n_tokens;
} TokenlessBackward;

static gboolean
backward_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  guint n = ((TokenlessBackward *) function)->n_tokens;
  g_autofree AdjValue *all = g_new0 (AdjValue, n_args + n + 1);

  for (guint i = 0; i < n_args; i++)
    all[i] = args[i];
  return adj_function_call (AOT_INNER (function), cx, all, n_args + n, result);
}

static const AdjFunctionClass backward_class = {
  .name = "backward without effect tokens",
  .call = backward_call,
  .finalize = aot_function_finalize,
};

AdjFunction *
aot_tokens_wrap_backward (AdjFunction *backward, guint n_tokens)
{
  TokenlessBackward *function =
      (TokenlessBackward *) adj_function_new (&backward_class, sizeof *function);

  function->parent.inner = adj_function_ref (backward);
  function->n_tokens = n_tokens;
  return &function->parent.parent_instance;
}
