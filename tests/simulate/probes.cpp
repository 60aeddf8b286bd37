#include "tests/simulate/probes.hpp"

#include <algorithm>

// The linker's names for the beginning and the end of the section; there is none in a release.
extern "C" {
extern const troupe::simulation_probe __start_troupe_probes[] __attribute__((weak));
extern const troupe::simulation_probe __stop_troupe_probes[] __attribute__((weak));
}

namespace troupe::simulate {
namespace {

// A place is active in a quarter of the seeds, and then acts now and then.
constexpr int64_t active_permille = 250, acting_permille = 100;

} // namespace

probes::probes(core& of) : core_(of), chance_(of.with.seed, "probes") {
  running_simulation = this;
  if (all().size() > 64)
    core_.violated("there is a bit for each place that is marked", all().size(), " places");
  for (const auto* one : all())
    active_[one->name] = chance_.permille(active_permille);
}

probes::~probes() { running_simulation = nullptr; }

bool probes::interferes(const simulation_probe& at) noexcept {
  if (calm_ || !core_.with.buggify || !active_[at.name] || !chance_.permille(acting_permille))
    return false;
  hit(at);
  if (at.fails)
    core_.begin_fault(
        {fault_kind::buggify, -1, -1, core_.now, core_.now + std::chrono::minutes{2}});
  return true;
}

void probes::reached(const simulation_probe& at) noexcept { hit(at); }

void probes::hit(const simulation_probe& at) {
  const auto& known = all();
  auto it = std::ranges::find(known, std::string_view{at.name},
                              [](auto* one) { return std::string_view{one->name}; });
  auto bit = uint64_t{1} << (it - known.begin());
  if (!(hits_ & bit))
    core_.tell("probe", "reached", at.name);
  hits_ |= bit;
}

const std::vector<const simulation_probe*>& probes::all() {
  static const std::vector<const simulation_probe*> found = [] {
    std::vector<const simulation_probe*> all;
    for (const auto* one = __start_troupe_probes; one < __stop_troupe_probes; ++one)
      all.push_back(one);
    auto by_name = [](auto* one) { return std::string_view{one->name}; };
    std::ranges::sort(all, {}, by_name);
    auto rest = std::ranges::unique(all, {}, by_name);
    all.erase(rest.begin(), rest.end());
    return all;
  }();
  return found;
}

} // namespace troupe::simulate
