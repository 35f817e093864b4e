/* SPDX-License-Identifier: MIT */
/* A pointwise program as source: a thread takes a few neighbouring elements, which are loaded and
 * stored together where they are adjacent; its steps are plain expressions. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/source.h"
#include "steps-text.h"

enum
{
  MAX_WIDTH = 8,   /* elements of a thread */
  LOAD_BYTES = 16, /* at most, at once */
  THREADS = 256,
  BLOCKS = 1 << 20
};

/* How a thread accesses an operand. */
typedef enum
{
  AS_ONE,  /* one element for all of the thread's elements */
  AS_PACK, /* adjacent elements at once */
  EACH,    /* one by one */
} Access;

typedef struct
{
  const AdjKStep *steps;
  const AdjKView *views;
  int n_steps, n_views, width;
  int64_t n;
  bool wide;                         /* offsets need 64 bits */
  bool stored[ADJ_K_MAX_OPERANDS];   /* else loaded */
  Access access[ADJ_K_MAX_OPERANDS]; /* of each view */
} Program;

/* -- what is loaded how -- */

static int64_t
last_size (const Program *p)
{
  const AdjKView *view = &p->views[0];

  return view->rank > 0 ? view->size[view->rank - 1] : 1;
}

static int64_t
last_stride (const AdjKView *view)
{
  return view->rank > 0 ? view->stride[view->rank - 1] : 0;
}

/* Whether groups of @width elements of @view are aligned to the size of a load. */
static bool
is_aligned (const AdjKView *view, int width)
{
  size_t element = adj_k_type_get_size (view->type), bytes = element * (size_t) width;

  if (bytes > LOAD_BYTES)
    bytes = LOAD_BYTES;
  if ((uintptr_t) view->data % bytes != 0)
    return false;
  for (int d = 0; d + 1 < view->rank; d++)
    if ((size_t) view->stride[d] * element % bytes != 0)
      return false;
  return true;
}

/* The number of elements that the widest operand loads at once, if all groups are whole and
 * aligned. */
static int
choose_width (const Program *p)
{
  size_t widest = 1;
  int width;

  for (int i = 0; i < p->n_views; i++)
    if (last_stride (&p->views[i]) == 1 && adj_k_type_get_size (p->views[i].type) > widest)
      widest = adj_k_type_get_size (p->views[i].type);
  width = LOAD_BYTES / (int) widest;
  if (width > MAX_WIDTH)
    width = MAX_WIDTH;
  if (last_size (p) % width != 0)
    return 1;
  for (int i = 0; i < p->n_views; i++)
    if (last_stride (&p->views[i]) == 1 && !is_aligned (&p->views[i], width))
      return 1;
  return width;
}

static void
choose_access (Program *p)
{
  p->width = choose_width (p);
  for (int i = 0; i < p->n_steps; i++)
    if (p->steps[i].kind == ADJ_K_STEP_STORE)
      p->stored[p->steps[i].operand] = true;
  for (int i = 0; i < p->n_views; i++)
    {
      int64_t stride = last_stride (&p->views[i]), furthest = 0;

      p->access[i] = stride == 0 && !p->stored[i] ? AS_ONE : stride == 1 ? AS_PACK : EACH;
      for (int d = 0; d < p->views[i].rank; d++)
        furthest += (p->views[i].size[d] - 1) * p->views[i].stride[d];
      p->wide = p->wide || furthest > INT32_MAX;
    }
  p->wide = p->wide || p->n > INT32_MAX;
}

/* -- where operands lie -- */

static void
write_places (FILE *out, const Program *p)
{
  const AdjKView *first = &p->views[0];
  const char *integer = p->wide ? "int64_t" : "uint32_t";

  fprintf (out, "      %s rest = (%s) at * %d;\n", integer, integer, p->width);
  for (int d = first->rank; d-- > 1;)
    fprintf (out, "      %s i%d = rest %% %lldu;\n      rest /= %lldu;\n", integer, d,
             (long long) first->size[d], (long long) first->size[d]);
  fprintf (out, "      %s i0 = rest;\n", integer);
  for (int i = 0; i < p->n_views; i++)
    {
      fprintf (out, "      %s o%d = 0", integer, i);
      for (int d = 0; d < p->views[i].rank; d++)
        if (p->views[i].stride[d] != 0)
          fprintf (out, " + i%d * %lldu", d, (long long) p->views[i].stride[d]);
      fprintf (out, ";\n");
    }
}

/* Writes the address of operand @i, with its offset. */
static void
write_address (FILE *out, const Program *p, int i)
{
  fprintf (out, "((char *) args.at[%d] + (int64_t) o%d * %zu)", i, i,
           adj_k_type_get_size (p->views[i].type));
}

static void
write_loads (FILE *out, const Program *p)
{
  for (int i = 0; i < p->n_views; i++)
    {
      size_t size = adj_k_type_get_size (p->views[i].type);

      fprintf (out, "      Pack%zu v%d;\n", size, i);
      if (p->stored[i] || p->access[i] == EACH)
        continue;
      if (p->access[i] == AS_PACK)
        fprintf (out, "      v%d = *(const Pack%zu *) ", i, size);
      else
        fprintf (out, "      v%d.at[0] = *(const Word%zu *) ", i, size);
      write_address (out, p, i);
      fprintf (out, ";\n");
    }
}

static void
write_stores (FILE *out, const Program *p)
{
  for (int i = 0; i < p->n_views; i++)
    if (p->stored[i] && p->access[i] == AS_PACK)
      {
        fprintf (out, "      *(Pack%zu *) ", adj_k_type_get_size (p->views[i].type));
        write_address (out, p, i);
        fprintf (out, " = v%d;\n", i);
      }
}

/* -- steps -- */

/* Writes the arguments of functions of element.h: memory, and the index of the element. */
static void
write_element (FILE *out, int i, const void *data)
{
  const Program *p = data;
  long long stride = (long long) last_stride (&p->views[i]);

  if (p->access[i] == AS_ONE)
    fprintf (out, "&v%d, 0", i);
  else if (p->access[i] == AS_PACK)
    fprintf (out, "&v%d, e", i);
  else
    {
      write_address (out, p, i);
      fprintf (out, ", (int64_t) e * %lld", stride);
    }
}

/* -- the whole -- */

static void
write_packs (FILE *out, int width)
{
  for (int size = 1; size <= 8; size *= 2)
    {
      int bytes = size * width < LOAD_BYTES ? size * width : LOAD_BYTES;

      fprintf (out, "typedef uint%d_t Word%d;\n", size * 8, size);
      fprintf (out, "typedef struct __attribute__ ((aligned (%d))) { Word%d at[%d]; } Pack%d;\n",
               bytes, size, width, size);
    }
}

static void
write_program (FILE *out, Program *p)
{
  AdjKStepsText text = { .out = out,
                         .steps = p->steps,
                         .views = p->views,
                         .zero_division = "set_flag (&args.faults->zero_division)",
                         .element = write_element,
                         .data = p };

  fprintf (out, "#include \"cuda/args.h\"\n#include \"cuda/class.h\"\n\n");
  write_packs (out, p->width);
  fprintf (out, "typedef struct { void *at[%d]; AdjKFaults *faults; } Operands;\n\n", p->n_views);
  fprintf (out, "ENTRY (made, Operands)\n{\n  FOR_EACH (at, %lldll)\n    {\n",
           (long long) (p->n / p->width));
  write_places (out, p);
  write_loads (out, p);
  fprintf (out, "      UNROLLED for (int e = 0; e < %d; e++)\n        {\n", p->width);
  adj_k_steps_text_declare (&text, 0, p->n_steps);
  adj_k_steps_text_write (&text, 0, p->n_steps);
  fprintf (out, "        }\n");
  write_stores (out, p);
  fprintf (out, "    }\n}\n");
}

static bool
run_program (AdjKQueue *queue, const Program *p, const char *source)
{
  void *operands[ADJ_K_MAX_OPERANDS + 1];
  int64_t blocks = (p->n / p->width + THREADS - 1) / THREADS;
  AdjKLaunch shape = { .grid = { (uint32_t) (blocks < BLOCKS ? blocks : BLOCKS), 1, 1 },
                       .block = { THREADS, 1, 1 } };

  for (int i = 0; i < p->n_views; i++)
    operands[i] = p->views[i].data;
  operands[p->n_views] = queue->faults;
  return queue->device->launch_made (queue, source, &shape, operands,
                                     (size_t) (p->n_views + 1) * sizeof operands[0]);
}

bool
adj_k_cuda_run_steps (
    AdjKQueue *queue, const AdjKStep *steps, int n_steps, const AdjKView *views, int n_views)
{
  Program p = { .steps = steps,
                .views = views,
                .n_steps = n_steps,
                .n_views = n_views,
                .n = adj_k_view_count (&views[0]) };
  char *source = NULL;
  size_t length;
  FILE *out;
  bool done;

  if (queue->device->launch_made == NULL || n_views > ADJ_K_MAX_OPERANDS || p.n == 0)
    return false;
  out = open_memstream (&source, &length);
  if (out == NULL)
    return false;
  choose_access (&p);
  write_program (out, &p);
  done = fclose (out) == 0 && run_program (queue, &p, source);
  free (source);
  return done;
}
