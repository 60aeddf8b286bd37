// Ops, kernels and a device for tests of the runtime alone, in place of the real ones.
#pragma once
#include "troupe/runtime/autodiff/gradient.hpp"
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <atomic>
#include <map>

namespace troupe::test {

/// Counts allocations, and fails above a limit.
class counting_allocator final : public allocator {
public:
  void* allocate(size_t bytes) noexcept override {
    if (bytes > limit)
      return nullptr;
    ++live;
    return heap_allocator().allocate(bytes);
  }
  void deallocate(void* memory, size_t bytes) noexcept override {
    --live;
    heap_allocator().deallocate(memory, bytes);
  }
  std::atomic<int> live = 0; ///< tensors that have memory
  size_t limit = SIZE_MAX;   ///< of one allocation
};

/// Runs everything on the calling thread.
class test_device final : public device {
public:
  explicit test_device(device_kind kind = device_kind::cpu) : kind_(kind) {}
  device_kind kind() const noexcept override { return kind_; }
  int ordinal() const noexcept override { return 0; }
  std::string description() const override { return "a device for tests"; }
  size_t memory_limit() const noexcept override { return SIZE_MAX; }
  counting_allocator& memory() noexcept override { return memory_; }
  void parallel_ranges(int64_t items, double, range_body body, stop_signal*) override {
    if (items > 0)
      body.call(body.context, 0, items);
  }

private:
  device_kind kind_;
  counting_allocator memory_;
};

/// These ops, each with a kernel on every kind of device except where noted:
///
/// - Placeholder() dtype shape: fed, no kernel
/// - Const() value dtype
/// - Add(x, y) Mul(x, y) Neg(x): i64, f32, f64; broadcast shapes, but equal ones or scalars to run
/// - AddN(xs: N * T) ZerosLike(x) OnesLike(x) Identity(x)
/// - Both(x) -> (more, less): x + 1, x - 1; its gradient is that of Identity for each
/// - Tuple(xs: list) -> list: forwards its inputs
/// - Fail(x): has a kernel that fails with "as it was told"; no gradient
/// - Places(x) -> i64: the size of the output depends on elements of x; its kernels fail
/// - Variable() dtype shape -> ref: no kernel
/// - Assign(ref, value) AssignAdd(ref, delta) -> ref
/// - Queue() -> ref: no kernel
/// - Ask(queue, xs: N * T) -> T T: waits for the queue's answer; blocking, no kernel
/// - HostOnly(x), HostAssign(ref, value): have a CPU kernel only
const registry& ops();
const std::vector<kernel_def>& kernels();

/// An edge to the first output of a new node; throws the text of an error.
edge add(graph& target, node_spec spec);
edge constant(graph& target, tensor value);
template <class T>
edge constant(graph& target, T value) {
  return constant(target, tensor::scalar(value));
}

/// Finds variables by node name.
class variables {
public:
  result<std::shared_ptr<named_state>> operator()(const node& target_node);
  variable& operator[](const std::string& name) {
    return static_cast<variable&>(*by_name_.at(name));
  }

private:
  std::map<std::string, std::shared_ptr<named_state>> by_name_;
};

} // namespace troupe::test
