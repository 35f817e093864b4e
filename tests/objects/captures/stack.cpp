// SPDX-License-Identifier: MIT
// A stack of tensors and averages that forget, as classes of TorchScript, and an operator that takes
// a stack.

#include <ATen/ATen.h>
#include <torch/custom_class.h>
#include <torch/library.h>

#include <string>
#include <vector>

struct Stack : torch::CustomClassHolder
{
  Stack (std::vector<at::Tensor> items, int64_t limit) : items_ (std::move (items)), limit_ (limit) {}

  void push (at::Tensor x) { items_.push_back (std::move (x)); }

  at::Tensor pop ()
  {
    at::Tensor top = items_.at (items_.size () - 1);
    items_.pop_back ();
    return top;
  }

  at::Tensor peek (int64_t depth) { return items_.at (items_.size () - 1 - (size_t) depth); }
  void swap (int64_t one, int64_t other) { std::swap (items_.at (one), items_.at (other)); }
  std::vector<at::Tensor> all () { return items_; }
  bool full () { return (int64_t) items_.size () >= limit_; }

  std::tuple<at::Tensor, int64_t> peek_and_depth ()
  {
    return std::tuple (peek (0), (int64_t) items_.size ());
  }

  std::tuple<std::tuple<std::string, std::vector<at::Tensor>>, std::tuple<std::string, int64_t>>
  flatten ()
  {
    return std::tuple (std::tuple (std::string ("items"), items_),
                       std::tuple (std::string ("limit"), limit_));
  }

  std::vector<at::Tensor> items_;
  int64_t limit_;
};

struct Average : torch::CustomClassHolder
{
  Average (at::Tensor sums, at::Tensor counts, double decay, std::string name)
      : sums_ (std::move (sums)), counts_ (std::move (counts)), decay_ (decay), name_ (std::move (name))
  {
  }

  void update (int64_t row, at::Tensor x)
  {
    sums_ = sums_.clone ();
    counts_ = counts_.clone ();
    sums_.select (0, row).mul_ (decay_).add_ (x);
    counts_.select (0, row).mul_ (decay_).add_ (1);
  }

  at::Tensor mean (int64_t row) { return sums_.select (0, row) / counts_.select (0, row); }
  double decay () { return decay_; }

  std::optional<at::Tensor> maybe (bool give)
  {
    return give ? std::optional<at::Tensor> (sums_.clone ()) : std::nullopt;
  }

  std::tuple<std::tuple<std::string, at::Tensor>, std::tuple<std::string, at::Tensor>,
             std::tuple<std::string, double>, std::tuple<std::string, std::string>>
  flatten ()
  {
    return std::tuple (
        std::tuple (std::string ("sums"), sums_), std::tuple (std::string ("counts"), counts_),
        std::tuple (std::string ("decay"), decay_), std::tuple (std::string ("name"), name_));
  }

  at::Tensor sums_, counts_;
  double decay_;
  std::string name_;
};

static at::Tensor
add_top (c10::intrusive_ptr<Stack> stack, at::Tensor x)
{
  return stack->peek (0) + x;
}

template <typename T>
static bool
same (const c10::intrusive_ptr<T> &a, const c10::intrusive_ptr<T> &b)
{
  return a.get () == b.get ();
}

TORCH_LIBRARY (unseen, m)
{
  m.class_<Stack> ("Stack")
      .def (torch::init<std::vector<at::Tensor>, int64_t> ())
      .def ("push", &Stack::push)
      .def ("pop", &Stack::pop)
      .def ("peek", &Stack::peek)
      .def ("swap", &Stack::swap)
      .def ("all", &Stack::all)
      .def ("full", &Stack::full)
      .def ("peek_and_depth", &Stack::peek_and_depth)
      .def ("__eq__", &same<Stack>)
      .def ("__obj_flatten__", &Stack::flatten)
      .def_pickle (
          [] (const c10::intrusive_ptr<Stack> &self) { return std::tuple (self->items_, self->limit_); },
          [] (std::tuple<std::vector<at::Tensor>, int64_t> state) {
            return c10::make_intrusive<Stack> (std::get<0> (state), std::get<1> (state));
          });
  m.class_<Average> ("Average")
      .def (torch::init<at::Tensor, at::Tensor, double, std::string> ())
      .def ("update", &Average::update)
      .def ("mean", &Average::mean)
      .def ("maybe", &Average::maybe)
      .def ("decay", &Average::decay)
      .def ("__obj_flatten__", &Average::flatten);
  m.def ("add_top(__torch__.torch.classes.unseen.Stack stack, Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL (unseen, CompositeExplicitAutograd, m)
{
  m.impl ("add_top", add_top);
}
