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

/// The arithmetic of an element-wise op, for loops that fuse several ops. Computes `count` elements
/// that are contiguous in memory. An input with step 0 is a scalar. The output may overlap an input
/// of the same type exactly. Cannot fail.
using inner_loop_fn = void (*)(const void* const* inputs, const int64_t* steps, void* output,
                               int64_t count);

/// Returns whether an op that may fail accepts these elements as its second input, such as
/// divisors.
using accepts_second_input_fn = bool (*)(const void* elements, int64_t count);

struct typed_kernel {
  dtype type = dtype::none; ///< none: any type
  kernel_fn run = nullptr;
  inner_loop_fn inner_loop = nullptr; ///< of an element-wise op that has one
  double cost = 0;                    ///< of the inner loop, in nanoseconds per element
  /// On a GPU, instead of an inner loop: the source of a functor, compiled once the graph is known.
  const char* code = nullptr;
  /// For an op that may fail: the inner loop must not be called for elements that this rejects.
  accepts_second_input_fn accepts_second_input = nullptr;
};

/// The arguments of `kernel_def::prepare`, called once per node when its program is compiled.
struct kernel_setup {
  const node& origin;
  troupe::device& device;
};

/// Functions that save and restore the state of a kernel as text. Steps may run the kernel
/// meanwhile.
struct kernel_state_format {
  std::string (*text)(const void* state);
  status (*set)(void* state, std::string_view text);
};

struct kernel_def {
  std::string_view op;
  device_kind device = device_kind::cpu;
  inplace_vector<typed_kernel, 18> run = {};
  /// The `type` attribute that selects the function.
  std::string_view key = "T";
  /// Creates the kernel's state from the attributes. All concurrent steps share it.
  result<std::shared_ptr<void>> (*prepare)(const kernel_setup&) = nullptr;
  /// Saves the state in checkpoints. For stateful ops.
  const kernel_state_format* state_format = nullptr;
  /// Returns the inner loop of an element-wise op if it depends on more than the key, or null.
  inner_loop_fn (*find_inner_loop)(const node& computed) = nullptr;
  /// Only forwards or copies tensors (ops/kernel/copy.hpp), which every device supports.
  bool on_any_device = false;

  /// Returns nullptr if the table has no function for the node's type.
  kernel_fn find(const node& computed) const noexcept;
  const typed_kernel* find(dtype type) const noexcept;
};

/// The kinds of instructions of straight-line code.
enum class action : uint8_t {
  run,         ///< runs a kernel
  run_on_host, ///< runs a CPU kernel on another kind of device
  upload,      ///< copies a host tensor to the device
  call,        ///< runs functions (program/block.hpp)
  read,        ///< reads a variable's value
  token,       ///< passes a tensor, or a notification that all before has run, to another region
  send,        ///< passes a tensor, or a notification, to another device
  fetch,       ///< passes a tensor to the client
  wait,        ///< starts an operation that is waited for; its answer starts another region
};
/// An instruction. All references are resolved when its program is compiled.
struct instruction {
  kernel_fn run = nullptr;
  void* state = nullptr;
  const uint32_t* inputs = nullptr;     // slots
  named_state* const* states = nullptr; // one for each input, if the op has ref inputs
  const dtype* output_types = nullptr;
  const uint32_t* releases = nullptr; // slots that are not used after this
  uint32_t first_output = 0;          // slot; outputs are consecutive
  uint32_t target = 0;                // region, export, fetch or wait
  uint16_t input_count = 0;
  uint16_t output_count = 0;
  uint16_t release_count = 0;
  action kind = action::run;
  bool long_tail = false; // a token whose region runs for a long time afterwards
  uint64_t last_uses = 0; // bit i: the last use of input i (never set for inputs beyond 63)
  const node* origin = nullptr;
};

/// The interface by which a kernel reads its inputs and sets its outputs in one run. The object is
/// on the stack of the thread that runs the region.
class kernel_context {
public:
  /// Tensors are allocated from `memory`. A null `stop` means that kernels are not stopped.
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
  /// Returns the allocator for temporary memory of the kernel; it counts as the step's memory.
  allocator& memory() const noexcept { return memory_; }
  /// Returns the state behind a ref input; the input's port determines its type.
  template <class State>
  State& state_of_input(int i) const noexcept {
    return static_cast<State&>(*code_->states[i]);
  }
  troupe::variable& variable(int i) const noexcept {
    auto in_step = code_->states[i]->index_in_step();
    if (in_step >= 0) [[unlikely]]
      return *temporaries_[in_step];
    return state_of_input<troupe::variable>(i);
  }
  /// Sets the variables that exist only in this step.
  void set_temporaries(const std::unique_ptr<troupe::variable>* variables) noexcept {
    temporaries_ = variables;
  }
  /// Returns the state that `prepare` created.
  template <class T>
  T& state() const noexcept {
    return *static_cast<T*>(code_->state);
  }

  /// Sets output i.
  void set_output(int i, tensor value) noexcept {
    slots_[code_->first_output + static_cast<uint32_t>(i)] = std::move(value);
  }
  /// Allocates output i, uninitialized, and returns it.
  result<tensor*> allocate(int i, const shape& dims);
  /// Creates output i in the memory of an input that has no later use, the same element size and
  /// the same number of elements; allocates it if there is no such input. The kernel must read
  /// element j of that input before it writes element j of the output. The op must be
  /// `forwardable`.
  result<tensor*> forward_or_allocate(int i, std::initializer_list<int> candidates,
                                      const shape& dims);

  /// Like the device's parallel_for, but stops early when the step stops; its outputs are then not
  /// used. A loop that changes state that outlives the step must call the device's, which
  /// completes.
  template <class Body>
  void parallel_for(int64_t items, double nanoseconds_per_item, Body&& body) const {
    device_.parallel_for(items, nanoseconds_per_item, std::forward<Body>(body), stop_);
  }
  /// Polled about every millisecond by a kernel with loops of its own. If true, the kernel may
  /// return anything.
  bool stopped() const noexcept { return stop_ && stop_->is_due(); }
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

/// Returns the error of the exception that a kernel threw. Called in a handler.
status explain_exception();

/// Runs the context's current instruction. Kernels may use standard containers for temporary data:
/// an exception becomes an error.
inline status run_kernel(const instruction& code, kernel_context& at) {
  try {
    return code.run(at);
  } catch (...) {
    return explain_exception();
  }
}

} // namespace troupe
