#include "troupe/devices/gpu/core/kernel_selection.hpp"

#include "troupe/devices/gpu/core/autotuner.hpp"
#include "troupe/devices/gpu/core/graph_capture.hpp"
#include "troupe/devices/gpu/core/time_launches.hpp"

namespace troupe::gpu {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 10s; // until the device comes to what is measured

// As they are advised: ours does what the op promises, whatever the library's version.
constexpr algorithm ours{.number = 0}, theirs{.number = 1};

struct layer_choice {
  std::atomic<layers_by> which = layers_by::fastest;
};

result<layer_choice*> choice_of(gpu_device& on) {
  return on.kept<layer_choice>([](gpu_device&) -> result<std::shared_ptr<layer_choice>> {
    return std::make_shared<layer_choice>();
  });
}

// Equal GPUs are as fast.
struct question {
  std::string gpu;
  layers_by chosen;
  layer what;
  auto operator<=>(const question&) const = default;
};

// As the libraries, all devices and sessions of a process share it.
autotuner<question>& tuner() {
  static autotuner<question> all;
  return all;
}

result<std::vector<int64_t>> try_one(gpu_device& on, layers_by chosen, const algorithm& which,
                                     int runs, const contenders& by) {
  auto library = which == theirs;
  if (library && by.agree)
    TROUPE_TRY(by.agree());
  auto times =
      time_launches(on.driver(), on.compute(), runs, library ? by.theirs : by.ours, patience);
  if (times && chosen == layers_by::library)
    std::ranges::fill(*times, library ? 0 : 1);
  return times;
}

} // namespace

void choose_layers(gpu_device& on, layers_by which) {
  if (auto choice = choice_of(on))
    (*choice)->which = which;
}

status launch_best(gpu_device& on, const layer& what, const contenders& by) {
  TROUPE_ASSIGN(auto* choice, choice_of(on));
  auto chosen = choice->which.load();
  if (chosen == layers_by::kernels)
    return by.ours();
  trial run;
  if (!by.once && !is_recording(on))
    run = [&](const algorithm& which, int runs) { return try_one(on, chosen, which, runs, by); };
  auto order = tuner().ask({on.driver().about().name, chosen, what}, {ours, theirs}, run).order;
  if (order.front() == theirs && by.theirs())
    return {};
  return by.ours();
}

bool is_tuned(gpu_device& on, const layer& what) {
  auto choice = choice_of(on);
  if (!choice || (*choice)->which == layers_by::kernels)
    return true;
  return tuner().knows({on.driver().about().name, (*choice)->which, what});
}

} // namespace troupe::gpu
