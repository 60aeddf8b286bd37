#include "troupe/runtime/graph/kernel.hpp"

#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/types/guarded.hpp"

#include <cassert>

namespace troupe {

kernel_fn kernel_def::find(const node& of) const noexcept {
  auto type = dtype::none;
  if (auto it = of.attrs().find(key); it != of.attrs().end())
    if (auto* value = it->second.get_if<dtype>())
      type = *value;
  auto* found = find(type);
  return found ? found->run : nullptr;
}

const typed_kernel* kernel_def::find(dtype type) const noexcept {
  for (const auto& entry : run)
    if (entry.type == type || entry.type == dtype::none)
      return &entry;
  return nullptr;
}

status explain_exception() { return explain_exception("running the kernel"); }

result<tensor*> kernel_context::allocate(int i, const shape& dims) {
  auto made = tensor::make(output_type(i), dims, memory_);
  if (!made)
    return made.status();
  auto& slot = slots_[code_->first_output + static_cast<uint32_t>(i)];
  slot = *std::move(made);
  return &slot;
}

result<tensor*> kernel_context::forward_or_allocate(int i, std::initializer_list<int> candidates,
                                                    const shape& dims) {
  assert(has(origin().op().effects, effect::forwardable));
  for (auto candidate : candidates) {
    if (candidate >= 64 || (code_->last_uses >> candidate & 1) == 0)
      continue;
    const auto& from = input(candidate);
    if (!from.unique() || from.elements() != dims.elements() || from.type() != output_type(i))
      continue;
    auto& slot = slots_[code_->first_output + static_cast<uint32_t>(i)];
    slot = from.reshaped(dims); // the input's slot stays readable until its release
    return &slot;
  }
  return allocate(i, dims);
}

} // namespace troupe
