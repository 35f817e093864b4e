/* SPDX-License-Identifier: MIT */
/* Forms regions: pointwise calls over the same indices become one region with the calls whose
 * results they read, unless a call outside has to run between them. */

#include <string.h>

#include "ir/adj-graph.h"
#include "plan/windows-private.h"

/* Bounds of a region, so that its operands stay in the cache and searches end. */
#define MAX_CALLS 40
#define MAX_VISITS 256

typedef struct
{
  GArray *calls; /* (owned) (nullable): %NULL: it was merged into another */
  guint32 first, last;
  gboolean fusable;
  guint32 visited; /* number of the last search that visited it */
  guint8 emitted;
  char *reason; /* (owned) (nullable) */
} Group;

typedef struct
{
  AdjPlan *plan;
  const PlanDependences *dependences;
  GArray *groups; /* Group */
  guint32 *of_call;
  guint32 search;
} Forming;

static Group *
group_at (const Forming *forming, guint32 i)
{
  return &g_array_index (forming->groups, Group, i);
}

static guint32
new_group (Forming *forming, guint32 call, gboolean fusable, const char *why)
{
  Group group = { .calls = g_array_new (FALSE, FALSE, sizeof (guint32)),
                  .first = call,
                  .last = call,
                  .fusable = fusable,
                  .reason = g_strdup (why) };

  g_array_append_val (group.calls, call);
  g_array_append_val (forming->groups, group);
  return forming->groups->len - 1;
}

/* -- order -- */

/* Whether @target must run before @from; with @through only because of a group between them, not
 * because @from reads a result of @target directly.  A search that takes too long gives %TRUE. */
static gboolean
is_before (Forming *forming, guint32 target, guint32 from, gboolean through)
{
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint visits = 0;

  forming->search++;
  g_array_append_val (stack, from);
  while (stack->len > 0)
    {
      guint32 at = g_array_index (stack, guint32, stack->len - 1);
      const Group *group = group_at (forming, at);

      g_array_set_size (stack, stack->len - 1);
      for (guint i = 0; i < group->calls->len; i++)
        {
          guint32 call = g_array_index (group->calls, guint32, i);

          for (guint32 k = forming->dependences->start[call];
               k < forming->dependences->start[call + 1]; k++)
            {
              guint32 earlier = forming->of_call[forming->dependences->calls[k]];
              Group *other = group_at (forming, earlier);

              if (earlier == target && !(through && at == from))
                return TRUE;
              if (earlier == at || earlier == target || other->visited == forming->search ||
                  other->last < group_at (forming, target)->first)
                continue;
              if (++visits > MAX_VISITS)
                return TRUE;
              other->visited = forming->search;
              g_array_append_val (stack, earlier);
            }
        }
    }
  return FALSE;
}

/* Whether something outside of @target must run after it and before @call. */
static gboolean
is_between (Forming *forming, guint32 target, guint32 call)
{
  const PlanDependences *d = forming->dependences;

  for (guint32 k = d->start[call]; k < d->start[call + 1]; k++)
    {
      guint32 group = forming->of_call[d->calls[k]];

      if (group != target && is_before (forming, target, group, FALSE))
        return TRUE;
    }
  return FALSE;
}

/* -- joining -- */

static const AdjShape *
domain_of (const Forming *forming, const Group *group)
{
  return plan_call_get_domain (forming->plan,
                               plan_call (forming->plan, g_array_index (group->calls, guint32, 0)));
}

static gboolean
writes (const PlanCall *call, guint32 value)
{
  for (guint i = 0; i < call->n_writes; i++)
    if (call->writes[i] == value)
      return TRUE;
  return FALSE;
}

/* Whether values @a of @x and @b of @y are the same elements over @domain, or in unrelated buffers.
 */
static gboolean
same_elements (const AdjPlan *plan,
               const PlanCall *x,
               guint32 a,
               const PlanCall *y,
               guint32 b,
               const AdjShape *domain)
{
  PlanWindow left, right;

  if (plan_value (plan, a)->buffer != plan_value (plan, b)->buffer ||
      (!writes (x, a) && !writes (y, b)))
    return TRUE;
  return plan_window_find (plan, a, plan_call_get_domain (plan, x), domain, &left) &&
         plan_window_find (plan, b, plan_call_get_domain (plan, y), domain, &right) &&
         plan_window_equal (&left, &right);
}

/* The value that call @call uses as number @i: reads come first, then writes. */
static guint32
use_of (const PlanCall *call, guint i)
{
  return i < call->n_reads ? call->reads[i] : call->writes[i - call->n_reads];
}

/* Whether values that one of the calls writes are accessed by both element by element. */
static gboolean
agree (const AdjPlan *plan, const PlanCall *x, const PlanCall *y, const AdjShape *domain)
{
  for (guint i = 0; i < x->n_reads + x->n_writes; i++)
    for (guint k = 0; k < y->n_reads + y->n_writes; k++)
      if (!same_elements (plan, x, use_of (x, i), y, use_of (y, k), domain))
        return FALSE;
  return TRUE;
}

static gint64
count (const AdjShape *shape)
{
  return adj_shape_numel (shape, NULL).word;
}

/* Whether @call can run over the indices @domain and reads results of @group element by element;
 * else sets @why. */
static gboolean
fits (const Forming *forming,
      const Group *group,
      const AdjShape *domain,
      const PlanCall *call,
      const char **why)
{
  const AdjShape *shape = plan_call_get_domain (forming->plan, call);
  PlanWindow seen;

  *why = "it runs over other sizes";
  if (count (domain) != count (shape))
    return FALSE;
  for (guint i = 0; i < call->n_reads; i++)
    {
      *why = "a view between them shows the elements in another order";
      if (!plan_window_find (forming->plan, call->reads[i], shape, domain, &seen))
        return FALSE;
    }
  for (guint i = 0; i < call->n_results; i++)
    if (!plan_window_find (forming->plan, call->results[i].value, shape, domain, &seen))
      return FALSE;
  for (guint i = 0; i < group->calls->len; i++)
    if (!agree (forming->plan, call,
                plan_call (forming->plan, g_array_index (group->calls, guint32, i)), domain))
      return FALSE;
  *why = NULL;
  return TRUE;
}

static void
add_call (Forming *forming, guint32 to, guint32 call)
{
  Group *group = group_at (forming, to);

  g_array_append_val (group->calls, call);
  group->first = MIN (group->first, call);
  group->last = MAX (group->last, call);
  forming->of_call[call] = to;
}

static void
merge (Forming *forming, guint32 into, guint32 from)
{
  Group *group = group_at (forming, from);
  g_autoptr (GArray) calls = g_steal_pointer (&group->calls);

  for (guint i = 0; i < calls->len; i++)
    add_call (forming, into, g_array_index (calls, guint32, i));
  g_clear_pointer (&group->reason, g_free);
}

/* Whether all calls of @group can run over @domain and read results of @other element by element.
 */
static gboolean
all_fit (const Forming *forming, const Group *group, const Group *other, const AdjShape *domain)
{
  const char *why;

  for (guint i = 0; i < group->calls->len; i++)
    if (!fits (forming, other, domain,
               plan_call (forming->plan, g_array_index (group->calls, guint32, i)), &why))
      return FALSE;
  return TRUE;
}

static gboolean
can_merge (Forming *forming, guint32 a, guint32 b)
{
  const Group *into = group_at (forming, a), *from = group_at (forming, b);
  const AdjShape *domain = domain_of (forming, into);

  return into->calls->len + from->calls->len <= MAX_CALLS &&
         all_fit (forming, from, into, domain) && all_fit (forming, into, from, domain) &&
         !is_before (forming, a, b, TRUE) && !is_before (forming, b, a, TRUE);
}

/* Records why @call is in a region of its own although it reads a result of @group. */
static void
note_refusal (Forming *forming, guint32 call, guint32 group, const char *why)
{
  const PlanCall *producer =
      plan_call (forming->plan, g_array_index (group_at (forming, group)->calls, guint32,
                                               group_at (forming, group)->calls->len - 1));
  Group *own = group_at (forming, forming->of_call[call]);

  if (own->reason == NULL)
    own->reason =
        g_strdup_printf ("not fused with '%s': %s",
                         adj_graph_get_node (forming->plan->graph, producer->node)->name, why);
}

/* The region that call @index joins, of those whose results it reads; PLAN_NONE: none.  @refused,
 * @why: the last one that it cannot join. */
static guint32
find_group (Forming *forming, guint32 index, guint32 *refused, const char **why)
{
  const PlanCall *call = plan_call (forming->plan, index);
  const PlanDependences *d = forming->dependences;

  *refused = PLAN_NONE;
  for (guint32 k = d->start[index + 1]; k-- > d->start[index];)
    {
      guint32 at = forming->of_call[d->calls[k]];
      const Group *group = group_at (forming, at);

      if (!group->fusable)
        continue;
      *refused = at;
      *why = "the region is full";
      if (group->calls->len >= MAX_CALLS ||
          !fits (forming, group, domain_of (forming, group), call, why))
        continue;
      *why = "what runs between them needs the one and is needed by the other";
      if (!is_between (forming, at, index))
        return at;
    }
  return PLAN_NONE;
}

static void
place_fusable (Forming *forming, guint32 index)
{
  const PlanDependences *d = forming->dependences;
  const char *why = NULL;
  guint32 refused, at = find_group (forming, index, &refused, &why);

  if (at == PLAN_NONE)
    {
      forming->of_call[index] = new_group (forming, index, TRUE, NULL);
      if (refused != PLAN_NONE)
        note_refusal (forming, index, refused, why);
      return;
    }
  add_call (forming, at, index);
  for (guint32 k = d->start[index]; k < d->start[index + 1]; k++)
    {
      guint32 other = forming->of_call[d->calls[k]];

      if (other != at && group_at (forming, other)->fusable && can_merge (forming, at, other))
        merge (forming, at, other);
    }
}

static gboolean
is_empty (const AdjPlan *plan, const PlanCall *call)
{
  return call->n_results > 0 && call->results[0].value != PLAN_NONE &&
         count (plan_call_get_domain (plan, call)) == 0;
}

static void
form_groups (Forming *forming)
{
  for (guint32 i = 0; i < forming->plan->calls->len; i++)
    {
      const PlanCall *call = plan_call (forming->plan, i);
      const char *why;

      if (plan_can_fuse (forming->plan, call, &why) && !is_empty (forming->plan, call) &&
          agree (forming->plan, call, call, plan_call_get_domain (forming->plan, call)))
        place_fusable (forming, i);
      else
        forming->of_call[i] = new_group (forming, i, FALSE, why);
    }
}

/* -- the schedule -- */

static int
compare_calls (gconstpointer a, gconstpointer b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return x < y ? -1 : x > y;
}

static const PlanRegionKind *
kind_of (const AdjPlan *plan, const Group *group)
{
  const PlanCall *call = plan_call (plan, g_array_index (group->calls, guint32, 0));

  if (group->fusable)
    return &plan_region_fused;
  return call->op != NULL ? &plan_region_operator : &plan_region_interpreter;
}

static void
emit_group (Forming *forming, Group *group)
{
  PlanRegion region = { .kind = kind_of (forming->plan, group),
                        .domain = g_array_index (group->calls, guint32, 0),
                        .n_calls = group->calls->len,
                        .reason = g_steal_pointer (&group->reason) };
  gsize n;

  g_array_sort (group->calls, compare_calls);
  region.calls = g_array_steal (group->calls, &n);
  g_array_append_val (forming->plan->regions, region);
}

/* Pushes the groups that @at needs and that are not emitted yet; whether there are any. */
static gboolean
push_needed (Forming *forming, GArray *stack, guint32 at)
{
  const Group *group = group_at (forming, at);
  guint before = stack->len;

  for (guint i = 0; i < group->calls->len; i++)
    {
      guint32 call = g_array_index (group->calls, guint32, i);

      for (guint32 k = forming->dependences->start[call]; k < forming->dependences->start[call + 1];
           k++)
        {
          guint32 earlier = forming->of_call[forming->dependences->calls[k]];

          if (earlier != at && !group_at (forming, earlier)->emitted)
            g_array_append_val (stack, earlier);
        }
    }
  return stack->len > before;
}

/* Emits each region after those that it needs, otherwise in the order of the graph. */
static void
emit_after_needed (Forming *forming, guint32 at)
{
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (guint32));

  g_array_append_val (stack, at);
  while (stack->len > 0)
    {
      guint32 top = g_array_index (stack, guint32, stack->len - 1);
      Group *group = group_at (forming, top);

      if (group->emitted)
        g_array_set_size (stack, stack->len - 1);
      else if (!push_needed (forming, stack, top))
        {
          group->emitted = TRUE;
          emit_group (forming, group);
          g_array_set_size (stack, stack->len - 1);
        }
    }
}

static void
emit_groups (Forming *forming)
{
  for (guint32 i = 0; i < forming->plan->calls->len; i++)
    {
      guint32 at = forming->of_call[i];

      if (group_at (forming, at)->last == i && !group_at (forming, at)->emitted)
        emit_after_needed (forming, at);
    }
}

void
plan_region_clear (PlanRegion *region)
{
  g_free (region->calls);
  g_free (region->nodes);
  g_clear_pointer (&region->fused, plan_fused_free);
  g_free (region->reason);
}

void
plan_form_regions (AdjPlan *plan)
{
  PlanDependences dependences = plan_dependences_new (plan);
  Forming forming = { .plan = plan,
                      .dependences = &dependences,
                      .groups = g_array_new (FALSE, TRUE, sizeof (Group)),
                      .of_call = g_new0 (guint32, plan->calls->len + 1) };

  form_groups (&forming);
  emit_groups (&forming);
  for (guint i = 0; i < forming.groups->len; i++)
    {
      g_clear_pointer (&group_at (&forming, i)->calls, g_array_unref);
      g_free (group_at (&forming, i)->reason);
    }
  g_array_unref (forming.groups);
  g_free (forming.of_call);
  plan_dependences_clear (&dependences);
}
