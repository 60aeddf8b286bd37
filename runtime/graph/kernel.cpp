#include "troupe/runtime/graph/kernel.hpp"

#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/types/guarded.hpp"

#include <cassert>

namespace troupe {

kernel_fn kernel_def::find(const node& computed) const noexcept {
  auto type = dtype::none;
  if (auto key_attr = computed.attrs().find(key); key_attr != computed.attrs().end())
    if (auto* value = key_attr->second.get_if<dtype>())
      type = *value;
  auto* entry = find(type);
  return entry ? entry->run : nullptr;
}

const typed_kernel* kernel_def::find(dtype type) const noexcept {
  for (const auto& entry : run)
    if (entry.type == type || entry.type == dtype::none)
      return &entry;
  return nullptr;
}

status explain_exception() { return explain_exception("running the kernel"); }

result<tensor*> kernel_context::allocate(int i, const shape& dims) {
  auto allocated = tensor::make(output_type(i), dims, memory_);
  if (!allocated)
    return allocated.status();
  auto& slot = slots_[code_->first_output + static_cast<uint32_t>(i)];
  slot = *std::move(allocated);
  return &slot;
}

result<tensor*> kernel_context::forward_or_allocate(int i, std::initializer_list<int> candidates,
                                                    const shape& dims) {
  assert(has(origin().op().effects, effect::forwardable));
  for (auto candidate : candidates) {
    if (candidate >= 64 || (code_->last_uses >> candidate & 1) == 0)
      continue;
    const auto& source = input(candidate);
    if (!source.unique() || source.elements() != dims.elements() || source.type() != output_type(i))
      continue;
    auto& slot = slots_[code_->first_output + static_cast<uint32_t>(i)];
    slot = source.reshaped(dims); // the input's slot stays readable until its release
    return &slot;
  }
  return allocate(i, dims);
}

} // namespace troupe
