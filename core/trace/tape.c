/* SPDX-License-Identifier: MIT */
/* Events of functionalization, in words. */

#include "call/adj-op.h"
#include "call/adj-schema.h"
#include "rules/adj-view-chain.h"
#include "trace/adj-tape.h"

/* "select, t": the calls from the base to the view. */
static void
print_chain (const AdjViewChain *chain, GString *out)
{
  if (chain == NULL)
    return;
  print_chain (adj_view_chain_get_parent (chain), out);
  g_string_append_printf (out, "%s%s", adj_view_chain_get_parent (chain) != NULL ? ", " : "",
                          adj_op_get_schema (adj_view_chain_get_op (chain))->name);
}

/* For the whole storage, and for a view; \001 is replaced by the value, \002 by the view. */
static const char *const sentences[ADJ_N_TAPE_KINDS][2] = {
  [ADJ_TAPE_WRITE] = { "\001 is the new value of all of it: queued",
                       "\001 is the new value of its view (\002): queued" },
  [ADJ_TAPE_APPLY] = { "the write replaces the base: \001 now",
                       "the write goes into the base: \001 now" },
  [ADJ_TAPE_REMAKE] = { "what holds all of it shows the base: \001",
                        "its view (\002) is made again of the base: \001" },
  [ADJ_TAPE_TURN] = { "is shown otherwise: \001, and nothing is written",
                      "is shown as (\002) from now on: \001, and nothing is written" },
  [ADJ_TAPE_SET] = { "a tensor left it by set_: nothing may write to it any more",
                     "a view (\002) left it by set_: nothing may write to it any more" },
  [ADJ_TAPE_RESIZE] = { "was resized from or to nothing", "was resized from or to nothing" },
};

char *
adj_tape_describe (const AdjTapeEvent *event)
{
  g_autoptr (GString) view = g_string_new (NULL);
  GString *text;

  g_return_val_if_fail (event != NULL && event->kind < ADJ_N_TAPE_KINDS, NULL);

  print_chain (event->chain, view);
  text = g_string_new (sentences[event->kind][view->len > 0]);
  g_string_replace (text, "\001", event->name != NULL ? event->name : "a constant", 0);
  g_string_replace (text, "\002", view->str, 0);
  return g_string_free (text, FALSE);
}
