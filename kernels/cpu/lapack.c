/* SPDX-License-Identifier: MIT */
/* LAPACK by its Fortran symbols.
 *
 * Every argument is an address; the lengths of character arguments, all 1, are appended.  A call
 * with a work space of length -1 returns the length that is needed. */

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "adj-lapack.h"

#define N_LENGTHS (size_t) 1

/* clang-format off */
typedef void (*Potrf) (const char *, const int *, double *, const int *, int *, size_t);
typedef void (*Getrf) (const int *, const int *, double *, const int *, int *, int *);
typedef void (*Getrs) (const char *, const int *, const int *, const double *, const int *, const int *, double *, const int *, int *, size_t);
typedef void (*Trsm) (const char *, const char *, const char *, const char *, const int *, const int *, const double *, const double *, const int *, double *, const int *, size_t, size_t, size_t, size_t);
typedef void (*Sytrf) (const char *, const int *, double *, const int *, int *, double *, const int *, int *, size_t);
typedef void (*Geqrf) (const int *, const int *, double *, const int *, double *, double *, const int *, int *);
typedef void (*Orgqr) (const int *, const int *, const int *, double *, const int *, const double *, double *, const int *, int *);
typedef void (*Ormqr) (const char *, const char *, const int *, const int *, const int *, const double *, const int *, const double *, double *, const int *, double *, const int *, int *, size_t, size_t);
typedef void (*Dsyevd) (const char *, const char *, const int *, double *, const int *, double *, double *, const int *, int *, const int *, int *, size_t, size_t);
typedef void (*Zheevd) (const char *, const char *, const int *, double *, const int *, double *, double *, const int *, double *, const int *, int *, const int *, int *, size_t, size_t);
typedef void (*Dgeev) (const char *, const char *, const int *, double *, const int *, double *, double *, double *, const int *, double *, const int *, double *, const int *, int *, size_t, size_t);
typedef void (*Zgeev) (const char *, const char *, const int *, double *, const int *, double *, double *, const int *, double *, const int *, double *, const int *, double *, int *, size_t, size_t);
typedef void (*Dgesdd) (const char *, const int *, const int *, double *, const int *, double *, double *, const int *, double *, const int *, double *, const int *, int *, int *, size_t);
typedef void (*Zgesdd) (const char *, const int *, const int *, double *, const int *, double *, double *, const int *, double *, const int *, double *, const int *, double *, int *, int *, size_t);
typedef void (*Gels) (const char *, const int *, const int *, const int *, double *, const int *, double *, const int *, double *, const int *, int *, size_t);
typedef void (*Dgelsy) (const int *, const int *, const int *, double *, const int *, double *, const int *, int *, const double *, int *, double *, const int *, int *);
typedef void (*Zgelsy) (const int *, const int *, const int *, double *, const int *, double *, const int *, int *, const double *, int *, double *, const int *, double *, int *);
typedef void (*Dgelsd) (const int *, const int *, const int *, double *, const int *, double *, const int *, double *, const double *, int *, double *, const int *, int *, int *);
typedef void (*Zgelsd) (const int *, const int *, const int *, double *, const int *, double *, const int *, double *, const double *, int *, double *, const int *, double *, int *, int *);

/* X (type, field, symbol for f64, symbol for complex): functions with equal signatures. */
#define PAIRS(X)                                                                                   \
  X (Potrf, potrf, "dpotrf_", "zpotrf_") X (Potrf, potri, "dpotri_", "zpotri_")                    \
  X (Getrf, getrf, "dgetrf_", "zgetrf_") X (Getrs, getrs, "dgetrs_", "zgetrs_")                    \
  X (Trsm, trsm, "dtrsm_", "ztrsm_") X (Sytrf, sytrf, "dsytrf_", "zsytrf_")                        \
  X (Sytrf, hetrf, "dsytrf_", "zhetrf_") X (Getrs, sytrs, "dsytrs_", "zsytrs_")                    \
  X (Getrs, hetrs, "dsytrs_", "zhetrs_") X (Geqrf, geqrf, "dgeqrf_", "zgeqrf_")                    \
  X (Orgqr, orgqr, "dorgqr_", "zungqr_") X (Ormqr, ormqr, "dormqr_", "zunmqr_")                    \
  X (Gels, gels, "dgels_", "zgels_")
#define SINGLES(X)                                                                                 \
  X (Dsyevd, dsyevd) X (Zheevd, zheevd) X (Dgeev, dgeev) X (Zgeev, zgeev) X (Dgesdd, dgesdd)       \
  X (Zgesdd, zgesdd) X (Dgelsy, dgelsy) X (Zgelsy, zgelsy) X (Dgelsd, dgelsd) X (Zgelsd, zgelsd)
/* clang-format on */

static struct
{
#define FIELD(type, name, d, z) type name[2];
  PAIRS (FIELD)
#undef FIELD
#define FIELD(type, name) type name;
  SINGLES (FIELD)
#undef FIELD
  bool there, serial;
  const char *why;
} lapack;

/* -- opening -- */

static bool
find (void *library, const char *symbol, void *function)
{
  void *found = dlsym (library, symbol);

  memcpy (function, &found, sizeof found);
  return found != NULL;
}

static bool
find_all (void *library)
{
  bool found = true;

#define FIND(type, name, d, z)                                                                     \
  found = found && find (library, d, &lapack.name[0]) && find (library, z, &lapack.name[1]);
  PAIRS (FIND)
#undef FIND
#define FIND(type, name) found = found && find (library, #name "_", &lapack.name);
  SINGLES (FIND)
#undef FIND
  return found;
}

/* Results of a multithreaded BLAS depend on the number of threads.  The reference BLAS has one. */
static bool
make_serial (void *library)
{
  static const char *const setters[] = { "openblas_set_num_threads", "MKL_Set_Num_Threads",
                                         "bli_thread_set_num_threads" };
  void (*set) (long);

  for (size_t i = 0; i < sizeof setters / sizeof *setters; i++)
    if (find (library, setters[i], &set))
      {
        set (1);
        return true;
      }
  return !find (library, "ATL_dgemm", &set);
}

static void
open_library (void)
{
  void *library = dlopen ("liblapack.so.3", RTLD_NOW | RTLD_LOCAL);

  if (library == NULL)
    {
      lapack.why = "liblapack.so.3 cannot be opened";
      return;
    }
  lapack.there = find_all (library);
  if (lapack.there)
    lapack.serial = make_serial (library);
  else
    lapack.why = "liblapack.so.3 lacks functions";
}

bool
adj_lapack_open (const char **why)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  pthread_once (&once, open_library);
  if (why != NULL)
    *why = lapack.why;
  return lapack.there;
}

bool
adj_lapack_is_serial (void)
{
  return lapack.serial;
}

/* -- what several functions need -- */

/* The leading dimension for @rows rows. */
static int
leading (int rows)
{
  return rows > 1 ? rows : 1;
}

static int
least (int a, int b)
{
  return a < b ? a : b;
}

/* @n numbers, pairs when @z. */
static double *
new_numbers (bool z, int n)
{
  return calloc ((size_t) leading (n), (z ? 2 : 1) * sizeof (double));
}

/* Work space of the size in the first number of @query. */
static double *
new_work (bool z, const double *query, int *n)
{
  *n = leading ((int) query[0]);
  return new_numbers (z, *n);
}

/* -- factors -- */

int
adj_lapack_potrf (bool z, char uplo, int n, double *a)
{
  int info = 0, lda = leading (n);

  lapack.potrf[z](&uplo, &n, a, &lda, &info, N_LENGTHS);
  return info;
}

int
adj_lapack_potri (bool z, char uplo, int n, double *a)
{
  int info = 0, lda = leading (n);

  lapack.potri[z](&uplo, &n, a, &lda, &info, N_LENGTHS);
  return info;
}

int
adj_lapack_getrf (bool z, int m, int n, double *a, int *pivots)
{
  int info = 0, lda = leading (m);

  lapack.getrf[z](&m, &n, a, &lda, pivots, &info);
  return info;
}

int
adj_lapack_getrs (
    bool z, char trans, int n, int n_columns, const double *a, const int *pivots, double *b)
{
  int info = 0, ld = leading (n);

  lapack.getrs[z](&trans, &n, &n_columns, a, &ld, pivots, b, &ld, &info, N_LENGTHS);
  return info;
}

void
adj_lapack_trsm (
    bool z, char side, char uplo, char trans, char diag, int m, int n, const double *a, double *b)
{
  const double one[2] = { 1, 0 };
  int lda = leading (side == 'L' ? m : n), ldb = leading (m);

  lapack.trsm[z](&side, &uplo, &trans, &diag, &m, &n, one, a, &lda, b, &ldb, N_LENGTHS, N_LENGTHS,
                 N_LENGTHS, N_LENGTHS);
}

int
adj_lapack_sytrf (bool z, bool hermitian, int n, double *a, int *pivots)
{
  Sytrf function = hermitian ? lapack.hetrf[z] : lapack.sytrf[z];
  int info = 0, lda = leading (n), n_work = -1;
  double query[2], *work;

  function ("L", &n, a, &lda, pivots, query, &n_work, &info, N_LENGTHS);
  work = new_work (z, query, &n_work);
  if (work == NULL)
    return -1;
  function ("L", &n, a, &lda, pivots, work, &n_work, &info, N_LENGTHS);
  free (work);
  return info;
}

int
adj_lapack_sytrs (
    bool z, bool hermitian, int n, int n_columns, const double *a, const int *pivots, double *b)
{
  Getrs function = hermitian ? lapack.hetrs[z] : lapack.sytrs[z];
  int info = 0, ld = leading (n);

  function ("L", &n, &n_columns, a, &ld, pivots, b, &ld, &info, N_LENGTHS);
  return info;
}

int
adj_lapack_geqrf (bool z, int m, int n, double *a, double *tau)
{
  int info = 0, lda = leading (m), n_work = -1;
  double query[2], *work;

  lapack.geqrf[z](&m, &n, a, &lda, tau, query, &n_work, &info);
  work = new_work (z, query, &n_work);
  if (work == NULL)
    return -1;
  lapack.geqrf[z](&m, &n, a, &lda, tau, work, &n_work, &info);
  free (work);
  return info;
}

int
adj_lapack_orgqr (bool z, int m, int n, int k, double *a, const double *tau)
{
  int info = 0, lda = leading (m), n_work = -1;
  double query[2], *work;

  lapack.orgqr[z](&m, &n, &k, a, &lda, tau, query, &n_work, &info);
  work = new_work (z, query, &n_work);
  if (work == NULL)
    return -1;
  lapack.orgqr[z](&m, &n, &k, a, &lda, tau, work, &n_work, &info);
  free (work);
  return info;
}

int
adj_lapack_ormqr (bool z,
                  char side,
                  char trans,
                  int m,
                  int n,
                  int k,
                  const double *a,
                  const double *tau,
                  double *c)
{
  int info = 0, lda = leading (side == 'L' ? m : n), ldc = leading (m), n_work = -1;
  double query[2], *work;

  lapack.ormqr[z](&side, &trans, &m, &n, &k, a, &lda, tau, c, &ldc, query, &n_work, &info,
                  N_LENGTHS, N_LENGTHS);
  work = new_work (z, query, &n_work);
  if (work == NULL)
    return -1;
  lapack.ormqr[z](&side, &trans, &m, &n, &k, a, &lda, tau, c, &ldc, work, &n_work, &info, N_LENGTHS,
                  N_LENGTHS);
  free (work);
  return info;
}

/* -- eigenvalues -- */

typedef struct
{
  double *work, *real;
  int *whole;
} Spaces;

static int
free_spaces (Spaces *spaces, int info)
{
  free (spaces->work);
  free (spaces->real);
  free (spaces->whole);
  return info;
}

int
adj_lapack_syevd (bool z, bool vectors, char uplo, int n, double *a, double *w)
{
  const char job = vectors ? 'V' : 'N';
  int info = 0, lda = leading (n), n_work = -1, n_real = -1, n_whole = -1, whole = 0;
  double query[2] = { 0 }, real = 0;
  Spaces s;

  if (z)
    lapack.zheevd (&job, &uplo, &n, a, &lda, w, query, &n_work, &real, &n_real, &whole, &n_whole,
                   &info, N_LENGTHS, N_LENGTHS);
  else
    lapack.dsyevd (&job, &uplo, &n, a, &lda, w, query, &n_work, &whole, &n_whole, &info, N_LENGTHS,
                   N_LENGTHS);
  n_real = leading ((int) real);
  n_whole = leading (whole);
  s = (Spaces){ new_work (z, query, &n_work), new_numbers (false, n_real),
                calloc ((size_t) n_whole, sizeof (int)) };
  if (s.work == NULL || s.real == NULL || s.whole == NULL)
    return free_spaces (&s, -1);
  if (z)
    lapack.zheevd (&job, &uplo, &n, a, &lda, w, s.work, &n_work, s.real, &n_real, s.whole, &n_whole,
                   &info, N_LENGTHS, N_LENGTHS);
  else
    lapack.dsyevd (&job, &uplo, &n, a, &lda, w, s.work, &n_work, s.whole, &n_whole, &info,
                   N_LENGTHS, N_LENGTHS);
  return free_spaces (&s, info);
}

/* Unpacks eigenvectors of dgeev, where a conjugate pair is stored as its real and imaginary part.
 */
static void
pair_vectors (int n, const double *wi, const double *packed, double *out)
{
  for (int j = 0; j < n; j++)
    {
      bool first = wi[j] != 0 && j + 1 < n;

      for (int i = 0; i < n; i++)
        {
          size_t at = (size_t) j * (size_t) n + (size_t) i, next = at + (size_t) n;

          out[2 * at] = packed[at];
          out[2 * at + 1] = first ? packed[next] : 0;
          if (!first)
            continue;
          out[2 * next] = packed[at];
          out[2 * next + 1] = -packed[next];
        }
      j += first;
    }
}

static int
real_geev (int n, double *a, double *w, double *vectors)
{
  const char none = 'N', job = vectors != NULL ? 'V' : 'N';
  int info = 0, ld = leading (n), n_work = -1;
  double query[2], *values = new_numbers (true, n);
  Spaces s = { NULL, new_numbers (false, vectors != NULL ? ld * ld : 1), NULL };

  if (values != NULL && s.real != NULL)
    {
      lapack.dgeev (&none, &job, &n, a, &ld, values, values + n, NULL, &ld, s.real, &ld, query,
                    &n_work, &info, N_LENGTHS, N_LENGTHS);
      s.work = new_work (false, query, &n_work);
    }
  if (s.work == NULL)
    {
      free (values);
      return free_spaces (&s, -1);
    }
  lapack.dgeev (&none, &job, &n, a, &ld, values, values + n, NULL, &ld, s.real, &ld, s.work,
                &n_work, &info, N_LENGTHS, N_LENGTHS);
  for (int i = 0; i < n; i++)
    {
      w[2 * i] = values[i];
      w[2 * i + 1] = values[n + i];
    }
  if (vectors != NULL)
    pair_vectors (n, values + n, s.real, vectors);
  free (values);
  return free_spaces (&s, info);
}

int
adj_lapack_geev (bool z, int n, double *a, double *w, double *vectors)
{
  const char none = 'N', job = vectors != NULL ? 'V' : 'N';
  int info = 0, ld = leading (n), n_work = -1;
  double query[2];
  Spaces s = { NULL, NULL, NULL };

  if (!z)
    return real_geev (n, a, w, vectors);
  s.real = new_numbers (false, 2 * n);
  if (s.real == NULL)
    return -1;
  lapack.zgeev (&none, &job, &n, a, &ld, w, NULL, &ld, vectors, &ld, query, &n_work, s.real, &info,
                N_LENGTHS, N_LENGTHS);
  s.work = new_work (true, query, &n_work);
  if (s.work == NULL)
    return free_spaces (&s, -1);
  lapack.zgeev (&none, &job, &n, a, &ld, w, NULL, &ld, vectors, &ld, s.work, &n_work, s.real, &info,
                N_LENGTHS, N_LENGTHS);
  return free_spaces (&s, info);
}

/* -- singular values -- */

int
adj_lapack_gesdd (bool z, char job, int m, int n, double *a, double *s, double *u, double *vt)
{
  int k = least (m, n), info = 0, lda = leading (m), ldu = leading (m), n_work = -1;
  int ldvt = leading (job == 'S' ? k : n);
  size_t small = (size_t) leading (k), large = (size_t) leading (m > n ? m : n);
  double query[2];
  Spaces spaces = { NULL, calloc (small * (5 * small + 7 + 2 * large + 2 * small), sizeof (double)),
                    calloc (8 * small, sizeof (int)) };

  if (spaces.real == NULL || spaces.whole == NULL)
    return free_spaces (&spaces, -1);
  if (z)
    lapack.zgesdd (&job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, query, &n_work, spaces.real,
                   spaces.whole, &info, N_LENGTHS);
  else
    lapack.dgesdd (&job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, query, &n_work, spaces.whole,
                   &info, N_LENGTHS);
  spaces.work = new_work (z, query, &n_work);
  if (spaces.work == NULL)
    return free_spaces (&spaces, -1);
  if (z)
    lapack.zgesdd (&job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, spaces.work, &n_work, spaces.real,
                   spaces.whole, &info, N_LENGTHS);
  else
    lapack.dgesdd (&job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, spaces.work, &n_work, spaces.whole,
                   &info, N_LENGTHS);
  return free_spaces (&spaces, info);
}

/* -- least squares -- */

typedef struct
{
  bool z;
  int m, n, n_columns, lda, ldb;
  double *a, *b, *s;
  double rcond;
  int *rank;
  double *real;
  int *whole;
} Least;

static int
call_least (char driver, const Least *l, double *work, int n_work)
{
  int info = 0;

  if (driver == 's')
    lapack.gels[l->z]("N", &l->m, &l->n, &l->n_columns, l->a, &l->lda, l->b, &l->ldb, work, &n_work,
                      &info, N_LENGTHS);
  else if (driver == 'y' && l->z)
    lapack.zgelsy (&l->m, &l->n, &l->n_columns, l->a, &l->lda, l->b, &l->ldb, l->whole, &l->rcond,
                   l->rank, work, &n_work, l->real, &info);
  else if (driver == 'y')
    lapack.dgelsy (&l->m, &l->n, &l->n_columns, l->a, &l->lda, l->b, &l->ldb, l->whole, &l->rcond,
                   l->rank, work, &n_work, &info);
  else if (l->z)
    lapack.zgelsd (&l->m, &l->n, &l->n_columns, l->a, &l->lda, l->b, &l->ldb, l->s, &l->rcond,
                   l->rank, work, &n_work, l->real, l->whole, &info);
  else
    lapack.dgelsd (&l->m, &l->n, &l->n_columns, l->a, &l->lda, l->b, &l->ldb, l->s, &l->rcond,
                   l->rank, work, &n_work, l->whole, &info);
  return info;
}

int
adj_lapack_gels (char driver,
                 bool z,
                 int m,
                 int n,
                 int n_columns,
                 double *a,
                 double *b,
                 double rcond,
                 double *s,
                 int *rank)
{
  size_t k = (size_t) leading (least (m, n)), columns = (size_t) leading (n_columns);
  /* Upper bound of the work space of dgelsd and zgelsd, for subproblems of 25 and at most 2^26 of
   * them. */
  size_t n_real = 10 * k + 50 * k + 26 * 8 * k + 3 * 25 * columns + 26 * 26 + k * (1 + columns) +
                  2 * columns + 2 * (size_t) leading (n);
  Least l = { z,
              m,
              n,
              n_columns,
              leading (m),
              leading (m > n ? m : n),
              a,
              b,
              s,
              rcond,
              rank,
              calloc (n_real, sizeof (double)),
              calloc (3 * 26 * k + 11 * k + (size_t) leading (n), sizeof (int)) };
  Spaces spaces = { NULL, l.real, l.whole };
  double query[2];
  int n_work, info;

  if (l.real == NULL || l.whole == NULL)
    return free_spaces (&spaces, -1);
  info = call_least (driver, &l, query, -1);
  spaces.work = new_work (z, query, &n_work);
  if (spaces.work == NULL)
    return free_spaces (&spaces, -1);
  if (info == 0)
    info = call_least (driver, &l, spaces.work, n_work);
  return free_spaces (&spaces, info);
}
