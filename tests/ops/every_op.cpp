#include "tests/ops/every_op.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/selected_ops.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/ops/all.hpp"
#include "troupe/serialization/tensor_bundle/checkpoint_work.hpp"

#include <algorithm>

namespace troupe::test {

const registry& library() {
  static const auto library_ops = [] {
    auto new_registry = std::make_unique<registry>();
    if (auto added = ops::add_all(*new_registry); !added)
      throw std::logic_error{added.message()};
    if (auto added = add_checkpoint_work(*new_registry); !added)
      throw std::logic_error{added.message()};
    return new_registry;
  }();
  return *library_ops;
}

device& small_device() {
  static auto cpu = make_cpu_device({.intra_op_threads = 2, .memory_limit = size_t{16} << 20});
  return *cpu;
}

void check_every_op(const std::function<failure_list(const op_def&)>& check,
                    const std::vector<exception>& exceptions) {
  for (const auto* op : library().ops()) {
    if (op->name.starts_with('_'))
      continue; // the runtime makes and runs these itself
    if (!is_selected(op->name))
      continue;
    INFO(op->name);
    auto errors = check(*op);
    auto excepted = std::ranges::find(exceptions, op->name, &exception::op);
    if (excepted == exceptions.end())
      for (const auto& failure_text : errors)
        FAIL_CHECK(op->name << ": " << failure_text);
    else if (errors.empty())
      FAIL_CHECK(op->name << " needs its exception no more: " << excepted->reason);
  }
  for (const auto& name : selected_ops())
    if (auto op = library().find_op(name); !op)
      FAIL_CHECK("TROUPE_OPS: " << op.status().message());
  for (const auto& listed : exceptions)
    if (!library().find_op(listed.op))
      FAIL_CHECK("exception for an op that does not exist: " << listed.op);
}

} // namespace troupe::test
