// Kernels of ours that compete with a library's (docs/decisions/027).
#pragma once
#include "troupe/devices/deterministic/deterministic.hpp"
#include "troupe/devices/gpu/core/kernel_selection.hpp"
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

using troupe::gpu::layer;
using troupe::gpu::layer_library;

/// The library that may compute the layer, or null. Who wants the same bits each time gets them
/// from our kernel.
inline layer_library* library_candidate(kernel_context& at, const layer& what) {
  if (at.device().deterministic())
    return nullptr;
  auto* found = layers();
  return found && found->offers(what) ? found : nullptr;
}

inline layer_library::call call_for_layer(kernel_context& at) {
  return {troupe::gpu::gpu_of(at.device()), at.memory()};
}

/// What is known to be the same.
inline constexpr auto always_agree = [](layer_library&, const layer_library::call&) {
  return status{};
};

/// Launches ours(), or theirs(library, call), whichever is faster; agree(library, call) is asked
/// before. See contenders for what they must do, and for `once`.
template <class Ours, class Theirs, class Agree = decltype(always_agree)>
status compute_layer(kernel_context& at, const layer& what, Ours ours, Theirs theirs,
                     Agree agree = always_agree, bool once = false) {
  auto* library = library_candidate(at, what);
  if (!library)
    return ours();
  auto call = call_for_layer(at);
  return launch_best(
      call.on, what,
      {ours, [=] { return theirs(*library, call); }, [=] { return agree(*library, call); }, once});
}

/// Output 0, over input 0 if that is not needed any more; but not where both ways shall be tried,
/// which read the input again and again.
inline result<tensor*> forward_unless_tuning(kernel_context& at, const layer& what,
                                             const shape& dims) {
  if (library_candidate(at, what) && !is_tuned(troupe::gpu::gpu_of(at.device()), what))
    return at.allocate(0, dims);
  return at.forward_or_allocate(0, {0}, dims);
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
