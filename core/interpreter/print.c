/* SPDX-License-Identifier: MIT */
/* print (format, *args, **kwargs): prints a line of text by the context. */

#include "call/adj-context-internal.h"
#include "interpreter/effect-ops-private.h"

static gboolean
print_run (AdjEffectCall *call)
{
  g_autofree char *text = NULL;
  g_autofree char *line = NULL;
  g_autoptr (GError) error = NULL;

  if (call->n_args == 0 || call->args[0].kind != ADJ_VALUE_STRING)
    return adj_effect_call_fail (call, ADJ_ERROR_SHAPE, "format_str must be a string");
  text = effect_format (call->args[0].text, call->args + 1, call->n_args - 1, call->kwargs, &error);
  if (text == NULL)
    return adj_effect_call_fail (call, (AdjError) error->code, "%s", error->message);
  line = g_strconcat (text, "\n", NULL);
  adj_context_print (call->cx, line);
  return TRUE;
}

const AdjEffectOp adj_effect_print = {
  .target = "torch.ops.higher_order.print",
  .help = "a line of text where the context prints to",
  .run = print_run,
};
