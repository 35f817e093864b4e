/* SPDX-License-Identifier: MIT */
/* Reads pickles as data: the machine of the pickle format without the part that calls. */

#include <string.h>

#include "formats/pickle-private.h"

#define MAX_BYTES ((gsize) 1 << 30)
#define MAX_ITEMS 10000000u
#define MAX_TEXT ((gsize) 64 << 20)

typedef struct
{
  AdjArena *arena;
  const char *name;
  const guint8 *start, *at, *end;
  guint n_items;
  GPtrArray *stack; /* PickleItem; NULL: a mark */
  GPtrArray *memo;  /* PickleItem or NULL */
  PickleItem *result;
} Machine;

static gboolean
fail (Machine *machine, GError **error, const char *what)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: at byte %" G_GSIZE_FORMAT ": %s",
               machine->name, (gsize) (machine->at - machine->start), what);
  return FALSE;
}

/* (nullable): zero but for its kind */
static PickleItem *
new_item (Machine *machine, PickleKind kind, GError **error)
{
  PickleItem *item;

  if (machine->n_items++ >= MAX_ITEMS)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "%s: more than %u values", machine->name,
                   MAX_ITEMS);
      return NULL;
    }
  item = adj_arena_new0 (machine->arena, PickleItem, 1);
  item->kind = kind;
  return item;
}

static void
append (Machine *machine, PickleItem *to, PickleItem *item)
{
  if (to->n == to->capacity)
    {
      guint capacity = MAX (4, 2 * to->capacity);
      PickleItem **items = adj_arena_new0 (machine->arena, PickleItem *, capacity);

      if (to->n > 0)
        memcpy (items, to->items, to->n * sizeof *items);
      to->items = items;
      to->capacity = capacity;
    }
  to->items[to->n++] = item;
}

static gboolean
push (Machine *machine, PickleItem *item)
{
  if (item != NULL)
    g_ptr_array_add (machine->stack, item);
  return item != NULL;
}

/* (nullable): the value on top, taken off the stack */
static PickleItem *
pop (Machine *machine, GError **error)
{
  guint n = machine->stack->len;
  PickleItem *item = n > 0 ? machine->stack->pdata[n - 1] : NULL;

  if (item == NULL)
    fail (machine, error, "there is no value for this instruction");
  else
    g_ptr_array_set_size (machine->stack, (gint) n - 1);
  return item;
}

/* (nullable): the value on top, left there */
static PickleItem *
peek (Machine *machine, GError **error)
{
  PickleItem *item = pop (machine, error);

  return item != NULL && push (machine, item) ? item : NULL;
}

/* The place of the topmost mark. */
static gboolean
find_mark (Machine *machine, guint *mark, GError **error)
{
  for (guint i = machine->stack->len; i-- > 0;)
    if (machine->stack->pdata[i] == NULL)
      {
        *mark = i;
        return TRUE;
      }
  return fail (machine, error, "there is no mark");
}

static const guint8 *
take (Machine *machine, gsize n, GError **error)
{
  const guint8 *bytes = machine->at;

  if ((gsize) (machine->end - machine->at) < n)
    {
      fail (machine, error, "the pickle ends in the middle");
      return NULL;
    }
  machine->at += n;
  return bytes;
}

static gboolean
take_number (Machine *machine, guint n_bytes, guint64 *out, GError **error)
{
  const guint8 *bytes = take (machine, n_bytes, error);

  *out = 0;
  for (guint i = 0; bytes != NULL && i < n_bytes; i++)
    *out |= (guint64) bytes[i] << 8 * i;
  return bytes != NULL;
}

/* -- plain values -- */

static gboolean
push_integer (Machine *machine, PickleKind kind, gint64 value, GError **error)
{
  PickleItem *item = new_item (machine, kind, error);

  if (item != NULL)
    item->integer = value;
  return push (machine, item);
}

static gboolean
run_none (Machine *machine, GError **error)
{
  return push (machine, new_item (machine, PICKLE_NONE, error));
}

static gboolean
run_true (Machine *machine, GError **error)
{
  return push_integer (machine, PICKLE_BOOL, TRUE, error);
}

static gboolean
run_false (Machine *machine, GError **error)
{
  return push_integer (machine, PICKLE_BOOL, FALSE, error);
}

static gboolean
run_int1 (Machine *machine, GError **error)
{
  guint64 value;

  return take_number (machine, 1, &value, error) &&
         push_integer (machine, PICKLE_INT, (gint64) value, error);
}

static gboolean
run_int2 (Machine *machine, GError **error)
{
  guint64 value;

  return take_number (machine, 2, &value, error) &&
         push_integer (machine, PICKLE_INT, (gint64) value, error);
}

static gboolean
run_int4 (Machine *machine, GError **error)
{
  guint64 value;

  return take_number (machine, 4, &value, error) &&
         push_integer (machine, PICKLE_INT, (gint32) (guint32) value, error);
}

/* Two's complement in as many bytes as it needs; beyond 64 bits the value is shown as bytes. */
static gboolean
run_long (Machine *machine, GError **error)
{
  guint64 n, value = 0;
  const guint8 *bytes;
  PickleItem *item;

  if (!take_number (machine, 1, &n, error) || (bytes = take (machine, n, error)) == NULL)
    return FALSE;
  if (n > 8)
    {
      if ((item = new_item (machine, PICKLE_BYTES, error)) == NULL)
        return FALSE;
      item->text = adj_arena_strndup (machine->arena, (const char *) bytes, n);
      item->n = (guint) n;
      return push (machine, item);
    }
  for (guint i = 0; i < n; i++)
    value |= (guint64) bytes[i] << 8 * i;
  if (n > 0 && n < 8 && bytes[n - 1] & 0x80)
    value |= G_MAXUINT64 << 8 * n;
  return push_integer (machine, PICKLE_INT, (gint64) value, error);
}

static gboolean
run_float (Machine *machine, GError **error)
{
  const guint8 *bytes = take (machine, 8, error);
  PickleItem *item = bytes != NULL ? new_item (machine, PICKLE_FLOAT, error) : NULL;
  guint64 bits = 0;

  for (guint i = 0; item != NULL && i < 8; i++)
    bits = bits << 8 | bytes[i];
  if (item != NULL)
    memcpy (&item->number, &bits, sizeof bits);
  return push (machine, item);
}

static gboolean
push_text (Machine *machine, PickleKind kind, guint n_bytes, GError **error)
{
  guint64 length;
  const guint8 *bytes;
  PickleItem *item;
  gboolean is_utf8;

  if (!take_number (machine, n_bytes, &length, error))
    return FALSE;
  if (length > MAX_TEXT)
    return fail (machine, error, "a text of more than 64 MiB");
  bytes = take (machine, length, error);
  if (bytes == NULL)
    return FALSE;
  is_utf8 = memchr (bytes, '\0', length) == NULL &&
            g_utf8_validate_len ((const char *) bytes, length, NULL);
  item = new_item (machine, is_utf8 ? kind : PICKLE_BYTES, error);
  if (item == NULL)
    return FALSE;
  item->text = adj_arena_alloc (machine->arena, length + 1);
  memcpy ((char *) item->text, bytes, length);
  item->n = (guint) length;
  return push (machine, item);
}

static gboolean
run_text1 (Machine *machine, GError **error)
{
  return push_text (machine, PICKLE_TEXT, 1, error);
}

static gboolean
run_text4 (Machine *machine, GError **error)
{
  return push_text (machine, PICKLE_TEXT, 4, error);
}

static gboolean
run_text8 (Machine *machine, GError **error)
{
  return push_text (machine, PICKLE_TEXT, 8, error);
}

static gboolean
run_bytes1 (Machine *machine, GError **error)
{
  return push_text (machine, PICKLE_BYTES, 1, error);
}

static gboolean
run_bytes4 (Machine *machine, GError **error)
{
  return push_text (machine, PICKLE_BYTES, 4, error);
}

static gboolean
run_bytes8 (Machine *machine, GError **error)
{
  return push_text (machine, PICKLE_BYTES, 8, error);
}

/* -- containers -- */

static gboolean
run_empty_tuple (Machine *machine, GError **error)
{
  return push (machine, new_item (machine, PICKLE_TUPLE, error));
}

static gboolean
run_empty_list (Machine *machine, GError **error)
{
  return push (machine, new_item (machine, PICKLE_LIST, error));
}

static gboolean
run_empty_dict (Machine *machine, GError **error)
{
  return push (machine, new_item (machine, PICKLE_DICT, error));
}

static gboolean
run_empty_set (Machine *machine, GError **error)
{
  return push (machine, new_item (machine, PICKLE_SET, error));
}

static gboolean
run_mark (Machine *machine, GError **error)
{
  g_ptr_array_add (machine->stack, NULL);
  return TRUE;
}

/* Moves what lies above place @from to the end of @to, and takes the mark below it away. */
static gboolean
gather (Machine *machine, guint mark, PickleItem *to)
{
  for (guint i = mark + 1; i < machine->stack->len; i++)
    append (machine, to, machine->stack->pdata[i]);
  g_ptr_array_set_size (machine->stack, (gint) mark);
  return TRUE;
}

static gboolean
gather_new (Machine *machine, PickleKind kind, GError **error)
{
  PickleItem *item;
  guint mark;

  if (!find_mark (machine, &mark, error) || (item = new_item (machine, kind, error)) == NULL)
    return FALSE;
  return gather (machine, mark, item) && push (machine, item);
}

static gboolean
run_tuple (Machine *machine, GError **error)
{
  return gather_new (machine, PICKLE_TUPLE, error);
}

static gboolean
run_frozen_set (Machine *machine, GError **error)
{
  return gather_new (machine, PICKLE_SET, error);
}

static gboolean
push_tuple (Machine *machine, guint n, GError **error)
{
  PickleItem *tuple = new_item (machine, PICKLE_TUPLE, error);
  PickleItem *items[3];

  for (guint i = n; tuple != NULL && i-- > 0;)
    if ((items[i] = pop (machine, error)) == NULL)
      return FALSE;
  for (guint i = 0; tuple != NULL && i < n; i++)
    append (machine, tuple, items[i]);
  return push (machine, tuple);
}

static gboolean
run_tuple1 (Machine *machine, GError **error)
{
  return push_tuple (machine, 1, error);
}

static gboolean
run_tuple2 (Machine *machine, GError **error)
{
  return push_tuple (machine, 2, error);
}

static gboolean
run_tuple3 (Machine *machine, GError **error)
{
  return push_tuple (machine, 3, error);
}

/* (nullable): the container that lies below @mark: itself of one of two kinds, or what is put into
 * an object that is called for. */
static PickleItem *
container_at (Machine *machine, guint place, PickleKind kind, GError **error)
{
  PickleItem *item = machine->stack->pdata[place];

  if (item != NULL && item->kind == PICKLE_CALL)
    {
      if (item->state == NULL)
        item->state = new_item (machine, kind, error);
      item = item->state;
      return item != NULL && item->kind == kind ? item : new_item (machine, kind, error);
    }
  if (item != NULL && item->kind == kind)
    return item;
  fail (machine, error, "something is put into what is no container for it");
  return NULL;
}

static gboolean
gather_into (Machine *machine, PickleKind kind, GError **error)
{
  PickleItem *item;
  guint mark;

  if (!find_mark (machine, &mark, error))
    return FALSE;
  if (mark == 0)
    return fail (machine, error, "there is no container below the mark");
  if (kind == PICKLE_DICT && (machine->stack->len - mark - 1) % 2 != 0)
    return fail (machine, error, "a key without a value");
  item = container_at (machine, mark - 1, kind, error);
  return item != NULL && gather (machine, mark, item);
}

static gboolean
run_appends (Machine *machine, GError **error)
{
  return gather_into (machine, PICKLE_LIST, error);
}

static gboolean
run_set_items (Machine *machine, GError **error)
{
  return gather_into (machine, PICKLE_DICT, error);
}

static gboolean
run_add_items (Machine *machine, GError **error)
{
  return gather_into (machine, PICKLE_SET, error);
}

static gboolean
run_append (Machine *machine, GError **error)
{
  PickleItem *value = pop (machine, error);
  PickleItem *list = value != NULL && peek (machine, error) != NULL
                         ? container_at (machine, machine->stack->len - 1, PICKLE_LIST, error)
                         : NULL;

  if (list != NULL)
    append (machine, list, value);
  return list != NULL;
}

static gboolean
run_set_item (Machine *machine, GError **error)
{
  PickleItem *value = pop (machine, error);
  PickleItem *key = value != NULL ? pop (machine, error) : NULL;
  PickleItem *dict = key != NULL && peek (machine, error) != NULL
                         ? container_at (machine, machine->stack->len - 1, PICKLE_DICT, error)
                         : NULL;

  if (dict == NULL)
    return FALSE;
  append (machine, dict, key);
  append (machine, dict, value);
  return TRUE;
}

static gboolean
run_pop (Machine *machine, GError **error)
{
  if (machine->stack->len == 0)
    return fail (machine, error, "there is no value to drop");
  g_ptr_array_set_size (machine->stack, (gint) machine->stack->len - 1);
  return TRUE;
}

static gboolean
run_pop_mark (Machine *machine, GError **error)
{
  guint mark;

  if (!find_mark (machine, &mark, error))
    return FALSE;
  g_ptr_array_set_size (machine->stack, (gint) mark);
  return TRUE;
}

/* -- names and calls -- */

/* (nullable): a line, without its end */
static char *
take_line (Machine *machine, GError **error)
{
  const guint8 *newline = memchr (machine->at, '\n', (gsize) (machine->end - machine->at));
  const char *line = (const char *) machine->at;
  gsize length;

  if (newline == NULL)
    {
      fail (machine, error, "the pickle ends in the middle of a name");
      return NULL;
    }
  length = (gsize) (newline - machine->at);
  machine->at = newline + 1;
  if (length > 1024 || memchr (line, '\0', length) != NULL ||
      !g_utf8_validate_len (line, length, NULL))
    {
      fail (machine, error, "a name that is none");
      return NULL;
    }
  return adj_arena_strndup (machine->arena, line, length);
}

static gboolean
push_global (Machine *machine, const char *module, const char *name, GError **error)
{
  PickleItem *item = new_item (machine, PICKLE_GLOBAL, error);
  g_autofree char *text = g_strconcat (module, ".", name, NULL);

  if (item != NULL)
    {
      item->text = adj_arena_intern (machine->arena, text);
      item->n = (guint) strlen (text);
    }
  return push (machine, item);
}

static gboolean
run_global (Machine *machine, GError **error)
{
  const char *module = take_line (machine, error);
  const char *name = module != NULL ? take_line (machine, error) : NULL;

  return name != NULL && push_global (machine, module, name, error);
}

static gboolean
run_stack_global (Machine *machine, GError **error)
{
  PickleItem *name = pop (machine, error);
  PickleItem *module = name != NULL ? pop (machine, error) : NULL;

  if (module == NULL)
    return FALSE;
  if (name->kind != PICKLE_TEXT || module->kind != PICKLE_TEXT || name->n + module->n > 2048)
    return fail (machine, error, "a name that is none");
  return push_global (machine, module->text, name->text, error);
}

/* What is nothing but a dict of Python's library: it is filled afterwards. */
static gboolean
is_dict_type (const PickleItem *callee)
{
  return callee->kind == PICKLE_GLOBAL && (strcmp (callee->text, "collections.OrderedDict") == 0 ||
                                           strcmp (callee->text, "collections.defaultdict") == 0);
}

static gboolean
run_call (Machine *machine, GError **error)
{
  PickleItem *arguments = pop (machine, error);
  PickleItem *callee = arguments != NULL ? pop (machine, error) : NULL;
  PickleItem *item;

  if (callee == NULL)
    return FALSE;
  if (is_dict_type (callee))
    return push (machine, new_item (machine, PICKLE_DICT, error));
  item = new_item (machine, PICKLE_CALL, error);
  if (item == NULL)
    return FALSE;
  append (machine, item, callee);
  append (machine, item, arguments);
  return push (machine, item);
}

/* State of a dict is what somebody hung on it (_metadata), which is nobody's value. */
static gboolean
run_build (Machine *machine, GError **error)
{
  PickleItem *state = pop (machine, error);
  PickleItem *item = state != NULL ? peek (machine, error) : NULL;

  if (item != NULL && item->kind == PICKLE_CALL && item->state == NULL)
    item->state = state;
  return item != NULL;
}

static gboolean
run_persistent (Machine *machine, GError **error)
{
  PickleItem *id = pop (machine, error);
  PickleItem *item = id != NULL ? new_item (machine, PICKLE_PERSISTENT, error) : NULL;

  if (item != NULL)
    append (machine, item, id);
  return push (machine, item);
}

/* -- the memo -- */

/* An index is never larger than the number of instructions before it. */
static gboolean
put (Machine *machine, guint64 index, GError **error)
{
  PickleItem *item = peek (machine, error);

  if (item == NULL)
    return FALSE;
  if (index > (guint64) (machine->at - machine->start) || index >= MAX_ITEMS)
    return fail (machine, error, "an index of the memo that nothing leads up to");
  if (index >= machine->memo->len)
    g_ptr_array_set_size (machine->memo, (gint) index + 1);
  machine->memo->pdata[index] = item;
  return TRUE;
}

static gboolean
get (Machine *machine, guint64 index, GError **error)
{
  PickleItem *item = index < machine->memo->len ? machine->memo->pdata[index] : NULL;

  return item != NULL ? push (machine, item)
                      : fail (machine, error, "a value of the memo that was not put there");
}

static gboolean
run_put1 (Machine *machine, GError **error)
{
  guint64 index;

  return take_number (machine, 1, &index, error) && put (machine, index, error);
}

static gboolean
run_put4 (Machine *machine, GError **error)
{
  guint64 index;

  return take_number (machine, 4, &index, error) && put (machine, index, error);
}

static gboolean
run_memoize (Machine *machine, GError **error)
{
  return put (machine, machine->memo->len, error);
}

static gboolean
run_get1 (Machine *machine, GError **error)
{
  guint64 index;

  return take_number (machine, 1, &index, error) && get (machine, index, error);
}

static gboolean
run_get4 (Machine *machine, GError **error)
{
  guint64 index;

  return take_number (machine, 4, &index, error) && get (machine, index, error);
}

/* -- the frame of it -- */

static gboolean
run_protocol (Machine *machine, GError **error)
{
  guint64 version;

  if (!take_number (machine, 1, &version, error))
    return FALSE;
  return version <= 5 || fail (machine, error, "a protocol that is not known");
}

static gboolean
run_frame (Machine *machine, GError **error)
{
  return take (machine, 8, error) != NULL;
}

static gboolean
run_stop (Machine *machine, GError **error)
{
  machine->result = pop (machine, error);
  return machine->result != NULL;
}

static gboolean (*const instructions[256]) (Machine *machine, GError **error) = {
  [0x80] = run_protocol,  [0x95] = run_frame,        ['.'] = run_stop,
  ['('] = run_mark,       ['0'] = run_pop,           ['1'] = run_pop_mark,
  ['N'] = run_none,       [0x88] = run_true,         [0x89] = run_false,
  ['K'] = run_int1,       ['M'] = run_int2,          ['J'] = run_int4,
  [0x8a] = run_long,      ['G'] = run_float,         ['X'] = run_text4,
  ['U'] = run_text1,      ['T'] = run_text4,         [0x8c] = run_text1,
  [0x8d] = run_text8,     ['C'] = run_bytes1,        ['B'] = run_bytes4,
  [0x8e] = run_bytes8,    [')'] = run_empty_tuple,   ['t'] = run_tuple,
  [0x85] = run_tuple1,    [0x86] = run_tuple2,       [0x87] = run_tuple3,
  [']'] = run_empty_list, ['a'] = run_append,        ['e'] = run_appends,
  ['}'] = run_empty_dict, ['s'] = run_set_item,      ['u'] = run_set_items,
  [0x8f] = run_empty_set, [0x90] = run_add_items,    [0x91] = run_frozen_set,
  ['c'] = run_global,     [0x93] = run_stack_global, ['R'] = run_call,
  [0x81] = run_call,      ['b'] = run_build,         ['Q'] = run_persistent,
  ['q'] = run_put1,       ['r'] = run_put4,          [0x94] = run_memoize,
  ['h'] = run_get1,       ['j'] = run_get4,
};

static PickleItem *
run (Machine *machine, GError **error)
{
  while (machine->result == NULL)
    {
      const guint8 *code = take (machine, 1, error);

      if (code == NULL)
        return NULL;
      if (instructions[*code] == NULL)
        {
          g_autofree char *what = g_strdup_printf ("instruction 0x%02x, which is not read", *code);

          machine->at--;
          fail (machine, error, what);
          return NULL;
        }
      if (!instructions[*code](machine, error))
        return NULL;
    }
  return machine->result;
}

PickleItem *
pickle_read (AdjArena *arena, const guint8 *data, gsize length, const char *name, GError **error)
{
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();
  g_autoptr (GPtrArray) memo = g_ptr_array_new ();
  Machine machine = { .arena = arena,
                      .name = name,
                      .start = data,
                      .at = data,
                      .end = data + length,
                      .stack = stack,
                      .memo = memo };

  if (length > MAX_BYTES)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "%s: a pickle of more than 1 GiB", name);
      return NULL;
    }
  return run (&machine, error);
}

/* -- asking -- */

const PickleItem *
pickle_get (const PickleItem *item, const char *key)
{
  for (guint i = 0; item != NULL && item->kind == PICKLE_DICT && i + 1 < item->n; i += 2)
    if (item->items[i]->kind == PICKLE_TEXT && strcmp (item->items[i]->text, key) == 0)
      return item->items[i + 1];
  return NULL;
}

const char *
pickle_get_text (const PickleItem *item, const char *key)
{
  const PickleItem *value = pickle_get (item, key);

  return value != NULL && value->kind == PICKLE_TEXT ? value->text : NULL;
}

gint64
pickle_get_int (const PickleItem *item, const char *key, gint64 fallback)
{
  const PickleItem *value = pickle_get (item, key);

  return value != NULL && value->kind == PICKLE_INT ? value->integer : fallback;
}

gboolean
pickle_calls (const PickleItem *item, const char *name)
{
  return item->kind == PICKLE_CALL && item->items[0]->kind == PICKLE_GLOBAL &&
         strcmp (item->items[0]->text, name) == 0;
}

PickleItem *
pickle_argument (const PickleItem *item, guint index)
{
  const PickleItem *arguments = item->kind == PICKLE_CALL ? item->items[1] : NULL;

  return arguments != NULL && arguments->kind == PICKLE_TUPLE && index < arguments->n
             ? arguments->items[index]
             : NULL;
}
