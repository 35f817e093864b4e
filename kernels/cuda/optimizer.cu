/* SPDX-License-Identifier: MIT */
/* Steps of optimisers: a thread per element, computed in f64 as on the CPU. */

#include "cuda/args.h"
#include "cuda/class.h"

DEVICE double
load_at (const AdjKView *view, int64_t i)
{
  return f64_load (view->data, view->type, offset_of (view, i));
}

DEVICE void
store_at (const AdjKView *view, int64_t i, double x)
{
  f64_store (view->data, view->type, offset_of (view, i), x);
}

DEVICE double
number_of (const AdjKNumber *number)
{
  return number->at.data ? f64_load (number->at.data, number->at.type, 0) : number->value;
}

/* Element @i of the gradient, divided by the scale, which is written back. */
DEVICE double
unscaled (const AdjKView *view, int64_t i, double scale, bool maximize)
{
  double g = load_at (view, i);

  if (scale != 0)
    {
      g /= scale;
      store_at (view, i, g);
    }
  return maximize ? -g : g;
}

KERNEL (adj_adam, AdamArgs)
{
  const double lr = number_of (&args.lr), step = number_of (&args.step);
  const double scale = number_of (&args.grad_scale);
  const double step_size = lr / (1 - pow (args.beta1, step));
  const double root = sqrt (1 - pow (args.beta2, step));

  if (number_of (&args.found) == 1)
    return;
  FOR_EACH (i, args.n)
    {
      double p = load_at (&args.p, i), m = load_at (&args.m, i), v = load_at (&args.v, i);
      double g = unscaled (&args.g, i, scale, args.maximize);

      if (args.decoupled)
        p -= lr * args.weight_decay * p;
      else
        g += args.weight_decay * p;
      m += (1 - args.beta1) * (g - m);
      v = args.beta2 * v + (1 - args.beta2) * g * g;
      store_at (&args.m, i, m);
      store_at (&args.v, i, v);
      if (args.v_max.data)
        {
          double top = load_at (&args.v_max, i);

          v = top > v ? top : v;
          store_at (&args.v_max, i, v);
        }
      store_at (&args.p, i, p - step_size * m / (sqrt (v) / root + args.eps));
    }
}

KERNEL (adj_sgd, SgdArgs)
{
  const double lr = number_of (&args.lr), scale = number_of (&args.grad_scale);

  if (number_of (&args.found) == 1)
    return;
  FOR_EACH (i, args.n)
    {
      double p = load_at (&args.p, i);
      double g = unscaled (&args.g, i, scale, args.maximize) + args.weight_decay * p;

      if (args.m.data)
        {
          double m = args.is_first ? g
                                   : args.momentum * load_at (&args.m, i) +
                                         (1 - args.dampening) * g;

          store_at (&args.m, i, m);
          g = args.nesterov ? g + args.momentum * m : m;
        }
      store_at (&args.p, i, p - lr * g);
    }
}

/* `found` becomes 1 where an element is not finite; all threads that write it write the same
 * value. */
KERNEL (adj_unscale, UnscaleArgs)
{
  const double factor = number_of (&args.factor);

  FOR_EACH (i, args.n)
    {
      double x = load_at (&args.x, i);

      if (!(fabs (x) < (double) INFINITY))
        set_flag_f32 ((float *) args.found.data);
      store_at (&args.x, i, x * factor);
    }
}
