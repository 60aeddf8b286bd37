#include "tests/ops/every_op.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/wanted_ops.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/ops/all.hpp"
#include "troupe/serialization/tensor_bundle/checkpoint_work.hpp"

#include <algorithm>

namespace troupe::test {

const registry& library() {
  static const auto all = [] {
    auto made = std::make_unique<registry>();
    if (auto added = ops::add_all(*made); !added)
      throw std::logic_error{added.message()};
    if (auto added = add_checkpoint_work(*made); !added)
      throw std::logic_error{added.message()};
    return made;
  }();
  return *all;
}

device& small_device() {
  static auto made = make_cpu_device({.intra_op_threads = 2, .memory_limit = size_t{16} << 20});
  return *made;
}

void check_every_op(const std::function<device_errors(const op_def&)>& check,
                    const std::vector<exception>& exceptions) {
  for (const auto* op : library().ops()) {
    if (op->name.starts_with('_'))
      continue; // the runtime makes these, and runs them itself
    if (!is_wanted(op->name))
      continue;
    INFO(op->name);
    auto found = check(*op);
    auto excepted = std::ranges::find(exceptions, op->name, &exception::op);
    if (excepted == exceptions.end())
      for (const auto& device_error : found)
        FAIL_CHECK(op->name << ": " << device_error);
    else if (found.empty())
      FAIL_CHECK(op->name << " needs its exception no more: " << excepted->reason);
  }
  for (const auto& name : wanted_ops())
    if (auto known = library().find_op(name); !known)
      FAIL_CHECK("TROUPE_OPS: " << known.status().message());
  for (const auto& one : exceptions)
    if (!library().find_op(one.op))
      FAIL_CHECK("exception for an op that does not exist: " << one.op);
}

} // namespace troupe::test
