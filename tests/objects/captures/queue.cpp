// SPDX-License-Identifier: MIT
// A queue of tensors as a class of TorchScript, with the methods and the flattened state that the
// class of that name has in the tests of PyTorch, which no wheel brings.

#include <ATen/core/Tensor.h>
#include <torch/custom_class.h>

#include <deque>

struct TensorQueue : torch::CustomClassHolder
{
  explicit TensorQueue (at::Tensor init) : init_ (std::move (init)) {}

  void push (at::Tensor x) { items_.push_back (std::move (x)); }

  at::Tensor pop ()
  {
    if (items_.empty ())
      return init_;
    at::Tensor front = items_.front ();
    items_.pop_front ();
    return front;
  }

  int64_t size () { return (int64_t) items_.size (); }

  std::tuple<std::tuple<std::string, at::Tensor>,
             std::tuple<std::string, std::vector<at::Tensor>>>
  flatten ()
  {
    return std::tuple (std::tuple (std::string ("init_tensor"), init_),
                       std::tuple (std::string ("queue"),
                                   std::vector<at::Tensor> (items_.begin (), items_.end ())));
  }

  at::Tensor init_;
  std::deque<at::Tensor> items_;
};

TORCH_LIBRARY (_TorchScriptTesting, m)
{
  m.class_<TensorQueue> ("_TensorQueue")
      .def (torch::init<at::Tensor> ())
      .def ("push", &TensorQueue::push)
      .def ("pop", &TensorQueue::pop)
      .def ("size", &TensorQueue::size)
      .def ("__obj_flatten__", &TensorQueue::flatten)
      .def_pickle (
          [] (const c10::intrusive_ptr<TensorQueue> &self) { return self->init_; },
          [] (at::Tensor init) { return c10::make_intrusive<TensorQueue> (std::move (init)); });
}
