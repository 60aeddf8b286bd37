// A kernel computes an op on one kind of device: a table from element type to a plain function.
#pragma once
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/fwd.hpp"
#include "troupe/runtime/graph/op.hpp"
#include "troupe/runtime/state/variable.hpp"

#include <memory>
#include <span>

namespace troupe {

using kernel_fn = status (*)(kernel_context&);

/// The arithmetic of an element-wise op alone, for loops over several ops at once: computes `count`
/// elements from neighbours in memory; an input whose step is 0 gives one element for all. The
/// output may lie exactly over an input of the same type. Cannot fail.
using inner_loop_fn = void (*)(const void* const* inputs, const int64_t* steps, void* output,
                               int64_t count);

/// Whether an op that may fail takes these elements as its second input, such as divisors.
using takes_second_fn = bool (*)(const void* elements, int64_t count);

struct typed_kernel {
  dtype type = dtype::none; ///< none: for every type
  kernel_fn run = nullptr;
  inner_loop_fn inner_loop = nullptr; ///< where the op is element-wise and has one
  double cost = 0;                    ///< of the inner loop, nanoseconds per element
  /// On a GPU instead of an inner loop: a functor's definition, to be compiled when the graph is
  /// known.
  const char* code = nullptr;
  /// Where the op may fail: its inner loop must not meet what this refuses.
  takes_second_fn takes_second = nullptr;
};

/// What `kernel_def::prepare` sees once per node, when its program is compiled.
struct kernel_setup {
  const node& of;
  troupe::device& on;
};

/// How what a kernel keeps between its runs is written down, and set again. Steps may run it
/// meanwhile.
struct kernel_position {
  std::string (*text)(const void* state);
  status (*set)(void* state, std::string_view text);
};

struct kernel_def {
  std::string_view op;
  device_kind device = device_kind::cpu;
  inplace_vector<typed_kernel, 18> run = {};
  /// The `type` attribute that selects the function.
  std::string_view key = "T";
  /// Makes what the kernel needs in each run, from the attributes. Shared by all steps that run at
  /// once.
  result<std::shared_ptr<void>> (*prepare)(const kernel_setup&) = nullptr;
  /// Where checkpoints have what `prepare` made. Of stateful ops.
  const kernel_position* position = nullptr;
  /// Finds the inner loop of an element-wise op where it depends on more than the key, or null.
  inner_loop_fn (*find_inner_loop)(const node& of) = nullptr;
  /// Only hands tensors on or has them moved (ops/kernel/copy.hpp), which every device can.
  bool on_any_device = false;

  /// Returns nullptr where the table has no function for the node's type.
  kernel_fn find(const node& of) const noexcept;
  const typed_kernel* find(dtype type) const noexcept;
};

/// What one instruction of straight-line code does.
enum class action : uint8_t {
  run,         ///< runs a kernel
  run_on_host, ///< runs a processor's kernel, on a device that is none
  upload,      ///< takes a tensor of the host to the device
  call,        ///< runs functions (program/block.hpp)
  read,        ///< takes a variable's value
  token,       ///< hands a tensor, or the news that all before has run, to another region
  send,        ///< hands a tensor, or the news, to another device
  fetch,       ///< hands a tensor to the client
  wait,        ///< asks a queue; the answer starts another region
};

/// One instruction, with everything resolved when its program was compiled.
struct instruction {
  kernel_fn run = nullptr;
  void* state = nullptr;
  const uint32_t* inputs = nullptr;     // slots
  named_state* const* states = nullptr; // per input, where the op has ref inputs
  const dtype* output_types = nullptr;
  const uint32_t* releases = nullptr; // slots that nobody needs after this
  uint32_t first_output = 0;          // slot; outputs are consecutive
  uint32_t target = 0;                // region, export, fetch or wait
  uint16_t input_count = 0;
  uint16_t output_count = 0;
  uint16_t release_count = 0;
  action what = action::run;
  bool long_tail = false; // a token after which its region goes on for long
  uint64_t last_uses = 0; // bit i: input i dies here (inputs beyond 63 never do)
  const node* origin = nullptr;
};

/// What a kernel sees in one run. Lives on the stack of the thread that runs the region.
class kernel_context {
public:
  /// Tensors get their memory from `memory`; nothing stops the kernels where `stop` is null.
  kernel_context(tensor* slots, troupe::device& on, allocator& memory, stop_signal* stop) noexcept
      : slots_(slots), device_(on), memory_(memory), stop_(stop) {}
  kernel_context(tensor* slots, troupe::device& on) noexcept
      : kernel_context(slots, on, on.memory(), nullptr) {}
  void step_to(const instruction& next) noexcept { code_ = &next; }

  int inputs() const noexcept { return code_->input_count; }
  const tensor& input(int i) const noexcept { return slots_[code_->inputs[i]]; }
  int outputs() const noexcept { return code_->output_count; }
  dtype output_type(int i) const noexcept { return code_->output_types[i]; }
  troupe::device& device() const noexcept { return device_; }
  /// For what the kernel needs while it runs; counts as the step's.
  allocator& memory() const noexcept { return memory_; }
  /// What a ref input refers to; its port says what that is.
  template <class State>
  State& referred(int i) const noexcept {
    return static_cast<State&>(*code_->states[i]);
  }
  troupe::variable& variable(int i) const noexcept {
    auto in_step = code_->states[i]->index_in_step();
    if (in_step >= 0) [[unlikely]]
      return *temporaries_[in_step];
    return referred<troupe::variable>(i);
  }
  /// The variables that the step has of its own.
  void set_temporaries(const std::unique_ptr<troupe::variable>* all) noexcept {
    temporaries_ = all;
  }
  /// What `prepare` made.
  template <class T>
  T& state() const noexcept {
    return *static_cast<T*>(code_->state);
  }

  /// Gives output i its tensor.
  void set_output(int i, tensor value) noexcept {
    slots_[code_->first_output + static_cast<uint32_t>(i)] = std::move(value);
  }
  /// Makes output i, uninitialised, and returns it.
  result<tensor*> allocate(int i, const shape& dims);
  /// Makes output i over the memory of one of the inputs when that input is not needed any more,
  /// has the same element size and as many elements; otherwise allocates. The kernel must read
  /// element j of that input before it writes element j of the output. Requires an op that is
  /// `forwardable`.
  result<tensor*> forward_or_allocate(int i, std::initializer_list<int> candidates,
                                      const shape& dims);

  /// As the device's, but leaves off when the step is to stop: nobody sees the outputs then. A loop
  /// that changes what outlives the step calls the device's, which runs to its end.
  template <class Body>
  void parallel_for(int64_t items, double nanoseconds_per_item, Body&& body) const {
    device_.parallel_for(items, nanoseconds_per_item, std::forward<Body>(body), stop_);
  }
  /// Asked about every millisecond by a kernel whose loops are its own; it may then return
  /// anything.
  bool stopped() const noexcept { return stop_ && stop_->due(); }
  stop_signal* stop() const noexcept { return stop_; }

  const node& origin() const noexcept { return *code_->origin; }

private:
  tensor* slots_;
  const instruction* code_ = nullptr;
  troupe::device& device_;
  allocator& memory_;
  stop_signal* stop_;
  const std::unique_ptr<troupe::variable>* temporaries_ = nullptr;
};

/// The error of a kernel that threw; call it in a handler.
status explain_exception();

/// Runs the instruction that the context stands at. Kernels may use containers of the standard
/// library for what they need beside their tensors: what these throw is an error like others.
inline status run_kernel(const instruction& code, kernel_context& at) {
  try {
    return code.run(at);
  } catch (...) {
    return explain_exception();
  }
}

} // namespace troupe
