#include "troupe/devices/gpu/core/kernel_selection.hpp"

#include "troupe/devices/gpu/core/autotuner.hpp"
#include "troupe/devices/gpu/core/graph_capture.hpp"
#include "troupe/devices/gpu/core/time_launches.hpp"

namespace troupe::gpu {
namespace {

using namespace std::chrono_literals;

constexpr auto max_wait = 10s; // for earlier launches of the device

// In the advised order: Troupe's kernel conforms to the op, whatever the library's version.
constexpr algorithm own_kernel{.number = 0}, library_kernel{.number = 1};

struct layer_choice {
  std::atomic<layers_by> selected = layers_by::fastest;
};

result<layer_choice*> choice_of(gpu_device& target) {
  return target.get_or_make<layer_choice>([](gpu_device&) -> result<std::shared_ptr<layer_choice>> {
    return std::make_shared<layer_choice>();
  });
}

// Equal GPUs share the answer.
struct question {
  std::string gpu;
  layers_by chosen;
  layer problem;
  auto operator<=>(const question&) const = default;
};

// Shared by all devices and sessions of a process, as the libraries are.
autotuner<question>& tuner() {
  static autotuner<question> shared_tuner;
  return shared_tuner;
}

result<std::vector<int64_t>> time_candidate(gpu_device& target, layers_by chosen,
                                            const algorithm& candidate, int runs,
                                            const contenders& launchers) {
  auto is_library = candidate == library_kernel;
  if (is_library && launchers.check_library)
    TROUPE_TRY(launchers.check_library());
  auto times =
      time_launches(target.driver(), target.compute(), runs,
                    is_library ? launchers.library_kernel : launchers.own_kernel, max_wait);
  if (times && chosen == layers_by::library)
    std::ranges::fill(*times, is_library ? 0 : 1);
  return times;
}

} // namespace

void choose_layers(gpu_device& target, layers_by selected) {
  if (auto choice = choice_of(target))
    (*choice)->selected = selected;
}

status launch_best(gpu_device& target, const layer& problem, const contenders& launchers) {
  TROUPE_ASSIGN(auto* choice, choice_of(target));
  auto chosen = choice->selected.load();
  if (chosen == layers_by::kernels)
    return launchers.own_kernel();
  trial run;
  if (!launchers.overwrites_input && !is_recording(target))
    run = [&](const algorithm& candidate, int runs) {
      return time_candidate(target, chosen, candidate, runs, launchers);
    };
  auto order = tuner()
                   .find({target.driver().gpu_properties().name, chosen, problem},
                         {own_kernel, library_kernel}, run)
                   .order;
  if (order.front() == library_kernel && launchers.library_kernel())
    return {};
  return launchers.own_kernel();
}

bool is_tuned(gpu_device& target, const layer& problem) {
  auto choice = choice_of(target);
  if (!choice || (*choice)->selected == layers_by::kernels)
    return true;
  return tuner().is_final({target.driver().gpu_properties().name, (*choice)->selected, problem});
}

} // namespace troupe::gpu
