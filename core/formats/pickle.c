/* SPDX-License-Identifier: MIT */
/* Reads pickles as data: the machine of the pickle format without the part that calls. */

#include <string.h>

#include "formats/pickle-machine-private.h"

#define MAX_BYTES ((gsize) 1 << 30)

typedef struct _Instruction Instruction;

struct _Instruction
{
  /* %FALSE with @error set */
  gboolean (*run) (PickleMachine *machine, const Instruction *code, GError **error);
  PickleKind kind; /* of the item that it makes */
  guint8 n;        /* bytes of its number; entries; a bool */
};

/* -- plain values -- */

static gboolean
push_integer (PickleMachine *machine, PickleKind kind, gint64 value, GError **error)
{
  PickleItem *item = pickle_new_item (machine, kind, error);

  if (item != NULL)
    item->integer = value;
  return pickle_push (machine, item);
}

/* None, and containers with nothing in them. */
static gboolean
run_empty (PickleMachine *machine, const Instruction *code, GError **error)
{
  return pickle_push (machine, pickle_new_item (machine, code->kind, error));
}

static gboolean
run_bool (PickleMachine *machine, const Instruction *code, GError **error)
{
  return push_integer (machine, PICKLE_BOOL, code->n, error);
}

/* Integers of one and two bytes are unsigned. */
static gboolean
run_int (PickleMachine *machine, const Instruction *code, GError **error)
{
  guint64 value;

  return pickle_take_number (machine, code->n, &value, error) &&
         push_integer (machine, PICKLE_INT,
                       code->n == 4 ? (gint32) (guint32) value : (gint64) value, error);
}

/* Two's complement of any length; a value beyond 64 bits is kept as bytes. */
static gboolean
run_long (PickleMachine *machine, const Instruction *code, GError **error)
{
  guint64 n, value = 0;
  const guint8 *bytes;
  PickleItem *item;

  if (!pickle_take_number (machine, 1, &n, error) ||
      (bytes = pickle_take (machine, n, error)) == NULL)
    return FALSE;
  if (n > 8)
    {
      if ((item = pickle_new_item (machine, PICKLE_BYTES, error)) == NULL)
        return FALSE;
      item->text = adj_arena_strndup (machine->arena, (const char *) bytes, n);
      item->n = (guint) n;
      return pickle_push (machine, item);
    }
  for (guint i = 0; i < n; i++)
    value |= (guint64) bytes[i] << 8 * i;
  if (n > 0 && n < 8 && bytes[n - 1] & 0x80)
    value |= G_MAXUINT64 << 8 * n;
  return push_integer (machine, PICKLE_INT, (gint64) value, error);
}

static gboolean
run_float (PickleMachine *machine, const Instruction *code, GError **error)
{
  const guint8 *bytes = pickle_take (machine, 8, error);
  PickleItem *item = bytes != NULL ? pickle_new_item (machine, PICKLE_FLOAT, error) : NULL;
  guint64 bits = 0;

  for (guint i = 0; item != NULL && i < 8; i++)
    bits = bits << 8 | bytes[i];
  if (item != NULL)
    memcpy (&item->number, &bits, sizeof bits);
  return pickle_push (machine, item);
}

static gboolean
run_text (PickleMachine *machine, const Instruction *code, GError **error)
{
  guint64 length;
  const guint8 *bytes;
  PickleItem *item;
  gboolean is_utf8;

  if (!pickle_take_number (machine, code->n, &length, error))
    return FALSE;
  bytes = pickle_take (machine, length, error);
  if (bytes == NULL)
    return FALSE;
  is_utf8 = memchr (bytes, '\0', length) == NULL &&
            g_utf8_validate_len ((const char *) bytes, length, NULL);
  item = pickle_new_item (machine, is_utf8 ? code->kind : PICKLE_BYTES, error);
  if (item == NULL)
    return FALSE;
  item->text = adj_arena_alloc (machine->arena, length + 1);
  memcpy ((char *) item->text, bytes, length);
  item->n = (guint) length;
  return pickle_push (machine, item);
}

/* -- containers -- */

static gboolean
run_mark (PickleMachine *machine, const Instruction *code, GError **error)
{
  g_ptr_array_add (machine->stack, NULL);
  return TRUE;
}

/* Moves the items above the mark at place @mark to the end of @to, and removes the mark. */
static gboolean
gather (PickleMachine *machine, guint mark, PickleItem *to)
{
  for (guint i = mark + 1; i < machine->stack->len; i++)
    pickle_append (machine, to, machine->stack->pdata[i]);
  g_ptr_array_set_size (machine->stack, (gint) mark);
  return TRUE;
}

static gboolean
run_gather (PickleMachine *machine, const Instruction *code, GError **error)
{
  PickleItem *item;
  guint mark;

  if (!pickle_find_mark (machine, &mark, error) ||
      (item = pickle_new_item (machine, code->kind, error)) == NULL)
    return FALSE;
  return gather (machine, mark, item) && pickle_push (machine, item);
}

static gboolean
run_small_tuple (PickleMachine *machine, const Instruction *code, GError **error)
{
  PickleItem *tuple = pickle_new_item (machine, PICKLE_TUPLE, error);
  PickleItem *items[3];

  for (guint i = code->n; tuple != NULL && i-- > 0;)
    if ((items[i] = pickle_pop (machine, error)) == NULL)
      return FALSE;
  for (guint i = 0; tuple != NULL && i < code->n; i++)
    pickle_append (machine, tuple, items[i]);
  return pickle_push (machine, tuple);
}

/* (nullable): what collects the items of @kind that are put into the object that @call makes. */
static PickleItem *
find_contents (PickleMachine *machine, PickleItem *call, PickleKind kind, GError **error)
{
  PickleItem *contents = pickle_get_contents (call, kind);

  if (contents != NULL)
    return contents;
  contents = pickle_new_item (machine, kind, error);
  if (contents != NULL)
    pickle_append (machine, call, contents);
  return contents;
}

/* (nullable): the container at @place, of @kind: the item itself, or what collects the contents of
 * an object.  %NULL with @error set. */
static PickleItem *
container_at (PickleMachine *machine, guint place, PickleKind kind, GError **error)
{
  PickleItem *item = machine->stack->pdata[place];

  if (item != NULL && item->kind == PICKLE_CALL)
    return find_contents (machine, item, kind, error);
  if (item != NULL && item->kind == kind)
    return item;
  pickle_fail (machine, error, "something is put into what is no container for it");
  return NULL;
}

static gboolean
run_gather_into (PickleMachine *machine, const Instruction *code, GError **error)
{
  PickleItem *item;
  guint mark;

  if (!pickle_find_mark (machine, &mark, error))
    return FALSE;
  if (mark == 0)
    return pickle_fail (machine, error, "there is no container below the mark");
  if (code->kind == PICKLE_DICT && (machine->stack->len - mark - 1) % 2 != 0)
    return pickle_fail (machine, error, "a key without a value");
  item = container_at (machine, mark - 1, code->kind, error);
  return item != NULL && gather (machine, mark, item);
}

static gboolean
run_append (PickleMachine *machine, const Instruction *code, GError **error)
{
  PickleItem *value = pickle_pop (machine, error);
  PickleItem *list = value != NULL && pickle_peek (machine, error) != NULL
                         ? container_at (machine, machine->stack->len - 1, PICKLE_LIST, error)
                         : NULL;

  if (list != NULL)
    pickle_append (machine, list, value);
  return list != NULL;
}

static gboolean
run_set_item (PickleMachine *machine, const Instruction *code, GError **error)
{
  PickleItem *value = pickle_pop (machine, error);
  PickleItem *key = value != NULL ? pickle_pop (machine, error) : NULL;
  PickleItem *dict = key != NULL && pickle_peek (machine, error) != NULL
                         ? container_at (machine, machine->stack->len - 1, PICKLE_DICT, error)
                         : NULL;

  if (dict == NULL)
    return FALSE;
  pickle_append (machine, dict, key);
  pickle_append (machine, dict, value);
  return TRUE;
}

static gboolean
run_pop (PickleMachine *machine, const Instruction *code, GError **error)
{
  if (machine->stack->len == 0)
    return pickle_fail (machine, error, "there is no value to drop");
  g_ptr_array_set_size (machine->stack, (gint) machine->stack->len - 1);
  return TRUE;
}

static gboolean
run_pop_mark (PickleMachine *machine, const Instruction *code, GError **error)
{
  guint mark;

  if (!pickle_find_mark (machine, &mark, error))
    return FALSE;
  g_ptr_array_set_size (machine->stack, (gint) mark);
  return TRUE;
}

/* -- names and calls -- */

/* (nullable): a line, without its end */
static char *
take_line (PickleMachine *machine, GError **error)
{
  const guint8 *newline = memchr (machine->at, '\n', (gsize) (machine->end - machine->at));
  const char *line = (const char *) machine->at;
  gsize length;

  if (newline == NULL)
    {
      pickle_fail (machine, error, "the pickle ends in the middle of a name");
      return NULL;
    }
  length = (gsize) (newline - machine->at);
  machine->at = newline + 1;
  if (length > 1024 || memchr (line, '\0', length) != NULL ||
      !g_utf8_validate_len (line, length, NULL))
    {
      pickle_fail (machine, error, "a name that is none");
      return NULL;
    }
  return adj_arena_strndup (machine->arena, line, length);
}

static gboolean
push_global (PickleMachine *machine, const char *module, const char *name, GError **error)
{
  PickleItem *item = pickle_new_item (machine, PICKLE_GLOBAL, error);
  g_autofree char *text = g_strconcat (module, ".", name, NULL);

  if (item != NULL)
    {
      item->text = adj_arena_intern (machine->arena, text);
      item->n = (guint) strlen (text);
    }
  return pickle_push (machine, item);
}

static gboolean
run_global (PickleMachine *machine, const Instruction *code, GError **error)
{
  const char *module = take_line (machine, error);
  const char *name = module != NULL ? take_line (machine, error) : NULL;

  return name != NULL && push_global (machine, module, name, error);
}

static gboolean
run_stack_global (PickleMachine *machine, const Instruction *code, GError **error)
{
  PickleItem *name = pickle_pop (machine, error);
  PickleItem *module = name != NULL ? pickle_pop (machine, error) : NULL;

  if (module == NULL)
    return FALSE;
  if (name->kind != PICKLE_TEXT || module->kind != PICKLE_TEXT || name->n + module->n > 2048)
    return pickle_fail (machine, error, "a name that is none");
  return push_global (machine, module->text, name->text, error);
}

/* Whether @callee is a dict class of Python's library, whose instances are filled by later
 * instructions. */
static gboolean
is_dict_type (const PickleItem *callee)
{
  return callee->kind == PICKLE_GLOBAL && (strcmp (callee->text, "collections.OrderedDict") == 0 ||
                                           strcmp (callee->text, "collections.defaultdict") == 0);
}

static gboolean
run_call (PickleMachine *machine, const Instruction *code, GError **error)
{
  PickleItem *arguments = pickle_pop (machine, error);
  PickleItem *callee = arguments != NULL ? pickle_pop (machine, error) : NULL;
  PickleItem *item;

  if (callee == NULL)
    return FALSE;
  if (is_dict_type (callee))
    return pickle_push (machine, pickle_new_item (machine, PICKLE_DICT, error));
  item = pickle_new_item (machine, PICKLE_CALL, error);
  if (item == NULL)
    return FALSE;
  pickle_append (machine, item, callee);
  pickle_append (machine, item, arguments);
  return pickle_push (machine, item);
}

/* Sets the state of an object that is called for.  The state of a dict (attributes such as
 * _metadata) is dropped. */
static gboolean
run_build (PickleMachine *machine, const Instruction *code, GError **error)
{
  PickleItem *state = pickle_pop (machine, error);
  PickleItem *item = state != NULL ? pickle_peek (machine, error) : NULL;

  if (item != NULL && item->kind == PICKLE_CALL && item->state == NULL)
    item->state = state;
  return item != NULL;
}

static gboolean
run_persistent (PickleMachine *machine, const Instruction *code, GError **error)
{
  PickleItem *id = pickle_pop (machine, error);
  PickleItem *item = id != NULL ? pickle_new_item (machine, PICKLE_PERSISTENT, error) : NULL;

  if (item != NULL)
    pickle_append (machine, item, id);
  if (item != NULL && machine->ids != NULL)
    g_ptr_array_add (machine->ids, item);
  return pickle_push (machine, item);
}

/* -- the memo -- */

/* An index is never larger than the number of instructions before it. */
static gboolean
put (PickleMachine *machine, guint64 index, GError **error)
{
  PickleItem *item = pickle_peek (machine, error);

  if (item == NULL)
    return FALSE;
  if (index > (guint64) (machine->at - machine->start) || index >= PICKLE_MAX_ITEMS)
    return pickle_fail (machine, error, "an index of the memo that nothing leads up to");
  if (index >= machine->memo->len)
    g_ptr_array_set_size (machine->memo, (gint) index + 1);
  machine->memo->pdata[index] = item;
  return TRUE;
}

static gboolean
run_put (PickleMachine *machine, const Instruction *code, GError **error)
{
  guint64 index;

  return pickle_take_number (machine, code->n, &index, error) && put (machine, index, error);
}

static gboolean
run_memoize (PickleMachine *machine, const Instruction *code, GError **error)
{
  return put (machine, machine->memo->len, error);
}

static gboolean
run_get (PickleMachine *machine, const Instruction *code, GError **error)
{
  guint64 index;

  if (!pickle_take_number (machine, code->n, &index, error))
    return FALSE;
  return pickle_push (machine, index < machine->memo->len ? machine->memo->pdata[index] : NULL) ||
         pickle_fail (machine, error, "a value of the memo that was not put there");
}

/* -- the frame of it -- */

static gboolean
run_protocol (PickleMachine *machine, const Instruction *code, GError **error)
{
  guint64 version;

  if (!pickle_take_number (machine, 1, &version, error))
    return FALSE;
  return version <= 5 || pickle_fail (machine, error, "a protocol that is not known");
}

static gboolean
run_frame (PickleMachine *machine, const Instruction *code, GError **error)
{
  return pickle_take (machine, 8, error) != NULL;
}

static gboolean
run_stop (PickleMachine *machine, const Instruction *code, GError **error)
{
  machine->result = pickle_pop (machine, error);
  return machine->result != NULL;
}

static const Instruction instructions[256] = {
  [0x80] = { run_protocol },
  [0x95] = { run_frame },
  ['.'] = { run_stop },
  ['('] = { run_mark },
  ['0'] = { run_pop },
  ['1'] = { run_pop_mark },
  ['N'] = { run_empty, PICKLE_NONE },
  [0x88] = { run_bool, .n = TRUE },
  [0x89] = { run_bool, .n = FALSE },
  ['K'] = { run_int, .n = 1 },
  ['M'] = { run_int, .n = 2 },
  ['J'] = { run_int, .n = 4 },
  [0x8a] = { run_long },
  ['G'] = { run_float },
  [0x8c] = { run_text, PICKLE_TEXT, 1 },
  ['U'] = { run_text, PICKLE_TEXT, 1 },
  ['X'] = { run_text, PICKLE_TEXT, 4 },
  ['T'] = { run_text, PICKLE_TEXT, 4 },
  [0x8d] = { run_text, PICKLE_TEXT, 8 },
  ['C'] = { run_text, PICKLE_BYTES, 1 },
  ['B'] = { run_text, PICKLE_BYTES, 4 },
  [0x8e] = { run_text, PICKLE_BYTES, 8 },
  [0x96] = { run_text, PICKLE_BYTES, 8 },
  [')'] = { run_empty, PICKLE_TUPLE },
  ['t'] = { run_gather, PICKLE_TUPLE },
  [0x85] = { run_small_tuple, .n = 1 },
  [0x86] = { run_small_tuple, .n = 2 },
  [0x87] = { run_small_tuple, .n = 3 },
  [']'] = { run_empty, PICKLE_LIST },
  ['a'] = { run_append },
  ['e'] = { run_gather_into, PICKLE_LIST },
  ['}'] = { run_empty, PICKLE_DICT },
  ['s'] = { run_set_item },
  ['u'] = { run_gather_into, PICKLE_DICT },
  [0x8f] = { run_empty, PICKLE_SET },
  [0x90] = { run_gather_into, PICKLE_SET },
  [0x91] = { run_gather, PICKLE_SET },
  ['c'] = { run_global },
  [0x93] = { run_stack_global },
  ['R'] = { run_call },
  [0x81] = { run_call },
  ['b'] = { run_build },
  ['Q'] = { run_persistent },
  ['q'] = { run_put, .n = 1 },
  ['r'] = { run_put, .n = 4 },
  [0x94] = { run_memoize },
  ['h'] = { run_get, .n = 1 },
  ['j'] = { run_get, .n = 4 },
};

static PickleItem *
run (PickleMachine *machine, GError **error)
{
  while (machine->result == NULL)
    {
      const guint8 *code = pickle_take (machine, 1, error);

      if (code == NULL)
        return NULL;
      if (instructions[*code].run == NULL)
        {
          g_autofree char *what = g_strdup_printf ("instruction 0x%02x, which is not read", *code);

          machine->at--;
          pickle_fail (machine, error, what);
          return NULL;
        }
      if (!instructions[*code].run (machine, &instructions[*code], error))
        return NULL;
    }
  return machine->result;
}

gboolean
pickle_is (const guint8 *head, gsize length)
{
  return length >= 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5 &&
         !(length > 8 && head[8] == '{' && memcmp (head + 4, "\0\0\0\0", 4) == 0);
}

PickleItem *
pickle_read_next (AdjArena *arena,
                  const guint8 *data,
                  gsize length,
                  const char *name,
                  gsize *at,
                  GPtrArray *ids,
                  GError **error)
{
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();
  g_autoptr (GPtrArray) memo = g_ptr_array_new ();
  PickleMachine machine = { .arena = arena,
                            .name = name,
                            .start = data,
                            .at = data + *at,
                            .end = data + length,
                            .stack = stack,
                            .memo = memo,
                            .ids = ids };
  PickleItem *item;

  if (length > MAX_BYTES)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "%s: a pickle of more than 1 GiB", name);
      return NULL;
    }
  item = run (&machine, error);
  *at = (gsize) (machine.at - machine.start);
  return item;
}

PickleItem *
pickle_read (AdjArena *arena, const guint8 *data, gsize length, const char *name, GError **error)
{
  gsize at = 0;

  return pickle_read_next (arena, data, length, name, &at, NULL, error);
}
