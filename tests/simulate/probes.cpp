#include "tests/simulate/probes.hpp"

#include <algorithm>

// The linker's symbols for the start and the end of the section, which is absent in a release.
extern "C" {
extern const troupe::simulation_probe __start_troupe_probes[] __attribute__((weak));
extern const troupe::simulation_probe __stop_troupe_probes[] __attribute__((weak));
}

namespace troupe::simulate {
namespace {

// A probe is active in a quarter of the seeds, and then acts occasionally.
constexpr int64_t active_permille = 250, acting_permille = 100;

} // namespace

probes::probes(core& simulation) : core_(simulation), chance_(simulation.settings.seed, "probes") {
  running_simulation = this;
  if (all().size() > 64)
    core_.violated("the number of marked places is at most 64", all().size(), " places");
  for (const auto* probe : all())
    active_[probe->name] = chance_.permille(active_permille);
}

probes::~probes() { running_simulation = nullptr; }

bool probes::interferes(const simulation_probe& at) noexcept {
  if (calm_ || !core_.settings.buggify || !active_[at.name] || !chance_.permille(acting_permille))
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
  auto position = std::ranges::find(known, std::string_view{at.name},
                                    [](auto* probe) { return std::string_view{probe->name}; });
  auto bit = uint64_t{1} << (position - known.begin());
  if (!(hits_ & bit))
    core_.tell("probe", "reached", at.name);
  hits_ |= bit;
}

const std::vector<const simulation_probe*>& probes::all() {
  static const std::vector<const simulation_probe*> sorted_probes = [] {
    std::vector<const simulation_probe*> probes_of_program;
    for (const auto* probe = __start_troupe_probes; probe < __stop_troupe_probes; ++probe)
      probes_of_program.push_back(probe);
    auto by_name = [](auto* probe) { return std::string_view{probe->name}; };
    std::ranges::sort(probes_of_program, {}, by_name);
    auto duplicates = std::ranges::unique(probes_of_program, {}, by_name);
    probes_of_program.erase(duplicates.begin(), duplicates.end());
    return probes_of_program;
  }();
  return sorted_probes;
}

} // namespace troupe::simulate
