/* SPDX-License-Identifier: MIT */
/* Kernels of the library with their arguments as constants.  Words that could be addresses are
 * passed at run time, so that the text is valid for other memory; passing other words too is
 * harmless. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adj-kernel-cuda.h"
#include "cuda/kernel-list.h"
#include "cuda/source.h"

enum
{
  MAX_WORDS = 4096 / 8
};

typedef struct
{
  const char *symbol, *args, *file;
} Row;

#define ROW(symbol, Args, file) { #symbol, #Args, file },

static const Row rows[] = { ADJ_CUDA_KERNELS (ROW) };

static const Row *
find_row (const char *symbol)
{
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (strcmp (rows[i].symbol, symbol) == 0)
      return &rows[i];
  return NULL;
}

const char *
adj_k_cuda_find_module (const char *symbol)
{
  const Row *row = find_row (symbol);

  return row != NULL ? row->file : NULL;
}

/* Sizes are smaller, floating numbers larger than addresses; type and rank of a view share one
 * word. */
static bool
may_be_address (uint64_t word)
{
  uint32_t high = (uint32_t) (word >> 32), low = (uint32_t) word;

  return high != 0 && high >> 24 == 0 && (high > ADJ_K_MAX_RANK || low >= ADJ_K_N);
}

/* Collects the @words that are passed at run time; returns their number. */
static int
find_addresses (const uint64_t *words, int n_words, uint64_t *addresses)
{
  int n = 0;

  for (int i = 0; i < n_words; i++)
    if (may_be_address (words[i]))
      addresses[n++] = words[i];
  return n;
}

static void
write_kernel (FILE *out,
              const Row *row,
              uint32_t n_threads,
              const uint64_t *words,
              int n_words,
              int n_addresses)
{
  int n = 0;

  fprintf (out, "#define KERNELS_ARE_FUNCTIONS\n#define THREADS %u\n", n_threads);
  fprintf (out, "#include \"cuda/%s.cu\"\n\n", row->file);
  fprintf (out, "typedef struct { uint64_t at[%d]; } Addresses;\n\n", n_addresses);
  fprintf (out, "ENTRY (made, Addresses)\n{\n");
  fprintf (out, "  union { %s args; uint64_t words[%d]; } given;\n\n", row->args, n_words);
  for (int i = 0; i < n_words; i++)
    if (may_be_address (words[i]))
      fprintf (out, "  given.words[%d] = args.at[%d];\n", i, n++);
    else
      fprintf (out, "  given.words[%d] = UINT64_C (0x%llx);\n", i, (unsigned long long) words[i]);
  fprintf (out, "  %s_function (given.args);\n}\n", row->symbol);
}

bool
adj_k_cuda_run_special (
    AdjKQueue *queue, const char *symbol, const AdjKLaunch *shape, const void *args, size_t size)
{
  const Row *row = find_row (symbol);
  uint64_t words[MAX_WORDS], addresses[MAX_WORDS];
  int n_words = (int) (size / sizeof words[0]), n;
  char *source = NULL;
  size_t length;
  FILE *out;
  bool done;

  if (queue->device->launch_made == NULL || row == NULL || size > sizeof words)
    return false;
  out = open_memstream (&source, &length);
  if (out == NULL)
    return false;
  memcpy (words, args, size);
  n = find_addresses (words, n_words, addresses);
  write_kernel (out, row, shape->block[0], words, n_words, n);
  done = fclose (out) == 0 && queue->device->launch_made (queue, source, shape, addresses,
                                                          (size_t) n * sizeof addresses[0]);
  free (source);
  return done;
}
