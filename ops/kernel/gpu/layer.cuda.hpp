// Kernels of Troupe that compete with a library's (docs/decisions/027).
#pragma once
#include "troupe/devices/deterministic/deterministic.hpp"
#include "troupe/devices/gpu/core/kernel_selection.hpp"
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

using troupe::gpu::layer;
using troupe::gpu::layer_library;

/// The library that may compute the layer, or null. With deterministic results required, Troupe's
/// kernel computes it.
inline layer_library* library_candidate(kernel_context& at, const layer& library_layer) {
  if (at.device().deterministic())
    return nullptr;
  auto* library = layers();
  return library && library->offers(library_layer) ? library : nullptr;
}

inline layer_library::call call_for_layer(kernel_context& at) {
  return {troupe::gpu::gpu_of(at.device()), at.memory()};
}

/// The check for a layer that the library always computes as Troupe's kernel does.
inline constexpr auto always_agree = [](layer_library&, const layer_library::call&) {
  return status{};
};

/// Launches ours(), or theirs(library, call), whichever is faster. agree(library, call) fails if
/// the library computes something else; it is called before each trial of the library. See
/// contenders for the contracts, and for `overwrites_input`.
template <class Ours, class Theirs, class Agree = decltype(always_agree)>
status compute_layer(kernel_context& at, const layer& library_layer, Ours ours, Theirs theirs,
                     Agree agree = always_agree, bool overwrites_input = false) {
  auto* library = library_candidate(at, library_layer);
  if (!library)
    return ours();
  auto call = call_for_layer(at);
  return launch_best(call.on, library_layer,
                     {ours, [=] { return theirs(*library, call); },
                      [=] { return agree(*library, call); }, overwrites_input});
}

/// Output 0, over input 0 if that has no other user; but not where both kernels are to be measured,
/// because they read the input repeatedly.
inline result<tensor*> forward_unless_tuning(kernel_context& at, const layer& library_layer,
                                             const shape& dims) {
  if (library_candidate(at, library_layer) &&
      !is_tuned(troupe::gpu::gpu_of(at.device()), library_layer))
    return at.allocate(0, dims);
  return at.forward_or_allocate(0, {0}, dims);
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
