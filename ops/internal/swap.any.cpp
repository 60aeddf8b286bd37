// Moves tensors to the host's memory for a while. Devices that cannot do so keep them.
#include "troupe/runtime/device/accelerator.hpp"
#include "troupe/runtime/device/swap_support.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::swap_any {
namespace {

swap_support* swapping_of(kernel_context& at) {
  auto* device = at.device().as_accelerator();
  return device ? device->as_swap_support() : nullptr;
}

status run_out(kernel_context& at) {
  auto* device = swapping_of(at);
  TROUPE_ASSIGN(auto saved, device ? device->swap_out(at.input(0)) : at.input(0));
  at.set_output(0, std::move(saved));
  return {};
}

status run_in(kernel_context& at) {
  auto* device = swapping_of(at);
  TROUPE_ASSIGN(auto pending, device ? device->swap_in(at.input(0), at.memory()) : at.input(0));
  at.set_output(0, std::move(pending));
  return {};
}

status run_arrival(kernel_context& at) {
  if (auto* device = swapping_of(at))
    TROUPE_TRY(device->wait_for(at.input(0)));
  at.set_output(0, at.input(0));
  return {};
}

} // namespace

extern constexpr kernel_def swap_out_any{
    .op = "_SwapOut",
    .run = {{dtype::none, run_out}},
    .on_any_device = true,
};

extern constexpr kernel_def swap_in_any{
    .op = "_SwapIn",
    .run = {{dtype::none, run_in}},
    .on_any_device = true,
};

extern constexpr kernel_def swapped_any{
    .op = "_Swapped",
    .run = {{dtype::none, run_arrival}},
    .on_any_device = true,
};

} // namespace troupe::ops::swap_any
